"""Adding the rounded normal is exactly Gaussian DP; adding the discrete Gaussian is not.

Let X be the noise and D the sensitivity. The exact delta at epsilon is the sum over k of the positive part of
P(X = k) - e^epsilon P(X = k - D). Gaussian DP with mu = D/s claims that it is at most
Phi(D/2s - epsilon s/D) - e^epsilon Phi(-D/2s - epsilon s/D). Both are enclosed, so every comparison here is a proof.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.guarantees import GaussianDP
from privately.laws import DiscreteGaussian, Law, RoundedNormal
from privately.rounding import Enclosure, Interval

SPREADS = [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10)]
SENSITIVITIES = [1, 2]
STEPS = [Fraction(n, 7) for n in range(43)]
"""Epsilons in units of D/s: the loss of an outcome one standard deviation further out."""

CLOSE = Fraction(1, 10**40)
HALF = Fraction(1, 2)


def half_up(x: Fraction) -> int:
    return floor(x + HALF)


@given(st.integers(-(10**30), 10**30), st.fractions())
def test_rounding_the_noise_is_rounding_the_noisy_value(x: int, y: Fraction) -> None:
    assert half_up(x + y) == x + half_up(y)


def test_rounding_halves_to_even_would_depend_on_the_value() -> None:
    """The reason for the choice of rounding; between halves all of them agree."""
    assert round(1 + HALF) != 1 + round(HALF)


@lru_cache
def probabilities(law: Law, reach: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """P(X = k) for |k| <= reach."""
    found = (law.pmf(k) for k in range(-reach, reach + 1))
    return tuple((Fraction(one.lower), Fraction(one.upper)) for one in found)


def delta(law: Law, sensitivity: int, epsilon: Fraction, reach: int) -> Interval:
    """The exact delta; outcomes beyond the reach add at most their probability."""
    factor = Enclosure.of(epsilon).exp()
    least, most = Fraction(factor.lower), Fraction(factor.upper)
    listed = probabilities(law, reach)
    pairs = list(zip(listed[sensitivity:], listed, strict=False))
    lower = sum((max(here[0] - most * there[1], Fraction(0)) for here, there in pairs), Fraction(0))
    upper = sum((max(here[1] - least * there[0], Fraction(0)) for here, there in pairs), Fraction(0))
    beyond = law.cdf(sensitivity - reach - 1).upper + law.tail(reach).upper
    return Interval(lower, upper + beyond)


def claimed(sensitivity: int, spread: Fraction, epsilon: Fraction) -> Interval:
    """The delta of Gaussian DP with mu = D/s."""
    return GaussianDP(mu=sensitivity / spread).delta(epsilon=epsilon)


def reach(spread: Fraction) -> int:
    """Far enough that less than 10^-45 is left."""
    return ceil(15 * spread) + 2


def meets_a_boundary(spread: Fraction, sensitivity: int, epsilon: Fraction) -> bool:
    """Whether the event behind the continuous delta ends halfway between two integers, where rounding loses nothing."""
    end = epsilon * spread**2 / sensitivity + Fraction(sensitivity, 2)
    return (end + HALF).denominator == 1


@pytest.mark.thinned(2)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_the_rounded_normal_keeps_the_promise_of_gaussian_dp(spread: Fraction, sensitivity: int) -> None:
    """Strictly, except where the best event survives the rounding: there the promise is kept with equality."""
    law = RoundedNormal(standard_deviation=spread)
    for step in STEPS:
        epsilon = step * sensitivity / spread
        exact, claim = delta(law, sensitivity, epsilon, reach(spread)), claimed(sensitivity, spread, epsilon)
        if meets_a_boundary(spread, sensitivity, epsilon):
            assert exact.upper - claim.lower < CLOSE
            assert claim.upper - exact.lower < CLOSE
        else:
            assert exact.upper < claim.lower


@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_the_rounded_normal_keeps_no_stronger_promise(spread: Fraction) -> None:
    """With mu one part in a thousand smaller, the claim would be false."""
    law = RoundedNormal(standard_deviation=spread)
    epsilon = next(e for e in (Fraction(n) / spread**2 for n in range(3)) if meets_a_boundary(spread, 1, e))
    stronger = GaussianDP(mu=Fraction(999, 1000) / spread).delta(epsilon=epsilon)
    assert delta(law, 1, epsilon, reach(spread)).lower > stronger.upper


def understatements(law: Law) -> dict[Fraction, Fraction]:
    """By epsilon: a proved lower bound on the exact delta as a multiple of the claimed one, at D = s = 1."""
    found = {}
    for epsilon in (Fraction(n, 25) for n in range(201)):
        exact, claim = delta(law, 1, epsilon, reach(Fraction(1))), claimed(1, Fraction(1), epsilon)
        found[epsilon] = Fraction(exact.lower) / Fraction(claim.upper)
    return found


def test_the_discrete_gaussian_breaks_the_promise_of_gaussian_dp() -> None:
    """Claiming mu = D/s for it would understate delta: at epsilon = 0 already, and 2.82 times at epsilon = 7.36."""
    found = understatements(DiscreteGaussian(variance=1))
    worst = max(found, key=found.__getitem__)
    assert found[worst] > Fraction(5, 2), f"{float(found[worst]):.4f} times the claimed delta, at epsilon = {worst}"
    assert found[Fraction(0)] > Fraction(104, 100)
    assert sum(ratio > 1 for ratio in found.values()) > 80


def test_the_same_search_finds_nothing_against_the_rounded_normal() -> None:
    assert max(understatements(RoundedNormal(standard_deviation=1)).values()) <= 1
