"""Seed 002's program: epsilon as a function of the coin, exactly."""

from fractions import Fraction
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NoSuchRule, NotPrivate
from privately.guarantees import FiniteMechanism, Neighbors, PureDP, Sensitivity
from privately.guarantees.distances import privacy_curve
from privately.mechanisms.flip import Flip
from privately.rounding import Enclosure
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.stream_checks import law, text_law
from tests.mechanisms.tables import certified

HALF = Fraction(1, 2)
COINS = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000)


def ratio(p: Fraction) -> Fraction:
    """e^epsilon(p), as derived by hand."""
    return (2 - p) / (1 - p) if p <= HALF else (p**2 - p + 1) / (1 - p) ** 2


def table(p: Fraction, truth: int) -> dict[int, Fraction]:
    """From the program: the truth with probability p, otherwise a second coin."""
    return {1: p * truth + (1 - p) * p, 0: p * (1 - truth) + (1 - p) * (1 - p)}


@given(COINS)
def test_epsilon_is_exactly_the_formula(p: Fraction) -> None:
    assert privacy_curve(table(p, 0), table(p, 1)).ratio(0) == ratio(p)
    assert Flip(probability=p).guarantee() == PureDP(
        epsilon=Enclosure.of(ratio(p)).log().claim(), neighbors=Neighbors.REPLACE
    )


def test_both_formulas_agree_in_the_middle() -> None:
    assert (2 - HALF) / (1 - HALF) == (HALF**2 - HALF + 1) / (1 - HALF) ** 2 == 3
    assert certified(Flip(probability=HALF).derive()).parameters["epsilon"] == pytest.approx(log(3))


def test_never_telling_the_truth_costs_nothing_but_the_limit_is_ln_2() -> None:
    assert certified(Flip(probability=0).derive()) == PureDP(epsilon=0, neighbors=Neighbors.REPLACE)
    assert Flip(probability="1e-9").guarantee().parameters["epsilon"] == pytest.approx(log(2))


def test_always_telling_the_truth_is_not_private() -> None:
    with pytest.raises(NotPrivate) as refused:
        Flip(probability=1).derive()
    assert isinstance(refused.value.witness, FiniteMechanism)


@pytest.mark.parametrize("p", ["0", "1/5", "1/2", "7/8", "1"])
def test_text_and_mechanism_agree(p: str) -> None:
    flip = Flip(probability=p)
    for values in ([0], [1], [1, 0]):
        ran, read = law(flip, values, 0), text_law(flip, values, 0)
        assert ran.chances.keys() == read.chances.keys()
        assert all(abs(ran.chances[a] - read.chances[a]) < 1e-30 for a in ran.chances)


@pytest.mark.parametrize("p", ["1/5", "1/2", "7/8"])
def test_answers_have_the_exact_probabilities(p: str) -> None:
    for truth in (0, 1):
        found = outcomes(lambda r, truth=truth: Flip(probability=p).run(truth, r), window=0)  # type: ignore[misc]
        exact = {answer: Fraction(float(chance)).limit_denominator(10**4) for answer, chance in found.chances.items()}
        assert exact == table(Fraction(p), truth)


def test_a_fair_second_coin_is_another_program() -> None:
    """A likely mistake: with a fair second coin the same p costs less than the seed's program, or more."""
    p = Fraction(1, 4)
    fair = [{1: p * truth + (1 - p) / 2, 0: p * (1 - truth) + (1 - p) / 2} for truth in (0, 1)]
    assert privacy_curve(*fair).ratio(0) < ratio(p)


@pytest.mark.parametrize("epsilon", ["0.7", "1", "1.0986", "1.1", "3", "40", 1.5])
def test_calibration_is_on_the_safe_side_and_close(epsilon: Any) -> None:
    found = Flip.for_epsilon(epsilon).guarantee().parameters["epsilon"]
    assert 0 <= Fraction(epsilon) - found < Fraction(1, 10**9)


@pytest.mark.parametrize("epsilon", [0, "0.69", "0.6931"])
def test_epsilons_up_to_ln_2_cannot_be_had(epsilon: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        Flip.for_epsilon(epsilon)


def test_estimates_are_unbiased_and_their_errors_covered() -> None:
    flip, values = Flip(probability="2/3"), [1, 1, 1, 0, 0]
    mean = missed = 0.0
    for answers, chance in law(flip, values, 0).chances.items():
        counts = flip.estimate(list(answers), confidence="0.8")  # type: ignore[call-overload]
        assert sum(counts.estimates) == 5
        mean += float(chance * float(counts.estimates[1]))
        missed += float(chance) * (abs(counts.estimates[1] - 3) > counts.error)
    assert mean == pytest.approx(3)
    assert missed <= 0.2


def test_many_people_are_counted_within_the_error_bar() -> None:
    flip = Flip(probability=HALF)
    counts = flip.estimate(flip.release(np.arange(100_000) % 4 == 0), confidence=1 - Fraction(1, 10**8))
    assert abs(counts.estimates[1] - 25_000) <= counts.error < 3000


def test_the_most_privacy_for_an_error() -> None:
    flip = Flip.for_accuracy(error=500, confidence="0.95", people=10_000)
    assert flip.accuracy(confidence="0.95", people=10_000).error <= 500
    less = Flip(probability=1 - (1 - flip.probability) * Fraction(101, 100))
    assert less.accuracy(confidence="0.95", people=10_000).error > 500


def test_several_answers_and_other_neighbours() -> None:
    flip = Flip(probability=HALF)
    two = Sensitivity(value=2, neighbors=Neighbors.REPLACE)
    assert certified(flip.derive(two)).parameters["epsilon"] == pytest.approx(2 * log(3))
    one, other = flip.worst_case(two)
    assert law(flip, one, 0).loss(law(flip, other, 0)) == pytest.approx(2 * log(3))
    with pytest.raises(NoSuchRule):
        flip.derive(Sensitivity(value=1))


@pytest.mark.parametrize("bad", [[], [2], [0.5], ["a"], [[0]], None])
def test_bad_values_are_refused_before_anything_is_drawn(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        Flip(probability=HALF).run(bad, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, 2, float("nan"), "x"])
def test_bad_parameters(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        Flip(probability=bad)


def test_a_coin_that_never_falls_says_nothing() -> None:
    with pytest.raises(InvalidParameter, match="says nothing"):
        Flip(probability=0).accuracy(confidence="0.9")
