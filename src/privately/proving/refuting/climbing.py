"""One event, climbed for from its best start by single changes: in floats, many candidates at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TypeAlias

import numpy as np

from privately.proving.paths.affine import constant_of, holds, terms_of
from privately.proving.paths.evaluating import Coin
from privately.proving.paths.events import Event
from privately.proving.paths.exploring import Exploration, Path
from privately.proving.refuting.changes import Pair, Vector
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.float_laws import Floats
from privately.proving.refuting.floating import FAR, FloatingPath, Names
from privately.proving.refuting.mixtures import Mixed
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.starting import natural
from privately.proving.refuting.templates import OPEN, Reach, Template, Window, centre_at

LEAST = 1e-10
"""Events rarer than this are left alone: floats would mislead."""

NOISE = 2e-5
"""Differences of logarithms below this are not worth a change."""

MOST_ROUNDS = 60
MOST_MOVES = 400
MANY_ENTRIES, MOST_AT_ONCE, FEW_MOVES = 12, 2, 40

Windows: TypeAlias = tuple[Window, ...]
Candidate: TypeAlias = tuple[Pair, Windows]
"""Two inputs and the windows of an event."""


@dataclass(frozen=True)
class Find:
    """What a search hands over: to be measured before anybody believes it."""

    score: float
    left: Vector
    right: Vector
    event: Event


class Ground:
    """What all climbs share: the neighbours, the paths of both sides, and where a search begins."""

    def __init__(self, layout: Layout, left: Exploration, right: Exploration) -> None:
        self.layout = layout
        self.names = layout.names(0), layout.names(1)
        self.balanced = self.names[0] == self.names[1]
        self.same = left is right and self.balanced
        here = Reach(left.paths)
        self.reach = here, here if left is right else Reach(right.paths)
        self.assumptions = left.assumptions, right.assumptions
        self.pairs = list(dict.fromkeys(layout.starts()))
        self.starts = [pair for pair in self.pairs if self.allowed(pair)]

    def allowed(self, pair: Pair) -> bool:
        """Whether both are inputs, neighbours, and meet what the program assumes."""
        if not self.layout.holds(pair):
            return False
        for names, vector, assumptions in zip(self.names, pair, self.assumptions, strict=True):
            values = dict(zip(names, vector, strict=True)) if assumptions else {}
            if not all(holds(one.form.substituted(values), one.relation) for one in assumptions):
                return False
        return True


class Climb:
    """The best that was found for one event."""

    def __init__(self, ground: Ground, template: Template) -> None:
        self.ground, self.layout, self.template = ground, ground.layout, template
        first = _Side(ground.reach[0].paths(template), template, ground.names[0])
        self.sides = (
            first,
            first if ground.same else _Side(ground.reach[1].paths(template), template, ground.names[1]),
        )
        self.slopes, self.heights = _centres(template, ground.names[0])
        self.score = -1.0
        self.best: Candidate | None = None

    def start(self) -> None:
        """Takes the best of many starts."""
        ground = self.ground
        suited = natural(self.layout, self.template, ground.reach[0].paths(self.template), ground.pairs)
        known = set(ground.pairs)
        pairs = [pair for pair in dict.fromkeys(suited) if pair not in known and ground.allowed(pair)]
        self.take([(pair, windows) for pair in (*ground.starts, *pairs) for windows in self.first_windows(pair)])

    def first_windows(self, pair: Pair) -> Iterator[Windows]:
        """No windows; each on the side where the first input lies; or one of them alone."""
        directions = self.template.directions
        yield (OPEN,) * len(directions)
        if not directions:
            return
        if self.ground.balanced:
            yield self.on_the_side(pair)
        yield tuple((None, -direction.width) for direction in directions)
        yield tuple((direction.width, None) for direction in directions)
        # Other paths may show constants far out: a window that ends on both sides leaves them out.
        yield tuple((-2 * direction.width, -direction.width) for direction in directions)
        yield tuple((direction.width, 2 * direction.width) for direction in directions)

    def on_the_side(self, pair: Pair) -> Windows:
        """Half lines around what the first input gives without noise, away from the second."""
        inputs = [dict(zip(self.ground.names[0], side, strict=True)) for side in pair]
        return tuple(_side(*(centre_at(direction, side) for side in inputs)) for direction in self.template.directions)

    def at_once(self) -> Iterator[Find]:
        """Where entries are so many that each event is too rare for floats: every entry on the first input's side."""
        if len(self.template.directions) < MANY_ENTRIES or not self.ground.balanced:
            return
        for pair in self.ground.starts[:MOST_AT_ONCE]:
            yield self.find((pair, self.on_the_side(pair)), math.inf)

    def climb(self, deadline: Deadline) -> None:
        """Take the best single change, as long as there is one."""
        size = MOST_MOVES if len(self.template.directions) < MANY_ENTRIES else FEW_MOVES
        for _ in range(MOST_ROUNDS):
            if self.best is None or deadline.passed():
                return
            before = self.score
            for batch in _batches(self.changes(*self.best), size):
                self.take(batch)
                if deadline.passed():
                    return
            if self.score <= before + 1e-4 * abs(before):
                return

    def changes(self, pair: Pair, windows: Windows) -> Iterator[Candidate]:
        """What is a step away."""
        for other in dict.fromkeys(self.layout.moves(pair)):
            if self.ground.allowed(other):
                yield other, windows
        for place, direction in enumerate(self.template.directions):
            for window in dict.fromkeys(_windows(windows[place], direction.width, self.layout.steps())):
                yield pair, (*windows[:place], window, *windows[place + 1 :])
        if self.ground.balanced and self.ground.allowed(pair[::-1]):
            yield from self.mirrored(pair[::-1], windows)

    def mirrored(self, pair: Pair, windows: Windows) -> Iterator[Candidate]:
        """The neighbours the other way round, with windows on the other side: noise need not be symmetric."""
        turned = tuple(map(_mirrored, windows))
        yield pair, turned
        for place, direction in enumerate(self.template.directions):
            for factor in (0, 1, 2, 4):
                for window in ((direction.width * factor, None), (None, -direction.width * factor)):
                    yield pair, (*turned[:place], window, *turned[place + 1 :])

    def take(self, candidates: Sequence[Candidate]) -> None:
        """Keeps the best; all of them are allowed."""
        if not candidates:
            return
        left, right = self.inputs(candidates)
        bounds = self.bounds(left, candidates)
        likely = [
            side.probabilities(np.hstack([inputs, bounds]))
            for side, inputs in zip(self.sides, (left, right), strict=True)
        ]
        scores = np.where(
            likely[0] > LEAST, np.log(np.maximum(likely[0], LEAST)) - np.log(np.maximum(likely[1], LEAST**1.2)), -1.0
        )
        # Floats are good to some 1e-4: of candidates that look alike the first, which is the plainest, is taken.
        top = int(np.argmax(scores >= scores.max() - NOISE))
        if scores[top] > self.score + NOISE:
            self.score, self.best = float(scores[top]), candidates[top]

    @staticmethod
    def inputs(candidates: Sequence[Candidate]) -> tuple[Floats, Floats]:
        """The entries of both inputs; candidates that differ in their windows have them in common."""
        pairs = {id(pair): pair for pair, _ in candidates}
        places = {one: place for place, one in enumerate(pairs)}
        which = [places[id(pair)] for pair, _ in candidates]
        left, right = (
            np.array([list(map(float, pair[side])) for pair in pairs.values()]).reshape(len(pairs), -1)[which]
            for side in (0, 1)
        )
        return left, right

    def bounds(self, left: Floats, candidates: Sequence[Candidate]) -> Floats:
        """The ends of all windows."""
        centres = (left @ self.slopes + self.heights)[:, :, None]
        ends = np.array([[_ends(window) for window in windows] for _, windows in candidates])
        ends = ends.reshape(len(candidates), -1, 2)
        return np.where(np.abs(ends) < FAR, centres + ends, ends).reshape(len(candidates), -1)

    def find(self, best: Candidate, score: float | None = None) -> Find:
        """The candidate, for whoever measures it."""
        (left, right), windows = best
        inputs = dict(zip(self.ground.names[0], left, strict=True))
        return Find(self.score if score is None else score, left, right, self.template.event(windows, inputs))


