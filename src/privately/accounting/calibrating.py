"""Finding the parameter that just keeps a promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from privately.accounting import answers
from privately.accounting.events import Event
from privately.errors import InvalidParameter
from privately.rounding import Number, rational

_WIDEST = 2.0**60
_START = 31

Make = Callable[[float], Event]


def calibrate(
    make_event: Make, *, epsilon: Number, delta: Number = 0, precision: Number = "1e-5", whole: bool = False
) -> float:
    """The parameter at which the event made from it just keeps to (epsilon, delta), never beyond the safe side.

    Any parameter will do in which epsilon rises or falls: noise, a rate, with `whole` a number of steps. The result is
    within `precision`, relative, of the best one; its epsilon's upper end is at most `epsilon`. Where every parameter
    keeps the promise, it is the dearest that exists, such as a rate of 1.

    >>> from privately import accounting as acc
    >>> noise = acc.calibrate(lambda sigma: acc.Gaussian(noise_multiplier=sigma), epsilon=1, delta="1e-5")
    >>> float(acc.epsilon(acc.Gaussian(noise_multiplier=noise), delta="1e-5").upper) <= 1
    True
    """
    if not callable(make_event):
        raise InvalidParameter("make_event", "must be a function from a number to an event.")
    search = _Search(
        make_event,
        rational(epsilon, "epsilon", minimum=0),
        rational(delta, "delta", minimum=0, maximum=1),
        float(rational(precision, "precision", minimum=Fraction(1, 10**12), maximum=1)),
        whole=whole,
    )
    return search.found()


class _Search:
    """A safe parameter and an unsafe one, brought together."""

    def __init__(self, make: Make, epsilon: Fraction, delta: Fraction, precision: float, *, whole: bool) -> None:
        self.make, self.epsilon, self.delta, self.precision, self.whole = make, epsilon, delta, precision, whole

    def found(self) -> float:
        safe, unsafe = self._bracket()
        below, above = self._excess(safe), self._excess(unsafe)
        while not self._is_close(safe, unsafe):
            middle = self._between(safe, unsafe, below, above)
            excess = self._excess(middle)
            if excess <= 0:
                safe, below = middle, excess
            else:
                unsafe, above = middle, excess
        return int(safe) if self.whole else safe

    @cache  # noqa: B019 - a search lives as long as one call
    def _excess(self, parameter: float) -> float:
        """ln of the upper end over the target: at most 0 on the safe side only."""
        made = self.make(int(parameter) if self.whole else parameter)
        upper = answers.epsilon(made, self.delta).upper
        if upper <= self.epsilon:
            return min(_log(Fraction(upper) / self.epsilon), 0.0) if upper > 0 else -math.inf
        return max(_log(Fraction(upper) / self.epsilon), 1e-18) if self.epsilon and upper < math.inf else math.inf

    def _exists(self, parameter: float) -> bool:
        try:
            self._excess(parameter)
        except InvalidParameter:
            return False
        return True

    def _bracket(self) -> tuple[float, float]:
        """By doubling away from 1, first in the direction that seems right."""
        places = (1.0, *(2.0**sign for k in range(1, _START) for sign in (-k, k)))
        start = next((p for p in places if (p >= 1 or not self.whole) and self._exists(p)), None)
        if start is None:
            self._excess(1.0)
            raise InvalidParameter("make_event", "makes no event from 1.")
        is_safe = self._excess(start) <= 0
        for rises in sorted((True, False), key=lambda rises: self._seems_wrong(start, rises=rises)):
            found, last = self._walk(start, is_safe=is_safe, rises=rises)
            if found is not None:
                return (last, found) if is_safe else (found, last)
            if is_safe and last != start and not self._seems_wrong(start, rises=rises):
                return last, last  # the dearest there is
        if is_safe and self._is_dearest(start):
            return start, start
        word = "all" if is_safe else "none"
        raise InvalidParameter("make_event", f"{word} of the parameters that it accepts keep the promise.")

    def _is_dearest(self, start: float) -> bool:
        """Whether parameters end here on one side and get cheaper on the other."""
        on, off = (start * 2, start / 2)
        exists = self._exists(on), self._exists(off)
        return exists in {(True, False), (False, True)} and self._excess(on if exists[0] else off) < self._excess(start)

    def _seems_wrong(self, start: float, *, rises: bool) -> bool:
        near = start * 2 if rises else start / 2
        if (self.whole and near < 1) or not self._exists(near):
            return True
        return (self._excess(near) > self._excess(start)) != (self._excess(start) <= 0)

    def _walk(self, start: float, *, is_safe: bool, rises: bool) -> tuple[float | None, float]:
        """The first parameter of the other kind, if there is one, and the last of this kind."""
        last, factor = start, 2.0
        while True:
            following = last * factor if rises else last / factor
            if not 1 / _WIDEST <= following <= _WIDEST or (self.whole and following < 1):
                return None, start
            if not self._exists(following):
                if factor < 1 + self.precision / 4:
                    return None, last
                factor = math.sqrt(factor)
                continue
            if (self._excess(following) <= 0) != is_safe:
                return following, last
            last = following

    def _is_close(self, safe: float, unsafe: float) -> bool:
        if self.whole:
            return abs(safe - unsafe) <= 1
        return abs(safe - unsafe) <= self.precision * min(safe, unsafe)

    def _between(self, safe: float, unsafe: float, below: float, above: float) -> float:
        """Where a line through both crosses, on a logarithmic scale, and a little on towards the farther end: so that
        the crossing comes to lie between two near points.
        """
        start, end = math.log(safe), math.log(unsafe)
        share = 0.5
        if math.isfinite(below) and math.isfinite(above):
            share = below / (below - above)
        nudge = 0.4 * self.precision / abs(end - start)
        share = min(max(share + (nudge if share < 0.5 else -nudge), nudge, 0.001), 1 - nudge, 0.999)
        middle = math.exp(start + share * (end - start))
        low, high = sorted((safe, unsafe))
        return min(max(math.floor(middle), low + 1), high - 1) if self.whole else middle


def _log(ratio: Fraction) -> float:
    """Of any size."""
    return math.log(ratio.numerator) - math.log(ratio.denominator)
