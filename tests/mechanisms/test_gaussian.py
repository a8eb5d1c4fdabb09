"""The Gaussian mechanism: exact deltas below the normal curve, mutants, error bars, calibration."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, GaussianDP, Guarantee, Neighbors, Sensitivity, rules
from privately.laws import DiscreteGaussian, RoundedNormal
from privately.mechanisms.additive import Answer, add_noise
from privately.mechanisms.gaussian import Gaussian
from privately.mechanisms.randomness import Randomness
from tests.mechanisms import number_checks
from tests.mechanisms.enumeration import Distribution
from tests.mechanisms.number_checks import WORDS, answers, number

ONE = Sensitivity(value=1, norm="L2")
EPSILONS = [Fraction(tenths, 10) for tenths in (0, 3, 7, 15, 20, 31, 45, 60)]


def excess(p: Distribution, q: Distribution, epsilon: Fraction) -> Any:
    """Delta at this epsilon, in both directions, without what is missing."""
    return max(p.excess(q, number(epsilon)), q.excess(p, number(epsilon)))


def fault(claim: Guarantee, pairs: Sequence[tuple[Distribution, Distribution]], *, above: float = 1e-11) -> str:
    """Where an exact delta exceeds the curve that is claimed."""
    for epsilon in EPSILONS:
        allowed = number(claim.delta(epsilon=epsilon).upper)
        for p, q in pairs:
            if excess(p, q, epsilon) > allowed + above:
                return f"at {float(epsilon)}: {float(excess(p, q, epsilon))}, not {float(allowed)}"
    return ""


def pair(mechanism: Gaussian, before: Any, after: Any, window: int = 8) -> tuple[Distribution, Distribution]:
    return answers(mechanism, before, window), answers(mechanism, after, window)


@pytest.mark.parametrize(("deviation", "grid"), [("2/3", None), ("1/3", "1/2")])
@pytest.mark.parametrize("value", [[0, 3], [-1, 1]])
def test_the_program_does_the_same(deviation: str, grid: Any, value: list[int]) -> None:
    number_checks.program_agrees(Gaussian(standard_deviation=deviation, grid=grid, dimension=2), value, window=5)


@pytest.mark.parametrize("deviation", ["1/2", 1])
@pytest.mark.parametrize("change", [1, 2])
def test_exact_deltas_stay_below_the_curve(deviation: Any, change: int) -> None:
    mechanism = Gaussian(standard_deviation=deviation)
    claim = mechanism.guarantee(Sensitivity(value=change, norm="L2"))
    assert claim == GaussianDP(mu=change / Fraction(deviation))
    assert not fault(claim, [pair(mechanism, [0], [change], 10)])


@pytest.mark.parametrize("change", [1, 2])
def test_the_curve_is_attained_between_two_integers(change: int) -> None:
    """Where the likelihood ratio of the normal laws passes e^epsilon, half lines of integers are as good as any."""
    mechanism = Gaussian(standard_deviation=1)
    for k in (1, 2, 3):
        epsilon = (k - Fraction(1, 2)) * change - Fraction(change**2, 2)
        if epsilon >= 0:
            p, q = pair(mechanism, [change], [0], 12)
            allowed = mechanism.guarantee(Sensitivity(value=change)).delta(epsilon=epsilon)
            assert abs(p.excess(q, number(epsilon)) - number(allowed.upper)) < 1e-9


def test_vectors_have_the_norm_of_the_curve() -> None:
    """One step in each of two entries is the square root of 2; the largest entry alone would be too little."""
    mechanism = Gaussian(standard_deviation="1/2", dimension=2)
    pairs = [pair(mechanism, [0, 0], [1, 1], 5), pair(mechanism, [0, 0], [1, -1], 5)]
    right = mechanism.guarantee(Sensitivity(value=1, norm="Linf"))
    assert right.parameters["mu"] ** 2 >= 8
    assert not fault(right, pairs)
    assert fault(mechanism.guarantee(Sensitivity(value=1, norm="L2")), pairs)


def test_floats_on_a_grid_lose_no_more_than_claimed() -> None:
    """Ties half a step apart are a whole step apart once rounded."""
    mechanism = Gaussian(standard_deviation="1/2", grid="1/2")
    pairs = [pair(mechanism, [a], [b]) for a, b in ((0.25, 0.75), (-0.25, 0.2500000001), (0.0, 0.49), (0.25, 0.25))]
    claim = mechanism.guarantee(Sensitivity(value="1/2"))
    assert claim == GaussianDP(mu=2)
    assert not fault(claim, pairs)
    assert fault(GaussianDP(mu=1), pairs), "the claim without the rounding"


class HalfTheNoise(Gaussian):
    def run(self, value: Any, randomness: Randomness) -> Answer:
        law = RoundedNormal(standard_deviation=self.standard_deviation / 2)
        return add_noise(value, law, self.grid, self.dimension, randomness)


class Discrete(Gaussian):
    """Discrete Gaussian noise of the same variance."""

    def run(self, value: Any, randomness: Randomness) -> Answer:
        law = DiscreteGaussian(variance=self.standard_deviation**2)
        return add_noise(value, law, self.grid, self.dimension, randomness)


class SensitivityForgotten(Gaussian):
    def derive(self, sensitivity: Sensitivity) -> Any:
        return super().derive(ONE)


class DeviationForVariance(Gaussian):
    def derive(self, sensitivity: Sensitivity) -> Any:
        square = Sensitivity(value=sensitivity.value / self.standard_deviation, norm="L2")
        return super().derive(square)


MUTANTS: list[type[Gaussian]] = [HalfTheNoise, SensitivityForgotten, DeviationForVariance]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_refuted(mutant: type[Gaussian]) -> None:
    two = Sensitivity(value=2, norm="L2")
    wrong, right = mutant(standard_deviation=2), Gaussian(standard_deviation=2)
    assert fault(wrong.guarantee(two), [pair(wrong, [0], [2], 16)])
    assert not fault(right.guarantee(two), [pair(right, [0], [2], 16)])


def test_discrete_noise_is_refuted_far_out() -> None:
    """Its delta is more than twice that of the curve, where both are small."""
    wrong, right, epsilon = Discrete(standard_deviation=1), Gaussian(standard_deviation=1), Fraction("7.4")
    allowed = number(right.guarantee(ONE).delta(epsilon=epsilon).upper)
    assert excess(*pair(wrong, [0], [1], 12), epsilon) > allowed * 2
    assert excess(*pair(right, [0], [1], 12), epsilon) <= allowed


@pytest.mark.parametrize(("deviation", "grid"), [(10, None), ("7/3", None), (3, "1/8"), (2**40, None), ("1/50", None)])
@pytest.mark.parametrize("dimension", [1, 20])
@pytest.mark.parametrize("confidence", ["0.5", "0.999"])
def test_intervals_are_the_least_that_cover(deviation: Any, grid: Any, dimension: int, confidence: str) -> None:
    mechanism = Gaussian(standard_deviation=deviation, grid=grid, dimension=dimension)
    number_checks.interval_is_least(mechanism, confidence)


@pytest.mark.parametrize(("value", "grid"), [([0, 7], None), ([0.12, -3.375], "1/4")])
def test_answers_are_as_close_as_stated(value: list[Any], grid: Any) -> None:
    mechanism = Gaussian(standard_deviation="1/2", grid=grid, dimension=2)
    number_checks.answers_stay_inside(mechanism, value, "0.9", window=6)


@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), (None, 2), ("1/16", 1), ("1/2", 5)])
def test_least_noise_for_mu_and_for_rho(grid: Any, dimension: int) -> None:
    for sensitivity in (
        Sensitivity(value=3, norm="L2", neighbors=Neighbors.REPLACE),
        Sensitivity(value=1, norm="Linf"),
    ):
        mechanism = Gaussian.for_mu("0.3", sensitivity, grid=grid, dimension=dimension)
        assert mechanism.guarantee(sensitivity) == GaussianDP(mu="0.3", neighbors=sensitivity.neighbors)
        for rho in ("0.5", "0.3", 2):
            found = Gaussian.for_rho(rho, sensitivity, grid=grid, dimension=dimension)
            derived = rules.convert(found.derive(sensitivity), ZCDP).conclusion.parameters["rho"]
            assert Fraction(rho) * (1 - Fraction(1, 10**12)) <= derived <= Fraction(rho)


@pytest.mark.parametrize(("error", "grid"), [(50, None), ("12.34", "1/64")])
@pytest.mark.parametrize(("confidence", "dimension"), [("0.95", 1), ("0.5", 7)])
def test_most_noise_for_an_error(error: Any, grid: Any, confidence: str, dimension: int) -> None:
    mechanism = Gaussian.for_accuracy(error=error, confidence=confidence, grid=grid, dimension=dimension)
    assert mechanism.interval(confidence) <= Fraction(error)
    deviation = mechanism.standard_deviation * Fraction(101, 100)
    assert Gaussian(standard_deviation=deviation, grid=grid, dimension=dimension).interval(confidence) > Fraction(error)


@pytest.mark.parametrize(("grid", "dimension"), [(None, 1), ("1/8", 3)])
def test_certificates_check(grid: Any, dimension: int) -> None:
    mechanism = Gaussian(standard_deviation="10/3", grid=grid, dimension=dimension)
    for sensitivity in (Sensitivity(value="2.5"), Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE)):
        number_checks.certified(mechanism.derive(sensitivity))
        number_checks.certified(rules.convert(mechanism.derive(sensitivity), ZCDP))


@pytest.mark.parametrize("deviation", [*WORDS, "1/1001", 2**40 + 1])
def test_bad_deviations(deviation: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Gaussian(standard_deviation=deviation)
    assert caught.value.field == "standard_deviation"


@pytest.mark.parametrize("amount", WORDS)
def test_bad_targets(amount: Any) -> None:
    for calibrate in (Gaussian.for_mu, Gaussian.for_rho):
        with pytest.raises(InvalidParameter):
            calibrate(amount, ONE)
    with pytest.raises(InvalidParameter):
        Gaussian(standard_deviation=1, dimension=amount)
    if amount != 0 or isinstance(amount, bool):
        with pytest.raises(InvalidParameter):
            Gaussian.for_accuracy(error=amount, confidence="0.9")
    with pytest.raises(InvalidParameter):
        Gaussian.for_accuracy(error=10, confidence=amount)


def test_the_enumerated_law_is_the_normal_one() -> None:
    """A check of the checks: P(round(N) = 2) with a standard deviation of 2."""
    found = answers(Gaussian(standard_deviation=2), [0], 16).chances[2,]
    assert abs(found - (mpmath.ncdf("1.25") - mpmath.ncdf("0.75"))) < 1e-40
