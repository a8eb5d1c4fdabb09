"""All steps of a statement."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import games
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.games import above, below

TENTH = Concentrated(Fraction(1, 10))


def epsilon_of(curve: Curve, values: np.ndarray, delta: float) -> float:
    return float(np.interp(-math.log(delta), -np.log(np.maximum(values, 1e-300)), curve.losses))


@pytest.mark.slow
@pytest.mark.parametrize("statement", [TENTH, AtOrders(((Fraction(2), Fraction(1, 5)), (Fraction(16), Fraction(2))))])
def test_both_sides_are_close(statement: Concentrated | AtOrders) -> None:
    lower, upper = below(((statement, 3),), 1e-6), above(statement, 3, 1e-6)
    least, most = epsilon_of(lower, lower.lower(), 1e-6), epsilon_of(upper, upper.upper, 1e-6)
    assert least <= most <= least * 1.003


@pytest.mark.slow
def test_blocks_are_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four steps in blocks of two cost more than four, and no more than one of all."""
    upper = above(TENTH, 4, 1e-5)
    monkeypatch.setattr(games, "MOST_STEPS", 2)
    above.cache_clear()
    blocks = above(TENTH, 4, 1e-5)
    above.cache_clear()
    one, two = epsilon_of(upper, upper.upper, 1e-5), epsilon_of(blocks, blocks.upper, 1e-5)
    assert one < two * 1.001
    assert two < 1.02 * one


@pytest.mark.slow
def test_several_statements_from_below() -> None:
    together = below(((TENTH, 1), (Concentrated(Fraction(1, 5)), 1)), 1e-6)
    apart = below(((TENTH, 3),), 1e-6)
    assert epsilon_of(together, together.lower(), 1e-6) > epsilon_of(apart, apart.lower(), 1e-6)


def test_too_many_steps() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        below(((TENTH, 10**6),), 1e-6)
    with pytest.raises(NotApplicable, match="lattice"):
        above(Concentrated(Fraction(10**8)), 2, 1e-6)
