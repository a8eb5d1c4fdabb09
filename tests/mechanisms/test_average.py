"""Averages by two-sided sums: exact laws for all small tables, error bars, calibration, bad input."""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.laws import DiscreteLaplace, Law
from privately.mechanisms.average import ROW, Average, NoisyAverage
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.fixed_point import FixedPoint
from tests.mechanisms.enumeration import Distribution, outcomes, probability
from tests.mechanisms.tables import (
    Table,
    certified,
    one_row_more,
    one_row_replaced,
    real,
    tables,
    worst_loss,
)

ROUNDING = 1e-9
LIKELY = 1e-4
WINDOW = 12
EPSILON = 2
SMALL = Average.for_epsilon(EPSILON, lower=0, upper=2, step=1)
TABLES = tables(range(3), 3)
REPLACED = Sensitivity(value=2, neighbors=Neighbors.REPLACE)


class Fixed:
    """Noise that is known."""

    def __init__(self, *noise: int) -> None:
        self._noise = noise

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        assert size == len(self._noise)
        return np.array(self._noise, np.int64)


def run_with(average: Average, values: Any, *noise: int) -> NoisyAverage:
    return average.run(values, Fixed(*noise))  # type: ignore[arg-type]  # nothing else is drawn


def law_of(average: Average) -> Callable[[Table], Distribution]:
    return lambda table: outcomes(lambda randomness: average.run(list(table), randomness), window=WINDOW)


def test_exact_privacy_of_every_small_table() -> None:
    """Every row costs epsilon, wherever it lies: the claim is attained, and so is twice as much by replacement."""
    law = law_of(SMALL)
    for sensitivity, pairs in ((ROW, one_row_more), (REPLACED, one_row_replaced)):
        claim = SMALL.guarantee(sensitivity).parameters["epsilon"]
        assert abs(worst_loss(law, pairs(TABLES), above=LIKELY) - real(claim)) < ROUNDING


def test_any_added_row_costs_as_much_as_any_other() -> None:
    law = law_of(SMALL)
    for value in range(3):
        loss = worst_loss(law, iter([((1,), tuple(sorted((1, value))))]), above=LIKELY)
        assert abs(loss - EPSILON) < ROUNDING


@pytest.mark.parametrize("sensitivity", [ROW, REPLACED], ids=["one row comes", "one row is replaced"])
def test_the_worst_case_is_one(sensitivity: Sensitivity) -> None:
    one, other = SMALL.worst_case(sensitivity)
    loss = law_of(SMALL)(tuple(one)).loss(law_of(SMALL)(tuple(other)), above=LIKELY)  # type: ignore[arg-type]
    assert abs(loss - real(SMALL.guarantee(sensitivity).parameters["epsilon"])) < ROUNDING


class HalfTheNoise(Average):
    @property
    def law(self) -> DiscreteLaplace:
        return DiscreteLaplace(scale=super().law.scale / 2)


class Unclamped(FixedPoint):
    def read(self, values: Any) -> NDArray[np.int64]:
        return np.array(values, np.int64)


def test_mutants_are_caught_by_the_same_enumeration() -> None:
    careless = HalfTheNoise(lower=0, upper=2, step=1, scale=1)
    assert worst_loss(law_of(careless), one_row_more(tables(range(3), 1)), above=LIKELY) > 1.9 * EPSILON
    unclamped = Average.for_epsilon(EPSILON, lower=0, upper=2, step=1)
    object.__setattr__(unclamped, "points", Unclamped(lower=0, upper=2, step=1))
    assert worst_loss(law_of(unclamped), one_row_more(tables(range(5), 1)), above=LIKELY) > 1.9 * EPSILON
    assert worst_loss(law_of(SMALL), one_row_more(tables(range(5), 1)), above=LIKELY) < EPSILON + ROUNDING


@pytest.mark.parametrize("values", [[], [0], [2, 2], [0, 1, 7], [-3.4, 0.6]])
def test_the_text_does_what_run_does(values: list[float]) -> None:
    inputs = SMALL.program_inputs(values)
    ran = outcomes(lambda randomness: SMALL.run(values, randomness), window=WINDOW)
    read = outcomes(lambda randomness: SMALL.program.run(inputs, randomness), window=WINDOW)
    assert ran == read
    assert ran.missing < LIKELY


@pytest.mark.parametrize(
    ("neighbors", "rows"),
    [
        (Neighbors.ADD_REMOVE, 1),
        (Neighbors.REPLACE, 2),
        (Neighbors.ADD_REMOVE.times(3), 3),
        (Neighbors.ADD_REMOVE.of_unit("person", max_rows=4), 4),
        (Neighbors.REPLACE.of_unit("person", max_rows=4).times(2), 16),
    ],
)
def test_the_certificate_charges_every_row(neighbors: Neighbors, rows: int) -> None:
    average = Average.for_epsilon("0.1", lower=-5, upper=10, step="0.25")
    of_rows = Sensitivity(value=rows, neighbors=neighbors)
    assert certified(average.derive(of_rows)) == PureDP(epsilon=Fraction(rows, 10), neighbors=neighbors)
    with pytest.raises(InvalidParameter):
        average.derive(Sensitivity(value=rows - 1, neighbors=neighbors))


