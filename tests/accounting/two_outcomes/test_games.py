"""All steps of a statement."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import games
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.games import above, below

TENTH = Concentrated(Fraction(1, 10))


def epsilon_of(curve: Curve, values: np.ndarray, delta: float) -> float:
    return float(np.interp(-math.log(delta), -np.log(np.maximum(values, 1e-300)), curve.losses))


@pytest.mark.slow
def test_both_sides_are_close() -> None:
    lower, upper = below(((TENTH, 3),), 1e-6), above(TENTH, 3, 1e-6)
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


@pytest.mark.parametrize("times", [1, 3, 4, 7, 9])
def test_blocks_hold_all_steps(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is lost, and both tails of every block are those of the steps before it and with it."""
    played: list[tuple[Fraction, int, int]] = []

    def raised(curve: Curve, block: Concentrated, before: int, after: int) -> Curve:
        played.append((block.rho, before, after))
        return curve

    for name, part in (
        ("MOST_STEPS", 3),
        ("table", lambda statement, step, places: statement),
        ("Lines", lambda statement: statement),
        ("tails", lambda statement, block, steps: steps),
        ("raised", raised),
    ):
        monkeypatch.setattr(games, name, part)
    above.__wrapped__(TENTH, times, 1e-5)
    assert len(played) <= 3
    counts = [int(rho / TENTH.rho) for rho, _, _ in played]
    assert sum(counts) == times
    assert [after for _, _, after in played] == [sum(counts[: k + 1]) for k in range(len(counts))]
    assert [before for _, before, _ in played] == [sum(counts[:k]) for k in range(len(counts))]


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
