"""Mechanisms that add independent noise to each entry of a vector of integers."""

from ..rationals import Rational
from .step import Rule, Step, read_above_zero, read_not_negative


def _discrete_laplace(step: Step) -> None:
    """Moving the law of one entry by m multiplies its probabilities by at most e^(|m|/scale)."""
    step.claim_must_be("PureDP")
    step.require_number("epsilon", step.given("sensitivity") / step.given("scale"))


def _rounded_gaussian(step: Step) -> None:
    """x + round(N) = round(x + N) for an integer x, so this is post-processing of normal noise."""
    step.claim_must_be("GaussianDP")
    step.require_number("mu", step.given("sensitivity") / step.given("standard_deviation"))


def _discrete_gaussian(step: Step) -> None:
    """zCDP as for normal noise; but no GaussianDP, for its delta is larger."""
    step.claim_must_be("ZCDP")
    sensitivity = step.given("sensitivity")
    step.require_number("rho", sensitivity * sensitivity / (step.given("variance") * Rational(2)))


RULES = {
    "discrete_laplace": Rule(
        _discrete_laplace, premises=0, parameters={"scale": read_above_zero, "sensitivity": read_not_negative}
    ),
    "rounded_gaussian": Rule(
        _rounded_gaussian,
        premises=0,
        parameters={"standard_deviation": read_above_zero, "sensitivity": read_not_negative},
    ),
    "discrete_gaussian": Rule(
        _discrete_gaussian, premises=0, parameters={"variance": read_above_zero, "sensitivity": read_not_negative}
    ),
}
