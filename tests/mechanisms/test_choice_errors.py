"""How far behind the best a choice may be: computed chances against exact laws, and widths bounded from both sides."""

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import mpmath
import pytest

from privately.mechanisms import Exponential, NoisyMax, NoisyMaxWithGap, PermuteAndFlip
from privately.mechanisms.choice_errors import (
    MOST_EXPECTED,
    chance_of_another,
    lead_half_width,
    scales_behind,
    steps_behind,
    steps_behind_two_sided,
    two_sided,
)
from privately.mechanisms.threshold_accuracy import Comparisons
from tests.guarantees.rules.selections import noisy_max_law
from tests.mechanisms.enumeration import outcomes
from tests.mechanisms.selection_checks import chance_beyond, number, permuted, small_scores

HALF = Fraction(1, 2)


def another(accept: Fraction, best: int, others: int) -> Any:
    """E[B/(m + B)], term by term, to 200 digits."""
    with mpmath.workdps(200):
        p = number(accept)
        return sum(
            mpmath.binomial(others, b) * p**b * (1 - p) ** (others - b) * b / mpmath.mpf(best + b)
            for b in range(others + 1)
        )


@pytest.mark.parametrize(("best", "others"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_the_hardest_scores_are_chosen_as_likely_as_computed(best: int, others: int) -> None:
    """As in the textbook; and no other scores that far behind are chosen more often."""
    gap = Fraction(2)
    accept = Fraction(str(mpmath.exp(-number(gap))))
    found = chance_of_another(accept, best=best, others=others)
    hardest = (*[Fraction(0)] * best, *[-gap] * others)
    exact = chance_beyond(permuted(hardest, 1), hardest, number(gap), strictly=False)
    assert abs(number(Fraction(found.upper)) - exact) < 1e-40
    for scores in product(range(4), repeat=others):
        easier = (*[3] * best, *scores)
        assert chance_beyond(permuted(easier, 1), easier, number(gap), strictly=False) <= exact + 1e-40


@pytest.mark.parametrize(("best", "others"), [(1, 1), (1, 40), (7, 60), (30, 2)])
@pytest.mark.parametrize("accept", [Fraction(1, 10**100), Fraction(1, 10**30), Fraction(1, 9), Fraction(99, 100)])
def test_chances_keep_all_their_digits(best: int, others: int, accept: Fraction) -> None:
    found, expected = chance_of_another(accept, best=best, others=others), another(accept, best, others)
    assert found.lower <= found.upper
    with mpmath.workdps(200):
        for end in (found.lower, found.upper):
            assert abs(mpmath.mpf(str(end)) / expected - 1) < mpmath.mpf(10) ** -45


MISSES = [Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**28), Fraction(1, 10**40)]


@pytest.mark.parametrize("miss", MISSES)
@pytest.mark.parametrize(("best", "others"), [(1, 1), (1, 30), (2, 30), (20, 30)])
def test_the_distance_is_the_least(best: int, others: int, miss: Fraction) -> None:
    """Also for confidences so close to 1 that 1 - (1-p)^n would have no digit left."""
    found = scales_behind(best=best, others=others, miss=miss)
    if found == 0:
        assert Fraction(others, others + best) <= miss
        return
    with mpmath.workdps(80):
        accept, more = (mpmath.exp(-number(found) * part) for part in (1, 1 - mpmath.mpf(10) ** -10))
        assert another(Fraction(str(accept)), best, others) <= number(miss)
        assert another(Fraction(str(more)), best, others) > number(miss)


@pytest.mark.parametrize(("best", "miss"), [(1, Fraction(9999, 10000)), (10**4, Fraction(1, 20)), (500, HALF)])
def test_of_many_acceptances_the_mean_tells_nearly_as_much(best: int, miss: Fraction) -> None:
    others = 10**6
    assert best * miss / (1 - miss) > MOST_EXPECTED
    found = scales_behind(best=best, others=others, miss=miss)
    alike = Exponential(scale=1, candidates=best + others).interval(1 - miss, best=best)
    assert abs(found - alike) < Fraction(1, 10**12)
    needed = number((best + 1) * miss / (others - (others - 1) * miss))
    assert 0 <= number(found) + mpmath.log(needed) <= mpmath.log((best + 1) / mpmath.mpf(best)) + 1e-6


@pytest.mark.parametrize("confidence", ["0.5", "0.95", 1 - Fraction(1, 10**35)])
@pytest.mark.parametrize("best", [1, 2, 5])
def test_permute_and_flip_is_never_wider_than_the_exponential_mechanism(best: int, confidence: Any) -> None:
    ours, theirs = (
        kind(scale=3, candidates=50).interval(confidence, best=best) for kind in (PermuteAndFlip, Exponential)
    )
    assert theirs - 3 * Fraction(7, 10) < ours < theirs


@cache
def noisy_max(scores: tuple[int, ...], scale: Fraction, noise: str) -> Any:
    q = Fraction(str(mpmath.exp(-1 / number(scale))))
    return {place: number(chance) for place, chance in noisy_max_law(scores, (q, noise)).items()}


def chance_behind(gap: int, others: int, scale: Fraction, noise: str) -> Any:
    """That one of the others wins, if all are so many steps behind."""
    law = noisy_max((gap, *[0] * others), scale, noise)
    return 1 - law[0]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("others", [1, 2, 3])
def test_one_sided_noise_chooses_as_permute_and_flip_does(scale: Fraction, others: int) -> None:
    for scores in ((0, *[-2] * others), (0, 0, *[-1] * (others - 1))):
        exact, other = noisy_max(scores, scale, "discrete_exponential"), permuted(scores, scale)
        assert max(abs(exact[i] - other.chances[i]) for i in exact) < 1e-30
    for miss in (Fraction(1, 10), Fraction(1, 1000)):
        width = steps_behind(scale=scale, others=others, miss=miss)
        assert chance_behind(width + 1, others, scale, "discrete_exponential") <= number(miss)
        assert width == 0 or chance_behind(width, others, scale, "discrete_exponential") > number(miss)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2)])
