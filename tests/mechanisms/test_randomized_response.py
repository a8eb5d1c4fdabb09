"""Randomized response with two categories and with more: exact laws, estimates, calibration."""

from fractions import Fraction
from itertools import permutations
from math import e, log
from typing import Any

import numpy as np
import pytest

import privately
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.guarantees.distances import privacy_curve_of
from privately.mechanisms.randomized_response import ONE_ANSWER, RandomizedResponse, ratio_below
from privately.rounding import Enclosure
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.stream_checks import law, text_law
from tests.mechanisms.tables import certified

CASES = [(2, "3/4"), (2, "1/2"), (2, "1/5"), (3, "2/3"), (4, "1/2"), (7, "9/10")]


def table(response: RandomizedResponse, value: int) -> dict[int, Fraction]:
    """How likely each answer is."""
    return {answer: response.truth if answer == value else response.lie for answer in range(response.categories)}


def over_all(categories: int, truth: Fraction, value: int) -> dict[int, Fraction]:
    """The false twin of seed 003: "otherwise at random", among all of them."""
    share = (1 - truth) / categories
    return {answer: share + (truth if answer == value else 0) for answer in range(categories)}


@pytest.mark.parametrize(("categories", "truth"), CASES)
def test_the_claim_is_the_exact_distance(categories: int, truth: str) -> None:
    response = RandomizedResponse(categories=categories, truth=truth)
    pairs = [(table(response, a), table(response, b)) for a, b in permutations(range(categories), 2)]
    exact = privacy_curve_of(pairs).ratio(0)
    claim = certified(response.derive()).parameters["epsilon"]
    logarithm = Enclosure.of(Fraction(exact)).log()
    assert logarithm.lower <= claim
    assert claim - Fraction(logarithm.upper) < Fraction(1, 10**13)


@pytest.mark.parametrize(("categories", "truth"), CASES)
def test_answers_have_the_exact_probabilities(categories: int, truth: str) -> None:
    response = RandomizedResponse(categories=categories, truth=truth)
    for value in range(categories):
        found = outcomes(lambda randomness, value=value: response.run(value, randomness), window=0)  # type: ignore[misc]
        assert {a: Fraction(float(p)).limit_denominator(1000) for a, p in found.chances.items()} == table(
            response, value
        )


def test_text_and_mechanism_agree() -> None:
    for response in (RandomizedResponse(categories=3, truth="2/3"), RandomizedResponse(categories=2, truth="1/5")):
        for values in ([1, 0], [0], [1, 1, 0]):
            ran, read = law(response, values, 0), text_law(response, values, 0)
            assert ran.chances.keys() == read.chances.keys()
            assert all(abs(ran.chances[a] - read.chances[a]) < 1e-30 for a in ran.chances)


@pytest.mark.parametrize(("categories", "wrong"), [(2, 1.862), (4, 1.531)])
def test_choosing_among_all_categories_is_refuted(categories: int, wrong: float) -> None:
    """The seed's epsilon of 1 becomes 1.862, or 1.531."""
    truth = RandomizedResponse.for_epsilon(1, categories=categories).truth
    found = privacy_curve_of([(over_all(categories, truth, 0), over_all(categories, truth, 1))]).epsilon(delta=0)
    assert round(float(found.lower), 3) == wrong


@pytest.mark.parametrize("categories", [2, 4])
def test_one_part_in_a_thousand_more_truth_is_refuted(categories: int) -> None:
    honest = RandomizedResponse.for_epsilon(1, categories=categories)
    careless = RandomizedResponse(categories=categories, truth=honest.truth * Fraction(1001, 1000))
    for response, holds in ((honest, True), (careless, False)):
        found = privacy_curve_of([(table(response, 0), table(response, 1))]).epsilon(delta=0)
        assert (found.lower <= 1) is holds


@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1", "7", "1e-9", "2000", 0.7])
@pytest.mark.parametrize("categories", [2, 10])
def test_calibration_is_on_the_safe_side_and_close(epsilon: Any, categories: int) -> None:
    response = RandomizedResponse.for_epsilon(epsilon, categories=categories)
    found = response.guarantee().parameters["epsilon"]
    assert 0 <= Fraction(epsilon) - found <= Fraction(epsilon) * Fraction(1, 10**10)


def test_round_numbers_stay_round() -> None:
    assert RandomizedResponse.for_epsilon(1, categories=5).guarantee() == PureDP(epsilon=1, neighbors=Neighbors.REPLACE)
    assert 0 < e - float(ratio_below(1)) + 1e-15 < 1e-14


