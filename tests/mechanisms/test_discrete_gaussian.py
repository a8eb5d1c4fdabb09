"""Discrete Gaussian noise: exact divergences of every order, mutants, error bars, calibration."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, GaussianDP, Neighbors, Sensitivity, rules
from privately.laws import DiscreteGaussian as Law
from privately.mechanisms.additive import Answer, add_noise
from privately.mechanisms.discrete_gaussian import DiscreteGaussian
from privately.mechanisms.randomness import Randomness
from tests.mechanisms import number_checks
from tests.mechanisms.enumeration import Distribution
from tests.mechanisms.number_checks import LITTLE, WORDS, answers, number

ONE = Sensitivity(value=1, norm="L2")
ORDERS = [Fraction(text) for text in ("1.01", "1.5", "2", "3", "5.5", "8")]
WINDOW = 24


def divergence(p: Distribution, q: Distribution, order: Fraction) -> Any:
    """The Renyi divergence of this order, over what both windows hold."""
    a = number(order)
    common = p.chances.keys() & q.chances.keys()
    return mpmath.log(sum(p.chances[o] ** a * q.chances[o] ** (1 - a) for o in common)) / (a - 1)


def worst(mechanism: DiscreteGaussian, before: Any, after: Any, window: int = WINDOW) -> Any:
    """The largest divergence for its order."""
    p, q = answers(mechanism, before, window), answers(mechanism, after, window)
    return max(max(divergence(p, q, a), divergence(q, p, a)) / number(a) for a in ORDERS)


def claimed(mechanism: DiscreteGaussian, sensitivity: Sensitivity) -> Any:
    return number(mechanism.guarantee(sensitivity).parameters["rho"])


@pytest.mark.parametrize(("variance", "grid"), [("2/3", None), ("1/5", "1/2")])
@pytest.mark.parametrize("value", [[0, 3], [-1, 1]])
def test_the_program_does_the_same(variance: str, grid: Any, value: list[int]) -> None:
    number_checks.program_agrees(DiscreteGaussian(variance=variance, grid=grid, dimension=2), value, window=5)


@pytest.mark.parametrize("variance", ["1/2", 1, "5/2"])
@pytest.mark.parametrize("change", [1, 2])
def test_the_claim_is_the_largest_divergence(variance: Any, change: int) -> None:
    mechanism = DiscreteGaussian(variance=variance)
    sensitivity = Sensitivity(value=change, norm="L2")
    assert mechanism.guarantee(sensitivity) == ZCDP(rho=change**2 / (2 * Fraction(variance)))
    assert abs(worst(mechanism, *mechanism.worst_case(sensitivity)) - claimed(mechanism, sensitivity)) < LITTLE


def test_vectors_add_up_by_squares() -> None:
    mechanism = DiscreteGaussian(variance="1/3", dimension=2)
    found = worst(mechanism, [0, 0], [1, 1], window=9)
    assert abs(found - claimed(mechanism, Sensitivity(value=1, norm="Linf"))) < LITTLE
    assert found > claimed(mechanism, ONE) + 1, "one entry alone would be too little"


def test_floats_on_a_grid_lose_no_more_than_claimed() -> None:
    """Ties half a step apart are a whole step apart once rounded."""
    mechanism = DiscreteGaussian(variance="1/4", grid="1/2")
    sensitivity = Sensitivity(value="1/2")
    found = max(worst(mechanism, [a], [b]) for a, b in ((0.25, 0.75), (0.0, 0.49), (-0.25, 0.2500000001)))
    assert abs(found - claimed(mechanism, sensitivity)) < LITTLE
    assert found > number(sensitivity.value**2 / (2 * mechanism.variance)) * 2, "the claim without the rounding"


class HalfTheVariance(DiscreteGaussian):
    def run(self, value: Any, randomness: Randomness) -> Answer:
        return add_noise(value, Law(variance=self.variance / 2), self.grid, self.dimension, randomness)


class SensitivityForgotten(DiscreteGaussian):
    def derive(self, sensitivity: Sensitivity) -> Any:
        return super().derive(ONE)


class NotSquared(DiscreteGaussian):
    def derive(self, sensitivity: Sensitivity) -> Any:
        return rules.suppose(ZCDP(rho=sensitivity.value / (2 * self.variance)))


@pytest.mark.parametrize("mutant", [HalfTheVariance, SensitivityForgotten, NotSquared])
def test_mutants_are_refuted(mutant: type[DiscreteGaussian]) -> None:
    two = Sensitivity(value=2, norm="L2")
    mechanism = mutant(variance="5/2")
    assert worst(mechanism, [0], [2]) > claimed(mechanism, two) * mpmath.mpf("1.5")


def test_it_is_never_gaussian() -> None:
    with pytest.raises(NoSuchRule):
        rules.convert(DiscreteGaussian(variance=9).derive(ONE), GaussianDP)


@pytest.mark.parametrize(("variance", "grid"), [(100, None), ("7/3", None), (9, "1/8"), ("1/50", None)])
@pytest.mark.parametrize("dimension", [1, 20])
@pytest.mark.parametrize("confidence", ["0.5", "0.999"])
def test_intervals_are_the_least_that_cover(variance: Any, grid: Any, dimension: int, confidence: str) -> None:
    mechanism = DiscreteGaussian(variance=variance, grid=grid, dimension=dimension)
    number_checks.interval_is_least(mechanism, confidence)


@pytest.mark.parametrize(("value", "grid"), [([0, 7], None), ([0.12, -3.375], "1/4")])
def test_answers_are_as_close_as_stated(value: list[Any], grid: Any) -> None:
    mechanism = DiscreteGaussian(variance="1/4", grid=grid, dimension=2)
    number_checks.answers_stay_inside(mechanism, value, "0.9", window=6)


@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), (None, 2), ("1/16", 1), ("1/2", 4)])
def test_least_noise_for_a_rho(grid: Any, dimension: int) -> None:
    for sensitivity in (
        Sensitivity(value=3, norm="L2", neighbors=Neighbors.REPLACE),
        Sensitivity(value=1, norm="Linf"),
    ):
        mechanism = DiscreteGaussian.for_rho("0.3", sensitivity, grid=grid, dimension=dimension)
        assert mechanism.guarantee(sensitivity) == ZCDP(rho="0.3", neighbors=sensitivity.neighbors)


@pytest.mark.parametrize(("error", "grid"), [(9, None), ("3.34", "1/4")])
@pytest.mark.parametrize(("confidence", "dimension"), [("0.95", 1), ("0.5", 7)])
def test_most_noise_for_an_error(error: Any, grid: Any, confidence: str, dimension: int) -> None:
    mechanism = DiscreteGaussian.for_accuracy(error=error, confidence=confidence, grid=grid, dimension=dimension)
    assert mechanism.interval(confidence) <= Fraction(error)
    wider = DiscreteGaussian(variance=mechanism.variance * Fraction(101, 100), grid=grid, dimension=dimension)
    assert wider.interval(confidence) > Fraction(error)


@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), ("1/8", 3)])
def test_certificates_check(grid: Any, dimension: int) -> None:
    mechanism = DiscreteGaussian(variance="10/3", grid=grid, dimension=dimension)
    for sensitivity in (Sensitivity(value="2.5"), Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE)):
        number_checks.certified(mechanism.derive(sensitivity))


@pytest.mark.parametrize("variance", [*WORDS, "1/1000001", 2**80 + 1])
def test_bad_variances(variance: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        DiscreteGaussian(variance=variance)
    assert caught.value.field == "variance"


@pytest.mark.parametrize("amount", WORDS)
def test_bad_targets(amount: Any) -> None:
    with pytest.raises(InvalidParameter):
        DiscreteGaussian.for_rho(amount, ONE)
    with pytest.raises(InvalidParameter):
        DiscreteGaussian(variance=1, dimension=amount)
    with pytest.raises(InvalidParameter):
        DiscreteGaussian.for_accuracy(error=10, confidence=amount)
