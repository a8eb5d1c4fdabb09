"""One step of bounded range, chosen best at every loss."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately.accounting.adaptive import raising
from privately.accounting.adaptive.chances import Table, table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.steps import play
from tests.accounting.adaptive.brute import two_steps, value

SIZES = [Fraction(1, 10), Fraction(1), Fraction(5)]


def curve_of(sizes: list[Fraction], cells: int, chances: list[Table] | None = None) -> Curve:
    """The last size is played first; all are multiples of the first's part."""
    step = sizes[0] / cells
    found = Curve.start(float(step))
    for k, size in enumerate(sizes):
        found = play(found, chances[k] if chances else table(size, step))
    return found


def coarseness(size: Fraction, cells: int) -> float:
    """The square of a step, beside the range."""
    return float(size) * max(float(size), 1.0) / cells**2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("cells", [6, 50])
def test_one_step_is_known_exactly(size: Fraction, cells: int) -> None:
    """Upper values are those of the closed form; tests come near, with more cells."""
    found = curve_of([size], cells).whole()
    truth = value(np.exp(found.losses), [float(size)])
    assert (found.upper >= truth * (1 - 1e-14)).all()
    assert found.upper == pytest.approx(truth, abs=1e-11)
    assert (found.lower() <= truth + 1e-13).all()
    assert np.abs(found.lower() - truth).max() < 0.5 * coarseness(size, cells)


@pytest.mark.parametrize("size", SIZES)
def test_two_steps_against_a_search(size: Fraction) -> None:
    """With many digits, in places from the lowest loss to the largest."""
    found = curve_of([size, size], 40).whole()
    e = mpf(size.numerator) / size.denominator
    for k in range(2, found.upper.size, 13):
        truth = two_steps(mp.exp(e / 40 * (found.first + k)), e, e)
        assert found.upper[k] >= truth * (1 - mpf(10) ** -15)
        assert found.lower()[k] <= truth + mpf(10) ** -13
        assert found.upper[k] - found.lower()[k] <= coarseness(size, 40)


@pytest.mark.parametrize("sizes", [[1, 1, 1], [1, 2, 1], [2, 1, 1]])
def test_three_steps_against_a_search(sizes: list[int]) -> None:
    found = curve_of([Fraction(size) for size in sizes], 24).whole()
    at = found.losses[::9]
    searched = value(np.exp(at), [float(size) for size in reversed(sizes)], count=240)
    assert (found.upper[::9] >= searched * (1 - 1e-13)).all()
    assert (found.lower()[::9] <= searched * (1 + 1e-3) + 1e-4).all()


def is_caught(chances: Table) -> bool:
    found = curve_of([Fraction(1), Fraction(1)], 12, [table(Fraction(1), Fraction(1, 12)), chances]).whole()
    return bool((found.upper < value(np.exp(found.losses), [1.0, 1.0], count=2000)).any())


def test_wrong_chances_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = table(Fraction(1), Fraction(1, 12))
    assert not is_caught(right)
    assert is_caught(replace(right, ups=right.ups * 0.995))
    assert is_caught(replace(right, ups=right.downs[::-1].copy(), downs=right.ups[::-1].copy()))
    monkeypatch.setattr(raising, "_in_cells", lambda *_: None)
    assert is_caught(right)


def test_flat_cells_are_not_forgotten() -> None:
    """Where a profile is nearly a line, X and Y are mostly rounding: never below the truth all the same."""
    found = curve_of([Fraction(1)] * 3, 12).whole()
    far = found.losses < -2.9
    assert (found.upper[far] >= -np.expm1(found.losses[far]) - 1e-16).all()
    assert (found.upper <= 1).all()
