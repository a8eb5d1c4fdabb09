"""Finitely many outcomes: exact points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour.finite import Finite
from privately.accounting.losses import FiniteLoss, response
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.exact_transforms import precision

ONE, NONE = Fraction(1), Fraction(0)
LAWS = [
    response(Fraction(1, 10)),
    response(Fraction(3)),
    response(Fraction(1000)),
    FiniteLoss(  # what is left of a sampled pair when the outcomes of infinite loss are taken out
        epsilon=NONE,
        outcomes=(
            ((Fraction(1, 10), NONE), (Fraction(1, 10), NONE)),
            ((Fraction(9, 20), NONE), (Fraction(9, 10), NONE)),
        ),
    ),
    FiniteLoss(
        epsilon=ONE, outcomes=(((NONE, ONE), (ONE, NONE)), ((ONE, ONE), (ONE, ONE)), ((ONE, NONE), (NONE, ONE)))
    ),
]


def exact_atoms(law: FiniteLoss) -> list[tuple[arb, arb]]:
    def value(weight: tuple[Fraction, Fraction]) -> arb:
        a, b = (arb(each.numerator) / arb(each.denominator) for each in weight)
        return a + b * (arb(law.epsilon.numerator) / arb(law.epsilon.denominator)).exp()

    total = sum((value(first) for first, _ in law.outcomes), arb(0))
    return [(value(first) / total, (value(first) / value(second)).log()) for first, second in law.outcomes]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("c", [0.01, 1.0, 6.0, 300.0])
def test_the_transform(law: FiniteLoss, c: float) -> None:
    grid = Finite.of(law).grid(c, 2 * c, 10.0, 30.0)
    low, high = grid.log_mass(c)
    view = grid.view(c, 10.0)
    found, bounds = view.transforms(0.5, 20)
    with precision(300):
        atoms = exact_atoms(law)
        whole = sum((p * (arb(c) * loss).exp() for p, loss in atoms), arb(0))
        assert arb(low) <= whole.log() <= arb(high)
        for n in (1, 20):
            at = sum((p * (acb(c, n * 0.5) * loss).exp() for p, loss in atoms), acb(0)) / whole
            truth = at * (acb(0, -1) * arb(n * 0.5) * arb(float(view.centre))).exp() - 1
            assert abs(truth - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))
    assert bounds[-1] <= 1e-10 * (1 + c)


def test_it_need_not_fall() -> None:
    grid = Finite.of(LAWS[0])
    assert not grid.decay(1.0, np.array([1.0, 100.0])).any()
    assert grid.size == 2


@pytest.mark.filterwarnings("error")
def test_probabilities_beyond_the_range_of_floats() -> None:
    """Small losses of almost no probability do no harm; large ones would."""
    assert np.isfinite(Finite.of(response(Fraction(1000))).rough(2.0).base).all()
    rare = Fraction(1, 10**310)
    outcomes = (((rare, NONE), (rare / 10**20, NONE)), ((1 - rare, NONE), (1 - rare / 10**20, NONE)))
    with pytest.raises(NotApplicable):
        Finite.of(FiniteLoss(epsilon=NONE, outcomes=outcomes))
