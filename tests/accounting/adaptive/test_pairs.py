"""Two pairs of laws on either side of a profile."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive import pairs
from privately.accounting.adaptive.chances import table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.pairs import above, below
from privately.accounting.adaptive.steps import play
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.adaptive.brute import value


def two_steps() -> Curve:
    chances = table(Fraction(1), Fraction(1, 30))
    return play(play(Curve.start(1 / 30), chances), chances).trimmed(1e-6)


def profile(law: FiniteLoss, y: float) -> float:
    return float(sum(max(p[0] - Fraction(y) * q[0], Fraction(0)) for p, q in law.outcomes))


@pytest.mark.parametrize("around", [None, 0.7])
def test_pairs_are_on_their_sides(around: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """At places that are not on the lattice; few tests and values are on their sides as well."""
    curve = two_steps()
    for most in (400, 25):
        monkeypatch.setattr(pairs, "MOST", most)
        more, less = above(curve, around), below(curve, around)
        for x in np.linspace(-2.2, 2.2, 41):
            truth = float(value(np.exp(x), [1.0, 1.0], count=3000))
            assert profile(more.law, float(np.exp(x))) + more.infinite >= truth * (1 - 1e-14)
            assert profile(less, float(np.exp(x))) <= truth + 1e-7
    near = float(value(np.exp(0.71), [1.0, 1.0], count=3000))
    assert profile(above(curve, 0.71).law, float(np.exp(0.71))) == pytest.approx(near, abs=1e-3)


def test_both_are_laws() -> None:
    """P has the mass 1, with the infinite losses, and Q at most that; losses fall."""
    curve = two_steps()
    more, less = above(curve), below(curve)
    assert sum(p[0] for p, _ in more.law.outcomes) + more.infinite == 1 == sum(p[0] for p, _ in less.outcomes)
    assert sum(q[0] for _, q in more.law.outcomes) <= 1 >= sum(q[0] for _, q in less.outcomes)
    for law in (more.law, less):
        ratios = [p[0] / q[0] for p, q in law.outcomes]
        assert ratios == sorted(ratios, reverse=True)


def test_the_laws_may_be_exchanged() -> None:
    """What is above is exactly the same pair then."""
    more = above(two_steps(), most=50)
    outcomes = [(p[0], q[0]) for p, q in more.law.outcomes]
    assert [(q, p) for p, q in reversed(outcomes)] == outcomes
    assert 1 - sum(q for _, q in outcomes) == more.infinite


def test_no_outcomes_are_no_law() -> None:
    with pytest.raises(NotApplicable):
        pairs._law([])
