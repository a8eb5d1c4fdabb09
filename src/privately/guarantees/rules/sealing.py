"""The one place where proofs come into being. Only the rules may import it (import-linter says so)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation, Proof, Stability
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.stability import Statement

Made = TypeVar("Made", Derivation, Stability)
Kind = TypeVar("Kind", bound=Statement)


def conclude(
    rule: str,
    premises: Sequence[Proof],
    conclusion: Guarantee,
    *,
    parameters: Mapping[str, Any] | None = None,
    witness: Mapping[str, Any] | None = None,
) -> Derivation:
    """A Derivation of `conclusion`. `parameters` and `witness` are JSON data with exact numbers as strings."""
    return _sealed(Derivation, rule, premises, conclusion, parameters, witness)


def state(
    rule: str, premises: Sequence[Stability], conclusion: Statement, *, parameters: Mapping[str, Any] | None = None
) -> Stability:
    """A Stability of `conclusion`."""
    return _sealed(Stability, rule, premises, conclusion, parameters, None)


def _sealed(  # noqa: PLR0917 - the members of a proof
    kind: type[Made],
    rule: str,
    premises: Sequence[Proof],
    conclusion: Guarantee | Statement,
    parameters: Mapping[str, Any] | None,
    witness: Mapping[str, Any] | None,
) -> Made:
    proof = object.__new__(kind)
    fields = {
        "rule": rule,
        "premises": tuple(premises),
        "parameters": _frozen(parameters or {}),
        "witness": _frozen(witness or {}),
        "conclusion": conclusion,
    }
    for name, value in fields.items():
        object.__setattr__(proof, name, value)
    return proof


def stated(premise: object, kind: type[Kind], *, wanted: str) -> Kind:
    """What a Stability says, which must be a statement of this kind."""
    if not isinstance(premise, Stability):
        raise InvalidParameter("premise", f"{premise!r} is not a Stability.", hint="Begin with rules.scan_rows(...).")
    if not isinstance(premise.conclusion, kind):
        raise NoSuchRule(premise=premise.conclusion, wanted=wanted, hint=f"It needs {kind.__name__}.")
    return premise.conclusion


def conclusions_of_any_rows(premises: Sequence[Derivation], *, wanted: str) -> list[Guarantee]:
    """The same, of premises that leave open which rows they are about.

    One that rests on the scan of a table is about all rows of it: not about a part, nor a sample, nor the rows of units
    that the scan does not know.
    """
    found = conclusions(premises)
    for premise in premises:
        if any(isinstance(node, Stability) for node in premise.nodes()):
            hint = "It rests on the scan of a table, and so is about all of its rows: compose sequentially."
            raise NoSuchRule(premise=premise.conclusion, wanted=wanted, hint=hint)
    return found


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
