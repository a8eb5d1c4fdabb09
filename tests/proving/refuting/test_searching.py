"""Climbing in floats."""

from math import log

import pytest

from privately.proving.paths.events import event_probability
from privately.proving.paths.exploring import explore
from privately.proving.paths.merging import merged
from privately.proving.reading import read_program
from privately.proving.refuting.climbing import Climb, Ground
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import Layout, layout
from privately.proving.refuting.searching import _rounds, _unlike, search
from privately.proving.refuting.templates import templates
from tests.proving.textbook import COUNT, NOISY_MAX, PARTIAL_SUM, sparse

PUBLIC = {"threshold": 0, "most": 1, "epsilon": 1}


@pytest.mark.parametrize("text", [sparse(), COUNT, PARTIAL_SUM, NOISY_MAX], ids=["sparse", "count", "sum", "maximum"])
def test_finds_are_neighbours_and_their_scores_are_true(text: str) -> None:
    program = read_program(text)
    near = layout(program, {}, 3)
    side = explore(program, {**PUBLIC, **near.symbolic(0)})
    best = search(near, side, side, Deadline(4))[0]
    assert near.holds((best.left, best.right))
    chances = [
        event_probability(merged(explore(program, {**PUBLIC, **near.concrete(0, one)}).paths), best.event)
        for one in (best.left, best.right)
    ]
    assert best.score == pytest.approx(log(float(chances[0].mid()) / float(chances[1].mid())), abs=0.02)
    assert best.score > 0.7


def test_two_given_inputs_are_compared_by_windows_alone() -> None:
    program = read_program(COUNT)
    sides = [explore(program, {"x": x, "epsilon": 2}) for x in (0, 1)]
    best = search(Layout((), True, ()), sides[0], sides[1], Deadline(4))[0]
    assert best.score == pytest.approx(2, abs=0.01)


def test_time_that_is_up_ends_the_search() -> None:
    program = read_program(COUNT)
    side = explore(program, {"x": 0, "epsilon": 2})
    assert search(Layout((), True, ()), side, side, Deadline(-1)) == []


def test_events_that_begin_alike_wait_for_others() -> None:
    program = read_program(NOISY_MAX)
    near = layout(program, {}, 2)
    side = explore(program, {**PUBLIC, **near.symbolic(0)})
    ground = Ground(near, side, side)
    climbs = [Climb(ground, template) for template in templates(side.paths) for _ in range(2)]
    for climb, score in zip(climbs, (0.5, 0.9, 0.9, 0.7), strict=True):
        climb.score = score
    assert [climb.score for climb in _unlike(climbs)] == [0.9, 0.7, 0.5, 0.9]


def test_events_of_every_kind_are_looked_at_before_others_of_the_same() -> None:
    program = read_program(sparse(noise="laplace(2/epsilon)", guard="i < len(q)"))
    near = layout(program, {}, 4)
    found = templates(explore(program, {**PUBLIC, **near.symbolic(0)}).paths)
    rounds = _rounds(dict.fromkeys(found, 1))
    assert sum(map(len, rounds)) == len(found) == 16
    assert sorted(sum(int(value) for _, value in one.fixed) for one in rounds[0]) == [0, 1, 2, 3, 4]
