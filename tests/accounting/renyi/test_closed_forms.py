"""Short formulas against sums and integrals in 40 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.finite_pairs import response_pair
from privately.accounting.losses import FiniteLoss
from privately.accounting.renyi.closed_forms import Closed, bounded_range, discrete_laplace, finite, laplace
from privately.rounding import Enclosure
from tests.accounting.renyi import exact_moments as exact
from tests.accounting.renyi.exact_moments import PLACES, gap, moment
from tests.guarantees.enumeration import Law, normalised

TIGHT = 1e-15
EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(5)]


def check(found: Closed, truth: Callable[[Fraction], Any], *, tight: float = TIGHT) -> None:
    for c in PLACES:
        assert -1e-24 <= gap(found.above(c), truth(c)) < tight
        assert found.rough(float(c)) == pytest.approx(float(truth(c)), rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace(epsilon: Fraction) -> None:
    check(laplace(epsilon), lambda c: exact.sampled_laplace(epsilon, Fraction(1), c, removes=True))


@pytest.mark.parametrize(("scale", "sensitivity"), [(1, 1), (Fraction(1, 3), 2), (5, 1), (5, 4), (3, 7)])
def test_discrete_laplace(scale: Fraction, sensitivity: int) -> None:
    scale = Fraction(scale)
    weight, width = exact.laplace_weight(scale), int(100 * scale) + 20 + sensitivity
    found = discrete_laplace(scale, sensitivity)
    check(found, lambda c: exact.discrete(weight, sensitivity, width, Fraction(1), c, removes=True))


def response(epsilon: Fraction, categories: int = 2) -> FiniteLoss:
    law, _ = response_pair(epsilon, categories=categories).loss()
    assert law is not None
    return law


@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_randomized_response(epsilon: Fraction, categories: int) -> None:
    def truth(c: Fraction) -> Any:
        with mp.workdps(exact.DIGITS):
            t, power = mp.exp(exact._real(epsilon)), exact._real(c)
            return mp.log((t ** (power + 1) + t**-power + categories - 2) / (categories - 1 + t))

    check(finite(response(epsilon, categories)), truth)
    assert finite(response(epsilon, categories)).largest == pytest.approx(float(epsilon))


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4), st.sampled_from(PLACES))
def test_no_pure_mechanism_has_more(weights: list[tuple[int, int]], c: Fraction) -> None:
    p, q = normalised([a for a, _ in weights]), normalised([b for _, b in weights])
    ratio = max(max(p[o] / q[o], q[o] / p[o]) for o in p)
    if ratio > 1:
        epsilon = Enclosure.of(ratio).log().claim()
        assert exact.OfPairs.of([(p, q)]).above(c) <= finite(response(epsilon)).above(c) + Fraction(1, 10**22)


def width_of(p: Law, q: Law) -> Fraction:
    ratios = [p[o] / q[o] for o in p]
    return Enclosure.of(max(ratios) / min(ratios)).log().claim()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=4), st.sampled_from(PLACES))
def test_bounded_range_dominates_enumeration(weights: list[tuple[int, int]], c: Fraction) -> None:
    p, q = normalised([a for a, _ in weights]), normalised([b for _, b in weights])
    if p != q:
        bound = bounded_range(width_of(p, q)).above(c)
        assert bound >= exact.OfPairs.of([(p, q)]).above(c) - Fraction(1, 10**22)


def best_of_range(width: float, c: float) -> tuple[Any, Any]:
    """The two outcomes at the best place of the interval, and their losses."""
    with mp.workdps(exact.DIGITS):
        w, c = mp.mpf(width), mp.mpf(c)
        top = mp.log(c * (mp.exp(w) - mp.exp(-c * w)) / ((c + 1) * (1 - mp.exp(-c * w))))
        return (mp.exp(w) - mp.exp(top)) / (mp.exp(w) - 1), top


@pytest.mark.parametrize("width", [0.125, 1.0, 4.0])
@pytest.mark.parametrize("c", [0.25, 1.0, 6.5])
def test_bounded_range_is_reached(width: float, c: float) -> None:
    """By two losses, `width` apart, of which the first law makes a probability law again."""
    with mp.workdps(exact.DIGITS):
        share, top = best_of_range(width, c)
        assert 0 < top < width
        assert abs(share * mp.exp(-top) + (1 - share) * mp.exp(width - top) - 1) < mp.mpf(10) ** -25
        reached = mp.log(share * mp.exp(c * top) + (1 - share) * mp.exp(c * (top - width)))
        assert -1e-24 < gap(bounded_range(Fraction(width)).above(Fraction(c)), reached) < TIGHT


@given(st.sampled_from(EPSILONS), st.sampled_from(PLACES))
def test_bounded_range_is_within_what_was_known(epsilon: Fraction, c: Fraction) -> None:
    found = bounded_range(epsilon).above(c)
    assert found <= c * (c + 1) * epsilon**2 / 8
    assert found < c * epsilon
    assert found < finite(response(epsilon)).above(c)


@pytest.mark.parametrize(
    "make", [laplace, bounded_range, lambda e: finite(response(e)), lambda e: discrete_laplace(1 / e, 1)]
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**40), Fraction(10**9)])
def test_extreme_losses(make: Callable[[Fraction], Closed], epsilon: Fraction) -> None:
    for c in (Fraction(1, 10**6), Fraction(1), Fraction(10**12)):
        found = make(epsilon).above(c)
        assert (
            0
            <= found
            <= c * min(epsilon * (1 + Fraction(1, 10**30)), (c + 1) * epsilon**2 / 2 * (1 + Fraction(1, 10**30)))
        )
        assert math.isfinite(make(epsilon).rough(float(c)))


def test_the_divergence_grows_with_the_order() -> None:
    for found in (laplace(Fraction(1)), bounded_range(Fraction(1)), discrete_laplace(Fraction(3), 4)):
        divergences = [found.above(c) / c for c in PLACES]
        assert divergences == sorted(divergences)


FALSE: dict[str, Callable[[Fraction, Fraction], Fraction | float]] = {
    "the order for the excess": lambda epsilon, c: laplace(epsilon).above(c) * c / (c + 1),
    "an order too low": lambda epsilon, c: laplace(epsilon).above(c - 1) if c > 1 else Fraction(0),
    "the short side forgotten": lambda epsilon, c: Fraction(
        ((c + 1) / (2 * c + 1) * Enclosure.of(c * epsilon).exp()).log().upper
    ),
    "bounded range instead": lambda epsilon, c: bounded_range(epsilon).above(c),
}


@pytest.mark.parametrize("false", FALSE)
def test_false_formulas_are_refuted(false: str) -> None:
    truth = [(c, exact.sampled_laplace(Fraction(1), Fraction(1), c, removes=True)) for c in PLACES]
    assert any(gap(FALSE[false](Fraction(1), c), value) < -1e-6 for c, value in truth)


def test_moments_of_the_references_themselves() -> None:
    """Of two coins, by hand."""
    p, q = {"a": Fraction(2, 3), "b": Fraction(1, 3)}, {"a": Fraction(1, 3), "b": Fraction(2, 3)}
    assert float(moment(p, q, Fraction(1))) == pytest.approx(math.log(3 / 2))
