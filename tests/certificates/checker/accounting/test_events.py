"""Events are read strictly: whatever is not exactly in form is refused where it stands."""

from typing import Any

import pytest

from privately.certificates.checker.accounting.events import MOST_EVENTS, read_event
from privately.certificates.checker.schema import Invalid
from tests.certificates.checker.building import PERSON, REPLACE, ROW, Plain

LEAVES: list[Plain] = [
    {"kind": "Gaussian", "noise_multiplier": "3/2"},
    {"kind": "Laplace", "scale": "2"},
    {"kind": "DiscreteGaussian", "variance": "9", "sensitivity": 2},
    {"kind": "DiscreteLaplace", "scale": "9", "sensitivity": 2},
    {"kind": "RandomizedResponse", "epsilon": "1", "categories": 4},
    {"kind": "Exponential", "epsilon": "1"},
    {"kind": "Pure", "epsilon": "1"},
    {"kind": "Approx", "epsilon": "1", "delta": "1/10"},
    {"kind": "ZCDP", "rho": "1"},
    {"kind": "GaussianDP", "mu": "1"},
    {"kind": "Renyi", "bounds": [["2", "1"], ["3", "5/2"]]},
]
PURE = {"kind": "Pure", "epsilon": "1", "neighbors": ROW}

WRONG: list[Any] = [None, True, 0.5, -1, "-1", "1e3", "2/4", "nan", [], {}, [["1", "1"]]]
WRONG_PARTS: list[Any] = [None, True, 0.5, -1, "-1", "nan", {}, 10**20, "2", [{}]]


def leaf(data: Plain, neighbors: Plain = ROW) -> Plain:
    return {**data, "neighbors": neighbors}


def field_of(data: Any) -> str:
    with pytest.raises(Invalid) as caught:
        read_event(data, "event")
    return caught.value.field


@pytest.mark.parametrize("data", LEAVES, ids=lambda data: str(data["kind"]))
@pytest.mark.parametrize("neighbors", [ROW, REPLACE, PERSON])
def test_leaves(data: Plain, neighbors: Plain) -> None:
    found = read_event(leaf(data, neighbors), "event")
    assert found.kind == data["kind"]
    assert found.neighbors._asdict() == neighbors


@pytest.mark.parametrize("data", LEAVES, ids=lambda data: str(data["kind"]))
def test_every_field_of_a_leaf_is_needed_and_typed(data: Plain) -> None:
    for name in [name for name in data if name != "kind"]:
        rest = {other: value for other, value in leaf(data).items() if other != name}
        assert field_of(rest) == "event"
        for wrong in WRONG:
            assert field_of({**leaf(data), name: wrong}).startswith(f"event.{name}")
    assert field_of(data) == "event"
    assert field_of({**leaf(data), "extra": 1}) == "event"


COMBINED: list[Plain] = [
    {"kind": "Sequence", "events": [PURE, PURE]},
    {"kind": "Parallel", "events": [PURE]},
    {"kind": "Repeat", "event": PURE, "times": 10**12},
    {"kind": "Group", "event": PURE, "size": 3},
    {"kind": "PoissonSample", "event": PURE, "rate": "1/2"},
    {"kind": "FixedSizeSample", "event": leaf({"kind": "Pure", "epsilon": "1"}, REPLACE), "size": 1, "population": 9},
]


@pytest.mark.parametrize("data", COMBINED, ids=lambda data: str(data["kind"]))
def test_combinations(data: Plain) -> None:
    found = read_event(data, "event")
    assert found.size == 1 + len(data.get("events", [1]))
    for name in [name for name in data if name != "kind"]:
        for wrong in WRONG_PARTS:
            assert field_of({**data, name: wrong}).startswith(f"event.{name}")


def test_groups_multiply_the_changes() -> None:
    twice = {"kind": "Group", "event": {"kind": "Group", "event": PURE, "size": 3}, "size": 2}
    assert read_event(twice, "event").neighbors.size == 6
    assert field_of({"kind": "Group", "event": twice, "size": 10**18}) == "event.size"
    assert field_of({"kind": "Group", "event": PURE, "size": 0}) == "event.size"


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "Sequence", "events": [PURE, leaf({"kind": "Pure", "epsilon": "1"}, REPLACE)]},
        {"kind": "Sequence", "events": [PURE, {"kind": "Group", "event": PURE, "size": 2}]},
        {"kind": "PoissonSample", "event": leaf({"kind": "Pure", "epsilon": "1"}, REPLACE), "rate": "1/2"},
        {"kind": "PoissonSample", "event": {"kind": "Group", "event": PURE, "size": 2}, "rate": "1/2"},
        {"kind": "FixedSizeSample", "event": PURE, "size": 1, "population": 2},
        {"kind": "Parallel", "events": [leaf({"kind": "Pure", "epsilon": "1"}, REPLACE)]},
        {"kind": "Parallel", "events": [leaf({"kind": "Pure", "epsilon": "1"}, PERSON)]},
    ],
)
def test_neighbours_that_contradict(data: Plain) -> None:
    assert field_of(data) == "event"


def test_other_faults() -> None:
    assert field_of("Pure") == "event"
    assert field_of({"kind": "Trust", "epsilon": "0"}) == "event.kind"
    assert field_of({"kind": ["Pure"]}) == "event.kind"
    assert field_of({**COMBINED[5], "size": 10}) == "event.size"
    assert field_of({"kind": "PoissonSample", "event": PURE, "rate": "3/2"}) == "event.rate"
    assert field_of(leaf({"kind": "Approx", "epsilon": "1", "delta": "3/2"})) == "event.delta"
    assert field_of(leaf({"kind": "RandomizedResponse", "epsilon": "1", "categories": 1})) == "event.categories"
    assert field_of(leaf({"kind": "DiscreteLaplace", "scale": "1", "sensitivity": 0})) == "event.sensitivity"
    assert field_of({"kind": "Sequence", "events": []}) == "event.events"
    many = {"kind": "Sequence", "events": [PURE] * (MOST_EVENTS - 1)}
    assert read_event(many, "event").size == MOST_EVENTS
    assert field_of({"kind": "Repeat", "event": many, "times": 1}) == "event"
