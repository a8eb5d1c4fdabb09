"""Events as JSON data and back: exact, canonical, strict.

Every kind of event has a name and fields that are never removed and never come to mean something else; a new field
would have a default that keeps the old meaning. What is unknown here is refused, never skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from privately.accounting.events import (
    MAX_DEPTH,
    MAX_NODES,
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
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
from privately.errors import InvalidParameter, NotSupported
from privately.guarantees import Neighbors

VERSION = 1
LONGEST_TEXT = 10**8
FORM = '{"version": 1, "event": {"kind": "Laplace", "scale": "2"}}'

Made = TypeVar("Made")
Form: TypeAlias = Literal["number", "whole", "bounds", "event", "events", "neighbors"]

_LEAF: dict[str, Form] = {"neighbors": "neighbors"}

KINDS: dict[str, tuple[type[Event], dict[str, Form]]] = {
    "Gaussian": (Gaussian, {"noise_multiplier": "number", **_LEAF}),
    "Laplace": (Laplace, {"scale": "number", **_LEAF}),
    "DiscreteGaussian": (DiscreteGaussian, {"variance": "number", "sensitivity": "whole", **_LEAF}),
    "DiscreteLaplace": (DiscreteLaplace, {"scale": "number", "sensitivity": "whole", **_LEAF}),
    "RandomizedResponse": (RandomizedResponse, {"epsilon": "number", "categories": "whole", **_LEAF}),
    "Exponential": (Exponential, {"epsilon": "number", **_LEAF}),
    "Pure": (Pure, {"epsilon": "number", **_LEAF}),
    "Approx": (Approx, {"epsilon": "number", "delta": "number", **_LEAF}),
    "ZCDP": (ZCDP, {"rho": "number", **_LEAF}),
    "Renyi": (Renyi, {"bounds": "bounds", **_LEAF}),
    "GaussianDP": (GaussianDP, {"mu": "number", **_LEAF}),
    "PoissonSample": (PoissonSample, {"event": "event", "rate": "number"}),
    "FixedSizeSample": (FixedSizeSample, {"event": "event", "size": "whole", "population": "whole"}),
    "Sequence": (Sequence, {"events": "events"}),
    "Repeat": (Repeat, {"event": "event", "times": "whole"}),
    "Parallel": (Parallel, {"events": "events"}),
    "Group": (Group, {"event": "event", "size": "whole"}),
}
OPTIONAL = ("neighbors", "sensitivity", "categories")
"""These may be left out: ADD_REMOVE, 1 and 2."""

_KIND_OF = {kind: name for name, (kind, _) in KINDS.items()}
_NEIGHBORS = ("change", "size", "unit", "max_rows")


def encode(event: Event) -> dict[str, Any]:
    """An event as data for JSON, every field present, numbers as text. Equal events give equal data.

    >>> encode(PoissonSample(event=Pure(epsilon=1), rate="0.25"))["event"]["rate"]
    '1/4'
    """
    return {"version": VERSION, "event": _encode(event)}


def decode(data: Mapping[str, Any]) -> Event:
    """The event that was encoded. Left-out fields have their defaults; unknown kinds and fields are refused."""
    if not isinstance(data, Mapping) or "event" not in data:
        raise InvalidParameter("data", f"must be an object with a version and an event; write {FORM}.")
    known = _members(data, ("version", "event"), "data")
    version = known.get("version")
    if type(version) is not int or version != VERSION:
        hint = f"This release reads version {VERSION}; write {FORM}."
        raise NotSupported(f"events of version {_short(version)}.", hint=hint)
    return _decode(known["event"], "event", 1)


def to_text(event: Event) -> str:
    """The one JSON text of an event: sorted, without spaces. Equal events give equal texts."""
    return json.dumps(encode(event), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def from_text(text: str) -> Event:
    """The event of a JSON text."""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise InvalidParameter("text", f"must be a JSON text of at most {LONGEST_TEXT} characters.")
    if not text.strip():
        raise InvalidParameter("text", f"is empty; write {FORM}.")
    if text.startswith("\ufeff"):
        raise InvalidParameter("text", f"begins with a byte order mark; save it as UTF-8 without one, such as {FORM}.")
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise InvalidParameter("text", f"events nested more than {MAX_DEPTH} deep.") from None
    except json.JSONDecodeError as fault:
        raise InvalidParameter("text", f"not JSON: {fault}; write {FORM}.") from None
    except InvalidParameter:
        raise
    except ValueError:  # from `int`, whose words are about Python
        raise InvalidParameter("text", "a whole number has thousands of digits; no field takes so many.") from None
    return decode(data)


def _encode(event: Event) -> dict[str, Any]:
    name = _KIND_OF.get(type(event))
    if name is None:
        raise NotSupported(f"{type(event).__name__} is not a kind of event.")
    return {
        "kind": name,
        **{field: _encode_field(getattr(event, field), form) for field, form in KINDS[name][1].items()},
    }


def _encode_field(value: Any, form: Form) -> Any:
    match form:
        case "number":
            return str(value)
        case "whole":
            return value
        case "bounds":
            return [[str(order), str(bound)] for order, bound in value]
        case "event":
            return _encode(value)
        case "events":
            return [_encode(part) for part in value]
        case "neighbors":
            return {field: getattr(value, field) for field in _NEIGHBORS}


def _decode(data: Any, place: str, depth: int) -> Event:
    if depth > MAX_DEPTH:
        raise InvalidParameter("event", f"events nested more than {MAX_DEPTH} deep.")
    if not isinstance(data, Mapping):
        raise InvalidParameter(place, "must be an object with a kind.")
    name = data.get("kind")
    if not isinstance(name, str) or name not in KINDS:
        raise NotSupported(f"{place}: {_short(name)} is not a kind of event.", hint=f"Known are {', '.join(KINDS)}.")
    kind, forms = KINDS[name]
    members = _members(data, ("kind", *forms), place)
    given = {
        field: _decode_field(members[field], forms[field], f"{place}.{field}", depth)
        for field in forms
        if field in members
    }
    missing = [field for field in forms if field not in given and field not in OPTIONAL]
    if missing:
        raise InvalidParameter(f"{place}.{missing[0]}", f"is missing; {name} needs it.")
    return _made(kind, given, place)


def _decode_field(value: Any, form: Form, place: str, depth: int) -> Any:
    match form:
        case "number":
            return _number(value, place)
        case "whole":
            return value
        case "bounds":
            if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
                raise InvalidParameter(place, "must be a list of pairs of an order and its bound.")
            return [(_number(order, place), _number(bound, place)) for order, bound in value]
        case "event":
            return _decode(value, place, depth + 1)
        case "events":
            if not isinstance(value, list):
                raise InvalidParameter(place, "must be a list of events.")
            return _decode_all(value, place, depth)
        case "neighbors":
            return _made(Neighbors, _members(value, _NEIGHBORS, place), place)


def _decode_all(listed: list[Any], place: str, depth: int) -> list[Event]:
    """No more of them than an event can hold, before time is spent on the rest."""
    found, nodes = [], 1
    for i, part in enumerate(listed):
        found.append(_decode(part, f"{place}[{i}]", depth + 1))
        nodes += found[-1].nodes
        if nodes > MAX_NODES:
            raise InvalidParameter(place, f"more than {MAX_NODES} events in one; repeat equal ones with Repeat.")
    return found


def _made(kind: Callable[..., Made], given: Mapping[str, Any], place: str) -> Made:
    """What the fields make; a bad one is named by its place in the data."""
    try:
        return kind(**given)
    except InvalidParameter as fault:
        raise InvalidParameter(f"{place}.{fault.field}", fault.message.removeprefix(f"{fault.field}: ")) from None


def _members(data: Any, known: tuple[str, ...], place: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise InvalidParameter(place, "must be an object.")
    unknown = [name for name in data if name not in known]
    if unknown:
        raise NotSupported(f"{place}: {_short(unknown[0])} is not a field here.", hint=f"Known are {', '.join(known)}.")
    return dict(data)


def _number(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InvalidParameter(place, 'numbers are written as text, such as "0.1" or "1/3".')
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidParameter("text", "a field is given twice; give it once.")
    return found


def _short(value: object) -> str:
    try:
        return f"{value!r:.60}"
    except ValueError:  # an int of more digits than Python will print
        return "that value"
