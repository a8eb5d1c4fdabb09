"""Expressions in words that mean one thing only: what a certificate says of a step.

Values go by their names; a second one of the same name is `name#2`, in the order in which a plan makes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from hashlib import sha256

from privately.plans.expressions import Constant, Expression, Field, Identity
from privately.plans.relations import Project, Relation, Scan

LONGEST = 2_000
"""Beyond it, a hash of the text stands for it."""

SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "and": "and",
    "or": "or",
}
"""Signs that stand between their operands. Certificates hold them, so they stay as they are."""


class Names:
    """What the values of a relation are called, and those of all relations that it is made of: the same in each."""

    def __init__(self, relation: Relation) -> None:
        self._names: dict[Identity, str] = {}
        used: dict[str, int] = {}
        for identity in _identities(relation):
            if identity not in self._names:
                quoted = _name(identity.name)
                used[quoted] = used.get(quoted, 0) + 1
                self._names[identity] = quoted if used[quoted] == 1 else f"{quoted}#{used[quoted]}"

    def name(self, identity: Identity) -> str:
        """One name for each value."""
        return self._names[identity]

    def text(self, expression: Expression) -> str:
        """The whole expression, or its hash if it is long."""
        return shortened(self._text(expression))

    def _text(self, expression: Expression) -> str:
        if isinstance(expression, Field):
            return self.name(expression.identity)
        if isinstance(expression, Constant):
            return _constant(expression)
        said = [self._text(argument) for argument in expression.arguments]
        between = SIGNS.get(expression.function)
        if between is not None and len(said) > 1:
            return f"({f' {between} '.join(said)})"
        return f"{expression.function}({', '.join(said)})"


def shortened(text: str) -> str:
    """A text that a certificate can hold."""
    return text if len(text) <= LONGEST else f"sha256:{sha256(text.encode()).hexdigest()}"


def _identities(relation: Relation) -> Iterator[Identity]:
    """Of all values, in the order in which they are made."""
    steps: list[Relation] = [relation]
    while not isinstance(relation, Scan):
        relation = relation.source
        steps.append(relation)
    for step in reversed(steps):
        if isinstance(step, Scan):
            yield from step.identities
        elif isinstance(step, Project):
            yield from (identity for identity, _ in step.outputs)


def _name(name: str) -> str:
    """As it is if it is a plain word, in quotes otherwise."""
    return name if name.isidentifier() else json.dumps(name)


def _constant(expression: Constant) -> str:
    value, kind = expression.value, expression.known.type.value
    if value is None:
        return f"{kind} NULL"
    if isinstance(value, (date, datetime)):
        return f"{kind} '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + json.dumps(value, ensure_ascii=False)[1:-1].replace("'", "''").replace('\\"', '"') + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)
