"""Estimates of exact numbers are exact; intervals hold as often as they say, by the exact law of the noise."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import pytest

from privately import mechanisms as m
from privately.engines.protocol import Counts
from privately.plans import Column, Identity, Question, Spread, Table, Unit
from privately.query import estimates, spreads, weighing
from privately.query.allocation import Budget, Drawn, allocated
from privately.query.binding import bind
from privately.query.drawing import ChosenPoints, Noise, NoisyNumber, NoisyPair, drawn
from privately.query.estimates import Cell, estimated
from privately.query.uses import TwoSided, uses
from privately.rounding import Interval
from tests.mechanisms.enumeration import probability
from tests.query.small_questions import COUNT, NAMED, ROWS, SQUARES, SUM, NoNoise, counted, question

TABLE: list[Any] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "a", 8), (5, "b", 10)]
HALF = Fraction(1, 2)
STEP = Fraction(1, 2)


def cells(asked: Question, noise: tuple[Noise, ...], confidence: Any = "0.95", groups: int = 2) -> dict[str, Any]:
    found = estimated(asked, noise, groups, Fraction(confidence)).cells
    return {name: found[identity] for name, identity in NAMED.items() if identity in found}


def plan(asked: Question, currency: Any = "epsilon") -> tuple[Drawn, ...]:
    return allocated(uses(asked), 2, Budget(currency=currency, amount=Fraction(1000)))


ALL = ("rows", "count", "units", "sum", "mean", "variance", "deviation", "median")


@pytest.mark.parametrize("step", [Fraction(1), STEP])
@pytest.mark.parametrize("currency", ["epsilon", "mu squared"])
def test_exact_numbers_give_exact_estimates(step: Fraction, currency: str) -> None:
    low, high = int(-10 / step), int(10 / step)
    names = ALL if currency == "epsilon" else ALL[:-1]
    asked = question(*names, unit=Unit(column="person", rows=1), low=low, high=high, step=step)
    noise = drawn(plan(asked, currency), asked.aggregation, counted(asked, TABLE), [("a",), ("b",)], NoNoise())
    found = cells(asked, noise)
    variance = Fraction(9 + 25 + 64, 3) - 4
    exact = {"rows": (4, 1), "count": (3, 1), "units": (4, 1), "sum": (6, 10), "mean": (2, 10)}
    for name, values in (exact | {"variance": (variance, 0)}).items():
        assert tuple(value for value, _ in found[name]) == values, name
        assert all(interval is None or value in interval for value, interval in found[name])
    assert float(found["deviation"][0][0]) == pytest.approx(math.sqrt(variance), rel=1e-15)
    assert found["deviation"][1][0] == 0
    if currency == "epsilon":
        assert found["median"] == ((3, None), (10, None))


@pytest.mark.parametrize("centre", [0, 4, -7])
def test_a_centre_changes_no_variance(centre: int) -> None:
    """Squares of x - centre are summed, and the estimate knows."""
    values, asked = [3, -5, 8], question("variance", values=None)
    spread = asked.estimates[0]
    assert isinstance(spread, Spread)
    spread = replace(spread, centre=Fraction(centre))
    use = next(use for use in uses(asked) if isinstance(use, TwoSided))
    total, count = sum(values), len(values)
    squares = sum((x - centre) ** 2 for x in values)
    noise = (
        pair_noise(use, total - use.low * count, use.high * count - total),
        NoisyNumber(tally=SQUARES, mechanism=LAPLACE, numbers=(squares,)),
    )
    value, interval = cells(replace(asked, estimates=(spread,)), noise, "0.5", 1)["variance"][0]
    assert value == Fraction(9 + 25 + 64, 3) - 4
    assert interval is None or value in interval


def test_a_variance_of_values_between_steps_holds_that_of_the_values() -> None:
    """All of 9000 values are 0.51, and a step is 1: their sum is 9000, that of squares of x - 5 is 20 times as much."""
    column = Column(name="x", type="real", bounds=(0, 10), step=1)
    asked = bind("SELECT VARIANCE(x) AS v FROM t", {"t": Table(name="t", columns=(column,), unit=Unit())})
    sums = {"sum": 9000, "count": 9000, "squares": 180_000}
    exact: Counts = {(): tuple(sums[identity.name] for identity, _ in asked.aggregation.tallies)}
    noise = drawn(plan(asked), asked.aggregation, exact, [()], NoNoise())
    ((value, interval),) = estimated(asked, noise, 1, HALF).cells[asked.estimates[0].identity]
    assert value == 4
    assert interval is not None
    assert 0 in interval


def test_a_sum_alone_is_in_its_steps() -> None:
    asked = question("sum", low=-20, high=20, step=STEP)
    noise = drawn(plan(asked), asked.aggregation, counted(asked, TABLE), [("a",), ("b",)], NoNoise())
    assert [value for value, _ in cells(asked, noise)["sum"]] == [6, 10]


# --- how often intervals hold -----------------------------------------------------------------------------------------

Additive: TypeAlias = m.Laplace | m.Gaussian
LAPLACE, NORMAL = m.Laplace(scale="0.8"), m.Gaussian(standard_deviation="1.3")
WINDOW = 14


def chances(mechanism: Additive, window: int = WINDOW) -> list[tuple[int, float]]:
    """All that noise can be, but for next to nothing."""
    return [(k, float(probability(mechanism.law, k))) for k in range(-window, window + 1)]


def pair_noise(use: TwoSided, above: int, below: int, mechanism: Additive = LAPLACE) -> NoisyPair:
    return NoisyPair(use=use, mechanism=mechanism, above=(above,), below=(below,))


def cases(name: str, exact: dict[Identity, int], mechanism: Additive = LAPLACE) -> Iterator[tuple[Cell, float]]:
    """The estimate for every noise, with the chance of it."""
    asked = question(name, *(["mean"] if name in {"count", "sum"} else []), values=None)
    if name == "rows":
        for k, chance in chances(mechanism):
            noise: tuple[Noise, ...] = (NoisyNumber(tally=ROWS, mechanism=mechanism, numbers=(exact[ROWS] + k,)),)
            yield cells(asked, noise, "0.8", 1)[name][0], chance
        return
    use = next(use for use in uses(asked) if isinstance(use, TwoSided))
    above, below = exact[SUM] - use.low * exact[COUNT], use.high * exact[COUNT] - exact[SUM]
    square = name in {"variance", "deviation"}
    window = 6 if square else WINDOW
    noises = chances(mechanism, window)
    for (a, p), (b, q), (c, r) in product(noises, noises, noises if square else [(0, 1.0)]):
        noise = (pair_noise(use, above + a, below + b, mechanism),)
        if square:
            noise += (NoisyNumber(tally=SQUARES, mechanism=mechanism, numbers=(exact[SQUARES] + c,)),)
        yield cells(asked, noise, "0.8", 1)[name][0], p * q * r


def coverage(name: str, exact: dict[Identity, int], truth: float, mechanism: Additive = LAPLACE) -> float:
    """How likely the interval holds the truth; what is no interval holds everything."""
    within = 0.0
    for (_, interval), chance in cases(name, exact, mechanism):
        if interval is None or interval.lower - 1e-12 <= truth <= interval.upper + 1e-12:
            within += chance
    return within


TABLES = [
    {ROWS: 0, COUNT: 0, SUM: 0, SQUARES: 0},
    {ROWS: 2, COUNT: 1, SUM: -10, SQUARES: 100},
    {ROWS: 3, COUNT: 3, SUM: 6, SQUARES: 98},
]


def truths(exact: dict[Identity, int]) -> dict[str, float]:
    found: dict[str, float] = {"rows": exact[ROWS], "count": exact[COUNT], "sum": exact[SUM]}
    if exact[COUNT]:
        mean = exact[SUM] / exact[COUNT]
        variance = exact[SQUARES] / exact[COUNT] - mean**2
        found |= {"mean": mean, "variance": variance, "deviation": math.sqrt(variance)}
    return found


@pytest.mark.thinned(3)
@pytest.mark.parametrize("at", range(len(TABLES)))
@pytest.mark.parametrize("name", ["rows", "count", "sum", "mean", "variance", "deviation"])
@pytest.mark.parametrize("mechanism", [LAPLACE, NORMAL])
def test_intervals_hold_as_often_as_stated(name: str, at: int, mechanism: Additive) -> None:
    truth = truths(TABLES[at])
    if name in truth:
        assert coverage(name, TABLES[at], truth[name], mechanism) >= 0.8 - 1e-6


@pytest.mark.parametrize("name", ["rows", "count", "sum", "mean", "variance"])
def test_intervals_without_width_are_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "width_of", lambda *given: 0)
    monkeypatch.setattr(estimates, "error_of_count", lambda *given: Fraction(0))
    monkeypatch.setattr(estimates, "error_of_sum", lambda *given: Fraction(0))
    monkeypatch.setattr(weighing, "weighted_width", lambda *given: 0)
    monkeypatch.setattr(spreads._Noise, "width", lambda *given: 0.0)
    monkeypatch.setattr(estimates, "shares_of", weighing.Shares)
    monkeypatch.setattr(spreads, "shares_of", weighing.Shares)
    assert coverage(name, TABLES[2], truths(TABLES[2])[name]) < 0.8


def test_an_interval_of_a_count_is_no_wider_than_it_must_be() -> None:
    narrow = LAPLACE.law.interval(Fraction(8, 10))
    ((_, interval), _), *_ = cases("rows", TABLES[0])
    assert interval is not None
    assert interval.width == 2 * narrow


# --- what is not there ------------------------------------------------------------------------------------------------


def one_cell(name: str, above: int, below: int, squares: int = 0) -> Cell:
    asked = question(name, *(["mean"] if name in {"count", "sum"} else []), values=None)
    use = next(use for use in uses(asked) if isinstance(use, TwoSided))
    noise: tuple[Noise, ...] = (pair_noise(use, above, below),)
    if name in {"variance", "deviation"}:
        noise += (NoisyNumber(tally=SQUARES, mechanism=LAPLACE, numbers=(squares,)),)
    found: Cell = cells(asked, noise, "0.95", 1)[name][0]
    return found


def test_the_average_of_nothing_is_missing() -> None:
    assert one_cell("mean", -3, -1) == (None, Interval(-10, 10))
    assert one_cell("mean", 0, 0)[0] is None
    assert one_cell("variance", -3, -1) == (None, None)


def test_averages_stay_within_their_bounds() -> None:
    assert one_cell("mean", 50, -2)[0] == 10
    assert one_cell("mean", -2, 50)[0] == -10


def test_variances_are_not_above_the_largest_square() -> None:
    """Nor outside their intervals, where there seems to be a part of one row."""
    for name, largest in (("variance", 100), ("deviation", 10)):
        value, interval = one_cell(name, 2, 1, 400)
        assert value == largest
        assert interval is not None
        assert value in interval


def test_negative_sums_and_counts_are_left_as_they_are() -> None:
    assert one_cell("count", -30, -10)[0] == -2
    assert one_cell("sum", -30, 10)[0] == -20


def test_a_variance_is_never_negative() -> None:
    value, interval = one_cell("variance", 200, 200, squares=-50)
    assert value == 0
    assert interval is not None
    assert interval.lower == 0
    assert one_cell("deviation", 200, 200, squares=-50)[0] == 0


def test_a_variance_of_too_few_may_be_any() -> None:
    assert one_cell("variance", 3, 3, squares=10)[1] == Interval(0, 100)
    assert one_cell("deviation", 3, 3, squares=10)[1] == Interval(0, 10)


def test_choices_have_no_interval() -> None:
    asked = question("median", values=None)
    quantile = m.Quantile(probability=HALF, epsilon=1, lower=0, upper=20, step=1)
    bins = asked.aggregation.tallies[-1][0]
    noise = ChosenPoints(bins=bins, mechanism=quantile, points=(Fraction(7),))
    assert cells(asked, (noise,), groups=1)["median"] == ((7, None),)
