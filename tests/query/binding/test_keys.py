"""Groups are public only if every value of their key is known beforehand."""

import pytest
from hypothesis import given, settings

from privately.errors import InvalidParameter, NotSupported
from privately.plans import Filter, Identity, Type, Value, scan_of
from privately.plans.meaning import evaluate
from privately.query.binding.keys import given_values, in_order
from tests.query.binding.statements import KEYS, conditions
from tests.query.binding.tables import ask, refusal
from tests.query.binding.test_expressions import TABLE


def values(key: str, rest: str = "") -> tuple[Value, ...] | None:
    (found,) = ask(f"SELECT COUNT(*) AS n FROM visits {rest} GROUP BY {key}").aggregation.keys
    return found.values


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("ward", ("a", "b", "c", None)),
        ("urgent", (False, True, None)),
        ("size", (1, 2, 3, 4, 5)),
        ("city", None),
        ("day", None),
        ("patient_id", None),
        ("EXTRACT(MONTH FROM day)", (*range(1, 13), None)),
        ("EXTRACT(YEAR FROM day)", None),
        ("WEEKDAY(day)", (*range(7), None)),
        ("CASE WHEN age < 18 THEN 'child' ELSE 'adult' END", ("child", "adult")),
        ("CASE WHEN age < 18 THEN 'child' WHEN urgent THEN 'now' END", ("child", "now", None)),
        ("CASE WHEN urgent THEN ward ELSE 'z' END", ("a", "b", "c", "z", None)),
        ("CASE WHEN urgent THEN city ELSE 'z' END", None),
        ("COALESCE(ward, 'none')", ("a", "b", "c", "none")),
        ("UPPER(ward)", ("A", "B", "C", None)),
        ("ward || ward", ("aa", "bb", "cc", None)),
        ("ward = 'a'", (True, False, None)),
        ("age > 18", (False, True, None)),
        ("size IS NULL", (False,)),
        ("FLOOR(age / 50)", (0, 1, 2, None)),
        ("size % 2", (1, 0)),
        ("LENGTH(ward)", (1, None)),
        ("NULLIF(ward, 'a')", ("b", "c", None)),
        ("GREATEST(TRY_CAST(1e300 AS INTEGER), size)", (None,)),
    ],
)
def test_values_that_are_public_by_themselves(key: str, wanted: tuple[Value, ...] | None) -> None:
    assert values(key) == wanted


@pytest.mark.parametrize(
    ("key", "where", "wanted"),
    [
        ("ward", "ward IN ('a', 'z')", ("a",)),
        ("city", "city IN ('Rome', 'Oslo')", ("Rome", "Oslo")),
        ("city", "city = 'Rome'", ("Rome",)),
        ("city", "'Rome' = city AND age > 3", ("Rome",)),
        ("ward", "ward IS NOT NULL", ("a", "b", "c")),
        ("ward", "ward > 'a'", ("a", "b", "c")),
        ("ward", "ward IS NULL", ("a", "b", "c", None)),
        ("urgent", "COALESCE(urgent, TRUE)", (False, True, None)),
        ("ward", "ward <> 'a' OR urgent", ("a", "b", "c", None)),
        ("city", "city = 'Rome' OR urgent", None),
        ("city", "NOT city = 'Rome'", None),
        ("city", "city = city", None),
        ("city", "city = ward", None),
        ("city", "city <> 'Rome'", None),
        ("size", "size IN (2, 3, 9)", (2, 3)),
        ("size", "size = 2.0", (1, 2, 3, 4, 5)),
        ("UPPER(ward)", "ward IN ('a', 'b')", ("A", "B")),
        ("MONTH(day)", "day IS NOT NULL", tuple(range(1, 13))),
        ("MONTH(day)", "day > DATE '2024-01-31' AND urgent", tuple(range(1, 13))),
        ("MONTH(day)", "NOT YEAR(day) = 2024", tuple(range(1, 13))),
        ("MONTH(day)", "MONTH(day) IS NOT NULL", tuple(range(1, 13))),
        ("MONTH(day)", "day IS NULL", (*range(1, 13), None)),
        ("MONTH(day)", "day IS NOT NULL OR urgent", (*range(1, 13), None)),
        ("MONTH(day)", "COALESCE(day, day) > DATE '2024-01-31'", (*range(1, 13), None)),
        ("MONTH(day)", "NOT (day IS NOT NULL)", (*range(1, 13), None)),
        ("MONTH(day)", "seen IS NOT NULL", (*range(1, 13), None)),
        ("YEAR(day)", "YEAR(day) IN (2023, 2024)", (2023, 2024)),
        ("YEAR(day)", "YEAR(seen) IN (2023, 2024)", None),
        ("LOWER(city)", "LOWER(city) = 'rome'", ("rome",)),
        ("age > 18", "age IS NOT NULL", (False, True)),
        ("TRY_CAST(city AS INTEGER) > 3", "city IS NOT NULL", (False, True, None)),
    ],
)
def test_conditions_narrow_them(key: str, where: str, wanted: tuple[Value, ...] | None) -> None:
    assert values(key, f"WHERE {where}") == wanted


def test_conditions_of_inner_selects_count_for_their_own_values() -> None:
    inner = "SELECT UPPER(ward) AS w, city AS c FROM visits WHERE ward = 'a' AND city IN ('x', 'y')"
    (one, other) = ask(f"SELECT COUNT(*) FROM ({inner}) WHERE c <> 'x' GROUP BY w, c").aggregation.keys
    assert one.values == ("A",)
    assert other.values == ("x", "y")


@given(key=KEYS.map(lambda text: text.replace("v.", "visits.")), where=conditions())
@settings(max_examples=200)
def test_no_row_is_in_a_group_that_is_not_listed(key: str, where: str) -> None:
    try:
        question = ask(f"SELECT COUNT(*) AS n FROM visits WHERE {where} GROUP BY ({key})")
    except NotSupported as error:
        assert "no groups" in error.message or "no row" in error.message  # noqa: PT017 - constants make no groups
        return
    source = question.aggregation.source
    assert isinstance(source, Filter)
    (found,) = question.aggregation.keys
    for row in TABLE[:60]:
        fields: dict[Identity, Value] = dict(zip(scan_of(source).identities, row, strict=True))
        if found.values is not None and evaluate(source.condition, fields) is True:
            assert evaluate(found.expression, fields) in found.values


def test_no_group_is_refused() -> None:
    error, _ = refusal("SELECT COUNT(*) FROM visits WHERE ward = 'z' GROUP BY ward")
    assert "no row" in error.message


def test_too_many_groups_are_refused() -> None:
    columns = "age, size, EXTRACT(DOY FROM day), EXTRACT(HOUR FROM seen)"
    error, _ = refusal(f"SELECT COUNT(*) FROM visits GROUP BY {columns}")
    assert "1,000,000" in error.message
    ask("SELECT COUNT(*) FROM visits GROUP BY age, size, EXTRACT(DOY FROM day)")


def test_values_come_once_and_null_last() -> None:
    assert in_order([None, "b", "a", "b", None]) == ("b", "a", None)
    assert given_values("x", [None, 1, 2, 1], Type.INTEGER) == (1, 2, None)


@pytest.mark.parametrize("listed", ["ab", [], [True], [1.0], [{}], [2**62]])
def test_given_values_are_checked(listed: list[Value]) -> None:
    with pytest.raises(InvalidParameter, match="keys"):
        given_values("x", listed, Type.INTEGER)