def test_more_rows_than_a_neighbour_has_may_be_charged() -> None:
    """Such as the rows that one row turned into."""
    assert SMALL.guarantee(Sensitivity(value="2.5")) == PureDP(epsilon=5)
    with pytest.raises(NoSuchRule):
        SMALL.derive(Sensitivity(value=5, neighbors=Neighbors.ADD_REMOVE.of_unit("person")))


def joint(law: DiscreteLaplace, width: int) -> Any:
    """How likely it is that two draws lie within the width."""
    return sum(probability(law, k) for k in range(-width, width + 1)) ** 2


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.999"])
@pytest.mark.parametrize("scale", ["1/2", 2, 7])
def test_both_noises_are_within_the_width_and_no_less_would_do(scale: Any, confidence: str) -> None:
    law = Average(lower=0, upper=10, step=1, scale=scale).law
    width = half_width(law, confidence, 2)
    assert joint(law, width) >= mpmath.mpf(confidence)
    assert joint(law, width - 1) < mpmath.mpf(confidence)


@pytest.mark.parametrize("values", [[0], [1], [3], [0, 3], [3, 3], [1, 1, 1], [0, 0, 0, 2]])
def test_intervals_hold_the_average_if_both_noises_are_within_the_width(values: list[int]) -> None:
    average = Average(lower=0, upper=3, step=1, scale=1)
    width, truth = half_width(average.law, "0.9", 2), Fraction(sum(values), len(values))
    for noise in product(range(-width, width + 1), repeat=2):
        assert truth in average.interval("0.9", run_with(average, values, *noise))


def test_intervals_are_no_wider_than_needed() -> None:
    average = Average(lower=0, upper=1000, step=1, scale=10)
    width = half_width(average.law, "0.9", 2)
    for sign in (1, -1):
        further = sign * (width + 1)
        assert 500 not in average.interval("0.9", run_with(average, [500], further, -further))
        assert 500 in average.interval("0.9", run_with(average, [500], sign * width, -sign * width))


@pytest.mark.parametrize("noise", [(-50, -50), (-50, 50), (50, -50), (-1, -2), (0, 0)])
def test_intervals_of_nobody_stay_in_the_range(noise: tuple[int, int]) -> None:
    average = Average(lower=-4, upper=3, step=1, scale=1)
    answer = run_with(average, [], *noise)
    interval = average.interval("0.9", answer)
    assert -4 <= interval.lower <= answer.mean <= interval.upper <= 3


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("scale", ["1/3", 1])
def test_the_error_stays_within_the_accuracy(rows: int, scale: Any) -> None:
    """All tables, all noises within the width; and the bound is attained but for rounding."""
    average = Average(lower=0, upper=4, step=1, scale=scale)
    width = half_width(average.law, "0.8", 2)
    worst = max(
        abs(run_with(average, values, *noise).mean - Fraction(sum(values), rows))
        for values in product(range(5), repeat=rows)
        for noise in product(range(-width, width + 1), repeat=2)
    )
    stated = average.accuracy(confidence="0.8", rows=rows).error
    assert worst <= stated
    assert worst == min(Fraction(width, rows), 4)
    assert stated == min(Fraction(width, rows) + average.points.rounding, 4)


@pytest.mark.parametrize("error", ["0.05", 1, "12.5"])
def test_for_accuracy_allows_as_much_noise_as_the_error_does(error: Any) -> None:
    settings: dict[str, Any] = {"lower": 0, "upper": 100, "step": "0.01"}
    average = Average.for_accuracy(error=error, confidence="0.9", rows=400, **settings)
    assert average.accuracy(confidence="0.9", rows=400).error <= Fraction(error)
    noisier = Average(scale=average.scale * Fraction(101, 100), **settings)
    assert noisier.accuracy(confidence="0.9", rows=400).error > Fraction(error)


@pytest.mark.parametrize("error", [0, -1, "0.005", 101, float("nan")])
def test_errors_that_cannot_be_met_or_always_are_refused(error: Any) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        Average.for_accuracy(error=error, confidence="0.9", rows=10, lower=0, upper=100, step="0.01")
    assert refusal.value.field == "error"


def test_nobody_is_noise_alone() -> None:
    assert run_with(SMALL, [], 5, -3) == (5, -3)
    assert run_with(SMALL, [], 0, 0).mean == 1
    assert run_with(SMALL, np.array([], np.int64), -4, -4).rows == -4


