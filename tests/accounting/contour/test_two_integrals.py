"""Ends for epsilon from two integrals that add up."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import pytest

from privately.accounting.contour.integral import Integral
from privately.accounting.contour.jumps import METHOD, _Sums
from privately.accounting.contour.two_integrals import Both
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.test_jumps import steps

DELTA = Fraction(1, 10**6)


@pytest.fixture(scope="module")
def both() -> Both:
    sums = _Sums(steps("0.5", "1e-4", 100), math.log(DELTA), 30.0)
    return sums.at(sums.first_guess(math.log(DELTA)), math.log(DELTA))


def test_ends_are_where_the_bounds_are(both: Both) -> None:
    """And hardly farther: an epsilon a tenth of the way back is not enough."""
    root = both.root(0.6, math.log(DELTA))
    found = both.ends(root, DELTA, METHOD)
    assert both.upper(Fraction(found.upper)) <= DELTA <= both.lower(Fraction(found.lower))
    back = (Fraction(found.upper) - Fraction(root)) / 10
    assert both.upper(Fraction(found.upper) - back) > DELTA > both.lower(Fraction(found.lower) + back)


@pytest.mark.parametrize("off", [-1e-3, 1e-3])
def test_ends_hold_wherever_they_are_looked_for(both: Both, off: float) -> None:
    root = both.root(0.6, math.log(DELTA))
    found = both.ends(root * (1 + off), DELTA, METHOD)
    assert both.upper(Fraction(found.upper)) <= DELTA <= both.lower(Fraction(found.lower))
    assert found.lower < root < found.upper


def test_no_root_where_nothing_falls(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Both, "rough", lambda _self, _epsilon: (0.0, 0.0))
    with pytest.raises(NotApplicable, match="too flat"):
        both.root(0.6, math.log(DELTA))


class Rounded:
    """Bounds that are worse than they seem: delta itself is passed a good way after the root."""

    centre = Fraction(0)

    def __init__(self, level: float) -> None:
        self.level = level
        self.asked: list[float] = []

    def estimate(self, s: float) -> tuple[float, float, float]:
        return self.level - 10 * (s - 1), -10.0, 0.0

    def upper(self, s: float) -> float:
        self.asked.append(s)
        return self.level + (0.01 if s < 1.25 else -0.01)

    def lower(self, s: float) -> float:
        self.asked.append(s)
        return self.level + (0.01 if s < 0.75 else -0.01)


def test_ends_are_checked() -> None:
    near, jumps = Rounded(math.log(DELTA)), Rounded(-600.0)
    found = Both(cast("Integral", near), cast("Integral", jumps))
    ends = found.ends(1.0, DELTA, METHOD)
    assert found.upper(Fraction(ends.upper)) <= DELTA <= found.lower(Fraction(ends.lower))
    for bound, sign in ((found.upper, -1), (found.lower, 1)):
        near.asked.clear()
        bound(Fraction(1, 3))
        assert sign * (Fraction(near.asked[0]) - Fraction(1, 3)) > 0
        near.asked.clear()
        bound(Fraction(1, 2))
        assert sign * (near.asked[0] - 0.5) > 0
