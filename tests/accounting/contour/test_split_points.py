"""Points of a law that is split, and paths along which its near losses fall."""

from __future__ import annotations

import numpy as np
import pytest

from privately.accounting.contour.split import Law
from privately.accounting.contour.split_points import NearFalls, Split, Steps, Weights
from privately.accounting.roads import NotApplicable

LAW = Law(2.0, 1e-4, Split(4.5, 6.25))


def near() -> tuple[Steps, Weights]:
    steps = LAW.grid(5.0, 8.0, 0.0, 30.0).steps
    return steps, steps.near(6.0)


@pytest.mark.parametrize("frequency", [3.0, 30.0, 300.0])
@pytest.mark.parametrize("height", [0.02, 0.1])
def test_no_path_promises_more_than_the_truth(frequency: float, height: float) -> None:
    steps, tilted = near()
    bound = NearFalls(steps, tilted, 1e-12).along(height)(frequency)
    for w in frequency * np.array([1.0, 1.3, 3.0]):
        turned = tilted.weights * np.exp(1j * w * steps.loss)
        assert abs(turned.sum()) / tilted.total <= np.exp(-bound) * (1 + 1e-9)


def test_what_is_missing_is_taken_off() -> None:
    steps, tilted = near()
    known, missed = (NearFalls(steps, tilted, missing).along(0.1)(300.0) for missing in (0.0, 1e-4))
    assert 0 < missed < known - 3e-4


def test_too_many_points() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        Steps(2.0, 1e-4, Split(4.5, 6.25), (0, 1 << 20), 1.0)