@pytest.mark.parametrize("others", [1, 2])
@pytest.mark.parametrize("confidence", ["0.7", "0.99"])
def test_two_sided_noise_is_followed_to_the_step(scale: Fraction, others: int, confidence: str) -> None:
    """It holds, and with two steps less it would not: at most one is lost on ties."""
    width, miss = steps_behind_two_sided(scale=scale, others=others, confidence=confidence), 1 - number(confidence)
    assert chance_behind(width + 1, others, scale, "discrete_laplace") <= miss
    assert width < 2 or chance_behind(width - 1, others, scale, "discrete_laplace") > miss
    assert steps_behind_two_sided(scale=scale, others=0, confidence=confidence) == 0


def test_wide_noise_is_followed_in_blocks() -> None:
    """A scale of 2^40 is off by no more than a 32nd part of it from 2^40/64 times a scale of 64 steps."""
    fine, coarse = (steps_behind_two_sided(scale=Fraction(2**n), others=9, confidence="0.95") for n in (6, 40))
    assert abs(Fraction(coarse, 2**40) - Fraction(fine, 64)) < Fraction(1, 16)


def lead_errors(scores: tuple[int, ...], scale: Fraction, window: int) -> dict[int, Any]:
    mechanism = NoisyMaxWithGap(scale=scale, candidates=len(scores))
    found: dict[int, Any] = {}
    law: dict[Any, Any] = outcomes(lambda random: mechanism.run(scores, random), window=window).chances
    for (winner, lead), chance in law.items():
        true = scores[winner] - max(score for i, score in enumerate(scores) if i != winner)
        error = abs(int(lead) - true)
        found[error] = found.get(error, 0) + chance
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("candidates", "scale", "window"), [(2, HALF, 12), (3, Fraction(1, 3), 5)])
@pytest.mark.parametrize("confidence", [pytest.param("0.6", marks=pytest.mark.slow), "0.9", "0.99"])
def test_leads_are_within_their_width_and_no_less_will_do(
    candidates: int, scale: Fraction, window: int, confidence: str
) -> None:
    width = lead_half_width(scale=scale, others=candidates - 1, confidence=confidence)
    laws = [
        lead_errors(scores, scale, window) for scores in (*small_scores(candidates, 1), (9, *[0] * (candidates - 1)))
    ]
    for law in laws:
        assert sum(chance for error, chance in law.items() if error <= width) >= number(confidence) - 1e-4
    if candidates == 2 and width:
        less = min(sum(chance for error, chance in law.items() if error < width) for law in laws)
        assert less < number(confidence)


def test_no_width_is_much_wider_than_needed() -> None:
    """Figures by other means: 3 scales instead of 7 and a half, and 41 steps instead of 75."""
    assert NoisyMaxWithGap(scale=10, candidates=2).interval("0.95") == 41
    assert NoisyMax(scale=10, candidates=2, noise="discrete_laplace").interval("0.95") in {32, 33}
    assert NoisyMax(scale=10, candidates=2).interval("0.95") == 23
    for candidates in (3, 100):
        choice, lead = (
            kind.interval("0.95")
            for kind in (
                NoisyMax(scale=10, candidates=candidates, noise="discrete_laplace"),
                NoisyMaxWithGap(scale=10, candidates=candidates),
            )
        )
        assert choice < lead <= choice + 10 * Fraction(7, 10) + 1, "two chances added up are at most ln 2 scales more"
    grids = NoisyMaxWithGap(scale=10, candidates=2, grid="1/4").interval("0.95")
    assert abs(grids - 41) < 1


def test_the_best_is_the_threshold_of_the_others() -> None:
    race = two_sided(Fraction(3))
    assert race == Comparisons(threshold_scale=Fraction(3), tests=((Fraction(3), 0),))
