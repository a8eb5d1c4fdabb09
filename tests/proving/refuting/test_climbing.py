"""Climbing for one event."""

from fractions import Fraction
from math import log

import pytest

from privately.proving.paths.events import event_probability
from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.refuting.climbing import Climb, Ground
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.templates import templates
from tests.proving.textbook import COUNT

PUBLIC = {"epsilon": 1}


def climb_of(text: str, length: int = 1) -> Climb:
    program = read_program(text)
    near = layout(program, {}, length)
    side = explore(program, {**PUBLIC, **near.symbolic(0)}, known=near.known(0))
    return Climb(Ground(near, side, side), templates(side.paths)[0])


def test_candidates_are_inputs_neighbours_and_as_assumed() -> None:
    text = "def f(x: each(1, whole(0, 4))):\n    assume(x > 1)\n    return x + discrete_laplace(1)\n"
    ground = climb_of(text).ground
    allowed = [(a, b) for a in range(-2, 7) for b in range(-2, 7) if ground.allowed(((Fraction(a),), (Fraction(b),)))]
    assert allowed == [(a, b) for a in range(2, 5) for b in range(2, 5) if abs(a - b) <= 1]
    assert all(ground.allowed(pair) for pair in ground.starts)


def test_windows_lie_around_the_first_input() -> None:
    climb = climb_of("def f(q: each(1)):\n    return [q[0] + laplace(1), 3 - q[0] + laplace(2)]\n")
    pair = (Fraction(5),), (Fraction(4),)
    assert [one.weights[0][0] for one in climb.template.directions] == [1, 0]
    candidates = [(pair, ((Fraction(-1), None), (None, Fraction(2))))]
    left, right = climb.inputs(candidates)
    assert (left.tolist(), right.tolist()) == ([[5.0]], [[4.0]])
    assert climb.bounds(left, candidates).tolist() == [[-3.0, 1e9, -1e9, 7.0]]


def test_a_climb_ends_where_the_true_quotient_is() -> None:
    climb = climb_of(COUNT)
    climb.start()
    climb.climb(Deadline(4))
    assert climb.best is not None
    find = climb.find(climb.best)
    program = read_program(COUNT)
    first, second = (
        float(event_probability(explore(program, {**PUBLIC, "x": side[0]}).paths, find.event).mid())
        for side in (find.left, find.right)
    )
    assert climb.score == pytest.approx(log(first / second), abs=1e-3)
    assert climb.score > 0.99
