"""Lower values: tests of what sampled steps reveal, each step the best of some pairs that are allowed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import UNIT, exp
from privately.accounting.sampled_games.profiles import Lattice, OneWay

Pair = tuple[tuple[Fraction, Fraction], ...]
"""The probabilities of every outcome under P and under Q."""

_SLACK = 32 * UNIT
_ALL_AGAIN = 8
"""At so many steps, and when they are twice as many, all pairs are tried; otherwise those that were any good."""


@dataclass(frozen=True)
class Move:
    """A sampled pair: the chances of its outcomes under both laws, and how far each loss leads, in places."""

    chances: tuple[tuple[float, float], ...]
    places: tuple[int, ...]


def mixed(pair: Pair, rate: Fraction) -> Pair:
    """What a sample makes of a pair, where the row is removed."""
    return tuple(((1 - rate) * q + rate * p, q) for p, q in pair)


def moves(pairs: Iterable[Pair], rate: Fraction, step: float) -> list[Move]:
    """All of these, and the same with both laws exchanged."""
    found = []
    for pair in pairs:
        for either in (pair, tuple((q, p) for p, q in pair)):
            chances = tuple((float(a), float(b)) for a, b in mixed(either, rate))
            places = tuple(round(math.log(a / b) / step) for a, b in chances)
            found.append(Move(chances, places))
    return found


def start(lattice: Lattice) -> OneWay:
    """Nothing is seen: a row is claimed where y is below 1."""
    claimed = (lattice.losses < 0).astype(float)
    return OneWay(lattice.step, lattice.first, lattice.last + 1, np.ones(lattice.size), claimed, claimed)


def play(curve: OneWay, choices: Sequence[Move], times: int) -> OneWay:
    """With so many steps more before them, the best choice at every place.

    Theorem: a choice that is allowed, followed by any test after either outcome, is a test.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/sampled_games.md#from-below
    Checked-by: tests/accounting/sampled_games/test_trials.py::test_two_steps_against_enumeration
    """
    good = choices
    for step in range(times):
        is_again = step < _ALL_AGAIN or step & (step - 1) == 0
        curve, used = _with_one(curve, choices if is_again else good)
        if is_again:
            good = [choices[k] for k in sorted(used)]
    return curve


def _with_one(curve: OneWay, choices: Sequence[Move]) -> tuple[OneWay, set[int]]:
    size = curve.upper.size
    ones, none = np.ones(size), np.zeros(size)
    before = np.concatenate([ones, curve.powers, none]), np.concatenate([ones, curve.prices, none])
    y = exp(curve.losses)
    power, price, kind = curve.powers, curve.prices, np.full(size, -1)
    value = power - y * price
    for k, move in enumerate(choices):
        powers, prices = np.zeros(size), np.zeros(size)
        for (first, second), place in zip(move.chances, move.places, strict=True):
            begin = min(max(size - place, 0), 2 * size)
            powers += first * before[0][begin : begin + size]
            prices += second * before[1][begin : begin + size]
        worth = powers - y * prices
        is_more = worth > value
        value = np.where(is_more, worth, value)
        power, price, kind = (
            np.where(is_more, powers, power),
            np.where(is_more, prices, price),
            np.where(is_more, k, kind),
        )
    used = {int(k) for k in np.unique(kind) if k >= 0}
    return replace(curve, powers=power * (1 - _SLACK), prices=np.minimum(price * (1 + _SLACK), 1.0)), used
