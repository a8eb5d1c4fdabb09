"""Counts from noisy answers, against the exact laws of sums of coins."""

from fractions import Fraction
from itertools import product

import pytest

from privately.errors import InvalidParameter
from privately.mechanisms.answer_counts import EXACT_PEOPLE, chernoff_deviation, error_of_counts, unbiased

CHANCES = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(2, 5), Fraction(1, 10)), (Fraction(1, 50), Fraction(1, 5))]


def law_of_answers(people: int, members: int, inside: Fraction, outside: Fraction) -> list[Fraction]:
    """How likely each number of answers is."""
    law = [Fraction(1)]
    for person in range(people):
        heads = inside if person < members else outside
        law = [
            (law[k] if k < len(law) else 0) * (1 - heads) + (law[k - 1] if k else 0) * heads
            for k in range(len(law) + 1)
        ]
    return law


@pytest.mark.parametrize(("inside", "outside"), CHANCES)
def test_estimates_are_unbiased(inside: Fraction, outside: Fraction) -> None:
    for members in (0, 3, 7):
        law = law_of_answers(7, members, inside, outside)
        mean = sum(chance * unbiased(k, 7, inside, outside) for k, chance in enumerate(law))
        assert mean == members


def chance_of_miss(people: int, members: int, chances: tuple[Fraction, Fraction], error: Fraction) -> Fraction:
    law = law_of_answers(people, members, *chances)
    return sum(
        (chance for k, chance in enumerate(law) if abs(unbiased(k, people, *chances) - members) > error), Fraction(0)
    )


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("people", [1, 10, 40])
@pytest.mark.parametrize("miss", ["1/2", "1/20", "1/1000"])
def test_errors_are_covered_for_every_data_set(chances: tuple[Fraction, Fraction], people: int, miss: str) -> None:
    error = error_of_counts(people, *chances, Fraction(miss))
    for members in range(0, people + 1, max(1, people // 5)):
        assert chance_of_miss(people, members, chances, error) <= Fraction(miss)


def test_a_normal_interval_would_be_too_narrow_for_few_people() -> None:
    """1.96 standard errors, as is usual: not for ten people of a rare category."""
    chances = (Fraction(2, 5), Fraction(1, 50))
    spread = (10 * chances[1] * (1 - chances[1])) ** Fraction(1, 2) / float(chances[0] - chances[1])
    assert chance_of_miss(10, 0, chances, Fraction(1.96 * float(spread))) > Fraction(1, 20) / 5
    assert chance_of_miss(10, 0, chances, error_of_counts(10, *chances, Fraction(1, 20))) <= Fraction(1, 20)


@pytest.mark.parametrize("chances", CHANCES)
def test_errors_are_at_most_so_much_wider_than_a_normal_interval(chances: tuple[Fraction, Fraction]) -> None:
    """For many people Chernoff's sqrt(2 ln(2/miss)) stands in place of a normal quantile."""
    people = 10**6
    error = float(error_of_counts(people, *chances, Fraction(1, 1000)))
    worst = max(float(p * (1 - p)) for p in chances)
    normal = 3.29053 * (people * worst) ** 0.5 / abs(float(chances[0] - chances[1]))
    assert normal < error < 1.2 * normal


def test_sides_and_complements_agree() -> None:
    for (inside, outside), people in product(CHANCES, (3, 100)):
        errors = {
            error_of_counts(people, *pair, Fraction(1, 20))
            for pair in ((inside, outside), (1 - inside, 1 - outside), (outside, inside))
        }
        assert max(errors) - min(errors) < Fraction(1, 10**9)


def test_answers_that_say_nothing_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="says nothing"):
        error_of_counts(10, Fraction(1, 2), Fraction(1, 2), Fraction(1, 20))


@pytest.mark.parametrize("people", [1, 10**12, 2**50])
def test_any_number_of_people(people: int) -> None:
    error = float(error_of_counts(people, Fraction(3, 4), Fraction(1, 4), Fraction(1, 20)))
    assert error < 3 * people**0.5 + 3


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("people", [1, 2, 9, 20])
@pytest.mark.parametrize("miss", ["1/2", "1/20", "1/1000"])
def test_exact_errors_are_the_least_for_every_data_set(
    chances: tuple[Fraction, Fraction], people: int, miss: str
) -> None:
    """Whoever is inside; a hair less would be missed too often by somebody."""
    error = error_of_counts(people, *chances, Fraction(miss))
    missed = [chance_of_miss(people, members, chances, error) for members in range(people + 1)]
    assert max(missed) <= Fraction(miss)
    less = error * (1 - Fraction(1, 10**9))
    assert max(chance_of_miss(people, members, chances, less) for members in range(people + 1)) > Fraction(miss)


def test_exact_errors_are_a_third_below_chernoffs_bound() -> None:
    for people in (20, 100, EXACT_PEOPLE):
        chances, miss = CHANCES[0], Fraction(1, 20)
        chernoff = chernoff_deviation(people, *chances, miss) / (chances[0] - chances[1])
        assert chernoff * Fraction(13, 20) < error_of_counts(people, *chances, miss) < chernoff * Fraction(3, 4)
    assert error_of_counts(20, *CHANCES[0], Fraction(1, 20)) == 8
    assert error_of_counts(EXACT_PEOPLE + 1, *CHANCES[0], Fraction(1, 20)) == 2 * chernoff_deviation(
        EXACT_PEOPLE + 1, *CHANCES[0], Fraction(1, 20)
    )


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("people", [1, 10, 40])
def test_chernoffs_bound_covers_every_data_set(chances: tuple[Fraction, Fraction], people: int) -> None:
    error = chernoff_deviation(people, *chances, Fraction(1, 20)) / abs(chances[0] - chances[1])
    for members in range(0, people + 1, max(1, people // 5)):
        assert chance_of_miss(people, members, chances, error) <= Fraction(1, 20)


def test_chances_too_small_for_floats_are_bounded_by_chernoff() -> None:
    tiny = Fraction(1, 2**3000)
    assert error_of_counts(5, *CHANCES[0], tiny) == 2 * chernoff_deviation(5, *CHANCES[0], tiny)
