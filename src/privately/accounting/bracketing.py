"""Two parameters, one that keeps a promise and one that does not: among all floats, or all whole numbers up to them.

Strides double in logarithms, so that few of them lead from 1 to the last float; where parameters end is found by
halves.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from privately.accounting.trying import Trials
from privately.errors import InvalidParameter

_LARGEST, _SMALLEST = sys.float_info.max, math.ulp(0.0)
_OCTAVES = 1074
"""So far from 1 floats reach, in powers of two."""
_PARTS = ((4, _OCTAVES), (64, 64))
"""So many numbers in each power of two are looked at, so far from 1."""
_FARTHER, _FORESEEN = 1.3, 8
"""So much farther than foreseen one goes, and on so many strides anything is foreseen."""

_HOPELESS = 7.0
"""Where ln of epsilon has grown so much beyond what is too much, it does not fall again."""


@dataclass(frozen=True)
class Bracket:
    """`is_closed` where nothing that exists is known to lie between them."""

    safe: float
    unsafe: float
    is_closed: bool = False


def bracket(trials: Trials, precision: float) -> Bracket:
    """By strides away from a parameter that exists; where none of its neighbours will do, from others."""
    low, high = math.inf, -math.inf
    for start in _starts(trials):
        if low <= start <= high:
            continue
        is_safe = trials.roughly(start) <= 0
        found, ends = _around(trials, precision, start, is_safe=is_safe)
        if found is not None:
            return found
        if is_safe:
            return _dearest(trials, ends)
        low, high = min(low, *ends), max(high, *ends)
    if high <= 0:
        raise _nothing_is_made(trials)
    raise _none_is_safe(trials)


def _starts(trials: Trials) -> Iterator[float]:
    """Parameters that exist: powers of two; where there is none, one between them; and 0."""
    last: float | None = None
    for last in filter(trials.exists, _places(1, _OCTAVES, whole=trials.whole)):
        yield last
    if last is None:
        _refuse_whole(trials)
        listed = chain.from_iterable(_places(parts, farthest, whole=trials.whole) for parts, farthest in _PARTS)
        yield from islice(filter(trials.exists, listed), 1)
    yield from filter(trials.exists, [0 if trials.whole else 0.0])


def _refuse_whole(trials: Trials) -> None:
    if not trials.whole and Trials(trials.make, trials.epsilon, trials.delta, whole=True).exists(1):
        raise InvalidParameter("make_event", f"takes whole numbers only: {_of_one(trials)}. Use whole=True.")


def _around(trials: Trials, precision: float, start: float, *, is_safe: bool) -> tuple[Bracket | None, list[float]]:
    """First in the direction that seems right; and how far it leads."""
    ends = [start]
    for rises in sorted((True, False), key=lambda rises: _seems_wrong(trials, start, rises=rises)):
        found, last = _Walk(trials, precision, is_safe=is_safe, rises=rises).other(start)
        if found is not None:
            safe, unsafe = (last, found) if is_safe else (found, last)
            return Bracket(safe, unsafe, is_closed=0 in {safe, unsafe}), ends
        ends.append(last)
    return None, ends


def _dearest(trials: Trials, ends: list[float]) -> Bracket:
    dearest = ends[0]
    for one in ends[1:]:
        dearest = one if trials.is_dearer(one, dearest) else dearest
    if len({*ends}) > 1 and not any(trials.is_dearer(dearest, one) for one in ends if one != dearest):
        raise InvalidParameter(
            "make_event",
            f"all of the parameters that it accepts, from {_shown(min(ends))} to {_shown(max(ends))}, keep the promise,"
            " and none costs more than another: take any, or let the event depend on the parameter.",
        )
    return Bracket(dearest, dearest, is_closed=True)


def _places(parts: int, farthest: int, *, whole: bool) -> Iterator[float]:
    """Where parameters are looked for: 1, and on both sides so many in each power of two."""
    seen = set[float]()
    for k in range(farthest * parts + 1):
        for octaves in (-k / parts, k / parts):
            place = _float_of(octaves)
            number = round(place) if whole else place
            if number and number not in seen:
                seen.add(number)
                yield number


def _float_of(octaves: float) -> float:
    return min(2.0**octaves, _LARGEST) if octaves < _OCTAVES - 50 else _LARGEST


def _seems_wrong(trials: Trials, start: float, *, rises: bool) -> bool:
    near = _moved(start, 1.0, rises=rises, whole=trials.whole)
    if near == start or not trials.exists(near):
        return True
    return trials.is_dearer(near, start) != (trials.roughly(start) <= 0)


def _moved(place: float, octaves: float, *, rises: bool, whole: bool) -> float:
    """By a factor of two to this power, and to another number, if there is one before the last; 0 is never reached."""
    factor = _float_of(octaves)
    if whole:
        if rises:
            far = round(float(place) * factor) if place < _LARGEST / factor else int(_LARGEST)
            return max(place, min(max(far, int(place) + 1), int(_LARGEST)))
        return max(min(round(place / factor), int(place) - 1), min(place, 1))
    if place == 0:
        return _SMALLEST if rises else 0.0
    return min(place * factor, _LARGEST) if rises else max(place / factor, _SMALLEST)


class _Walk:
    """In one direction, from parameters of one kind to the other."""

    def __init__(self, trials: Trials, precision: float, *, is_safe: bool, rises: bool) -> None:
        self.trials, self.precision, self.is_safe, self.rises = trials, precision, is_safe, rises

    def other(self, start: float) -> tuple[float | None, float]:
        """The first parameter of the other kind, if there is one, and the last of this kind."""
        before = last = start
        octaves, strides = 1.0, 0
        while True:
            stride = self._stride(before, last, octaves) if strides < _FORESEEN else octaves
            following = _moved(last, stride, rises=self.rises, whole=self.trials.whole)
            if following == last:
                return self._nothing(last)
            if not self.trials.exists(following):
                return self._before_end(last, following)
            if not self._is_alike(following):
                return following, last
            before, last, octaves, strides = last, following, 2 * octaves, strides + 1
            if self._is_hopeless(start, last):
                found, _ = self._nothing(last)
                return found, last if found is not None else _LARGEST if self.rises else 0.0

    def _is_hopeless(self, start: float, last: float) -> bool:
        """Whether all farther ones are too dear as well, where answers may take long."""
        return not self.is_safe and _HOPELESS < self.trials.roughly(last) - self.trials.roughly(start) < math.inf

    def _before_end(self, last: float, missing: float) -> tuple[float | None, float]:
        """The same, where parameters end between these two."""
        middle = self._middle(last, missing)
        while middle not in {last, missing} and not self._is_close(last, missing):
            if not self.trials.exists(middle):
                missing = middle
            elif not self._is_alike(middle):
                return middle, last
            else:
                last = middle
            middle = self._middle(last, missing)
        return self._nothing(last)

    def _is_close(self, one: float, other: float) -> bool:
        return not self.trials.whole and abs(one - other) <= self.precision / 4 * min(one, other)

    def _middle(self, one: float, other: float) -> float:
        low, high = sorted((one, other))
        if high > 2 * low > 0:
            middle = math.exp((math.log(low) + math.log(high)) / 2)
            return math.floor(middle) if self.trials.whole else middle
        return (low + high) // 2 if self.trials.whole else low / 2 + high / 2

    def _nothing(self, last: float) -> tuple[float | None, float]:
        """Below all others there may be 0."""
        nothing = 0 if self.trials.whole else 0.0
        if self.rises or last == 0 or not self.trials.exists(nothing):
            return None, last
        return (None, nothing) if self._is_alike(nothing) else (nothing, last)

    def _is_alike(self, place: float) -> bool:
        return (self.trials.roughly(place) <= 0) == self.is_safe

    def _stride(self, before: float, last: float, octaves: float) -> float:
        """A little beyond where a line through the last two crosses, in logarithms, but no farther than this."""
        if 0 in {before, last} or before == last:
            return octaves
        left = self.trials.roughly(last)
        gained = self.trials.roughly(before) - left
        if not math.isfinite(gained) or not gained * left > 0:
            return octaves
        needed = _FARTHER * abs(math.log2(last) - math.log2(before)) * left / gained
        return min(max(needed, 3 * self.precision), octaves)


def _of_one(trials: Trials) -> str:
    try:
        trials.event(1)
    except InvalidParameter as reason:
        return f"of 1 it says '{str(reason).rstrip('.')}'"
    return "it takes 1"


def _nothing_is_made(trials: Trials) -> InvalidParameter:
    return InvalidParameter(
        "make_event",
        f"makes an event from none of many numbers, 1 % apart, and {_of_one(trials)}. If there "
        "are numbers that it accepts, such as 5.5, calibrate lambda times: make(5.5 * times).",
    )


def _none_is_safe(trials: Trials) -> InvalidParameter:
    if trials.refused is not None:
        raise trials.refused
    nearest = min(trials.seen, key=trials.seen.__getitem__)
    return InvalidParameter(
        "make_event",
        f"none of the parameters that it accepts keeps the promise; of those tried, from {_shown(min(trials.seen))} to "
        f"{_shown(max(trials.seen))}, {_shown(nearest)} comes nearest. Promise a larger epsilon or delta.",
    )


def _shown(place: float) -> str:
    return f"{place:.6g}" if abs(place) < _LARGEST else "the largest float"
