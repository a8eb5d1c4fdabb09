"""Steps and bins of hostile numbers, against exact arithmetic."""

from fractions import Fraction
from typing import Any

import pytest

from privately.engines.duckdb.literals import NAMES
from privately.engines.duckdb.tallies import bin_text, factor, step_text
from privately.errors import InvalidParameter
from privately.plans import BinCounts, Field, Identity, Known, Range, StepSum, Type
from tests.engines import reference
from tests.engines.duckdb.edges import BOUND, REALS, SMALL, SMALL_REALS, WHOLE
from tests.engines.duckdb.inside import connection_with

_X = Identity(number=0, name="x")
_BOUNDED = Range(Fraction(-BOUND), Fraction(BOUND))
CASES = [
    (Known(type=Type.REAL), REALS),
    (Known(type=Type.REAL, range=_BOUNDED), SMALL_REALS),
    (Known(type=Type.INTEGER), WHOLE),
    (Known(type=Type.INTEGER, range=_BOUNDED), SMALL),
]
STEPS = [Fraction(1), Fraction(1, 100), Fraction(3, 2), Fraction(1, 2**30), Fraction(10**6), Fraction(7, 3)]
BOUNDS = [(-50, 10**6), (0, 2**62 - 1), (1 - 2**62, 2**62 - 1), (5, 5), (-(2**40), -1)]


def _values(text: str, kind: Type, values: tuple[Any, ...]) -> list[Any]:
    rows = [(place, value) for place, value in enumerate(values)]
    with connection_with([("i", "INTEGER"), ("c0", NAMES[kind])], rows) as connection:
        return [value for (value,) in connection.execute(f"SELECT {text} FROM t ORDER BY i").fetchall()]


@pytest.mark.parametrize(("known", "values"), CASES)
def test_steps(known: Known, values: tuple[Any, ...]) -> None:
    for step in STEPS:
        for low, high in BOUNDS:
            tally = StepSum(argument=Field(_X, known), step=step, low=low, high=high)
            found = _values(step_text(tally, "c0"), known.type, values)
            wanted = [None if value is None else reference.steps(tally, value) for value in values]
            assert found == wanted
            assert all(one is None or (isinstance(one, int) and low <= one <= high) for one in found)


@pytest.mark.parametrize(("known", "values"), CASES)
def test_bins(known: Known, values: tuple[Any, ...]) -> None:
    for lower in (Fraction(0), Fraction(-1, 10), Fraction(-(10**9))):
        for width in (Fraction(1), Fraction(1, 7), Fraction(25, 2), Fraction(10**17)):
            for bins in (1, 2, 1000):
                tally = BinCounts(argument=Field(_X, known), lower=lower, width=width, bins=bins)
                found = _values(bin_text(tally, "c0"), known.type, values)
                wanted = [None if value is None else reference.bin_of(tally, value) for value in values]
                assert found == wanted
                assert all(one is None or 0 <= one < bins for one in found)


def test_bounds_that_follow_are_not_written() -> None:
    argument = Field(_X, Known(type=Type.REAL, range=Range(Fraction(0), Fraction(100))))
    assert "CASE" not in step_text(StepSum(argument=argument, step=Fraction(1, 4), low=0, high=400), "c0")
    assert "CASE" in step_text(StepSum(argument=argument, step=Fraction(1, 4), low=0, high=399), "c0")


@pytest.mark.parametrize("step", [Fraction(1, 10**400), Fraction(10) ** 400])
def test_steps_that_no_double_holds(step: Fraction) -> None:
    with pytest.raises(InvalidParameter):
        factor(step)
