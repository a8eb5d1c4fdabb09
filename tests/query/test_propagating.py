"""Errors of columns that are arithmetic on aggregates."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from privately.errors import NotSupported
from privately.plans import Expression, Field, Identity, Known, Type, call, constant
from privately.plans.meaning import evaluate
from privately.query.propagating import propagated

N, S, KEY = (Identity(number=at, name=name) for at, name in enumerate("nsk", 1))
COUNT = Field(N, Known(type=Type.INTEGER))
TOTAL = Field(S, Known(type=Type.REAL))
KEYED = Field(KEY, Known(type=Type.INTEGER))
ESTIMATES = frozenset({N, S})
ERRORS = {N: Fraction(2), S: Fraction(3, 4)}
COLUMNS: dict[str, tuple[Callable[[], Expression], Fraction]] = {
    "n": (lambda: COUNT, Fraction(2)),
    "k": (lambda: KEYED, Fraction(0)),
    "1000 n": (lambda: _real(call("to_real", COUNT), constant(1000.0)), Fraction(2000)),
    "n / -4": (lambda: call("divide", COUNT, constant(-4)), Fraction(1, 2)),
    "s - n": (lambda: call("subtract", TOTAL, COUNT), Fraction(11, 4)),
    "-(s + s)": (lambda: call("negate", call("add", TOTAL, TOTAL)), Fraction(3, 2)),
    "|s| + k": (lambda: call("add", call("absolute", TOTAL), KEYED), Fraction(3, 4)),
    "greatest": (lambda: call("greatest", TOTAL, call("to_real", COUNT), constant(0.5)), Fraction(2)),
    "coalesce": (lambda: call("coalesce", TOTAL, constant(0.0)), Fraction(3, 4)),
    "3/2 s": (lambda: _real(TOTAL, call("divide", constant(3), constant(2))), Fraction(9, 8)),
}


def _real(one: Expression, other: Expression) -> Expression:
    return call("multiply", one, other)


def of(found: Field) -> Fraction:
    return ERRORS[found.identity]


@pytest.mark.parametrize("name", COLUMNS)
def test_no_result_is_farther_off(name: str) -> None:
    """For all exact numbers of a small grid, and noise at both ends and in the middle of what it reaches."""
    made, wanted = COLUMNS[name]
    column = made()
    assert propagated(column, ESTIMATES, of) == wanted
    reached = Fraction(0)
    for n, s, a, b in product(range(-3, 4), range(-3, 4), (-2, 0, 2), (-0.75, 0, 0.75)):
        exact = evaluate(column, {N: n, S: s / 2, KEY: 7})
        noisy = evaluate(column, {N: n + a, S: s / 2 + b, KEY: 7})
        assert isinstance(exact, (int, float))
        assert isinstance(noisy, (int, float))
        reached = max(reached, abs(Fraction(noisy) - Fraction(exact)))
    assert reached == wanted


@pytest.mark.parametrize("function", ["round", "floor", "ceiling"])
def test_rounding_adds_less_than_one(function: str) -> None:
    bounded = Field(S, Known(type=Type.REAL, range=constant(9.0).known.range))
    column = call(function, bounded)
    assert propagated(column, ESTIMATES, of) == Fraction(7, 4)
    assert propagated(column, ESTIMATES, of, rounding=0) == Fraction(3, 4)
    for at, b in product(range(-8, 9), (-0.75, 0.75)):
        exact, noisy = (evaluate(column, {S: one}) for one in (at / 8, at / 8 + b))
        assert isinstance(exact, int)
        assert isinstance(noisy, int)
        assert abs(noisy - exact) <= Fraction(7, 4)


@pytest.mark.parametrize(
    "made",
    [
        lambda: call("divide", TOTAL, COUNT),
        lambda: call("divide", constant(1), COUNT),
        lambda: call("divide", TOTAL, constant(0)),
        lambda: call("divide", TOTAL, KEYED),
        lambda: call("multiply", TOTAL, TOTAL),
        lambda: call("multiply", TOTAL, call("to_real", KEYED)),
        lambda: call("square_root", TOTAL),
        lambda: call("case", call("less", COUNT, constant(5)), constant(0.0), TOTAL),
        lambda: call("less", COUNT, constant(5)),
    ],
)
def test_what_depends_on_the_numbers_is_refused(made: Callable[[], Expression]) -> None:
    with pytest.raises(NotSupported, match="epsilon= instead"):
        propagated(made(), ESTIMATES, of)
