"""The refuter: looks for two neighbours and an event that break a claim, and measures what it finds.

1. All paths of the program with its inputs left open; for programs that do not allow it, with inputs one by one.
2. Outputs that only one neighbour can give (supports.py): no epsilon holds.
3. Climbing in floats to unlikely-for-one events (searching.py).
4. Measuring the best finds with balls, the paths explored anew for these very inputs. Only this counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from privately.errors import NotSupported
from privately.proving.language.declarations import Neighborhood
from privately.proving.language.program import Parameter, Program
from privately.proving.language.syntax import Value
from privately.proving.paths.affine import Affine, NotAffine
from privately.proving.paths.events import Event, entries_of, event_probability, exactly
from privately.proving.paths.exploring import Exploration, NoOutput, Path, TooManyPaths, explore, some_paths
from privately.proving.paths.growing import growing, leading_to
from privately.proving.paths.measuring import interval, log_ratio
from privately.proving.paths.merging import merged
from privately.proving.refuting.assuming import NoNeighbors, assumed_pairs, meets
from privately.proving.refuting.changes import Pair
from privately.proving.refuting.climbing import Find
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.enclosed import enclosed_comparisons
from privately.proving.refuting.neighbors import Layout, layout
from privately.proving.refuting.searching import search
from privately.proving.refuting.supports import mismatches
from privately.proving.refuting.trimming import trimmed
from privately.proving.refuting.witnesses import Comparison, Counterexample, LowerBound
from privately.rounding import End, Interval

Public: TypeAlias = Mapping[str, Value | Callable[[int], Value]]
"""The public parameters; a function gives the value for lists of that length."""

SIZES = (0, 1, 2, 3, 4, 5, 6)
BUDGET = 8.0
"""Seconds of CPU for all of it."""

LONGEST = 400
"""Entries of a list, for a search."""

MEASURED = 5
MOST_OPEN_PATHS = 800
SAMPLED_PATHS = 60
MERGED_ABOVE = 64
CLOSE = 1e-3
SUPPORT_SHARE = 0.3
EXPLORING_SHARE = 0.3
SEARCH_SHARE, ENCLOSING_SHARE = 0.625, 0.96
"""When the search ends, and when enclosing; what is left is for measuring what was found."""

LATER_SHARE = 0.2
LONGER_SHARE = 0.6
FARTHEST_STEP = 12
FAINTEST = Fraction(1, 10**300)
MOST_VAIN = 3
STRETCH_SHARE = 0.2
MOST_PAIRS = 400
MOST_KNOWN = 8
MOST_REFUSALS = 8
SOME_REPEATED, MOST_REPEATED = 12, 4
REPEATED = (2, 16)
"""How often an entry is repeated, where nothing bounds how long a list is."""


def refute(
    program: Program,
    claim: Fraction | Interval,
    *,
    public: Public,
    neighborhoods: Mapping[str, Neighborhood] | None = None,
    sizes: Sequence[int] = SIZES,
    budget: float = BUDGET,
) -> Counterexample | LowerBound:
    """A certified witness against `claim`, or the best certified lower bound on epsilon that was found in `budget`
    seconds of CPU time.

    Theorem: the epsilon of what is returned is at most the logarithm of P(event | first) / P(event | second), so every
    epsilon for which the program is private, pure, is at least that.
    Reference: Dwork-McSherry-Nissim-Smith 2006, definition 1
    Proof: docs/theory/refuting.md#witnesses
    Checked-by: tests/proving/refuting/test_refuting.py::test_right_programs_are_never_refuted
    """
    allowed = claim.upper if isinstance(claim, Interval) else Fraction(claim)
    hunt = _Hunt(program, public, neighborhoods or {}, Deadline(budget))
    lengths = sorted(one for one in sizes if one <= LONGEST) if any(map(hunt.has_any_length, program.private)) else [1]
    if not lengths:
        return LowerBound(best=None, notes=(f"lists of more than {LONGEST} entries are not searched.",))
    if lengths[0] == 0 < lengths[-1]:
        hunt.look_at_nothing()
        lengths = lengths[1:]
    if all(hunt.near(length) is None for length in lengths):
        if tuple(sizes) != SIZES or lengths == [1]:
            raise NoNeighbors
        return LowerBound(best=None, notes=("no short lists meet the assumptions.",))
    looking = hunt.deadline.part(SUPPORT_SHARE)
    shortest, *longer = lengths
    with hunt.in_floats():
        hunt.supports(shortest, looking)
        hunt.climb(shortest, hunt.deadline.part(LATER_SHARE if longer else 1.0))
        for length in longer:
            hunt.supports(length, looking)
        for length in reversed(longer):  # the longest need not lose most: a mean of few moves farther
            later = hunt.has_broken(allowed) and length != max(lengths)
            hunt.climb(length, hunt.deadline.part(LATER_SHARE if later else LONGER_SHARE))
    refused = hunt.refused or hunt.best is None or hunt.best.epsilon.lower <= 0
    hunt.stretch(allowed)
    if refused:
        if hunt.has_broken(allowed):
            hunt.enclosing = hunt.enclosing.part(LATER_SHARE)
        for length in lengths:
            hunt.enclose(length)
    return hunt.verdict(allowed)


@dataclass
class _Setting:
    """One length of lists: the neighbours, both ways round, and all paths for each side (None: inputs are concrete)."""

    public: dict[str, Value]
    layouts: tuple[Layout, ...]
    sides: tuple[Exploration, Exploration] | None
    partial: bool = False
    """Whether these are some of the paths only: good for looking, not for what cannot happen."""

    def ways(self) -> Iterator[tuple[Layout, Exploration, Exploration]]:
        """Each way round, with the paths of its two sides."""
        if self.sides is not None:
            for turn, near in enumerate(self.layouts):
                yield near, self.sides[turn], self.sides[1 - turn]


class _Hunt:
    """One refutation, and the best it has found."""

    def __init__(
        self,
        program: Program,
        public: Public,
        neighborhoods: Mapping[str, Neighborhood],
        deadline: Deadline,
    ) -> None:
        self.asked, self.public, self.neighborhoods, self.end = program, public, neighborhoods, deadline
        self.program = trimmed(program, public)
        self.deadline = deadline.part(SEARCH_SHARE)
        self.enclosing = deadline.part(ENCLOSING_SHARE)
        self.best: Comparison | None = None
        self.origin: tuple[_Setting, Layout, Pair] | None = None
        self.notes: list[str] = []
        self.settings: dict[int, _Setting | None] = {}
        self.layouts: dict[int, Layout | None] = {}
        self.known_paths: dict[object, Sequence[Path]] = {}
        self.too_many: set[tuple[tuple[str, Value], ...]] = set()
        self.grows = growing(self.program)
        self.refused = False

    def has_broken(self, allowed: End) -> bool:
        """Whether the best so far is above that."""
        return self.best is not None and self.best.epsilon.lower > allowed

    def has_any_length(self, parameter: Parameter) -> bool:
        """Whether it is a list whose length nothing fixes."""
        near = self.neighborhoods.get(parameter.name, parameter.neighborhood)
        return parameter.is_list and (near is None or near.domain is None or near.domain.length is None)

    def setting(self, length: int) -> _Setting | None:
        if length not in self.settings:
            try:
                self.settings[length] = self.prepared(length)
            except NoOutput:
                raise
            except NotSupported as error:
                self.refused = True
                self.notes.append(f"length {length}: {error.message}")
                self.settings[length] = None
        return self.settings[length]

    def values(self, length: int) -> dict[str, Value]:
        """The public parameters, for lists of that length."""
        return {name: value(length) if callable(value) else value for name, value in self.public.items()}

    def near(self, length: int) -> Layout | None:
        """How neighbours lie; None if none of that length meet the assumptions."""
        if length not in self.layouts:
            public = self.values(length)
            near = layout(self.program, self.neighborhoods, length, public)
            if self.program.assumptions:
                near = replace(near, meets=partial(meets, self.program, public))
                try:
                    self.layouts[length] = replace(near, models=assumed_pairs(self.program, public, near))
                except NoNeighbors:
                    self.layouts[length] = None
            else:
                self.layouts[length] = near
        return self.layouts[length]

    def prepared(self, length: int) -> _Setting:
        values, near = self.values(length), self.near(length)
        if near is None:
            raise NoNeighbors
        some = False
        try:
            sides = tuple(self.explored(near, side, values) for side in range(1 if near.balanced else 2))
        except (NotAffine, TooManyPaths) as error:
            self.notes.append(f"length {length}, inputs open: {error.message}")
            sides = self.sampled(near, values) if isinstance(error, TooManyPaths) and self.grows is not None else ()
            some = bool(sides)
            if not sides:
                return _Setting(values, (near,) if near.balanced else (near, near.backwards()), None)
        wide = near.with_widths(
            {noise.scale for side in sides for path in side.paths for noise in path.noises if noise.scale < 1000}
        )
        if near.balanced:
            return _Setting(values, (wide,), (sides[0], sides[0]), partial=some)
        return _Setting(values, (wide, wide.backwards()), (sides[0], sides[1]), partial=some)

    def sampled(self, near: Layout, public: Mapping[str, Value]) -> tuple[Exploration, ...]:
        """Some of the paths of each side, where there are too many; nothing if not even that."""
        late = self.deadline.part(EXPLORING_SHARE).passed
        try:
            return tuple(
                some_paths(self.program, {**public, **near.symbolic(side)}, near.known(side), SAMPLED_PATHS, late)
                for side in range(1 if near.balanced else 2)
            )
        except NotSupported as error:
            self.notes.append(error.message)
            return ()

    def explored(self, near: Layout, side: int, public: Mapping[str, Value]) -> Exploration:
        known = near.known(side)
        found = explore(
            self.program,
            {**public, **near.symbolic(side)},
            known=known,
            most_paths=MOST_OPEN_PATHS,
            too_late=self.deadline.part(EXPLORING_SHARE).passed,
        )
        return Exploration(merged(found.paths, known), found.assumptions)

    def look_at_nothing(self) -> None:
        """Lists without entries, which an entry may be added to. What a program cannot do with them is forgiven."""
        changes = [self.neighborhoods.get(one.name, one.neighborhood) for one in self.program.private]
        if len(changes) == 1 and (changes[0] is None or changes[0].change != "added"):
            return
        refused, notes = self.refused, list(self.notes)
        with suppress(NotSupported), self.in_floats():
            self.supports(0, self.deadline.part(LATER_SHARE))
            self.climb(0, self.deadline.part(LATER_SHARE))
        self.refused, self.notes = refused, notes

    @contextmanager
    def in_floats(self) -> Iterator[None]:
        """In which numbers that no float holds end the search, and nothing else."""
        try:
            yield
        except OverflowError:
            self.refused = True
            self.notes.append("there are numbers that no float holds.")

    def supports(self, length: int, deadline: Deadline) -> None:
        """Looks for outputs that one neighbour cannot give."""
        finished = self.best is not None and self.best.infinite
        setting = None if finished or deadline.passed() else self.setting(length)
        if setting is None or setting.partial:
            return
        for near, left, right in setting.ways():
            for x, y, event in mismatches(near, left, right, deadline):
                self.measure(setting, near, (x, y), event)
                if self.best is not None and self.best.infinite:
                    return

    def climb(self, length: int, deadline: Deadline) -> None:
        """Looks for events that are much likelier for one neighbour."""
        finished = self.best is not None and self.best.infinite
        setting = None if finished or deadline.passed() else self.setting(length)
        if setting is None:
            return
        found = False
        for near, left, right in setting.ways():
            for find in search(near, left, right, deadline)[:MEASURED]:
                found = True
                if self.worthwhile(find):
                    self.measure(setting, near, (find.left, find.right), find.event)
        if setting.sides is None or any(_shows_inputs(path) for side in setting.sides for path in side.paths):
            self.one_by_one(setting, deadline)
        elif not found:
            self.refused = True
            self.one_by_one(setting, deadline.part(LATER_SHARE))

    def worthwhile(self, find: Find) -> bool:
        return self.best is None or find.score > float(self.best.epsilon.lower) + CLOSE

    def one_by_one(self, setting: _Setting, deadline: Deadline) -> None:
        """Programs that use inputs in ways that are not affine: neighbours one by one, their events climbed for."""
        for near in setting.layouts:
            for pair in filter(near.holds, _some(near)):
                if deadline.passed() or not self.compare(setting, near, pair, deadline):
                    return
        tried: set[Pair] = set()
        while self.best is not None and self.origin is not None and self.origin[0] is setting:
            _, near, pair = self.origin
            if pair in tried:
                return
            tried.add(pair)
            for other in filter(near.holds, near.moves(pair)):
                if self.best.infinite or deadline.passed():
                    return
                self.compare(setting, near, other, deadline)

    def compare(self, setting: _Setting, near: Layout, pair: Pair, deadline: Deadline) -> bool:
        """Whether there is a point in comparing others."""
        inputs = [{**setting.public, **near.concrete(side, pair[side])} for side in (0, 1)]
        late = deadline.part(EXPLORING_SHARE).passed
        try:
            sides = [explore(self.program, given, most_paths=MOST_OPEN_PATHS, too_late=late) for given in inputs]
        except TooManyPaths as error:
            self.refused = True
            self.notes.append(error.message)
            return self.grows is not None and self.repeat(setting, near, pair, inputs)
        except NotSupported as error:
            self.refused = True
            self.notes.append(error.message)
            return len(self.notes) < MOST_REFUSALS
        fixed = Layout((), near.whole, near.widths)
        for find in search(fixed, sides[0], sides[1], deadline)[:MEASURED]:
            if self.worthwhile(find):
                self.measure(setting, near, pair, find.event)
        return True

    def repeat(self, setting: _Setting, near: Layout, pair: Pair, inputs: Sequence[Mapping[str, Value]]) -> bool:
        """Where lists grow without end: the same entry many times. Whether that could be measured."""
        late = self.deadline.part(EXPLORING_SHARE).passed
        try:
            ways = [way for given in inputs for way in some_paths(self.program, given, (), SOME_REPEATED, late).paths]
        except NotSupported:
            return False
        seen = dict.fromkeys(entry for way in ways for entry in entries_of(way.output) if not isinstance(entry, Affine))
        for entry in list(seen)[:MOST_REPEATED]:
            for length in REPEATED:
                self.measure(setting, near, pair, exactly((entry,) * length))
        return self.best is not None and not self.deadline.part(LATER_SHARE).passed()

    def stretch(self, allowed: End) -> None:
        """Pushes the half lines of the best event outwards, to where floats could not look.

        Nobody ever sees events so far out, so they are no better witnesses against a claim that is broken already.
        """
        vain = 0
        for step in range(FARTHEST_STEP):
            if self.best is None or self.origin is None or self.best.infinite or vain == MOST_VAIN:
                return
            before = self.best
            for event in before.event.stretched(Fraction(2**step)):
                share = self.deadline.part(STRETCH_SHARE)
                self.measure(*self.origin, event)
                if self.best.neighbor_probability.upper < FAINTEST and before.epsilon.lower > allowed:
                    self.best = before
                    return
                if share.passed():  # the next step may take many times as long
                    return
            vain = vain + 1 if float(self.best.epsilon.lower) < 1.001 * float(before.epsilon.lower) else 0

    def measure(self, setting: _Setting, near: Layout, pair: Pair, event: Event) -> None:
        """Balls around both probabilities, from paths for these inputs alone."""
        if not near.holds(pair) or (self.best is not None and self.deadline.passed()):
            return
        inputs = near.concrete(0, pair[0]), near.concrete(1, pair[1])
        try:
            ways = [self.paths({**setting.public, **given}, event, too_many=setting.partial) for given in inputs]
            chances = [event_probability(paths, event, too_late=self.end.passed) for paths in ways]
        except NotSupported as error:
            self.refused = True
            self.notes.append(error.message)
            return
        if chances[0].is_zero():
            return
        first, second = map(interval, chances)
        if first.lower == 0:
            return
        epsilon = Interval(math.inf, math.inf) if chances[1].is_zero() else log_ratio(first, second)
        if self.best is None or epsilon.lower > self.best.epsilon.lower:
            self.origin = (setting, near, pair)
            self.best = Comparison(
                program=self.asked,
                public=setting.public,
                inputs=inputs[0],
                neighbor=inputs[1],
                event=event,
                probability=first,
                neighbor_probability=second,
                epsilon=epsilon,
            )

    def enclose(self, length: int) -> None:
        """Looks at laws between two ends, where paths were refused."""
        if (self.best is not None and self.best.infinite) or self.enclosing.passed():
            return
        values, near = self.values(length), self.near(length)
        if near is None:
            return
        ways = (near,) if near.balanced else (near, near.backwards())
        pairs = ((way, pair) for way in ways for pair in _some(way) if way.holds(pair))
        found = enclosed_comparisons(self.program, values, pairs, self.enclosing)
        for one in found:
            if self.best is None or one.epsilon.lower > self.best.epsilon.lower:
                self.best, self.origin = replace(one, program=self.asked), None

    def paths(self, given: Mapping[str, Value], event: Event, *, too_many: bool = False) -> Sequence[Path]:
        """All paths for these inputs that may end in the event; those of the last few inputs are at hand."""
        key = tuple(given.items())
        found = self.known_paths.get(key)
        if found is not None:
            return found
        if too_many or key in self.too_many or event.constants:
            pruned = self.paths_to(event, given)
            if pruned is not None:
                return pruned
        if too_many or key in self.too_many:
            raise TooManyPaths("more paths than are followed.")
        try:
            all_of_them = explore(self.program, given, too_late=self.end.part(EXPLORING_SHARE).passed).paths
        except TooManyPaths:
            self.too_many.add(key)
            return self.paths(given, event)
        return self.kept(key, merged(all_of_them) if len(all_of_them) > MERGED_ABOVE else all_of_them)

    def paths_to(self, event: Event, given: Mapping[str, Value]) -> Sequence[Path] | None:
        """Only paths whose output can be what the event wants, where outputs grow."""
        wanted = None if self.grows is None else leading_to(event, self.grows)
        if wanted is None:
            return None
        key = (tuple(given.items()), event.shape, tuple(event.constants.items()))
        found = self.known_paths.get(key)
        if found is not None:
            return found
        return self.kept(key, explore(self.program, given, too_late=self.end.passed, wanted=wanted).paths)

    def kept(self, key: object, paths: Sequence[Path]) -> Sequence[Path]:
        while len(self.known_paths) >= MOST_KNOWN:
            self.known_paths.pop(next(iter(self.known_paths)))
        self.known_paths[key] = paths
        return paths

    def verdict(self, allowed: End) -> Counterexample | LowerBound:
        best = self.best
        if best is not None and best.epsilon.lower > allowed:
            return Counterexample(**{name: getattr(best, name) for name in Comparison.__dataclass_fields__})
        return LowerBound(best=best, notes=tuple(dict.fromkeys(self.notes)))


def _shows_inputs(path: Path) -> bool:
    """Whether an entry of the output is made of inputs without noise: which constants are seen depends on them."""
    return any(
        isinstance(entry, Affine) and not any(isinstance(symbol, int) for symbol in entry.terms)
        for entry in entries_of(path.output)
    )


def _some(near: Layout) -> Iterator[Pair]:
    """Neighbours one by one: the starts, both ways round if that is possible, then what is a step away from them."""
    seen: dict[Pair, None] = {}
    for pair in near.starts():
        for one in (pair, pair[::-1]) if near.balanced else (pair,):
            if one not in seen:
                seen[one] = None
                yield one
    for pair in list(seen):
        for other in near.moves(pair):
            if other not in seen and len(seen) < MOST_PAIRS:
                seen[other] = None
                yield other
