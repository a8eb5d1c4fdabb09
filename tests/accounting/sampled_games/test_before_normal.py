"""One sampled step before normal noise."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.before_normal import Needed, _corners, needed
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.pairs import allowed, ranged
from privately.accounting.two_outcomes.allowed import AtOrders
from tests.accounting.sampled_games.examples import HALF, drawn, normal

RATE, V, SPARE = 0.05, 0.02, 1e-11
KIND = Kind(HALF, Fraction(1, 20))
RANGED = Kind(Fraction(1), Fraction(1, 20))
LISTED = Kind(AtOrders(((Fraction(2), Fraction(1)), (Fraction(8), Fraction(4)))), Fraction(1, 20))
KINDS = [KIND, RANGED, LISTED]


@lru_cache(maxsize=8)
def need(kind: Kind, v: float = V) -> Needed:
    return needed(kind, v, SPARE, 150)


def gaussian() -> tuple[Floats, Floats]:
    """Normal noise of mu = 1 in cells, whose ratios are means: by data processing it is allowed too."""
    edges = np.linspace(-8.0, 9.0, 851)
    q, p = (np.array([_between(a - mu, b - mu) for a, b in pairwise(edges.tolist())]) for mu in (0, 1))
    return p / q, q / q.sum()


def _between(a: float, b: float) -> float:
    """Of a standard normal, from its nearer tail."""
    if a > 0:
        return _between(-b, -a)
    return (math.erfc(-b / math.sqrt(2)) - math.erfc(-a / math.sqrt(2))) / 2


@lru_cache(maxsize=8)
def pairs(kind: Kind) -> list[tuple[Floats, Floats]]:
    """Many that are allowed, as ratios and Q-masses."""
    exact = ranged(kind.base)[::6] if isinstance(kind.base, Fraction) else list(allowed(kind.base, drawn(3, 30)))
    both = [one for pair in exact for one in (pair, tuple((q, p) for p, q in pair))]
    found = [(np.array([float(p / q) for p, q in pair]), np.array([float(q) for _, q in pair])) for pair in both]
    return found if isinstance(kind.base, Fraction) else [*found, gaussian()]


def worth(pair: tuple[Floats, Floats], y: float, v: float = V) -> float:
    """Of a sampled pair before the noise."""
    ratios, weights = pair
    s = 1 + RATE * (ratios - 1)
    return float(sum(w * a * normal(y / a, math.sqrt(v)) for w, a in zip(weights.tolist(), s.tolist(), strict=True)))


def density(epsilon: float, v: float = V) -> float:
    return math.exp(-((epsilon - v / 2) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)


@pytest.mark.parametrize("kind", KINDS)
def test_no_allowed_pair_gains_more(kind: Kind) -> None:
    """At places and between; and half as much would be too little somewhere."""
    found, most = need(kind), 0.0
    for z in np.linspace(-3.5, 4.5, 33).tolist():
        epsilon = z * math.sqrt(V)
        bound = math.exp(np.interp(epsilon / V, found.tau, np.log(found.gains)))
        y = math.exp(epsilon)
        gains = [(worth(pair, y) - normal(y, math.sqrt(V))) / density(epsilon) for pair in pairs(kind)]
        assert max(gains) <= bound * (1 + 1e-6) + 1e-10
        most = max(most, max(gains) / bound)
    assert most > 0.7


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("v", [V, 0.002])
def test_beyond_the_last_place(kind: Kind, v: float) -> None:
    """And below the first."""
    found = need(kind, v)
    last, first = float(found.tau[-1]) * v, float(found.tau[0]) * v
    for epsilon in np.linspace(last, last + 2, 9).tolist():
        y = math.exp(epsilon)
        held = sum(mass * max(at - y, 0.0) for at, mass in found.tail) + SPARE
        assert max(worth(pair, y, v) for pair in pairs(kind)) <= held + 1e-14
    y = math.exp(first - 0.1)
    assert max(worth(pair, y, v) for pair in pairs(kind)) - (1 - y) <= SPARE * y + 1e-14


def test_the_tail_is_needed() -> None:
    """Without jumps beyond the last place normal noise on a sample would be above."""
    found = need(KIND, 0.002)
    y = math.exp(float(found.tau[-1]) * 0.002)
    held = sum(mass * max(at - y, 0.0) for at, mass in found.tail)
    assert worth(gaussian(), y, 0.002) > held / 20 + SPARE


def test_corners_are_above() -> None:
    """At many places; with the largest corner left out they are not."""
    corners, weights, rest = _corners(V, 7 * math.sqrt(V))
    for z in np.linspace(-9, 9, 300).tolist():
        x = math.exp(z * math.sqrt(V))
        total = float((weights * np.maximum(1 - x / corners, 0.0)).sum()) + rest
        assert normal(x, math.sqrt(V)) <= total + 1e-13
    at = int(np.argmax(weights))
    x = float(corners[at]) * 0.9
    less = float((np.delete(weights, at) * np.maximum(1 - x / np.delete(corners, at), 0.0)).sum()) + rest
    assert normal(x, math.sqrt(V)) > less


def test_what_leads_too_far_is_refused() -> None:
    with pytest.raises(NotApplicable):
        needed(Kind(HALF, Fraction(3, 4)), V, SPARE, 100)
    with pytest.raises(NotApplicable):
        needed(Kind(HALF, Fraction(2, 5)), 1e-4, SPARE, 100)


def test_orders_next_to_1_say_nothing_of_tails() -> None:
    step = acc.PoissonSample(event=acc.Renyi(bounds={"1.005": "0.01"}), rate="0.01")
    found = acc.epsilon(acc.Repeat(event=step, times=4000), delta="1e-6")
    assert 0 < found.lower < found.upper < math.inf
