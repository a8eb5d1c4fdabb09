"""Sums over paths as sums of products."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately.proving.paths.affine import Affine, Constraint, symbol_form
from privately.proving.paths.exploring import explore
from privately.proving.paths.noise import Noise
from privately.proving.reading import read_program
from privately.proving.refuting.evaluations import Evaluation
from privately.proving.refuting.floating import FloatingPath, Names
from privately.proving.refuting.mixtures import Mixed, product_of
from tests.proving.textbook import ADAPTIVE

LAPLACE = Noise("laplace", Fraction(1))


def test_choices_that_are_free_of_one_another_become_blocks() -> None:
    choices = [[{1}, {2, 3}], [{4}, {5}, {4, 5}], [{6}]]
    ways = [frozenset((one, 0) for part in way for one in part) for way in product(*choices)]
    assert sorted(map(len, product_of(ways))) == [1, 2, 3]
    assert product_of(ways[:-1]) == [frozenset(ways[:-1])]


def test_a_sum_over_paths_is_what_the_paths_add_up_to() -> None:
    names = [f"q[{place}]" for place in range(3)]
    given = {"threshold": 0, "epsilon": 1, "q": tuple(map(symbol_form, names))}
    paths = explore(read_program(ADAPTIVE), given).paths
    candidates = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, -1.0], [4.0, 1.0, 2.0]])
    shared = Names()
    floating = [FloatingPath(path.noises, path.constraints, names, shared) for path in paths]
    mixed = Mixed([(1.0, path) for path in floating])
    assert len(mixed.mixtures) < len(paths) / 3
    total = sum(path.probabilities(candidates) for path in floating)
    assert mixed.probabilities(Evaluation(candidates)) == pytest.approx(total, rel=1e-12)


def test_what_comes_twice_counts_twice() -> None:
    """Two draws that are asked the same, and a path that is there twice."""
    bar, first, second = symbol_form(0), symbol_form(1), symbol_form(2)
    both = [Constraint(first - bar, ">"), Constraint(second - bar, ">"), Constraint(bar + Affine(0, {"x": 1}), ">")]
    path = FloatingPath([LAPLACE] * 3, both, ["x"], Names())
    candidates = np.array([[0.0], [30.0]])
    assert path.probabilities(candidates)[1] == pytest.approx(1 / 3, abs=1e-3)
    found = Mixed([(0.25, path), (0.25, path)]).probabilities(Evaluation(candidates))
    assert found == pytest.approx(path.probabilities(candidates) / 2)
