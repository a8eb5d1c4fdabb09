"""From texts to questions: hostile ones are refused, good ones are bound, and names never carry claims."""

from pathlib import Path

import pytest

from privately.errors import InvalidParameter, NotSupported, Refused, UnknownBounds
from privately.plans import FUNCTIONS, Call, Expression, Filter, Project, Question, StepSum, UnitCount
from privately.plans.expressions import fields_of, parts
from privately.query import bind
from tests.query.binding.tables import TABLES, VISITS, ask, refusal, shown, steps, tallies

CORPUS = Path(__file__).parents[1]


def lines(name: str) -> list[str]:
    listed = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [line for line in listed if line and not line.startswith("# ")]


HOSTILE, GOOD = lines("hostile.sql"), lines("good.sql")


def test_there_are_enough_of_both() -> None:
    assert len(set(HOSTILE)) >= 500
    assert len(set(GOOD)) >= 200


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_statements_are_refused_with_a_place_and_a_hint(text: str) -> None:
    error, _ = refusal(text)
    assert type(error) in {NotSupported, UnknownBounds}
    assert error.span is not None
    assert 0 <= error.span[0] <= error.span[1] <= len(text)


@pytest.mark.parametrize(
    "text", [f"SELECT COUNT(*) FROM {name}" for name in ("vis\u200bits", "visits\u202e", "vi\u00adsits")]
)
def test_characters_that_cannot_be_seen_make_another_name(text: str) -> None:
    refusal(text)


@pytest.mark.parametrize("text", GOOD)
def test_good_questions_are_bound(text: str) -> None:
    question = ask(text)
    check(question)
    assert ask(text) == question


def check(question: Question) -> None:
    """What holds of every question: everything speaks of values that are there, by identities that are unique."""
    aggregation = question.aggregation
    scan = steps(aggregation)[0]
    assert scan in {"visits", "rows"}
    rows = {field.identity for field in aggregation.source.fields}
    for _, tally in aggregation.tallies:
        argument = None if isinstance(tally, UnitCount) else tally.argument
        assert argument is None or fields_of(argument) <= rows
        if isinstance(tally, StepSum):
            bounds = tally.argument.known.range
            assert bounds is not None
            assert tally.low <= bounds.upper / tally.step + 1
            assert tally.high >= bounds.lower / tally.step - 1
    answers = {key.identity for key in aggregation.keys} | {one.identity for one in question.estimates}
    for output in question.outputs:
        assert fields_of(output.expression) <= answers
    assert not answers & rows


def functions_in(question: Question) -> set[str]:
    found: list[Expression] = [output.expression for output in question.outputs]
    found += [key.expression for key in question.aggregation.keys]
    found += [tally.argument for tally in tallies(question) if not isinstance(tally, UnitCount) and tally.argument]
    relation = question.aggregation.source
    while isinstance(relation, (Filter, Project)):
        found += [relation.condition] if isinstance(relation, Filter) else [one for _, one in relation.outputs]
        relation = relation.source
    return {part.function for one in found for part in parts(one) if isinstance(part, Call)}


def test_every_function_of_a_plan_can_be_reached() -> None:
    reached = set[str]().union(*(functions_in(ask(text)) for text in GOOD))
    assert reached == set(FUNCTIONS)


# --- claims are about values, not about names (opendp#2949 and its variants) ------------------------------------------


def bounds_of_sum(text: str) -> tuple[int, int]:
    (total,) = tallies(ask(text))
    assert isinstance(total, StepSum)
    return total.low, total.high


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("SELECT SUM(age) FROM visits", (0, 120)),
        ("SELECT SUM(age) FROM (SELECT age * 1000 AS age FROM visits)", (0, 120_000)),
        ("SELECT SUM(age) FROM (SELECT age * 1000 AS age FROM (SELECT * FROM visits WHERE age < 50))", (0, 120_000)),
        ("WITH visits AS (SELECT age * 1000 AS age FROM visits) SELECT SUM(age) FROM visits", (0, 120_000)),
        ("WITH v AS (SELECT size AS age, age AS size FROM visits) SELECT SUM(age) FROM v", (1, 5)),
        ("WITH v AS (SELECT size AS age, age AS size FROM visits) SELECT SUM(size) FROM v", (0, 120)),
        ("SELECT SUM(size) FROM (SELECT size, age FROM visits) AS v(age, size)", (0, 120)),
        ("SELECT SUM(age) FROM (SELECT -age AS age FROM visits)", (-120, 0)),
        ("SELECT SUM(age) FROM (SELECT LEAST(GREATEST(age, 0), 10) + 5 AS age FROM visits)", (5, 15)),
        (
            "SELECT SUM(x) FROM (SELECT LEAST(GREATEST(x, 0), 9) * 7 AS x FROM (SELECT patient_id AS x FROM visits))",
            (0, 63),
        ),
    ],
)
def test_bounds_follow_the_value(text: str, bounds: tuple[int, int]) -> None:
    assert bounds_of_sum(text) == bounds


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(age) FROM (SELECT patient_id AS age FROM visits)",
        "SELECT SUM(cost) FROM (SELECT free AS cost FROM visits)",
        "SELECT SUM(x) FROM (SELECT free AS x FROM (SELECT LEAST(GREATEST(free, 0), 1) AS y, free FROM visits))",
        "WITH visits AS (SELECT free AS cost FROM visits) SELECT SUM(cost) FROM visits",
        "SELECT SUM(cost) FROM (SELECT cost / score AS cost FROM visits)",
        "SELECT SUM(a) FROM (SELECT free, cost FROM visits) AS v(a, b)",
    ],
)
def test_a_bounded_name_bounds_no_other_value(text: str) -> None:
    error, _ = refusal(text)
    assert isinstance(error, UnknownBounds)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT city AS patient_id FROM visits)",
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT age AS patient_id, patient_id AS age FROM visits)",
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT patient_id % 2 AS patient_id FROM visits)",
        "SELECT COUNT(DISTINCT patient_id) FROM (SELECT COALESCE(patient_id, 0) AS patient_id FROM visits)",
        "WITH visits AS (SELECT age AS patient_id FROM visits) SELECT COUNT(DISTINCT patient_id) FROM visits",
        "SELECT COUNT(DISTINCT PATIENT_ID) FROM (SELECT size AS Patient_Id FROM visits)",
        "SELECT COUNT(DISTINCT b) FROM (SELECT patient_id, age FROM visits) AS v(a, b)",
        "SELECT COUNT(DISTINCT patient_id) FROM rows",
    ],
)
def test_units_are_counted_by_the_very_value_that_names_them(text: str) -> None:
    error, _ = refusal(text)
    assert "people" in error.message


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(DISTINCT age) FROM (SELECT age AS patient_id, patient_id AS age FROM visits)",
        "SELECT COUNT(DISTINCT a) FROM (SELECT patient_id, age FROM visits) AS v(a, b)",
        "SELECT COUNT(DISTINCT CAST(p AS INTEGER)) FROM (SELECT patient_id AS p FROM visits WHERE age > 3)",
    ],
)
def test_units_are_counted_whatever_they_are_called(text: str) -> None:
    assert tallies(ask(text)) == [UnitCount()]


