"""Discrete noise: its outcomes as points, and what is left out of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from privately.accounting.contour import discrete
from privately.accounting.contour.discrete import Discrete, DiscreteLoss, Ends
from privately.accounting.losses import (
    Direction,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.roads import NotApplicable
from tests.accounting.lattice import exact

DIRECTIONS: list[Direction] = ["remove", "add"]
LAWS: list[DiscreteLoss] = [
    DiscreteGaussianLoss(variance=Fraction(3, 2), sensitivity=2),
    DiscreteLaplaceLoss(scale=Fraction(4), sensitivity=3),
    *(
        SampledDiscreteGaussianLoss(variance=Fraction(2), sensitivity=1, rate=Fraction(1, 10), direction=direction)
        for direction in DIRECTIONS
    ),
    *(
        SampledDiscreteLaplaceLoss(scale=Fraction(4), sensitivity=3, rate=Fraction(1, 3), direction=direction)
        for direction in DIRECTIONS
    ),
]


def true_law(law: DiscreteLoss) -> exact.Law:
    if isinstance(law, (DiscreteGaussianLoss, SampledDiscreteGaussianLoss)):
        pair: exact.Pair = exact.discrete_gaussian(law.variance, law.sensitivity)
    else:
        pair = exact.discrete_laplace(law.scale, law.sensitivity)
    if isinstance(law, (SampledDiscreteGaussianLoss, SampledDiscreteLaplaceLoss)):
        pair = exact.poisson(pair, law.rate, removes=law.direction == "remove")
    return exact.law_of(pair)


def is_right(law: DiscreteLoss, c: float) -> bool:
    found = Discrete.over(law)
    low, high = found.log_mass(c)
    view = found.view(c, 10.0)
    values, bounds = view.transforms(0.5, 20)
    with mp.workprec(200):
        atoms = true_law(law)
        whole = mp.fsum(p * mp.exp(c * loss) for p, loss in atoms)
        right = low <= mp.log(whole) <= high
        for n in (1, 20):
            z, turn = mpc(c, n * 0.5), mp.exp(mpc(0, -n * 0.5) * exact.number(Fraction(view.centre)))
            truth = mp.fsum(p * mp.exp(z * loss) for p, loss in atoms) / whole * turn - 1
            right = right and abs(truth - mpc(complex(values[n - 1]))) <= bounds[n - 1]
    assert bounds[-1] < 1e-9 or not right
    return bool(right)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("c", [0.01, 2.0, 15.0])
def test_the_transform(law: DiscreteLoss, c: float) -> None:
    assert is_right(law, c)


@pytest.mark.parametrize("law", LAWS[:1] + LAWS[2:4])
def test_few_outcomes(law: DiscreteLoss, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many left out the bounds are wide, and hold; without what they allow for that, they do not."""
    monkeypatch.setattr(discrete, "_LEAST_MASS", 1e-9)
    found = Discrete.over(law)
    assert found.points.loss.size < 25
    failed = False
    for c in (0.01, 0.5, 1.0):
        with mp.workprec(200):
            whole = mp.log(mp.fsum(p * mp.exp(c * loss) for p, loss in true_law(law)))
        low, high = found.log_mass(c)
        assert low <= whole <= high
        tilted = found.points.tilted(c)
        without = tilted.log_mass(0.0)
        failed = failed or not without[0] <= whole <= without[1]
    assert failed


def test_what_is_beyond_the_ends() -> None:
    """Terms that fall exactly by the ratio allowed reach the bound."""
    ends = Ends(fall=2.0, slope=0.5)
    ratio = mp.exp(mpf(-1.5))
    assert ratio / (1 - ratio) <= ends.beyond(1.0)
    with pytest.raises(NotApplicable):
        ends.beyond(4.0)


@pytest.mark.parametrize("law", LAWS[:1] + LAWS[2:4])
def test_terms_beyond_the_ends_fall(law: DiscreteLoss, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each outcome that is left out weighs at most the ratio times the one before, tilted."""
    monkeypatch.setattr(discrete, "_LEAST_MASS", 1e-9)
    found = Discrete.over(law)
    assert found.ends is not None
    atoms = sorted(true_law(law), key=lambda one: one[1])
    first, last = float(found.points.loss.min()), float(found.points.loss.max())
    for c in (0.0, 1.0, 2.0):
        weights = [(loss, p * mp.exp(c * loss)) for p, loss in atoms]
        ratio = mp.exp(found.ends.slope * c - found.ends.fall)
        assert ratio < 1
        above = [weight for loss, weight in weights if loss >= last - 1e-9][:40]
        below = [weight for loss, weight in weights if loss <= first + 1e-9][::-1][:40]
        for side in (above, below):
            assert all(after <= ratio * before * (1 + 1e-9) for before, after in pairwise(side))


def test_rare_outcomes_are_no_points() -> None:
    wide = Discrete.over(DiscreteGaussianLoss(variance=Fraction(10_000), sensitivity=1))
    assert wide.size > 7000
    assert wide.grid(1.0, 2.0, 1.0, 1.0).size < 2200
    assert wide.view(1.0, 1.0).losses.size < 2200
    assert not wide.decay(1.0, np.array([1.0])).any()


def test_what_is_refused() -> None:
    with pytest.raises(NotApplicable, match="outcomes"):
        Discrete.over(DiscreteGaussianLoss(variance=Fraction(10**6), sensitivity=1))
    with pytest.raises(NotApplicable, match="outcomes"):
        Discrete.over(DiscreteLaplaceLoss(scale=Fraction(10**6), sensitivity=20_000))
