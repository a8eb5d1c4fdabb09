"""Groups that a public table lists: each of its rows is one, and what it does not hold is not answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from privately.engines.frames import plain_rows
from privately.errors import InvalidParameter
from privately.plans import Value

_HINT = 'Write keys={"ward": ["A", "B"]}, or give a pyarrow, pandas or polars table with the columns of GROUP BY.'


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTable:
    """Names of keys, and the values that they have together."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    @property
    def values(self) -> dict[str, Sequence[Value]]:
        """What is in each column."""
        return {name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)}

    def groups(self, names: Sequence[str | None]) -> tuple[tuple[Value, ...], ...]:
        """The rows in the order of these columns, each once. They must be all the columns."""
        if None in names or len(names) != len(self.columns):
            raise InvalidParameter("keys", "a public table must have exactly the columns of GROUP BY.", hint=_HINT)
        folded = [one.casefold() for one in self.columns]
        places = [folded.index(name.casefold()) for name in names if name is not None]
        return tuple(dict.fromkeys(tuple(row[at] for at in places) for row in self.rows))


Keys: TypeAlias = Mapping[str, Sequence[Value]] | PublicTable


def read_keys(given: Any) -> Keys | None:
    """Lists by name, or a table of any library."""
    if isinstance(given, Mapping) and not all(isinstance(name, str) for name in given):
        raise InvalidParameter("keys", "go by the names of columns.", hint=_HINT)
    if given is None or isinstance(given, (Mapping, PublicTable)):
        return given
    if not hasattr(given, "__arrow_c_stream__"):
        raise InvalidParameter("keys", "are neither lists by name nor a table.", hint=_HINT)
    columns, rows = plain_rows(given)
    if len({one.casefold() for one in columns}) != len(columns):
        raise InvalidParameter("keys", "two columns of the public table have the same name.")
    return PublicTable(columns=columns, rows=rows)


__all__ = ["Keys", "PublicTable", "read_keys"]