def test_several_answers_of_one_person_add_up() -> None:
    response = RandomizedResponse(categories=2, truth="3/4")
    three = Sensitivity(value=3, neighbors=Neighbors.REPLACE)
    found = certified(response.derive(three)).parameters["epsilon"]
    assert found == pytest.approx(3 * log(3))
    one, other = response.worst_case(three)
    laws = [law(response, values, 0) for values in (one, other)]
    assert laws[0].loss(laws[1]) == pytest.approx(3 * log(3))


@pytest.mark.parametrize(
    "neighbors", [Neighbors.ADD_REMOVE, Neighbors.REPLACE.of_unit("person"), Neighbors.REPLACE.times(2)]
)
def test_other_neighbours_have_no_rule(neighbors: Neighbors) -> None:
    with pytest.raises(NoSuchRule, match="REPLACE"):
        RandomizedResponse(categories=2, truth="3/4").derive(Sensitivity(value=1, neighbors=neighbors))


@pytest.mark.parametrize("value", ["1/2", 0])
def test_a_row_gives_a_whole_number_of_answers(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="number of answers"):
        RandomizedResponse(categories=2, truth="3/4").derive(Sensitivity(value=value, neighbors=Neighbors.REPLACE))


def test_estimates_are_unbiased_and_their_errors_covered() -> None:
    """All answers of five people, with their probabilities."""
    response, values = RandomizedResponse(categories=3, truth="3/5"), [0, 0, 2, 2, 2]
    found = law(response, values, 0)
    means, missed = [0.0] * 3, 0.0
    for answers, chance in found.chances.items():
        counts = response.estimate(list(answers), confidence="0.8")  # type: ignore[call-overload]
        assert sum(counts.estimates) == 5
        means = [mean + float(chance) * float(count) for mean, count in zip(means, counts.estimates, strict=True)]
        error = max(abs(count - true) for count, true in zip(counts.estimates, (2, 0, 3), strict=True))
        missed += float(chance) * (error > counts.error)
    assert means == pytest.approx([2, 0, 3])
    assert missed <= 0.2


def test_many_people_are_counted_within_the_error_bar() -> None:
    values = np.repeat([0, 1, 2, 3], [70_000, 20_000, 9_000, 1_000])
    response = RandomizedResponse.for_epsilon(1, categories=4)
    counts = response.estimate(response.release(values), confidence=1 - Fraction(1, 10**8))
    assert all(
        abs(a - b) <= counts.error for a, b in zip(counts.estimates, (70_000, 20_000, 9_000, 1_000), strict=True)
    )
    assert counts.error < 6000


def test_the_most_privacy_for_an_error() -> None:
    for categories in (2, 5):
        response = RandomizedResponse.for_accuracy(error=500, confidence="0.95", people=10_000, categories=categories)
        assert response.accuracy(confidence="0.95", people=10_000).error <= 500
        less = RandomizedResponse(categories=categories, truth=1 - (1 - response.truth) * Fraction(101, 100))
        assert less.accuracy(confidence="0.95", people=10_000).error > 500
        assert "the largest error of a count is at most" in str(response.accuracy(confidence="0.95", people=10_000))


def test_one_value_gives_one_answer() -> None:
    response = RandomizedResponse(categories=3, truth="1/2")
    assert isinstance(response.release(2), int)
    assert response.release([2]).shape == (1,)
    assert response.release(np.array([True, False])).dtype == np.int64


@pytest.mark.parametrize(
    "bad", [[], [3], [-1], [0.5], ["0"], [None], [[0, 1]], 3, float("nan"), np.array([], np.int64), [2**64]]
)
def test_bad_values_are_refused_before_anything_is_drawn(bad: Any) -> None:
    with pytest.raises(InvalidParameter):
        RandomizedResponse(categories=3, truth="1/2").run(bad, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parameters",
    [
        {"categories": 1},
        {"categories": 0},
        {"categories": 2.5},
        {"truth": 0},
        {"truth": 1},
        {"truth": 2},
        {"truth": "x"},
    ],
)
def test_bad_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        RandomizedResponse(**{"categories": 2, "truth": "1/2", **parameters})


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), 2001])
def test_bad_epsilons(epsilon: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        RandomizedResponse.for_epsilon(epsilon, categories=2)


def test_guessing_tells_nothing() -> None:
    guess = RandomizedResponse(categories=4, truth="1/4")
    assert guess.guarantee() == PureDP(epsilon=0, neighbors=Neighbors.REPLACE)
    with pytest.raises(InvalidParameter, match="says nothing"):
        guess.estimate([0, 1], confidence="0.9")
    assert privately.check(privately.certify(guess.derive(ONE_ANSWER))).assumptions == ()
