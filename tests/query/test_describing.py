"""Explanations show expressions as people write them: read again, they mean the same."""

import pytest

from privately.plans import Column, Filter, Table, Unit
from privately.plans.relations import Relation
from privately.query.binding import bind
from privately.query.describing import described

TABLE = Table(
    name="visits",
    columns=(
        Column(name="age", type="integer", bounds=(0, 100)),
        Column(name="cost", type="real", bounds=(0, 1000), step="0.5"),
        Column(name="ward", type="text", length=10),
        Column(name="day", type="date"),
    ),
    unit=Unit(),
)


def condition(where: str) -> Filter:
    source: Relation = bind(f"SELECT COUNT(*) AS n FROM visits WHERE {where}", {"visits": TABLE}).aggregation.source
    assert isinstance(source, Filter)
    return source


@pytest.mark.parametrize(
    "where",
    [
        "age > 20",
        "age + 1 > 20 AND cost < 3.5",
        "(age > 20 OR age < 3) AND ward = 'it''s'",
        "age > 20 OR age < 3 AND ward <> 'x'",
        "NOT (age > 20 AND age < 30)",
        "ward IS NULL",
        "ward IS NOT NULL",
        "age - (3 - age) > 2",
        "age - 3 - age > 2",
        "(age + 1) * 2 > 7",
        "age + 1 * 2 > 7",
        "-(-age) > -3",
        "(age > 3) = (cost > 2)",
        "age IN (1, 2, 3)",
        "ward LIKE 'a%' OR TRUE",
        "CASE WHEN age > 3 THEN 1 WHEN age > 2 THEN 2 ELSE 3 END = 1",
        "cost / (age * 2) / 3 > 1",
        "cost / (age / 2) > 1",
        "(ward IS NULL) IS NULL",
        "age % 2 = 1",
        "ward || 'x' = 'yx'",
    ],
)
def test_read_again_it_means_the_same(where: str) -> None:
    found = condition(where)
    assert condition(described(found.condition)) == found


def test_functions_have_their_names() -> None:
    assert described(condition("ABS(age) > 3").condition) == "absolute(age) > 3"
    assert described(condition("day > DATE '2026-01-31'").condition) == "day > 2026-01-31"
