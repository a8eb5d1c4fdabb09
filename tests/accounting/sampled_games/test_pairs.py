"""Pairs that are allowed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from privately.accounting.sampled_games.pairs import allowed, is_allowed, merged, ranged
from privately.accounting.two_outcomes.allowed import AtOrders
from tests.accounting.sampled_games.examples import HALF, drawn

ORDERS = np.concatenate([1 + np.geomspace(1e-6, 300, 6000), -np.geomspace(1e-6, 300, 6000)])


def _needed(pair: tuple[tuple[Fraction, Fraction], ...], orders: np.ndarray) -> np.ndarray:
    p, q = (np.array([float(one[k]) for one in pair]) for k in (0, 1))
    powers = orders[:, None] * np.log(p / q) + np.log(q)
    top = powers.max(axis=1)
    found: np.ndarray = (np.log(np.exp(powers - top[:, None]).sum(axis=1)) + top) / (orders * (orders - 1))
    return found


def test_no_order_is_above() -> None:
    """By many orders in both directions; and hardly any room is left at the worst."""
    found = list(allowed(HALF, drawn(1, 60)))
    assert len(found) > 20
    worst = [float(_needed(pair, ORDERS).max()) for pair in found]
    assert max(worst) <= 0.5
    assert np.median([value for value in worst if value > 0.3] or [0.5]) > 0.4
    assert all(sum(p for p, _ in pair) == 1 == sum(q for _, q in pair) for pair in found)


def test_a_little_too_much_is_refused() -> None:
    """Normal noise on a grid needs rho at all orders alike: any less of rho is refused."""
    x = np.linspace(-7, 7, 141)
    p, q = (np.exp(-((x - at) ** 2) / 2) for at in (1, 0))
    pair = tuple(zip(map(Fraction, (p / p.sum()).tolist()), map(Fraction, (q / q.sum()).tolist()), strict=True))
    needed = Fraction(float(_needed(pair, ORDERS).max()))
    assert not is_allowed(type(HALF)(needed * Fraction(9999, 10000)), pair)
    assert is_allowed(type(HALF)(needed * Fraction(1001, 1000)), pair)


def test_listed_orders_alone_count() -> None:
    listed = AtOrders(((Fraction(2), Fraction(1)),))
    for pair in allowed(listed, drawn(2, 20)):
        assert (_needed(pair, np.array([2.0, -1.0])) <= 0.5).all()


def test_ranges_are_kept() -> None:
    for (p, q), (rest, other) in ranged(Fraction(1)):
        assert p + rest == q + other == 1
        assert 0.99 < math.log(p / q) - math.log(rest / other) <= 1


def test_merged_outcomes_keep_their_mean() -> None:
    law = np.array([0.2, 0.5, 4.0]), np.array([0.4, 0.5, 0.1])
    ratios, weights = merged(law, 1.0)
    assert ratios.size == 2
    assert math.isclose(ratios @ weights, law[0] @ law[1])
    assert merged(law, 0.3) is law
