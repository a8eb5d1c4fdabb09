"""Pairs that are nearly the worst."""

from __future__ import annotations

import numpy as np

from privately.accounting.sampled_games import worst
from privately.accounting.sampled_games.pairs import allowed
from tests.accounting.sampled_games.examples import HALF, bounded, payoff, profile, way


def test_some_are_nearly_as_much_as_is_proved() -> None:
    """Moved until they are allowed: never more than the bound, and at most places nearly as much."""
    one, known = way("0.2"), profile()
    rule = bounded(one)
    laws = worst.Worst(one, HALF, rule).laws(known, 1.0)
    assert laws
    pairs = list(allowed(HALF, laws))
    shares = []
    for place in (0, 10, 30):
        y = float(np.exp(place * one.lattice.step))
        most = rule.most(*one.payoffs(known, place))
        worth = [sum(float(q) * payoff(one, y, float(p / q)) for p, q in pair) for pair in pairs]
        assert max(worth) <= most
        shares.append((max(worth) - payoff(one, y, 1.0)) / (most - payoff(one, y, 1.0)))
    assert min(shares) > 0.9
    assert all(len(ratios) >= 2 for ratios, _ in worst.few_laws(known, one, rule, 5))
