"""What is asked of an engine: whole numbers for every group, and nothing else.

Each tally is a sum over the rows of a number that depends on the row alone and lies between two bounds, or a count of
units. That is all the privacy of an answer rests on, so a tally brings its numbers within the bounds itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.plans.columns import MOST_BINS
from privately.plans.expressions import Expression, Identity
from privately.plans.relations import Relation, check_fields
from privately.plans.types import LARGEST_INTEGER, Type, Value, type_of

MOST_KEYS = 10**6
_FARTHEST = Fraction(2**999)
_LONGEST = 2**60


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """How many rows; with an `argument`, those in which it is not NULL."""

    argument: Expression | None = None

    @property
    def reach(self) -> int:
        """How far one row can move it."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSum:
    """The sum of x in steps, rounded to whole ones and brought between `low` and `high`; NULL adds nothing."""

    argument: Expression
    step: Fraction
    low: int
    high: int

    def __post_init__(self) -> None:
        if not self.argument.known.type.is_number:
            raise InvalidParameter("argument", "is no number.")
        if not (self.step > 0 and self.low <= self.high and self.reach < LARGEST_INTEGER):
            raise InvalidParameter("step", "must be positive, and the bounds in order and below 2^62 steps.")
        _check_arithmetic(self.argument.known.type, self.step, Fraction(0))

    @property
    def reach(self) -> int:
        """At least 1, so that there is noise to be made for it."""
        return max(abs(self.low), abs(self.high), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCount:
    """How many units have a row in the group."""

    @property
    def reach(self) -> int:
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BinCounts:
    """How many rows have x in each of so many bins of one width, from `lower` up; the end bins take what is outside."""

    argument: Expression
    lower: Fraction
    width: Fraction
    bins: int

    def __post_init__(self) -> None:
        if not self.argument.known.type.is_number:
            raise InvalidParameter("argument", "is no number.")
        if not (self.width > 0 and 0 < self.bins <= MOST_BINS):
            raise InvalidParameter("bins", f"must be between 1 and {MOST_BINS}, of a positive width.")
        _check_arithmetic(self.argument.known.type, self.width, self.lower)

    @property
    def reach(self) -> int:
        return 1


Tally: TypeAlias = RowCount | StepSum | UnitCount | BinCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What rows are grouped by. With `values` the groups are known beforehand; without, they are not public."""

    identity: Identity
    expression: Expression
    values: tuple[Value, ...] | None = None

    def __post_init__(self) -> None:
        if self.expression.known.type is Type.REAL:
            raise InvalidParameter("key", "real numbers make no groups; round them first.")
        if self.values is not None:
            self._check_values(self.values)

    def _check_values(self, values: tuple[Value, ...]) -> None:
        """A group that were listed twice would be answered twice, at the price of one answer."""
        kind = self.expression.known.type
        if not 0 < len(values) <= MOST_KEYS:
            raise InvalidParameter("keys", f"list between 1 and {MOST_KEYS:,} values of {self.identity.name}.")
        if not all(value is None or _is_of(value, kind) for value in values):
            raise InvalidParameter("keys", f"the values of {self.identity.name} must be of the type {kind.value}.")
        if len(set(values)) != len(values):
            raise InvalidParameter("keys", f"a value of {self.identity.name} is listed twice.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregation:
    """Tallies for every group of a relation; without keys, one group of all rows.

    The groups are all combinations of the values of the keys, or some `combinations` of them that are listed.
    """

    source: Relation
    keys: tuple[Key, ...]
    tallies: tuple[tuple[Identity, Tally], ...]
    combinations: tuple[tuple[Value, ...], ...] | None = None

    def __post_init__(self) -> None:
        expressions = [key.expression for key in self.keys]
        expressions += [
            tally.argument for _, tally in self.tallies if not isinstance(tally, UnitCount) and tally.argument
        ]
        for expression in expressions:
            check_fields(self.source, expression)
        identities = [key.identity for key in self.keys] + [identity for identity, _ in self.tallies]
        if len(set(identities)) != len(identities) or not self.tallies:
            raise InvalidParameter("tallies", "there must be some, with an identity each.")
        if self.combinations is not None:
            self._check_combinations(self.combinations)

    def _check_combinations(self, listed: tuple[tuple[Value, ...], ...]) -> None:
        """As with values: none may be there twice, and each must be one of those that the keys have."""
        values = [set(key.values or ()) for key in self.keys]
        for group in listed:
            if len(group) != len(values) or not all(one in known for one, known in zip(group, values, strict=True)):
                raise InvalidParameter("keys", "a group is no combination of the values of the keys.")
        if not listed or len(set(listed)) != len(listed):
            raise InvalidParameter("keys", "list at least one group, and none twice.")

    @property
    def keys_are_public(self) -> bool:
        return all(key.values is not None for key in self.keys)

    @property
    def listed_groups(self) -> int | None:
        """How many groups there are, if that is public."""
        if self.combinations is not None:
            return len(self.combinations)
        sizes = [None if key.values is None else len(key.values) for key in self.keys]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)


def _check_arithmetic(kind: Type, step: Fraction, lower: Fraction) -> None:
    """Passes if steps can be counted, with doubles or exactly with 128 bits; an engine must find nothing to refuse."""
    if kind is Type.REAL:
        fits = bool(1 / _FARTHEST <= step <= _FARTHEST and abs(lower) <= _FARTHEST)
    else:
        slope, offset = 1 / step, -lower / step
        bottom = math.lcm(slope.denominator, offset.denominator, 2)
        fits = bottom < _LONGEST and int(slope * bottom) < _LONGEST and abs(int(offset * bottom)) < _LONGEST**2
    if not fits:
        hint = "Declare bounds of a usual size, or bring the number between some: LEAST(GREATEST(x, 0), 100)."
        raise InvalidParameter("step", "these numbers are too large or too small to be counted in steps.", hint=hint)


def _is_of(value: Value, kind: Type) -> bool:
    try:
        return type_of(value) is kind
    except ValueError:
        return False
