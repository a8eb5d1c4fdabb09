"""The switch to compiled loops: asked for, checked, and without effect on what is drawn."""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privately import noise
from privately.errors import NotSupported
from privately.noise import draws
from privately.noise.kernels import NUMPY, Cells, Draws, Integers, Kernels, Screened, Slope, Words
from privately.noise.repeatable import RepeatableStream
from tests.meta.test_import_weight import loaded_by, top_level
from tests.noise.test_draws import PARAMETER, WIDE, call


@pytest.fixture
def switch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the switch back that `accelerate` turns."""
    monkeypatch.setattr(draws, "_kernels", NUMPY)


def drawn_from_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> list[Draws]:
    monkeypatch.setattr(draws, "SYSTEM", RepeatableStream(seed="compiled"))
    narrow = {"uniform": 1000, "bernoulli": "1/3", "bernoulli_exp": "1/3", "geometric": "1/3"}
    wide = {"discrete_laplace": WIDE, "geometric": Fraction(1, 10**6), "uniform": 2**100}
    found = [call(name, narrow.get(name, 10), 50_000) for name in PARAMETER]
    return found + [call(name, wide.get(name, 10**6), 50_000) for name in PARAMETER if "bernoulli" not in name]


def test_acceleration_changes_the_loops_and_no_draw(switch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = drawn_from_the_same_bytes(monkeypatch)
    noise.accelerate()
    assert draws._kernels.name == "numba"
    compiled = drawn_from_the_same_bytes(monkeypatch)
    for one, other in zip(plain, compiled, strict=True):
        assert one.dtype == other.dtype
        assert (one == other).all()


def spied(kernels: Kernels, used: set[str]) -> Kernels:
    """The same loops, noting which of them were used."""

    def noted(name: str) -> Callable[..., Any]:
        def loop(*arguments: Any) -> Any:
            used.add(name)
            return getattr(kernels, name)(*arguments)

        return loop

    return replace(kernels, look_up=noted("look_up"), screen=noted("screen"))


def test_acceleration_makes_every_draw_use_the_compiled_loops(switch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from privately.noise import compiled

    used: set[str] = set()
    monkeypatch.setattr(compiled, "NUMBA", spied(compiled.NUMBA, used))
    noise.accelerate()
    used.clear()
    call("discrete_laplace", 1)
    assert used == {"look_up"}
    call("discrete_laplace", 1000)
    assert used == {"look_up", "screen"}


def never_undecided(cells: Cells, words: Words, out: Integers) -> NDArray[np.intp]:
    NUMPY.look_up(cells, words, out)
    return np.empty(0, np.intp)


def always_accepted(slope: Slope, bins: Integers, places: Words, coins: Words) -> Screened:
    return np.ones(bins.size, np.bool_), np.empty(0, np.intp)


@pytest.mark.parametrize(
    "fault", [{"look_up": never_undecided}, {"screen": always_accepted}], ids=["look_up", "screen"]
)
def test_loops_that_draw_something_else_are_refused(
    fault: dict[str, Any], switch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privately.noise import compiled

    monkeypatch.setattr(compiled, "NUMBA", replace(NUMPY, **fault))
    with pytest.raises(NotSupported):
        noise.accelerate()
    assert draws._kernels is NUMPY


def test_acceleration_without_numba_says_what_to_install(switch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "privately.noise.compiled", raising=False)
    with pytest.raises(NotSupported) as caught:
        noise.accelerate()
    assert "privately[fast]" in caught.value.hint
    assert draws._kernels is NUMPY
    assert noise.discrete_laplace(scale=1, size=5).size == 5


def test_nothing_heavy_is_loaded_unasked() -> None:
    assert top_level(loaded_by("import privately")) == {"privately"}
    loaded = top_level(loaded_by("from privately import noise; noise.discrete_laplace(scale=100, size=10)"))
    assert {"numpy", "cryptography"} <= loaded
    assert "numba" not in loaded
