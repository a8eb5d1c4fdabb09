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
        why = f"holds people of {', '.join(self.like)}" if self.like else "belongs to other lineages already"
        return f"table {self.table} {why}: it is charged to {', '.join(self.inherited)} too."


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterTable:
    """Records to which lineages a table belongs: those declared, those it had, and those of tables it overlaps."""

    table: str
    lineages: tuple[str, ...]
    sketch: str | None
    key: str | None
    by: str

    def __call__(self, book: Book) -> Registration:
        if None not in (self.key, book.state.key) and self.key != book.state.key:
            hint = "Under another key nobody would be recognised; load the key that earlier tables were sketched with."
            raise InvalidParameter("key", "is not the one that this ledger knows.", hint=hint)
        found = registration(book.state, self.table, self.lineages, self.sketch)
        known = book.state.tables.get(self.table)
        seen = known is not None and (self.sketch is None or self.sketch in known.sketches)
        if known is None or not seen or known.lineages != found.lineages:
            entry = Registered(
                table=self.table, lineages=list(found.lineages), sketch=self.sketch, key=self.key, by=self.by
            )
            book.append(entry)
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
        if name != table and any(overlap(sketch, one) for one in known.sketches)
    )
