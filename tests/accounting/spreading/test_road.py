"""Compositions in cells: beside other roads, and where these have no answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.accounting import closed_forms, contour, lattice, spreading
from privately.accounting.compositions import Composition
from privately.accounting.losses import LaplaceLoss, Loss, SampledGaussianLoss, SampledLaplaceLoss, response
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)
GAUSSIAN = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove")
LAPLACE = SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 10), direction="add")


@pytest.mark.parametrize(
    ("parts", "width"),
    [
        (((GAUSSIAN, 1), (LAPLACE, 1)), "1e-6"),
        pytest.param(((LAPLACE, 2),), "1e-6", marks=pytest.mark.slow),
        (((LAPLACE, 1), (response(Fraction(1)), 1)), "1e-6"),
        (((GAUSSIAN, 3),), "1e-4"),
        pytest.param(((LAPLACE, 2), (GAUSSIAN, 1)), "1e-4", marks=pytest.mark.slow),
    ],
)
def test_two_roads_are_never_disjoint(parts: tuple[tuple[Loss, int], ...], width: str) -> None:
    composition, delta = Composition(parts=parts), Fraction(1, 10**6)
    ours, theirs = spreading.epsilon(composition, delta, WIDTH), lattice.epsilon(composition, delta, WIDTH)
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    assert ours.width <= Fraction(width) * ours.upper
    if len(parts) > 1 and all(times == 1 for _, times in parts):
        _goes_back(composition, delta, ours)


def _goes_back(composition: Composition, delta: Fraction, ours: Interval) -> None:
    assert spreading.delta(composition, Fraction(ours.upper), WIDTH).lower <= delta
    assert spreading.delta(composition, Fraction(ours.lower), WIDTH).upper >= delta


@pytest.mark.slow
@pytest.mark.parametrize("times", [7, 64, 1000, 10**5])
def test_many_steps(times: int) -> None:
    composition, delta = Composition(parts=((GAUSSIAN, times),)), Fraction(1, 10**6)
    ours, theirs = spreading.epsilon(composition, delta, WIDTH), contour.epsilon(composition, delta, WIDTH)
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    assert ours.width <= Fraction(1, 100) * ours.upper


def test_steps_that_are_hardly_ever_sampled() -> None:
    """Between one of two steps alone and both by basic composition."""
    rare = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10**9), direction="remove")
    delta = Fraction(1, 10**12)
    found = spreading.epsilon(Composition(parts=((rare, 2),)), delta, WIDTH)
    alone = closed_forms.epsilon(Composition(parts=((rare, 1),)), delta, WIDTH)
    basic = closed_forms.epsilon(Composition(parts=((rare, 1),)), delta / 2, WIDTH)
    assert alone.lower <= found.lower <= found.upper <= 2 * basic.upper
    assert found.width <= Fraction(1, 10**5) * found.upper


def test_nothing_is_revealed() -> None:
    found = spreading.epsilon(Composition(parts=((LAPLACE, 2),)), Fraction(1, 2), WIDTH)
    assert (found.lower, found.upper) == (0, 0)


def test_what_is_refused() -> None:
    with pytest.raises(NotApplicable):
        spreading.epsilon(Composition(parts=((LAPLACE, 1),)), WIDTH, WIDTH)
    with pytest.raises(NotApplicable):
        spreading.epsilon(Composition(parts=((LAPLACE, 2),)), Fraction(1, 10**200), WIDTH)
    many = tuple((LaplaceLoss(epsilon=Fraction(1, n)), 1) for n in range(1, 40))
    with pytest.raises(NotApplicable):
        spreading.delta(Composition(parts=many), Fraction(1), WIDTH)
