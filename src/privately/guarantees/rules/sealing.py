"""The one place where a Derivation comes into being. Only the rules may import it (import-linter says so)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from privately.errors import InvalidParameter
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee


def conclude(
    rule: str,
    premises: Sequence[Derivation],
    conclusion: Guarantee,
    *,
    parameters: Mapping[str, Any] | None = None,
    witness: Mapping[str, Any] | None = None,
) -> Derivation:
    """A Derivation of `conclusion`. `parameters` and `witness` are JSON data with exact numbers as strings."""
    derivation = object.__new__(Derivation)
    fields = {
        "rule": rule,
        "premises": tuple(premises),
        "parameters": _frozen(parameters or {}),
        "witness": _frozen(witness or {}),
        "conclusion": conclusion,
    }
    for name, value in fields.items():
        object.__setattr__(derivation, name, value)
    return derivation


def conclusions(premises: Sequence[Derivation]) -> list[Guarantee]:
    """What the premises say; they must be at least one, and Derivations."""
    if not premises:
        raise InvalidParameter("premises", "give at least one Derivation.")
    for premise in premises:
        if not isinstance(premise, Derivation):
            raise InvalidParameter(
                "premises",
                f"{premise!r} is not a Derivation.",
                hint="A Guarantee is only a statement; derive it with a mechanism, or assume it.",
            )
    return [premise.conclusion for premise in premises]


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({name: _frozen(item) for name, item in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value
