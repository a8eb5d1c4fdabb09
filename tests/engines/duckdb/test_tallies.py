"""Steps and bins of hostile numbers, against exact arithmetic."""

import math
import struct
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.engines.duckdb.literals import NAMES
from privately.engines.duckdb.tallies import bin_text, factor, skips_nan, step_text, summed_steps, sums_of
from privately.errors import InvalidParameter
from privately.plans import BinCounts, Column, Field, Identity, Known, Range, StepSum, Type
from tests.engines import reference
from tests.engines.duckdb.edges import BOUND, REALS, SMALL, SMALL_REALS, WHOLE
from tests.engines.duckdb.inside import answer, connection_with
from tests.engines.duckdb.visits import ROWS, asking, column, visits

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


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("known", "values"), CASES)
def test_steps(known: Known, values: tuple[Any, ...]) -> None:
    for step in STEPS:
        for low, high in BOUNDS:
            tally = StepSum(argument=Field(_X, known), step=step, low=low, high=high)
            found = _values(step_text(tally, "c0"), known.type, values)
            wanted = [None if value is None else reference.steps(tally, value) for value in values]
            assert found == wanted
            assert all(one is None or (isinstance(one, int) and low <= one <= high) for one in found)


_HALVES = [sign * (count + part) for sign in (1, -1) for count in (0, 1, 2, 799, 1600) for part in (0.5, 0.25, 0.75)]
_HUGE = [sign * 2.0**power for sign in (1, -1) for power in (44, 49, 50, 51, 52, 53, 54, 63, 970, 1000, 1022, 1023)]
_NEAR = [math.nextafter(one, toward) for one in (*_HALVES, *_HUGE) for toward in (math.inf, -math.inf)]
_NO_NUMBERS = (float("nan"), float("inf"), float("-inf"))
DOUBLES: tuple[Any, ...] = (*REALS, *SMALL_REALS, *_HALVES, *_HUGE, *_NEAR, *_NO_NUMBERS)


LIMITS: list[tuple[Any, Any]] = [(0, 1000), (-1000, 1000), ("-0.1", "7.3"), (100, 101), (-5, -2), (0, 2**40)]
"""Bounds of columns."""


@pytest.mark.parametrize("found", ["DOUBLE", "FLOAT"])
def test_steps_by_sums(found: str) -> None:
    values = [one for one in DOUBLES if found == "DOUBLE" or one is None or math.isnan(one) or one == _single(one)]
    tried = 0
    with connection_with([("i", "INTEGER"), ("c0", found)], list(enumerate(values))) as connection:
        for bounds, step in product(LIMITS, (None, Fraction(1), Fraction(4), Fraction(1, 8), Fraction(1, 2**9))):
            column = Column(name="c0", type="real", bounds=bounds)
            assert column.bounds is not None
            declared = [reference.scanned(column, value) for value in values]
            for low, high in ((1 - 2**62, 2**62 - 1), (-50, 5), (3, 3), (-(2**40), -1)):
                steps = step or column.step or Fraction(1)
                tally = StepSum(argument=Field(_X, column.known), step=steps, low=low, high=high)
                text = summed_steps(tally, column.bounds, "CAST(c0 AS DOUBLE)")
                assert text is not None
                got = [one for (one,) in connection.execute(f"SELECT {text} FROM t ORDER BY i").fetchall()]
                assert got == [None if one is None else reference.steps(tally, float(str(one))) for one in declared]
                short = summed_steps(tally, column.bounds, "CAST(c0 AS DOUBLE)", "INTEGER")
                if max(abs(low), abs(high)) < 2**31:
                    assert got == [n for (n,) in connection.execute(f"SELECT {short} FROM t ORDER BY i").fetchall()]
                tried += 1
    assert tried == 120


