"""Neighbours one by one, by laws of outputs between two ends: for programs that no list of paths describes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from privately.errors import NotSupported
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.paths.enclosing import Enclosed, TooMuchWork, enclosed_law, is_shapeless
from privately.proving.paths.events import Event, entries_of
from privately.proving.paths.measuring import log_ratio
from privately.proving.refuting.changes import Pair
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.tabulating import suggested
from privately.proving.refuting.witnesses import Comparison
from privately.rounding import Interval

LEVELS = ((64, 64), (64, 20), (32, 16), (8, 12))
"""Cells of a draw, and how rare is too rare, to begin with: the first that do not take too long."""

FINER, FINEST = (4, 2), 4_096
FIRST_REFINED, REFINED = 12, 2
TRIED = 3
GAIN = 1.003
GOOD = 0.999
PAIRS_SHARE = 0.6
LAW_SHARE = 0.25
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
    known = list(_started(desk, pairs, deadline.part(PAIRS_SHARE)))
    known.sort(key=lambda one: -one[0])
    known = _climbed(desk, known, deadline.part(PAIRS_SHARE))
    for _, _, comparison in known[:REFINED]:
        yield comparison
    level, last, refined = desk.level, known[0][0] if known else math.inf, FIRST_REFINED
    while last < math.inf and level[0] < FINEST and not deadline.passed():
        level, finer = _refined(desk, level, [pair for _, pair, _ in known[:refined]])
        yield from (comparison for _, _, comparison in finer)
        best = max((score for score, _, _ in finer), default=0.0)
        if best <= GAIN * max(last, 0.0):
            return
        known, last, refined = sorted(finer, key=lambda one: -one[0]), best, REFINED


_Found: TypeAlias = tuple[float, tuple[Layout, Pair], Comparison]
_Level: TypeAlias = tuple[int, int]


def _started(desk: _Desk, pairs: Iterable[tuple[Layout, Pair]], deadline: Deadline) -> Iterator[_Found]:
    for pair in pairs:
        if deadline.passed() or desk.hopeless:
            return
        for found in desk.compared(pair, desk.level):
            yield found
            if found[0] == math.inf:
                return


def _refined(desk: _Desk, level: _Level, pairs: Sequence[tuple[Layout, Pair]]) -> tuple[_Level, list[_Found]]:
    """The pairs with finer cells, as fine as time allows."""
    for factor in FINER:
        finer = (level[0] * factor, level[1])
        if pairs and desk.compared(pairs[0], finer):
            return finer, [found for pair in pairs for found in desk.compared(pair, finer)]
    return level, []


def _climbed(desk: _Desk, known: list[_Found], deadline: Deadline) -> list[_Found]:
    """The best first, and in front of it what is a step away and better, as long as there is something."""
    while known and known[0][0] < math.inf:
        score, (near, pair), _ = known[0]
        steps = ((near, other) for other in near.moves(pair) if near.holds(other))
        better = max(_started(desk, steps, deadline), key=lambda one: one[0], default=None)
        if better is None or better[0] <= GAIN * score:
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
    start: int = 0
    laws: dict[tuple[object, _Level], Enclosed | None] = field(default_factory=dict)

    @property
    def hopeless(self) -> bool:
        """Whether all that was tried took too long."""
        return self.start == len(LEVELS)

    @property
    def level(self) -> _Level:
        """Where to begin."""
        return LEVELS[min(self.start, len(LEVELS) - 1)]

    def law(self, given: Mapping[str, Value], level: _Level) -> Enclosed | None:
        key = (tuple(given.items()), level)
        if key not in self.laws:
            self.laws[key] = None
            late = self.deadline.part(LAW_SHARE).passed
            inputs = {**self.public, **given}
            try:
                law = enclosed_law(self.program, inputs, fineness=level[0], smallest=level[1], too_late=late)
                self.laws[key] = _of_few_entries(law)
            except TooMuchWork:
                if not self.hopeless and level == self.level:
                    self.start += 1
                    return None if self.hopeless else self.law(given, self.level)
            except NotSupported:
                pass
        return self.laws[key]

    def compared(self, pair: tuple[Layout, Pair], level: _Level) -> list[_Found]:
        """The best of what these two give, if their laws can be had so finely."""
        near, vectors = pair
        inputs = near.concrete(0, vectors[0]), near.concrete(1, vectors[1])
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
