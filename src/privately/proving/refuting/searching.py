"""Climbing to inputs and events that are much likelier for one neighbour: in floats, many candidates at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, Symbol, holds, terms_of
from privately.proving.paths.evaluating import Coin
from privately.proving.paths.events import Event
from privately.proving.paths.exploring import Exploration, Path
from privately.proving.paths.linear import point
from privately.proving.refuting.changes import Pair, Vector, moved
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.float_laws import Floats
from privately.proving.refuting.floating import FAR, Evaluation, FloatingPath, Names
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.templates import OPEN, Template, Window, centre_at, templates

LEAST = 1e-10
"""Events rarer than this are left alone: floats would mislead."""

NOISE = 2e-5
"""Differences of logarithms below this are not worth a change."""

CLIMBED = 8
MOST_TEMPLATES = 800
MOST_WAYS = 100
MOST_ROUNDS = 60
MOST_MOVES = 400
FAR_APART = 16
MANY_ENTRIES, MOST_AT_ONCE, FEW_MOVES = 12, 2, 40


@dataclass(frozen=True)
class Candidate:
    """Two inputs and the windows of an event."""

    left: Vector
    right: Vector
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Find:
    """What a search hands over: to be measured before anybody believes it."""

    score: float
    left: Vector
    right: Vector
    event: Event


def search(layout: Layout, left: Exploration, right: Exploration, deadline: Deadline) -> list[Find]:
    """The best candidates, best first; one for each event that was climbed for."""
    climbs: list[_Climb] = []
    looking = deadline.part(0.4)
    ways = {one: sum(one.possible(path) for path in left.paths) for one in templates(left.paths)}
    mixed = list(ways)
    Random(0).shuffle(mixed)  # noqa: S311 - any order will do, so that no kind of event waits for all others
    for template in sorted(mixed, key=lambda one: ways[one])[:MOST_TEMPLATES]:
        if looking.passed() or ways[template] > MOST_WAYS:
            break
        try:
            climb = _Climb(layout, left, right, template)
        except NotSupported:
            continue
        climb.start(left.paths)
        climbs.append(climb)
    finds = [find for climb in climbs[:1] for find in climb.at_once()]
    for climb in _unlike(climbs)[:CLIMBED]:
        climb.climb(deadline)
        if climb.best is not None:
            finds.append(climb.find(climb.best))
    return sorted(finds, key=lambda one: -one.score)


def _unlike(climbs: Iterable[_Climb]) -> list[_Climb]:
    """Best first; of events that begin equally well, such as one and its mirror image, one in every round."""
    rounds: dict[float, int] = {}
    placed: list[tuple[int, float, int, _Climb]] = []
    for number, climb in enumerate(climbs):
        score = round(climb.score, 6)
        placed.append((rounds.get(score, 0), -score, number, climb))
        rounds[score] = rounds.get(score, 0) + 1
    return [climb for *_, climb in sorted(placed)]


class _Climb:
    """One event, climbed from its best start by single changes."""

    def __init__(self, layout: Layout, left: Exploration, right: Exploration, template: Template) -> None:
        self.layout, self.template = layout, template
        self.names = layout.names(0), layout.names(1)
        first = _Side(left.paths, template, self.names[0])
        same = left is right and self.names[0] == self.names[1]
        self.sides = first, first if same else _Side(right.paths, template, self.names[1])
        self.assumptions = left.assumptions, right.assumptions
        self.score = -1.0
        self.best: Candidate | None = None

    def start(self, paths: Sequence[Path]) -> None:
        pairs = list(self.layout.starts())
        pairs = list(dict.fromkeys([*pairs, *_natural(self.layout, self.template, paths, pairs)]))
        self.take(
            [Candidate(left, right, windows) for left, right in pairs for windows in self.first_windows(left, right)]
        )

    def first_windows(self, left: Vector, right: Vector) -> Iterator[tuple[Window, ...]]:
        """No windows; each on the side where the first input lies; or one of them alone."""
        directions = self.template.directions
        yield (OPEN,) * len(directions)
        if not directions:
            return
        if self.names[0] == self.names[1]:
            inputs = [dict(zip(self.names[0], side, strict=True)) for side in (left, right)]
            yield tuple(_side(*(centre_at(direction, side) for side in inputs)) for direction in directions)
        yield tuple((None, -direction.width) for direction in directions)
        yield tuple((direction.width, None) for direction in directions)

    def at_once(self) -> Iterator[Find]:
        """Where entries are so many that each event is too rare for floats: every entry on the first input's side."""
        if len(self.template.directions) < MANY_ENTRIES or self.names[0] != self.names[1]:
            return
        pairs = [pair for pair in self.layout.starts() if self.allowed(Candidate(*pair, ()))]
        for left, right in pairs[:MOST_AT_ONCE]:
            inputs = [dict(zip(self.names[0], side, strict=True)) for side in (left, right)]
            windows = [
                _side(*(centre_at(direction, side) for side in inputs)) for direction in self.template.directions
            ]
            yield Find(math.inf, left, right, self.template.event(windows, inputs[0]))

    def climb(self, deadline: Deadline) -> None:
        """Take the best single change, as long as there is one."""
        size = MOST_MOVES if len(self.template.directions) < MANY_ENTRIES else FEW_MOVES
        for _ in range(MOST_ROUNDS):
            if self.best is None or deadline.passed():
                return
            before = self.score
            for batch in _batches(self.changes(self.best), size):
                self.take(batch)
                if deadline.passed():
                    return
            if self.score <= before + 1e-4 * abs(before):
                return

    def changes(self, best: Candidate) -> Iterator[Candidate]:
        for left, right in self.layout.moves((best.left, best.right)):
            yield Candidate(left, right, best.windows)
        for place, direction in enumerate(self.template.directions):
            for window in _windows(best.windows[place], direction.width, self.layout.steps()):
                yield Candidate(best.left, best.right, (*best.windows[:place], window, *best.windows[place + 1 :]))
        if self.names[0] == self.names[1]:
            yield from self.mirrored(best)

    def mirrored(self, best: Candidate) -> Iterator[Candidate]:
        """The neighbours the other way round, with windows on the other side: noise need not be symmetric."""
        directions = self.template.directions
        turned = tuple(_mirrored(window) for window in best.windows)
        yield Candidate(best.right, best.left, turned)
        for place, direction in enumerate(directions):
            for factor in (0, 1, 2, 4):
                for window in ((direction.width * factor, None), (None, -direction.width * factor)):
                    yield Candidate(best.right, best.left, (*turned[:place], window, *turned[place + 1 :]))

    def take(self, candidates: Sequence[Candidate]) -> None:
        """Keeps the best."""
        allowed = [one for one in candidates if self.allowed(one)]
        if not allowed:
            return
        bounds = np.array([self.bounds(one) for one in allowed]).reshape(len(allowed), -1)
        likely = [
            side.probabilities(np.hstack([np.array([getattr(one, word) for one in allowed], dtype=float), bounds]))
            for side, word in zip(self.sides, ("left", "right"), strict=True)
        ]
        scores = np.where(
            likely[0] > LEAST, np.log(np.maximum(likely[0], LEAST)) - np.log(np.maximum(likely[1], LEAST**1.2)), -1.0
        )
        # Floats are good to some 1e-4: of candidates that look alike the first, which is the plainest, is taken.
        top = int(np.argmax(scores >= scores.max() - NOISE))
        if scores[top] > self.score + NOISE:
            self.score, self.best = float(scores[top]), allowed[top]

    def allowed(self, candidate: Candidate) -> bool:
        """Whether both are inputs, neighbours, and meet what the program assumes."""
        sides = (candidate.left, candidate.right)
        if not self.layout.holds(sides):
            return False
        for names, vector, assumptions in zip(self.names, sides, self.assumptions, strict=True):
            values = dict(zip(names, vector, strict=True)) if assumptions else {}
            for one in assumptions:
                value = one.form.substituted(values)
                if not holds(value, one.relation):
                    return False
        return True

    def bounds(self, candidate: Candidate) -> list[float]:
        values = dict(zip(self.names[0], candidate.left, strict=True))
        found: list[float] = []
        for direction, (low, high) in zip(self.template.directions, candidate.windows, strict=True):
            centre = centre_at(direction, values) if (low, high) != OPEN else Fraction(0)
            found += [-FAR if low is None else float(centre + low), FAR if high is None else float(centre + high)]
        return found

    def find(self, best: Candidate) -> Find:
        inputs = dict(zip(self.names[0], best.left, strict=True))
        return Find(self.score, best.left, best.right, self.template.event(best.windows, inputs))


