"""Products with jumps less those without: within their errors, which are small beside the smallest jumps."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from privately.accounting.contour.changes import Change, _at_once, change_of
from privately.accounting.contour.view import Complex
from privately.accounting.roads import NotApplicable

SEED = 20261118
COUNT = 24
EXACT = 1e-15, 1e-15, 0.0


def in_the_disk(random: np.random.Generator, largest: float = 1.0) -> Complex:
    found: Complex = largest * np.sqrt(random.random(COUNT)) * np.exp(2j * np.pi * random.random(COUNT))
    return found


def exactly(laws: list[tuple[Complex, Complex, int]]) -> list[mpmath.mpc]:
    """prod (B + d)^T - prod B^T, with many digits."""
    with mpmath.workdps(60):
        found = []
        for place in range(COUNT):
            whole = alone = mpmath.mpc(1)
            for near, jumps, times in laws:
                one, more = mpmath.mpc(near[place]), mpmath.mpc(jumps[place])
                whole, alone = whole * (one + more) ** times, alone * one**times
            found.append(whole - alone)
        return found


def together(laws: list[tuple[Complex, Complex, int]], ratio: float, off: tuple[float, float, float]) -> Change:
    """With errors of near losses, of jumps and of their ratio."""
    near_off, jumps_off = (np.full(COUNT, one) for one in off[:2])
    parts = [
        change_of((near - 1, near_off), (jumps / ratio - 1, jumps_off), (ratio, off[2]), times)
        for near, jumps, times in laws
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.beside(part)
    return whole


@pytest.mark.parametrize("ratio", [1e-12, 1e-3, 0.5])
@pytest.mark.parametrize("times", [(1,) * 12, (1, 2, 3, 63), (7, 1)])
def test_few_steps_of_several_laws(ratio: float, times: tuple[int, ...]) -> None:
    """Also where near losses have fallen to nothing; the errors are relative to what jumps change at most."""
    random = np.random.default_rng(SEED)
    laws = [(in_the_disk(random), in_the_disk(random, ratio), many) for many in times]
    found = together(laws, ratio, EXACT)
    for value, error, true in zip(found.value, found.error, exactly(laws), strict=True):
        assert abs(mpmath.mpc(value) - true) <= error
        assert abs(true) <= found.most
    assert (found.error <= 1e-10 * found.most).all()


@pytest.mark.parametrize("off", [(1e-7, 0.0, 0.0), (0.0, 1e-7, 0.0), (0.0, 0.0, 1e-7)])
def test_errors_are_carried_on(off: tuple[float, float, float]) -> None:
    """All transforms 1 at which errors add up: what is wrong at the beginning is nearly as wrong at the end."""
    ratio, times, ones = 1e-4, (1, 3, 20, 1), np.ones(COUNT, dtype=np.complex128)
    true = exactly([(ones, ratio * ones, many) for many in times])[0]
    laws = [((1 - off[0]) * ones, ratio * (1 - off[1] - off[2]) * ones, many) for many in times]
    found, unaware = (together(laws, ratio, which) for which in (off, (0.0, 0.0, 0.0)))
    missed = abs(complex(found.value[0]) - complex(true))
    assert 0.3 * found.error[0] < missed <= found.error[0]
    assert missed > 1000 * unaware.error[0]


def test_many_steps_at_once_are_the_same() -> None:
    random = np.random.default_rng(SEED)
    near = 1 - in_the_disk(random, 0.01) ** 2
    near /= np.maximum(abs(near), 1)
    laws = [(near, in_the_disk(random, 1e-5), 200), (near, in_the_disk(random, 1e-5), 64)]
    found = together(laws, 1e-5, EXACT)
    for value, error, true in zip(found.value, found.error, exactly(laws), strict=True):
        assert abs(mpmath.mpc(value) - true) <= error < 1e-9 * found.most


def test_other_losses_beside() -> None:
    random = np.random.default_rng(SEED)
    laws, other = [(in_the_disk(random), in_the_disk(random, 1e-3), 2)], in_the_disk(random)
    found = together(laws, 1e-3, EXACT).after(other - 1, np.full(COUNT, 1e-15))
    for value, error, true, factor in zip(found.value, found.error, exactly(laws), other, strict=True):
        assert abs(mpmath.mpc(value) - true * mpmath.mpc(factor)) <= error < 1e-12


@pytest.mark.parametrize(
    ("near", "ratio", "reason"), [(0.4, 1e-6, "too few steps"), (1, 0.1, "not rare"), (1, 0.01, "too many jumps")]
)
def test_what_cannot_be_done_at_once_is_done_by_doubling(near: float, ratio: float, reason: str) -> None:
    ones, none = np.ones(COUNT, dtype=np.complex128), np.full(COUNT, 1e-15)
    transforms = (near * ones - 1, none), (0 * ones, none), (ratio, 0.0)
    with pytest.raises(NotApplicable, match=reason):
        _at_once(*transforms, 200)
    found, true = change_of(*transforms, 200), exactly([(near * ones, ratio * ones, 200)])[0]
    assert abs(mpmath.mpc(found.value[0]) - true) <= found.error[0] < 1e-9 * found.most
