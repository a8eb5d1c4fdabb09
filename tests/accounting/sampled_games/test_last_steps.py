"""The last steps of a long run, from below."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.accounting.compositions import Composition
from privately.accounting.losses import DIRECTIONS, SampledGaussianLoss
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games import long_runs
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.last_steps import pairs, tried
from privately.accounting.sampled_games.pairs import is_allowed
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.which_road import of_worst_soon
from tests.accounting.sampled_games.examples import HALF
from tests.accounting.sampled_games.test_long_runs import RARE, delta

KIND = Kind(HALF, Fraction(1, 20))


def test_last_steps_are_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than normal noise on samples, and less than what no strategy is above."""
    monkeypatch.setattr(long_runs, "_COLUMNS", 120)
    monkeypatch.setattr(long_runs, "_GROWTH", 1.5)
    curve, last = tried(KIND, 240)
    assert last == 60
    place = round(0.3 / curve.step)
    found, epsilon = curve.lower()[place - curve.first], place * curve.step
    noise = SampledGaussianLoss(mu_squared=Fraction(1), rate=KIND.rate, direction=DIRECTIONS[0])
    least = of_worst_soon((Composition(parts=((noise, last),)),), DeltaAt(Fraction(epsilon), Fraction(1, 10**4)))
    most = long_runs.above(KIND, last, RARE, 4.0)
    assert least.upper < found <= delta(most, epsilon, is_removed=True)
    long_runs.above.cache_clear()


def test_pairs_are_allowed() -> None:
    """And hardly any of them is with a little less."""
    found, less = pairs(KIND), Concentrated(Fraction(49, 100))
    assert len(found) > 20
    assert all(is_allowed(HALF, pair) for pair in found)
    assert not any(is_allowed(less, pair) for pair in found)


def test_ranges_are_left_alone() -> None:
    with pytest.raises(NotApplicable):
        pairs(Kind(Fraction(1), Fraction(1, 20)))
