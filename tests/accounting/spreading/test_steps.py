"""One step in cells, against its closed form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.closed_forms import finite, single
from privately.accounting.compositions import Composition
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading.lists import Losses, profile_of
from privately.accounting.spreading.steps import _discrete_normal, listed
from privately.laws.gaussian_sums import whole_sum
from privately.rounding import Enclosure

POINT = Losses.of(np.zeros(1), np.ones(1))
COUNT, RARE = 2000, 1e-25
RATES = Fraction(1, 10**9), Fraction(1, 100), Fraction(9, 10)
CELLS: list[Loss] = [
    GaussianLoss(mu_squared=Fraction(1)),
    GaussianLoss(mu_squared=Fraction(1, 10**4)),
    LaplaceLoss(epsilon=Fraction(1, 10)),
    LaplaceLoss(epsilon=Fraction(20)),
    *(
        SampledGaussianLoss(mu_squared=Fraction(1), rate=rate, direction=direction)
        for rate in RATES
        for direction in DIRECTIONS
    ),
    *(
        SampledLaplaceLoss(epsilon=Fraction(3), rate=rate, direction=direction)
        for rate in RATES
        for direction in DIRECTIONS
    ),
]
LISTS: list[Loss] = [
    response(Fraction(1)),
    DiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3),
    DiscreteGaussianLoss(variance=Fraction(4), sensitivity=1),
    DiscreteGaussianLoss(variance=Fraction(1, 5), sensitivity=5),
    *(
        SampledDiscreteGaussianLoss(variance=Fraction(1, 2), sensitivity=2, rate=Fraction(1, 50), direction=direction)
        for direction in DIRECTIONS
    ),
]


def truth(law: Loss, epsilon: float) -> Enclosure:
    if isinstance(law, FiniteLoss):
        return finite.profile(Composition(parts=((law, 1),)), Fraction(epsilon))
    return single.profile(law, Fraction(epsilon))


def places(law: Loss) -> list[float]:
    """From 0 to where hardly anything is left."""
    top = listed(law, "upper", COUNT, RARE)
    likely = top.losses[np.cumsum(top.masses) > 1e-12][0]
    return [0.0, *(max(float(likely), 1e-12) * np.array([0.01, 0.3, 0.7, 0.95])).tolist()]


@pytest.mark.parametrize("law", [*CELLS, *LISTS])
def test_lists_are_on_their_sides(law: Loss) -> None:
    lower, upper = listed(law, "lower", COUNT, RARE), listed(law, "upper", COUNT, RARE)
    for epsilon in places(law):
        exact = truth(law, epsilon)
        least, most = profile_of(lower, POINT, epsilon, "lower"), profile_of(upper, POINT, epsilon, "upper")
        assert Fraction(least) <= exact.upper
        assert exact.lower <= Fraction(most)
        assert most - least <= 4e-3 * most + 1e-20  # (7 deviations times a cell)^2/8


WIDE: list[Loss] = [
    DiscreteGaussianLoss(variance=Fraction(10**8), sensitivity=1000),
    DiscreteGaussianLoss(variance=Fraction(5 * 10**6), sensitivity=3000),
    *(
        SampledDiscreteGaussianLoss(variance=Fraction(10**9), sensitivity=10**4, rate=rate, direction=direction)
        for rate in (Fraction(1, 10**6), Fraction(1, 3))
        for direction in DIRECTIONS
    ),
]


@pytest.mark.parametrize("law", WIDE)
def test_wide_discrete_noise(law: Loss) -> None:
    test_lists_are_on_their_sides(law)


def test_cells_of_discrete_noise_hold_their_masses() -> None:
    """Sums over all outcomes of some cells, at the least variance; half a step beside them is noticed."""
    variance = Fraction(10**6)
    law = DiscreteGaussianLoss(variance=variance, sensitivity=500)
    cells = _discrete_normal(law, 500, 1e-12)
    step = round(float(cells.y[1] - cells.y[0]) * 10**6 / 500)
    first = round(float(cells.y[0]) * 10**6 / 500 + 250)
    total = whole_sum(variance)
    for place in (0, 100, 250, 400):
        start = first + place * step
        for shift, found, error in ((0, cells.m, cells.m_errors), (500, cells.n, cells.n_errors)):
            terms = (
                Enclosure.of(-Fraction((k - shift) ** 2) / (2 * variance)).exp() for k in range(start, start + step)
            )
            exact = Fraction((sum(terms, Enclosure.of(0)) / total).lower)
            near, off = Fraction(float(found[place])), Fraction(float(error[place]))
            assert abs(near - exact) <= off
            assert off < exact / 10**3


@pytest.mark.parametrize("law", CELLS)
def test_neither_list_serves_for_the_other_side(law: Loss) -> None:
    lower, upper = listed(law, "lower", 100, RARE), listed(law, "upper", 100, RARE)
    wrong = 0
    for epsilon in places(law)[1:]:
        exact = truth(law, epsilon)
        wrong += Fraction(profile_of(lower, POINT, epsilon, "upper")) < exact.lower
        wrong += Fraction(profile_of(upper, POINT, epsilon, "lower")) > exact.upper
    assert wrong >= 2


@pytest.mark.parametrize(
    "law",
    [
        GluedLoss(base=LaplaceLoss(epsilon=Fraction(1)), rate=Fraction(1, 2)),
        GaussianLoss(mu_squared=Fraction(10**4)),
        LaplaceLoss(epsilon=Fraction(1000)),
        SampledLaplaceLoss(epsilon=Fraction(1), rate=1 - Fraction(1, 10**9), direction="add"),
        DiscreteGaussianLoss(variance=Fraction(10**20), sensitivity=1),
        DiscreteGaussianLoss(variance=Fraction(10**30), sensitivity=1),
    ],
)
def test_what_is_refused(law: Loss) -> None:
    with pytest.raises(NotApplicable):
        listed(law, "upper", COUNT, RARE)
