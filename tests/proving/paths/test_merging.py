"""Fewer paths."""

from typing import Any

import pytest
from flint import arb

from privately.proving.paths.affine import symbol_form
from privately.proving.paths.exploring import explore
from privately.proving.paths.measuring import probability
from privately.proving.paths.merging import merged
from privately.proving.reading import read_program
from tests.proving.textbook import NOISY_MAX, sparse

PARITY = """
def parity(q: each(1), epsilon):
    a = q[0] + laplace(1) > 0
    b = q[1] + laplace(1) > 0
    return 1 if a == b else 0
"""

CASES: list[tuple[str, dict[str, Any], int]] = [
    (NOISY_MAX, {"q": (1, 0, 2, 1), "epsilon": 1}, 4),
    (NOISY_MAX.replace("laplace", "discrete_laplace"), {"q": (1, 0, 2), "epsilon": 1}, 3),
    (PARITY, {"q": (1, 0), "epsilon": 1}, 4),
    (sparse(), {"q": (1, 0, 2), "threshold": 1, "most": 2, "epsilon": 1}, 7),
    ("def f(q):\n    return 1 if flip(1/3) or laplace(1) > q else 1\n", {"q": 1}, 3),
]


@pytest.mark.parametrize(("text", "inputs", "count"), CASES)
def test_merging_changes_no_probability(text: str, inputs: dict[str, Any], count: int) -> None:
    paths = explore(read_program(text), inputs).paths
    fewer = merged(paths)
    assert len(fewer) == count
    for output in {path.output for path in paths}:
        sums = [
            sum((probability(one.noises, one.constraints) for one in group if one.output == output), arb(0))
            for group in (paths, fewer)
        ]
        assert sums[0].overlaps(sums[1])
        assert abs(sums[0] - sums[1]) < 1e-12


def test_histories_of_a_maximum_with_open_inputs_become_one_path_a_winner() -> None:
    inputs = {"q": tuple(symbol_form(f"q[{place}]") for place in range(5)), "epsilon": 1}
    fewer = merged(explore(read_program(NOISY_MAX), inputs).paths)
    assert sorted(path.output for path in fewer) == [0, 1, 2, 3, 4]
    assert all(len(path.constraints) == 4 for path in fewer)
