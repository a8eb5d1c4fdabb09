"""The answer speaks of keys and aggregates alone, and names mean what SQL says."""

import pytest
from hypothesis import given, settings

from privately.errors import NotSupported
from privately.plans import Field, Type
from tests.query.binding.statements import questions
from tests.query.binding.tables import ask, refusal, shown
from tests.query.binding.test_questions import check


def outputs(text: str) -> list[tuple[str, str]]:
    return [(output.name, shown(output.expression)) for output in ask(text).outputs]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT COUNT(*) FROM visits", [("COUNT(*)", "count")]),
        ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", [("ward", "ward"), ("n", "count")]),
        ("SELECT UPPER(ward) || '!' AS w, COUNT(*) AS n FROM visits GROUP BY UPPER(ward)",
         [("w", "concatenate(UPPER(ward), '!')"), ("n", "count")]),
        ("SELECT SUM(age) / COUNT(*) AS r FROM visits", [("r", "divide(sum, count)")]),
        ("SELECT COUNT(*) * 2 AS n FROM visits", [("n", "multiply(to_real(count), to_real(2))")]),
        ("SELECT ROUND(AVG(age)) AS n FROM visits", [("n", f"round(clamp(mean, {-(2.0**60)}, {2.0**60}))")]),
        ("SELECT COUNT(*), COUNT(*) + 0.5 AS m FROM visits", [("COUNT(*)", "count"), ("m", "add(count, 0.5)")]),
        ("SELECT 7 AS seven, COUNT(*) AS n FROM visits", [("seven", "7"), ("n", "count")]),
    ],
)  # fmt: skip
def test_outputs(text: str, wanted: list[tuple[str, str]]) -> None:
    assert outputs(text) == wanted


def test_equal_aggregates_are_one_estimate() -> None:
    question = ask("SELECT SUM(age) AS a, SUM(AGE) AS b FROM visits HAVING SUM(age) > 1 ORDER BY SUM(age)")
    assert len(question.estimates) == 1
    assert question.outputs[0].expression == question.outputs[1].expression == question.order[0].expression


def test_types_of_answers() -> None:
    question = ask("SELECT COUNT(*) AS n, SUM(age) AS a, SUM(cost) AS c, AVG(age) AS m, MEDIAN(age) AS q FROM visits")
    types = [output.expression.known.type for output in question.outputs]
    assert types == [Type.INTEGER, Type.INTEGER, Type.REAL, Type.REAL, Type.REAL]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT age, COUNT(*) FROM visits", "age"),
        ("SELECT UPPER(ward), ward, COUNT(*) FROM visits GROUP BY UPPER(ward)", "ward"),
        ("SELECT COUNT(*) + age AS x FROM visits", "COUNT(*) + age AS x"),
        ("SELECT COUNT(*) FROM visits HAVING age > 1", "age > 1"),
        ("SELECT COUNT(*) FROM visits GROUP BY ward ORDER BY age", "age"),
        ("SELECT LOWER(ward) AS ward, COUNT(*) FROM visits GROUP BY ward", "ward"),
        ("SELECT ward AS age, COUNT(*) FROM visits GROUP BY age", "age"),
        ("SELECT AVG(cost) AS cost, COUNT(*) FROM visits HAVING cost > 1", "cost"),
        ("SELECT COUNT(*) AS n, SUM(age) AS N FROM visits", "SUM(age) AS N"),
        ("SELECT COUNT(*) FROM visits GROUP BY 2", "2"),
        ("SELECT COUNT(*) FROM visits GROUP BY 'a'", "'a'"),
        ("SELECT COUNT(*) FROM visits GROUP BY cost", "cost"),
        ("SELECT COUNT(*) FROM visits ORDER BY 2", "2"),
        ("SELECT COUNT(*) FROM visits LIMIT -1", "1"),
    ],
)
def test_what_answers_cannot_be(text: str, part: str) -> None:
    error, found = refusal(text)
    assert isinstance(error, NotSupported)
    assert found == part


def test_a_name_of_the_answer_goes_before_a_column_in_order_by() -> None:
    question = ask("SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward ORDER BY cost, visits.ward, -cost")
    first, second, third = (order.expression for order in question.order)
    assert first == question.outputs[1].expression
    assert second == question.outputs[0].expression
    assert shown(third) == "negate(mean)"


def test_positions_mean_the_select_list() -> None:
    question = ask("SELECT UPPER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 2 DESC, 1")
    assert [order.expression for order in question.order] == [one.expression for one in reversed(question.outputs)]
    assert [order.direction for order in question.order] == ["descending", "ascending"]


def test_the_same_key_twice_is_one() -> None:
    question = ask("SELECT ward AS a, WARD AS b, COUNT(*) FROM visits GROUP BY ward, visits.ward, 1")
    (key,) = question.aggregation.keys
    assert question.outputs[0].expression == question.outputs[1].expression == Field(key.identity, key.expression.known)


def test_aggregates_in_having_and_order_need_not_be_shown() -> None:
    question = ask("SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 5 ORDER BY AVG(cost)")
    assert len(question.estimates) == 2


@given(questions())
@settings(max_examples=150)
def test_drawn_questions_are_bound(text: str) -> None:
    check(ask(text))