def test_a_filter_before_a_redefinition_is_about_the_old_value() -> None:
    text = "SELECT age, COUNT(*) FROM (SELECT size AS age FROM visits WHERE age IN (1, 2)) GROUP BY age"
    assert ask(text).aggregation.keys[0].values == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(a) FROM (SELECT age AS a, free AS A FROM visits)",
        "SELECT SUM(a) FROM (SELECT age AS a, * FROM visits) WHERE AGE > 1 AND a IN (SELECT 1)",
        "SELECT SUM(age) FROM (SELECT *, free AS AGE FROM visits)",
        "SELECT SUM(a) FROM (SELECT age, free FROM visits) AS v(a, A)",
    ],
)
def test_two_columns_of_one_name_are_refused(text: str) -> None:
    refusal(text)


# --- parameters -------------------------------------------------------------------------------------------------------


def test_given_keys_are_public() -> None:
    text = "SELECT city AS place, COUNT(*) AS n FROM visits GROUP BY city"
    for name in ("city", "place", "PLACE"):
        question = bind(text, TABLES, keys={name: ["Rome", "Oslo", "Rome", None]})
        assert question.aggregation.keys[0].values == ("Rome", "Oslo", None)
    assert ask(text).aggregation.keys[0].values is None


@pytest.mark.parametrize(
    "keys",
    [
        {"ward": ["a"]},
        {"city": "Rome"},
        {"city": []},
        {"city": [1]},
        {"city": [float("nan")]},
        {"city": [["a"]]},
        {"n": [1]},
    ],
)
def test_keys_that_are_none_are_refused(keys: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidParameter, match="keys"):
        bind("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", TABLES, keys=keys)


def test_a_deep_stack_is_no_crash() -> None:
    def deeper(depth: int) -> Question:
        return deeper(depth - 1) if depth else ask("SELECT COUNT(*) FROM visits WHERE ((((((((age > 1))))))))")

    for depth in range(0, 960, 40):
        try:
            deeper(depth)
        except (Refused, RecursionError) as error:
            assert isinstance(error, Refused) or depth > 800  # noqa: PT017 - either may happen


def test_tables_are_found_by_the_exact_name_first() -> None:
    tables = {"Visits": VISITS, "visits": TABLES["rows"]}
    assert steps(bind("SELECT COUNT(*) FROM Visits", tables).aggregation) == ["visits"]
    assert steps(bind("SELECT COUNT(*) FROM visits", tables).aggregation) == ["rows"]
    with pytest.raises(NotSupported, match="several tables"):
        bind("SELECT COUNT(*) FROM VISITS", tables)


def test_a_whole_plan() -> None:
    question = ask(
        "WITH adults AS (SELECT ward, cost * 2 AS double FROM visits WHERE age >= 18) "
        "SELECT ward, AVG(double) AS mean FROM adults WHERE double < 100 "
        "GROUP BY ward HAVING mean > 1 ORDER BY mean LIMIT 2"
    )
    assert steps(question.aggregation) == [
        "visits",
        "where greater_or_equal(age, 18)",
        "select ward as ward, multiply(cost, 2) as double",
        "where less(double, 100)",
    ]
    assert [(output.name, shown(output.expression)) for output in question.outputs] == [
        ("ward", "ward"),
        ("mean", "mean"),
    ]
    assert question.having is not None
    assert shown(question.having) == "greater(mean, 1)"
    assert (question.limit, len(question.order)) == (2, 1)
