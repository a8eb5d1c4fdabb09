"""Neighbours one by one, by laws of outputs between two ends: for programs that no list of paths describes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import log2
from statistics import fmean
from time import thread_time
from typing import TypeAlias

from privately.errors import NotSupported
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.paths.enclosing import TooMuchWork, enclosed_law
from privately.proving.paths.events import Event, entries_of
from privately.proving.paths.masses import Enclosed, is_shapeless
from privately.proving.paths.measuring import log_ratio
from privately.proving.refuting.changes import Pair
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.tabulating import suggested
from privately.proving.refuting.witnesses import Comparison
from privately.rounding import Interval

LEVELS = ((8, 12), (16, 16), (32, 20), (32, 25), (64, 25), (64, 64))
FINER = ((128, 64), (256, 64), (512, 64), (1_024, 64), (2_048, 64), (4_096, 64))
"""Cells of a draw, and how rare is too rare. Neighbours are looked for with cells as fine as take next to no time, and
the best of them are looked at again with finer ones."""

ALL_LEVELS = (*LEVELS, *FINER)

QUICK = 0.002
AT_ONCE, ONE_STEP, CAUTION = 3, 2, 2
"""Levels that are gone up at once, and how much longer more than one step may take than expected."""

DEAREST, USUAL, CHEAPEST = 2.5, 2.0, 1.0
"""Powers of the fineness that a law may take, until two levels tell."""

RARE_ENOUGH = 25
RARER = 1.25
"""How much finer it counts if rarer states are followed, too."""

FIRST_REFINED, REFINED = 6, 2
TRIED = 3
DIGITS = 6
GAIN = 1.003
LEAP = 1.05
GOOD = 0.999
FIRST_SHARE, CLIMBING_SHARE, OTHERS_SHARE = 0.15, 0.3, 0.1
MANY_SHARE, FEW_SHARE, LAWS_OF_A_PAIR = 0.4, 0.9, 2.5
"""A pair takes two laws, and some time to look at them."""

LAW_SHARE = 0.6
MOST_ENTRIES = 100_000
"""Of all outputs of a law together: an event asks about each entry of each."""


def enclosed_comparisons(
    program: Program, public: Mapping[str, Value], pairs: Iterable[tuple[Layout, Pair]], deadline: Deadline
) -> Iterator[Comparison]:
    """Measured comparisons; the best pairs are looked at again with finer cells.

    Theorem: the epsilon of each is at most the logarithm of P(event | inputs) / P(event | neighbor).
    Reference: Dwork-McSherry-Nissim-Smith 2006, definition 1
    Proof: docs/theory/refuting.md#cells
    Checked-by: tests/proving/refuting/test_enclosed.py::test_right_programs_never_lose_more_than_they_may
    """
    desk = _Desk(program, public, deadline)
    waiting = iter(pairs)
    known = _sorted(_started(desk, waiting, deadline.part(FIRST_SHARE)))
    known = _climbed(desk, known, deadline.part(CLIMBING_SHARE))
    if not _is_infinite(known):
        known = _sorted([*known, *_started(desk, waiting, deadline.part(OTHERS_SHARE))])
        known = _climbed(desk, known, deadline.part(OTHERS_SHARE))
    for _, _, comparison in known[:REFINED]:
        yield comparison
    most = FIRST_REFINED
    while known and not _is_infinite(known):
        known = _unlike(known)
        most = min(most, len(known))
        refined = next(filter(desk.refine, (count for count in (most, REFINED, 1) if count <= most)), None)
        if refined is None:
            return
        finer = _sorted(found for _, pair, _ in known[:refined] for found in desk.compared(pair, desk.level))
        if not finer:
            desk.give_up()
            continue
        finer = _climbed(desk, finer, deadline.part(CLIMBING_SHARE)) if desk.is_quick else finer
        yield from (comparison for _, _, comparison in finer[:REFINED])
        if desk.level[0] > LEVELS[-1][0] and finer[0][0] <= GAIN * known[0][0]:
            return
        known, most = finer, REFINED


_Found: TypeAlias = tuple[float, tuple[Layout, Pair], Comparison]
_Level: TypeAlias = tuple[int, int]


def _sorted(found: Iterable[_Found]) -> list[_Found]:
    """Best first."""
    return sorted(found, key=lambda one: -one[0])


def _unlike(known: Sequence[_Found]) -> list[_Found]:
    """One of each score: neighbours of which one is the other's mirror image, or moved, lose the same."""
    return list({round(one[0], DIGITS): one for one in reversed(known)}.values())[::-1]


def _is_infinite(known: Sequence[_Found]) -> bool:
    return bool(known) and known[0][0] == math.inf


def _started(desk: _Desk, pairs: Iterator[tuple[Layout, Pair]], deadline: Deadline) -> Iterator[_Found]:
    while not deadline.passed() and not desk.hopeless:
        pair = next(pairs, None)
        if pair is None:
            return
        for found in desk.compared(pair, desk.level):
            yield found
            if found[0] == math.inf:
                return


def _climbed(desk: _Desk, known: list[_Found], deadline: Deadline) -> list[_Found]:
    """The best first, and in front of it what is a step away and better, as long as there is something."""
    while known and not _is_infinite(known) and not deadline.passed():
        score, (near, pair), _ = known[0]
        steps = ((near, other) for other in near.moves(pair) if near.holds(other))
        better: _Found | None = None
        for found in _started(desk, steps, deadline):
            if better is None or found[0] > better[0]:
                better = found
            if better[0] > max(LEAP * score, score + LEAP - 1):
                break
        if better is None or better[0] <= max(GAIN * score, score + GAIN - 1):
            break
        known.insert(0, better)
    return known


