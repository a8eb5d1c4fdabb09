"""One step in cells, against its closed form."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NoReturn

import mpmath
import numpy as np
import pytest

from privately.accounting.closed_forms import finite, single
from privately.accounting.closed_forms.finite import Table
from privately.accounting.compositions import Composition
from privately.accounting.elementary import normal_tail
from privately.accounting.lattice.atoms import Atoms
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
from privately.accounting.spreading import steps
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


def weights_beyond(cells: steps.Cells, *, rises: bool) -> tuple[list[mpmath.mpf], list[mpmath.mpf]]:
    """Sums of an upper list from every edge on, and what they should at least be, in many digits; of normal noise."""
    x = [mpmath.mpf(float(one)) for one in STEPS]
    mu = mpmath.mpf(float(MU))
    sign = 1 if rises else -1
    m = [mpmath.ncdf(b) - mpmath.ncdf(a) for a, b in pairwise(x)]
    n = [mpmath.ncdf(b - mu) - mpmath.ncdf(a - mu) for a, b in pairwise(x)]
    ratios = [mpmath.exp(mu * one - mu * mu / 2) for one in x]
    upper = [(q - p * low) / (high - low) for p, q, (low, high) in zip(m, n, pairwise(ratios), strict=True)]
    truth = [a + b for a, b in zip([0, *upper], [*(p - b for p, b in zip(m, upper, strict=True)), 0], strict=True)]
    found = [mpmath.mpf(float(one)) for one in cells.spread(rises=rises)[1]]
    return list(accumulate(found[::-sign])), list(accumulate(truth[::-sign]))


MU, STEPS = 5.0, np.arange(-8.0, 14.0, 0.03125)


@pytest.mark.parametrize("rises", [True, False])
def test_sums_from_the_largest_loss_on_are_from_above(rises: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And hardly more than that, however narrow cells are; planted: tails that are a little too small."""
    with mpmath.workdps(80):
        found, truth = weights_beyond(steps.normal_between(MU, STEPS), rises=rises)
        assert all(more >= exact for more, exact in zip(found, truth, strict=True))
        assert found[-1] <= 1 + mpmath.mpf(10) ** -11
        monkeypatch.setattr(steps, "_beyond", lambda x: normal_tail(x) * (1 - 1e-9))
        wrong, truth = weights_beyond(steps.normal_between(MU, STEPS), rises=rises)
        assert any(less < exact for less, exact in zip(wrong, truth, strict=True))


def test_narrow_cells_add_nothing_to_the_mass_of_a_step() -> None:
    """A part of 10^-8 for every step, where errors of both ends are divided by the width of a cell."""
    law = SampledGaussianLoss(mu_squared=Fraction(50), rate=Fraction(1, 10**5), direction="remove")
    found = listed(law, "upper", 1 << 15, RARE)
    assert 0 <= found.masses.sum() + found.outside - 1 < 1e-10


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


NORMAL = [
    GaussianLoss(mu_squared=Fraction(4)),
    *(
        SampledGaussianLoss(mu_squared=Fraction(4), rate=Fraction(3, 10), direction=direction)
        for direction in DIRECTIONS
    ),
]


@pytest.mark.parametrize("law", NORMAL, ids=str)
def test_what_lies_beyond_the_cells(law: Loss) -> None:
    """So much that it is seen: large losses are outside, and small ones are where the cells end."""
    lower, upper = (listed(law, side, COUNT, 1e-2) for side in ("lower", "upper"))
    for epsilon in (0.0, 0.2, 1.0, 4.0, 7.0):
        exact = truth(law, epsilon)
        assert profile_of(lower, POINT, epsilon, "lower") <= exact.upper
        assert profile_of(upper, POINT, epsilon, "upper") >= exact.lower
    assert upper.masses.sum() + upper.outside >= 1 - 1e-12
    assert lower.masses.sum() <= 1


def test_what_is_known_of_outcomes_is_on_its_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses and masses that may be off, and what is not listed."""
    law, tenth = DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=2), np.full(2, 0.125)
    losses, masses = np.array([1.0, -1.0]), np.array([0.5, 0.25])
    table = Table(losses, masses, slack=0.125, error=0.125, outside=0.0625)

    def none(_: Loss) -> NoReturn:
        raise NotApplicable("too many")

    for known in (lambda _: Atoms(losses, tenth, masses, tenth * masses, 0.0625), none):
        monkeypatch.setattr(steps, "atoms", known)
        monkeypatch.setattr(steps, "few_losses", lambda *_: table)
        lower, upper = (listed(law, side, COUNT, RARE) for side in ("lower", "upper"))
        assert (upper.losses >= losses + 0.125).all()
        assert (upper.masses >= masses * 1.125).all()
        assert upper.outside >= 0.0625
        assert (lower.losses <= losses - 0.125).all()
        assert (lower.masses <= masses * 0.875).all()