class _Side:
    """All paths on which an event can happen, for one of the two inputs."""

    def __init__(self, paths: Iterable[Path], template: Template, names: Sequence[str]) -> None:
        bounds = [f"{end}{number}" for number in range(len(template.directions)) for end in ("low", "high")]
        self.paths: list[tuple[float, FloatingPath]] = []
        shared = Names()
        for path in paths:
            wanted = template.on(path)
            if wanted is not None:
                weight = float(path.weight) * _coins(path.coins)
                floating = FloatingPath(path.noises, (*path.constraints, *wanted), (*names, *bounds), shared)
                self.paths.append((weight, floating))

    def probabilities(self, candidates: Floats) -> Floats:
        evaluation = Evaluation(candidates)
        total = np.zeros(len(candidates))
        for weight, path in self.paths:
            total += weight * path.probabilities(evaluation)
        return total


def _side(here: Fraction, there: Fraction) -> Window:
    """The half line on which the first input lies."""
    if here == there:
        return OPEN
    return (Fraction(0), None) if here > there else (None, Fraction(0))


def _mirrored(window: Window) -> Window:
    low, high = window
    return (None if high is None else -high), (None if low is None else -low)


def _coins(coins: Sequence[Coin]) -> float:
    chance = 1.0
    for exponent, heads in coins:
        chance *= float(np.exp(-float(exponent))) if heads else -float(np.expm1(-float(exponent)))
    return chance


