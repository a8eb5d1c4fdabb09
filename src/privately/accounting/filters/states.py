"""Statements and neighbours as JSON data and back, as certificates write them; for whoever keeps a filter's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from privately.accounting.filters.currencies import KINDS
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee, Neighbors

VERSION = 1
_NEIGHBORS = ("change", "size", "unit", "max_rows")


def encoded(statement: Guarantee) -> dict[str, Any]:
    """A guarantee: its kind, its neighbours and its exact numbers."""
    numbers = {name: _written(value) for name, value in statement.parameters.items()}
    return {"kind": type(statement).__name__, "neighbors": encoded_neighbors(statement.neighbors), **numbers}


def decoded(data: object, name: str) -> Guarantee:
    """The guarantee that was encoded, or InvalidParameter."""
    rest = _members(data, name)
    kind = kind_named(rest.pop("kind", None), f"{name}.kind")
    neighbors = decoded_neighbors(rest.pop("neighbors", None), f"{name}.neighbors")
    try:
        return kind(**rest, neighbors=neighbors)  # type: ignore[call-arg]  # each kind takes its own numbers
    except TypeError:
        raise InvalidParameter(name, f"does not hold the numbers of {kind.__name__}.") from None


def kind_named(kind: object, name: str) -> type[Guarantee]:
    """The kind of this name, or InvalidParameter."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidParameter(name, f"is not one of {', '.join(KINDS)}.")
    return KINDS[kind]


def encoded_neighbors(neighbors: Neighbors) -> dict[str, Any]:
    """Every field by its name."""
    return {name: getattr(neighbors, name) for name in _NEIGHBORS}


def decoded_neighbors(data: object, name: str) -> Neighbors:
    """The neighbours that were encoded, or InvalidParameter."""
    found = _members(data, name)
    if set(found) != set(_NEIGHBORS):
        raise InvalidParameter(name, f"has the fields {', '.join(_NEIGHBORS)} and no others.")
    return Neighbors(**found)


def members(state: object, what: str, names: Sequence[str]) -> dict[str, Any]:
    """The members of a state, if it is one of `what`, of our version, with exactly these names besides."""
    found = _members(state, "state")
    if set(found) != {"what", "version", *names}:
        raise InvalidParameter("state", f"has the members what, version, {', '.join(names)} and no others.")
    if found["what"] != what:
        raise InvalidParameter("what", f"is not '{what}'.")
    if type(found["version"]) is not int or found["version"] != VERSION:
        raise InvalidParameter("version", f"is not {VERSION}, the only one known here.")
    return found


def check_canonical(state: object, rewritten: Mapping[str, Any]) -> None:
    """Passes if the state is as we would write it, so that equal states are equal texts."""
    if state != rewritten:
        raise InvalidParameter("state", "is not written as to_state writes it.")


def _members(data: object, name: str) -> dict[str, Any]:
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
        raise InvalidParameter(name, "is not a mapping from names to values.")
    return dict(data)


def _written(value: Fraction | tuple[tuple[Fraction, Fraction], ...]) -> Any:
    if isinstance(value, tuple):
        return [[str(order), str(bound)] for order, bound in value]
    return str(value)
