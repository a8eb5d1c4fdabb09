"""Every function, on every hostile value: never an error, and what the Python meaning says."""

import math

import duckdb
import pytest

from privately.engines.duckdb.connection import Setup, connect
from privately.engines.duckdb.expressions import column_of, expression_text
from privately.engines.duckdb.functions import WRITERS, finite
from privately.engines.duckdb.literals import NAMES, literal
from privately.plans import FUNCTIONS, Expression, Value, call
from privately.plans.meaning import evaluate
from tests.engines.duckdb.edges import calls, field, rows


def answers(expression: Expression, kinds: tuple[str, ...]) -> list[tuple[tuple[Value, ...], Value]]:
    """What DuckDB says for every combination of hostile values, as its own columns, so that nothing is folded."""
    fields = [field(kind, number) for number, kind in enumerate(kinds)]
    with duckdb.connect() as connection:
        columns = ", ".join(f"{column_of(one.identity)} {NAMES[one.known.type]}" for one in fields)
        connection.execute(f"CREATE TABLE t (i INTEGER, {columns})")
        table = rows(kinds)
        lines = [
            f"({place}, {', '.join(literal(v, one.known.type) for v, one in zip(row, fields, strict=True))})"
            for place, row in enumerate(table)
        ]
        connection.execute(f"INSERT INTO t VALUES {', '.join(lines)}")
        found = connection.execute(f"SELECT {expression_text(expression)} FROM t ORDER BY i").fetchall()
        chosen = connection.execute(f"SELECT count(*) FROM t WHERE ({expression_text(expression)}) IS NULL").fetchone()
    assert chosen == (sum(value is None for (value,) in found),)
    return list(zip(table, (value for (value,) in found), strict=True))


def same(one: Value, other: Value) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.isfinite(one)
    return type(one) is type(other) and one == other


def test_every_function_has_a_text() -> None:
    assert set(WRITERS) == set(FUNCTIONS)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_text_means_what_python_says(function: str) -> None:
    for kinds, expression in calls(function):
        fields = [field(kind, number) for number, kind in enumerate(kinds)]
        wrong = []
        for row, found in answers(expression, kinds):
            values = {one.identity: value for one, value in zip(fields, row, strict=True)}
            wanted = evaluate(expression, values)
            if not same(found, wanted):
                wrong.append((row, found, wanted))
        assert not wrong, (function, kinds, expression_text(expression), wrong[:5])


def test_long_texts_are_not_repeated() -> None:
    text = "c0 + 1"
    for _ in range(50):
        text = finite(f"({text} * c1)")
    assert len(text) < 50 * 200


@pytest.mark.parametrize("function", ["greatest", "least"])
def test_a_plan_that_names_a_column_thrice_can_be_copied(function: str) -> None:
    one = field("whole", 0)
    column = column_of(one.identity)
    thrice = expression_text(call(function, one, one, one))
    with connect(Setup()) as connection:
        connection.execute(f"CREATE TEMP TABLE t (i INTEGER, {column} BIGINT, yes BOOLEAN)")
        found = connection.execute(
            f"WITH every(i) AS (VALUES (0), (1)) SELECT * FROM every, LATERAL (SELECT count(DISTINCT {column}) FROM ("
            f"SELECT {column}, yes, {thrice} AS g FROM (SELECT * FROM t WHERE t.i = every.i) WHERE false) WHERE yes "
            "HAVING count(*) > 0) q"
        )
        assert found.fetchall() == []
