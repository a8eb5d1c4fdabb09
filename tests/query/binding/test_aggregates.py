"""Aggregates become tallies whose bounds hold for every value that an expression can have."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import NotSupported, UnknownBounds
from privately.plans import BinCounts, Column, Mean, Quantile, RowCount, Spread, StepSum, Table, Type, Unit, UnitCount
from privately.query import bind
from privately.query.binding.aggregates import AGGREGATES, COARSEST, power_of_two_below
from privately.query.grammar import UNDERSTOOD
from tests.query.binding.tables import ask, refusal, shown, tallies


def the_sum(text: str) -> StepSum:
    return next(tally for tally in tallies(ask(text)) if isinstance(tally, StepSum))


@pytest.mark.parametrize(
    ("text", "step", "low", "high"),
    [
        ("SUM(age)", 1, 0, 120),
        ("SUM(-age)", 1, -120, 0),
        ("SUM(age * size - 3)", 1, -3, 597),
        ("SUM(cost)", Fraction(1, 100), 0, 100_000),
        ("SUM(score)", Fraction(1, 2**23), -(2**23), 2**23),
        ("SUM(urgent)", 1, 0, 1),
        ("SUM(1)", 1, 1, 1),
        ("AVG(1)", 1, 1, 2),
        ("SUM(LEAST(GREATEST(free, 0), 64))", Fraction(1, 2**18), 0, 2**24),
        ("SUM(cost) FILTER (WHERE urgent)", Fraction(1, 100), 0, 100_000),
        ("SUM(CASE WHEN urgent THEN cost END)", Fraction(1, 100), 0, 100_000),
        ("SUM(CASE WHEN urgent THEN cost ELSE 0 END)", Fraction(1, 2**15), 0, 1000 * 2**15),
        ("SUM(COALESCE(size, 0))", 1, 0, 5),
    ],
)
def test_sums(text: str, step: Fraction, low: int, high: int) -> None:
    found = the_sum(f"SELECT {text} FROM visits")
    assert (found.step, found.low, found.high) == (step, low, high)


@given(low=st.integers(-(10**6), 10**6), width=st.integers(1, 10**6), places=st.integers(0, 6))
def test_bounds_of_sums_hold_the_bounds_of_columns(low: int, width: int, places: int) -> None:
    bounds = Fraction(low, 10**places), Fraction(low + width, 10**places)
    column = Column(name="x", type=Type.REAL, bounds=bounds)
    table = Table(name="t", columns=(column,), unit=Unit())
    for text in ("SUM(x)", "SUM(x * 3 - 1)", "VAR_POP(x)"):
        for tally in (one for _, one in bind(f"SELECT {text} FROM t", {"t": table}).aggregation.tallies):
            if isinstance(tally, StepSum):
                known = tally.argument.known.range
                assert known is not None
                least = max(known.lower, Fraction(0)) if shown(tally.argument).startswith("multiply(") else known.lower
                least = known.lower if text == "SUM(x * 3 - 1)" else least
                assert tally.low * tally.step <= least + tally.step / 2 + known.magnitude / 2**40
                assert tally.high * tally.step >= known.upper - tally.step / 2 - known.magnitude / 2**40


def test_averages_pair_a_sum_with_the_count_of_the_same_values() -> None:
    question = ask("SELECT AVG(size) AS a, COUNT(size) AS n, SUM(size) AS s, COUNT(*) AS m FROM visits")
    (mean,) = (one for one in question.estimates if isinstance(one, Mean))
    found = dict(question.aggregation.tallies)
    total, count = found[mean.total], found[mean.count]
    assert isinstance(total, StepSum)
    assert isinstance(count, RowCount)
    assert total.argument == count.argument  # though it is declared to be never NULL
    assert len(found) == 3


def test_averages_share_the_count_of_all_rows_if_a_zero_is_within_bounds() -> None:
    shared = tallies(ask("SELECT AVG(size - 1) AS a, COUNT(*) AS n FROM visits"))
    assert [tally for tally in shared if isinstance(tally, RowCount)] == [RowCount()]
    apart = tallies(ask("SELECT AVG(age) AS a, COUNT(*) AS n FROM visits"))
    assert len([tally for tally in apart if isinstance(tally, RowCount)]) == 2


def test_filters_are_part_of_what_is_counted() -> None:
    (count,) = tallies(ask("SELECT COUNT(*) FILTER (WHERE urgent) AS n FROM visits"))
    assert isinstance(count, RowCount)
    assert count.argument is not None
    assert shown(count.argument) == "case(urgent, True, None)"
    both = tallies(ask("SELECT COUNT_IF(urgent) AS n, COUNT(*) FILTER (WHERE urgent) AS m FROM visits"))
    assert both == [count]


def test_nothing_is_counted_of_null() -> None:
    (found,) = tallies(ask("SELECT COUNT(CAST(NULL AS INTEGER)) FROM visits"))
    assert isinstance(found, RowCount)
    assert found.argument is not None
    assert tallies(ask("SELECT COUNT(1) FROM visits")) == [RowCount()]


def test_units() -> None:
    assert tallies(ask("SELECT COUNT(DISTINCT patient_id) AS n FROM visits")) == [UnitCount()]
    error, part = refusal("SELECT COUNT(DISTINCT city) FROM visits")
    assert part == "city"
    assert "COUNT(DISTINCT patient_id)" in error.hint


def test_several_quantiles_share_their_bins() -> None:
    question = ask(
        "SELECT MEDIAN(age) AS a, QUANTILE_CONT(age, 0.9) AS b, "
        "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age DESC) AS c FROM visits"
    )
    (bins,) = tallies(question)
    assert bins == BinCounts(argument=bins.argument, lower=Fraction(-1, 2), width=Fraction(1), bins=121)  # type: ignore[union-attr,arg-type]
    shares = [one.probability for one in question.estimates if isinstance(one, Quantile)]
    assert shares == [Fraction(1, 2), Fraction(9, 10)]
    assert shown(question.outputs[1].expression) == shown(question.outputs[2].expression)


def test_a_quantile_that_is_too_fine_is_refused_at_its_place() -> None:
    error, part = refusal("SELECT QUANTILE_CONT(age, 0.99999999) FROM visits")
    assert part == "0.99999999"
    assert "0.999" in error.hint


@pytest.mark.parametrize(
    ("text", "lower", "width", "bins"),
    [
        ("cost", 0, Fraction(1000, 2**16), 2**16),
        ("score", -1, Fraction(2, 2**16), 2**16),
        ("size", Fraction(1, 2), 1, 5),
        ("age * 1000", Fraction(-1, 2), 1, 120_001),
        ("age * 1000000", Fraction(-1, 2), 1831, 65_538),
        ("urgent", Fraction(-1, 2), 1, 2),
        ("0.5", Fraction(1, 2), 1, 1),
    ],
)
def test_bins_are_never_wider_than_a_share_of_the_range(text: str, lower: Fraction, width: Fraction, bins: int) -> None:
    (found,) = tallies(ask(f"SELECT MEDIAN({text}) FROM visits"))
    assert isinstance(found, BinCounts)
    assert (found.lower, found.width, found.bins) == (lower, width, bins)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (("real", (0, 200_000), 80), (0, 80, 2500)),
        (("real", (0, 200_000), "0.5"), (0, Fraction(1, 2), 400_000)),
        (("real", (0, 10), 3), (0, Fraction(5, 2), 4)),
        (("real", (-1, 1), 2), (-1, 2, 1)),
        (("integer", (0, 110), 5), (Fraction(-1, 2), 5, 23)),
        (("integer", (0, 110), "7.9"), (Fraction(-1, 2), 7, 16)),
        (("integer", (0, 110), "0.1"), (Fraction(-1, 2), 1, 111)),
        (("integer", (0, 10**7), 1000), (Fraction(-1, 2), 1000, 10_001)),
        (("integer", (0, 10**7), 10), (Fraction(-1, 2), 10, 1_000_001)),
        (("integer", (1, 2**21), 2), (Fraction(1, 2), 2, 2**20)),
        (("integer", (0, 2**21), 2), (Fraction(-1, 2), 3, -(-(2**21 + 1) // 3))),
    ],
)
def test_bins_have_the_resolution_of_their_column(declared: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    """Or a little less, so that they fit; an expression has none."""
    type_, bounds, resolution = declared
    column = Column(name="x", type=type_, bounds=bounds, resolution=resolution)
    table = Table(name="t", columns=(column,), unit=Unit())
    for text in (
        "SELECT MEDIAN(x) FROM t",
        "SELECT QUANTILE_CONT(y, 0.9) FROM (SELECT x AS y FROM t WHERE x > 3)",
        "SELECT MEDIAN(x) FILTER (WHERE x > 3) FROM t",
    ):
        ((_, found),) = bind(text, {"t": table}).aggregation.tallies
        assert isinstance(found, BinCounts)
        assert (found.lower, found.width, found.bins) == expected
    ((_, other),) = bind("SELECT MEDIAN(x * 0.5) FROM t", {"t": table}).aggregation.tallies
    assert isinstance(other, BinCounts)
    assert other.bins == 2**16


@pytest.mark.parametrize(
    ("text", "root"), [("VARIANCE", False), ("VAR_POP", False), ("STDDEV", True), ("STDDEV_POP", True)]
)
def test_spreads(text: str, root: bool) -> None:
    question = ask(f"SELECT {text}(cost) FROM visits")
    (spread,) = question.estimates
    assert isinstance(spread, Spread)
    assert spread.root is root
    found = dict(question.aggregation.tallies)
    squares = found[spread.squares]
    assert isinstance(squares, StepSum)
    assert (squares.step, squares.low, squares.high) == (Fraction(16, 10**4), 0, 10**10 // 64)
    assert spread.centre == 500
    assert shown(squares.argument) == "multiply(subtract(cost, 500.0), subtract(cost, 500.0))"


@pytest.mark.parametrize(
    ("kind", "bounds", "centre", "most"),
    [
        (Type.INTEGER, (0, 110), 55, 55**2),
        (Type.INTEGER, (0, 7), 3, 16),
        (Type.INTEGER, (-10, 10), 0, 100),
        (Type.INTEGER, (-10, 12), 0, 144),
        (Type.INTEGER, (-7, -2), -5, 9),
        (Type.REAL, (10**9, 10**9 + 1), 10**9 + Fraction(1, 2), Fraction(1, 4)),
        (Type.REAL, (-3, 3), 0, 9),
    ],
)
def test_squares_are_of_the_distance_from_the_middle(kind: Type, bounds: Any, centre: Fraction, most: Fraction) -> None:
    table = Table(name="t", columns=(Column(name="x", type=kind, bounds=bounds),), unit=Unit())
    question = bind("SELECT STDDEV(x) AS s, AVG(x) AS m FROM t", {"t": table})
    spread, mean = question.estimates
    assert isinstance(spread, Spread)
    assert isinstance(mean, Mean)
    squares = dict(question.aggregation.tallies)[spread.squares]
    assert isinstance(squares, StepSum)
    assert spread.centre == centre
    assert (mean.total, mean.count) == (spread.total, spread.count)
    assert abs(squares.high * squares.step - most) <= squares.step
    assert squares.low == 0


def test_squares_of_wide_numbers_are_summed_in_coarser_steps() -> None:
    wide = Column(name="x", type=Type.INTEGER, bounds=(-(2**40), 2**40))
    far = Column(name="y", type=Type.REAL, bounds=(-(10**12), 10**12))
    table = Table(name="t", columns=(wide, far), unit=Unit())
    for name, exact in (("x", Fraction(2**80)), ("y", Fraction(10**24))):
        question = bind(f"SELECT VAR_POP({name}) FROM t", {"t": table})
        squares = next(one for _, one in question.aggregation.tallies if "multiply" in shown(one.argument))  # type: ignore[union-attr,arg-type]
        assert isinstance(squares, StepSum)
        assert 2**26 <= squares.high <= 2**28
        assert abs(squares.high * squares.step - exact) <= squares.step


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("SUM(free)", UnknownBounds, "free"),
        ("AVG(free + 1)", UnknownBounds, "free + 1"),
        ("MEDIAN(patient_id)", UnknownBounds, "patient_id"),
        ("VARIANCE(cost * 1e299)", UnknownBounds, "VARIANCE(cost * 1e299)"),
        ("MEDIAN(cost * 1e304)", UnknownBounds, "MEDIAN(cost * 1e304)"),
        ("SUM(score * 1e-308)", UnknownBounds, "SUM(score * 1e-308)"),
        ("SUM(city)", NotSupported, "city"),
        ("SUM(day)", NotSupported, "day"),
        ("QUANTILE_CONT(age, 2)", NotSupported, "2"),
        ("VAR_SAMP(age)", NotSupported, "VAR_SAMP(age)"),
        ("SUM(AVG(age))", NotSupported, "AVG(age)"),
    ],
)
def test_what_cannot_be_aggregated(text: str, kind: type[NotSupported], part: str) -> None:
    error, found = refusal(f"SELECT {text} FROM visits")
    assert isinstance(error, kind)
    assert found == part


def test_a_text_is_a_matter_of_declaring() -> None:
    """In a CSV file that nobody declared, numbers are texts."""
    error, _ = refusal("SELECT SUM(city) FROM visits")
    assert 'city = {type = "real", bounds = [0, 100]}' in error.hint
    assert "CSV" in error.hint
    computed, _ = refusal("SELECT SUM(UPPER(city)) FROM visits")
    assert "TRY_CAST" in computed.hint


def test_columns_of_the_widest_bounds_are_refused() -> None:
    table = Table(name="t", columns=(Column(name="x", type=Type.INTEGER, bounds=(0, 2**62)),), unit=Unit())
    with pytest.raises(UnknownBounds, match="too far apart"):
        bind("SELECT SUM(x) FROM t", {"t": table})


def test_every_listed_aggregate_is_understood() -> None:
    assert set(AGGREGATES) <= set(UNDERSTOOD)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_powers_of_two(value: Fraction) -> None:
    power = power_of_two_below(value)
    assert power <= value < 2 * power
    assert (power.numerator & (power.numerator - 1), power.denominator & (power.denominator - 1)) == (0, 0)


@pytest.mark.parametrize(
    "text", ["SUM(cost * 1e300)", "AVG(cost * 1e300)", "VARIANCE(cost * 1e150)", "STDDEV(cost * 1e150)"]
)
def test_numbers_that_no_double_might_hold_are_refused(text: str) -> None:
    """Of 2^63 rows of 2^62 steps; a variance divides by a count that noise may bring down to a 2^62nd."""
    assert math.isfinite(float(COARSEST * 2 ** (63 + 62 + 62)))
    with pytest.raises(UnknownBounds):
        ask(f"SELECT {text} FROM visits")
