"""Pairs that stand for any sampled step before normal noise."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.standing import Standing, _dips, lacking, standing
from tests.accounting.sampled_games.examples import normal
from tests.accounting.sampled_games.test_before_normal import KIND, KINDS, SPARE, V, gaussian, need, pairs, worth

ORDER = 5.0


@lru_cache(maxsize=8)
def one(kind: Kind) -> Standing:
    asked = need(kind)
    found = standing(asked, 1.6 * float(np.interp(0.0, asked.tau, asked.gains)), ORDER)
    assert found is not None
    return found


def held(pair: Standing, y: float) -> float:
    """What the noise and the pair are worth together."""
    law, mu = pair.law(is_removed=True), math.sqrt(V + pair.noise)
    assert law is not None
    total = 0.0
    for (p, _), (q, _) in law.outcomes:
        total += float(p) * normal(y * float(q) / float(p), mu)
    return (1 - pair.spare) * total + pair.spare


@pytest.mark.parametrize("kind", KINDS)
def test_it_stands_for_every_allowed_pair(kind: Kind) -> None:
    """On all of the line; and is not much more than normal noise on a sample."""
    for epsilon in np.linspace(-1.6, 4.0, 57).tolist():
        y = math.exp(epsilon)
        assert max(worth(pair, y) for pair in pairs(kind)) <= held(one(kind), y) + 1e-14
    if kind == KIND:
        found = (held(one(kind), 1.2) - normal(1.2, math.sqrt(V))) / (
            worth(gaussian(), 1.2) - normal(1.2, math.sqrt(V))
        )
        assert 1 < found < 1.25


def both(pair: Standing) -> tuple[Floats, Floats]:
    near = [k for k, ratio in enumerate(pair.ratios) if (ratio, pair.masses[k]) not in need(KIND).tail]
    return np.array(pair.ratios)[near], np.array(pair.masses)[near]


def test_too_small_a_pair_is_caught() -> None:
    """One with a little less of each jump, or of the noise, or none of one jump."""
    pair, asked = one(KIND), need(KIND)
    ratios, masses = both(pair)
    assert lacking(asked, pair.noise, ratios, masses).max() <= 1
    assert lacking(asked, pair.noise, ratios, masses * 0.995).max() > 1
    assert lacking(asked, pair.noise * 0.99, ratios, masses).max() > 1
    kept = np.arange(ratios.size) != int(np.argmax(masses * (ratios - 1) ** 2))
    assert lacking(asked, pair.noise, ratios[kept], masses[kept]).max() > 1
    weak = Standing(pair.noise / 2, tuple(ratios.tolist()), tuple((masses / 2).tolist()), SPARE)
    assert held(weak, 1.2) < worth(gaussian(), 1.2)


def test_between_places() -> None:
    """A convex function is above its chords less the dips; 0.3 of them would not do."""
    draw = np.random.default_rng(4)
    least = 0.0
    for _ in range(50):
        tau = np.cumsum(draw.uniform(0.5, 1.5, 12))
        x, weights = draw.normal(0, 6, 4), draw.uniform(0.1, 1, 4)
        logs = np.log(np.exp(tau[:, None] * x) @ weights)
        dips = _dips(tau, logs)
        for cell in range(1, 10):
            between = np.linspace(tau[cell], tau[cell + 1], 41)
            below = np.interp(between, tau, logs) - np.log(np.exp(between[:, None] * x) @ weights)
            dip = min(dips[cell - 1], dips[cell])
            assert below.max() <= dip + 1e-12
            least = max(least, float(below.max() / (dip + 1e-12)))
    assert least > 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_both_laws_are_whole(kind: Kind) -> None:
    """In either direction, the same with both exchanged, largest loss first."""
    removed, added = (one(kind).law(is_removed=is_removed) for is_removed in (True, False))
    assert removed is not None
    assert added is not None
    for law in (removed, added):
        assert [sum(outcome[k][0] for outcome in law.outcomes) for k in (0, 1)] == [1, 1]
        ratios = [p / q for (p, _), (q, _) in law.outcomes]
        assert ratios == sorted(ratios, reverse=True)
    assert [(q, p) for p, q in removed.outcomes][::-1] == list(added.outcomes)
    assert Standing(0.1, (), (), SPARE).law(is_removed=True) is None
