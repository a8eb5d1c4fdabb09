"""Events that two enclosed laws suggest: single outputs, windows and half lines of their entries, best first.

Floats say where to look, for many events at once; whoever takes an event measures it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from privately.proving.paths.events import Condition, Event, Shape, entries_of, shape_of
from privately.proving.paths.masses import Enclosed, Mass, is_shapeless
from privately.proving.paths.ranges import Range
from privately.proving.refuting.float_laws import Floats

Box: TypeAlias = tuple[tuple[Any, Any], ...]
"""For every entry its least and its largest value, perhaps infinite."""

MOST_OUTPUTS, MOST_NUMBERS_ALONE = 1_500, 20_000
"""The likeliest outputs that are looked at: lists of several entries, and single numbers."""

MOST_BOXES = 2_000
MOST_NUMBERS = 400_000
"""Ends in all boxes together: of long lists few boxes are looked at, single outputs first."""

MOST_PATTERNS = 40
MOST_EDGES = 160
MOST_AT_ONCE = 20_000_000
DIGITS = 6
"""Of events with the same score, so far, the likeliest is taken."""

TINY = 1e-12


def suggested(here: Enclosed, there: Enclosed, count: int) -> list[tuple[float, Event]]:
    """The events that are likeliest here beside how likely they may be there, with the logarithm of that quotient."""
    found: list[tuple[float, float, Event]] = []
    anything = sum(_both(mass) for output, mass in there.outputs.items() if is_shapeless(output))
    for shape in {shape_of(one) for one in here.outputs if not is_shapeless(one)}:
        own = _Outputs(shape, here, sure=True)
        if not own.entries:
            continue
        other = _Outputs(shape, there, sure=False)
        boxes = _some_boxes(own)
        likely, rare = own.within(boxes), other.touching(boxes) + anything
        with np.errstate(divide="ignore"):
            scores = np.where(likely > 0, np.log(np.maximum(likely, 1e-300)) - np.log(rare), -np.inf)
        scores = np.round(scores, DIGITS)
        best = np.lexsort((-likely, -scores))[:count]
        found += [(float(scores[k]), float(likely[k]), _event(shape, boxes[k])) for k in best if likely[k] > 0]
    found.sort(key=lambda one: (-one[0], -one[1]))
    return [(score, event) for score, _, event in found[:count]]


class _Outputs:
    """The outputs of one shape, as arrays of ends and masses; those that come most often, if there are too many."""

    def __init__(self, shape: Shape, law: Enclosed, *, sure: bool) -> None:
        listed = [
            (entries_of(output), float(mass.sure) if sure else _both(mass))
            for output, mass in law.outputs.items()
            if not is_shapeless(output) and shape_of(output) == shape
        ]
        if sure:
            alone = bool(listed) and len(listed[0][0]) == 1
            most = MOST_NUMBERS_ALONE if alone else MOST_OUTPUTS
            listed = sorted((one for one in listed if one[1] > 0), key=lambda one: -one[1])[:most]
        self.entries = [entries for entries, _ in listed]
        self.masses = np.array([mass for _, mass in listed])
        width = len(self.entries[0]) if self.entries else 0
        self.low = np.array([[_end(one, -1) for one in entries] for entries in self.entries]).reshape(
            len(listed), width
        )
        self.high = np.array([[_end(one, 1) for one in entries] for entries in self.entries]).reshape(
            len(listed), width
        )

    def within(self, boxes: Sequence[Box]) -> Floats:
        """The mass that lies in each box for sure."""
        return self._summed(boxes, lambda low, high: (self.low >= low - TINY) & (self.high <= high + TINY))

    def touching(self, boxes: Sequence[Box]) -> Floats:
        """The mass that may lie in each box."""
        return self._summed(boxes, lambda low, high: (self.high >= low) & (self.low <= high))

    def _summed(self, boxes: Sequence[Box], inside: Any) -> Floats:
        total = np.zeros(len(boxes))
        if not self.entries:
            return total
        low, high = (
            np.array([[_float(one[side]) for one in box] for box in boxes]).reshape(len(boxes), len(boxes[0]))
            for side in (0, 1)
        )
        step = max(1, MOST_AT_ONCE // max(1, self.low.size))
        for start in range(0, len(boxes), step):
            part = inside(low[start : start + step, None, :], high[start : start + step, None, :]).all(axis=2)
            total[start : start + step] = part @ self.masses
        return total


def _some_boxes(own: _Outputs) -> list[Box]:
    most = min(MOST_BOXES, MOST_NUMBERS // max(1, len(own.entries[0])) + 1)
    found: dict[Box, None] = {}
    for box in _boxes(own) if most == MOST_BOXES else chain(_single(own), _boxes(own)):
        found[box] = None
        if len(found) == most:
            break
    return list(found)


def _boxes(own: _Outputs) -> Iterator[Box]:
    """Single outputs, and for each pattern of exact entries windows and half lines of the others."""
    patterns: dict[tuple[Any, ...], None] = {}
    for entries in own.entries:
        if len(patterns) < MOST_PATTERNS:
            patterns[tuple(None if isinstance(one, Range) else one for one in entries)] = None
    patterns[(None,) * len(own.entries[0])] = None
    for pattern in patterns:
        whole: Box = tuple((-math.inf, math.inf) if one is None else (one, one) for one in pattern)
        yield whole
        alike = [entries for entries in own.entries if _fits(entries, pattern)]
        for place in (place for place, one in enumerate(pattern) if one is None):
            for window in _windows(entries[place] for entries in alike):
                yield (*whole[:place], window, *whole[place + 1 :])
    yield from _single(own)


def _single(own: _Outputs) -> Iterator[Box]:
    for entries in own.entries:
        yield tuple((one.low, one.high) if isinstance(one, Range) else (one, one) for one in entries)


def _fits(entries: tuple[Any, ...], pattern: tuple[Any, ...]) -> bool:
    return all(wanted is None or entry == wanted for entry, wanted in zip(entries, pattern, strict=True))


def _windows(values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    ends = {end for one in values for end in ((one.low, one.high) if isinstance(one, Range) else (one,))}
    edges = sorted(end for end in ends if abs(end) != math.inf)
    if len(edges) > MOST_EDGES:
        edges = edges[:: len(edges) // MOST_EDGES + 1]
    for place, edge in enumerate(edges):
        yield edge, math.inf
        yield -math.inf, edge
        for length in (1, 2, 4, 8, 16):
            if place + length < len(edges):
                yield edge, edges[place + length]


def _event(shape: Shape, box: Box) -> Event:
    conditions = []
    for place, (low, high) in enumerate(box):
        weights = ((place, Fraction(1)),)
        if low == high:
            conditions.append(Condition(weights, "==", Fraction(low)))
            continue
        if low != -math.inf:
            conditions.append(Condition(weights, ">=", Fraction(low)))
        if high != math.inf:
            conditions.append(Condition(weights, "<=", Fraction(high)))
    return Event(shape, tuple(conditions))


def _end(value: Any, side: int) -> float:
    """An end as a float; of an open range a little inside it, so that neighbours do not touch."""
    if not isinstance(value, Range):
        return _float(value)
    end = _float(value.low if side < 0 else value.high)
    return end - side * 1e-9 * max(1.0, abs(end)) if value.open and abs(end) != math.inf else end


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _both(mass: Mass) -> float:
    return float(mass.sure + mass.unsure)
