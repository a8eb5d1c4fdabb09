"""How far many atoms scatter: no frequency of the range is below the bound."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.contour import scattering
from privately.accounting.contour.scattering import Scattering
from privately.accounting.roads import NotApplicable

LAST = 400.0
FREQUENCIES = np.array([0.3, 1.0, 4.0, 50.0, LAST])


def fallen(
    distances: np.ndarray, weights: np.ndarray, doubts: np.ndarray, frequencies: np.ndarray, last: float
) -> np.ndarray:
    """In two parts."""
    found = Scattering(last)
    for part in (slice(0, None, 2), slice(1, None, 2)):
        found.add(distances[part], weights[part], doubts[part])
    return found.fallen(frequencies)


def sums(distances: np.ndarray, weights: np.ndarray, w: np.ndarray) -> np.ndarray:
    return np.array([weights @ (1 - np.cos(one * distances)) for one in w])


@pytest.mark.parametrize("kind", ["spread", "next to one", "few", "unlike"])
def test_no_frequency_is_below(kind: str) -> None:
    steps = np.arange(3000.0)
    distances = {
        "spread": 1 + steps / 3000,
        "next to one": 1 + steps / 3e6,
        "few": np.repeat([1.0, 2.0**0.5], 1500),
        "unlike": 10.0 ** (-6 + steps / 450),
    }[kind]
    weights = 0.01 + 0.001 * (steps % 7)
    bounds = fallen(distances, weights, np.zeros(3000), FREQUENCIES, LAST)
    w = np.sort(np.concatenate([np.linspace(FREQUENCIES[0], LAST, 2000), 2 * np.pi * np.arange(1, 60)]))
    true = sums(distances, weights, w)
    for bound, start in zip(bounds.tolist(), FREQUENCIES.tolist(), strict=True):
        least = true[w >= start].min()
        assert bound <= least
        if kind == "spread":
            assert bound >= least - 0.1 * weights.sum()


def test_distances_between_two_cells() -> None:
    """All pairs are in phase at the last frequency, where a chord over a cell is lowest beside the cosine."""
    distance = 30 * np.pi / LAST
    assert abs(distance / (0.5 / LAST) % 1 - 0.5) < 0.01
    bound = fallen(np.full(64, distance), np.ones(64), np.zeros(64), np.array([LAST]), LAST)
    assert bound[0] <= 1e-9


def test_frequencies_between_two_that_are_looked_at() -> None:
    """Distances that are nearly whole numbers are nearly in phase once, and not again."""
    numbers = np.arange(1.0, 61.0)
    weights = np.ones(60)
    for scale in np.linspace(1.0, 1.1, 6).tolist():
        distances = scale * (numbers + 0.004 * np.sqrt(numbers) % 0.02)
        bound = fallen(distances, weights, np.zeros(60), np.array([3.0]), LAST)[0]
        assert bound <= sums(distances, weights, np.linspace(5.5, 6.5, 4001)).min()


def test_every_first_frequency_counts() -> None:
    """Where the sum rises, it is lowest at the first."""
    distances, weights = 1 + np.arange(300.0) / 300, np.full(300, 0.01)
    starts = np.linspace(0.05, 0.8, 40)
    assert (fallen(distances, weights, np.zeros(300), starts, LAST) <= sums(distances, weights, starts)).all()


def test_doubts_cost_something() -> None:
    distances, weights = 1 + np.arange(3000.0) / 3000, np.full(3000, 0.01)
    sure, unsure = (fallen(distances, weights, np.full(3000, off), FREQUENCIES, LAST) for off in (0.0, 1e-4))
    assert (unsure <= sure - FREQUENCIES * 1e-4 * weights.sum()).all()


def test_what_cannot_be_told() -> None:
    none = np.zeros(3)
    assert not fallen(none, np.ones(3), none, FREQUENCIES, LAST).any()
    assert not fallen(np.ones(3), none, none, FREQUENCIES, LAST).any()
    with pytest.raises(NotApplicable):
        fallen(np.ones(3), np.ones(3), none, FREQUENCIES, 1e12)


def test_without_what_is_lost_a_bound_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum falls below both ends of a step."""
    monkeypatch.setattr(scattering, "_BEND", 1.0)
    distances, weights = np.full(64, 3.0), np.ones(64)
    w = np.linspace(0.01, 9.0, 5000)
    true = sums(distances, weights, w).min()
    assert fallen(distances, weights, np.zeros(64), np.array([0.01]), 9.0)[0] <= true
