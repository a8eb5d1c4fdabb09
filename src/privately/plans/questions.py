"""A question: the whole numbers it needs, the estimates that are made of them, and what is shown of these.

Estimates are what SQL calls aggregates. Everything after them (HAVING, ORDER BY, LIMIT, arithmetic) is made of answers
that are private already, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from privately.errors import InvalidParameter
from privately.plans.aggregates import Aggregation, BinCounts, RowCount, StepSum, Tally, UnitCount
from privately.plans.expressions import Expression, Identity, fields_of
from privately.plans.types import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A count, or a sum: one tally, in its steps."""

    identity: Identity
    tally: Identity
    step: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """An average: a sum in steps over the count of the same values. Both come out of one pair of two-sided sums."""

    identity: Identity
    total: Identity
    count: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A variance of all values, or its root: from their sum, their count, and the sum of the squares of x - centre.

    In the middle of the bounds, a centre makes the squares a quarter as large as 0 at one of them does.
    """

    identity: Identity
    total: Identity
    squares: Identity
    count: Identity
    root: bool
    centre: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A value below which a share of all values lies, from counts in bins."""

    identity: Identity
    bins: Identity
    probability: Fraction


Estimate: TypeAlias = Number | Mean | Spread | Quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A column of the answer: an expression in keys and estimates."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """By what the answer is ordered; NULL comes last."""

    expression: Expression
    direction: Literal["ascending", "descending"] = "ascending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """All that a query asks. Without an order, groups come in the order of their keys."""

    aggregation: Aggregation
    estimates: tuple[Estimate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None

    def __post_init__(self) -> None:
        self._check_estimates()
        names = [output.name.casefold() for output in self.outputs]
        if not names or len(set(names)) != len(names):
            raise InvalidParameter("outputs", "must have one name each.", hint="Name them: COUNT(*) AS visits.")
        if self.having is not None and self.having.known.type is not Type.BOOLEAN:
            raise InvalidParameter("having", "is neither true nor false.")
        if self.limit is not None and self.limit < 0:
            raise InvalidParameter("limit", "must not be negative.")
        given = {key.identity for key in self.aggregation.keys} | {one.identity for one in self.estimates}
        expressions = [*(one.expression for one in self.outputs), *(one.expression for one in self.order)]
        for expression in (*expressions, *([] if self.having is None else [self.having])):
            if fields_of(expression) - given:
                raise InvalidParameter("outputs", "speak of rows, where only groups and aggregates are left.")

    def _check_estimates(self) -> None:
        """Each is made of tallies of the right kinds, and has an identity of its own."""
        tallies = dict(self.aggregation.tallies)
        identities = [key.identity for key in self.aggregation.keys] + [one.identity for one in self.estimates]
        if len(set(identities)) != len(identities) or not self.estimates:
            raise InvalidParameter("estimates", "there must be some, with an identity each.")
        if not all(_is_made_of(estimate, tallies) for estimate in self.estimates):
            raise InvalidParameter("estimates", "must be made of tallies that are asked for, and fit together.")


def _is_made_of(estimate: Estimate, tallies: Mapping[Identity, Tally]) -> bool:
    match estimate:
        case Number():
            return isinstance(tallies.get(estimate.tally), (RowCount, StepSum, UnitCount)) and estimate.step > 0
        case Quantile():
            return isinstance(tallies.get(estimate.bins), BinCounts) and 0 <= estimate.probability <= 1
        case Spread():
            return isinstance(tallies.get(estimate.squares), StepSum) and _is_pair(estimate, tallies)
        case Mean():
            return _is_pair(estimate, tallies)


def _is_pair(estimate: Mean | Spread, tallies: Mapping[Identity, Tally]) -> bool:
    """A sum, and the count of the same values or of all rows."""
    total, count = tallies.get(estimate.total), tallies.get(estimate.count)
    if not (isinstance(total, StepSum) and isinstance(count, RowCount)):
        return False
    return count.argument is None or count.argument == total.argument
