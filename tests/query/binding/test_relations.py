"""Rows of inner SELECTs: what is handed on keeps its identity, and all else is new."""

import pytest

from privately.errors import NotSupported
from privately.plans import Project, scan_of
from tests.query.binding.tables import ask, refusal, steps


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT COUNT(*) FROM visits", ["visits"]),
        ("SELECT COUNT(*) FROM visits WHERE urgent", ["visits", "where urgent"]),
        ("SELECT COUNT(*) FROM (SELECT * FROM visits)", ["visits"]),
        (
            "SELECT COUNT(*) FROM (SELECT age AS a, size FROM visits) WHERE a > size",
            ["visits", "where greater(age, size)"],
        ),
        (
            "SELECT COUNT(*) FROM (SELECT age, age + 1 AS next FROM visits WHERE urgent) WHERE next > 2",
            ["visits", "where urgent", "select age as age, add(age, 1) as next", "where greater(next, 2)"],
        ),
        (
            "SELECT COUNT(one) FROM (SELECT 1 AS one, age, age AS again FROM visits)",
            ["visits", "select 1 as one, age as age"],
        ),
        (
            "WITH v AS (SELECT age * 2 AS age FROM visits), w AS (SELECT age * 3 AS age FROM v) SELECT SUM(age) FROM w",
            ["visits", "select multiply(age, 2) as age", "select multiply(age, 3) as age"],
        ),
        ("WITH visits AS (SELECT * FROM rows) SELECT COUNT(*) FROM visits", ["rows"]),
        ("WITH v AS (SELECT * FROM rows), w AS (SELECT * FROM visits) SELECT COUNT(*) FROM w", ["visits"]),
        ("SELECT COUNT(*) FROM ((SELECT * FROM visits))", ["visits"]),
        ("SELECT COUNT(*) FROM (WITH v AS (SELECT * FROM rows) SELECT * FROM v)", ["rows"]),
    ],
)
def test_relations(text: str, wanted: list[str]) -> None:
    assert steps(ask(text).aggregation) == wanted


def test_identities_are_kept_or_new() -> None:
    question = ask("SELECT COUNT(*) FROM (SELECT age AS size, size AS age, age + size AS both FROM visits)")
    source = question.aggregation.source
    assert isinstance(source, Project)
    by_name = dict(zip(("size", "age", "both"), source.fields, strict=True))
    scan = {one.identity.name: one.identity for one in scan_of(source).fields}
    assert by_name["size"].identity == scan["age"]
    assert by_name["age"].identity == scan["size"]
    assert by_name["both"].identity not in scan.values()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT COUNT(*) FROM (SELECT age FROM visits GROUP BY age)", "age"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age)", "age"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits LIMIT 3)", "3"),
        ("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits)", "COUNT(*)"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits HAVING age > 1)", "age > 1"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits) WHERE size > 1", "size"),
        ("SELECT COUNT(*) FROM (SELECT age FROM visits) v WHERE visits.age > 1", "visits.age"),
        ("SELECT COUNT(*) FROM (SELECT age, AGE FROM visits)", "AGE"),
        ("SELECT COUNT(*) FROM visits AS v(a, b)", "v(a, b)"),
        ("SELECT COUNT(*) FROM visits WHERE age", "age"),
    ],
)
def test_what_rows_cannot_be(text: str, part: str) -> None:
    error, found = refusal(text)
    assert isinstance(error, NotSupported)
    assert found == part


def test_columns_of_odd_names_can_be_named() -> None:
    question = ask('SELECT SUM("a b") AS "total sum" FROM (SELECT age AS "a b" FROM visits)')
    assert question.outputs[0].name == "total sum"
    refusal('SELECT COUNT(*) AS "a\nb" FROM visits')
