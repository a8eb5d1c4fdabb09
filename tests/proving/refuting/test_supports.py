"""Outputs that only one neighbour can give."""

import pytest

from privately.proving.paths.events import event_probability
from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.supports import _makes_up, _reaches_all, mismatches
from tests.proving.textbook import COUNT, NOISY_MAX, PARTIAL_SUM, sparse

PUBLIC = {"threshold": 0, "most": 1, "epsilon": 1}
WRONG = {
    "threshold noise alone": sparse(noise="0", guard="i < len(q)"),
    "largest value, one-sided noise": NOISY_MAX.replace("return best", "return top").replace("laplace", "exponential"),
    "the same noise twice": "def f(q: each(1)):\n    z = laplace(1)\n    return [q[0] + z, q[1] + 2 * z]\n",
    "no noise": "def f(q: one(1)):\n    return sum(q)\n",
    "one-sided whole noise": "def f(q: one(1)):\n    return q[0] + geometric(1/2)\n",
    "an added entry": "def f(q: added(0, 1)):\n    return [len(q), discrete_laplace(1)]\n",
    "noise that is cut": "def f(q: each(1)):\n    z = laplace(1)\n    return q[0] + (z if z > -3 else -3)\n",
}
RIGHT = {
    "sparse": sparse(),
    "maximum": NOISY_MAX.replace("laplace", "exponential"),
    "sum": PARTIAL_SUM,
    "count": COUNT,
    "whole sum": PARTIAL_SUM.replace("laplace", "discrete_laplace"),
}


def found(text: str) -> list[tuple[bool, bool]]:
    program = read_program(text)
    near = layout(program, {}, 2)
    result = []
    for turned in (near,) if near.balanced else (near, near.backwards()):
        sides = [explore(program, {**PUBLIC, **turned.symbolic(side)}, known=turned.known(side)) for side in (0, 1)]
        for left, right, event in mismatches(turned, sides[0], sides[1], Deadline(20)):
            chances = [
                event_probability(explore(program, {**PUBLIC, **turned.concrete(side, vector)}).paths, event)
                for side, vector in ((0, left), (1, right))
            ]
            assert turned.holds((left, right))
            result.append((not chances[0].is_zero(), chances[1].is_zero()))
    return result


@pytest.mark.parametrize("name", WRONG)
def test_mismatches_are_found_and_hold(name: str) -> None:
    assert (True, True) in found(WRONG[name])
    assert all(zero for _, zero in found(WRONG[name]))


@pytest.mark.parametrize("name", RIGHT)
def test_programs_with_noise_everywhere_have_none(name: str) -> None:
    assert found(RIGHT[name]) == []


def test_time_that_is_up_ends_the_search() -> None:
    program = read_program(WRONG["no noise"])
    near = layout(program, {}, 2)
    side = explore(program, near.symbolic(0))
    assert list(mismatches(near, side, side, Deadline(-1))) == []


@pytest.mark.parametrize(
    ("body", "makes_up"),
    [
        ("x + laplace(1)", True),
        ("[x + laplace(1), laplace(1)]", True),
        ("laplace(1) > x", True),
        ("[x + bar, 2 * x + bar]", False),
        ("x + exponential(1)", False),
        ("x + discrete_laplace(1)", False),
        ("x", False),
        ("7", True),
    ],
)
def test_noise_makes_up_for_inputs_that_it_hides_alone(body: str, makes_up: bool) -> None:
    program = read_program(f"def f(x: each(1)):\n    bar = laplace(1)\n    return {body}\n")
    paths = explore(program, layout(program, {}, 1).symbolic(0)).paths
    assert all(map(_makes_up, paths)) is makes_up


@pytest.mark.parametrize(
    ("body", "reaches"),
    [
        ("max(x, 0) + laplace(1)", True),
        ("[x + bar, 3 if x > 0 else laplace(1)]", False),
        ("[x + bar, x]", False),
        ("[x + bar, bar]", False),
        ("x + bar if bar > 0 else bar - 1", False),
        ("x + laplace(1) if bar > x else laplace(2)", True),
        ("x + exponential(1)", False),
        ("7", False),
    ],
)
def test_paths_that_reach_all_outputs(body: str, reaches: bool) -> None:
    program = read_program(f"def f(x: each(1)):\n    bar = laplace(1)\n    return {body}\n")
    paths = explore(program, layout(program, {}, 1).symbolic(0)).paths
    assert all(map(_reaches_all, paths)) is reaches
