"""Parts of a tree are found again in the text."""

import pytest
from sqlglot import exp

from privately.errors import NotSupported
from privately.query.parsing import parse
from privately.query.spans import Source, place_of


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("SELECT COUNT(*) FROM visits", exp.Count, "COUNT(*)"),
        ("SELECT SUM((age + 1) * 2) FROM visits", exp.Sum, "SUM((age + 1) * 2)"),
        ("SELECT SUM((age + 1) * 2) FROM visits", exp.Add, "age + 1"),
        ("SELECT COUNT(*) FROM visits WHERE city = 'a''b' AND age > 1", exp.EQ, "city = 'a''b'"),
        ('SELECT COUNT(*) FROM visits WHERE\n  "Age" > 1', exp.GT, '"Age" > 1'),
        ("SELECT COUNT(*) FROM visits -- ())\nWHERE LOWER(city) = 'a'", exp.Lower, "LOWER(city)"),
        ("SELECT COUNT(*) FROM visits WHERE é = 'ü' AND age > 1", exp.GT, "age > 1"),
        ("SELECT COUNT(*) FROM visits WHERE x IS NULL", exp.Null, "x"),
        ("SELECT COUNT(*) FROM visits WHERE CAST(age AS DOUBLE) > 1", exp.Cast, "CAST(age AS DOUBLE)"),
        ("SELECT COUNT(*) FROM visits WHERE age::DOUBLE > 1", exp.Cast, "age"),
        ("SELECT COUNT(*) FROM visits WHERE TRIM( city) = 'a'", exp.Trim, "TRIM( city)"),
        ("SELECT COUNT(*) FROM visits WHERE CAST(age AS DOUBLE) > 1", exp.DataType, "CAST(age AS DOUBLE)"),
        ("SELECT AVG(age) FILTER (WHERE urgent) FROM visits", exp.Filter, "AVG(age) FILTER (WHERE urgent)"),
    ],
)
def test_words_of_a_node(text: str, kind: type[exp.Expr], wanted: str) -> None:
    select, source = parse(text)
    node = select.find(kind)
    assert node is not None
    assert source.words(node) == wanted


def test_a_refusal_points_at_the_function_and_not_at_its_argument() -> None:
    text = "SELECT COUNT(*), max (age) FROM visits"
    with pytest.raises(NotSupported) as refusal:
        parse(text)
    assert text[slice(*refusal.value.span or ())] == "max (age)"


def test_what_has_no_place_is_the_whole_text() -> None:
    source = Source(text="SELECT 1")
    assert source.span(exp.Null()) == (0, 8)
    assert source.span(None) == (0, 8)
    assert place_of(exp.Null()) is None


def test_the_first_place_of_an_error_stays() -> None:
    select, source = parse("SELECT COUNT(*) FROM visits")
    error = source.refuse(NotSupported("no."), select.expressions[0])
    assert error.span == (7, 15)
    assert source.refuse(error, select).span == (7, 15)
