"""Losses on a lattice: what dividing them between places keeps, and means over them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from privately.accounting.chosen_parts import values
from privately.accounting.spreading import Losses


@pytest.mark.parametrize("usual", [14.0, 0.7])
def test_places_of_losses(usual: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a convex function that falls is not less with places alone, and lots have the same mean loss."""
    monkeypatch.setattr(values, "_USUAL", usual)
    monkeypatch.setattr(values, "_SPARSE", 4)
    random = np.random.default_rng(5)
    losses, masses = random.uniform(-2, 3, 50), random.dirichlet(np.ones(50))
    found, step = Losses.of(losses, masses), 0.25
    weights, first = values._split(found, step)
    (powers, start), (prices, same) = values._drawn(found, step)
    assert same == start
    assert weights.sum() == pytest.approx(1)
    assert powers.sum() == pytest.approx(1)
    assert prices.sum() == pytest.approx(float(masses @ np.exp(-losses)))
    assert powers @ (start + np.arange(powers.size)) * step == pytest.approx(float(masses @ losses))
    above = (first + np.arange(weights.size)) * step
    for kink in (0.2, 1.0, 2.5):
        exact = float(masses @ np.maximum(1 - kink * np.exp(-losses), 0))
        assert (
            exact * (1 - 1e-13)
            <= weights @ np.maximum(1 - kink * np.exp(-above), 0)
            <= exact + (0.02 if usual > 1 else 0.1)
        )


def test_means_at_all_places() -> None:
    """Also where all losses are on one side of 0, and with nothing between some of them."""
    known = np.array([0.9, 0.7, 0.4, 0.1])
    far = np.array([0.1, *[0.0] * 20, 0.3, 0.2, *[0.0] * 16, 0.4])
    for first, weights in product((-30, -3, -1, 0, 2), (np.array([0.2, 0.5, 0.3]), far, np.zeros(2))):
        found = values._mean(known, values.Pieces.of((weights, first)), 0.05, 1)
        for j in range(4):
            places = [j - first - i for i in range(weights.size)]
            exact = sum(
                w * (1.0 if k < 0 else 0.05 if k > 3 else known[k]) for w, k in zip(weights, places, strict=True)
            )
            assert found[j] == pytest.approx(exact)
            assert found[j] >= exact * (1 - 1e-15)
