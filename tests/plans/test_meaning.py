"""Every function of a plan has a meaning; it gives a value for whatever it gets, and what was known of it holds."""

import contextlib
import re
from datetime import date, datetime, time
from fractions import Fraction
from functools import cache
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import Refused
from privately.plans import FUNCTIONS, Call, Constant, Field, Identity, Known, Range, Type, Value, call, constant
from privately.plans.functions import LONGEST_PATTERN
from privately.plans.meaning import MEANINGS, evaluate
from privately.plans.types import type_of

DAY = date(2024, 2, 29)
MIDNIGHT = datetime.combine(DAY, time())
NOON = datetime.combine(DAY, time(12, 34, 56, 789))


def null(type_: Type) -> Constant:
    return constant(None, type_)


def of(function: str, *values: Value) -> Value:
    """What a function gives for constants; NULL is one of whatever type fits."""
    for type_ in Type:
        try:
            return evaluate(call(function, *(constant(value, type_) for value in values)), {})
        except Refused:
            continue
    raise AssertionError(f"{function} of {values}")


EXAMPLES: list[tuple[str, tuple[Value, ...], Value]] = [
    ("add", (1, 2), 3),
    ("add", (1, 0.5), 1.5),
    ("add", (1e308, 1e308), None),
    ("add", (1, None), None),
    ("subtract", (1, 2), -1),
    ("multiply", (3, 4), 12),
    ("multiply", (1e200, 1e200), None),
    ("divide", (1, 2), 0.5),
    ("divide", (1, 0), None),
    ("divide", (0.0, 0.0), None),
    ("divide", (1e308, 1e-308), None),
    ("modulo", (-7, 3), -1),
    ("modulo", (7, -3), 1),
    ("modulo", (7, 0), None),
    ("negate", (2,), -2),
    ("absolute", (-2.5,), 2.5),
    ("floor", (-2.5,), -3),
    ("ceiling", (-2.5,), -2),
    ("round", (2.5,), 3),
    ("round", (-2.5,), -3),
    ("round", (0.49999999999999994,), 0),
    ("round", (4503599627370497.5,), 4503599627370498),
    ("square_root", (4,), 2.0),
    ("square_root", (-1,), None),
    ("logarithm", (1,), 0.0),
    ("logarithm", (0,), None),
    ("exponential", (0,), 1.0),
    ("exponential", (1000,), None),
    ("greatest", (1, 3, 2), 3),
    ("greatest", (1, 2.5), 2.5),
    ("greatest", (1, None), None),
    ("least", (DAY, date(2024, 1, 1)), date(2024, 1, 1)),
    ("least", (3, 2.5), 2.5),
    ("clamp", (11, 0, 10), 10),
    ("clamp", (-1, 0, 10), 0),
    ("clamp", (None, 0, 10), None),
    ("clamp", (5, 0, 10.5), 5.0),
    ("equal", (1, 1.0), True),
    ("equal", ("a", None), None),
    ("not_equal", (DAY, NOON), True),
    ("less", ("Z", "a"), True),
    ("less", ("\uffff", "\U00010000"), True),
    ("less_or_equal", (2, 2), True),
    ("greater", (True, False), True),
    ("greater_or_equal", (1, 2), False),
    ("and", (True, None), None),
    ("and", (False, None), False),
    ("or", (True, None), True),
    ("or", (False, None), None),
    ("not", (True,), False),
    ("not", (None,), None),
    ("is_null", (None,), True),
    ("is_null", (0,), False),
    ("in", (2, 1, 2), True),
    ("in", (2, 1, 2.0), True),
    ("in", ("c", "a", "b"), False),
    ("in", (None, 1), None),
    ("case", (None, 1, True, 2, 3), 2),
    ("case", (False, 1, 2), 2),
    ("case", (True, 1, 2.5), 1.0),
    ("coalesce", (None, 2), 2),
    ("coalesce", (None, None), None),
    ("null_if", (1, 1.0), None),
    ("null_if", (1, 2), 1),
    ("null_if", (None, 2), None),
    ("null_if", (1, None), 1),
    ("to_integer", ("-12",), -12),
    ("to_integer", (" 12",), None),
    ("to_integer", ("1.5",), None),
    ("to_integer", ("١٢",), None),
    ("to_integer", ("9" * 19,), None),
    ("to_integer", (2.5,), 3),
    ("to_integer", (1e300,), None),
    ("to_integer", (True,), 1),
    ("to_real", ("1.5e3",), 1500.0),
    ("to_real", (".5",), 0.5),
    ("to_real", ("nan",), None),
    ("to_real", ("1e999",), None),
    ("to_real", ("1_0",), None),
    ("to_text", (12,), "12"),
    ("to_text", (True,), "true"),
    ("to_text", (DAY,), "2024-02-29"),
    ("to_date", ("2024-02-30",), None),
    ("to_date", ("2024-02-29",), DAY),
    ("to_date", ("20240229",), None),
    ("to_date", (NOON,), DAY),
    ("to_timestamp", ("2024-02-29 12:34:56.000789",), NOON),
    ("to_timestamp", ("2024-02-29T12:34:56",), NOON.replace(microsecond=0)),
    ("to_timestamp", ("2024-02-29 12:34:56.5",), NOON.replace(microsecond=500_000)),
    ("to_timestamp", ("2024-02-29",), MIDNIGHT),
    ("to_timestamp", ("2024-02-29 12:34:56+01:00",), None),
    ("to_timestamp", ("2024-02-29 24:00:00",), None),
    ("to_timestamp", (DAY,), MIDNIGHT),
    ("year", (NOON,), 2024),
    ("quarter", (DAY,), 1),
    ("month", (DAY,), 2),
    ("day", (DAY,), 29),
    ("weekday", (date(2024, 3, 3),), 0),
    ("weekday", (DAY,), 4),
    ("day_of_year", (DAY,), 60),
    ("hour", (NOON,), 12),
    ("hour", (DAY,), 0),
    ("minute", (NOON,), 34),
    ("minute", (DAY,), 0),
    ("days_between", (date(2024, 2, 28), date(2024, 3, 1)), 2),
    ("trim", ("  a\t ",), "a\t"),
    ("lower", ("ÄΣİ",), "äσi"),
    ("upper", ("äßﬁ",), "Äẞﬁ"),
    ("length", ("a\U0001f600",), 2),
    ("substring", ("hello", 2, 3), "ell"),
    ("substring", ("hello", 9, 3), ""),
    ("concatenate", ("a", "b", "c"), "abc"),
    ("concatenate", ("a", None), None),
    ("like", ("hello", "h%o"), True),
    ("like", ("hello", "h_o"), False),
    ("like", ("100%", "100\\%"), True),
    ("like", ("1000", "100\\%"), False),
    ("like", ("a\nb", "a_b"), True),
    ("starts_with", ("hello", "he"), True),
    ("ends_with", ("hello", "lo"), True),
    ("contains", ("hello", "ell"), True),
    ("contains", ("hello", ""), True),
]


