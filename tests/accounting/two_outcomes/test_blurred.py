"""A profile on a lattice beside normal noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.blurred import Blurred

from .test_before_normal import delta

STEP, PLACES = 0.05, 60


def upper() -> Floats:
    """Of normal noise."""
    return np.array([delta(0.3, k * STEP) for k in range(PLACES)])


def directly(one: Blurred, v: float, epsilon: float) -> float:
    """With noise, by its definition."""
    found = one.infinite
    for i in range(-one.masses.size, one.masses.size + 1):
        mass = one.even if i == 0 else one.masses[abs(i) - 1] * (1 if i > 0 else math.exp(i * STEP))
        found += mass * delta(v, epsilon - i * STEP)
    return float(found)


def test_it_is_not_below() -> None:
    """Nor much above; and the same with P and Q exchanged."""
    one = Blurred.of(upper(), STEP)
    found = one.without(PLACES)
    assert (found >= upper()).all()
    assert found == pytest.approx(upper(), rel=1e-7)
    assert one.upper_alone() == pytest.approx(found, rel=1e-7)
    assert one.all_masses.sum() + one.infinite == pytest.approx(1)
    for x in (0.3, 1.1):
        around = directly(one, 0.4, -x)
        assert around == pytest.approx(1 - math.exp(-x) + math.exp(-x) * directly(one, 0.4, x), abs=1e-12)
    with pytest.raises(NotApplicable, match="no pair"):
        Blurred.of(np.where(np.arange(PLACES) == 5, 0.9, upper()), STEP)


@pytest.mark.parametrize("v", [0.02, 0.4, 3.0])
@pytest.mark.parametrize("stride", [1, 2])
def test_with_noise(v: float, stride: int) -> None:
    one = Blurred.of(upper(), STEP)
    found = one.upper(v, 20, stride)
    true = np.array([directly(one, v, k * stride * STEP) for k in range(20)])
    assert (found >= true).all()
    assert found == pytest.approx(true, rel=1e-8)


@pytest.mark.parametrize("v", [0.02, 0.4, 3.0])
@pytest.mark.parametrize("stride", [1, 2])
def test_lines_are_below(v: float, stride: int) -> None:
    """Everywhere between two places, and nearly touching in the middle."""
    one = Blurred.of(upper(), STEP)
    left, right = one.tangents(v, 20, stride)
    for k in (0, 3, 12, 19):
        ends = math.exp(k * stride * STEP), math.exp((k + 1) * stride * STEP)
        for part in (0.0, 0.3, 0.5, 1.0):
            epsilon = (k + part) * stride * STEP
            share = (math.exp(epsilon) - ends[0]) / (ends[1] - ends[0])
            line, true = left[k] * (1 - share) + right[k] * share, directly(one, v, epsilon)
            assert line <= true
            assert part != 0.5 or line == pytest.approx(true, rel=1e-7)
