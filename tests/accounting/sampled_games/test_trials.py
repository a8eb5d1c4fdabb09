"""Tests of sampled steps."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from privately.accounting.losses import Direction
from privately.accounting.sampled_games.profiles import Lattice
from privately.accounting.sampled_games.trials import Pair, mixed, moves, play, start
from tests.accounting.sampled_games.examples import way

PAIR: Pair = ((Fraction(3, 5), Fraction(1, 5)), (Fraction(2, 5), Fraction(4, 5)))
FINE = Lattice(0.01, -300, 300)


def profile(outcomes: Pair, times: int, y: float) -> float:
    """By enumeration."""
    found = 0.0
    for some in product(outcomes, repeat=times):
        found += max(float(math.prod(a for a, _ in some)) - y * float(math.prod(b for _, b in some)), 0.0)
    return found


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_steps_against_enumeration(direction: Direction) -> None:
    """Of one pair and its mirror image the best is at least the pair twice, but for the lattice; all tests are real."""
    one = way("0.3", FINE)
    outcomes, turned = (mixed(pair, one.rate) for pair in (PAIR, tuple((q, p) for p, q in PAIR)))
    curve = play(start(FINE), moves([PAIR], one.rate, FINE.step), 2)
    if direction == "add":
        curve = curve.mirrored
        outcomes, turned = (tuple((b, a) for a, b in pair) for pair in (outcomes, turned))
    for place in (-20, 0, 10, 40):
        y = math.exp(place * FINE.step)
        value = float(curve.lower()[place - FINE.first])
        assert value >= profile(outcomes, 2, y) - 1e-3
        after = {
            k: max(profile(outcomes, 1, y * k), profile(turned, 1, y * k), 1 - y * k, 0.0)
            for k in _ratios(outcomes, turned)
        }
        best = max(sum(float(a) * after[float(b / a)] for a, b in some) for some in (outcomes, turned))
        assert value <= max(best, profile(outcomes, 1, y), profile(turned, 1, y), 1 - y) * (1 + 1e-12)


def _ratios(*pairs: Pair) -> list[float]:
    return [float(b / a) for pair in pairs for a, b in pair]


def test_samples_mix_the_first_law() -> None:
    share = Fraction(3, 10)
    (a, b), _ = mixed(PAIR, share)
    assert (a, b) == ((1 - share) * Fraction(1, 5) + share * Fraction(3, 5), Fraction(1, 5))
