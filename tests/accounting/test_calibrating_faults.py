"""What calibration cannot do is told by errors that say what to change."""

from __future__ import annotations

import math
from typing import Any

import pytest

from privately import accounting as acc
from privately.errors import InvalidParameter


def failing(_: float) -> acc.Event:
    raise KeyError(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (failing, "KeyError for 1.0: 3. Mend it"),
        (lambda: acc.Laplace(scale=1), "TypeError for 1.0"),
        (lambda scale: acc.Laplace(scale=scale) if scale < 2 else None, "of 2.0 is no event but a NoneType"),
        (lambda _: True, "no event but a bool"),
        (lambda times: acc.Repeat(event=acc.Laplace(scale=1), times=times), "Use whole=True"),
        (lambda scale: acc.Laplace(scale=math.log(-scale)), "ValueError for 1"),
        (lambda scale: acc.Laplace(scale=min(scale, 5)), "8 comes nearest. Promise a larger"),
    ],
)
def test_faults_of_makers_are_told(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message) as caught:
        acc.calibrate(make, epsilon="0.1")
    assert caught.value.field == "make_event"


def test_the_cause_of_a_fault_is_kept() -> None:
    with pytest.raises(InvalidParameter) as caught:
        acc.calibrate(failing, epsilon=1)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        *(("epsilon", one) for one in (math.inf, -math.inf, "1,5", None, True, [1])),
        *(("delta", one) for one in (-1, math.nan, "many", None)),
        *(("precision", one) for one in (0, 2, "fine", math.nan)),
    ],
)
def test_bad_numbers_are_named(field: str, bad: Any) -> None:
    with pytest.raises(InvalidParameter, match=field):
        acc.calibrate(lambda scale: acc.Laplace(scale=scale), **{"epsilon": 1, field: bad})


@pytest.mark.parametrize("delta", ["1e-9", "0.5", 1])
def test_all_that_delta_covers_costs_the_same(delta: Any) -> None:
    def make(rate: float) -> acc.Event:
        return acc.PoissonSample(event=acc.Gaussian(noise_multiplier=10**12), rate=rate / 10**12)

    with pytest.raises(InvalidParameter, match=r"all of the parameters.*none costs more than another"):
        acc.calibrate(make, epsilon=1, delta=delta)
