"""Relations: a table, rows of it, and new values of each row. Every operator works row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.plans.columns import Column
from privately.plans.expressions import Expression, Field, Identity, fields_of
from privately.plans.types import Type
from privately.plans.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as its owner declares it."""

    name: str
    columns: tuple[Column, ...]
    unit: Unit

    def __post_init__(self) -> None:
        names = [column.name.casefold() for column in self.columns]
        if not names or len(set(names)) != len(names):
            raise InvalidParameter("columns", "have one name each, told apart without regard to case.")
        if self.unit.column is not None:
            self._check_unit(self.unit.column)

    def _check_unit(self, name: str) -> None:
        """People must stay apart: a bound that made one of two would let each change which rows of the other count."""
        found = next((column for column in self.columns if column.name == name), None)
        if found is None:
            raise InvalidParameter("unit", f"there is no column {name}.")
        if found.type is Type.REAL or found.bounds is not None:
            hint = "Declare it as text, or as integer without bounds."
            raise InvalidParameter("unit", f"{name} names people: no real number, and without bounds.", hint=hint)

    def column(self, name: str) -> Column | None:
        """The column of this name, whatever its case."""
        return next((column for column in self.columns if column.name.casefold() == name.casefold()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The rows of a table that count: of every unit no more than it may have. Values are as the columns declare."""

    table: Table
    identities: tuple[Identity, ...]

    def __post_init__(self) -> None:
        if len(set(self.identities)) != len(self.table.columns) or len(self.identities) != len(self.table.columns):
            raise InvalidParameter("identities", "there must be one for each column.")

    @property
    def fields(self) -> tuple[Field, ...]:
        pairs = zip(self.identities, self.table.columns, strict=True)
        return tuple(Field(identity, column.known) for identity, column in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The rows for which a condition is true (not unknown)."""

    source: Relation
    condition: Expression

    def __post_init__(self) -> None:
        if self.condition.known.type is not Type.BOOLEAN:
            raise InvalidParameter("condition", "is neither true nor false.")
        check_fields(self.source, self.condition)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.source.fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """New values for each row. A value that is handed on as it is keeps its identity; all others are new ones."""

    source: Relation
    outputs: tuple[tuple[Identity, Expression], ...]

    def __post_init__(self) -> None:
        known, here = _identities(self.source), {field.identity for field in self.source.fields}
        if len({identity for identity, _ in self.outputs}) != len(self.outputs):
            raise InvalidParameter("outputs", "must have an identity each.")
        for identity, expression in self.outputs:
            _check_among(here, expression)
            same = isinstance(expression, Field) and expression.identity == identity
            if identity in known and not same:
                raise InvalidParameter("outputs", f"{identity.name} is another value under an old identity.")

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(Field(identity, expression.known) for identity, expression in self.outputs)


Relation: TypeAlias = Scan | Filter | Project


def check_fields(source: Relation, expression: Expression) -> None:
    """Passes if the expression speaks of nothing but the fields of the relation."""
    _check_among({field.identity for field in source.fields}, expression)


def _check_among(here: set[Identity], expression: Expression) -> None:
    missing = fields_of(expression) - here
    if missing:
        raise InvalidParameter("expression", f"there is no {next(iter(missing)).name} here.")


def _identities(relation: Relation) -> set[Identity]:
    """Of all values that there are, or were on the way."""
    found = set[Identity]()
    while not isinstance(relation, Scan):
        if isinstance(relation, Project):
            found.update(identity for identity, _ in relation.outputs)
        relation = relation.source
    return found.union(relation.identities)


def scan_of(relation: Relation) -> Scan:
    """The table that it all comes from."""
    while not isinstance(relation, Scan):
        relation = relation.source
    return relation
