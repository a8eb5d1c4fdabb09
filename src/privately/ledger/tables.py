"""Tables and the lineages they belong to: copies, versions and overlapping tables share a budget."""

from __future__ import annotations

from dataclasses import dataclass

from privately.errors import InvalidParameter
from privately.ledger.book import Book
from privately.ledger.entries import Registered
from privately.ledger.sketches import overlap
from privately.ledger.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """To which lineages a table belongs; `inherited` are those that it was not declared to belong to.

    `like` are the tables in which the same units were recognised.
    """

    table: str
    lineages: tuple[str, ...]
    inherited: tuple[str, ...] = ()
    like: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """What the owner should know; empty if all is as declared."""
        if not self.inherited:
            return ""
        return (
            f"table {self.table} holds people of {', '.join(self.like)}: "
            f"it is charged to {', '.join(self.inherited)} too."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTable:
    """Records to which lineages a table belongs: those declared, those it had, and those of tables it overlaps."""

    table: str
    lineages: tuple[str, ...]
    sketch: str | None
    by: str

    def __call__(self, book: Book) -> Registration:
        found = registration(book.state, self.table, self.lineages, self.sketch)
        known = book.state.tables.get(self.table)
        sketch = self.sketch if self.sketch is not None or known is None else known.sketch
        if known is None or (known.lineages, known.sketch) != (found.lineages, sketch):
            book.append(Registered(table=self.table, lineages=list(found.lineages), sketch=sketch, by=self.by))
        return found


def registration(state: State, table: str, declared: tuple[str, ...], sketch: str | None) -> Registration:
    """Where a table belongs, or InvalidParameter if nothing says so."""
    like = _recognised(state, table, sketch)
    inherited = {lineage for name in like for lineage in state.tables[name].lineages}
    if table in state.tables:
        inherited |= set(state.tables[table].lineages)
    lineages = tuple(sorted({*declared, *inherited}))
    if not lineages:
        hint = 'Say whose people it holds: lineage="...", a new name or that of an earlier version.'
        raise InvalidParameter("lineage", f"table {table} is not known here.", hint=hint)
    return Registration(
        table=table,
        lineages=lineages,
        inherited=tuple(sorted(inherited - set(declared))) if declared else (),
        like=like,
    )


def _recognised(state: State, table: str, sketch: str | None) -> tuple[str, ...]:
    if sketch is None:
        return ()
    return tuple(
        name
        for name, known in sorted(state.tables.items())
        if name != table and known.sketch is not None and overlap(sketch, known.sketch)
    )
