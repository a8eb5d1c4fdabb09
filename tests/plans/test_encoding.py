"""One text for one plan: names of identities do not matter, everything else does."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import pytest

from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Field,
    Filter,
    Identity,
    Key,
    Known,
    Number,
    Order,
    Output,
    Project,
    Quantile,
    Question,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Type,
    Unit,
    UnitCount,
    call,
    constant,
)
from privately.plans.encoding import canonical_text

HALF = Fraction(1, 2)
PERSON = Unit(column="person", rows=3)


def question(  # noqa: PLR0917 - everything that can differ
    numbers: Callable[[int], int] = lambda number: number,
    names: str = "x",
    unit: Unit = PERSON,
    column: str = "amount",
    bounds: tuple[int, int] = (0, 10),
    above: Any = 0,
    function: str = "greater",
    values: tuple[str, ...] | None = ("a", "b"),
    tally: str = "sum",
    step: Fraction = Fraction(1),
    shown: str = "n",
    direction: Any = "ascending",
    limit: int | None = 5,
) -> Question:
    """A question with a filter, a new value, a key and one estimate."""
    person, part, amount, new, total, found = (Identity(number=numbers(at), name=f"{names}{at}") for at in range(1, 7))
    columns = (
        Column(name="person", type="text"),
        Column(name="part", type="text"),
        Column(name=column, type="integer", bounds=bounds),
    )
    scan = Scan(table=Table(name="t", columns=columns, unit=unit), identities=(person, part, amount))
    whole = Filter(source=scan, condition=call(function, scan.fields[2], constant(above)))
    doubled = call("add", scan.fields[2], scan.fields[2])
    rows = Project(source=whole, outputs=((part, scan.fields[1]), (new, doubled)))
    argument = rows.fields[1]
    kinds: dict[str, Tally] = {
        "sum": StepSum(argument=argument, step=step, low=0, high=20),
        "lower": StepSum(argument=argument, step=step, low=-1, high=20),
        "count": RowCount(argument=argument),
        "rows": RowCount(),
        "units": UnitCount(),
    }
    asked = kinds[tally]
    key = Key(identity=part, expression=rows.fields[0], values=values)
    return Question(
        aggregation=Aggregation(source=rows, keys=(key,), tallies=((total, asked),)),
        estimates=(Number(identity=found, tally=total),),
        outputs=(Output(name=shown, expression=Field(found, Known(type=Type.INTEGER))),),
        order=(Order(expression=Field(found, Known(type=Type.INTEGER)), direction=direction),),
        limit=limit,
    )


def test_names_and_numbers_of_identities_do_not_matter() -> None:
    text = canonical_text(question())
    assert canonical_text(question(lambda number: 100 - 7 * number)) == text
    assert canonical_text(question(names="something else ")) == text


def test_swapped_identities_matter() -> None:
    """The same numbers, but the sum is of another value."""
    one = question()
    total = one.aggregation.tallies[0]
    other = replace(one.aggregation, tallies=((total[0], StepSum(argument=_part(one), step=HALF, low=0, high=20)),))
    assert canonical_text(replace(one, aggregation=other)) != canonical_text(one)


def _part(one: Question) -> Field:
    known = Known(type=Type.INTEGER)
    return Field(one.aggregation.source.fields[0].identity, known)


@pytest.mark.parametrize(
    "change",
    [
        {"unit": Unit(column="person", rows=2)},
        {"unit": Unit(column="person", rows=3, rows_per_group=1)},
        {"unit": Unit(column="person", rows=3, groups=1)},
        {"unit": Unit(column="person", rows=3, change="replace")},
        {"unit": Unit()},
        {"column": "cost"},
        {"bounds": (0, 11)},
        {"above": 1},
        {"above": 0.0},
        {"function": "greater_or_equal"},
        {"values": ("a",)},
        {"values": ("b", "a")},
        {"values": None},
        {"tally": "lower"},
        {"tally": "count"},
        {"tally": "rows"},
        {"tally": "units"},
        {"step": HALF},
        {"shown": "m"},
        {"direction": "descending"},
        {"limit": None},
        {"limit": 4},
    ],
)
def test_whatever_decides_on_the_answer_changes_the_text(change: dict[str, Any]) -> None:
    assert canonical_text(question(**change)) != canonical_text(question())


def test_a_resolution_that_is_not_declared_leaves_texts_as_they_were() -> None:
    plain, coarse = (Column(name="x", type="real", bounds=(0, 9), resolution=resolution) for resolution in (None, 3))
    assert "resolution" not in json.loads(canonical_text(plain))["plan"]
    assert json.loads(canonical_text(coarse))["plan"]["resolution"] == {"rational": "3"}


def test_constants_of_other_types_are_others() -> None:
    values: list[Any] = [1, 1.0, True, "1", "true", 0.1, 0.1 + 1e-18, "a", "A", -0.0, 0.0, None, date(2026, 1, 1)]
    values += [datetime(2026, 1, 1), "2026-01-01", "null", ""]
    texts = [canonical_text(constant(one, Type.TEXT if one is None else None)) for one in values]
    texts += [canonical_text(constant(None, kind)) for kind in Type if kind is not Type.TEXT]
    assert len(set(texts)) == len(texts) - 1  # 0.1 and 0.1 + 1e-18 are the same double


def test_tallies_and_estimates_have_texts_of_their_own() -> None:
    one, other = Identity(number=1, name="a"), Identity(number=2, name="b")
    argument = Field(one, Known(type=Type.INTEGER))
    texts = {
        canonical_text(BinCounts(argument=argument, lower=HALF, width=HALF, bins=2)),
        canonical_text(BinCounts(argument=argument, lower=HALF, width=HALF, bins=3)),
        canonical_text(BinCounts(argument=argument, lower=HALF, width=Fraction(1), bins=2)),
        canonical_text(Quantile(identity=other, bins=one, probability=HALF)),
        canonical_text(Quantile(identity=other, bins=one, probability=Fraction(1, 3))),
        canonical_text(Quantile(identity=one, bins=one, probability=HALF)),
    }
    assert len(texts) == 6


def test_the_text_is_json_of_a_version() -> None:
    data = json.loads(canonical_text(question()))
    assert data["version"] == 1
    assert data["plan"]["kind"] == "Question"
    assert canonical_text(question()).isascii()


def test_nothing_else_has_a_text() -> None:
    with pytest.raises(TypeError, match="a set in a plan"):
        canonical_text({1})
