"""What the best allowed pair gains."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.sampled_games import rules
from privately.accounting.sampled_games.pairs import is_allowed
from privately.accounting.sampled_games.profiles import Lattice, Profile
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from tests.accounting.sampled_games.examples import HALF, RATES, bounded, drawn, payoff, profile, way

LISTED = AtOrders(((Fraction(2), Fraction(1)), (Fraction(8), Fraction(3))))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("statement", [HALF, LISTED], ids=["zcdp", "listed"])
def test_no_allowed_pair_gains_more(rate: str, statement: Statement) -> None:
    """Pairs with several outcomes, moved towards 1 until they are allowed; some come near."""
    one, known = way(rate), profile()
    both = bounded(one, statement), bounded(one, statement, is_low=True)
    pairs = []
    for ratios, weights in drawn(3, 16):
        near, far = 0.0, 1.0
        for _ in range(12):
            share = (near + far) / 2
            moved = 1 + (1 - share) * (ratios - 1)
            exact = tuple(
                (Fraction(a), Fraction(b)) for a, b in zip((weights * moved).tolist(), weights.tolist(), strict=True)
            )
            near, far = (near, share) if is_allowed(statement, exact) else (share, far)
        pairs.append((1 + (1 - far) * (ratios - 1), weights))
    best = 0.0
    for place in (30, 8, 0, -8, -30):
        y, rule = float(np.exp(place * known.lattice.step)), both[0 if place >= 0 else 1]
        most, line = rule.most(*one.payoffs(known, place)), max(1 - y, 0.0)
        for ratios, weights in pairs:
            value = sum(w * payoff(one, y, r) for r, w in zip(ratios.tolist(), weights.tolist(), strict=True)) - line
            assert value <= most
            best = max(best, value / most)
        law = rule.law()
        if law is not None:
            found = sum(w * payoff(one, y, r) for r, w in zip(law[0].tolist(), law[1].tolist(), strict=True)) - line
            assert found <= most * (1 + 1e-9)
            assert found >= most * 0.98
    assert best > 0.85


def test_low_ratios_are_known_as_well() -> None:
    """Losses far below 0 are hardly allowed, and hardly worth anything: high orders of the exchanged laws count."""
    fine = Lattice(0.007, -180, 180)
    one = way("0.5", fine)
    rule = bounded(one, Concentrated(Fraction(1, 100)), is_low=True)
    worth = [rule.most(*one.payoffs(Profile.start(fine), place)) for place in range(-1, -60, -1)]
    assert 1e-3 < worth[5] < 0.03
    assert 0 <= worth[-1] < 1e-6


def test_prices_are_made_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has been found: here nothing, and the line must rise by 1 beyond the last column, and be above all."""
    ratios = np.array([0.0, 0.4, 0.8, 1.0, 1.3, 1.6])
    rule = rules.Bounded(rules.orders(LISTED, ratios), ratios, 1e-13)
    monkeypatch.setattr(rule._simplex, "prices", lambda *_: -np.ones(2 + len(rule.rows)))
    assert rule.most(np.zeros(ratios.size), 0.0) >= 0
    monkeypatch.setattr(rule, "_mended", lambda *_: (0.0, np.zeros(len(rule.rows))))
    assert 1 <= rule.most(np.maximum(ratios - 1.5, 0.0), 1.0) <= 1 + 1e-9
    assert 0.7 <= rule.most(np.maximum(0.7 - ratios, 0.0), 0.0) <= 0.7 + 1e-9


def test_tangents_are_below() -> None:
    """Between columns f is above the chords of its lowered values, and beyond the last above the line."""
    one = way("0.2")
    for limit in rules.orders(HALF, one.ratios)[::9]:
        lowered, slope = rules._lowered(limit, one.ratios, one.doubt)
        t, mean = float(limit.t), float(limit.most.upper)
        beyond = one.ratios[-1] * 1.5
        r = np.append((one.ratios[1:] + one.ratios[:-1]) / 2, beyond)
        if t in {0.0, 1.0}:
            f = r * np.log(r) - r + 1 if t else r - 1 - np.log(r)
        else:
            f = (r**t - 1 - t * (r - 1)) / (t * (t - 1))
        lines = np.append(np.interp(r[:-1], one.ratios, lowered), lowered[-1] + slope * (beyond - one.ratios[-1]))
        assert (lines <= f / mean * (1 + 1e-9)).all()
