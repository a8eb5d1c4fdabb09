"""Events that two laws between ends suggest."""

from __future__ import annotations

import math

import pytest

from privately.proving.paths.enclosing import enclosed_law
from privately.proving.reading import read_program
from privately.proving.refuting.tabulating import suggested


def _best(text: str, here: object, there: object, fineness: int = 64) -> tuple[float, str]:
    laws = [enclosed_law(read_program(text), {"x": one}, fineness=fineness) for one in (here, there)]
    score, event = suggested(laws[0], laws[1], 3)[0]
    return score, str(event)


def test_single_outputs_and_half_lines() -> None:
    one_sided = "def f(x: each(1)):\n    return x + geometric(1/2)\n"
    assert _best(one_sided, 0, 1) == (math.inf, "output == 0")
    rounded = "def f(x: each(1)):\n    return (x + discrete_laplace(1)) // 2\n"
    assert _best(rounded, 1, 0)[0] == pytest.approx(1)


def test_windows_of_continuous_outputs() -> None:
    score, event = _best("def f(x: each(1)):\n    y = x + laplace(1)\n    return [0, y * y]\n", 1, 2)
    assert score == pytest.approx(1)
    assert event.startswith("output is a list of 2 with output[")


def test_outputs_of_another_shape() -> None:
    text = "def f(x: replaced(0, 1)):\n    if x == 1 and flip(1/2):\n        return [1]\n    return 1\n"
    assert _best(text, 1, 0) == (math.inf, "output is a list of 1 with output[0] == 1")
    empty = "def f(x: replaced(0, 1)):\n    if x == 1 and flip(1/2):\n        return []\n    return 1\n"
    assert _best(empty, 1, 0) == (math.inf, "output is a list of 0")


def test_of_events_that_score_alike_the_likeliest_comes_first() -> None:
    score, event = _best("def f(x: each(1)):\n    return x + discrete_laplace(1)\n", 1, 0)
    assert score == pytest.approx(1)
    assert event == "output >= 1"
