"""The search for inputs and events that are much likelier for one neighbour: which events are climbed for, and when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from random import Random

from privately.errors import NotSupported
from privately.proving.paths.exploring import Exploration
from privately.proving.refuting.climbing import Climb, Find, Ground
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.templates import Template, templates

CLIMBED, MOST_VAIN = 8, 4
BETTER = 1.001
"""Events that are climbed for, and how many of them in a row without one that is better than all before."""

MOST_TEMPLATES = 800
MOST_WAYS = 100
LOOKING_SHARE = 0.4
VAIN_ROUNDS = 3
"""Rounds of starts in a row in which no event begins better than all before."""


def search(layout: Layout, left: Exploration, right: Exploration, deadline: Deadline) -> list[Find]:
    """The best candidates, best first; one for each event that was climbed for."""
    looking = deadline.part(LOOKING_SHARE)
    if looking.passed():
        return []
    ground = Ground(layout, left, right)
    ways = {one: len(ground.reach[0].paths(one)) for one in templates(left.paths)}
    climbs: list[Climb] = []
    top, vain = 0.0, 0
    for some in _rounds(ways):
        new = list(_started(ground, some, looking))
        climbs += new
        best = max((climb.score for climb in new), default=0.0)
        vain = 0 if best > BETTER * top else vain + 1
        top = max(top, best)
        if looking.passed() or vain == VAIN_ROUNDS:
            break
    finds = [find for climb in climbs[:1] for find in climb.at_once()]
    top, vain = 0.0, 0
    for climb in _unlike(climbs)[:CLIMBED]:
        climb.climb(deadline)
        if climb.best is not None:
            finds.append(climb.find(climb.best))
        vain = 0 if climb.score > BETTER * top else vain + 1
        top = max(top, climb.score)
        if vain == MOST_VAIN:
            break
    return sorted(finds, key=lambda one: -one.score)


def _started(ground: Ground, some: Iterable[Template], looking: Deadline) -> Iterator[Climb]:
    for template in some:
        if looking.passed():
            return
        with suppress(NotSupported):
            climb = Climb(ground, template)
            climb.start()
            yield climb


def _rounds(ways: Mapping[Template, int]) -> list[list[Template]]:
    """Events in the order in which they are looked at: one of each kind in every round, those of few ways first. Events
    of one kind, such as one answer out of six in any place, are often worth the same; windows around other places are
    another kind."""
    mixed = [one for one, count in ways.items() if count <= MOST_WAYS]
    Random(0).shuffle(mixed)  # noqa: S311 - any order will do, so that no place waits for all others
    rounds: list[list[Template]] = []
    seen: Counter[object] = Counter()
    centres: Counter[object] = Counter()
    for one in sorted(mixed, key=lambda each: ways[each])[:MOST_TEMPLATES]:
        wide = sorted((direction.width, direction.whole, len(direction.weights)) for direction in one.directions)
        around = (one.shape, one.fixed, *(direction.weights for direction in one.directions))
        kind = (one.shape, tuple(sorted(value for _, value in one.fixed)), tuple(wide), ways[one], centres[around])
        centres[around] += 1
        if seen[kind] == len(rounds):
            rounds.append([])
        rounds[seen[kind]].append(one)
        seen[kind] += 1
    return rounds


def _unlike(climbs: Iterable[Climb]) -> list[Climb]:
    """Best first; of events that begin equally well, such as one and its mirror image, one in every round."""
    rounds: dict[float, int] = {}
    placed: list[tuple[int, float, int, Climb]] = []
    for number, climb in enumerate(climbs):
        score = round(climb.score, 6)
        placed.append((rounds.get(score, 0), -score, number, climb))
        rounds[score] = rounds.get(score, 0) + 1
    return [climb for *_, climb in sorted(placed)]