def _natural(layout: Layout, template: Template, paths: Sequence[Path], pairs: Sequence[Pair]) -> list[Pair]:
    """Inputs for which a path is taken without noise, and neighbours that make it least likely."""
    quiet: list[Constraint] = list(layout.known(0))
    slopes: dict[Symbol, Fraction] = dict.fromkeys(layout.names(0), Fraction(0))
    for one in next(path for path in paths if template.possible(path)).constraints:
        still: dict[Symbol, Fraction] = {
            symbol: factor for symbol, factor in one.form.terms.items() if isinstance(symbol, str)
        }
        if still:
            quiet.append(Constraint(Affine(one.form.constant, still), one.relation))
            for symbol, factor in still.items():
                slopes[symbol] += factor
    bases = [(Fraction(0),) * len(layout.names(0))]
    start = point(quiet)
    found: list[Pair] = []
    if start is not None and any(start.values()):
        base = tuple(start.get(name, Fraction(0)) for name in layout.names(0))
        base = tuple(Fraction(round(value)) for value in base) if layout.whole else base
        # Where only unlikely noise leads onto a path, neighbours differ most.
        bases += [
            tuple(-factor * value for value in base) for width in layout.widths[-1:] for factor in (width, 2 * width)
        ]
        bases.append(base)
        if all(one.neighborhood.distance is not None for one in layout.slices):
            found += [(bases[-1], moved(bases[-1], moved(gap, zero, -1))) for zero, gap in pairs]
    if all(one.neighborhood.distance is not None for one in layout.slices):
        found += [
            (base, moved(base, moved(gap, zero, -1))) for base in _apart(layout, template, paths) for zero, gap in pairs
        ]
    down = _downhill(layout, [slopes[name] for name in layout.names(0)])
    if down is not None:
        found += [(base, moved(base, down, sign)) for base in bases for sign in (1, -1)]
    return found


def _apart(layout: Layout, template: Template, paths: Sequence[Path]) -> Iterator[Vector]:
    """Where several paths can end in the event: the one entry around which its window lies, far from all others."""
    if sum(template.possible(path) for path in paths) < 2:
        return
    for direction in template.directions:
        names = [name for name in layout.names(0) if name in terms_of(direction.centre)]
        if len(names) == 1 and len(layout.names(0)) > 1:
            for sign in (1, -1):
                far = sign * FAR_APART * max(layout.widths, default=Fraction(1))
                yield tuple(far if name == names[0] else Fraction(0) for name in layout.names(0))


def _downhill(layout: Layout, slopes: Sequence[Fraction]) -> Vector | None:
    """The gap that lowers all constraints most, if every entry may move on its own."""
    gaps: list[Fraction] = []
    for one in layout.slices:
        if one.neighborhood.change != "each" or one.neighborhood.distance is None:
            return None
        for place in range(one.length[0]):
            slope = slopes[one.start[0] + place]
            gaps.append(one.neighborhood.distance * ((slope < 0) - (slope > 0)))
    return tuple(gaps)


def _windows(window: Window, width: Fraction, steps: Sequence[Fraction]) -> Iterator[Window]:
    """Other windows, close to this one or plain."""
    offsets = sorted({Fraction(0), *steps, *(-one for one in steps), *(width * k for k in (-4, -2, -1, 1, 2, 4))})
    yield OPEN
    for offset in offsets:
        yield (offset, None)
        yield (None, offset)
        yield (offset, offset + width / 4)
        yield (offset, offset)
    low, high = window
    for offset in offsets:
        if low is not None:
            yield (low + offset, None if high is None else high + offset)
        elif high is not None:
            yield (low, high + offset)


def _batches(candidates: Iterator[Candidate], size: int) -> Iterator[list[Candidate]]:
    batch: list[Candidate] = []
    seen: set[Candidate] = set()
    for one in candidates:
        if one in seen:
            continue
        seen.add(one)
        batch.append(one)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
