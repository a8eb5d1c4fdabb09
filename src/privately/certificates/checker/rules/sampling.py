"""Amplification by sampling."""

from ..elementary import exponential_minus_one
from ..intervals import Interval, enclose
from ..rationals import ONE, Rational
from ..schema import Invalid
from ..statements import require_delta
from .step import Rule, Step, read_positive, read_rational


def _amplify(step: Step, change: str, rate: Rational) -> None:
    premise = step.only_premise("PureDP", "ApproxDP")
    step.claim_must_be(premise.kind)
    if step.claim.neighbors.change != change or step.claim.neighbors.size != 1:
        raise Invalid("conclusion.neighbors", f"this sampling needs {change} of size 1")
    if premise.kind == "ApproxDP":
        require_delta(step.claim.number("delta"), rate * premise.number("delta"))
    _require_epsilon(step, premise.number("epsilon"), rate)


def _require_epsilon(step: Step, epsilon: Rational, rate: Rational) -> None:
    """epsilon' >= ln(1 + q (e^epsilon - 1)), asked as q (e^epsilon - 1) / (e^epsilon' - 1) <= 1."""
    claimed = step.claim.number("epsilon")
    if epsilon <= claimed or rate.is_zero():
        return
    if claimed.is_zero() or rate == ONE:
        raise Invalid("conclusion.epsilon", f"is too small ({claimed.text()})")

    def ratio(bits: int) -> Interval:
        inner = bits + 16
        needed = enclose(rate, inner) * exponential_minus_one(enclose(epsilon, inner))
        return needed / exponential_minus_one(enclose(claimed, inner))

    step.work.require_ratio("conclusion.epsilon", claimed, ratio)


def _poisson_sampling(step: Step) -> None:
    rate: Rational = step.parameters["rate"]
    if rate.numerator < 0 or rate > ONE:
        raise Invalid("parameters.rate", "must be from 0 to 1")
    _amplify(step, "add_remove", rate)


def _sampling_without_replacement(step: Step) -> None:
    sample, population = step.parameters["sample"], step.parameters["population"]
    if sample > population:
        raise Invalid("parameters.sample", "is larger than the population")
    _amplify(step, "replace", Rational(sample, population))


RULES = {
    "poisson_sampling": Rule(_poisson_sampling, premises=1, parameters={"rate": read_rational}, any_rows=True),
    "sampling_without_replacement": Rule(
        _sampling_without_replacement,
        premises=1,
        parameters={"sample": read_positive, "population": read_positive},
        any_rows=True,
    ),
}
