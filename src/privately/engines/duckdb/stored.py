"""A table as the engine finds it: what to read from, and the text of every value that is declared."""

from __future__ import annotations

from dataclasses import dataclass

from privately.engines.duckdb.literals import name
from privately.engines.duckdb.people import person
from privately.engines.duckdb.scanning import base_of, converted, scanned, unbranched
from privately.plans import Table, Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The columns of a source, in the order in which they are declared.

    `found` are their DuckDB types. In a prepared copy the `steps` of a column are kept beside its values, and rows that
    are more than their unit may have are gone (`bounded`); `words` are the types of those that are kept as numbers.
    What is known of the rows makes counting quicker, and changes no number: how many there are at most (`most_rows`),
    and in which columns there is a cell that is NaN or infinite (`endless`).
    """

    table: Table
    relation: str
    names: tuple[str, ...]
    found: tuple[str, ...]
    unit_name: str | None = None
    steps: tuple[str | None, ...] = ()
    bounded: bool = False
    as_declared: bool = False
    words: tuple[str | None, ...] = ()
    most_rows: int | None = None
    endless: frozenset[int] = frozenset()

    def value(self, place: int, raw: str | None = None) -> str:
        """A value as it is declared, of a column or of a name for it."""
        cell = name(self.names[place]) if raw is None else raw
        if self.as_declared:
            wider = {"ENUM": "VARCHAR", "INTEGER": "BIGINT"}.get(base_of(self.found[place]))
            return cell if wider is None else f"CAST({cell} AS {wider})"
        return scanned(self.table.columns[place], self.found[place], cell)

    def raw(self, place: int) -> str | None:
        """A text as it is found: grouping by it first is cheaper than to cut and look up every row's."""
        is_text = self.table.columns[place].type is Type.TEXT and base_of(self.found[place]) in ("VARCHAR", "ENUM")
        return name(self.names[place]) if is_text else None

    def step(self, place: int) -> str | None:
        """The value in the column's own steps, if it is kept."""
        kept = self.steps[place] if self.steps else None
        return None if kept is None else name(kept)

    def unbranched(self, place: int) -> str | None:
        """The value with NaN for what is no number, if that is quicker to make."""
        if self.as_declared:
            return None
        return unbranched(self.table.columns[place], self.found[place], name(self.names[place]))

    def double(self, place: int) -> str | None:
        """A real number with bounds as it is found, not yet brought within them, if that is a double."""
        if self.as_declared or self.unbranched(place) is None:
            return None
        return converted(Type.REAL, self.found[place], name(self.names[place]))

    def word(self, place: int) -> str | None:
        """The type of a text that is kept as the number of a word, if it is."""
        return self.words[place] if self.words else None

    @property
    def unit(self) -> str | None:
        """To whom a row belongs; NULL if to nobody."""
        column = self.table.unit.column
        if column is None:
            return None
        if self.unit_name is not None:
            return name(self.unit_name)
        place = [one.name for one in self.table.columns].index(column)
        return person(self.table.columns[place].type, self.found[place], name(self.names[place]))
