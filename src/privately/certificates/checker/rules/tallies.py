"""Whole numbers for every group: how far one unit moves them all together.

A unit that comes or goes has c_i rows in group i: at most g of these are not 0, none is above m, and their sum is at
most r. A unit that is replaced leaves with such numbers and enters with others.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..rationals import Rational
from ..schema import Invalid, rational, text
from ..statements import require
from .relations import GROUPS
from .step import (
    Parser,
    Rule,
    Step,
    read_above_zero,
    read_choice,
    read_positive,
    read_rational,
    read_text,
)

MOST_STEPS = 2**62
MOST_BINS = 2**20

_SENSITIVITY = frozenset({"Sensitivity"})


class _Moves(NamedTuple):
    """L1, the square of L2, and Linf."""

    total: int
    squares: int
    largest: int


def _is_replaced(step: Step) -> bool:
    return step.claim.neighbors.change == "replace"


def _rows_of_unit(step: Step) -> int:
    stated: dict[str, int] = {name: step.stated(name) for name in ("rows", "groups", "rows_per_group")}
    return min(stated["rows"], stated["groups"] * stated["rows_per_group"])


def _squares_of_unit(step: Step) -> int:
    """The largest sum of c_i^2: moving a row from a smaller c_i to a larger one only adds, up to m."""
    most: int = step.stated("rows_per_group")
    left = _rows_of_unit(step) % most
    return (_rows_of_unit(step) - left) * most + left * left


def _weighted(step: Step, weight: int) -> _Moves:
    """Sums over rows of numbers from 0 to `weight`: |a - b| <= max(a, b), (a - b)^2 <= a^2 + b^2."""
    units = 2 if _is_replaced(step) else 1
    return _Moves(
        units * _rows_of_unit(step) * weight,
        units * _squares_of_unit(step) * weight * weight,
        step.stated("rows_per_group") * weight,
    )


def _one_for_each_group(step: Step, moves: _Moves) -> _Moves:
    """Where K numbers are all there are, none of which moves further than the largest move."""
    listed: int | None = step.stated("listed")
    if listed is None:
        return moves
    total = min(moves.total, listed * moves.largest)
    return _Moves(total, min(moves.squares, listed * moves.largest * moves.largest), moves.largest)


def _require_moves(step: Step, moves: _Moves) -> None:
    """At least as much as the norm of the claim gives; a root is compared by squares."""
    norm: str = step.claim.stated["norm"]
    value: Rational = step.claim.stated["value"]
    if norm == "L2":
        if value * value < Rational(moves.squares):
            raise Invalid("conclusion.value", f"its square must be at least {moves.squares}")
    else:
        needed = moves.total if norm == "L1" else moves.largest
        require("conclusion.value", value, Rational(needed))


def _count_rows(step: Step) -> None:
    _require_moves(step, _one_for_each_group(step, _weighted(step, 1)))


def _count_units(step: Step) -> None:
    """1 in each group that a unit is in."""
    moved = step.stated("groups") * (2 if _is_replaced(step) else 1)
    _require_moves(step, _one_for_each_group(step, _Moves(moved, moved, 1)))


def _count_units_by_key(step: Step) -> None:
    if step.claim.stated["keys"] < step.stated("groups"):
        raise Invalid("conclusion.keys", f"must be at least {step.stated('groups')}")


def _sum_steps(step: Step) -> None:
    """Of numbers of both signs, two units together move a sum by up to the whole width for each row."""
    low, high = _ends(step)
    moves = _weighted(step, max(abs(low), abs(high)))
    if low < 0 < high and _is_replaced(step):
        moves = _Moves(moves.total, 2 * moves.squares, step.stated("rows_per_group") * (high - low))
    _require_moves(step, _one_for_each_group(step, moves))


def _sum_pairs(step: Step) -> None:
    """x - low and high - x of each row: both at least 0, and high - low together. Two numbers for each group."""
    low, high = _ends(step)
    if step.parameters["counted"] == "rows" and not low <= 0 <= high:
        raise Invalid(
            "parameters.counted", "must be values, unless 0 is between low and high: a row without one adds 0"
        )
    _require_moves(step, _weighted(step, high - low))


def _count_bins(step: Step) -> None:
    """Groups of groups: how many of these a unit is in, only its rows bound."""
    _require_moves(step, _weighted(step, 1))


def _score_quantile(step: Step) -> None:
    """Each row that comes or goes, in whichever group, moves scores so far apart as the quantile says."""
    probability = step.given("probability")
    if probability.numerator < 0 or probability.numerator > probability.denominator:
        raise Invalid("parameters.probability", "must be from 0 to 1")
    below, above = probability.numerator, probability.denominator - probability.numerator
    apart = max(below, above) * (1 if not below or not above else 2)
    rows = _rows_of_unit(step) * (2 if _is_replaced(step) else 1)
    require("conclusion.value", step.claim.stated["value"], Rational(rows * apart))


def _ends(step: Step) -> tuple[int, int]:
    low, high = step.given("low").numerator, step.given("high").numerator
    if low > high:
        raise Invalid("parameters.low", "is above high")
    return low, high


def _read_steps(value: object, field: str) -> Rational:
    number = rational(value, field)
    if number.denominator != 1 or abs(number.numerator) > MOST_STEPS:
        raise Invalid(field, "must be a whole number of at most 2^62 steps")
    return number


def _read_bins(value: object, field: str) -> int:
    bins = read_positive(value, field)
    if bins > MOST_BINS:
        raise Invalid(field, f"must be at most {MOST_BINS}")
    return bins


def _read_optional_text(value: object, field: str) -> str | None:
    return None if value is None else text(value, field)


_STEPS: dict[str, Parser] = {"argument": read_text, "step": read_above_zero, "low": _read_steps, "high": _read_steps}
_BINS: dict[str, Parser] = {"argument": read_text, "lower": read_rational, "width": read_above_zero, "bins": _read_bins}


def _tally(check: Callable[[Step], None], parameters: dict[str, Parser], gives: frozenset[str] = _SENSITIVITY) -> Rule:
    return Rule(check, premises=1, parameters=parameters, takes=GROUPS, gives=gives)


RULES = {
    "count_rows": _tally(_count_rows, {"argument": _read_optional_text}),
    "count_units": _tally(_count_units, {}),
    "count_units_by_key": _tally(_count_units_by_key, {}, frozenset({"UnitKeys"})),
    "sum_steps": _tally(_sum_steps, _STEPS),
    "sum_pairs": _tally(_sum_pairs, {**_STEPS, "counted": read_choice("values", "rows")}),
    "count_bins": _tally(_count_bins, _BINS),
    "score_quantile": _tally(_score_quantile, {**_BINS, "probability": read_rational}, frozenset({"ScoreSpread"})),
}
