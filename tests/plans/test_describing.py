"""One text for each expression, and one expression for each text."""

from datetime import date, datetime
from typing import Any

import pytest

from privately.plans import Filter, Identity, Project, Unit, call, constant
from privately.plans.describing import LONGEST, Names, shortened
from privately.plans.types import Type
from tests.plans.small import AMOUNT, GROUP, field, scan

WHOLE = scan(Unit())
X, PART = field(WHOLE, AMOUNT), field(WHOLE, GROUP)
NAMES = Names(WHOLE)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (X, "amount"),
        (call("add", X, constant(2)), "(amount + 2)"),
        (call("and", call("greater", X, constant(2)), call("is_null", PART)), "((amount > 2) and is_null(part))"),
        (call("negate", X), "negate(amount)"),
        (constant(0.5), "0.5"),
        (constant(True), "true"),
        (constant("it's"), "'it''s'"),
        (constant('"a"\n'), "'\"a\"\\n'"),
        (constant("\\n"), "'\\\\n'"),
        (constant(None, Type.DATE), "date NULL"),
        (constant(date(2024, 2, 29)), "date '2024-02-29'"),
        (constant(datetime(2024, 2, 29, 7, 30)), "timestamp '2024-02-29T07:30:00'"),
    ],
)
def test_expressions(expression: Any, text: str) -> None:
    assert NAMES.text(expression) == text


def test_texts_tell_expressions_apart() -> None:
    listed: list[Any] = [
        constant("a"),
        constant("amount"),
        X,
        constant("1"),
        constant(1),
        constant(1.0),
        constant("'"),
        constant("''"),
        constant("\\"),
        constant("\\\\"),
        constant("\n"),
        constant("\\n"),
        constant('"'),
        constant('\\"'),
        call("add", X, call("add", X, X)),
        call("add", call("add", X, X), X),
        call("subtract", X, X),
        constant("(amount - amount)"),
    ]
    assert len({NAMES.text(one) for one in listed}) == len(listed)


def test_values_of_one_name_are_told_apart() -> None:
    """As in SELECT ... FROM (SELECT amount + 1 AS amount FROM t)."""
    again = Identity(number=50, name="amount")
    strange = Identity(number=51, name="a b")
    inner = Project(source=WHOLE, outputs=((again, call("add", X, constant(1))), (AMOUNT, X), (strange, X)))
    names = Names(Filter(source=inner, condition=call("greater", field(inner, again), field(inner, AMOUNT))))
    assert names.name(AMOUNT) == "amount"
    assert names.name(again) == "amount#2"
    assert names.name(strange) == '"a b"'
    assert names.text(call("add", field(inner, again), field(inner, AMOUNT))) == "(amount#2 + amount)"


def test_long_texts_are_hashed() -> None:
    long = constant("x" * LONGEST)
    assert NAMES.text(long).startswith("sha256:")
    assert NAMES.text(long) != NAMES.text(constant("y" * LONGEST))
    assert shortened("x" * LONGEST) == "x" * LONGEST


def test_names_are_the_same_at_every_step() -> None:
    """Certificates name the values of every step as the last one does."""
    twice = Project(source=WHOLE, outputs=((X.identity, X), (Identity(number=90, name="amount"), call("negate", X))))
    kept = Filter(source=twice, condition=call("greater", twice.fields[1], constant(0)))
    again = Project(source=kept, outputs=((Identity(number=91, name="amount"), twice.fields[1]),))
    steps = (WHOLE, twice, kept, again)
    for step in steps:
        assert all(Names(step).name(one.identity) == Names(again).name(one.identity) for one in step.fields)
    assert Names(again).name(again.fields[0].identity) == "amount#3"
