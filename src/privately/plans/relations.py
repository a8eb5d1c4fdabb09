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
        if self.unit.column is not None and self.unit.column not in {column.name for column in self.columns}:
            raise InvalidParameter("unit", f"there is no column {self.unit.column}.")

    def column(self, name: str) -> Column | None:
        """The column of this name, whatever its case."""
        return next((column for column in self.columns if column.name.casefold() == name.casefold()), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """The rows of a table that count: of every unit no more than it may have. Values are as the columns declare."""

    table: Table
    identities: tuple[Identity, ...]

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
        known = {field.identity for field in self.source.fields}
        for identity, expression in self.outputs:
            check_fields(self.source, expression)
            same = isinstance(expression, Field) and expression.identity == identity
            if identity in known and not same:
                raise InvalidParameter("outputs", f"{identity.name} is another value under an old identity.")

    @property
    def fields(self) -> tuple[Field, ...]:
        return tuple(Field(identity, expression.known) for identity, expression in self.outputs)


Relation: TypeAlias = Scan | Filter | Project


def check_fields(source: Relation, expression: Expression) -> None:
    """Passes if the expression speaks of nothing but the fields of the relation."""
    missing = fields_of(expression) - {field.identity for field in source.fields}
    if missing:
        raise InvalidParameter("expression", f"there is no {next(iter(missing)).name} here.")


def scan_of(relation: Relation) -> Scan:
    """The table that it all comes from."""
    while not isinstance(relation, Scan):
        relation = relation.source
    return relation
