"""Sums of lists with losses of thousands, against all combinations with many digits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mpmath
import numpy as np
import pytest

from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import far_losses
from privately.accounting.spreading.far_losses import far_two_of, is_far
from privately.accounting.spreading.lists import Losses, profile_of

LEVELS = -3000.0, -5.0, 0.0, 40.0, 900.0, 2500.0, 6000.0


def random_list(seed: int, size: int, widest: float) -> Losses:
    rng = np.random.default_rng(seed)
    masses = rng.random(size) ** 8
    return Losses.of(rng.uniform(-widest / 2, widest, size), masses / masses.sum())


def exact(singles: Sequence[tuple[Losses, int]], epsilon: float) -> mpmath.mpf:
    lists = [one for one, times in singles for _ in range(times)]
    total = mpmath.mpf(0)
    for paths in product(*(list(zip(one.losses.tolist(), one.masses.tolist(), strict=True)) for one in lists)):
        loss = mpmath.fsum(loss for loss, _ in paths)
        if loss > epsilon:
            total += mpmath.fprod(mass for _, mass in paths) * -mpmath.expm1(epsilon - loss)
    return total


@pytest.mark.thinned(2)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("is_rough", [False, True])
def test_sums_are_on_their_sides(seed: int, is_rough: bool) -> None:
    singles = [(random_list(seed, 4, 3000.0), 3), (random_list(seed + 50, 3, 2.0), 2)]
    lower, upper = (far_two_of(singles, side, 1e-30, is_rough=is_rough) for side in ("lower", "upper"))
    near = 50.0 if is_rough else 0.5
    with mpmath.workdps(40):
        for epsilon in LEVELS:
            low, high = profile_of(*lower, epsilon, "lower"), profile_of(*upper, epsilon, "upper")
            truth = exact(singles, epsilon)
            assert low <= truth + 1e-25
            assert truth <= high
            assert low >= exact(singles, epsilon + near) * (1 - 1e-9) - 1e-25
            assert high <= exact(singles, epsilon - near) * (1 + 1e-9) + 1e-25


def test_what_is_left_out_counts() -> None:
    """Largest losses as infinite ones, smallest ones as larger than they are."""
    singles = [(random_list(7, 20, 2000.0), 2), (Losses.of(np.array([5000.0, 0.0]), np.array([1e-9, 1.0]), 1e-5), 1)]
    lower, upper = (far_two_of(singles, side, 1e-4) for side in ("lower", "upper"))
    with mpmath.workdps(40):
        for epsilon in (100.0, 3000.0, 6000.0):
            truth = exact(singles, epsilon)
            assert truth + 1e-5 <= profile_of(*upper, epsilon, "upper") <= truth + 3e-4
            assert truth - 3e-4 <= profile_of(*lower, epsilon, "lower") <= truth


def test_many_steps() -> None:
    """Two losses only: the sum is binomial."""
    singles = [(Losses.of(np.array([1000.0, -3.0]), np.array([0.125, 0.875])), 20)]
    lower, upper = (far_two_of(singles, side, 1e-12) for side in ("lower", "upper"))
    with mpmath.workdps(40):
        for hits in (2, 5, 9):
            epsilon = hits * 1000.0
            losses = [(k, mpmath.mpf(k) * 1000 - (20 - k) * 3) for k in range(21)]
            truth = mpmath.fsum(
                mpmath.binomial(20, k) * mpmath.mpf(7) ** (20 - k) / mpmath.mpf(8) ** 20 * -mpmath.expm1(epsilon - loss)
                for k, loss in losses
                if loss > epsilon
            )
            low, high = profile_of(*lower, epsilon, "lower"), profile_of(*upper, epsilon, "upper")
            assert low <= truth <= high <= low * 1.0001


def test_a_loss_rounded_the_wrong_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    singles = [(random_list(1, 4, 3000.0), 3), (random_list(51, 3, 2.0), 2)]
    monkeypatch.setattr(far_losses, "expm1", lambda x: np.full(x.shape, -1.0 if x.size == 1 else -1e-12))
    upper = far_two_of(singles, "upper", 1e-30, is_rough=True)
    levels = np.linspace(-2000.0, 6000.0, 30).tolist()
    with mpmath.workdps(40):
        assert any(profile_of(*upper, epsilon, "upper") < exact(singles, epsilon) for epsilon in levels)


def test_what_is_far() -> None:
    assert is_far(Losses.of(np.array([1.0, -700.0]), np.ones(2)))
    assert not is_far(Losses.of(np.array([1.0, -500.0]), np.ones(2)))
    with pytest.raises(NotApplicable):
        far_two_of([(random_list(1, 3, 1000.0), 2000)], "upper", 1e-20)
