"""Mechanisms that add independent noise to each entry of a vector of integers.

How far the vector moves is derived in a premise, or claimed among the parameters.
"""

from collections.abc import Callable

from ..rationals import Rational
from ..schema import Invalid
from ..statements import NORMS
from .step import Rule, Step, read_above_zero, read_not_negative


def _moved(step: Step, norm: str) -> Rational:
    """How far the vector moves: no norm is above one that is larger."""
    if not step.premises:
        return step.given("sensitivity")
    if NORMS.index(step.stated("norm")) > NORMS.index(norm):
        raise Invalid("premises[0]", f"is in {step.stated('norm')}, but the rule needs {norm}")
    moved: Rational = step.stated("value")
    return moved


def _discrete_laplace(step: Step) -> None:
    """Moving the law of one entry by m multiplies its probabilities by at most e^(|m|/scale)."""
    step.claim_must_be("PureDP")
    step.require_number("epsilon", _moved(step, "L1") / step.given("scale"))


def _rounded_gaussian(step: Step) -> None:
    """x + round(N) = round(x + N) for an integer x, so this is post-processing of normal noise."""
    step.claim_must_be("GaussianDP")
    step.require_number("mu", _moved(step, "L2") / step.given("standard_deviation"))


def _discrete_gaussian(step: Step) -> None:
    """zCDP as for normal noise; but no GaussianDP, for its delta is larger."""
    step.claim_must_be("ZCDP")
    sensitivity = _moved(step, "L2")
    step.require_number("rho", sensitivity * sensitivity / (step.given("variance") * Rational(2)))


def _noise(check: Callable[[Step], None], width: str) -> Rule:
    """With the sensitivity as a premise, or as a parameter."""
    written = {width: read_above_zero}
    derived = Rule(check, premises=1, parameters=written, takes=frozenset({"Sensitivity"}))
    return derived._replace(premises=0, parameters={**written, "sensitivity": read_not_negative}, derived=derived)


RULES = {
    "discrete_laplace": _noise(_discrete_laplace, "scale"),
    "rounded_gaussian": _noise(_rounded_gaussian, "standard_deviation"),
    "discrete_gaussian": _noise(_discrete_gaussian, "variance"),
}