@pytest.mark.parametrize(("function", "values", "wanted"), EXAMPLES, ids=lambda value: str(value)[:20])
def test_examples(function: str, values: tuple[Value, ...], wanted: Value) -> None:
    found = of(function, *values)
    assert found == wanted
    assert type(found) is type(wanted)


def test_every_function_has_a_meaning_and_an_example() -> None:
    assert set(FUNCTIONS) == MEANINGS == {function for function, _, _ in EXAMPLES}


def test_fields_are_looked_up() -> None:
    identity = Identity(number=1, name="x")
    field = Field(identity, Known(type=Type.INTEGER, range=Range(Fraction(0), Fraction(9))))
    assert evaluate(call("add", field, constant(1)), {identity: 4}) == 5


def test_answers_may_be_larger_than_a_double() -> None:
    identity = Identity(number=1, name="x")
    field = Field(identity, Known(type=Type.INTEGER))
    huge = 10**400
    for expression in (call("to_real", field), call("divide", field, constant(2)), call("square_root", field)):
        assert evaluate(expression, {identity: huge}) is None
    assert evaluate(call("greater", field, constant(0.5)), {identity: huge}) is True
    assert evaluate(call("greater", field, constant(0.5)), {identity: -huge}) is False
    assert evaluate(call("greatest", field, constant(0.5)), {identity: huge}) is None


