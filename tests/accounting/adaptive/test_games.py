"""Steps of several ranges, in every order."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from privately.accounting.adaptive import games
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import WORK, in_every_order
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import value

HALF, ONE = Fraction(1, 2), Fraction(1)


def at(curve: Curve, losses: list[float]) -> tuple[list[float], list[float]]:
    """Values and tests, at places of the lattice."""
    curve = curve.whole()
    places = [round(loss / curve.step) - curve.first for loss in losses]
    return curve.upper[places].tolist(), curve.lower()[places].tolist()


def test_every_order_is_within() -> None:
    """Of three steps of three ranges; and the best order, the largest range last, is reached."""
    sizes = (Fraction(1, 4), HALF, ONE)
    found = in_every_order(tuple((size, 1) for size in sizes), 1e-6, WORK[0])
    losses = [-0.5, 0.0, 0.25, 0.75, 1.25]
    upper, lower = at(found, losses)
    orders = [
        value(np.exp(losses), [float(size) for size in order], count=200).tolist() for order in permutations(sizes)
    ]
    for values in orders:
        assert all(one <= above * (1 + 1e-12) for one, above in zip(values, upper, strict=True))
    best = value(np.exp(losses), [0.25, 0.5, 1.0], count=200)
    assert lower == pytest.approx(best.tolist(), abs=2e-4)
    assert min(value(np.exp(losses), [1.0, 0.5, 0.25], count=200).tolist()[1:]) < min(best.tolist()[1:])


def test_a_single_order_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the largest range always first, values are below what another order reaches."""
    monkeypatch.setattr(Curve, "joined", lambda self, other: min(self, other, key=lambda one: float(one.upper.sum())))
    in_every_order.cache_clear()
    wrong = in_every_order(((HALF, 1), (ONE, 1)), 1e-6, WORK[0])
    in_every_order.cache_clear()
    assert (wrong.upper < value(np.exp(wrong.losses), [0.5, 1.0], count=500)).any()


def test_ranges_that_fit_no_lattice() -> None:
    size = Fraction(2718281, 10**7)
    curve = in_every_order(((size, 1), (ONE, 1)), 1e-6, WORK[0])
    some = slice(None, None, 50)
    truth = value(np.exp(curve.losses[some]), [float(size), 1.0], count=3000)
    assert (curve.upper[some] >= truth * (1 - 1e-12)).all()
    assert (curve.lower()[some] <= truth + 1e-6).all()
    assert np.abs(curve.lower()[some] - truth).max() < 1e-3


def test_more_work_is_narrower() -> None:
    widths = []
    for work in WORK[:2]:
        found = in_every_order(((Fraction(1, 10), 25),), 1e-6, work)
        widths.append(float((found.upper - found.lower()).max()))
    assert widths[1] < widths[0] / 4


@pytest.mark.parametrize(
    "ranges",
    [
        ((Fraction(50), 2),),
        ((ONE, 10**6),),
        ((Fraction(1, 10**6), 1), (ONE, 10)),
        tuple((Fraction(k, 100), 1) for k in range(1, 40)),
    ],
    ids=["too large", "too many", "too small beside others", "too many orders"],
)
def test_what_would_take_too_long(ranges: games.Ranges) -> None:
    with pytest.raises(NotApplicable):
        in_every_order(ranges, 1e-6, WORK[-1])
