"""Neighbours that meet assumptions."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving import Refuted, Unknown, prove
from privately.proving.reading import read_program
from privately.proving.refuting.assuming import NoNeighbors, assumed_pairs, meets
from privately.proving.refuting.neighbors import layout

LINE = "def f(q: each(1)):\n    assume(q[0] + q[1] == 10)\n    return q[0]*q[1] + laplace(10)\n"


def program_that_assumes(condition: str, near: str = "each(1)") -> str:
    return f"def f(x: {near}, bar):\n    assume({condition})\n    return x + laplace(1)\n"


@pytest.mark.parametrize(
    ("condition", "near"),
    [
        ("x > 3 and x < 2", "each(1)"),
        ("x == 3", "each(1)"),
        ("x > bar and x < bar", "each(1)"),
        ("x > 1", "each(1, between(0, 1))"),
        ("x + x == 100000", "anything()"),
    ],
)
def test_assumptions_that_no_neighbours_meet_are_noticed(condition: str, near: str) -> None:
    with pytest.raises(NotSupported, match="no two neighbours meet the assumptions"):
        prove(program_that_assumes(condition, near), 1, public={"bar": 5})


@pytest.mark.parametrize("condition", ["x >= 3 and x < 4", "x > 100000", "x < -100000", "x > bar", "x*x > 1"])
def test_assumptions_that_some_neighbours_meet_are_not_refused(condition: str) -> None:
    assert isinstance(prove(program_that_assumes(condition), "1/4", public={"bar": 5}), Refuted)


def test_assumptions_that_short_lists_do_not_meet_may_hold_for_longer_ones() -> None:
    assert isinstance(prove("def f(q: each(1)):\n    assume(len(q) > 10)\n    return q[0] + laplace(1)\n", 0), Unknown)


def test_neighbours_are_found_that_meet_assumptions_and_are_far_apart() -> None:
    program = read_program(LINE)
    near = layout(program, {}, 2)
    (first, *_) = assumed_pairs(program, {}, near)
    assert near.holds(first)
    assert all(sum(side) == 10 for side in first)
    assert max(abs(a - b) for a, b in zip(*first, strict=True)) == 1
    assert isinstance(prove(LINE, "1/100", sizes=[2]), Refuted)


def test_whole_noise_gets_whole_neighbours() -> None:
    program = read_program("def f(x: each(2)):\n    assume(2*x > 5 and 2*x < 12)\n    return x + discrete_laplace(1)\n")
    pairs = assumed_pairs(program, {}, layout(program, {}, 1))
    assert pairs
    assert all(value.denominator == 1 for pair in pairs for side in pair for value in side)


def test_inputs_are_held_against_assumptions() -> None:
    program = read_program(program_that_assumes("x > bar"))
    assert meets(program, {"bar": 3}, {"x": Fraction(7, 2)})
    assert not meets(program, {"bar": 3}, {"x": 3})
    with pytest.raises(NoNeighbors):
        prove(program_that_assumes("x > bar and x < bar"), 1, public={"bar": 3})


def test_a_list_without_entries_may_stand_beside_an_input_that_changes() -> None:
    text = "def f(x: replaced(0, 1), y: each(1)):\n    assume(len(x) == 0)\n    return y + laplace(1/2)\n"
    assert isinstance(prove(text, 1), Refuted)
