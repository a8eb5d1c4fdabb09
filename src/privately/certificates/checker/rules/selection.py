"""Mechanisms that choose one of several candidates by their scores.

Between neighbours each score changes by some amount; the spread bounds the largest of these amounts minus the smallest.
"""

from collections.abc import Callable

from ..rationals import Rational
from ..schema import Invalid
from .step import Rule, Step, read_above_zero, read_boolean, read_choice, read_not_negative


def _loss(step: Step) -> Rational:
    spread: Rational = step.stated("value") if step.premises else step.given("spread")
    return spread / step.given("scale")


def _exponential_mechanism(step: Step) -> None:
    """The logarithms of the ratios lie within an interval of the width spread/scale that contains 0."""
    step.claim_must_be("PureDP", "ZCDP")
    loss = _loss(step)
    if step.claim.kind == "PureDP":
        step.require_number("epsilon", loss)
    else:
        step.require_number("rho", loss * loss * Rational(1, 8))


def _permute_and_flip(step: Step) -> None:
    """It is the largest score after one-sided exponential noise, in which the winner's is moved up only.

    Independent choices in several groups cost the sum of their spreads over the scale.
    """
    step.claim_must_be("PureDP")
    step.require_number("epsilon", _loss(step))


def _noisy_max(step: Step) -> None:
    """The gap stays the same only if the winner's noise may also move down: there one-sided noise ends."""
    step.claim_must_be("PureDP")
    if step.parameters["gap"]:
        if step.parameters["noise"] != "discrete_laplace":
            raise Invalid("parameters.noise", "must be discrete_laplace where the gap is released")
        if step.given("spread").denominator != 1:
            raise Invalid("parameters.spread", "must be a whole number where the gap is released")
    step.require_number("epsilon", _loss(step))


_SCORES = {"scale": read_above_zero, "spread": read_not_negative}


def _choice(check: Callable[[Step], None]) -> Rule:
    """The spread is a claim among the parameters, or follows from a plan."""
    derived = Rule(check, premises=1, parameters={"scale": read_above_zero}, takes=frozenset({"ScoreSpread"}))
    return Rule(check, premises=0, parameters=_SCORES, derived=derived)


RULES = {
    "exponential_mechanism": _choice(_exponential_mechanism),
    "permute_and_flip": _choice(_permute_and_flip),
    "noisy_max": Rule(
        _noisy_max,
        premises=0,
        parameters={
            **_SCORES,
            "noise": read_choice("discrete_laplace", "discrete_exponential"),
            "gap": read_boolean,
        },
    ),
}
