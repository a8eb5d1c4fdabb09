"""How the checker is to lay out what is run on one sample: the sum of its losses on a lattice, as a pair of laws.

Everything here is a choice in floating point. A poor one makes the checker's bound large, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from privately.accounting.certifying.cells import RARE, Lattice, with_room
from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.moments import Moments, largest
from privately.accounting.certifying.pairs import Floats, Pair
from privately.accounting.losses import Direction
from privately.accounting.roads import NotApplicable

LAID = ("sampled mix", "sampled normal", "glued mix", "glued normal", "glued laplace")
_CELLS = 800
_SMALLEST, _HIGHEST = 1e-30, 250.0
_ORDERS = [math.exp(x / 5) for x in range(-15, 41)]

Laws = Sequence[tuple[Law, int]]


def laid_out(laws: Laws, direction: Direction, delta: float) -> tuple[list[tuple[Law, int]], list[dict[str, Any]]]:
    """The laws with tables for bases, in the checker's order, and how those are laid out."""
    found: list[tuple[Law, int]] = []
    layouts: list[dict[str, Any]] = []
    for law, times in laws:
        if law.name in LAID:
            table, more = _table(law, direction, delta / times)
            layouts += more
            found.append((table, times))
        else:
            found.append((law, times))
    return sorted(found, key=lambda term: term[0].order), layouts


def _table(law: Law, direction: Direction, delta: float) -> tuple[Law, list[dict[str, Any]]]:
    rate = float(law.numbers[-1])
    small = 10.0 ** math.floor(math.log10(max(min(delta / rate, 1.0) * 1e-7, _SMALLEST)))
    inside, layouts = laid_out(law.base(), direction, small)
    for one, _ in inside:
        one.require_within_floats()
    steps = sum(times for _, times in inside)
    bottoms = [one.bottom(small * RARE / steps, direction) for one, _ in inside]
    top = _top(inside, direction, small)
    lowest = max(sum(times * low for (_, times), low in zip(inside, bottoms, strict=True)), -top)
    step = _step(inside, direction, (top - lowest) / _CELLS)
    firsts = [math.floor(low / step) for low in bottoms]
    lattice = Lattice(step, top, small, steps, direction)
    sums = lattice.summed(inside, firsts)
    kept = sums.near > 0
    losses: Floats = ((sums.first + np.arange(float(sums.near.size))) * step)[kept]
    hidden = max(1 - float(sums.near[kept] @ np.exp(-losses)), 0.0)
    pair = Pair(losses[::-1], np.log(sums.near[kept])[::-1], sums.far[0], hidden)
    layout = {
        "step": str(Fraction(step)),
        "cells": with_room(lattice.longest),
        "firsts": firsts,
        "top": str(Fraction(top)),
        "small": str(Fraction(1, 10 ** round(-math.log10(small)))),
    }
    return Law(f"{law.name.split()[0]} table", law.numbers[-1:], (), pair), [*layouts, layout]


def _top(laws: Laws, direction: Direction, small: float) -> float:
    """A loss above which there is little, by the best order, and at most the largest."""
    moments = Moments()
    log_small = math.log(small)
    found = min((_moment(moments, laws, c, direction) - log_small) / c for c in _ORDERS)
    ends = [largest(law, direction) for law, _ in laws]
    if all(end is not None for end in ends):
        total = sum(times * float(end.upper) for (_, times), end in zip(laws, ends, strict=True) if end is not None)
        found = min(found, total * (1 + 1e-9))
    if not 0 < found < _HIGHEST:
        raise NotApplicable("the losses on one sample are too large")
    return found


def _moment(moments: Moments, laws: Laws, c: float, direction: Direction) -> float:
    total = 0.0
    for law, times in laws:
        if law.laid is None:
            total += times * moments.of(law, c, direction)
        else:
            pair = law.pair(direction)
            exponents = pair.log_p + c * pair.losses
            top = float(exponents.max())
            total += times * (top + math.log(float(np.exp(exponents - top).sum())))
    return total


def _step(laws: Laws, direction: Direction, step: float) -> float:
    """At most this, and a divisor of a loss at which there is much."""
    anchor = min(law.anchor(direction) for law, _ in laws)
    return anchor / math.ceil(anchor / step) * (1 + 2.0**-50) if step < anchor < math.inf else step
