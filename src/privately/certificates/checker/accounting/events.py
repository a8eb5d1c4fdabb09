"""Reading an event: what was run, as it stands in a certificate."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid, array, members, rational, show
from ..statements import LARGEST_NUMBER, Neighbors, read_bounds, read_neighbors

MOST_EVENTS = 10_000
LARGEST_TIMES = 10**12
LARGEST_COUNT = 10**18
MOST_NOISE = Rational(10**30)

_LEAVES: Mapping[str, tuple[str, ...]] = {
    "Gaussian": ("noise_multiplier",),
    "Laplace": ("scale",),
    "DiscreteGaussian": ("variance", "sensitivity"),
    "DiscreteLaplace": ("scale", "sensitivity"),
    "RandomizedResponse": ("epsilon", "categories"),
    "Exponential": ("epsilon",),
    "Pure": ("epsilon",),
    "Approx": ("epsilon", "delta"),
    "ZCDP": ("rho",),
    "GaussianDP": ("mu",),
}
_WITH_ONE: Mapping[str, tuple[str, ...]] = {
    "PoissonSample": ("rate",),
    "FixedSizeSample": ("size", "population"),
    "Repeat": ("times",),
    "Group": ("size",),
}
_WITH_SEVERAL = ("Sequence", "Parallel")
# Least and largest of the fields that are whole numbers.
_WHOLE = {
    "sensitivity": (1, LARGEST_COUNT),
    "categories": (2, LARGEST_COUNT),
    "size": (0, LARGEST_COUNT),
    "population": (1, LARGEST_COUNT),
    "times": (0, LARGEST_TIMES),
}
_LARGEST = {
    "delta": ONE,
    "rate": ONE,
    "noise_multiplier": MOST_NOISE,
    "scale": MOST_NOISE,
    "variance": MOST_NOISE,
}


class Event(NamedTuple):
    """An event as read; a leaf has no parts."""

    kind: str
    numbers: Mapping[str, Rational]
    bounds: tuple[tuple[Rational, Rational], ...]
    parts: "tuple[Event, ...]"
    neighbors: Neighbors
    size: int
    """How many events it holds, itself included."""

    def whole(self, name: str) -> int:
        return self.numbers[name].numerator


def read_event(value: object, field: str) -> Event:
    """Check one event with everything inside it, in the form in which all fields are present."""
    if not isinstance(value, dict):
        raise Invalid(field, "must be an event")
    kind = value.get("kind")
    if not isinstance(kind, str):
        raise Invalid(f"{field}.kind", f"is not a kind of event: {show(kind)}")
    if kind == "Renyi":
        raw = members(value, frozenset({"kind", "bounds", "neighbors"}), field)
        bounds = read_bounds(raw["bounds"], f"{field}.bounds")
        return Event(kind, {}, bounds, (), read_neighbors(raw["neighbors"], f"{field}.neighbors"), 1)
    if kind in _LEAVES:
        raw = members(value, frozenset({"kind", "neighbors", *_LEAVES[kind]}), field)
        numbers = _numbers(raw, _LEAVES[kind], field)
        return Event(kind, numbers, (), (), read_neighbors(raw["neighbors"], f"{field}.neighbors"), 1)
    if kind in _WITH_ONE:
        raw = members(value, frozenset({"kind", "event", *_WITH_ONE[kind]}), field)
        return _enclose(
            kind, _numbers(raw, _WITH_ONE[kind], field), [read_event(raw["event"], f"{field}.event")], field
        )
    if kind in _WITH_SEVERAL:
        raw = members(value, frozenset({"kind", "events"}), field)
        listed = array(raw["events"], f"{field}.events")
        if not 1 <= len(listed) <= MOST_EVENTS:
            raise Invalid(f"{field}.events", f"must be 1 to {MOST_EVENTS} events")
        return _enclose(kind, {}, [read_event(item, f"{field}.events[{i}]") for i, item in enumerate(listed)], field)
    raise Invalid(f"{field}.kind", f"is not a kind of event: {show(kind)}")


def _numbers(raw: Mapping[str, Any], names: tuple[str, ...], field: str) -> dict[str, Rational]:
    return {name: _number(raw[name], name, f"{field}.{name}") for name in names}


def _number(value: object, name: str, field: str) -> Rational:
    if name in _WHOLE:
        least, most = _WHOLE[name]
        if type(value) is not int or not least <= value <= most:
            raise Invalid(field, f"must be an integer from {least} to {most}, not {show(value)}")
        return Rational(value)
    number = rational(value, field)
    if number < ZERO or _LARGEST.get(name, LARGEST_NUMBER) < number:
        raise Invalid(field, "is out of range")
    return number


def _enclose(kind: str, numbers: dict[str, Rational], parts: list[Event], field: str) -> Event:
    neighbors = parts[0].neighbors
    if any(part.neighbors != neighbors for part in parts):
        raise Invalid(field, "its parts have different neighbours")
    size = 1 + sum(part.size for part in parts)
    if size > MOST_EVENTS:
        raise Invalid(field, f"more than {MOST_EVENTS} events in one")
    if kind == "Group":
        factor = numbers["size"].numerator
        if factor < 1 or neighbors.size * factor > LARGEST_COUNT:
            raise Invalid(f"{field}.size", "is out of range")
        neighbors = neighbors._replace(size=neighbors.size * factor)
    _check_neighbors(kind, neighbors, field)
    if kind == "FixedSizeSample" and numbers["population"] < numbers["size"]:
        raise Invalid(f"{field}.size", "is more than the population")
    return Event(kind, numbers, (), tuple(parts), neighbors, size)


def _check_neighbors(kind: str, neighbors: Neighbors, field: str) -> None:
    needed = {"PoissonSample": "add_remove", "FixedSizeSample": "replace", "Parallel": "add_remove"}.get(kind)
    if needed and (neighbors.change != needed or neighbors.size != 1):
        raise Invalid(field, f"{kind} needs neighbours by a single change of the kind {needed}")
    if kind == "Parallel" and neighbors.unit is not None and neighbors.max_rows != 1:
        raise Invalid(field, "the rows of a unit can be in several parts")
