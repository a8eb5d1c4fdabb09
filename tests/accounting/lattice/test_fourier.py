"""Fourier sums are within their error, which is small; and they need little room."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from mpmath import mp, mpc

from privately.accounting.elementary import UNIT, Floats
from privately.accounting.lattice import fourier
from privately.accounting.lattice.fourier import modulus
from tests.accounting.lattice.exact import number


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(30):
        yield


def spike(count: int) -> Floats:
    samples = np.zeros(count)
    samples[count - 1] = 3.0
    return samples


SHAPES: dict[str, Callable[[int], Floats]] = {
    "random": lambda count: np.random.default_rng(count).normal(size=count),
    "positive": lambda count: np.random.default_rng(count).random(count),
    "spike": spike,
    "ones": np.ones,
    "steep": lambda count: np.exp(-np.arange(float(count)) / 3),
    "wide": lambda count: 10.0 ** np.random.default_rng(7).uniform(-200, 100, count),
}


def exact(samples: Floats, n: int) -> mpc:
    count = samples.size
    turns = [mp.expjpi(mp.mpf(2 * k) / count) for k in range(count)]
    return sum((number(x) * turns[j * n % count] for j, x in enumerate(samples.tolist()) if x), mpc(0))


def excess(samples: Floats, places: list[int]) -> float:
    """The largest error in units of the stated one."""
    found = fourier.transform(samples)
    assert found.shape == (samples.size // 2 + 1,)
    allowed = fourier.error(samples.size) * float(np.abs(samples).sum())
    return max(float(abs(mpc(complex(found[n])) - exact(samples, n))) for n in places) / allowed


@pytest.mark.parametrize("shape", ["random", "positive", "spike", "steep"])
def test_errors_in_the_mean(shape: str) -> None:
    """The root of the mean square of the errors at all frequencies, and those that follow by conjugation."""
    samples = SHAPES[shape](128)
    found = fourier.transform(samples)
    squares = [float(abs(mpc(complex(found[n])) - exact(samples, n)) ** 2) for n in range(65)]
    mean = (2 * sum(squares) - squares[0] - squares[-1]) / 128
    assert math.sqrt(mean) <= fourier.spread_error(128) * float(np.sqrt(samples @ samples))
    assert fourier.spread_error(1 << 19) < 3e-13


@pytest.mark.thinned(2)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [64, 128, 512, 2048])
def test_transform_is_within_its_error(shape: str, count: int) -> None:
    places = [*range(0, count // 2 + 1, max(1, count // 10)), 1, count // 4, count // 2 - 1, count // 2]
    assert excess(SHAPES[shape](count), places) <= 1


def test_the_error_is_small() -> None:
    assert fourier.error(64) < 2.0**-45
    assert fourier.error(1 << 20) < 2.0**-43


def test_roots_are_within_their_error() -> None:
    for count in (64, 1024, 1 << 18):
        found = fourier.roots(count)
        for k in {0, 1, count // 8, count // 3, count // 2, count - 1, *range(1, count, count // 16)}:
            assert abs(mpc(complex(found[k])) - mp.expjpi(mp.mpf(2 * k) / count)) <= fourier.ROOT_ERROR


@pytest.mark.parametrize("fault", ["inexact roots", "conjugates forgotten"])
def test_faults_are_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Roots that are off by 10^-11, or halves joined without conjugation, leave the stated error."""
    samples, places = SHAPES["spike"](256), list(range(0, 129, 3))
    assert excess(samples, places) <= 1
    if fault == "inexact roots":
        good = fourier.quarter
        monkeypatch.setattr(fourier, "quarter", lambda count: good(count) * np.exp(1e-11j))
    else:
        monkeypatch.setattr(np, "conjugate", lambda values, out: np.copyto(out, values))
    assert excess(samples, places) > 1


def test_memory_is_bounded() -> None:
    samples = SHAPES["positive"](1 << 18)
    fourier.transform(samples)
    tracemalloc.start()
    fourier.transform(samples)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20


def test_modulus_is_within_its_error() -> None:
    """Over the whole range of floats: relative to each number, or to the largest."""
    for scale in (1e-300, 1.0, 1e300):
        values = np.array([3 + 4j, 1e-9 + 1j, -0.3 + 0.7j, 1e-100 - 1e-101j, 0, 1e-7], dtype=np.complex128) * scale
        found = modulus(values)
        with mp.workdps(40):
            for one, size in zip(values.tolist(), found.tolist(), strict=True):
                exact = mp.sqrt(number(one.real) ** 2 + number(one.imag) ** 2)
                assert abs(exact - number(size)) <= exact * 4 * UNIT + 5 * scale * mp.mpf(10) ** -150
    assert (modulus(np.zeros(3, dtype=np.complex128)) == 0).all()
    assert (modulus(np.array([1j, complex(math.inf, 0)])) == math.inf).all()
