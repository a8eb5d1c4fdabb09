"""What lies between two places, by bends."""

from __future__ import annotations

import numpy as np

from privately.accounting.two_outcomes.bends import more_bent, summit

STEP = 0.08
CELLS = 40


def powered(seed: int, exponents: tuple[float, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Bends of some powers in many cells."""
    rng = np.random.default_rng(seed)
    return [(np.full(CELLS, k), rng.uniform(0.1, 3.0, CELLS)) for k in exponents]


def largest(own: list[tuple[np.ndarray, np.ndarray]], known: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Of the difference of both second derivatives, at very many places."""
    x = np.linspace(0.0, STEP, 201)[:, None]
    total = sum(bend * np.exp((k - 2) * x) for k, bend in own) - sum(bend * np.exp((k - 2) * x) for k, bend in known)
    found: np.ndarray = np.asarray(total).max(axis=0)
    return found


def test_no_more_bent_than_said() -> None:
    """Of the same powers, of others, and of both; nearly exact where there is one power on either side."""
    for seed, (own, known) in enumerate([((-3.0,), (-3.0,)), ((-3.0, 4.0), (4.0, -9.5)), ((-14.0,), (-13.0, 0.0))]):
        mine, theirs = powered(seed, own), powered(seed + 100, known)
        said, truth = more_bent(mine, theirs, STEP), largest(mine, theirs)
        assert (np.maximum(truth, 0.0) <= np.maximum(said, 0.0)).all()
        assert (said <= np.maximum(truth, 0.0) + 2.5 * STEP * sum(bend.max() * abs(k[0] - 2) for k, bend in mine)).all()
    near, one = powered(1, (-14.0,)), powered(2, (-13.9,))
    apart = more_bent(near, one, STEP) - np.maximum(largest(near, one), 0.0)
    assert apart[more_bent(near, one, STEP) > 0].max() < 0.05


def test_bends_at_the_first_place_alone_are_not_enough() -> None:
    mine, theirs = powered(3, (4.0,)), powered(4, (-9.0,))
    assert (largest(mine, theirs) > mine[0][1] - theirs[0][1] + 0.1).any()


def test_summits() -> None:
    rng = np.random.default_rng(5)
    start, end, bend = rng.normal(size=200), rng.normal(size=200), rng.uniform(0.0, 8.0, 200)
    x = np.linspace(0.0, 1.0, 2001)[:, None]
    truth = ((1 - x) * start + x * end + bend * x * (1 - x) / 2).max(axis=0)
    assert np.allclose(summit(start, end, bend), truth, atol=1e-5)
    assert (summit(start, end, bend) >= truth - 1e-12).all()
