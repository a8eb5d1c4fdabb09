"""Where a sum on the lattice has the delta that is wanted: guessed by secant steps, then checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from privately.accounting.lattice.laying import Laid
from privately.accounting.roads import NotApplicable

_CLOSE = 0.01


@dataclass(frozen=True)
class Guess:
    """Where the answer is about."""

    epsilon: float
    log_delta: float

    def is_far_from(self, other: Guess) -> bool:
        """Whether a contour laid for the other one would not serve."""
        moved = abs(self.epsilon - other.epsilon) > 0.02 * max(self.epsilon, 1e-6)
        return moved or abs(self.log_delta - other.log_delta) > 0.5


class Place(NamedTuple):
    """An epsilon where ln delta is about as wanted, how steeply it falls there, and how far it may be off, roughly."""

    epsilon: float
    fall: float
    doubt: float


def root_of(laid: Laid, guess: Guess) -> Place:
    """Where ln delta is as guessed, or 0: secant steps, as ln delta is nearly a line, kept within a bracket.

    Where there is no telling, the place is too far from the last one where there was.
    """
    low, high = 0.0, 2 * guess.epsilon + laid.sum.frame.period
    starts = [guess.epsilon * part for part in (1, 0.98, 0.9, 0.7)]
    known = ((start, laid.rough(start)) for start in starts)
    x, found = next(((start, rough) for start, rough in known if math.isfinite(rough[0])), (None, (0.0, 0.0)))
    if x is None:
        raise NotApplicable("the lattice is too coarse, or the guess too far off")
    before: tuple[float, float] | None = None
    slope, doubt = -laid.sum.frame.tilt, 1.0
    for _ in range(60):
        value = found[0] - guess.log_delta
        is_low = value > 0 if math.isfinite(value) or before is None else x < before[0]
        low, high = (x, high) if is_low else (low, x)
        if math.isfinite(value):
            if before is not None and x != before[0]:
                slope = min((value - before[1]) / (x - before[0]), -1e-9)
            before, doubt = (x, value), found[1]
            ahead = x - value / slope
            x = ahead if low < ahead < high else (low + high) / 2
            if abs(x - before[0]) <= max(1e-11 * max(x, 1e-6), _CLOSE * doubt / -slope) or high == 0:
                break
        else:
            x = (low + high) / 2
        found = laid.rough(x)
    return Place(x, max(-slope, laid.sum.frame.tilt / 100), doubt)


def checked(holds: Callable[[Fraction], bool], place: Place, step: float, sign: int) -> Fraction | None:
    """The first epsilon beyond the place, a little further every time, where something holds for certain, if any."""
    margin = (min(1.02 * place.doubt, 1.0) + 1e-12) / place.fall + step
    if sign > 0 and place.epsilon <= margin and holds(Fraction(0)):
        return Fraction(0)
    for _ in range(60):
        found = Fraction(place.epsilon) + sign * Fraction(margin)
        if found < 0:
            return Fraction(0)
        if holds(found):
            return found
        margin *= 1.5
    return None
