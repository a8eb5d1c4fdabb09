"""Prices at many places at once."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.chosen_orders import ChosenOrders, _product, near_orders
from privately.accounting.sampled_games.rules import Bounded, orders
from privately.accounting.sampled_games.ways import Way
from tests.accounting.sampled_games.examples import HALF, bounded, payoff, profile, way

PLACES = np.array([0, 3, 8, 20, 30])


def _payoffs(one: Way) -> Floats:
    return one.all_payoffs(profile(), PLACES)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1.5])
def test_any_prices_prove_as_one_place_does(scale: float) -> None:
    """Above the best pairs that are known, also with prices that nobody has searched for; near them otherwise."""
    one = way("0.2")
    rule = bounded(one)
    few, payoffs = ChosenOrders(rule, np.arange(len(rule.rows))), _payoffs(one)
    found = few.searched(payoffs, np.full(PLACES.size, 1e-12), few.begun(PLACES.size))
    most = few.most(payoffs, scale * found.prices)
    for place, value in zip(PLACES.tolist(), most.tolist(), strict=True):
        alone = rule.most(*one.payoffs(profile(), place))
        assert value >= alone * (1 - 1e-7)
        if scale == 1:
            assert value <= alone * (1 + 1e-6)


def test_prices_that_are_too_low_would_be_no_bound() -> None:
    """What is missing at columns has to be made good: without it the same prices would say less than some pair has."""
    one = way("0.2")
    rule = bounded(one)
    few, payoffs = ChosenOrders(rule, np.arange(len(rule.rows))), _payoffs(one)
    found = few.searched(payoffs, np.full(PLACES.size, 1e-12), few.begun(PLACES.size))
    planted = (0.9 * found.prices).sum(axis=1)
    assert (few.most(payoffs, 0.9 * found.prices) > planted * 1.01).all()
    assert (planted < [rule.most(*one.payoffs(profile(), place)) for place in PLACES.tolist()]).all()


def test_laws_are_worth_what_prices_say() -> None:
    """And nearly allowed, if f is not lowered between columns."""
    one = way("0.2")
    rule = Bounded(orders(HALF, one.ratios), one.ratios, one.doubt, is_search=True)
    few, payoffs = ChosenOrders(rule, np.arange(len(rule.rows))), _payoffs(one)
    found = few.searched(payoffs, np.full(PLACES.size, 1e-12), few.begun(PLACES.size))
    laws, most = few.laws(found), found.prices.sum(axis=1)
    assert len(laws) == PLACES.size
    for place, (ratios, weights), value in zip(PLACES.tolist(), laws, most.tolist(), strict=True):
        assert weights.sum() == pytest.approx(1, abs=1e-9)
        assert weights @ ratios == pytest.approx(1, abs=1e-9)
        y = float(np.exp(place * one.lattice.step))
        worth = sum(w * payoff(one, y, r) for r, w in zip(ratios.tolist(), weights.tolist(), strict=True))
        assert worth == pytest.approx(value, rel=1e-3)


def test_orders_beside_those_that_count() -> None:
    one = way("0.2")
    coarse, fine = bounded(one), Bounded(orders(HALF, one.ratios, finer=4), one.ratios, one.doubt)
    near = fine.orders[near_orders(fine, coarse, {10})]
    assert near.min() <= coarse.orders[10] <= near.max()
    assert coarse.orders[9] < near.min() < near.max() < coarse.orders[11]
    assert near.size > 2


def test_products_in_parts() -> None:
    draw = np.random.default_rng(5)
    left, right = draw.normal(size=(70, 30)), draw.normal(size=(30, 900))
    assert np.allclose(_product(left, right), left @ right, rtol=1e-12, atol=1e-12)


def test_bases_are_kept_from_step_to_step() -> None:
    """A search that begins where the last one ended ends there at once, with the same prices."""
    one = way("0.2")
    rule = bounded(one)
    few, payoffs = ChosenOrders(rule, np.arange(len(rule.rows))), _payoffs(one)
    enough = np.full(PLACES.size, 1e-10)
    found = few.searched(payoffs, enough, few.begun(PLACES.size))
    again = few.searched(payoffs, enough, few.anew(found))
    assert (again.bases == found.bases).all()
    assert np.allclose(few.most(payoffs, again.prices), few.most(payoffs, found.prices), rtol=1e-9, atol=1e-12)


def test_what_is_no_basis_is_not_begun_with() -> None:
    rule = bounded(way("0.2"))
    few = ChosenOrders(rule, np.arange(len(rule.rows)))
    plain = few.begun(2)
    same = np.full(plain.bases.shape[1], rule.even)
    assert (few.begun(2, same).bases == plain.bases).all()
    assert (few.begun(2, same[1:]).bases == plain.bases).all()
