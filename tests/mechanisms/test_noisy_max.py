"""Report noisy max, with and without its lead: exact laws, losses, mutants, error bars, calibration."""

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.laws import DiscreteExponential, DiscreteLaplace
from privately.mechanisms.noisy_max import Noise, NoisyMax, NoisyMaxWithGap
from privately.mechanisms.randomness import Randomness
from tests.guarantees.rules.selections import gap_law, noisy_max_law
from tests.mechanisms.enumeration import Distribution, Untouchable, outcomes
from tests.mechanisms.number_checks import certified
from tests.mechanisms.selection_checks import LITTLE, ONE, Scores, all_pairs, chance_beyond, number, small_scores

Either = NoisyMax | NoisyMaxWithGap
NOISES: list[Noise] = ["discrete_exponential", "discrete_laplace"]
SEEN = 1e-7


def chosen(mechanism: Either, scores: Any, window: int) -> Distribution:
    return outcomes(lambda random: mechanism.run(scores, random), window=window)


def claimed(mechanism: Either, sensitivity: Sensitivity = ONE) -> Any:
    return number(mechanism.guarantee(sensitivity).parameters["epsilon"])


@cache
def exact(scores: Scores, noise: str, scale: Fraction) -> Distribution:
    """By sums of geometric series that go on for ever, with a q of 45 digits."""
    q = Fraction(str(mpmath.exp(-1 / number(scale))))
    law = noisy_max_law(tuple(map(int, scores)), (q, noise))
    return Distribution({place: number(chance) for place, chance in law.items()}, mpmath.mpf(0))


@cache
def exact_with_gap(
    scores: Scores, scale: Fraction, noise: str = "discrete_laplace", by_index: bool = False
) -> Distribution:
    q = Fraction(str(mpmath.exp(-1 / number(scale))))
    law = gap_law(tuple(map(int, scores)), (q, noise), most=4, by_index=by_index)
    return Distribution({place: number(chance) for place, chance in law.items() if chance}, mpmath.mpf(0))


def worst(law: Any, pairs: Any) -> Any:
    return max(max(law(a).loss(law(b)), law(b).loss(law(a))) for a, b in pairs)


def within(found: Distribution, expected: Distribution) -> bool:
    """Whether what the window shows is all there is, but for what it misses."""
    return all(
        0 <= expected.chances[o] - p + 1e-30 <= found.missing + 2e-30
        for o, p in found.chances.items()
        if o in expected.chances
    )


# The laws


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(
    ("scores", "scale", "window"), [([0, 1], "1/2", 12), ([1, 0, 2], "1/5", 4), ([0, 0, 0], "1/5", 4), ([3], 1, 12)]
)
def test_places_have_the_exact_probabilities(noise: Noise, scores: list[int], scale: str, window: int) -> None:
    found = chosen(NoisyMax(scale=scale, candidates=len(scores), noise=noise), scores, window)
    assert found.missing < 1e-5
    assert within(found, exact(tuple(scores), noise, Fraction(scale)))


@pytest.mark.parametrize(
    ("scores", "scale", "window"),
    [([0, 1], "1/2", 10), ([1, 1], "1/3", 8), ([1, 0, 2], "1/5", 4), ([0, 0, 0], "1/5", 4)],
)
def test_leads_have_the_exact_probabilities(scores: list[int], scale: str, window: int) -> None:
    """A lead is the floor of a difference of numbers with uniform fractions."""
    found = chosen(NoisyMaxWithGap(scale=scale, candidates=len(scores)), scores, window)
    expected = exact_with_gap(tuple(scores), Fraction(scale))
    assert found.missing < 1e-7
    assert expected.chances.keys() & found.chances.keys() == {
        (i, lead) for i in range(len(scores)) for lead in range(5)
    }
    assert within(found, expected)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("scores", "grid"), [([0, 1, 0], None), ([0.25, 0.8, -0.1], "1/2")])
def test_the_programs_do_the_same(noise: Noise, scores: list[Any], grid: Any) -> None:
    mechanism = NoisyMax(scale="1/3", candidates=3, noise=noise, grid=grid)
    inputs = mechanism.program_inputs(scores)
    text = outcomes(lambda random: mechanism.program.run(inputs, random), window=4)
    run = chosen(mechanism, scores, 4)
    assert run.farthest(text) < 1e-40
    assert abs(run.missing - text.missing) < 1e-40


