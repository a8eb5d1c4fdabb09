"""Samples say how they were drawn, and are refused where no theorem covers them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately.accounting import FixedSizeSample, Gaussian, Group, PoissonSample, Repeat, Sequence
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors

ADDED = Gaussian(noise_multiplier=1)
REPLACED = Gaussian(noise_multiplier=1, neighbors=Neighbors.REPLACE)


def test_rates() -> None:
    assert PoissonSample(event=ADDED, rate="0.1").rate == Fraction(1, 10)
    assert FixedSizeSample(event=REPLACED, size=3, population=12).rate == Fraction(1, 4)
    assert PoissonSample(event=ADDED, rate=0).rate == FixedSizeSample(event=REPLACED, size=0, population=1).rate == 0
    assert PoissonSample(event=ADDED, rate=1).rate == FixedSizeSample(event=REPLACED, size=1, population=1).rate == 1


@pytest.mark.parametrize("rate", [-0.1, 1.1, "1.0000000001", math.nan, math.inf, None, True, "x", [0.1]])
def test_bad_rates_are_named(rate: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        PoissonSample(event=ADDED, rate=rate)
    assert caught.value.field == "rate"


@pytest.mark.parametrize(
    ("size", "population", "field"),
    [
        (-1, 5, "size"),
        (6, 5, "size"),
        (0, 0, "population"),
        (1.0, 5, "size"),
        (True, 5, "size"),
        (1, "5", "population"),
        (1, 10**19, "population"),
    ],
)
def test_bad_sizes_are_named(size: Any, population: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FixedSizeSample(event=REPLACED, size=size, population=population)
    assert caught.value.field == field


@pytest.mark.parametrize("times", [1, 3])
def test_a_sample_of_a_sample_is_drawn_from_it(times: int) -> None:
    inner = FixedSizeSample(event=REPLACED, size=2, population=5)
    seen = Sequence(events=[REPLACED, Repeat(event=inner, times=times)])
    assert FixedSizeSample(event=seen, size=5, population=9).event == seen
    with pytest.raises(InvalidParameter) as caught:
        FixedSizeSample(event=seen, size=6, population=9)
    assert caught.value.field == "population"


def test_only_events_are_sampled() -> None:
    for value in (None, "Gaussian", 1):
        with pytest.raises(InvalidParameter) as caught:
            PoissonSample(event=value, rate=1)  # type: ignore[arg-type]
        assert caught.value.field == "event"
        with pytest.raises(InvalidParameter):
            FixedSizeSample(event=value, size=1, population=2)  # type: ignore[arg-type]


def test_neighbours_without_a_theorem_are_refused() -> None:
    with pytest.raises(NoSuchRule, match="Poisson sampling"):
        PoissonSample(event=REPLACED, rate="0.1")
    with pytest.raises(NoSuchRule, match="sampling without replacement"):
        FixedSizeSample(event=ADDED, size=1, population=2)
    with pytest.raises(NoSuchRule, match="sample first, then form groups"):
        PoissonSample(event=Group(event=ADDED, size=2), rate="0.1")


def test_units_are_sampled_whole() -> None:
    unit = Neighbors.ADD_REMOVE.of_unit("person", max_rows=5)
    assert PoissonSample(event=Gaussian(noise_multiplier=1, neighbors=unit), rate="0.1").neighbors == unit
