"""Plans as canonical JSON data: equal questions are equal texts, whatever their columns were called on the way.

Identities are numbered in the order in which they appear, and what is known of a value is left out, as it follows from
the rest; but for the type of a constant, which of a NULL nothing else tells.
"""

from __future__ import annotations

import json
from dataclasses import Field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

from privately.plans.expressions import Constant, Identity
from privately.plans.types import Known

VERSION = 1


def canonical_text(plan: object) -> str:
    """One text for each plan, with the version of this form."""
    data = {"version": VERSION, "plan": _Encoder().encoded(plan)}
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


class _Encoder:
    def __init__(self) -> None:
        self._numbers: dict[Identity, int] = {}

    def encoded(self, value: object) -> Any:
        match value:
            case Identity():
                return {"value": self._numbers.setdefault(value, len(self._numbers) + 1)}
            case None | bool() | int() | str():
                return value
            case float():
                return {"real": value.hex()}
            case Fraction():
                return {"rational": str(value)}
            case datetime():
                return {"timestamp": value.isoformat()}
            case date():
                return {"date": value.isoformat()}
            case Enum():
                return value.value
            case tuple():
                return [self.encoded(one) for one in value]
        if is_dataclass(value) and not isinstance(value, type):
            return {"kind": type(value).__name__, **self._members(value)}
        raise TypeError(f"a {type(value).__name__} in a plan")

    def _members(self, value: Any) -> dict[str, Any]:
        members = {one.name: getattr(value, one.name) for one in fields(value) if not _is_left_out(one, value)}
        shown = {name: self.encoded(one) for name, one in members.items() if not isinstance(one, Known)}
        return shown | {"type": value.known.type.value} if isinstance(value, Constant) else shown


def _is_left_out(member: Field[Any], value: object) -> bool:
    return "left_out" in member.metadata and getattr(value, member.name) is None
