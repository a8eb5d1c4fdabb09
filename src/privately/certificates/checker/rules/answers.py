"""Mechanisms that answer for one row at a time."""

from ..elementary import logarithm
from ..rationals import ONE, Rational
from ..schema import Invalid
from .step import Rule, Step, read_above_zero, read_several


def _randomized_response(step: Step) -> None:
    """epsilon >= |ln of truth over the chance of one lie|."""
    step.claim_must_be("PureDP")
    if step.claim.neighbors != ("replace", 1, None, None):
        raise Invalid("conclusion.neighbors", "must be: replacing one row")
    truth = step.given("truth")
    if not truth < ONE:
        raise Invalid("parameters.truth", "must be below 1")
    ratio = truth * Rational(step.parameters["categories"] - 1) / (ONE - truth)
    if ratio < ONE:
        ratio = ONE / ratio
    if ratio != ONE:
        step.require_bound("epsilon", lambda bits: logarithm(ratio, bits + 16))


RULES = {
    "randomized_response": Rule(
        _randomized_response, premises=0, parameters={"categories": read_several, "truth": read_above_zero}
    ),
}
