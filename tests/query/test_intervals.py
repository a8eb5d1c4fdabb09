"""Intervals of columns that are computed from estimates hold whatever these can be."""

import math
import random
from fractions import Fraction

import pytest

from privately.plans import Expression, Field, Identity, Known, Type, call, constant
from privately.plans.expressions import fields_of
from privately.plans.meaning import evaluate
from privately.query.binding.expressions import null_like
from privately.query.intervals import fields_taken, interval_of
from privately.rounding import Interval
from tests.query.small_questions import NAMED

X, Y = (Field(NAMED[name], Known(type=Type.REAL)) for name in ("mean", "sum"))
NULL = null_like(Known(type=Type.REAL))
AROUND = {X.identity: Interval(-1, 1), Y.identity: Interval(2, 3)}
IS_LARGE = call("greater", X, constant(0.25))
ONE = ["negate", "absolute", "to_real", "square_root", "logarithm", "exponential"]
TWO = ["add", "subtract", "multiply", "divide", "greatest", "least", "coalesce", "null_if"]


def tree(chance: random.Random, depth: int) -> Expression:
    if depth == 0 or chance.random() < 0.2:
        leaves: list[Expression] = [X, Y, constant(chance.choice([2.0, -0.5, 3.0, 0.0]))]
        return chance.choice(leaves)
    name = chance.choice([*ONE, *TWO, "case", "clamp", "whole"])
    inner = [tree(chance, depth - 1) for _ in range(2)]
    match name:
        case "case":
            return call("case", call("less", inner[0], inner[1]), inner[0], chance.choice([inner[1], NULL]))
        case "clamp":
            return call("clamp", inner[0], constant(-1.0), constant(1.5))
        case "whole":
            bounded = call("clamp", inner[0], constant(-50.0), constant(50.0))
            return call("to_real", call(chance.choice(["round", "floor", "ceiling", "to_integer"]), bounded))
    return call(name, *(inner[:1] if name in ONE else inner))


def test_intervals_hold_all_results() -> None:
    chance, seen = random.Random(3), dict.fromkeys([*ONE, *TWO, "case", "clamp", "round", "floor", "ceiling"], 0)
    for _ in range(3000):
        expression = tree(chance, 3)
        ends = [sorted(Fraction(chance.randint(-6, 6), 2) for _ in range(2)) for _ in "xy"]
        within = {one.identity: Interval(*pair) for one, pair in zip((X, Y), ends, strict=True)}
        absent = [one.identity for one in (X, Y) if chance.random() < 0.2]
        found = interval_of(expression, within, absent)
        if found is None or not fields_of(expression):
            continue
        for one in parts(expression):
            seen[one] = seen.get(one, 0) + 1
        room = Fraction(1, 10**9) * (1 + abs(Fraction(found.lower)) + abs(Fraction(found.upper)))
        for _ in range(10):
            point = {
                one: chance.choice([low, high, (low + high) / 2]) for one, (low, high) in zip(within, ends, strict=True)
            }
            given = {one: None if one in absent and chance.random() < 0.5 else float(at) for one, at in point.items()}
            value = evaluate(expression, given)
            assert value is None or found.lower - room <= Fraction(value) <= found.upper + room  # type: ignore[arg-type]
    assert min(seen.values()) > 20


def parts(expression: Expression) -> set[str]:
    found = {getattr(expression, "function", "")} - {""}
    return found.union(*(parts(one) for one in getattr(expression, "arguments", ())))


def test_what_cannot_be_bounded_has_no_interval() -> None:
    assert interval_of(call("divide", Y, X), AROUND) is None
    assert interval_of(call("square_root", X), AROUND) is None
    assert interval_of(call("logarithm", X), AROUND) is None
    assert interval_of(constant(value=True), AROUND) is None
    assert interval_of(call("equal", X, Y), AROUND) is None
    assert interval_of(call("case", IS_LARGE, constant("many"), constant("few")), AROUND) is None
    assert interval_of(call("exponential", call("multiply", Y, constant(400.0))), AROUND) is None
    assert interval_of(NULL, AROUND) is None


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        (call("divide", X, Y), Fraction(-1, 2), Fraction(1, 2)),
        (call("absolute", X), 0, 1),
        (call("round", call("clamp", Y, constant(-9.0), constant(2.5))), 2, 3),
        (call("greatest", X, Y), 2, 3),
        (call("least", X, constant(0.5)), -1, Fraction(1, 2)),
        (call("coalesce", X, constant(7.0)), -1, 1),
        (call("null_if", Y, constant(0.0)), 2, 3),
        (call("divide", X, call("null_if", Y, constant(0.0))), Fraction(-1, 2), Fraction(1, 2)),
        (call("case", IS_LARGE, Y, NULL), 2, 3),
        (call("case", IS_LARGE, Y, constant(0.0)), 0, 3),
    ],
)
def test_intervals_are_those_of_the_extreme_results(expression: Expression, low: Fraction, high: Fraction) -> None:
    assert interval_of(expression, AROUND) == Interval(low, high)


def test_what_may_have_no_value_may_be_what_stands_for_it() -> None:
    filled = call("coalesce", X, Y, constant(7.0))
    assert interval_of(filled, AROUND, [X.identity]) == Interval(-1, 3)
    assert interval_of(filled, AROUND, [X.identity, Y.identity]) == Interval(-1, 7)
    assert interval_of(call("coalesce", call("add", X, Y), constant(7.0)), AROUND, [Y.identity]) == Interval(1, 7)
    assert interval_of(call("coalesce", call("null_if", Y, X), constant(7.0)), AROUND) == Interval(2, 7)


def test_roots_are_rounded_outwards() -> None:
    found = interval_of(call("square_root", Y), AROUND)
    assert found is not None
    assert found.lower**2 <= 2
    assert found.upper**2 >= 3
    assert math.isclose(found.upper - found.lower, math.sqrt(3) - math.sqrt(2))


def test_keys_that_are_numbers_are_known() -> None:
    key = Identity(number=77, name="year")
    product = call("multiply", X, Field(key, Known(type=Type.REAL)))
    assert interval_of(product, {X.identity: Interval(1, 2), key: Interval(3, 3)}) == Interval(3, 6)


def test_what_only_conditions_look_at_is_not_taken() -> None:
    assert set(fields_taken(call("case", IS_LARGE, Y, NULL))) == {Y.identity}
    assert set(fields_taken(call("null_if", Y, X))) == {Y.identity}
    assert set(fields_taken(call("add", Y, X))) == {X.identity, Y.identity}
