"""The search for inputs and events that are much likelier for one neighbour: which events are climbed for, and when."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from privately.errors import NotSupported
from privately.proving.paths.exploring import Exploration
from privately.proving.refuting.climbing import Climb, Find, Ground
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.templates import templates

CLIMBED, MOST_VAIN = 8, 4
BETTER = 1.001
"""Events that are climbed for, and how many of them in a row without one that is better than all before."""

MOST_TEMPLATES = 800
MOST_WAYS = 100
LOOKING_SHARE = 0.4


def search(layout: Layout, left: Exploration, right: Exploration, deadline: Deadline) -> list[Find]:
    """The best candidates, best first; one for each event that was climbed for."""
    climbs: list[Climb] = []
    looking = deadline.part(LOOKING_SHARE)
    if looking.passed():
        return []
    ground = Ground(layout, left, right)
    ways = {one: len(ground.reach[0].paths(one)) for one in templates(left.paths)}
    mixed = list(ways)
    Random(0).shuffle(mixed)  # noqa: S311 - any order will do, so that no kind of event waits for all others
    for template in sorted(mixed, key=lambda one: ways[one])[:MOST_TEMPLATES]:
        if looking.passed() or ways[template] > MOST_WAYS:
            break
        try:
            climb = Climb(ground, template)
        except NotSupported:
            continue
        climb.start()
        climbs.append(climb)
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


def _unlike(climbs: Iterable[Climb]) -> list[Climb]:
    """Best first; of events that begin equally well, such as one and its mirror image, one in every round."""
    rounds: dict[float, int] = {}
    placed: list[tuple[int, float, int, Climb]] = []
    for number, climb in enumerate(climbs):
        score = round(climb.score, 6)
        placed.append((rounds.get(score, 0), -score, number, climb))
        rounds[score] = rounds.get(score, 0) + 1
    return [climb for *_, climb in sorted(placed)]
