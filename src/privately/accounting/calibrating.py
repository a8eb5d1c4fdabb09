"""Finding the parameter that just keeps a promise."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

from privately.accounting.bracketing import Bracket, bracket
from privately.accounting.comparing import compared, sketched
from privately.accounting.guessing import Guess, guessed
from privately.accounting.trying import FaultyMaker, Make, Trials, is_played
from privately.errors import InvalidParameter
from privately.rounding import Number, rational

_NEAR = 0.05
"""So near to the promise, a rough answer seldom tells."""
_RELIABLE = 0.5
"""So far from the promise, how far a rough answer is off matters little."""
_MOST_POINTS, _BEYOND, _SLOW = 4, 0.3, 3
_FEW = 4
_INWARD, _ENOUGH, _FLATTEST = 0.4, 0.8, 1e-3
"""So far on the safe side of a promise one aims, in parts of the precision, and so far from it is near enough."""


def calibrate(
    make_event: Make, epsilon: Number, delta: Number = 0, *, precision: Number = "1e-5", whole: bool = False
) -> float:
    """The parameter at which the event made from it just keeps to (epsilon, delta), never beyond the safe side.

    Any parameter from 0 on will do in which epsilon rises or falls: noise, a rate, with `whole` a number of steps. The
    upper end of the result's epsilon is at most `epsilon`, and that of parameters farther than `precision`, relative,
    is not; with `whole` it is an int. Where steps are chosen adaptively and answers are wide, it is as near to
    `epsilon` as the answer is wide, at least within 0.1 %. Where every parameter keeps the promise, it is the dearest
    that exists, such as a rate of 1.

    >>> from privately import accounting as acc
    >>> noise = acc.calibrate(lambda sigma: acc.Gaussian(noise_multiplier=sigma), epsilon=1, delta="1e-5")
    >>> float(acc.epsilon(acc.Gaussian(noise_multiplier=noise), delta="1e-5").upper) <= 1
    True
    """
    if not callable(make_event):
        raise InvalidParameter("make_event", "must be a function from a number to an event.")
    if not isinstance(whole, bool):
        raise InvalidParameter("whole", "is either True or False.")
    trials = Trials(
        make_event,
        rational(epsilon, "epsilon", minimum=0),
        rational(delta, "delta", minimum=0, maximum=1),
        whole=whole,
    )
    least = Fraction(1, 10**12)
    search = _Search(trials, float(rational(precision, "precision", minimum=least, maximum=1)))
    try:
        return search.found()
    except FaultyMaker as fault:
        raise InvalidParameter("make_event", str(fault)) from fault.__cause__


class _Search:
    """A safe parameter and an unsafe one, brought together."""

    def __init__(self, trials: Trials, precision: float) -> None:
        self.trials, self.precision = trials, precision

    def found(self) -> float:
        near = None if self.trials.whole else self._soon()
        if near is not None and self.trials.excess(near) <= 0:
            return near
        safe = self._between_ends()
        if self.trials.excess(safe) > 0:  # a narrow answer is hardly ever above a rough one
            self.trials.is_rough_enough = False
            safe = self._between_ends()
        return safe

    def _soon(self) -> float | None:
        """By few answers where they take long, from what is nearly right."""
        trials = self.trials
        guess = guessed(trials.event, trials.epsilon, trials.delta)
        if guess is not None:
            return self._near(guess)
        with suppress(InvalidParameter, ArithmeticError):
            if is_played(trials.looked(1.0)):
                return sketched(trials.sketched, trials.excess, self.precision, trials.slack)
            return compared(trials.looked, trials.excess, float(trials.epsilon), self.precision, trials.slack)
        return None

    def _near(self, guess: Guess) -> float | None:
        """From a guess that is nearly right: few answers, the last of which is safe and hardly below the promise."""
        power = guess.power
        place = guess.place * math.exp(math.copysign(_INWARD * self.precision, -power))
        before: tuple[float, float] | None = None
        for _ in range(_FEW):
            excess = self.trials.excess(place)
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
        found = self._known() or self._nearest(bracket(self.trials, self.precision))
        safe, unsafe = found.safe, found.unsafe
        since, size = 0, math.inf
        while not (found.is_closed or self._is_close(safe, unsafe)):
            since, size = (0, abs(safe - unsafe)) if abs(safe - unsafe) < size / 2 else (since + 1, size)
            middle, off = self._middle(safe, unsafe, self._crossing(safe, unsafe) if since < _SLOW else None)
            if middle in {safe, unsafe}:
                break
            if self._is_safe(middle, is_near=off < _NEAR):
                safe = middle
            else:
                unsafe = middle
        return safe

    def _known(self) -> Bracket | None:
        """Two parameters next to each other that narrow answers, asked for before, have told apart."""
        tried = self.trials.narrow
        pairs = [(one, other) for one, other in pairwise(sorted(tried)) if (tried[one] <= 0) != (tried[other] <= 0)]
        if not pairs or 0 in pairs[0]:
            return None
        low, high = min(pairs, key=lambda pair: pair[1] / pair[0])
        return Bracket(low, high) if tried[low] <= 0 else Bracket(high, low)

    def _nearest(self, found: Bracket) -> Bracket:
        """The same, or two parameters between them that were tried before."""
        safe, unsafe, seen = found.safe, found.unsafe, self.trials.seen
        if found.is_closed or seen[safe] > 0 or seen[unsafe] <= 0:
            return found
        low, high = sorted((safe, unsafe))
        inside = sorted((one for one in seen if low <= one <= high), key=lambda one: abs(one - safe))
        first = next(place for place, one in enumerate(inside) if seen[one] > 0)
        return Bracket(inside[first - 1], inside[first])

    def _is_safe(self, parameter: float, *, is_near: bool) -> bool:
        try:
            return (self.trials.excess if is_near else self.trials.roughly)(parameter) <= 0
        except InvalidParameter:  # between two that exist
            self.trials.seen[parameter] = math.inf
            return False

    def _is_close(self, safe: float, unsafe: float) -> bool:
        if -self.trials.seen[safe] < self.trials.slack(safe):
            return True
        if self.trials.whole:
            return abs(safe - unsafe) <= 1
        return abs(safe - unsafe) <= self.precision * min(safe, unsafe)

    def _crossing(self, safe: float, unsafe: float) -> tuple[float, float] | None:
        """ln of the parameter at which epsilon is about the target, and about how far that is off: by a polynomial
        through the points nearest to the target, both ends among them.
        """
        seen, narrow = self.trials.seen, self.trials.narrow
        ends = {safe: seen[safe], unsafe: seen[unsafe]}
        others = [p for p, excess in seen.items() if p and p not in ends and (p in narrow or abs(excess) > _RELIABLE)]
        others = sorted(others, key=lambda p: -abs(seen[p]))[-(_MOST_POINTS - 2) :]
        points = [(math.log(p), seen[p]) for p in others]
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
        quarter, height = (right - left) / 4, self.trials.seen[unsafe] - self.trials.seen[safe]
        if quarter == 0:
            return self._halfway(safe, unsafe), 0.0
        least = min(_BEYOND * self.precision, quarter)
        if crossing is None or not left < crossing[0] < right:
            place, off = (left + right) / 2, 2 * quarter
        else:
            place, off = crossing
            nudge = min(max(least, off / 8), quarter)
            place += nudge if place - left < right - place else -nudge
        middle = math.exp(min(max(place, left + least), right - least))
        return self._between(middle, safe, unsafe), height * off / (4 * quarter)

    def _between(self, middle: float, safe: float, unsafe: float) -> float:
        """The same, unless rounding has led to an end or beyond; and a whole number where it must be one."""
        low, high = sorted((safe, unsafe))
        if not low < middle < high:
            return self._halfway(low, high)
        return min(max(math.floor(middle), low + 1), high - 1) if self.trials.whole else middle

    def _halfway(self, one: float, other: float) -> float:
        return (one + other) // 2 if self.trials.whole else one / 2 + other / 2
