"""Events without what changes nothing."""

from __future__ import annotations

import pytest

from privately import accounting as acc
from privately.accounting.plain import plain
from privately.guarantees import Neighbors

NOISE, PURE, RANGE = acc.Gaussian(noise_multiplier=2), acc.Pure(epsilon="0.1"), acc.Exponential(epsilon="0.3")
SAMPLE = acc.PoissonSample(event=acc.DiscreteLaplace(scale="0.8", sensitivity=2), rate="0.2")


def parallel(*events: acc.Event) -> acc.Parallel:
    return acc.Parallel(events=events)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (parallel(NOISE), NOISE),
        (parallel(parallel(NOISE), PURE), parallel(NOISE, PURE)),
        (parallel(parallel(NOISE, RANGE), PURE), parallel(NOISE, RANGE, PURE)),
        (acc.Repeat(event=parallel(NOISE), times=3), acc.Repeat(event=NOISE, times=3)),
        (acc.Group(event=parallel(parallel(PURE)), size=2), acc.Group(event=PURE, size=2)),
        (acc.PoissonSample(event=parallel(NOISE), rate="0.1"), acc.PoissonSample(event=NOISE, rate="0.1")),
        (acc.Sequence(events=[parallel(NOISE), PURE]), acc.Sequence(events=[NOISE, PURE])),
    ],
)
def test_what_is_taken_away(event: acc.Event, expected: acc.Event) -> None:
    assert plain(event) == expected


def test_others_are_left_as_they_are() -> None:
    replaced = acc.Laplace(scale=2, neighbors=Neighbors.REPLACE)
    fixed = acc.FixedSizeSample(event=replaced, size=1, population=9)
    for event in (NOISE, parallel(NOISE, PURE), acc.Sequence(events=[SAMPLE, PURE]), fixed):
        assert plain(event) is event
    assert plain(parallel(NOISE, NOISE)) == parallel(NOISE, NOISE)  # of several rows one may be in each


@pytest.mark.parametrize("event", [RANGE, SAMPLE, acc.Sequence(events=[acc.GaussianDP(mu=2), SAMPLE])], ids=str)
@pytest.mark.parametrize("size", [1, 3])
def test_plain_events_cost_the_same(event: acc.Event, size: int) -> None:
    """However deep they are hidden, also inside of groups."""
    expected = acc.epsilon(acc.Group(event=event, size=size), "1e-6")
    hidden = acc.Group(event=parallel(parallel(event)), size=size)
    assert acc.epsilon(hidden, "1e-6") == expected
    if isinstance(event, acc.Sequence):
        first, second = event.events
        inside = acc.Group(event=acc.Sequence(events=[parallel(first), second]), size=size)
        assert acc.epsilon(inside, "1e-6") == expected
