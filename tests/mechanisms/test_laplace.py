"""The Laplace mechanism: exact losses of all small neighbours, mutants, error bars, calibration."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.laws import DiscreteLaplace
from privately.mechanisms.additive import Answer, add_noise
from privately.mechanisms.laplace import Laplace
from privately.mechanisms.randomness import Randomness
from tests.mechanisms import number_checks
from tests.mechanisms.number_checks import LITTLE, WORDS, neighbours, number, worst_loss

ONE = Sensitivity(value=1)


def claimed(mechanism: Laplace, sensitivity: Sensitivity = ONE) -> Any:
    return number(mechanism.guarantee(sensitivity).parameters["epsilon"])


def close(change: Sequence[int]) -> bool:
    return sum(map(abs, change)) <= 2


@pytest.mark.parametrize(("scale", "grid"), [("1/2", None), ("1/7", "1/2")])
@pytest.mark.parametrize("value", [[0, 3], [-1, 1]])
def test_the_program_does_the_same(scale: str, grid: Any, value: list[int]) -> None:
    number_checks.program_agrees(Laplace(scale=scale, grid=grid, dimension=2), value, window=6)


@pytest.mark.parametrize(
    ("scale", "dimension", "values", "window"),
    [("1/3", 1, range(-2, 3), 14), (2, 1, range(4), 80), ("1/4", 2, range(2), 9)],
)
def test_the_claim_is_the_largest_loss(scale: Any, dimension: int, values: range, window: int) -> None:
    mechanism = Laplace(scale=scale, dimension=dimension)
    loss = worst_loss(mechanism, neighbours(values, dimension, close), window=window)
    assert abs(loss - claimed(mechanism, Sensitivity(value=2))) < LITTLE


@pytest.mark.parametrize(("dimension", "grid"), [(1, None), (1, "1/4"), (2, "1/4"), (2, 2)])
def test_the_worst_case_attains_the_claim(dimension: int, grid: Any) -> None:
    unit = Fraction(grid or 1)
    mechanism = Laplace(scale=unit / 4, grid=grid, dimension=dimension)
    sensitivity = Sensitivity(value=unit)
    loss = worst_loss(mechanism, [mechanism.worst_case(sensitivity)], window=12)
    assert abs(loss - claimed(mechanism, sensitivity)) < LITTLE


TIES = [0.25, 0.75, -0.25, 0.2500000001, 5e-324, 0.0, 0.24999999999999997]


def test_floats_on_a_grid_lose_no_more_than_claimed() -> None:
    """Neighbours at most half a step apart; two of them, at ties, are a whole step apart once rounded."""
    mechanism = Laplace(scale="1/4", grid="1/2")
    pairs: list[Any] = [([a], [b]) for a in TIES for b in TIES if abs(Fraction(a) - Fraction(b)) <= Fraction(1, 2)]
    sensitivity = Sensitivity(value="1/2")
    loss = worst_loss(mechanism, pairs, window=16)
    assert abs(loss - claimed(mechanism, sensitivity)) < LITTLE
    unwidened = sensitivity.value / mechanism.scale
    assert loss > number(unwidened) + 1, "without the rounding the claim would be false"


class HalfTheNoise(Laplace):
    def run(self, value: Any, randomness: Randomness) -> Answer:
        return add_noise(value, DiscreteLaplace(scale=self.scale / 2), self.grid, self.dimension, randomness)


class NoiseForOneEntry(Laplace):
    """The same noise on every entry."""

    def run(self, value: Any, randomness: Randomness) -> Answer:
        noise = int(randomness.draw(self.law, size=1)[0])
        return self.grid.back(self.grid.snap(value, self.dimension) + noise)


class SensitivityForgotten(Laplace):
    def derive(self, sensitivity: Sensitivity) -> Any:
        return super().derive(Sensitivity(value=1, neighbors=sensitivity.neighbors))


class LargestEntry(Laplace):
    """Takes the largest change of an entry for the sum."""

    def derive(self, sensitivity: Sensitivity) -> Any:
        return super().derive(sensitivity.scaled(Fraction(1, self.dimension)))


@pytest.mark.parametrize("mutant", [HalfTheNoise, NoiseForOneEntry, SensitivityForgotten, LargestEntry])
def test_mutants_are_refuted(mutant: type[Laplace]) -> None:
    """By the check that the mechanism passed above, with the same numbers."""
    mechanism = mutant(scale="1/4", dimension=2)
    loss = worst_loss(mechanism, neighbours(range(2), 2, close), window=9)
    assert loss > claimed(mechanism, Sensitivity(value=2)) + 1


@pytest.mark.parametrize(("scale", "grid"), [(10, None), ("7/3", None), (3, "1/8"), (2**60, None), ("1/500", None)])
@pytest.mark.parametrize("dimension", [1, 20])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
def test_intervals_are_the_least_that_cover(scale: Any, grid: Any, dimension: int, confidence: str) -> None:
    number_checks.interval_is_least(Laplace(scale=scale, grid=grid, dimension=dimension), confidence)


@pytest.mark.parametrize(("value", "grid"), [([0, 7], None), ([0.12, -3.375], "1/4"), ([1e-300, 0.125], "1/4")])
def test_answers_are_as_close_as_stated(value: list[Any], grid: Any) -> None:
    number_checks.answers_stay_inside(Laplace(scale="1/2", grid=grid, dimension=2), value, "0.95", window=12)


@pytest.mark.parametrize("epsilon", ["0.1", 1, Fraction(7, 3)])
@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), ("1/16", 1), ("1/2", 5)])
def test_least_noise_for_an_epsilon(epsilon: Any, grid: Any, dimension: int) -> None:
    sensitivity = Sensitivity(value=3, neighbors=Neighbors.REPLACE)
    mechanism = Laplace.for_epsilon(epsilon, sensitivity, grid=grid, dimension=dimension)
    assert mechanism.guarantee(sensitivity) == PureDP(epsilon=epsilon, neighbors=Neighbors.REPLACE)
    assert (mechanism.grid.step, mechanism.dimension) == (grid if grid is None else Fraction(grid), dimension)
    over_two = Sensitivity(value=3, norm="Linf")
    assert Laplace.for_epsilon(1, over_two, dimension=4).scale == 12


@pytest.mark.parametrize(("error", "grid"), [(50, None), ("12.34", "1/64"), (3, "1/2")])
@pytest.mark.parametrize(("confidence", "dimension"), [("0.95", 1), ("0.5", 7)])
def test_most_noise_for_an_error(error: Any, grid: Any, confidence: str, dimension: int) -> None:
    mechanism = Laplace.for_accuracy(error=error, confidence=confidence, grid=grid, dimension=dimension)
    assert mechanism.interval(confidence) <= Fraction(error)
    wider = Laplace(scale=mechanism.scale * Fraction(101, 100), grid=grid, dimension=dimension)
    assert wider.interval(confidence) > Fraction(error)


def test_errors_that_cannot_be_met() -> None:
    assert Laplace.for_accuracy(error=0, confidence="0.9").interval("0.9") == 0
    for error, grid in (("0.2", "1/2"), (-1, None)):
        with pytest.raises(InvalidParameter) as caught:
            Laplace.for_accuracy(error=error, confidence="0.9", grid=grid)
        assert caught.value.field == "error"


@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), ("1/8", 3)])
@pytest.mark.parametrize("neighbors", [Neighbors.ADD_REMOVE, Neighbors.REPLACE])
def test_certificates_check(grid: Any, dimension: int, neighbors: Neighbors) -> None:
    for sensitivity in (Sensitivity(value="2.5", neighbors=neighbors), Sensitivity(value=1, norm="L2")):
        number_checks.certified(Laplace(scale=3, grid=grid, dimension=dimension).derive(sensitivity))


@pytest.mark.parametrize("scale", [*WORDS, "1/1001", 2**60 + 1])
def test_bad_scales(scale: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Laplace(scale=scale)
    assert caught.value.field == "scale"


@pytest.mark.parametrize(
    ("field", "value"), [*(("dimension", one) for one in [*WORDS, 1.5, 10**9 + 1]), ("grid", 3), ("grid", 0)]
)
def test_bad_settings(field: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Laplace(scale=1, **{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("epsilon", WORDS)
def test_bad_epsilons(epsilon: Any) -> None:
    with pytest.raises(InvalidParameter):
        Laplace.for_epsilon(epsilon, ONE)


def test_releases_differ() -> None:
    drawn = {Laplace(scale=10**6).release(5) for _ in range(5)}
    assert len(drawn) > 1
    assert all(type(one) is int for one in drawn)
