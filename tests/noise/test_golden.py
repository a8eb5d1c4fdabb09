"""The same bytes give the same draws, today and later, whichever loops draw them."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from privately.noise import kernels
from privately.noise.kernels import NUMPY, Cells, Integers, Kernels, Words
from tests.noise.golden import CASES, record, stored

STORED = stored()


def compiled() -> Kernels:
    """Only when it is needed: loading numba takes a second."""
    from privately.noise.compiled import NUMBA

    return NUMBA


@pytest.mark.parametrize("loops", [lambda: NUMPY, compiled], ids=["numpy", "numba"])
@pytest.mark.parametrize("name", CASES)
def test_draws_stay_what_they_are(name: str, loops: Callable[[], Kernels]) -> None:
    assert record(CASES[name](), loops()) == STORED[name]


def test_nothing_is_stored_that_is_not_drawn() -> None:
    assert list(STORED) == list(CASES)
    assert len({one["sha256"] for one in STORED.values()}) == len(CASES)


def careless_look_up(cells: Cells, words: Words, out: Integers) -> NDArray[np.intp]:
    """A fault: the last draw is off by one."""
    undecided = kernels.look_up(cells, words, out)
    out[-1] += 1
    return undecided


def test_a_single_wrong_draw_would_be_noticed() -> None:
    name = "discrete Laplace 10"
    careless = Kernels(name="careless", look_up=careless_look_up, screen=kernels.screen)
    found = record(CASES[name](), careless)
    assert found["bytes"] == STORED[name]["bytes"]
    assert found["sha256"] != STORED[name]["sha256"]
