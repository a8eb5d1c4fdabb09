"""The nodes, and the kernel on them, are within their stated errors."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from privately.accounting.elementary import ERROR, UNIT
from privately.accounting.lattice.frame import KERNEL_ERROR, Frame, enlarged, scalar_exp, scalar_expm1
from privately.accounting.roads import NotApplicable
from tests.accounting.lattice.exact import number

FRAMES = [
    Frame(0.1, 64, 1.0),
    Frame(1e-7, 4096, 3.0),
    Frame(0.4999999, 256, 1.0),
    Frame(0.01, 1 << 14, 98.9),
    Frame(3e-5, 1 << 12, 1e-3),
    Frame(0.9, 128, 0.1),
]


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mp.workdps(40):
        yield


def node(frame: Frame, n: int) -> mpc:
    return mpc(number(frame.tilt), 2 * mp.pi * n / (frame.count * number(frame.step)))


def places(frame: Frame) -> list[int]:
    draw = random.Random(frame.count)
    return [0, 1, 2, frame.count // 4, frame.count // 2, *(draw.randrange(frame.count // 2) for _ in range(12))]


def true_kernel(frame: Frame, z: mpc) -> mpc:
    a = number(frame.step)
    return a / mp.expm1(z * a) - a / mp.expm1((z + 1) * a)


@pytest.mark.parametrize("frame", FRAMES)
def test_kernel_is_within_its_error(frame: Frame) -> None:
    for n in places(frame):
        z, a = node(frame, n), number(frame.step)
        for found, truth, error in (
            (frame.kernel[n], true_kernel(frame, z), KERNEL_ERROR),
            (frame.second[n], 1 / mp.expm1((z + 1) * a), KERNEL_ERROR),
            (frame.weight[n], z * (z + 1), 16 * UNIT),
            (frame.turned(1)[n], mp.exp(1j * mp.im(z) * a), 2 * ERROR),
            (frame.turned(-5)[n], mp.exp(-5j * mp.im(z) * a), 2 * ERROR),
        ):
            assert abs(mpc(complex(found)) - truth) <= error * abs(truth)
        assert abs(number(float(frame.frequencies[n])) - mp.im(z)) <= 4 * UNIT * mp.im(z)


def test_exponentials_less_one_would_not_be() -> None:
    """What expm1 and the half-angle formula are there for."""
    frame = FRAMES[1]
    a, z = frame.step, frame.tilt + 1j * frame.frequencies[:1]
    naive = complex((a / (np.exp(z * a) - 1) - a / (np.exp((z + 1) * a) - 1))[0])
    truth = true_kernel(frame, node(frame, 0))
    assert abs(mpc(naive) - truth) > 10 * KERNEL_ERROR * abs(truth)


@pytest.mark.parametrize("frame", FRAMES)
def test_the_kernel_is_the_sum_over_all_turns(frame: Frame) -> None:
    for n in places(frame)[:5]:
        z, turn = node(frame, n), 2j * mp.pi / number(frame.step)
        last = 400
        partial = sum((1 / ((z + k * turn) * (z + k * turn + 1)) for k in range(-last, last + 1)), mpc(0))
        rest = 2 * (number(frame.step) / (2 * mp.pi)) ** 2 / (last - 1)
        assert abs(partial - true_kernel(frame, z)) <= rest


def test_frequencies_beyond_are_below_the_truth() -> None:
    for frame in FRAMES:
        last = mp.pi / number(frame.step)
        assert frame.beyond.size == 9
        for k, found in enumerate(frame.beyond.tolist()):
            assert last * (1 + mpf(k) / 8) * (1 - mpf(2) ** -39) <= number(found) <= last * (1 + mpf(k) / 8)


def test_every_node_counts_as_often_as_it_occurs() -> None:
    frame = FRAMES[0]
    assert frame.repeats.sum() == frame.count
    assert frame.repeats[0] == frame.repeats[-1] == 1
    assert frame.period == frame.count * frame.step
    assert np.allclose(frame.size, np.abs(frame.weight), rtol=1e-15)


@pytest.mark.parametrize(("step", "tilt"), [(0.6, 1.0), (0.1, 0.0), (0.1, -1.0), (1e-3, 1000.0)])
def test_steep_contours_are_refused(step: float, tilt: float) -> None:
    with pytest.raises(NotApplicable, match="coarse"):
        Frame(step, 64, tilt)


def test_scalars() -> None:
    for x in (-700.0, -1e-9, 1e-300, 0.5, 600.0):
        assert abs(number(scalar_exp(x)) - mp.exp(number(x))) <= ERROR * mp.exp(number(x))
        assert abs(number(scalar_expm1(x)) - mp.expm1(number(x))) <= ERROR * abs(mp.expm1(number(x)))
    assert enlarged(1.0, 100) >= 1 + 200 * UNIT
