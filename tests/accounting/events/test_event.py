"""What all events share: they are frozen values of bounded size, and print as Python that makes them again."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting.events.event import LEAST_NOISE, MAX_DEPTH, MAX_NODES, MAX_RUNS, MOST_NOISE, check_part, noise
from privately.errors import InvalidParameter, MixedNeighbors, NotSupported
from privately.guarantees import Neighbors

ONE = acc.Gaussian(noise_multiplier=1)
EXAMPLES = [
    ONE,
    acc.Gaussian(noise_multiplier="1/3"),
    acc.Laplace(scale=0.1),
    acc.DiscreteGaussian(variance="0.1", sensitivity=3),
    acc.DiscreteLaplace(scale=10**20),
    acc.RandomizedResponse(epsilon=2, categories=5),
    acc.Exponential(epsilon=1),
    acc.Pure(epsilon="1e-300"),
    acc.Approx(epsilon=1, delta=1e-6),
    acc.ZCDP(rho="0.5"),
    acc.Renyi(bounds=[(2, 1), ("8.5", "1/3")]),
    acc.GaussianDP(mu=1),
    acc.PoissonSample(event=ONE, rate=0.01),
    acc.Sequence(events=[ONE, acc.Pure(epsilon=1)]),
    acc.Repeat(event=ONE, times=7),
    acc.Parallel(events=[ONE]),
    acc.Group(event=ONE, size=2),
]


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_values(event: acc.Event) -> None:
    again = eval(repr(event), vars(acc))  # the text is our own
    assert again == event
    assert hash(again) == hash(event)
    assert pickle.loads(pickle.dumps(event)) == event
    with pytest.raises(FrozenInstanceError):
        event.neighbors = Neighbors.REPLACE  # type: ignore[misc]


def test_equal_numbers_make_equal_events() -> None:
    spellings: list[Any] = [0.5, "0.5", "1/2", Fraction(1, 2), "5e-1"]
    assert len({acc.Gaussian(noise_multiplier=number) for number in spellings}) == 1
    assert acc.Gaussian(noise_multiplier=0.1) != acc.Gaussian(noise_multiplier="0.1"), "floats are taken exactly"


def test_kinds_and_neighbours_make_events_different() -> None:
    same: list[acc.Event] = [acc.Pure(epsilon=1), acc.Exponential(epsilon=1)]
    assert len({*same, acc.Pure(epsilon=1, neighbors=Neighbors.REPLACE)}) == 3
    assert "replacing one row" in repr(acc.Pure(epsilon=1, neighbors=Neighbors.REPLACE))


@pytest.mark.parametrize("kind", [acc.Gaussian, acc.PoissonSample, acc.Sequence])
def test_known_kinds_have_no_kinds_of_their_own(kind: type[acc.Event]) -> None:
    """A subclass with less noise would be accounted as its base."""
    with pytest.raises(NotSupported, match="inherit"):
        type("Weaker", (kind,), {})


def test_unknown_kinds_are_refused_before_they_can_pass_for_nothing() -> None:
    """Where they are repeated 0 times, sampled at rate 0 or asked at delta 1, no rule would look at them."""
    with pytest.raises(NotSupported, match=r"Unknown is an unknown kind of event.*acc\.Pure"):

        class Unknown(acc.Event):
            neighbors = Neighbors.ADD_REMOVE


def test_events_without_neighbours_are_none() -> None:
    event = acc.Event()
    with pytest.raises(InvalidParameter, match="is no event"):
        acc.epsilon(event, "1e-6")
    with pytest.raises(InvalidParameter, match="is not an event"):
        acc.Repeat(event=event, times=2)
    with pytest.raises(InvalidParameter, match="is not an event"):
        acc.derive(event, delta="1e-6")


def test_long_lists_print_short() -> None:
    assert repr(acc.Sequence(events=[ONE] * 1000)).endswith("... 1000 in all])")
    assert len(repr(acc.Sequence(events=[ONE] * 1000))) < 200


def test_sizes_are_counted() -> None:
    event = acc.Repeat(event=acc.Sequence(events=[ONE, acc.PoissonSample(event=ONE, rate=1)]), times=10)
    assert (event.nodes, event.depth, event.runs) == (5, 4, 20)
    assert (ONE.nodes, ONE.depth, ONE.runs) == (1, 1, 1)


def test_too_many_events_are_refused() -> None:
    big = acc.Sequence(events=[ONE] * (MAX_NODES - 1))
    assert big.nodes == MAX_NODES
    for make in (
        lambda: acc.Sequence(events=[ONE] * MAX_NODES),
        lambda: acc.Sequence(events=(ONE for _ in iter(int, 1))),
        lambda: acc.Repeat(event=big, times=1),
        lambda: acc.Parallel(events=[big]),
    ):
        with pytest.raises(InvalidParameter, match="more than 100000 events"):
            make()


def test_shared_events_count_each_time() -> None:
    event: acc.Event = ONE
    for _ in range(15):
        event = acc.Sequence(events=[event, event])
    assert event.nodes == 2**16 - 1
    with pytest.raises(InvalidParameter, match="more than 100000 events"):
        acc.Sequence(events=[event, event])


def test_too_deep_events_are_refused() -> None:
    event: acc.Event = ONE
    for _ in range(MAX_DEPTH - 1):
        event = acc.Repeat(event=event, times=1)
    assert hash(event) == hash(pickle.loads(pickle.dumps(event)))
    assert repr(event).startswith("Repeat")
    with pytest.raises(InvalidParameter, match="more than 100 deep"):
        acc.Repeat(event=event, times=1)


def test_too_many_runs_are_refused() -> None:
    event = acc.Repeat(event=ONE, times=10**12)
    assert acc.Repeat(event=event, times=MAX_RUNS // 10**12).runs == MAX_RUNS
    with pytest.raises(InvalidParameter, match="runs"):
        acc.Repeat(event=event, times=10**12)


def test_all_parts_protect_the_same_change() -> None:
    other = acc.Pure(epsilon=1, neighbors=Neighbors.REPLACE)
    with pytest.raises(MixedNeighbors):
        acc.Sequence(events=[ONE, other])
    with pytest.raises(MixedNeighbors):
        acc.Sequence(events=[ONE, acc.Repeat(event=other, times=2)])
    with pytest.raises(MixedNeighbors):
        acc.Sequence(events=[ONE, acc.Group(event=ONE, size=2)])
    both = acc.Sequence(events=[acc.Group(event=ONE, size=2), acc.Pure(epsilon=1, neighbors=Neighbors(size=2))])
    assert both.neighbors == Neighbors(size=2)
    assert acc.Sequence(events=[other]).neighbors == Neighbors.REPLACE


@pytest.mark.parametrize("value", [None, 1, "Gaussian", acc.Gaussian, [ONE]])
def test_only_events_are_parts(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="is not an event") as caught:
        check_part(value, "event")
    assert caught.value.field == "event"


def test_noise_has_a_range() -> None:
    assert noise(0, "scale") == 0
    assert noise(LEAST_NOISE, "scale") == LEAST_NOISE
    assert noise(MOST_NOISE, "scale") == MOST_NOISE
    for value in ("1e-10", 10**31, -1):
        with pytest.raises(InvalidParameter) as caught:
            noise(value, "scale")
        assert caught.value.field == "scale"
