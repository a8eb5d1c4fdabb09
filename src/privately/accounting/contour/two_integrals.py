"""What two integrals say of one delta: their sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.contour.integral import Integral
from privately.accounting.contour.road import exp_of
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

_TRIES = 40
_CLOSE = 1e-9
_LITTLE_MORE, _LEAST_MARGIN = 1.02, 1e-12


@dataclass(frozen=True)
class Both:
    """Two integrals that serve about one epsilon: near losses, and jumps."""

    near: Integral
    jumps: Integral

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln D and its slope, nearly."""
        found = []
        for one in (self.near, self.jumps):
            value, slope, _ = one.estimate(epsilon - float(one.centre))
            found.append((value, slope) if math.isfinite(value) else (-700.0, 0.0))
        top = max(value for value, _ in found)
        parts = [(math.exp(value - top), slope) for value, slope in found]
        total = sum(part for part, _ in parts)
        return top + math.log(total), sum(part * slope for part, slope in parts) / total

    def upper(self, epsilon: Fraction) -> Fraction:
        """D, from above."""
        return sum(
            (Fraction(exp_of(min(one.upper(_down(epsilon - one.centre)), 0.0)).upper) for one in self._each),
            Fraction(0),
        )

    def lower(self, epsilon: Fraction) -> Fraction:
        """D, from below."""
        return sum((Fraction(exp_of(one.lower(_up(epsilon - one.centre))).lower) for one in self._each), Fraction(0))

    def root(self, guess: float, log_delta: float) -> float:
        """Where ln D is about ln delta: Newton's method, kept near the guess."""
        epsilon, least, most = guess, guess / 3, guess * 3
        for _ in range(_TRIES):
            value, slope = self.rough(epsilon)
            if not slope < 0:
                raise NotApplicable("the profile is too flat")
            moved = min(max(epsilon + (log_delta - value) / slope, least), most)
            if abs(moved - epsilon) < 1e-13 * epsilon:
                break
            epsilon = moved
        return epsilon

    def ends(self, root: float, delta: Fraction, method: str) -> Interval:
        """On either side, first as far from the root as the bounds there are from delta."""
        slope = self.rough(root)[1]

        def first(bound: Callable[[Fraction], Fraction], sign: int) -> Fraction | None:
            missing = float(bound(Fraction(root)) / delta - 1)
            margin = max(_LITTLE_MORE * sign * missing / -slope, _LEAST_MARGIN * root) if slope < 0 else _CLOSE * root
            for _ in range(_TRIES):
                place = Fraction(root + sign * margin)
                if place <= 0 and sign < 0:
                    return Fraction(0)
                if sign * (bound(place) - delta) <= 0:
                    return place
                margin *= 2
            return None

        upper, lower = first(self.upper, 1), first(self.lower, -1)
        if upper is None:
            raise NotApplicable("no upper end was found")
        return Interval(lower or Fraction(0), upper, method=method)

    @property
    def _each(self) -> tuple[Integral, Integral]:
        return self.near, self.jumps


def _down(s: Fraction) -> float:
    return math.nextafter(float(s), -math.inf)


def _up(s: Fraction) -> float:
    return math.nextafter(float(s), math.inf)