def test_sums_of_whole_values_are_right_or_no_numbers() -> None:
    """Without halving, what lies far below becomes NaN, which a sum shows; nothing becomes another number."""
    values = [one for one in DOUBLES if one is not None]
    given_up = set()
    with connection_with([("i", "INTEGER"), ("c0", "DOUBLE")], list(enumerate(values))) as connection:
        for bounds, step in product(LIMITS, (Fraction(1), Fraction(4), Fraction(1, 2**9))):
            column = Column(name="c0", type="real", bounds=bounds)
            assert column.bounds is not None
            tally = StepSum(argument=Field(_X, column.known), step=step, low=-(2**40), high=2**40)
            sums = sums_of(tally, column.bounds)
            assert sums is not None
            whole = replace(sums, part=Fraction(1))
            text = whole.doubles(whole.above(whole.left("c0")))
            found = [one for (one,) in connection.execute(f"SELECT {text} FROM t ORDER BY i").fetchall()]
            for value, one in zip(values, found, strict=True):
                if math.isnan(one):
                    given_up.add(value)
                else:
                    declared = reference.scanned(column, value)
                    assert one * whole.factor + whole.low == reference.steps(tally, float(str(declared)))
    numbers = {one for one in given_up if math.isfinite(one)}
    assert numbers
    assert max(numbers) < -(2.0**1022)
    assert len([one for one in given_up if not math.isfinite(one)]) == len(_NO_NUMBERS)


def _single(value: Any) -> Any:
    """Nothing, if a float of 32 bits is another number."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return None


def test_steps_that_sums_do_not_give() -> None:
    """They must be powers of two, and few enough that doubles hold their sums."""
    column = Field(_X, Known(type=Type.REAL, range=_BOUNDED))
    for step in (Fraction(1, 100), Fraction(3), Fraction(3, 8), Fraction(1, 2**21), Fraction(2) ** 901):
        assert summed_steps(StepSum(argument=column, step=step, low=-(2**61), high=2**61), _BOUNDED, "c0") is None
    assert summed_steps(StepSum(argument=column, step=Fraction(1, 2**20), low=0, high=2**61), _BOUNDED, "c0")


@pytest.mark.thinned(2)
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


def test_what_lies_just_above_the_last_bin() -> None:
    """The upper end of a range is in no bin but the last: it is numbered one higher, and counted there."""
    known = Known(type=Type.REAL, range=Range(Fraction(0), Fraction(1000)))
    tally = BinCounts(argument=Field(_X, known), lower=Fraction(0), width=Fraction(1000, 2**16), bins=2**16)
    assert skips_nan(tally)
    values = (1000.0, 999.999, 0.0, None, float("nan"), float("inf"))
    assert _values(bin_text(tally, "c0"), Type.REAL, values) == [2**16, 2**16 - 1, 0, None, None, None]
    table = visits()
    costs = BinCounts(argument=column(table, "cost"), lower=Fraction(0), width=Fraction(1000, 2**16), bins=2**16)
    found = answer(asking(table, costs, by=None), ("VARCHAR", "VARCHAR", "DOUBLE", "INTEGER"), ROWS)
    assert found[()][0][2**16 - 1] == 1, "the cost of 2000 is brought to 1000"
    assert sum(found[()][0].values()) == 5


def test_texts_that_would_count_nan_are_known() -> None:
    """NaN is above all numbers: a text that compares would put it into the last bin, or at the upper bound."""
    narrow = Known(type=Type.REAL, range=Range(Fraction(0), Fraction(10)))
    assert not skips_nan(BinCounts(argument=Field(_X, narrow), lower=Fraction(1), width=Fraction(1), bins=9))
    assert not skips_nan(BinCounts(argument=Field(_X, narrow), lower=Fraction(0), width=Fraction(1), bins=8))
    assert not skips_nan(StepSum(argument=Field(_X, Known(type=Type.REAL)), step=Fraction(1), low=0, high=1))
    assert not skips_nan(StepSum(argument=Field(_X, narrow), step=Fraction(1, 2**60), low=0, high=1))
    for tally in (
        StepSum(argument=Field(_X, narrow), step=Fraction(1, 4), low=0, high=40),
        StepSum(argument=Field(_X, narrow), step=Fraction(1, 4), low=2, high=30),
    ):
        assert skips_nan(tally)
        assert _values(step_text(tally, "c0"), Type.REAL, (float("nan"), 5.0)) == [None, 20]
