"""How far off a column of the answer is, if the estimates that it is made of are off by so much each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privately.errors import NotSupported
from privately.plans import Call, Expression, Field, Identity
from privately.plans.expressions import fields_of
from privately.plans.meaning import evaluate

_SUMS = frozenset({"add", "subtract"})
_SAME = frozenset({"negate", "absolute", "to_real"})
_LARGEST = frozenset({"greatest", "least", "coalesce"})
_ROUNDED = frozenset({"round", "floor", "ceiling"})


def propagated(
    expression: Expression,
    estimates: frozenset[Identity],
    of: Callable[[Field], Fraction],
    *,
    rounding: int = 1,
) -> Fraction:
    """How far off an expression is if each estimate in it is off by at most what `of` says.

    NotSupported if that depends on the numbers themselves, as of a ratio. `rounding` is what rounding to a whole number
    adds. With the largest size of each estimate instead, and no rounding, it is how large the expression can be.

    Theorem: errors of sums and differences add up at most; a constant multiplies them; a sign, a distance from 0, the
        largest and the least of several make none larger; two numbers that are rounded are less than 1 farther apart.
    Reference: elementary (Lipschitz constants)
    Proof: docs/theory/stability.md#derived-columns
    Checked-by: tests/query/test_propagating.py::test_no_result_is_farther_off
    """
    if not fields_of(expression) & estimates:
        return Fraction(0)
    if isinstance(expression, Field):
        return of(expression)
    assert isinstance(expression, Call)  # noqa: S101 - constants have no fields

    def inner(one: Expression) -> Fraction:
        return propagated(one, estimates, of, rounding=rounding)

    match expression.function, expression.arguments:
        case name, arguments if name in _SUMS:
            return sum(map(inner, arguments), Fraction(0))
        case name, (one,) if name in _SAME:
            return inner(one)
        case name, arguments if name in _LARGEST:
            return max(map(inner, arguments))
        case name, (one,) if name in _ROUNDED:
            return inner(one) + rounding
        case "multiply", (one, other):
            factor, varied = (one, other) if not fields_of(one) else (other, one)
            return inner(varied) * abs(_constant(factor))
        case "divide", (one, other) if _constant(other):
            return inner(one) / abs(_constant(other))
    raise _depends()


def _constant(expression: Expression) -> Fraction:
    """The value of an expression of constants."""
    value = None if fields_of(expression) else evaluate(expression, {})
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _depends()
    return Fraction(value)


def _depends() -> NotSupported:
    hint = (
        "Sums, differences and constant multiples of counts, sums and averages can have one. Show what a ratio is made "
        "of in columns of their own, ask for AVG(x), or give epsilon= instead."
    )
    return NotSupported("an accuracy for a column whose error depends on the numbers in it.", hint=hint)
