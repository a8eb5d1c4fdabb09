"""What is known of a call holds for every value of its arguments."""

import random
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.errors import NotSupported, Refused
from privately.plans import FUNCTIONS, Call, Constant, Expression, Field, Identity, Known, Range, Type, call, constant
from privately.plans.meaning import evaluate

DAY = date(2024, 2, 29)
POOL: list[tuple[Known, list[Any]]] = [
    (Known(type=Type.INTEGER, range=Range(Fraction(-3), Fraction(5))), [-3, -1, 0, 2, 5, None]),
    (Known(type=Type.INTEGER, nullable=False, range=Range(Fraction(1), Fraction(2**61))), [1, 2**53 + 1, 2**61]),
    (Known(type=Type.INTEGER), [-(2**62) + 1, 0, 2**62 - 1, None]),
    (Known(type=Type.REAL, range=Range(Fraction(-1), Fraction(1, 3))), [-1.0, -0.5, -0.0, 0.1, 1 / 3, None]),
    (Known(type=Type.REAL), [-1.7e308, -1e-300, 0.0, 2.5, 5e-324, 1.7e308, None]),
    (Known(type=Type.BOOLEAN), [True, False, None]),
    (Known(type=Type.TEXT, length=6), ["", "a b", " ß%_\\", "12", "-1.5e3", "İabcdé", None]),
    (Known(type=Type.TEXT, nullable=False, length=10), ["2024-02-29", "x", "ab"]),
    (Known(type=Type.DATE), [DAY, DAY - timedelta(days=400_000), date(9999, 12, 31), None]),
    (Known(type=Type.TIMESTAMP), [datetime(2024, 2, 29, 23, 59, 59), datetime(1, 1, 1), None]),
]
CONSTANTS = [constant(one) for one in (1, 3, -2, 0.25, 1e300, "a%", True, DAY)]


def arguments() -> list[tuple[Expression, list[Any]]]:
    """Fields with values that they can have, and constants."""
    fields: list[tuple[Expression, list[Any]]] = [
        (Field(Identity(number=at, name=f"f{at}"), known), values) for at, (known, values) in enumerate(POOL)
    ]
    return fields + [(one, [one.value]) for one in CONSTANTS]


def calls(function: str, tries: int = 600) -> list[tuple[Call, list[list[Any]]]]:
    """Calls of a function that are allowed, with the values of their arguments."""
    chance, listed, found = random.Random(function), arguments(), []
    lists = [list(one) for size in (1, 2) for one in product(listed, repeat=size)]
    lists += [chance.choices(listed, k=size) for size in (3, 3, 3, 5) for _ in range(tries)]
    for chosen in lists:
        try:
            made = call(function, *(one for one, _ in chosen))
        except Refused:
            continue
        found.append((made, [values for _, values in chosen]))
    return found


def holds(known: Known, value: Any) -> bool:
    """Whether a value is one that was to be expected."""
    if value is None:
        return known.nullable
    kinds: dict[Type, type[Any]] = {
        Type.INTEGER: int,
        Type.REAL: float,
        Type.TEXT: str,
        Type.BOOLEAN: bool,
        Type.DATE: date,
        Type.TIMESTAMP: datetime,
    }
    if type(value) is not kinds[known.type]:
        return False
    if known.range is not None and value not in known.range:
        return False
    return known.length is None or len(value) <= known.length


@pytest.mark.thinned(2)
@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_what_is_known_holds(function: str) -> None:
    made = calls(function)
    assert made, "no call was allowed"
    chance = random.Random(1)
    for one, lists in chance.sample(made, min(len(made), 150)):
        tuples = list(product(*lists))
        for values in chance.sample(tuples, min(len(tuples), 40)):
            fields = [argument.identity for argument in one.arguments if isinstance(argument, Field)]
            given = [
                value for value, argument in zip(values, one.arguments, strict=True) if isinstance(argument, Field)
            ]
            if len(set(fields)) == len(fields):
                found = evaluate(one, dict(zip(fields, given, strict=True)))
                assert holds(one.known, found), (one, values, found)


