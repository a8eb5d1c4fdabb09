"""Mechanisms that say what is above a threshold: of queries one after the other, and of a histogram's keys."""

from itertools import pairwise

from ..elementary import LARGEST_EXPONENT, exponential, exponential_minus_one, logarithm
from ..intervals import Interval, enclose, whole
from ..normal import normal_tail
from ..rationals import ONE, Rational
from ..schema import Invalid, array
from .step import (
    Rule,
    Step,
    read_above_zero,
    read_boolean,
    read_choice,
    read_not_negative,
    read_positive,
    read_several,
)

TESTS = 1_000


def _read_scales(value: object, field: str) -> list[Rational]:
    if not 1 <= len(array(value, field)) <= TESTS:
        raise Invalid(field, f"must be 1 to {TESTS} scales")
    scales = [read_above_zero(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]
    if any(earlier <= later for earlier, later in pairwise(scales)):
        raise Invalid(field, "must be strictly decreasing")
    return scales


def _threshold_epsilon(step: Step) -> Rational:
    """The price of the noisy threshold, paid once."""
    return step.given("sensitivity") / step.given("threshold_scale")


def _require_one_change(step: Step) -> None:
    """Queries that all move the same way: only one row or unit, which comes or goes, can promise that."""
    neighbors = step.claim.neighbors
    if step.parameters["monotone"] and (neighbors.change != "add_remove" or neighbors.size != 1):
        raise Invalid("conclusion.neighbors", "must be: adding or removing one row or unit, where queries are monotone")


def _sparse_vector(step: Step) -> None:
    """A yes moves its noise by up to twice the sensitivity; by once, if all queries move the same way."""
    step.claim_must_be("PureDP")
    _require_one_change(step)
    moves = step.parameters["count"] * (1 if step.parameters["monotone"] else 2)
    answers = step.given("sensitivity") * Rational(moves) / step.given("query_scale")
    step.require_number("epsilon", _threshold_epsilon(step) + answers)


def _adaptive_sparse_vector(step: Step) -> None:
    """What the yes answers cost together is bounded by the run itself, whatever the scales of its tests are."""
    step.claim_must_be("PureDP")
    _require_one_change(step)
    step.require_number("epsilon", _threshold_epsilon(step) + step.given("query_epsilon"))


def _thresholded_histogram(step: Step) -> None:
    laplace = step.parameters["noise"] == "discrete_laplace"
    step.claim_must_be("ApproxDP" if laplace else "ApproxZCDP")
    neighbors = step.claim.neighbors
    if neighbors.change != "add_remove" or neighbors.size != 1:
        raise Invalid("conclusion.neighbors", "must be: adding or removing one row, or all rows of one unit")
    scale, keys = step.given("scale"), Rational(_keys(step))
    if laplace:
        step.require_number("epsilon", keys / scale)
    else:
        step.require_number("rho", keys / (scale * scale * Rational(2)))
    _require_hidden_keys(step, laplace=laplace)


def _keys(step: Step) -> int:
    """How many a unit has: derived, or claimed."""
    keys: int = step.stated("keys") if step.premises else step.parameters["keys"]
    return keys


def _require_hidden_keys(step: Step, *, laplace: bool) -> None:
    """delta >= 1 - (1 - d)^keys, asked as d / (1 - (1 - delta)^(1/keys)) <= 1, d the chance to see a key of one unit.

    delta is 0, or at least 2^-4096. Then 1 - (1 - delta)^(1/keys) >= delta/keys > e^-10,000: where d is below that,
    which is too small to be evaluated, nothing is left to check.
    """
    delta = step.claim.number("delta")
    if delta.is_zero():
        raise Invalid("conclusion.delta", "must be above 0")
    scale, threshold, keys = step.given("scale"), step.parameters["threshold"], _keys(step)
    distance = Rational(2 * threshold - (2 if laplace else 3), 2) / scale
    decay = distance if laplace else distance * distance * Rational(1, 2)  # d < e^-decay
    if delta >= ONE or decay > Rational(LARGEST_EXPONENT):
        return

    def ratio(bits: int) -> Interval:
        inner = bits + 32
        seen = _laplace_tail(distance, scale, inner) if laplace else normal_tail(distance, inner)
        kept = logarithm(ONE - delta, inner) / whole(keys, inner)
        return seen / -exponential_minus_one(kept)

    step.work.require_ratio("conclusion.delta", delta, ratio)


def _laplace_tail(distance: Rational, scale: Rational, bits: int) -> Interval:
    """The chance of discrete Laplace noise of at least distance * scale, a whole number above 0."""
    return exponential(-enclose(distance, bits)) / (whole(1, bits) + exponential(-enclose(ONE / scale, bits)))


_QUERIES = {"threshold_scale": read_above_zero, "sensitivity": read_not_negative, "monotone": read_boolean}
_HISTOGRAM = {
    "noise": read_choice("discrete_laplace", "rounded_gaussian"),
    "scale": read_above_zero,
    "threshold": read_several,
}

RULES = {
    "sparse_vector": Rule(
        _sparse_vector,
        premises=0,
        parameters={**_QUERIES, "query_scale": read_above_zero, "count": read_positive},
    ),
    "adaptive_sparse_vector": Rule(
        _adaptive_sparse_vector,
        premises=0,
        parameters={**_QUERIES, "query_scales": _read_scales, "query_epsilon": read_not_negative},
    ),
    "thresholded_histogram": Rule(
        _thresholded_histogram,
        premises=0,
        parameters={**_HISTOGRAM, "keys": read_positive},
        derived=Rule(_thresholded_histogram, premises=1, parameters=_HISTOGRAM, takes=frozenset({"UnitKeys"})),
    ),
}
