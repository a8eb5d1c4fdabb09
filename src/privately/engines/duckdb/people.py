"""To whom a row belongs. Two cells that differ are never one person: either could change which rows of the other count.

Values may be rounded, cut and clamped; people may not. What cannot be read in exactly one way is nobody's row, and a
column of which even that cannot be said is refused.
"""

from __future__ import annotations

from privately.engines.duckdb.functions import DATE, once
from privately.engines.duckdb.literals import text
from privately.engines.duckdb.scanning import WORDS, base_of, is_floating, is_whole
from privately.plans import Type

_SPELT_ONCE = "^(?:0|-?[1-9][0-9]{0,37})$"
"""Whole numbers of at most 38 digits, which 128 bits hold, without a plus or leading zeros."""

_EXACT = {"FLOAT": 2**24, "DOUBLE": 2**53}
"""Below these, every whole number has a floating one of its own."""


def keeps_apart(kind: Type, found: str) -> bool:
    """Whether people can be named by a column of this declared type and this DuckDB type.

    Readers cut nanoseconds without a word, so instants name nobody; nor do fractions, or two values for all people.
    """
    base = base_of(found)
    is_text = base in WORDS
    match kind:
        case Type.INTEGER:
            return is_text or is_whole(found) or is_floating(found)
        case Type.TEXT:
            return is_text or is_whole(found)
        case Type.DATE:
            return is_text or base == "DATE"
    return False


def person(kind: Type, found: str, value: str) -> str:
    """To whom a row belongs, by the cell that names people; NULL if to nobody.

    Theorem: for a column that `keeps_apart`, it is never an error, and cells that differ as values of their DuckDB type
        give different people, or NULL.
    Reference: elementary
    Proof: docs/theory/engines.md#who-a-row-belongs-to
    Checked-by: tests/engines/duckdb/test_people.py::test_cells_that_differ_are_never_one_person
    """
    base = base_of(found)
    if base in WORDS and base != "VARCHAR":
        value, base = f"CAST({value} AS VARCHAR)", "VARCHAR"
    if kind is Type.TEXT:
        return value if base == "VARCHAR" else f"CAST({value} AS VARCHAR)"
    if kind is Type.DATE:
        return f"TRY_CAST(regexp_extract({value}, {text(DATE)}) AS DATE)" if base == "VARCHAR" else value
    if base == "VARCHAR":
        return f"TRY_CAST(regexp_extract({value}, {text(_SPELT_ONCE)}) AS HUGEINT)"
    if base in _EXACT:
        most = f"'{float(_EXACT[base])!r}'::{base}"
        test = "{v} > -{most} AND {v} < {most} AND {v} = trunc({v})"
        return once(value, lambda v: f"CASE WHEN {test.format(v=v, most=most)} THEN TRY_CAST({v} AS BIGINT) END")
    return f"TRY_CAST({value} AS HUGEINT)" if base in ("UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL") else value