# --- whatever the arguments, the result is as it was known to be ----------------------------------------------------

TEXTS = st.text(alphabet="ab%_\\ 12.-:eßİ\U0001f600", max_size=12)
VALUES: dict[Type, st.SearchStrategy[Value]] = {
    Type.INTEGER: st.integers(-(2**62), 2**62) | st.sampled_from([0, 1, -1, 3]),
    Type.REAL: st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 0.5, 1e308, 5e-324]),
    Type.TEXT: TEXTS | st.sampled_from(["2024-02-29", "12", "1e5", "2024-02-29 01:02:03"]),
    Type.BOOLEAN: st.booleans(),
    Type.DATE: st.dates(),
    Type.TIMESTAMP: st.datetimes(),
}
WIDE = {
    Type.INTEGER: Range(Fraction(-(2**30)), Fraction(2**30)),
    Type.REAL: Range(Fraction(-(10**17)), Fraction(10**17)),
}
HUGE = Range(Fraction(1 - 2**61), Fraction(2**61 - 1))
PLACES = Range(Fraction(1), Fraction(20))


def field_of(number: int, type_: Type, function: str) -> Field:
    """Places and lengths of parts of texts are never negative, and what bounds a number is a constant."""
    length = LONGEST_PATTERN if type_ is Type.TEXT else None
    if type_ is Type.INTEGER and function in {"case", "coalesce", "greatest", "least"}:
        return Field(Identity(number=number, name="x"), Known(type=type_, range=HUGE))
    bounds = PLACES if function == "substring" and type_ is Type.INTEGER else WIDE.get(type_)
    if function == "clamp" and number > 0:
        bounds = Range(Fraction(7 * number), Fraction(7 * number))
    nullable = number == 0 or function not in {"in", "clamp"}
    return Field(Identity(number=number, name="x"), Known(type=type_, range=bounds, length=length, nullable=nullable))


@cache
def accepted(function: str) -> list[Call]:
    """The function of fields of all types that it takes, up to three of them."""
    found = []
    for types in chain.from_iterable(product(Type, repeat=count) for count in (1, 2, 3)):
        with contextlib.suppress(Refused):
            found.append(call(function, *(field_of(number, one, function) for number, one in enumerate(types))))
    return found


def brought_within(value: Value, bounds: Range | None) -> Value:
    if bounds is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return type(value)(max(bounds.lower, min(bounds.upper, Fraction(value))))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@given(data=st.data())
def test_the_result_is_as_known(function: str, data: st.DataObject) -> None:
    expression = data.draw(st.sampled_from(accepted(function)))
    values: dict[Identity, Value] = {}
    for field in expression.arguments:
        assert isinstance(field, Field)
        drawn = (
            data.draw(VALUES[field.known.type]) if not field.known.nullable or data.draw(st.integers(0, 7)) else None
        )
        values[field.identity] = brought_within(drawn, field.known.range)
    found = evaluate(expression, values)
    promised = expression.known
    assert found is not None or promised.nullable
    if found is not None:
        assert type_of(found) is promised.type
        assert promised.range is None or found in promised.range
        assert promised.length is None or (isinstance(found, str) and len(found) <= promised.length)


@given(text=TEXTS, pattern=TEXTS.filter(lambda text: not text.endswith("\\")))
def test_like_is_the_regular_expression_that_it_stands_for(text: str, pattern: str) -> None:
    parts = re.findall(r"\\.|.", pattern, re.DOTALL)
    written = "".join(".*" if part == "%" else "." if part == "_" else re.escape(part[-1]) for part in parts)
    assert of("like", text, pattern) is bool(re.fullmatch(written, text, re.DOTALL))