def _of_few_entries(law: Enclosed) -> Enclosed:
    if sum(len(entries_of(output)) for output in law.outputs if not is_shapeless(output)) > MOST_ENTRIES:
        raise TooMuchWork("more entries than are looked at.", hint="Take smaller inputs.")
    return law


@dataclass
class _Desk:
    """Laws that were computed, and how finely draws can be cut."""

    program: Program
    public: Mapping[str, Value]
    deadline: Deadline
    place: int = 0
    highest: int = len(ALL_LEVELS) - 1
    hopeless: bool = False
    begun: bool = False
    laws: dict[tuple[object, _Level], Enclosed | None] = field(default_factory=dict)
    times: dict[_Level, list[float]] = field(default_factory=dict)
    known: dict[tuple[Pair, _Level], list[_Found]] = field(default_factory=dict)

    @property
    def level(self) -> _Level:
        """How finely draws are cut at present."""
        return ALL_LEVELS[self.place]

    def seconds(self, level: _Level) -> float | None:
        """How long a law takes, as far as that is known."""
        return fmean(self.times[level]) if level in self.times else None

    @property
    def is_quick(self) -> bool:
        """Whether many more neighbours can be compared like this."""
        return (self.seconds(self.level) or 0.0) < QUICK * self.deadline.left

    def begin(self, given: Mapping[str, Value]) -> None:
        """Goes up as long as laws take next to no time."""
        self.begun = True
        while self.law(given, self.level) is not None and self.place < len(LEVELS) - 1 and self.is_quick:
            self.place += 1
        if self.place and (self.law(given, self.level) is None or not self.is_quick):
            self.place -= 1
        self.hopeless = self.law(given, self.level) is None

    def refine(self, pairs: int) -> bool:
        """Goes up as far as so many pairs can be compared in the time that is left; False if that is nowhere."""
        left = (FEW_SHARE if pairs == 1 else MANY_SHARE) * self.deadline.left
        for place in range(min(self.place + AT_ONCE, self.highest), self.place, -1):
            finer = ALL_LEVELS[place][0] / self.level[0]
            if finer == 1 and self.level[1] >= RARE_ENOUGH:
                continue
            caution = CAUTION if finer > ONE_STEP else 1
            if LAWS_OF_A_PAIR * pairs * self.expected(ALL_LEVELS[place]) * caution < left:
                self.place = place
                return True
        return False

    def give_up(self) -> None:
        """Goes back, and never so far again."""
        self.highest = self.place - 1
        self.place = max(place for place in range(self.place) if ALL_LEVELS[place] in self.times)

    def expected(self, level: _Level) -> float:
        """How long a law may take with finer cells."""
        known = self.seconds(level)
        if known is not None:
            return known
        now, before = self.seconds(self.level) or 0.0, self.seconds(ALL_LEVELS[max(self.place - 1, 0)])
        growth = min(max(log2(now / before), CHEAPEST), DEAREST) if before and before < now else USUAL
        finer = level[0] / self.level[0] * (RARER if level[1] > self.level[1] < RARE_ENOUGH else 1)
        return float(now * finer**growth)

    def law(self, given: Mapping[str, Value], level: _Level) -> Enclosed | None:
        key = (tuple(given.items()), level)
        if key not in self.laws:
            self.laws[key] = None
            late = self.deadline.part(LAW_SHARE).passed
            inputs = {**self.public, **given}
            start = thread_time()
            with suppress(NotSupported):
                law = enclosed_law(self.program, inputs, fineness=level[0], smallest=level[1], too_late=late)
                self.laws[key] = _of_few_entries(law)
            self.times.setdefault(level, []).append(thread_time() - start)
        return self.laws[key]

    def compared(self, pair: tuple[Layout, Pair], level: _Level) -> list[_Found]:
        """The best of what these two give, if their laws can be had so finely."""
        near, vectors = pair
        inputs = near.concrete(0, vectors[0]), near.concrete(1, vectors[1])
        if not self.begun:
            self.begin(inputs[0])
            level = self.level
        key = vectors, level
        if key not in self.known:
            self.known[key] = self.best_of(pair, inputs, level)
        return self.known[key]

    def best_of(
        self, pair: tuple[Layout, Pair], inputs: tuple[dict[str, Value], dict[str, Value]], level: _Level
    ) -> list[_Found]:
        here, there = (self.law(given, level) for given in inputs)
        if here is None or there is None:
            return []
        best: Comparison | None = None
        for score, event in suggested(here, there, TRIED):
            found = self.measured(inputs, (here, there), event)
            if found is not None and (best is None or found.epsilon.lower > best.epsilon.lower):
                best = found
            if best is not None and float(best.epsilon.lower) > GOOD * score:
                break
        return [] if best is None else [(float(best.epsilon.lower), pair, best)]

    def measured(
        self, inputs: tuple[dict[str, Value], dict[str, Value]], laws: tuple[Enclosed, Enclosed], event: Event
    ) -> Comparison | None:
        first, second = (law.probability(event) for law in laws)
        if first.lower == 0:
            return None
        epsilon = Interval(math.inf, math.inf) if second.upper == 0 else log_ratio(first, second)
        return Comparison(
            program=self.program,
            public=self.public,
            inputs=inputs[0],
            neighbor=inputs[1],
            event=event,
            probability=first,
            neighbor_probability=second,
            epsilon=epsilon,
        )