def test_expectations_can_fail() -> None:
    one = Known(type=Type.INTEGER, nullable=False, range=Range(Fraction(0), Fraction(1)))
    assert not any(holds(one, value) for value in (None, 2, 0.5, True, "0"))


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_nothing_is_free(function: str) -> None:
    assert all(one.known.cost > sum(each.known.cost for each in one.arguments) for one, _ in calls(function, 50))


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_functions_have_a_name_a_meaning_and_types(function: str) -> None:
    assert FUNCTIONS[function].name == function
    assert FUNCTIONS[function].meaning
    with pytest.raises(Refused):
        call(
            function,
            *(Constant(None, Known(type=kind)) for kind in (Type.TEXT, Type.TIMESTAMP, Type.BOOLEAN, Type.DATE)),
        )


def test_whole_numbers_end_at_64_bits_whatever_they_are_made_of() -> None:
    """What is beyond becomes NULL, so no range says that it could be a value."""
    for value in (1e300, -1e300, 2.0**62):
        known = call("to_integer", Field(Identity(number=1, name="x"), constant(value).known)).known
        assert known.range is not None
        assert known.range.magnitude < 2**62


def known(function: str, *ranges: tuple[float, float] | None) -> Known:
    """What is known of a call, of reals in ranges."""
    fields = [
        Field(
            Identity(number=at, name="x"),
            Known(type=Type.REAL, range=None if one is None else Range(*map(Fraction, one))),
        )
        for at, one in enumerate(ranges)
    ]
    return call(function, *fields).known


def test_monotone_functions_carry_the_bounds_of_their_argument() -> None:
    """A sum of roots of numbers up to 10 is not moved by 2^512."""
    for function, upper in (("square_root", 10**0.5), ("logarithm", 2.302585093), ("exponential", 22026.4657949)):
        found = known(function, (1, 10))
        assert found.range is not None
        assert found.range.upper == pytest.approx(upper)
        assert not found.loose
    assert known("square_root", None).range is None
    assert known("exponential", (0, 710)).range is None


def test_ranges_that_nobody_declared_are_loose_until_they_are_clamped() -> None:
    day = Field(Identity(number=1, name="day"), Known(type=Type.DATE))
    x = Field(Identity(number=2, name="x"), Known(type=Type.REAL, range=Range(Fraction(0), Fraction(9))))
    loose = [call("year", day), call("days_between", day, day), call("logarithm", x)]
    assert all(one.known.loose for one in loose)
    assert all(call("add", one, constant(1)).known.loose for one in loose)
    assert all(call("greatest", constant(1), one).known.loose for one in loose)
    assert call("modulo", constant(5), loose[0]).known.loose
    tight = [call("clamp", one, constant(0), constant(5)) for one in loose]
    tight += [call("less", one, constant(0)) for one in loose]
    tight += [call("modulo", loose[0], constant(7)), call("month", day), call("absolute", x)]
    assert not any(one.known.loose for one in tight)


@pytest.mark.parametrize(
    ("function", "type_", "hint"),
    [
        ("to_text", Type.REAL, "ROUND(x)"),
        ("to_text", Type.TIMESTAMP, "TRY_CAST(x AS DATE)"),
        ("to_integer", Type.DATE, "integer, real, text, boolean are."),
        ("to_date", Type.INTEGER, "text, date, timestamp are."),
    ],
)
def test_refused_conversions_say_what_is_converted(function: str, type_: Type, hint: str) -> None:
    """To convert it first is no help: that is what was asked for."""
    with pytest.raises(NotSupported, match=f"the type {type_.value} is not converted to {function[3:]}") as found:
        call(function, Field(Identity(number=1, name="x"), Known(type=type_)))
    assert found.value.hint.endswith(hint) or f"{hint}." in found.value.hint
    assert "TRY_CAST(... AS ...)" not in found.value.hint
