"""Outputs far out that break a claim, beside their probabilities as fractions."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.proving import Refuted, analyze, prove
from privately.proving.exact.claims import read_claim
from privately.proving.exact.evidence import SMALLEST, Evidence, evidence

SUMMED = "def f(x: each(1, whole(0, 1))):\n    return x + discrete_laplace(2) + discrete_laplace(2)\n"
SLOWLY = "def f(x: each(1, whole(1000, 1001))):\n    return geometric(1/x)\n"


def broken(program: str, claim: str) -> Evidence | None:
    analysis = analyze(program)
    assert analysis.largest.rays
    return evidence(analysis.largest, read_claim(claim, {}), analysis.place)


def found(program: str, claim: str) -> Any:
    shown = broken(program, claim)
    assert shown is not None
    return shown


def summed(k: int) -> mpmath.mpf:
    """The mass of k in a sum of two draws of scale 2."""
    r = mpmath.exp(mpmath.mpf(-1) / 2)
    size = abs(k)
    return ((1 - r) / (1 + r)) ** 2 * r**size * (size - 1 + 2 / (1 - r * r))


@pytest.mark.parametrize("claim", ["0.4", "0.49", "0.499"])
def test_far_outputs_show_what_they_are_said_to_show(claim: str) -> None:
    shown = found(SUMMED, claim)
    with mpmath.workdps(80):
        masses = [summed(shown.output), summed(shown.output - 1)]
        for mass, said in zip(masses, shown.probabilities, strict=True):
            assert said.lower * (1 - Fraction(1, 10**60)) < Fraction(str(mass)) < said.upper * (1 + Fraction(1, 10**60))
        loss = Fraction(str(mpmath.log(masses[0] / masses[1])))
    assert abs(shown.loss.lower - loss) < Fraction(1, 10**60)
    assert max(Fraction(claim), Fraction(45, 100)) < shown.loss.lower <= shown.loss.upper < Fraction(1, 2)


@pytest.mark.parametrize(("claim", "needed"), [("1/100", 10**4), ("5", 5 * 10**6), ("1000", 10**9)])
def test_ratios_without_bound_that_grow_slowly_have_outputs_too(claim: str, needed: int) -> None:
    shown = found(SLOWLY, claim)
    assert 1 < Fraction(shown.output, needed) < Fraction(6, 5)
    assert Fraction(claim) < shown.loss.lower <= shown.loss.upper < Fraction(claim) + Fraction(1, 10**5)
    with mpmath.workdps(60):
        steps = mpmath.log(mpmath.mpf(10**6) / (999 * 1001))
        loss = mpmath.log(mpmath.mpf(1000) / 1001) + shown.output * steps
        assert abs(loss - mpmath.mpf(shown.loss.lower.numerator) / shown.loss.lower.denominator) < 1e-40


def test_probabilities_that_are_too_small_are_bounded() -> None:
    one, other = found(SLOWLY, "1000").probabilities
    assert one == other
    assert (one.lower, one.upper) == (0, Fraction(1, 2**SMALLEST))


def test_claims_as_close_to_the_limit_as_balls_tell_are_broken() -> None:
    shown = found(SUMMED, "0.4999999999999999999999999")
    assert Fraction("0.4999999999999999999999999") < shown.loss.lower <= shown.loss.upper < Fraction(1, 2)
    assert broken(SUMMED, "1/2") is None


def test_the_loss_is_above_a_claim_that_is_close() -> None:
    text = "def f(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
    claim = "1.0986122886681096913952452369225257046474905578"
    verdict = prove(text, claim)
    assert isinstance(verdict, Refuted)
    assert verdict.witness.epsilon.lower > Fraction(claim)
    assert Fraction(str(verdict).split("epsilon >= ")[1]) > Fraction(claim)
