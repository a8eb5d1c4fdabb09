"""Sums near one place lie within their bounds, out to the farthest place that is served."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import expanding
from privately.accounting.contour.expanding import ORDER, Expansion, expanded
from privately.accounting.contour.view import Complex
from privately.accounting.elementary import ERROR, UNIT
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.exact_transforms import precision

RANDOM = np.random.default_rng(11)
STEP = 0.75


def terms(count: int, falls: float) -> Complex:
    """Falling like e^(-falls (n/count)^2), with any phases."""
    sizes = np.exp(-falls * (np.arange(1, count + 1) / count) ** 2)
    return np.asarray(sizes * np.exp(1j * RANDOM.uniform(-3, 3, count)), dtype=np.complex128)


def places(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.arange(1.0, count + 1) * STEP


def gap(of: Complex, near: Expansion, s: float) -> tuple[float, float, float]:
    """How far the sum at s is off, what the errors of terms account for, and what later powers do."""
    total, grown, missing = near.bounded(s)
    with precision(200):
        exact = arb(0)
        for n, term in enumerate(of.tolist(), 1):
            exact += (acb(term) * (acb(0, -1) * arb(STEP) * n * arb(s)).exp()).real
        off = float(abs(arb(total) - exact).upper())
    sizes = np.abs(of)
    rounding = float(sizes.sum()) * (4 * ERROR + 4 * of.size * UNIT)
    rounding += 4 * UNIT * abs(near.place) * float(sizes @ places(of.size))
    return off, grown * rounding, missing


@pytest.mark.parametrize("count", [2, 9, 40])
@pytest.mark.parametrize("place", [0.0, -0.3, 20.0])
@pytest.mark.parametrize("falls", [0.0, 25.0])
def test_the_sum_near_a_place(count: int, place: float, falls: float) -> None:
    of = terms(count, falls)
    near = expanded(of, places(count), place)
    for x in (0.0, 1e-6, 0.01, 0.2, -0.5, 0.5):
        off, rounding, missing = gap(of, near, place + x / near.last)
        assert off <= rounding + missing


def test_later_powers_count() -> None:
    """Planted: nothing is left out; and it is not much more than what is."""
    of = np.array([0.0, 0.0, 1.0 + 0j])
    near = expanded(of, places(3), 0.0)
    off, rounding, missing = gap(of, near, 0.5 / near.last)
    assert rounding < off <= rounding + missing < 2 * off
    assert near.coefficients[:3] == [1.0, 0.0, -0.5]


def test_errors_of_terms_grow() -> None:
    """An error of a term counts more away from the place: e^x times, if it has its worst phase."""
    of = np.array([1j])
    near = expanded(of, places(1), 0.0)
    assert near.bounded(0.5 / near.last)[1] >= np.exp(0.5)
    assert near.bounded(0.0)[1] == 1


def test_derivatives() -> None:
    of = terms(12, 4.0)
    near = expanded(of, places(12), 0.4)
    for s in (0.4, 0.41):
        h = 1e-5
        (low, _, _), (middle, slope, bend), (high, _, _) = (near.at(s + shift) for shift in (-h, 0, h))
        assert middle == pytest.approx(near.bounded(s)[0])
        assert slope == pytest.approx((high - low) / (2 * h), rel=1e-6)
        assert bend == pytest.approx((high - 2 * middle + low) / h**2, rel=1e-3)


def test_many_nodes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    of = terms(50, 3.0)
    whole = expanded(of, places(50), 1.5)
    monkeypatch.setattr(expanding, "_BLOCK", 7)
    parts = expanded(of, places(50), 1.5)
    assert parts.coefficients == pytest.approx(whole.coefficients, rel=1e-12, abs=1e-14)
    assert parts.rest == pytest.approx(whole.rest)


def test_how_far_it_serves() -> None:
    near = expanded(terms(20, 25.0), places(20), 0.0)
    assert len(near.coefficients) == ORDER
    assert near.reaches(0.0, 1.0)
    assert near.reaches(0.1 / near.last, 1.0)
    assert not near.reaches(0.6 / near.last, 1e9)
    assert not near.reaches(0.4 / near.last, 1e-9)
    assert not near.reaches(0.1 / near.last, -1.0)


def test_too_many_turns() -> None:
    with pytest.raises(NotApplicable):
        expanded(terms(4, 1.0), places(4), 1e6)
