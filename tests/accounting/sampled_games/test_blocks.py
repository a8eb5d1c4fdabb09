"""Blocks of places."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.sampled_games.blocks import Blocks
from privately.accounting.sampled_games.rules import Bounded, orders
from tests.accounting.sampled_games.examples import HALF, bounded, profile, way


@pytest.mark.parametrize("is_low", [False, True])
def test_as_one_place_after_another(*, is_low: bool) -> None:
    """Not below the bounds of all orders at single places, but for what searches leave, and hardly above; twice."""
    one, known = way("0.2"), profile()
    rule = bounded(one, is_low=is_low)
    blocks, places = Blocks(one, rule), np.arange(-60, 0) if is_low else np.arange(0, 90)
    for _ in range(2):
        found = blocks.most(known, places)
        alone = np.array([rule.most(*one.payoffs(known, place)) for place in places[::-1].tolist()])[::-1]
        assert (found >= alone * (1 - 1e-6) - 1e-12).all()
        near = alone > 1e-6
        assert (found[near] <= alone[near] * 1.01).all()
        assert np.median(found[near] / alone[near]) < 1 + 1e-4


def test_more_orders_say_less() -> None:
    one, known, places = way("0.2"), profile(), np.arange(0, 60)
    rule = bounded(one)
    rough = Blocks(one, rule).most(known, places)
    rule.finer = Bounded(orders(HALF, one.ratios, finer=2), one.ratios, one.doubt)
    fine = Blocks(one, rule).most(known, places)
    assert (fine[2:] <= rough[2:] * (1 + 1e-4)).all()
    assert fine.sum() <= rough.sum()
