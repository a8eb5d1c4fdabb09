"""The rule for events: both directions are looked at, and every number in event, witness and claim counts."""

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import pytest

from privately.accounting.certifying import cases as checkable
from privately.accounting.certifying import derive
from privately.accounting.certifying.laws import Law
from privately.accounting.events import (
    ZCDP,
    Approx,
    Event,
    FixedSizeSample,
    Gaussian,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.certificates import certify
from privately.certificates.checker import Invalid, check
from privately.errors import CertificateInvalid
from privately.guarantees import Neighbors
from tests.certificates.checker.accounting.knowns import binomial_profile
from tests.certificates.checker.building import ROW, Plain, down, mpf, node, refuse, run, seal, statement, up

STEPS = Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=1), rate="1/100"), times=1000)
RESPONSES = Repeat(event=PoissonSample(event=Approx(epsilon=1, delta="1e-9"), rate="1/10"), times=40)
EVENTS: dict[str, Event] = {
    "normal": Repeat(event=Gaussian(noise_multiplier=3), times=10),
    "steps": STEPS,
    "responses": RESPONSES,
    "seldom": Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=1), rate="1/1000"), times=3),
    "sampled laplace": Repeat(event=PoissonSample(event=Laplace(scale=1), rate="1/3"), times=4),
    "often": Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=2), rate="0.9999999999"), times=99),
    "categories": Repeat(event=RandomizedResponse(epsilon="1/4", categories=5), times=40),
    "laplace": Laplace(scale=2),
    "mixed": Sequence(events=[STEPS, Gaussian(noise_multiplier=2), Repeat(event=Laplace(scale=10), times=5)]),
    "moments": Sequence(events=[ZCDP(rho="1/50"), STEPS, Renyi(bounds={2: "1/10", 32: "3/2"})]),
    "group": Group(event=Repeat(event=Pure(epsilon="1/10"), times=3), size=3),
    "parts": Parallel(events=[Gaussian(noise_multiplier=2), Repeat(event=Pure(epsilon="1/10"), times=90)]),
    "fixed": Repeat(
        event=FixedSizeSample(event=Pure(epsilon=1, neighbors=Neighbors.REPLACE), size=10, population=100), times=90
    ),
}
DELTA = Fraction(1, 10**6)


def made(name: str) -> Plain:
    data: Plain = json.loads(certify(derive(EVENTS[name], delta=DELTA)).document)
    return data


DATA = {name: made(name) for name in EVENTS}


def outcome(data: Plain) -> str:
    """The field that is refused, or nothing."""
    try:
        check(seal(data))
    except Invalid as refusal:
        return refusal.field
    return ""


@pytest.mark.parametrize("name", EVENTS)
def test_what_is_derived_is_accepted(name: str) -> None:
    assert outcome(DATA[name]) == ""


def numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Fraction]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if type(item) is int or (isinstance(item, str) and item.replace("/", "").lstrip("-").isdigit()):
            yield (*path, key), Fraction(item)
        yield from numbers(item, (*path, key))


def changed(data: Plain, path: tuple[Any, ...], value: Fraction) -> Plain:
    result = copy.deepcopy(data)
    holder = result["nodes"][0]
    for key in path[:-1]:
        holder = holder[key]
    whole = type(holder[path[-1]]) is int
    holder[path[-1]] = ceil(value) if whole else str(value)
    return result


