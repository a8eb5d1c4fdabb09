"""Where steps lead to, in the worst order."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import leading
from privately.accounting.two_outcomes.leading import SHARES, SLOPES, Rule, reached

RULES = [Rule(1.0), Rule(1.0, SHARES[-1:], SLOPES[-1:]), Rule(1.0, SHARES[-1:]), Rule(1.0, SHARES, SLOPES[-1:])]


def after(rule: Rule, phi: float, size: float) -> float:
    return phi + size + float(rule.more(np.array([size]), phi)[0])


@pytest.mark.parametrize("rule", RULES)
def test_the_largest_first_is_the_most(rule: Rule) -> None:
    choose = np.random.default_rng(5)
    for _ in range(30):
        first, sizes = float(choose.uniform(1.0, 6.0)), np.sort(choose.uniform(0.01, 1.0, 4))[::-1].tolist()
        values = {}
        for order in permutations(sizes):
            phi = first
            for size in order:
                phi = after(rule, phi, size)
            values[order] = phi
        assert values[tuple(sizes)] >= max(values.values()) * (1 - 1e-14)
        with_last = rule.last(sizes[:1] + sizes[2:], np.array([sizes[1]]), first)
        assert values[tuple(sizes)] <= with_last[0] <= values[tuple(sizes)] * (1 + 1e-12)
        assert rule.last_one(sizes[:1] + sizes[2:], sizes[1], first) == pytest.approx(with_last[0], rel=1e-13)


def test_an_order_that_is_not_the_worst() -> None:
    """With a q that grows too slowly the lemma fails, and so would the test above."""
    q = 0.2

    def step(phi: float, size: float) -> float:
        return phi + size + size * size / (leading.ALPHA * size + q * phi)

    assert step(step(0.01, 1.0), 0.5) < step(step(0.01, 0.5), 1.0)


@pytest.mark.parametrize("rule", RULES)
def test_what_the_lemma_asks_for(rule: Rule) -> None:
    phi, sizes = np.linspace(1.0, 40.0, 4000), np.linspace(0.005, 1.0, 200)
    slopes = np.diff(rule.q(phi)) / np.diff(phi)
    assert (np.diff(slopes) < 1e-9).all()
    assert (slopes > leading.ALPHA).all()
    for place in (1.0, 1.3, 2.5, 3.5, 20.0):
        part = rule.more(sizes, place) / sizes
        assert (np.diff(part) > 0).all()
    for size in (0.01, 0.4, 1.0):
        assert (np.diff(phi + rule.more(np.full(phi.size, size), phi)) > 0).all()


def test_no_lesser_rule_has_more() -> None:
    """So what is shown with one holds with the next."""
    phi, rule = np.linspace(1.0, 40.0, 400), Rule(1.0)
    for place in (1.0, 5.0, 5.0, 2.0, 30.0):
        before, rule = rule, rule.lesser(place)
        assert (rule.q(phi) <= before.q(phi)).all()
    assert (rule.q(phi) < Rule(1.0).q(phi)).all()
    with pytest.raises(NotApplicable, match="unlike"):
        RULES[1].lesser(1.0)


def test_all_choices_that_are_enough() -> None:
    units, times, target = [6, 4, 3, 1], [2, 1, 3, 2], 6
    found = list(reached(units, times, target))
    assert len(set(found)) == len(found)
    true = set()
    for many in product(*(range(n + 1) for n in times)):
        total = sum(n * unit for n, unit in zip(many, units, strict=True))
        largest = max((unit for n, unit in zip(many, units, strict=True) if n), default=0)
        if total >= target > total - largest:
            true.add(many)
    assert set(found) == true