def test_values_beyond_the_bounds_count_as_the_bounds() -> None:
    assert run_with(SMALL, [1e300, float("inf"), 3, -1e300, float("-inf"), -1], 0, 0) == (6, 6)
    assert run_with(SMALL, np.array([9, 1, -9]), 0, 0) == (3, 3)


def test_sums_beyond_64_bits_are_exact() -> None:
    points = Average(lower=0, upper=2**52, step=1, scale=2**52)
    ones = np.full(5000, 2**52 - 1)
    answer = run_with(points, ones, 7, -2)
    assert answer == (5000 * (2**52 - 1) + 7, 5000 - 2)
    assert answer.rows == 5000 + Fraction(5, 2**52)


def test_an_answer_is_its_two_sums_and_can_be_copied() -> None:
    answer = run_with(SMALL, [2, 2, 1], 0, 1)
    assert answer == (5, 2)
    assert (answer.mean, answer.rows) == (Fraction(10, 7), Fraction(7, 2))
    for copied in (copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))):
        assert (copied, copied.mean) == (answer, answer.mean)


@pytest.mark.parametrize("values", [[float("nan")], [0.5, float("nan")], None, "abc", ["1"], [[1.0]], [None]])
def test_bad_values_are_refused_before_anything_is_drawn(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        SMALL.run(values, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"scale": 0}, "scale"),
        ({"scale": -1}, "scale"),
        ({"scale": float("inf")}, "scale"),
        ({"scale": "1e-9"}, "scale"),
        ({"scale": 2**61}, "scale"),
        ({"upper": 0}, "upper"),
        ({"step": "0.3"}, "step"),
    ],
)
def test_bad_parameters_are_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        Average(**{"lower": 0, "upper": 2, "step": 1, "scale": 2, **changed})
    assert refusal.value.field == field


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, "x"])
def test_bad_confidences_are_refused(confidence: Any) -> None:
    for ask in (
        lambda: SMALL.accuracy(confidence=confidence),
        lambda: SMALL.interval(confidence, run_with(SMALL, [], 0, 0)),
    ):
        with pytest.raises(InvalidParameter):
            ask()


def test_a_thousand_incomes_are_averaged_closely() -> None:
    """To first order: a(N-A)/N^2 - bA/N^2, with the variance of the exact law. Log-normal, with a median of 29,740."""
    incomes = [29_740 * 2.718281828 ** (0.6 * NormalDist().inv_cdf((i + 0.5) / 1000)) for i in range(1000)]
    average = Average.for_epsilon(1, lower=0, upper=200_000, step=1)
    above, total = int(average.points.read(incomes).sum()), 1000 * 200_000
    q = mpmath.exp(-1 / real(average.law.scale))
    variance = 2 * q / (1 - q) ** 2
    error = 200_000 * mpmath.sqrt(variance * (above**2 + (total - above) ** 2)) / mpmath.mpf(total) ** 2
    assert 230 < error <= 240


@pytest.mark.parametrize("answer", [1, None, (3, 4), "0.9"])
def test_intervals_are_made_of_an_answer(answer: Any) -> None:
    with pytest.raises(InvalidParameter, match="NoisyAverage") as caught:
        SMALL.interval("0.9", answer)
    assert caught.value.field == "answer"


def test_answers_of_other_averages_are_refused() -> None:
    answer = SMALL.release([1, 2])
    others: list[dict[str, Any]] = [{"upper": 3}, {"lower": -1}, {"step": "1/2"}]
    for other in others:
        mechanism = Average(**{"lower": 0, "upper": 2, "step": 1, "scale": 2, **other})
        with pytest.raises(InvalidParameter) as caught:
            mechanism.interval("0.9", answer)
        assert caught.value.field == "answer"


@pytest.mark.parametrize("norm", ["L2", "Linf"])
def test_rows_are_counted_in_no_other_norm(norm: Any) -> None:
    """The square root of two in L2 would be two rows."""
    with pytest.raises(InvalidParameter) as caught:
        SMALL.guarantee(Sensitivity(value=1, norm=norm))
    assert caught.value.field == "sensitivity"


def test_intervals_are_no_wider_than_the_noise_and_a_step() -> None:
    """As wide as both sums allow, and half a step at either end."""
    average = Average(lower=0, upper=100, step=1, scale=50)
    answer = NoisyAverage(30_000, 70_000, average.points)
    found = average.interval("0.9", answer)
    noise = 2 * half_width(average.law, "0.9", 2) * Fraction(100, 100_000)
    assert found.upper - found.lower == noise + 2 * average.points.rounding
    single = 2 * half_width(average.law, "0.9", 1) * Fraction(100, 100_000)
    assert noise < Fraction(13, 10) * single, "for both sums, and so for the rows too, at once"
