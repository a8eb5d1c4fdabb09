"""Neighbours compared by laws between two ends."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately.proving.paths.enclosing import enclosed_law
from privately.proving.paths.events import exactly
from privately.proving.paths.masses import Enclosed
from privately.proving.reading import read_program
from privately.proving.refuting import enclosed
from privately.proving.refuting.changes import Pair
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.enclosed import enclosed_comparisons
from privately.proving.refuting.neighbors import layout
from privately.proving.refuting.witnesses import Comparison

PAIRS: list[Pair] = [((Fraction(a),), (Fraction(b),)) for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))]

RETURN = "\n    return out"
RIGHT = [
    ("return (x + discrete_laplace(1)) // 2", 1.0),
    ("return (x + discrete_laplace(1/2)) % 3", 2.0),
    ("y = x + laplace(1)\n    return y * y", 1.0),
    ("y = x + laplace(2)\n    return y // 1", 0.5),
    ("n = 0\n    while flip(1/2):\n        n += 1\n    return n + discrete_laplace(1) + x", 1.0),
    ("y = x + laplace(1)\n    while flip(1/3):\n        y = y / 2\n    return y", 1.0),
    ("y = x + discrete_laplace(1)\n    out = []\n    for i in range(max(0, y)):\n        out.append(0)" + RETURN, 1.0),
]


def _compared(body: str, budget: float = 0.3) -> list[Comparison]:
    program = read_program(f"def f(x: each(1)):\n    {body}\n")
    near = layout(program, {}, 1)
    return list(enclosed_comparisons(program, {}, ((near, pair) for pair in PAIRS), Deadline(budget)))


@pytest.mark.parametrize(("body", "epsilon"), RIGHT)
def test_right_programs_never_lose_more_than_they_may(body: str, epsilon: float) -> None:
    for one in _compared(body):
        assert float(one.epsilon.lower) <= epsilon
        assert one.probability.lower <= one.probability.upper


@pytest.mark.parametrize(
    ("body", "epsilon"),
    [
        ("return (x + discrete_laplace(1)) // 2", 1.0),
        ("y = x + laplace(1)\n    return y * y", 1.0),
        ("n = 0\n    while flip(1/2):\n        n += 1\n    return n + x", math.inf),
        (
            "y = x + laplace(1)\n    while y < 1:\n        y = x + laplace(1)\n    return y",
            1 + math.log(2 - math.exp(-1)),
        ),
    ],
)
def test_losses_are_found(body: str, epsilon: float) -> None:
    found = max(float(one.epsilon.lower) for one in _compared(body, 2.0))
    assert 0.9 * epsilon <= found <= epsilon


def test_witnesses_can_be_replayed() -> None:
    best = max(_compared("return (x + geometric(1/2)) // 2"), key=lambda one: one.epsilon.lower)
    assert best.infinite
    assert best.replay(50).neighbor_count == 0


def test_what_is_not_sure_counts_for_the_neighbour() -> None:
    """The planted fault: taking the sure part alone for the neighbour refutes a right program."""
    body = "n = 0\n    while flip(1/2):\n        n += 1\n    return n > 60 + x*0"
    assert all(one.epsilon.lower <= 0 for one in _compared(body))
    there = enclosed_law(read_program(f"def f(x: each(1)):\n    {body}\n"), {"x": 0}, fineness=8, smallest=50)
    forgetful = Enclosed({output: mass for output, mass in there.outputs.items() if not mass.sure.is_zero()})
    assert forgetful.probability(exactly(1)).upper == 0 < there.probability(exactly(1)).upper


def test_programs_beyond_all_levels_give_nothing() -> None:
    assert _compared("n = 1\n    while n > 0:\n        n += 1\n    return n") == []


def test_where_nothing_is_lost_no_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that are as good as none would be taken for ever."""
    program = read_program("def f(x: replaced(0, 1)):\n    return laplace(1)*laplace(1)\n")
    near = layout(program, {}, 1)
    asked: list[Pair] = []
    compared = enclosed._Desk.compared

    def noted(desk: Any, pair: Any, level: Any) -> Any:
        asked.append(pair[1])
        return compared(desk, pair, level)

    monkeypatch.setattr(enclosed._Desk, "compared", noted)
    list(enclosed_comparisons(program, {}, ((near, pair) for pair in near.starts()), Deadline(0.4)))
    assert 0 < len(asked) < 30
