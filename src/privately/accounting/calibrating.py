"""Finding the parameter that just keeps a promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction

from privately.accounting import answers
from privately.accounting.comparing import compared
from privately.accounting.events import Event
from privately.accounting.guessing import Guess, guessed
from privately.accounting.roads import nearly_log
from privately.errors import InvalidParameter
from privately.rounding import End, Interval, Number, rational

_WIDEST = 2.0**100
_START, _PARTS = 61, 64
_BESIDE = (2.0, 1.2, 1.02, 1.001)
_ROUGHLY, _CERTAINLY = Fraction(1, 50), Fraction(1, 10**4)
"""So narrow answers need to be far from the promise, and so far from it they must be to settle on which side it is."""
_NEAR = 0.05
"""So near to the promise, a rough answer seldom tells."""
_RELIABLE = 0.5
"""So far from the promise, how far a rough answer is off matters little."""
_MOST_POINTS, _FARTHER, _BEYOND, _SLOW = 4, 1.3, 0.3, 3
_FEW = 4
_INWARD, _ENOUGH, _FLATTEST = 0.4, 0.8, 1e-3
"""So far on the safe side of a promise one aims, in parts of the precision, and so far from it is near enough."""

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
        self.seen: dict[float, float] = {}
        self.narrow: dict[float, float] = {}
        self.rough: dict[float, float] = {}
        self.looks: dict[float, Interval] = {}

    def found(self) -> float:
        guess = None if self.whole else guessed(self.make, self.epsilon, self.delta)
        near = None if guess is None else self._near(guess)
        if near is None and guess is None and not self.whole:
            with suppress(InvalidParameter, OverflowError):
                near = compared(self._looked, self._excess, float(self.epsilon), self.precision)
        return self._between_ends() if near is None else near

    def _near(self, guess: Guess) -> float | None:
        """From a guess that is nearly right: few answers, the last of which is safe and hardly below the promise."""
        power = guess.power
        place = guess.place * math.exp(math.copysign(_INWARD * self.precision, -power))
        before: tuple[float, float] | None = None
        for _ in range(_FEW):
            excess = self._excess(place)
            if not math.isfinite(excess):
                return None
            now = math.log(place), excess
            if before and now[0] != before[0]:
                power = (excess - before[1]) / (now[0] - before[0])
            if not _FLATTEST < abs(power) < 1 / _FLATTEST:
                return None
            if excess <= 0 and -excess <= _ENOUGH * self.precision * abs(power):
                return place
            before = now
            place *= math.exp((-_INWARD * self.precision * abs(power) - excess) / power)
        return None

    def _between_ends(self) -> float:
        safe, unsafe = self._bracket()
        since, size = 0, math.inf
        while not self._is_close(safe, unsafe):
            since, size = (0, abs(safe - unsafe)) if abs(safe - unsafe) < size / 2 else (since + 1, size)
            middle, off = self._middle(safe, unsafe, self._crossing(safe, unsafe) if since < _SLOW else None)
            if (self._excess(middle) if off < _NEAR else self._roughly(middle)) <= 0:
                safe = middle
            else:
                unsafe = middle
        return int(safe) if self.whole else safe

    def _excess(self, parameter: float) -> float:
        """ln of the upper end over the target: at most 0 on the safe side only."""
        if parameter not in self.narrow:
            upper = answers.epsilon(self._made(parameter), self.delta).upper
            self.narrow[parameter] = self._seen(parameter, upper)
        return self.narrow[parameter]

    def _roughly(self, parameter: float) -> float:
        """The same from a rougher answer, where that is enough to tell on which side it is."""
        if parameter not in self.rough:
            found = self._looked(parameter)
            is_far = found.upper <= self.epsilon * (1 - _CERTAINLY) or found.lower > self.epsilon * (1 + _CERTAINLY)
            self.rough[parameter] = self._seen(parameter, found.upper) if is_far else self._excess(parameter)
        return self.rough[parameter]

    def _looked(self, parameter: float) -> Interval:
        if parameter not in self.looks:
            self.looks[parameter] = answers.epsilon(self._made(parameter), self.delta, width=_ROUGHLY)
        return self.looks[parameter]

    def _made(self, parameter: float) -> Event:
        return self.make(int(parameter) if self.whole else parameter)

    def _seen(self, parameter: float, upper: End) -> float:
        excess = math.inf
        if upper <= self.epsilon:
            excess = min(nearly_log(Fraction(upper) / self.epsilon), 0.0) if upper > 0 else -math.inf
        elif self.epsilon and upper < math.inf:
            excess = max(nearly_log(Fraction(upper) / self.epsilon), 1e-18)
        self.seen[parameter] = excess
        return excess

    def _exists(self, parameter: float) -> bool:
        try:
            self._roughly(parameter)
        except InvalidParameter:
            return False
        return True

    def _bracket(self) -> tuple[float, float]:
        """By doubling away from 1, first in the direction that seems right."""
        start = next((place for place in self._places() if self._exists(place)), None)
        if start is None:
            raise InvalidParameter(
                "make_event",
                f"makes an event from none of many numbers, 1 % apart, and of 1 it says '{self._refusal()}'. If there "
                "are numbers that it accepts, such as 5.5, calibrate lambda times: make(5.5 * times).",
            )
        is_safe = self._roughly(start) <= 0
        for rises in sorted((True, False), key=lambda rises: self._seems_wrong(start, rises=rises)):
            found, last = self._walk(start, is_safe=is_safe, rises=rises)
            if found is not None:
                return (last, found) if is_safe else (found, last)
            if is_safe and last != start and self._is_dearer(last, start):
                return last, last  # the dearest there is
        if is_safe and self._is_dearest(start):
            return start, start
        word = "all" if is_safe else "none"
        raise InvalidParameter("make_event", f"{word} of the parameters that it accepts keep the promise.")

    def _places(self) -> Iterator[float]:
        """Where parameters are looked for: 1, powers of two on both sides, numbers between them."""
        seen = set[float]()
        for parts in (1, _PARTS):
            for k in range((_START - 1) * parts + 1):
                for place in (2.0 ** (-k / parts), 2.0 ** (k / parts)):
                    number = float(round(place)) if self.whole else place
                    if number not in seen and (number >= 1 or not self.whole):
                        seen.add(number)
                        yield number

    def _refusal(self) -> str:
        """What is said of 1."""
        try:
            self._excess(1.0)
        except InvalidParameter as reason:
            return str(reason).rstrip(".")
        return ""

    def _is_dearest(self, start: float) -> bool:
        """Whether parameters end here on one side and get cheaper on the other."""
        for on, off in ((start * factor, start / factor) for factor in _BESIDE):
            exists = self._exists(on), self._exists(off)
            if any(exists):
                return not all(exists) and self._is_dearer(start, on if exists[0] else off)
        return True

    def _is_dearer(self, one: float, other: float) -> bool:
        """Whether epsilon is larger at one parameter than at another."""
        gap = self._roughly(one) - self._roughly(other)
        return gap > 0 if abs(gap) > 2 * _ROUGHLY else self._excess(one) > self._excess(other)

    def _seems_wrong(self, start: float, *, rises: bool) -> bool:
        near = start * 2 if rises else start / 2
        if (self.whole and near < 1) or not self._exists(near):
            return True
        return self._is_dearer(near, start) != (self._roughly(start) <= 0)

    def _walk(self, start: float, *, is_safe: bool, rises: bool) -> tuple[float | None, float]:
        """The first parameter of the other kind, if there is one, and the last of this kind."""
        last, factor, before = start, 2.0, start
        while True:
            stride = factor if self.whole else self._stride(before, last, factor)
            following = last * stride if rises else last / stride
            if not 1 / _WIDEST <= following <= _WIDEST or (self.whole and following < 1):
                return None, start
            if not self._exists(following):
                if factor < 1 + (1 / (2 * last) if self.whole else self.precision / 4):
                    return None, last
                factor = math.sqrt(factor)
                continue
            if (self._roughly(following) <= 0) != is_safe:
                return following, last
            before, last = last, following

    def _stride(self, before: float, last: float, factor: float) -> float:
        """By which factor to go on: a little beyond where a line through the last two crosses, in logarithms."""
        gained, left = self._roughly(before) - self._roughly(last), self._roughly(last)
        if before == last or not math.isfinite(gained) or not gained * left > 0:
            return factor
        needed = _FARTHER * abs(math.log(last / before)) * left / gained
        return min(math.exp(max(needed, 2 * self.precision)), factor) if needed < 1 else factor

    def _is_close(self, safe: float, unsafe: float) -> bool:
        if self.whole:
            return abs(safe - unsafe) <= 1
        return abs(safe - unsafe) <= self.precision * min(safe, unsafe)

    def _crossing(self, safe: float, unsafe: float) -> tuple[float, float] | None:
        """ln of the parameter at which epsilon is about the target, and about how far that is off: by a polynomial
        through the points nearest to the target, both ends among them.
        """
        ends = {safe: self.seen[safe], unsafe: self.seen[unsafe]}
        others = [
            p for p, excess in self.seen.items() if p not in ends and (p in self.narrow or abs(excess) > _RELIABLE)
        ]
        others = sorted(others, key=lambda p: -abs(self.seen[p]))[-(_MOST_POINTS - 2) :]
        points = [(math.log(p), self.seen[p]) for p in others]
        points += [(math.log(p), excess) for p, excess in sorted(ends.items(), key=lambda end: -abs(end[1]))]
        points = [(y, excess) for y, excess in points if math.isfinite(excess)]
        if len({excess for _, excess in points}) < max(len(points), 2):
            return None
        row, off = [y for y, _ in points], math.inf
        for order in range(1, len(points)):  # Neville
            last = row[-1]
            row = [
                (row[k] * points[k + order][1] - row[k + 1] * points[k][1]) / (points[k + order][1] - points[k][1])
                for k in range(len(row) - 1)
            ]
            off = abs(row[-1] - last)
        return row[0], off

    def _middle(self, safe: float, unsafe: float, crossing: tuple[float, float] | None) -> tuple[float, float]:
        """A parameter between both, a little beyond the crossing as seen from the nearer end, so that the crossing
        comes to lie between two near points; and how far its epsilon is from the target, as far as one can tell.
        """
        left, right = sorted((math.log(safe), math.log(unsafe)))
        quarter, height = (right - left) / 4, self.seen[unsafe] - self.seen[safe]
        least = min(_BEYOND * self.precision, quarter)
        if crossing is None or not left < crossing[0] < right:
            place, off = (left + right) / 2, 2 * quarter
        else:
            place, off = crossing
            nudge = min(max(least, off / 8), quarter)
            place += nudge if place - left < right - place else -nudge
        middle = math.exp(min(max(place, left + least), right - least))
        if self.whole:
            low, high = sorted((safe, unsafe))
            middle = min(max(math.floor(middle), low + 1), high - 1)
        return middle, height * off / (4 * quarter)
