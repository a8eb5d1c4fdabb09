"""Events made of events."""

from __future__ import annotations

from typing import Any

import pytest

from privately.accounting import Gaussian, Group, Parallel, Pure, Repeat, Sequence
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors

ONE = Gaussian(noise_multiplier=1)


def test_lists_become_tuples() -> None:
    assert Sequence(events=[ONE]).events == Sequence(events=iter([ONE])).events == (ONE,)


@pytest.mark.parametrize("kind", [Sequence, Parallel])
@pytest.mark.parametrize(
    ("events", "field"),
    [
        ([], "events"),
        (None, "events"),
        (3, "events"),
        ([ONE, 3], "events[1]"),
        (ONE, "events"),
        ({ONE: 3}, "events"),
        ({ONE}, "events"),
    ],
)
def test_bad_lists_are_named(kind: Any, events: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        kind(events=events)
    assert caught.value.field == field


@pytest.mark.parametrize("times", [-1, 1.0, True, None, "3", 10**12 + 1])
def test_bad_times_are_named(times: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Repeat(event=ONE, times=times)
    assert caught.value.field == "times"


def test_times_go_from_nothing_to_a_million_millions() -> None:
    assert Repeat(event=ONE, times=0).runs == 0
    assert Repeat(event=ONE, times=10**12).runs == 10**12


@pytest.mark.parametrize("size", [0, -1, 1.0, True, None, "3", 10**9 + 1])
def test_bad_groups_are_named(size: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Group(event=ONE, size=size)
    assert caught.value.field == "size"


def test_groups_protect_more_changes() -> None:
    assert Group(event=Group(event=ONE, size=2), size=3).neighbors == Neighbors.ADD_REMOVE.times(6)
    junk: Any = "x"
    with pytest.raises(InvalidParameter, match="is not an event"):
        Repeat(event=junk, times=1)
    with pytest.raises(InvalidParameter, match="is not an event"):
        Group(event=junk, size=1)


def test_parallel_is_for_single_rows_that_come_and_go() -> None:
    for neighbors in (
        Neighbors.REPLACE,
        Neighbors.ADD_REMOVE.times(2),
        Neighbors.ADD_REMOVE.of_unit("person"),
        Neighbors.ADD_REMOVE.of_unit("person", max_rows=2),
    ):
        with pytest.raises(NoSuchRule, match="the cost of one part"):
            Parallel(events=[Pure(epsilon=1, neighbors=neighbors)])
    single = Neighbors.ADD_REMOVE.of_unit("person", max_rows=1)
    assert Parallel(events=[Pure(epsilon=1, neighbors=single)]).neighbors == single