class _Side:
    """All paths on which an event can happen, for one of the two inputs."""

    def __init__(self, paths: Iterable[Path], template: Template, names: Sequence[str]) -> None:
        bounds = [f"{end}{number}" for number in range(len(template.directions)) for end in ("low", "high")]
        shared = Names()
        self.sum = Mixed(
            [
                (
                    float(path.weight) * _coins(path.coins),
                    FloatingPath(path.noises, (*path.constraints, *template.on(path)), (*names, *bounds), shared),
                )
                for path in paths
            ]
        )

    def probabilities(self, candidates: Floats) -> Floats:
        return self.sum.probabilities(Evaluation(candidates))


def _centres(template: Template, names: Sequence[str]) -> tuple[Floats, Floats]:
    """The centres of all directions as slopes, a column for each, and constants."""
    centres = [direction.centre for direction in template.directions]
    slopes = [[float(terms_of(centre).get(name, 0)) for centre in centres] for name in names]
    heights = [float(constant_of(centre)) for centre in centres]
    return np.array(slopes).reshape(len(names), len(centres)), np.array(heights)


def _ends(window: Window) -> tuple[float, float]:
    low, high = window
    return -FAR if low is None else float(low), FAR if high is None else float(high)


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
        chance *= math.exp(-float(exponent)) if heads else -math.expm1(-float(exponent))
    return chance


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
    if low is not None and high is not None and low < high:
        narrow = (high - low) / 4
        yield from ((low + narrow * k, low + narrow * (k + 1)) for k in range(4))
    for offset in offsets:
        if low is not None:
            yield (low + offset, None if high is None else high + offset)
        elif high is not None:
            yield (low, high + offset)


def _batches(candidates: Iterator[Candidate], size: int) -> Iterator[list[Candidate]]:
    while batch := list(islice(candidates, size)):
        yield batch
