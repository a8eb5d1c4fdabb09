"""Answers become bytes and come back; bytes that were changed do not."""

import json
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from privately import mechanisms as m
from privately.errors import LedgerCorrupt
from privately.plans import Question, Type, Unit
from privately.query.allocation import Budget, Drawn, allocated
from privately.query.answers import _plain, _value, from_bytes, result_of, to_bytes
from privately.query.drawing import NoisyNumber, ShownKeys, drawn
from privately.query.proving import derivation
from privately.query.results import Result
from privately.query.uses import uses
from tests.query.small_questions import SUM, UNITS, NoNoise, counted, question
from tests.query.test_listing import unknown

TABLE: list[Any] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "b", 8)]
GROUPS = (("a",), ("b",))


def answered(asked: Question, currency: Any = "epsilon", *noise: int) -> tuple[Result, tuple[Drawn, ...]]:
    plan = allocated(uses(asked), 2, Budget(currency=currency, amount=Fraction(1)))
    found = drawn(plan, asked.aggregation, counted(asked, TABLE), GROUPS, NoNoise(*noise))
    return result_of(asked, GROUPS, found, derivation(plan, asked.aggregation)), plan


@pytest.mark.parametrize(
    ("names", "currency"),
    [
        (("rows", "units"), "epsilon"),
        (("mean", "count", "sum", "rows"), "mu squared"),
        (("variance", "deviation"), "epsilon"),
        (("median", "quarter", "rows"), "epsilon"),
    ],
)
@pytest.mark.parametrize("unit", [Unit(), Unit(column="person", rows=2, change="replace")])
def test_there_and_back(names: tuple[str, ...], currency: str, unit: Unit) -> None:
    asked = question(*names, unit=unit)
    result, plan = answered(asked, currency, 3, -200, 40)
    again = from_bytes(to_bytes(result), asked, plan)
    assert again.noise == result.noise
    assert again.release == result.release
    assert again.rows == result.rows
    assert again.intervals("0.9") == result.intervals("0.9")
    assert again.guarantee == result.guarantee
    assert again.free
    assert to_bytes(again) == to_bytes(result)


def test_the_release_holds_the_table_and_its_intervals() -> None:
    result, _ = answered(question("rows", "mean"))
    assert result.release.value["columns"] == ("part", "rows", "mean")
    assert result.release.value["rows"] == (("a", 3, -1.0), ("b", 1, 8.0))
    assert set(result.release.intervals) == {"rows[0]", "rows[1]", "mean[0]", "mean[1]"}
    assert result.release.intervals["rows[1]"] == result.intervals()["rows"][1]


def test_dates_are_released_as_texts() -> None:
    assert _plain(date(2026, 1, 31)) == "2026-01-31"
    assert _plain(None) is None


ASKED = question("rows", "mean", "median")
KEPT, PLAN = answered(ASKED)
DATA = json.loads(to_bytes(KEPT))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nothing",
        b"\xff",
        b"[]",
        b"7",
        b"{}",
        json.dumps({"noise": DATA["noise"]}).encode(),
        json.dumps({"release": DATA["release"]}).encode(),
        json.dumps(DATA | {"noise": DATA["noise"][:-1]}).encode(),
        json.dumps(DATA | {"noise": [*DATA["noise"], [1, 2]]}).encode(),
        json.dumps(DATA | {"noise": DATA["noise"][::-1]}).encode(),
        json.dumps(DATA | {"noise": [[1, 2, 3], *DATA["noise"][1:]]}).encode(),
        json.dumps(DATA | {"noise": [[1.5] * 4, *DATA["noise"][1:]]}).encode(),
        json.dumps(DATA | {"noise": [7, *DATA["noise"][1:]]}).encode(),
        json.dumps(DATA | {"noise": [*DATA["noise"][:-1], ["x", "y"]]}).encode(),
        json.dumps(DATA | {"noise": [*DATA["noise"][:-1], ["1/0", "1"]]}).encode(),
        json.dumps(DATA | {"release": "{}"}).encode(),
        json.dumps(DATA | {"release": 5}).encode(),
        json.dumps(DATA | {"release": DATA["release"].replace('"median"', '"maximum"')}).encode(),
    ],
)
def test_changed_bytes_are_noticed(body: bytes) -> None:
    with pytest.raises(LedgerCorrupt):
        from_bytes(body, ASKED, PLAN)


def test_an_answer_to_another_question_is_noticed() -> None:
    other = question("rows", "sum")
    plan = allocated(uses(other), 2, Budget(currency="epsilon", amount=Fraction(1)))
    with pytest.raises(LedgerCorrupt):
        from_bytes(to_bytes(KEPT), other, plan)


# --- groups that were shown -------------------------------------------------------------------------------------------

SHOWN = unknown("units", "sum", unit=Unit(column="person", rows=2))


def shown(*groups: Any) -> tuple[Result, tuple[Drawn, ...]]:
    plan = allocated(uses(SHOWN), 1, Budget(currency="epsilon", amount=Fraction(1), delta=Fraction(1, 100)))
    (histogram,), (noise,) = plan[0].mechanisms, plan[1].mechanisms
    assert isinstance(histogram, m.ThresholdedHistogram)
    assert isinstance(noise, m.Laplace)
    numbers = tuple(histogram.threshold + at for at in range(len(groups)))
    found = (
        ShownKeys(tally=UNITS, mechanism=histogram, keys=groups, numbers=numbers),
        NoisyNumber(tally=SUM, mechanism=noise, numbers=tuple(range(len(groups)))),
    )
    return result_of(SHOWN, groups, found, derivation(plan, SHOWN.aggregation)), plan


@pytest.mark.parametrize("groups", [(), (("a",),), (("a",), ("b",), (None,))])
def test_groups_there_and_back(groups: Any) -> None:
    result, plan = shown(*groups)
    again = from_bytes(to_bytes(result), SHOWN, plan)
    assert (again.groups, again.noise, again.rows) == (groups, result.noise, result.rows)
    assert to_bytes(again) == to_bytes(result)


@pytest.mark.parametrize(
    "wrong",
    [
        {"keys": [["b"], ["a"]]},
        {"keys": [["a"], ["a"]]},
        {"keys": [["a"], [7]]},
        {"keys": [["a"]]},
        {"keys": [["a", "x"], ["b", "x"]]},
        {"keys": "ab"},
        {"numbers": [0, 1]},
        {"numbers": [True, True]},
        {"numbers": [10**6]},
        {"numbers": None},
    ],
)
def test_groups_that_were_not_shown(wrong: dict[str, Any]) -> None:
    result, plan = shown(("a",), ("b",))
    data = json.loads(to_bytes(result))
    data["noise"][0] |= wrong
    with pytest.raises(LedgerCorrupt):
        from_bytes(json.dumps(data).encode(), SHOWN, plan)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("date", date(2026, 1, 31)), ("timestamp", datetime(2026, 1, 31, 12, 30, 0, 5)), ("boolean", True)],
)
def test_values_of_every_type_come_back(kind: str, value: Any) -> None:
    assert _value(_plain(value), Type(kind)) == value
    assert _value(None, Type(kind)) is None
