"""Statements as JSON data and back: exact numbers as strings, every member always present."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from privately.errors import CertificateInvalid
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.guarantees.stability import Statement

KINDS: dict[str, type[Guarantee]] = {
    kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP)
}


def encode(statement: Guarantee | Statement) -> dict[str, Any]:
    """A statement as it stands in a certificate."""
    if isinstance(statement, Guarantee):
        members = {name: _encode_number(value) for name, value in statement.parameters.items()}
    else:
        values = ((one.name, getattr(statement, one.name)) for one in fields(statement) if one.name != "neighbors")
        members = {name: str(value) if isinstance(value, Fraction) else value for name, value in values}
    return {"kind": type(statement).__name__, "neighbors": _encode_neighbors(statement.neighbors), **members}


def decode(data: Mapping[str, Any]) -> Guarantee:
    """The guarantee that a conclusion in a checked certificate states."""
    rest = dict(data)
    try:
        kind, neighbors = KINDS[rest.pop("kind")], Neighbors(**rest.pop("neighbors"))
        return kind(**rest, neighbors=neighbors)  # type: ignore[call-arg]  # each kind takes its own numbers
    except (KeyError, TypeError, ValueError) as fault:
        raise CertificateInvalid("conclusion", f"not a statement we know ({fault}).") from None


def _encode_neighbors(neighbors: Neighbors) -> dict[str, Any]:
    return {
        "change": neighbors.change,
        "size": neighbors.size,
        "unit": neighbors.unit,
        "max_rows": neighbors.max_rows,
    }


def _encode_number(value: Fraction | tuple[tuple[Fraction, Fraction], ...]) -> Any:
    if isinstance(value, tuple):
        return [[str(order), str(bound)] for order, bound in value]
    return str(value)
