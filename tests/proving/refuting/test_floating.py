"""Floats agree with balls as far as a search needs."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately.proving.paths.affine import Constraint, substituted, symbol_form
from privately.proving.paths.exploring import explore
from privately.proving.paths.measuring import probability
from privately.proving.paths.noise import Noise
from privately.proving.reading import read_program
from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.floating import FloatingPath, Names
from tests.proving.textbook import NOISY_MAX, sparse

SUMS = """
def sums(q: each(1), epsilon):
    total = 0
    for x in q:
        total = total + x + laplace(1/epsilon)
    return 1 if total > exponential(2) + laplace(1) else 0
"""

SPARSE = {"threshold": 0, "most": 1, "epsilon": 1}
CASES: list[tuple[str, dict[str, Any]]] = [
    (sparse(), SPARSE),
    (sparse().replace("laplace", "gaussian"), SPARSE),
    (sparse().replace("laplace", "discrete_laplace"), SPARSE),
    (sparse().replace("laplace", "rounded_gaussian"), SPARSE),
    (NOISY_MAX, {"epsilon": 1}),
    (NOISY_MAX.replace("laplace", "exponential"), {"epsilon": 1}),
    (NOISY_MAX.replace("laplace", "discrete_exponential"), {"epsilon": 1}),
    (SUMS, {"epsilon": 1}),
]


@pytest.mark.parametrize(("text", "public"), CASES)
def test_floats_agree_with_balls(text: str, public: dict[str, Any]) -> None:
    names = [f"q[{place}]" for place in range(3)]
    candidates = np.array([(1, 1, -1), (2, 2, -2), (5, 0, -3)], dtype=float)
    for path in explore(read_program(text), {**public, "q": tuple(map(symbol_form, names))}).paths:
        floats = FloatingPath(path.noises, path.constraints, names).probabilities(candidates)
        for row, value in zip(candidates, floats, strict=True):
            inputs = dict(zip(names, map(Fraction, row), strict=True))
            here = [substituted(one, inputs) for one in path.constraints]
            exact = probability(path.noises, [one for one in here if isinstance(one, Constraint)])
            assert value == pytest.approx(float(exact.mid()), rel=0.02)


def test_constraints_on_inputs_alone_are_decided() -> None:
    x, z = symbol_form("x"), symbol_form(0)
    path = FloatingPath([Noise("laplace", Fraction(1))], [Constraint(x - 1, ">="), Constraint(z, ">")], ["x"])
    assert path.probabilities(np.array([[0.0], [1.0], [2.0]])).tolist() == [0.0, 0.5, 0.5]


def test_windows_and_single_values() -> None:
    z, t = symbol_form(0), symbol_form("t")
    equal = FloatingPath([Noise("geometric", Fraction(1, 2))], [Constraint(z - t, "==")], ["t"])
    assert equal.probabilities(np.array([[0.0], [2.0], [0.5], [-1.0]])) == pytest.approx([0.5, 0.125, 0, 0])
    never = FloatingPath([Noise("laplace", Fraction(1))], [Constraint(z - t, "==")], ["t"])
    assert never.probabilities(np.array([[0.0]])).tolist() == [0.0]


@pytest.mark.parametrize(("text", "public"), CASES)
def test_what_paths_share_is_the_same_for_each(text: str, public: dict[str, Any]) -> None:
    names = [f"q[{place}]" for place in range(3)]
    candidates = np.array([(1, 1, -1), (2, 2, -2), (5, 0, -3)], dtype=float)
    shared, evaluation = Names(), Evaluation(candidates)
    for path in explore(read_program(text), {**public, "q": tuple(map(symbol_form, names))}).paths:
        alone = FloatingPath(path.noises, path.constraints, names).probabilities(candidates)
        together = FloatingPath(path.noises, path.constraints, names, shared).probabilities(evaluation)
        assert together.tolist() == alone.tolist()


def test_an_evaluation_computes_once_and_keeps_no_more_than_it_has_room_for() -> None:
    evaluation = Evaluation(np.zeros((2, 1)))
    made: list[int] = []

    def compute() -> Any:
        made.append(1)
        return np.ones(2)

    evaluation.once("a", compute)
    evaluation.once("a", compute)
    assert len(made) == 1
    evaluation.room = 0
    evaluation.once("b", compute)
    evaluation.once("b", compute)
    assert len(made) == 3
