"""One step of a derivation."""

from typing import Any, NamedTuple

from .rules import Rule
from .statements import Statement


class Node(NamedTuple):
    """One node as read, before anything about it is checked."""

    name: str
    rule: Rule
    premises: list[int]
    parameters: dict[str, Any]
    witness: dict[str, Any]
    claim: Statement