@pytest.mark.parametrize(("scores", "grid"), [([0, 1, 0], None), ([0.25, 0.8, -0.1], "1/2")])
def test_the_program_with_a_lead_does_the_same(scores: list[Any], grid: Any) -> None:
    mechanism = NoisyMaxWithGap(scale="1/3", candidates=3, grid=grid)
    inputs = mechanism.program_inputs(scores)

    def text(random: Any) -> tuple[int, Fraction]:
        place, lead = mechanism.program.run(inputs, random)
        return place, lead * mechanism.grid.unit

    run, written = chosen(mechanism, scores, 3), outcomes(text, window=3)
    assert run.farthest(written) < 1e-40
    assert abs(run.missing - written.missing) < 1e-40


# Privacy


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("monotone", "candidates", "highest"), [(False, 2, 3), (True, 2, 3), (True, 3, 1)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_no_loss_exceeds_the_claim(
    noise: Noise, monotone: bool, candidates: int, highest: int, scale: Fraction
) -> None:
    mechanism = NoisyMax(scale=scale, candidates=candidates, noise=noise, monotone=monotone)
    loss = worst(lambda scores: exact(scores, noise, scale), all_pairs(candidates, highest, monotone=monotone))
    assert claimed(mechanism) / 3 < loss <= claimed(mechanism) + 1e-30


@pytest.mark.parametrize(("monotone", "candidates", "highest"), [(False, 2, 2), (True, 2, 3), (True, 3, 0)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_no_loss_with_a_lead_exceeds_the_claim(monotone: bool, candidates: int, highest: int, scale: Fraction) -> None:
    mechanism = NoisyMaxWithGap(scale=scale, candidates=candidates, monotone=monotone)
    loss = worst(lambda scores: exact_with_gap(scores, scale), all_pairs(candidates, highest, monotone=monotone))
    assert claimed(mechanism) / 3 < loss <= claimed(mechanism) + 1e-30


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("candidates", [2, 3])
def test_the_worst_case_attains_the_claim(noise: Noise, monotone: bool, candidates: int) -> None:
    """With two candidates and Laplace noise only as their distance grows: like 1 - 1/distance."""
    scale = Fraction(1, 5)
    mechanism = NoisyMax(scale=scale, candidates=candidates, noise=noise, monotone=monotone)
    pair = [tuple(map(tuple, mechanism.worst_case(ONE)))]
    loss = worst(lambda scores: exact(scores, noise, scale), pair)
    slow = candidates == 2 and noise == "discrete_laplace"
    assert claimed(mechanism) * (0.97 if slow else 1 - LITTLE) < loss <= claimed(mechanism) + 1e-30


@pytest.mark.parametrize("monotone", [False, True])
def test_the_worst_case_with_a_lead_attains_the_claim(monotone: bool) -> None:
    scale = Fraction(1, 10)
    mechanism = NoisyMaxWithGap(scale=scale, candidates=3, monotone=monotone)
    pair = [tuple(map(tuple, mechanism.worst_case(ONE)))]
    assert abs(worst(lambda scores: exact_with_gap(scores, scale), pair) - claimed(mechanism)) < LITTLE


def test_what_is_run_loses_no_more_than_claimed() -> None:
    """Not by the formula but by the mechanism itself, floats at ties included."""
    mechanism = NoisyMaxWithGap(scale="1/2", candidates=2, grid=1)
    before, after = [0.5, 9.5], [1.5, 8.5]
    p, q = chosen(mechanism, before, 13), chosen(mechanism, after, 13)
    loss = max(p.loss(q, above=SEEN), q.loss(p, above=SEEN))
    assert number(2) / number("1/2") + 1 < loss <= claimed(mechanism) + 1e-3, "above the claim without the rounding"


class HalfTheNoise(NoisyMaxWithGap):
    def run(self, value: Any, randomness: Randomness) -> Any:
        return NoisyMaxWithGap(scale=self.scale / 2, candidates=self.candidates).run(value, randomness)


class NoisyScore(NoisyMaxWithGap):
    """Releases the winner's noisy score in place of the lead."""

    def run(self, value: Any, randomness: Randomness) -> Any:
        noisy = np.asarray(value) + randomness.draw(DiscreteLaplace(scale=self.scale), size=self.candidates)
        return int(noisy.argmax()), int(noisy.max())


class OneSidedByIndex(NoisyMaxWithGap):
    """One-sided noise; the first of those that are tied wins, and the lead is a difference of integers."""

    def run(self, value: Any, randomness: Randomness) -> Any:
        noisy = np.asarray(value) + randomness.draw(DiscreteExponential(scale=self.scale), size=self.candidates)
        winner = int(noisy.argmax())
        return winner, int(noisy[winner] - np.delete(noisy, winner).max())


class MonotoneByMistake(NoisyMaxWithGap):
    def derive(self, sensitivity: Sensitivity) -> Any:
        return NoisyMaxWithGap(scale=self.scale, candidates=self.candidates, monotone=True).derive(sensitivity)


MUTANTS: list[tuple[type[NoisyMaxWithGap], list[int], list[int], bool]] = [
    (HalfTheNoise, [0, 3], [1, 3], True),
    (NoisyScore, [0, 0], [1, 1], True),
    (OneSidedByIndex, [0, 0, 0], [0, 1, 1], True),
    (MonotoneByMistake, [0, 3], [1, 2], False),
]


@pytest.mark.parametrize(("mutant", "before", "after", "monotone"), MUTANTS)
def test_mutants_are_refuted(
    mutant: type[NoisyMaxWithGap], before: list[int], after: list[int], monotone: bool
) -> None:
    """By a loss that the mechanism itself does not have on the same scores."""
    scale = Fraction(1, 2)
    wrong, right = (kind(scale=scale, candidates=len(before), monotone=monotone) for kind in (mutant, NoisyMaxWithGap))
    p, q = chosen(wrong, before, 10), chosen(wrong, after, 10)
    assert max(p.loss(q, above=1e-5), q.loss(p, above=1e-5)) > claimed(wrong) + 0.3
    pair = [(tuple(before), tuple(after))]
    assert worst(lambda scores: exact_with_gap(scores, scale), pair) <= claimed(right) + 1e-30


def gap_twice(scores: Scores, scale: Fraction) -> Distribution:
    """Measures the lead of the winner once more, with fresh noise."""
    law = DiscreteLaplace(scale=scale)
    once: dict[Any, Any] = exact_with_gap(scores, scale).chances
    again = outcomes(lambda random: np.subtract(*random.draw(law, size=2)), window=9).chances
    leads = [{(scores[i] - scores[1 - i]) + k: p for k, p in again.items() if isinstance(k, int)} for i in (0, 1)]
    both: dict[Hashable, Any] = {(i, lead, k): p * leads[i][k] for (i, lead), p in once.items() for k in range(-6, 7)}
    return Distribution(both, 1 - sum(both.values()))


def test_a_lead_released_twice_is_refuted() -> None:
    scale, before, after = Fraction(1, 2), (0, 2), (1, 2)
    mechanism = NoisyMaxWithGap(scale=scale, candidates=2, monotone=True)
    loss = worst(lambda scores: gap_twice(scores, scale), [(before, after)])
    assert loss > claimed(mechanism) + 1
    assert worst(lambda scores: exact_with_gap(scores, scale), [(before, after)]) <= claimed(mechanism) + 1e-30


def test_leads_with_ties_broken_by_index_are_refuted() -> None:
    """A lead of 0 then tells that nobody before the winner is as high, which several can make unlikely at once."""
    scale, before, after = Fraction(1), (1, 1, 0, 0), (2, 2, 0, 0)
    mechanism = NoisyMaxWithGap(scale=scale, candidates=4, monotone=True)
    by_index = worst(lambda scores: exact_with_gap(scores, scale, by_index=True), [(before, after)])
    assert by_index > claimed(mechanism) + 0.1
    assert worst(lambda scores: exact_with_gap(scores, scale), [(before, after)]) <= claimed(mechanism) + 1e-30


# Utility


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("confidence", ["0.5", "0.9"])
def test_the_chosen_score_is_as_good_as_stated(noise: Noise, scale: Fraction, confidence: str) -> None:
    mechanism = NoisyMax(scale=scale, candidates=3, noise=noise)
    error = mechanism.accuracy(confidence=confidence).error
    for scores in small_scores(3, 3):
        assert chance_beyond(exact(scores, noise, scale), scores, number(error), strictly=True) <= 1 - number(
            confidence
        )


def test_exponential_noise_errs_less_far() -> None:
    one, two = (NoisyMax(scale=20, candidates=100, noise=noise).accuracy(confidence="0.95") for noise in NOISES)
    assert two.error - 20 < one.error < two.error, "half a scale more, for noise on both sides"
    assert NoisyMaxWithGap(scale=20, candidates=100).accuracy(confidence="0.95") == two
    on_grid = NoisyMax(scale=20, candidates=100, grid="1/4").accuracy(confidence="0.95")
    assert abs(on_grid.error - one.error) <= 1


@pytest.mark.parametrize(("scores", "grid"), [([0, 1], None), ([2, 2], None), ([0.25, 0.8], "1/2")])
def test_leads_are_as_close_to_the_truth_as_stated(scores: list[Any], grid: Any) -> None:
    mechanism = NoisyMaxWithGap(scale="1/2", candidates=2, grid=grid)
    chances: dict[Any, Any] = chosen(mechanism, scores, 8).chances
    for confidence in ("0.5", "0.9", "0.99"):
        width, inside = mechanism.interval(confidence), mpmath.mpf(0)
        for (place, lead), chance in chances.items():
            true = Fraction(scores[place]) - Fraction(scores[1 - place])
            inside += chance if abs(lead - true) <= width else 0
        assert inside >= number(confidence)


# Calibration, certificates, bad input


@pytest.mark.parametrize("grid", [None, "1/8"])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("kind", [NoisyMax, NoisyMaxWithGap])
def test_least_noise_for_an_epsilon(kind: type[Either], grid: Any, monotone: bool) -> None:
    replaced = [] if monotone else [Sensitivity(value=3, neighbors=Neighbors.REPLACE)]
    for sensitivity in (*replaced, ONE, Sensitivity(value="1.7", norm="Linf")):
        mechanism = kind.for_epsilon("0.7", sensitivity, candidates=9, monotone=monotone, grid=grid)
        assert mechanism.guarantee(sensitivity) == PureDP(epsilon="0.7", neighbors=sensitivity.neighbors)
        certified(mechanism.derive(sensitivity))


def test_integers_change_by_whole_numbers() -> None:
    """Of integers, a change of at most 1.7 is one of at most 1."""
    mechanism = NoisyMax(scale=2, candidates=3)
    assert mechanism.guarantee(Sensitivity(value="1.7", norm="Linf")) == mechanism.guarantee(ONE) == PureDP(epsilon=1)


@pytest.mark.parametrize("grid", [None, "1/8"])
@pytest.mark.parametrize("kind", [NoisyMax, NoisyMaxWithGap])
def test_most_noise_for_an_error(kind: type[Either], grid: Any) -> None:
    mechanism = kind.for_accuracy(error=40, confidence="0.95", candidates=50, grid=grid)
    assert mechanism.accuracy(confidence="0.95").error <= 40
    wider = kind(scale=mechanism.scale * Fraction(103, 100), candidates=50, grid=grid)
    assert wider.accuracy(confidence="0.95").error > 40
    with pytest.raises(InvalidParameter) as caught:
        kind.for_accuracy(error="0.1", confidence="0.95", candidates=50, grid="1/8")
    assert caught.value.field == "error"


@pytest.mark.parametrize("kind", [NoisyMax, NoisyMaxWithGap])
@pytest.mark.parametrize(
    "scores",
    [
        [],
        [1, 2],
        [1.0, 2.0, math.nan],
        [1.0, math.inf, 2.0],
        np.array([1, 2, 3], object),
        [Fraction(1)] * 3,
        [[1, 2, 3]],
        None,
        [True] * 3,
    ],
)
def test_bad_scores_are_refused_before_any_draw(kind: type[Either], scores: Any) -> None:
    for grid in (None, "1/2"):
        with pytest.raises(InvalidParameter):
            kind(scale=1, candidates=3, grid=grid).run(scores, Untouchable())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scale", 0),
        ("candidates", 0),
        ("monotone", 1),
        ("grid", 3),
        *(("noise", one) for one in ("normal", None, ["x"])),
    ],
)
def test_bad_fields(field: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        NoisyMax(**{"scale": 1, "candidates": 3, field: value})
    assert caught.value.field == field


def test_a_lead_needs_somebody_to_lead() -> None:
    with pytest.raises(InvalidParameter) as caught:
        NoisyMaxWithGap(scale=1, candidates=1)
    assert caught.value.field == "candidates"
    assert NoisyMax(scale=1, candidates=1).release([5]) == 0


def test_the_farthest_scores_are_never_confused() -> None:
    for kind in (NoisyMax, NoisyMaxWithGap):
        found = kind(scale=1, candidates=3).release([2**63 - 1, -(2**63), 0])
        assert (found if kind is NoisyMax else found[0]) == 0
    place, lead = NoisyMaxWithGap(scale=2**60, candidates=2).release([2**63 - 1, -(2**63)])
    assert type(place) is int
    assert lead >= 0


@pytest.mark.parametrize("kind", [NoisyMax, NoisyMaxWithGap])
def test_scores_are_not_monotone_when_a_row_is_replaced(kind: type[Either]) -> None:
    """One count falls and another rises: the loss is twice that of scores that move the same way."""
    replaced = Sensitivity(value=1, norm="Linf", neighbors=Neighbors.REPLACE)
    with pytest.raises(NoSuchRule, match="monotone=False"):
        kind(scale=2, candidates=3, monotone=True).derive(replaced)
    with pytest.raises(NoSuchRule, match="monotone=False"):
        kind.for_epsilon(1, replaced, candidates=3, monotone=True)
