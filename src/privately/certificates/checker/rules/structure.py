"""Rules about who is protected: post-processing, weakening, groups, units, replacement."""

from ..elementary import exponential, exponential_minus_one
from ..intervals import Interval, enclose, whole
from ..rationals import Rational
from ..schema import Invalid
from ..statements import Neighbors, Statement, require, require_weaker
from .step import Rule, Step, read_positive, read_text


def _same_kind(step: Step) -> Statement:
    premise = step.premises[0]
    step.claim_must_be(premise.kind)
    return premise


def _postprocessing(step: Step) -> None:
    require_weaker(step.claim, _same_kind(step))


def _weaken(step: Step) -> None:
    premise = step.premises[0]
    step.claim_must_be(premise.kind, *_ALSO.get(premise.kind, ()))
    require_weaker(step.claim, premise)
    mine, given = step.claim.neighbors, premise.neighbors
    if (mine.change, mine.unit) != (given.change, given.unit):
        raise Invalid("conclusion.neighbors", "may differ from the premise's in size and max_rows only")
    if mine.size > given.size:
        raise Invalid("conclusion.neighbors.size", "is larger than the premise's")
    if given.max_rows is not None and (mine.max_rows is None or mine.max_rows > given.max_rows):
        raise Invalid("conclusion.neighbors.max_rows", "is larger than the premise's")


_ALSO = {"PureDP": ("ApproxDP",), "ZCDP": ("ApproxZCDP",)}


def _neighbors_must_be(step: Step, expected: Neighbors) -> None:
    if step.claim.neighbors != expected:
        raise Invalid("conclusion.neighbors", f"must be: {expected.text()}")


def _multiply(step: Step, factor: int) -> None:
    """The linear part of group privacy: epsilon and mu by the factor, rho by its square."""
    for name, number in step.premises[0].numbers.items():
        if name != "delta":
            power = factor * factor if name == "rho" else factor
            require(f"conclusion.{name}", step.claim.numbers[name], number * Rational(power))


def _multiply_delta(step: Step, size: int) -> None:
    """delta * (1 + e^epsilon + ... + e^((size-1) epsilon)) = delta (e^(size epsilon) - 1) / (e^epsilon - 1)."""
    premise = step.premises[0]
    epsilon, delta = premise.number("epsilon"), premise.number("delta")

    def bound(bits: int) -> Interval:
        inner = bits + 16
        total = exponential_minus_one(enclose(epsilon * Rational(size), inner))
        return enclose(delta, inner) * total / exponential_minus_one(enclose(epsilon, inner))

    rational = delta.is_zero() or epsilon.is_zero() or size == 1
    step.require_delta_bound(delta * Rational(size) if rational else None, bound)


def _group(step: Step) -> None:
    premise = step.only_premise("PureDP", "ApproxDP", "ZCDP", "GaussianDP")
    _same_kind(step)
    size: int = step.parameters["size"]
    _neighbors_must_be(step, premise.neighbors._replace(size=premise.neighbors.size * size))
    _multiply(step, size)
    if premise.kind == "ApproxDP":
        _multiply_delta(step, size)


def _bounded_unit(step: Step) -> None:
    premise = _same_kind(step)
    given, mine = premise.neighbors, step.claim.neighbors
    if given.change != "add_remove" or given.unit is not None:
        raise Invalid("premises[0]", "must protect against adding or removing rows")
    if mine.unit is None:
        raise Invalid("conclusion.neighbors.unit", "must name the unit")
    _neighbors_must_be(step, Neighbors("add_remove", 1, mine.unit, given.size))
    require_weaker(step.claim, premise)


def _add_remove_to_replace(step: Step) -> None:
    premise = step.only_premise("PureDP", "ApproxDP", "ZCDP", "GaussianDP")
    _same_kind(step)
    if premise.neighbors.change != "add_remove":
        raise Invalid("premises[0]", "must be about adding and removing")
    _neighbors_must_be(step, premise.neighbors._replace(change="replace"))
    _multiply(step, 2)
    if premise.kind != "ApproxDP":
        return
    epsilon, delta = premise.number("epsilon"), premise.number("delta")

    def bound(bits: int) -> Interval:
        inner = bits + 16
        return enclose(delta, inner) * (whole(1, inner) + exponential(enclose(epsilon, inner)))

    rational = delta.is_zero() or epsilon.is_zero()
    step.require_delta_bound(delta * Rational(2) if rational else None, bound)


RULES = {
    "postprocessing": Rule(_postprocessing, premises=1, parameters={"description": read_text}),
    "weaken": Rule(_weaken, premises=1, same_neighbors=False),
    "group": Rule(_group, premises=1, parameters={"size": read_positive}, same_neighbors=False),
    "bounded_unit": Rule(_bounded_unit, premises=1, same_neighbors=False, any_rows=True),
    "add_remove_to_replace": Rule(_add_remove_to_replace, premises=1, same_neighbors=False),
}
