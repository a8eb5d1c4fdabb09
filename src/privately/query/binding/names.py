"""What names mean at a place of the text. Names find values; whatever is known of a value is known by its identity."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from sqlglot import exp

from privately.errors import NotSupported
from privately.plans import Column, Expression, Identity
from privately.query.spans import Source


@dataclass(slots=True, kw_only=True)
class Binding:
    """What one question shares while it is bound: its text, new identities, and the columns behind some of them."""

    source: Source
    numbers: Iterator[int] = field(default_factory=itertools.count)
    columns: dict[Identity, Column] = field(default_factory=dict)
    handed_on: int = 0
    """How many columns all inner SELECTs have together."""

    def identity(self, name: str) -> Identity:
        """A new one; the name is cut to what people will read."""
        return Identity(number=next(self.numbers), name=name[:60])


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name that can be written for a value, behind that of its table or, unless another hides it, alone."""

    table: str
    name: str
    value: Expression
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of columns at a place, told apart without regard to case."""

    listed: tuple[Name, ...]

    def find(self, name: str, table: str = "") -> list[Expression]:
        """All that the name can mean."""
        wanted, owner = name.casefold(), table.casefold()
        return [
            one.value
            for one in self.listed
            if one.name.casefold() == wanted and (one.table.casefold() == owner if owner else not one.hidden)
        ]

    def resolve(self, column: exp.Column, source: Source) -> Expression:
        """The one value that a column stands for."""
        found = self.find(column.name, column.table)
        if len(found) == 1:
            return found[0]
        if found:
            hint = "Write the name of its table before it, or give one of them another name."
            raise NotSupported(f"{column.name} may be several columns.", hint=hint, span=source.span(column))
        raise unknown("column", source.words(column), [one.name for one in self.listed], column, source)

    def under(self, table: str, columns: Iterable[str] | None = None) -> Names:
        """The same values seen from outside, as columns of a table of this name, perhaps with new names."""
        names = [one.name for one in self.listed] if columns is None else list(columns)
        pairs = zip(names, self.listed, strict=True)
        return Names(listed=tuple(Name(table=table, name=name, value=one.value) for name, one in pairs))


def unknown(kind: str, name: str, known: Iterable[str], node: exp.Expr, source: Source) -> NotSupported:
    """That there is nothing of this name, with what may have been meant."""
    listed = list(dict.fromkeys(known))
    by_name: Mapping[str, str] = {one.casefold(): one for one in listed}
    close = get_close_matches(name.casefold()[:200], by_name, n=3, cutoff=0.6)
    meant = [by_name[one] for one in close]
    if meant:
        hint = f"Did you mean {' or '.join(meant)}?"
    elif name.startswith('"'):
        hint = f"A text is written in single quotes: '{name[1:40].rstrip(chr(34))}'."
    else:
        hint = f"There are: {', '.join(listed[:20])}." if listed else f"There is no {kind} here."
    return NotSupported(f"there is no {kind} {name[:60]}.", hint=hint, span=source.span(node))
