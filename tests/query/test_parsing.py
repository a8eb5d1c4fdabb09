"""Whatever the text, the end is a tree of what is understood, or a refusal, soon."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NotSupported, Refused
from privately.query import bind
from privately.query.parsing import DEEPEST, LONGEST_TEXT, MOST_WORDS, parse
from tests.endless import ends
from tests.query.binding.tables import TABLES, ask, refusal


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits",
        "select count(*) from visits",
        "SELECT COUNT(*) FROM visits;",
        "SELECT COUNT(*) FROM visits ; ;",
        "SELECT COUNT(*) FROM visits; -- ; DROP TABLE visits",
        "(SELECT COUNT(*) FROM visits)",
        "((SELECT COUNT(*) FROM visits))",
        "FROM visits SELECT COUNT(*)",
        "SELECT /* a comment */ COUNT(*) -- another\n FROM visits",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v",
        "SELECT COUNT(*) FROM visits WHERE city = 'a;b'",
    ],
)
def test_questions_are_read(text: str) -> None:
    select, source = parse(text)
    assert select.expressions
    assert source.text == text


NESTED = "abs(", "(", "not (", "case when urgent then ", "[", "{'a':", "- ", "not ", "~ ", "+ ", "count(", "(select "
ENDS = {"case when urgent then ": " end", "[": "]", "{'a':": "}", "- ": "", "not ": "", "~ ": "", "+ ": ""}


@pytest.mark.parametrize("opening", NESTED)
@pytest.mark.parametrize("depth", [DEEPEST + 1, 1_000, 5_000])
def test_deep_texts_are_refused_soon(opening: str, depth: int) -> None:
    text = f"SELECT COUNT(*) FROM visits WHERE {opening * depth}age{ENDS.get(opening, ')') * depth} > 1"
    with ends():
        refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 100_000,
        "(" * 100_000 + "SELECT COUNT(*) FROM visits" + ")" * 100_000,
        "SELECT COUNT(*) FROM visits WHERE " + "age = 1 OR " * 100_000 + "age = 2",
        "SELECT COUNT(*) FROM visits WHERE " + "age = 1 OR " * 4_000 + "age = 2",
        "SELECT COUNT(*) FROM visits WHERE " + "age + " * 8_000 + "age > 2",
        "SELECT COUNT(*) FROM visits WHERE " + "age + " * 500 + "age > 2",
        "SELECT COUNT(*) FROM visits WHERE city" + "::text" * 5_000 + " = 'a'",
        "SELECT COUNT(*) FROM visits WHERE " + "city || " * 5_000 + "city = 'a'",
        "SELECT " + "COUNT(*) + " * 5_000 + "1 FROM visits",
        "SELECT " + ", ".join(f"SUM(age + {number}) AS s{number}" for number in range(200)) + " FROM visits",
        "SELECT COUNT(*) FROM visits WHERE city = '" + "x" * 100_000 + "'",
        "SELECT COUNT(*) FROM visits WHERE age = " + "9" * 100_000,
        "SELECT COUNT(*) FROM visits WHERE cost = 0." + "9" * 100_000,
        "SELECT COUNT(" + "x" * 100_000 + ") FROM visits",
        'SELECT COUNT("' + "x" * 100_000 + '") FROM visits',
        "SELECT COUNT(*) AS " + "x" * 1_000 + " FROM visits",
        "SELECT COUNT(*) FROM visits" + " " * 10_000_000,
        "SELECT COUNT(*) FROM visits -- " + "x" * 10_000_000,
        "x" * 10_000_000,
        "WITH " + ", ".join(f"v{one} AS (SELECT * FROM visits)" for one in range(4_000)) + " SELECT 1 FROM v1",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 31 + "visits" + ")" * 31,
        "WITH v0 AS (SELECT age AS x FROM visits), "
        + ", ".join(f"v{one} AS (SELECT x + x AS x FROM v{one - 1})" for one in range(1, 60))
        + " SELECT COUNT(x) FROM v59",
        "WITH v0 AS (SELECT score AS x FROM visits), "
        + ", ".join(f"v{one} AS (SELECT x * x AS x FROM v{one - 1})" for one in range(1, 60))
        + " SELECT COUNT(x) FROM v59",
    ],
    ids=lambda text: str(text)[:50],
)
def test_bombs_are_refused_soon(text: str) -> None:
    with ends():
        refusal(text)


def test_the_limits_are_no_tighter_than_they_say() -> None:
    ask("SELECT COUNT(*) FROM visits WHERE " + "(" * (DEEPEST - 1) + "age" + ")" * (DEEPEST - 1) + " > 1")
    ask("SELECT COUNT(*) FROM visits" + " " * (LONGEST_TEXT - 27))
    ask("SELECT COUNT(*) FROM visits WHERE age IN (" + "1, " * (MOST_WORDS // 2 - 10) + "2)")
    ask("SELECT COUNT(*) FROM visits WHERE " + "urgent AND " * 2_000 + "urgent")
    ask("SELECT COUNT(*) FROM " + "(SELECT * FROM " * 25 + "visits" + ")" * 25)


@pytest.mark.parametrize("text", ["SELECT '\0'", "SELECT '\ud800'", "\udfff"])
def test_what_is_no_character_is_pointed_at(text: str) -> None:
    _, part = refusal(text)
    assert len(part) == 1


@pytest.mark.parametrize("text", [None, 1, b"SELECT 1", ["SELECT 1"]])
def test_a_question_is_a_text(text: object) -> None:
    with pytest.raises(InvalidParameter, match="text"):
        parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("SELECT COUNT(*) FROM visits WHERE", "WHERE"),
        ("SELECT COUNT(*) FROM visits GROUP ward", "ward"),
        ("DROP TABLE visits", "DROP"),
        ("SELECT COUNT(*) FROM visits; SELECT 1", "visits;"),
        ("SELECT COUNT(*),, AVG(age) FROM visits", ",,"),
        ("SELECT COUNT(*)\nFROM visits\nWHERE age ! 3", "!"),
    ],
)
def test_the_place_is_pointed_at(text: str, part: str) -> None:
    error, found = refusal(text)
    assert isinstance(error, NotSupported)
    assert part in found or found in part


VOCABULARY = (
    "SELECT COUNT ( ) * FROM visits WHERE age > 1 , AND OR NOT CASE WHEN THEN END GROUP BY ward ORDER LIMIT 'a' \" ; "
    "-- /* */ + - / :: IN BETWEEN LIKE IS NULL AS n WITH DISTINCT FILTER OVER [ ] { } . @ # $ ? é \u202e \u200b"
)
WORDS = st.sampled_from(VOCABULARY.split(" "))
GOOD = "SELECT ward , COUNT(*) AS n , AVG ( cost ) FROM visits WHERE age > 1 GROUP BY ward ORDER BY n LIMIT 5"


def question_or_refused(text: str) -> None:
    try:
        bind(text, TABLES)
    except Refused as error:
        span = error.span
    else:
        span = (0, 0)
    assert span is not None
    assert 0 <= span[0] <= span[1] <= len(text)


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=60))
def test_any_text_is_a_question_or_refused(text: str) -> None:
    question_or_refused(text)


@given(words=st.lists(WORDS, min_size=1, max_size=6), place=st.integers(0, 25))
def test_a_question_with_something_put_into_it_is_a_question_or_refused(words: list[str], place: int) -> None:
    good = GOOD.split(" ")
    question_or_refused(" ".join([*good[:place], *words, *good[place:]]))
