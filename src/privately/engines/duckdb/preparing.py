"""The compact copy: values as declared, numbers in steps beside them, categories as small numbers, and no row too many.

A copy belongs to a declaration, to a key, and to a file as it was: if one of them is another now, the copy is stale.
Which rows of a unit count is decided once, on all declared columns; so every question sees the same rows. They lie in
the order of their categories, which makes groups of neighbours and the copy small.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from privately.engines.duckdb.literals import text
from privately.engines.duckdb.ranking import first_rows
from privately.engines.duckdb.sources import Source
from privately.engines.duckdb.stored import Stored
from privately.engines.duckdb.tallies import step_text
from privately.errors import InvalidParameter
from privately.plans import Column, Field, Identity, Range, StepSum, Table, Type
from privately.plans.encoding import canonical_text
from privately.plans.types import LARGEST_INTEGER

FORM = 3
ALIAS = "prepared"
_MARK, _MARK_AT = b"DUCK", 8
"""What every DuckDB file has near its beginning."""
_SMALL = 2**31
_LONGEST_LIST = 60_000


def declaration_hash(table: Table) -> str:
    """What the copy depends on, in short."""
    return hashlib.sha256(canonical_text(table).encode()).hexdigest()


def metadata(table: Table, source: Source, key: bytes) -> dict[str, Any]:
    """What a copy says of itself."""
    path, size, written = source.state()
    return {
        "form": FORM,
        "declaration": declaration_hash(table),
        "key": hashlib.sha256(b"privately: key of a prepared copy" + key).hexdigest(),
        "source": {"path": path, "size": size, "mtime_ns": written},
    }


def check_form(path: Path) -> None:
    """Passes if the file is a database: anything else cannot be opened at all."""
    found = b""
    if path.is_file():
        with path.open("rb") as stream:
            found = stream.read(len(_MARK) + _MARK_AT)
    if found[_MARK_AT:] != _MARK:
        hint = "Name another file, in which a copy is made, or prepare it again."
        raise InvalidParameter("prepare", f"{path.name} is no prepared copy.", hint=hint)


def state_of(path: Path) -> tuple[int, ...]:
    """Which file a copy is, as it is now: another one in its place, or a change, shows."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def statements(stored: Stored, source: Source, key: bytes) -> list[str]:
    """What makes the copy, in an attached database."""
    columns = stored.table.columns
    values = [f"v{place}" for place in range(len(columns))]
    outputs = [f"{stored.value(place)} AS {value}" for place, value in enumerate(values)]
    rows = f"SELECT {', '.join(outputs)} FROM {stored.relation}"
    if stored.unit is not None:
        rows = f"SELECT {', '.join([*outputs, f'{stored.unit} AS u'])} FROM {stored.relation}"
        rows = f"SELECT * FROM ({rows}) WHERE u IS NOT NULL"
        rows = first_rows(rows, key, ["u"], values, stored.table.unit.rows)
    made = [f"DROP TABLE IF EXISTS {ALIAS}.data", f"DROP TABLE IF EXISTS {ALIAS}.about"]
    kept = ["u"] if stored.unit is not None else []
    for place, column in enumerate(columns):
        if _is_listed(column):
            words = ", ".join(text(str(one)) for one in column.categories or ())
            made.append(f"CREATE OR REPLACE TYPE {ALIAS}.e{place} AS ENUM (SELECT unnest([{words}]))")
            kept.append(f"CAST(v{place} AS {ALIAS}.e{place}) AS v{place}")
        else:
            kept.append(f"CAST(v{place} AS {_narrow(column)}) AS v{place}" if _narrow(column) else f"v{place}")
        if column.type is Type.REAL and column.step is not None and column.bounds is not None:
            kept.append(f"{_steps(column, column.step, column.bounds, f'v{place}')} AS s{place}")
    order = ", ".join(f"v{place}" for place, column in enumerate(columns) if _is_listed(column))
    by = f" ORDER BY {order}" if order else ""
    made.append(f"CREATE TABLE {ALIAS}.data AS SELECT {', '.join(kept)} FROM ({rows}){by}")
    about = json.dumps(metadata(stored.table, source, key), sort_keys=True)
    made.append(f"CREATE TABLE {ALIAS}.about AS SELECT {text(about)} AS about")
    made.append(f"CHECKPOINT {ALIAS}")
    return made


def stored_copy(stored: Stored, types: dict[str, str]) -> Stored:
    """The copy in place of the table that it was made of."""
    columns = stored.table.columns
    return Stored(
        table=stored.table,
        relation=f"{ALIAS}.data",
        names=tuple(f"v{place}" for place in range(len(columns))),
        found=tuple(types[f"v{place}"] for place in range(len(columns))),
        unit_name="u" if stored.unit is not None else None,
        steps=tuple(_step_name(place, column) for place, column in enumerate(columns)),
        bounded=True,
        as_declared=True,
        words=tuple(f"{ALIAS}.e{place}" if _is_listed(column) else None for place, column in enumerate(columns)),
    )


def check_about(about: str, table: Table, source: Source, key: bytes, path: Path) -> None:
    """Passes if the copy is of this table, this file and this key."""
    found, wanted = json.loads(about), metadata(table, source, key)
    reasons = {
        "form": "was made by another version",
        "declaration": "was made for another declaration of the table",
        "key": "was made with another key",
        "source": "is older than the file that it was made of",
    }
    for part, reason in reasons.items():
        if found.get(part) != wanted[part]:
            raise InvalidParameter("prepare", f"{path.name} {reason}.", hint="Prepare it again.")


def _is_listed(column: Column) -> bool:
    return column.type is Type.TEXT and column.categories is not None and len(column.categories) <= _LONGEST_LIST


def _step_name(place: int, column: Column) -> str | None:
    if column.type is Type.REAL and column.step is not None:
        return f"s{place}"
    return f"v{place}" if column.type is Type.INTEGER else None


def _narrow(column: Column) -> str:
    """A smaller type that holds all values of a column of whole numbers, quicker to add; '' if there is none."""
    small = column.type is Type.INTEGER and column.bounds is not None and column.bounds.magnitude < _SMALL
    return "INTEGER" if small else ""


def _steps(column: Column, step: Fraction, bounds: Range, value: str) -> str:
    most = LARGEST_INTEGER - 1
    tally = StepSum(argument=Field(Identity(number=0, name=column.name), column.known), step=step, low=-most, high=most)
    number = step_text(tally, value)
    return f"TRY_CAST({number} AS INTEGER)" if bounds.magnitude / step < _SMALL - 2 else number
