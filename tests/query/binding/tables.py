"""A table with a column of every kind, and short ways to ask about it."""

import pytest

from privately.errors import Refused
from privately.plans import (
    Aggregation,
    Column,
    Constant,
    Expression,
    Field,
    Filter,
    Project,
    Question,
    Relation,
    Table,
    Tally,
    Type,
    Unit,
)
from privately.query import bind

VISITS = Table(
    name="visits",
    columns=(
        Column(name="patient_id", type=Type.INTEGER),
        Column(name="age", type=Type.INTEGER, bounds=(0, 120)),
        Column(name="cost", type=Type.REAL, bounds=(0, 1000), step="0.01"),
        Column(name="ward", type=Type.TEXT, categories=("a", "b", "c")),
        Column(name="city", type=Type.TEXT, length=50),
        Column(name="urgent", type=Type.BOOLEAN),
        Column(name="day", type=Type.DATE),
        Column(name="seen", type=Type.TIMESTAMP),
        Column(name="free", type=Type.REAL),
        Column(name="score", type=Type.REAL, bounds=(-1, 1)),
        Column(name="size", type=Type.INTEGER, bounds=(1, 5), nullable=False),
    ),
    unit=Unit(column="patient_id", rows=5),
)
ROWS = Table(name="rows", columns=VISITS.columns, unit=Unit())
TABLES = {"visits": VISITS, "rows": ROWS}


def ask(text: str) -> Question:
    return bind(text, TABLES)


def refusal(text: str) -> tuple[Refused, str]:
    """How a text is refused, and the part of it that is pointed at."""
    with pytest.raises(Refused) as caught:
        bind(text, TABLES)
    assert caught.value.span is not None
    assert caught.value.hint
    return caught.value, text[slice(*caught.value.span)]


def condition(text: str) -> Expression:
    """The expression of a condition, as it is bound in WHERE."""
    source = ask(f"SELECT COUNT(*) AS n FROM visits WHERE {text}").aggregation.source
    assert isinstance(source, Filter)
    return source.condition


def tallies(question: Question) -> list[Tally]:
    return [tally for _, tally in question.aggregation.tallies]


def shown(expression: Expression) -> str:
    """An expression of a plan as a text, for people: names, constants, and calls."""
    if isinstance(expression, Field):
        return expression.identity.name
    if isinstance(expression, Constant):
        return repr(expression.value)
    return f"{expression.function}({', '.join(map(shown, expression.arguments))})"


def steps(aggregation: Aggregation) -> list[str]:
    """The relation of an aggregation, from the table on."""
    found, relation = [], aggregation.source
    while isinstance(relation, (Filter, Project)):
        found.append(_step(relation))
        relation = relation.source
    return [relation.table.name, *reversed(found)]


def _step(relation: Relation) -> str:
    if isinstance(relation, Filter):
        return f"where {shown(relation.condition)}"
    assert isinstance(relation, Project)
    return "select " + ", ".join(f"{shown(value)} as {identity.name}" for identity, value in relation.outputs)