COSTLIER = {
    "noise_multiplier": Fraction(9, 10),
    "scale": Fraction(9, 10),
    "times": Fraction(11, 10),
    "rate": Fraction(11, 10),
    "epsilon": Fraction(11, 10),
    "rho": Fraction(11, 10),
    "size": Fraction(2),
    "population": Fraction(1, 2),
    "categories": Fraction(2, 5),
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_that_costs_more_is_refused(name: str) -> None:
    tried = 0
    for path, value in numbers(DATA[name]["nodes"][0]["parameters"]["event"]):
        if path[-1] in COSTLIER and "neighbors" not in path and name != "parts":
            found = outcome(changed(DATA[name], ("parameters", "event", *path), value * COSTLIER[path[-1]]))
            assert found, path
            tried += 1
    assert tried or name == "parts"


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("number", ["epsilon", "delta"])
def test_a_stronger_claim_is_refused(name: str, number: str) -> None:
    value = Fraction(DATA[name]["nodes"][0]["conclusion"][number])
    if name != "group" or number == "epsilon":  # a sum of epsilons needs no delta
        assert outcome(changed(DATA[name], ("conclusion", number), value * Fraction(99, 100)))
        assert outcome(changed(DATA[name], ("conclusion", number), value * Fraction(101, 100))) == ""


def test_each_method_is_tried() -> None:
    shown = {bound["method"] for data in DATA.values() for bound in data["nodes"][0]["witness"]["bounds"]}
    assert shown >= {"gaussian", "contour", "renyi", "cells", "unsampled", "pure", "laplace"}


@pytest.mark.parametrize("name", ["steps", "responses", "mixed", "seldom", "sampled laplace"])
def test_the_claim_is_tight(name: str) -> None:
    """Not even a tenth of a percent of delta is given away."""
    value = Fraction(DATA[name]["nodes"][0]["conclusion"]["delta"])
    assert (
        outcome(changed(DATA[name], ("conclusion", "delta"), value * Fraction(999, 1000)))
        == "nodes[0].conclusion.delta"
    )


WORSE: dict[str, tuple[Fraction, ...]] = {
    "c": (Fraction(1, 3), Fraction(3)),
    "step": (Fraction(1, 30), Fraction(3)),
    "count": (Fraction(1, 3),),
    "blur": (Fraction(300),),
    "spacing": (Fraction(1, 3), Fraction(9)),
    "first": (Fraction(1, 10),),
    "last": (Fraction(1, 10),),
    "strip": (Fraction(1, 300), Fraction(300)),
    "height": (Fraction(1, 300), Fraction(300)),
    "order": (Fraction(2), Fraction(1, 2)),
    "mu": (Fraction(9, 10), Fraction(11, 10)),
    "cells": (Fraction(1, 30),),
}


@pytest.mark.parametrize("name", ["normal", "steps", "responses", "mixed", "moments", "seldom", "often"])
def test_a_witness_that_shows_less_is_refused(name: str) -> None:
    """Each number of the witness of the costlier direction is needed."""
    witness = DATA[name]["nodes"][0]["witness"]["bounds"][0]
    tried = set()
    for path, value in numbers(witness):
        if name == "moments" and path[-1] == "height":
            continue
        for factor in WORSE.get(path[-1], ()):
            if value:
                tried.add(path[-1])
                assert outcome(changed(DATA[name], ("witness", "bounds", 0, *path), value * factor)), (path, factor)
    expected = {
        "gaussian": {"mu"},
        "renyi": {"order"},
        "contour": {"c", "step", "count"},
        "cells": {"step", "cells"},
        "unsampled": {"mu"},
    }[witness["method"]]
    assert expected <= tried


@pytest.mark.parametrize("name", ["steps", "responses", "mixed", "moments"])
def test_both_directions_are_needed(name: str) -> None:
    data = copy.deepcopy(DATA[name])
    bounds = data["nodes"][0]["witness"]["bounds"]
    assert len(bounds) == 2
    for listed in (bounds[:1], bounds[1:], [*bounds, bounds[0]], []):
        data["nodes"][0]["witness"]["bounds"] = listed
        assert outcome(data) == "nodes[0].witness.bounds"


def test_the_costlier_direction_counts() -> None:
    """What one direction alone would cost is refused."""
    data = copy.deepcopy(DATA["steps"])
    cheaper = Fraction(data["nodes"][0]["conclusion"]["epsilon"]) * Fraction(9, 10)
    data["nodes"][0]["conclusion"]["epsilon"] = str(cheaper)
    data["nodes"][0]["witness"]["bounds"].reverse()
    assert outcome(data)


@pytest.mark.parametrize("name", EVENTS)
def test_neighbours_are_those_of_the_event(name: str) -> None:
    for change in ({"size": 2}, {"unit": "person"}, {"change": "replace"}, {"change": "add_remove"}):
        data = copy.deepcopy(DATA[name])
        neighbors = data["nodes"][0]["conclusion"]["neighbors"]
        if neighbors.items() >= change.items():
            continue
        neighbors.update(change)
        assert outcome(data) == "nodes[0].conclusion.neighbors"


def test_only_approx_is_concluded() -> None:
    parameters = {"version": 1, "event": {"kind": "Pure", "epsilon": "1", "neighbors": ROW}}
    witness = {"bounds": [{"method": "pure"}]}
    run(node("accounted", [], statement("ApproxDP", epsilon=1, delta=0), parameters, witness))
    refuse("conclusion.kind", "accounted", [], statement("PureDP", epsilon=1), parameters, witness)
    claim = statement("ApproxDP", epsilon=1, delta=0)
    refuse("premises", "accounted", [claim], claim, parameters, witness)
    for version in (0, 2, "1", True, None):
        refuse("parameters.version", "accounted", [], claim, {**parameters, "version": version}, witness)
    refuse("witness.bounds", "accounted", [], claim, parameters, {"bounds": [{"method": "pure"}] * 201})
    refuse("witness.bounds[0].method", "accounted", [], claim, parameters, {"bounds": [{"method": "trust"}]})


def test_binomial_sums() -> None:
    response = {"kind": "Pure", "epsilon": "1/3", "neighbors": ROW}
    failing = {"kind": "Approx", "epsilon": "1/3", "delta": "1/1000", "neighbors": ROW}
    witness = {"bounds": [{"method": "binomial"}]}
    exact = binomial_profile("1/3", 60, 3)
    for event, delta in ((response, exact), (failing, 1 - mpf("999/1000") ** 60 * (1 - exact))):
        parameters = {"version": 1, "event": {"kind": "Repeat", "event": event, "times": 60}}
        run(node("accounted", [], statement("ApproxDP", epsilon=3, delta=up(delta)), parameters, witness))
        less = statement("ApproxDP", epsilon=3, delta=down(delta))
        refuse("conclusion.delta", "accounted", [], less, parameters, witness)
        run(node("accounted", [], statement("ApproxDP", epsilon=20, delta="1/10"), parameters, witness))
    for event, times in ((response, 200_001), ({**failing, "delta": "1"}, 1), ({**response, "epsilon": "20000"}, 2)):
        parameters = {"version": 1, "event": {"kind": "Repeat", "event": event, "times": times}}
        with pytest.raises(Invalid):
            run(node("accounted", [], statement("ApproxDP", epsilon=3, delta="1/2"), parameters, witness))
    others: list[Plain] = [
        {"kind": "Laplace", "scale": "1", "neighbors": ROW},
        {"kind": "RandomizedResponse", "epsilon": "1", "categories": 3, "neighbors": ROW},
        {"kind": "Sequence", "events": [response, {**response, "epsilon": "9"}]},
    ]
    claim = statement("ApproxDP", epsilon=3, delta="1/2")
    for event in others:
        refuse("witness.bounds[0].method", "accounted", [], claim, {"version": 1, "event": event}, witness)


def test_binomial_sums_of_tiny_deltas() -> None:
    parameters = {
        "version": 1,
        "event": {"kind": "Repeat", "event": {"kind": "Pure", "epsilon": "1/3", "neighbors": ROW}, "times": 600},
    }
    witness, delta = {"bounds": [{"method": "binomial"}]}, binomial_profile("1/3", 600, 190)
    assert delta < mpf("1e-100")
    run(node("accounted", [], statement("ApproxDP", epsilon=190, delta=up(delta)), parameters, witness))
    less = statement("ApproxDP", epsilon=190, delta=down(delta))
    refuse("conclusion.delta", "accounted", [], less, parameters, witness)


def test_everything_is_allowed_with_delta_one() -> None:
    parameters = {"version": 1, "event": {"kind": "Gaussian", "noise_multiplier": "0", "neighbors": ROW}}
    run(node("accounted", [], statement("ApproxDP", epsilon=0, delta=1), parameters, {"bounds": [{"method": "pure"}]}))
    claim = statement("ApproxDP", epsilon=10**9, delta="999/1000")
    for method in ({"method": "pure"}, {"method": "gaussian", "mu": "9"}, {"method": "laplace"}):
        with pytest.raises(Invalid):
            run(node("accounted", [], claim, parameters, {"bounds": [method]}))


@pytest.mark.parametrize(
    "change",
    [
        {"count": 100_000},
        {"c": str(2**127)},
        {"c": f"1/{2**127}"},
        {"step": str(2**127)},
        {"step": f"1/{2**127}"},
        {"count": 100_000, "step": str(2**127)},
        {"blur": str(2**127)},
    ],
)
def test_a_hostile_witness_costs_little(change: Plain) -> None:
    """Refused, in bounded work, and never by an unforeseen error."""
    data = copy.deepcopy(DATA["steps"])
    data["nodes"][0]["witness"]["bounds"][0].update(change)
    try:
        check(seal(data))
    except Invalid as refusal:
        assert "beyond what can be checked" not in refusal.reason  # noqa: PT017
    else:
        assert change == {"count": 100_000}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"cells": 20_000, "step": f"1/{10**6}"}, marks=pytest.mark.slow),
        {"cells": 20_000, "step": f"1/{10**6}", "firsts": [-(10**9)]},
        {"step": str(2**127)},
        {"step": f"1/{2**127}"},
        {"firsts": [10**9]},
        {"firsts": [-(10**9)]},
        {"firsts": []},
    ],
    ids=str,
)
def test_hostile_cells_cost_little(change: Plain) -> None:
    data = copy.deepcopy(DATA["seldom"])
    data["nodes"][0]["witness"]["bounds"][0].update(change)
    with pytest.raises(Invalid) as caught:
        check(seal(data))
    assert "beyond what can be checked" not in caught.value.reason


@pytest.mark.parametrize(
    "grid",
    [
        {"first": -50_000, "last": 50_000},
        {"spacing": str(2**100)},
        {"spacing": f"1/{2**100}"},
        {"strip": str(2**100)},
        {"strip": f"1/{2**100}"},
        {"height": str(2**100)},
    ],
)
def test_a_hostile_grid_costs_little(grid: Plain) -> None:
    data = copy.deepcopy(DATA["steps"])
    data["nodes"][0]["witness"]["bounds"][0]["grids"][0].update(grid)
    with pytest.raises(Invalid) as caught:
        check(seal(data))
    assert "beyond what can be checked" not in caught.value.reason


@pytest.mark.parametrize("name", ["normal", "steps", "laplace"])
def test_a_planted_wrong_scale_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that takes the noise for a little larger than it is does not get its number through."""

    def flattered(event: Event) -> Law | None:
        law = honest(event)
        assert law is not None
        return law._replace(numbers=(law.numbers[0] * Fraction(99, 100), *law.numbers[1:]))

    honest = checkable._leaf
    monkeypatch.setattr(checkable, "_leaf", flattered)
    with pytest.raises(CertificateInvalid):
        certify(derive(EVENTS[name], delta=DELTA))
