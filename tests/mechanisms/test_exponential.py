"""The exponential mechanism: exact probabilities and losses, the utility theorem, ranges, mutants, calibration."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms import exponential
from privately.mechanisms import levels as by_level
from privately.mechanisms.exponential import Exponential
from privately.mechanisms.scores import MAX_CANDIDATES, levels
from tests.mechanisms.enumeration import Distribution, Untouchable, outcomes
from tests.mechanisms.number_checks import certified
from tests.mechanisms.selection_checks import (
    LITTLE,
    ONE,
    Scores,
    all_pairs,
    chance_beyond,
    number,
    renyi,
    small_scores,
    softmax,
    worst_loss,
)

EQUAL = 1e-40
FAR = 10**6


def chosen(mechanism: Exponential, scores: Any) -> Distribution:
    return outcomes(lambda random: mechanism.run(scores, random), window=1, again="weighted")


def claimed(mechanism: Exponential, sensitivity: Sensitivity = ONE) -> Any:
    return number(mechanism.guarantee(sensitivity).parameters["epsilon"])


CASES: list[tuple[Any, list[Any]]] = [
    (2, [0, 1, 2, 5, 9]),
    ("7/3", [0, 1, 2, 5, 9]),
    ("1/3", [4, 4, 3, 4]),
    ("1/1000", [1, 0, 1]),
    (2**60, [2**63 - 1, -(2**63), 0]),
    ("2/7", [0] * 6),
    (3, [7]),
    (1, [0, FAR, FAR - 1]),
    ("5/3", [Fraction(1, 3), Fraction(-7, 2), 1, Fraction(22, 7)]),
    ("5/3", [Fraction(1, 3**90), Fraction(10**30, 7**40), Fraction(1, 5)]),
    (100, [Fraction(2**80), Fraction(2**80) - Fraction(1, 3), Fraction(2**80) - 150]),
]


@pytest.mark.parametrize(("scale", "scores"), CASES)
def test_choices_have_the_exact_probabilities(scale: Any, scores: list[Any]) -> None:
    mechanism = Exponential(scale=scale, candidates=len(scores))
    assert chosen(mechanism, scores).farthest(softmax(tuple(scores), Fraction(scale))) < 1e-25
    if all(isinstance(score, int) for score in scores):
        clipped = tuple(min(max(score, 1 - 2**62), 2**62 - 1) for score in scores)
        assert chosen(mechanism, np.array(scores)).farthest(softmax(clipped, Fraction(scale))) < 1e-25


@pytest.mark.parametrize("grid", ["1/4", 1, 2])
def test_floats_are_chosen_as_their_grid_points(grid: Any) -> None:
    scores = [0.1, 0.5, -3.75, 2.5, 1e-300]
    mechanism = Exponential(scale=3, candidates=5, grid=grid)
    points = tuple(round(Fraction(score) / Fraction(grid)) * Fraction(grid) for score in scores)
    assert chosen(mechanism, scores).farthest(softmax(points, 3)) < EQUAL


def without_acceptance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "flip_exp", lambda exponent, random: True)


def uniform_over_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    totals = by_level._totals
    monkeypatch.setattr(by_level, "_totals", lambda level, widths: np.minimum(totals(level, widths), 1))


def coarse_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_level, "levels", lambda gaps, scale: levels(gaps, scale) // 2)


@pytest.mark.parametrize(
    ("change", "harmless"), [(without_acceptance, False), (uniform_over_levels, False), (coarse_levels, True)]
)
def test_choices_that_leave_out_a_step_are_noticed(
    change: Any, harmless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Levels that are too low, on the other hand, only cost time."""
    mechanism = Exponential(scale="7/3", candidates=5)
    change(monkeypatch)
    distance = chosen(mechanism, [0, 1, 1, 5, 9]).farthest(softmax((0, 1, 1, 5, 9), Fraction(7, 3)))
    assert (distance < EQUAL) is harmless


@pytest.mark.parametrize("scores", [[0, 1, 3], [Fraction(1, 2), Fraction(1, 3), 0]])
def test_the_program_does_the_same(scores: list[Any]) -> None:
    mechanism = Exponential(scale="7/3", candidates=3)
    inputs = mechanism.program_inputs(scores)
    text = outcomes(lambda random: mechanism.program.run(inputs, random), window=1, again="uniform")
    assert chosen(mechanism, scores).farthest(text) < EQUAL


def test_the_program_does_the_same_on_a_grid() -> None:
    mechanism = Exponential(scale=2, candidates=3, grid="1/2")
    inputs = mechanism.program_inputs([0.25, 1.3, -1])
    text = outcomes(lambda random: mechanism.program.run(inputs, random), window=1, again="uniform")
    assert chosen(mechanism, [0.25, 1.3, -1]).farthest(text) < EQUAL


# Ranges of candidates


RANGES: list[tuple[list[Any], list[int]]] = [
    ([0, 3, 1], [2, 1, 3]),
    ([5, 0, 5, 2], [1, 0, 2, 4]),
    ([9, 0, 0], [0, 3, 1]),
    ([Fraction(1, 2), Fraction(1, 3)], [3, 2]),
]


@pytest.mark.parametrize(("scores", "widths"), RANGES)
def test_ranges_stand_for_their_candidates(scores: list[Any], widths: list[int]) -> None:
    mechanism = Exponential(scale="7/3", candidates=sum(widths))
    found = outcomes(lambda random: mechanism.run_on_ranges(scores, widths, random), window=1, again="weighted")
    listed = tuple(score for score, width in zip(scores, widths, strict=True) for _ in range(width))
    assert found.farthest(softmax(listed, Fraction(7, 3))) < EQUAL


def test_how_candidates_are_cut_into_ranges_does_not_show() -> None:
    """Ranges may depend on the data, so the answer must be the same for the same candidates and scores."""
    mechanism = Exponential(scale=2, candidates=6)
    cuts: list[tuple[list[int], list[int]]] = [([1, 3], [4, 2]), ([1, 1, 3, 3], [1, 3, 1, 1]), ([1, 9, 3], [4, 0, 2])]
    whole, *others = (
        outcomes(lambda random, s=scores, w=widths: mechanism.run_on_ranges(s, w, random), window=1, again="weighted")  # type: ignore[misc]
        for scores, widths in cuts
    )
    assert all(whole.farthest(other) < EQUAL for other in others)


def test_huge_ranges_have_the_exact_probabilities() -> None:
    widths = [2**61, 1, 2**61 - 1, 0]
    mechanism = Exponential(scale="7/3", candidates=MAX_CANDIDATES)

    def piece(random: Any) -> int:
        random.uniform = lambda *, upper, size: np.array([upper - 1])  # the place is uniform, and so its piece is known
        return mechanism.choose_range([0, 100, 4, 10**9], widths, random)[0]

    found = outcomes(piece, window=1, again="weighted")
    assert found.farthest(softmax((0, 100, 4, 0), Fraction(7, 3), widths)) < EQUAL


def test_ranges_are_released() -> None:
    found = Exponential(scale=1, candidates=10**9).release_from_ranges([0, 1000], [10**9 - 5, 5])
    assert 10**9 - 5 <= found < 10**9


@pytest.mark.parametrize(
    "widths",
    [
        [1, 2],
        [1, 2, 4],
        [-1, 4, 3],
        [1.0, 2.0, 3.0],
        [[1, 2, 3]],
        [],
        6,
        [1, 5],
        [2**64, 1, 1],
        ["1", "2", "3"],
        [[1], [2, 3]],
    ],
)
def test_bad_widths(widths: Any) -> None:
    with pytest.raises(InvalidParameter):
        Exponential(scale=1, candidates=6).run_on_ranges([1, 2, 3], widths, Untouchable())


# Privacy


@pytest.mark.parametrize(
    ("monotone", "candidates", "highest"), [(False, 2, 3), (False, 3, 1), (True, 2, 3), (True, 3, 2)]
)
@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(5)])
def test_no_loss_exceeds_the_claim(monotone: bool, candidates: int, highest: int, scale: Fraction) -> None:
    mechanism = Exponential(scale=scale, candidates=candidates, monotone=monotone)
    loss = worst_loss(lambda scores: softmax(scores, scale), all_pairs(candidates, highest, monotone=monotone))
    assert claimed(mechanism) / 2 < loss <= claimed(mechanism)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [ONE, Sensitivity(value="2/3", norm="Linf")])
def test_the_worst_case_attains_the_claim(monotone: bool, sensitivity: Sensitivity) -> None:
    mechanism = Exponential(scale="7/3", candidates=3, monotone=monotone)
    before, after = mechanism.worst_case(sensitivity)
    loss = worst_loss(lambda scores: softmax(scores, Fraction(7, 3)), [(tuple(before), tuple(after))])
    assert abs(loss - claimed(mechanism, sensitivity)) < LITTLE
    assert abs(max(b - a for a, b in zip(before, after, strict=True))) <= sensitivity.value
    assert mechanism.run(before, _FIRST) in range(3)


class _First:
    """The first of everything."""

    def weighted(self, *, counts: Any, exponents: Any, size: int) -> Any:
        return np.zeros(size, np.int64)

    def uniform(self, *, upper: int, size: int) -> Any:
        return np.zeros(size, np.int64)

    def bernoulli_exp(self, *, exponent: Any, size: int) -> Any:
        return np.ones(size, np.bool_)


_FIRST: Any = _First()


def test_what_is_run_loses_no_more_than_claimed() -> None:
    """Not by the formula but by the mechanism itself: floats at ties, the first far behind the second."""
    mechanism = Exponential(scale=2, candidates=2, grid=1)
    first, second = [0.5, 1.5, 0.25, -0.5], [90.5, 91.5, 91.0]
    listed = list(product(first, second))
    laws = {scores: chosen(mechanism, list(scores)) for scores in listed}
    loss = max(
        laws[a].loss(laws[b])
        for a, b in product(listed, repeat=2)
        if max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1
    )
    assert abs(loss - claimed(mechanism)) < LITTLE
    assert loss > number(2 * ONE.value / mechanism.scale) + LITTLE, "the claim without the rounding"


ORDERS = [Fraction(text) for text in ("1.01", "2", "5.5", "64")]


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5)])
def test_rho_is_an_eighth_of_epsilon_squared(scale: Fraction) -> None:
    mechanism = Exponential(scale=scale, candidates=3)
    rho = mechanism.derive_zcdp(ONE).conclusion.parameters["rho"]
    assert rho == (2 / scale) ** 2 / 8
    worst = max(
        renyi(softmax(a, scale), softmax(b, scale), order) / number(order)
        for a, b in all_pairs(3, 1, monotone=False)
        for order in ORDERS
    )
    assert worst <= number(rho)


def test_rho_is_attained_by_two_alike_with_much_noise() -> None:
    scale = Fraction(1000)
    rho = Exponential(scale=scale, candidates=2).derive_zcdp(ONE).conclusion.parameters["rho"]
    found = renyi(softmax((0, 0), scale), softmax((1, -1), scale), 2) / 2
    assert 1 - 1e-5 < found / number(rho) <= 1


def half_the_scale(scores: Scores) -> Distribution:
    return chosen(Exponential(scale=1, candidates=2), list(scores))


def right(scores: Scores) -> Distribution:
    return chosen(Exponential(scale=2, candidates=2), list(scores))


def test_mutants_are_refuted() -> None:
    """The scale is 2, the sensitivity 1: 1 is claimed, or 1/2 of monotone scores."""
    apart: list[tuple[Scores, Scores]] = [((0, 8), (1, 7))]
    mechanism, monotone = Exponential(scale=2, candidates=2), Exponential(scale=2, candidates=2, monotone=True)
    assert worst_loss(right, apart) <= claimed(mechanism)
    assert worst_loss(half_the_scale, apart) > claimed(mechanism) + LITTLE, "scale halved"
    assert worst_loss(right, apart) > number(ONE.value / mechanism.scale) + LITTLE, "the factor 2 forgotten"
    assert worst_loss(right, apart) > claimed(monotone) + LITTLE, "monotone claimed of scores that move both ways"
    assert worst_loss(right, [((0, 8), (1, 8)), ((0, 8), (1, 9))]) <= claimed(monotone)


# Utility


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(20)])
@pytest.mark.parametrize(("candidates", "highest"), [(2, 6), (3, 4), (4, 3)])
def test_the_utility_theorem_holds_exactly(scale: Fraction, candidates: int, highest: int) -> None:
    """P(score <= best - scale (ln(|R|/|R_OPT|) + t)) <= exp(-t), at the gaps where it is closest."""
    for scores in small_scores(candidates, highest):
        law, best = softmax(scores, scale), scores.count(max(scores))
        for gap in {max(scores) - score for score in scores} - {0}:
            t = number(gap / scale) - mpmath.log(mpmath.mpf(candidates) / best)
            assert chance_beyond(law, scores, gap, strictly=False) <= mpmath.exp(-t) * (1 + 1e-40)


def test_the_utility_theorem_is_close_to_what_happens() -> None:
    """A hundred candidates, all but one as bad as the theorem fears: the bound is off by less than 10 %."""
    gap, scale = 7, Fraction(1)
    scores = (gap, *[0] * 99)
    t = gap - mpmath.log(100)
    found = chance_beyond(softmax(scores, scale), scores, gap, strictly=False)
    assert 0.9 < found / mpmath.exp(-t) < 1


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
@pytest.mark.parametrize("best", [1, 2, 4])
def test_the_stated_error_is_kept(confidence: str, best: int) -> None:
    mechanism = Exponential(scale="3/2", candidates=4)
    stated = mechanism.accuracy(confidence=confidence, best=best)
    assert stated.confidence == Fraction(confidence)
    exact = number(mechanism.scale) * mpmath.log(mpmath.mpf(4) / best / (1 - number(confidence)))
    assert exact <= number(stated.error) <= exact * (1 + mpmath.mpf(10) ** -12)
    for scores in small_scores(4, 4):
        if scores.count(max(scores)) >= best:
            law = softmax(scores, mechanism.scale)
            assert chance_beyond(law, scores, number(stated.error), strictly=True) <= 1 - number(confidence)


def test_a_tie_too_many_would_be_false() -> None:
    """With `best` counted too high the statement fails, so it is not idle."""
    mechanism = Exponential(scale=1, candidates=4)
    law, scores = softmax((3, 0, 0, 0), 1), (3, 0, 0, 0)
    right, wrong = (mechanism.accuracy(confidence="0.9", best=best).error for best in (1, 4))
    assert chance_beyond(law, scores, number(right), strictly=True) <= 1 - number("0.9")
    assert chance_beyond(law, scores, number(wrong), strictly=True) > 1 - number("0.9")


def test_the_eye_colours_of_the_seed() -> None:
    """Five colours: 2 (ln 5 + 3) = 9.22 over epsilon, not 7.4."""
    mechanism = Exponential.for_epsilon(1, ONE, candidates=5)
    error = mechanism.accuracy(confidence=1 - Fraction(str(mpmath.exp(-3)))).error
    assert math.isclose(error, 2 * (math.log(5) + 3))
    assert 9.21 < error < 9.22
    scores = (8, *[0] * 4)
    found = chance_beyond(softmax(scores, mechanism.scale), scores, mpmath.mpf("7.4"), strictly=False)
    assert found > mpmath.exp(-3), "an error of 7.4 would be exceeded too often"


def test_on_a_grid_the_error_has_a_step_more() -> None:
    mechanism = Exponential(scale=2, candidates=3, grid="1/2")
    exact = Exponential(scale=2, candidates=3).accuracy(confidence="0.9").error
    assert mechanism.accuracy(confidence="0.9").error == exact + Fraction(1, 2)


# Calibration, certificates, bad input


@pytest.mark.parametrize("grid", [None, "1/8"])
@pytest.mark.parametrize("monotone", [False, True])
def test_sharpest_choice_for_an_epsilon(grid: Any, monotone: bool) -> None:
    replaced = [] if monotone else [Sensitivity(value=3, neighbors=Neighbors.REPLACE)]
    for sensitivity in (*replaced, ONE):
        mechanism = Exponential.for_epsilon("0.7", sensitivity, candidates=9, monotone=monotone, grid=grid)
        assert mechanism.guarantee(sensitivity) == PureDP(epsilon="0.7", neighbors=sensitivity.neighbors)
        assert mechanism.derive_zcdp(sensitivity).conclusion == ZCDP(
            rho=Fraction("0.49") / 8, neighbors=sensitivity.neighbors
        )


@pytest.mark.parametrize("grid", [None, "1/8"])
def test_most_privacy_for_an_error(grid: Any) -> None:
    mechanism = Exponential.for_accuracy(error="12.5", confidence="0.95", candidates=1000, grid=grid)
    assert mechanism.interval("0.95") == Fraction("12.5")
    wider = Exponential(scale=mechanism.scale * Fraction(10**9 + 1, 10**9), candidates=1000, grid=grid)
    assert wider.interval("0.95") > Fraction("12.5")


def test_certificates_check() -> None:
    mechanism = Exponential(scale="7/3", candidates=3, grid="1/2")
    for sensitivity in (ONE, Sensitivity(value="1/3", neighbors=Neighbors.REPLACE)):
        certified(mechanism.derive(sensitivity))
        certified(mechanism.derive_zcdp(sensitivity))


BAD_SCORES: list[Any] = [
    [],
    [1, 2],
    [1.0, 2.0, math.nan],
    [1.0, math.inf, 0.0],
    np.array([1, 2, 3], object),
    [Fraction(1), 0.5, 1],
    [Fraction(1), math.nan, 1],
    [[1, 2, 3]],
    [[1], [2, 3], [4]],
    None,
    "abc",
    [True, False, True],
]


@pytest.mark.parametrize("scores", BAD_SCORES)
@pytest.mark.parametrize("grid", [None, "1/2"])
def test_bad_scores_are_refused_before_any_draw(scores: Any, grid: Any) -> None:
    with pytest.raises(InvalidParameter):
        Exponential(scale=1, candidates=3, grid=grid).run(scores, Untouchable())


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, math.nan, "x", None, True])
def test_bad_confidences(confidence: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Exponential(scale=1, candidates=3).accuracy(confidence=confidence)
    assert caught.value.field == "confidence"


@pytest.mark.parametrize(("error", "grid"), [(0, None), (-1, None), ("0.5", "1/2"), (math.nan, None), ("x", None)])
def test_bad_errors(error: Any, grid: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Exponential.for_accuracy(error=error, confidence="0.9", candidates=3, grid=grid)
    assert caught.value.field == "error"


@pytest.mark.parametrize("best", [0, 4, 1.0, None, True])
def test_bad_numbers_of_best(best: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Exponential(scale=1, candidates=3).accuracy(confidence="0.9", best=best)
    assert caught.value.field == "best"


def test_every_score_is_answered_whatever_its_gap() -> None:
    """Gaps far beyond what one coin takes; which coin is tossed depends on the noise, so none may be refused."""
    for scale, scores in (("1/1000", [2**63 - 1, -(2**63)]), (1, [Fraction(2**700), Fraction(-1, 3**200)])):
        assert Exponential(scale=scale, candidates=2).release(scores) == 0


def test_the_rarest_path_ends_in_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The far candidate is proposed, although its weight is below exp(-64)."""

    class Last(_First):
        rounds = 0

        def weighted(self, *, counts: Any, exponents: Any, size: int) -> Any:
            self.rounds += 1
            return np.array([len(counts) - 1 if self.rounds == 1 else 0])

        def bernoulli_exp(self, *, exponent: Any, size: int) -> Any:
            assert 0 <= exponent <= 10**9, "as noise takes it"
            return np.array([exponent == 0])

    random: Any = Last()
    assert Exponential(scale="1/1000", candidates=2).run([2**63 - 1, -(2**63)], random) == 0
    assert random.rounds == 2


def test_scores_are_not_monotone_when_a_row_is_replaced() -> None:
    """Counts [0, 100] become [1, 99]: one goes up, the other down."""
    with pytest.raises(NoSuchRule, match="monotone=False"):
        Exponential(scale=1, candidates=2, monotone=True).derive(Sensitivity(value=1, neighbors=Neighbors.REPLACE))


@pytest.mark.parametrize("confidence", ["0.6", "0.95", "0.999"])
@pytest.mark.parametrize("best", [1, 2])
def test_intervals_hold_for_all_scores_and_no_less_would_do(confidence: str, best: int) -> None:
    mechanism = Exponential(scale="3/2", candidates=4)
    width, miss = mechanism.interval(confidence, best=best), 1 - number(confidence)
    assert width < mechanism.accuracy(confidence=confidence, best=best).error
    for scores in small_scores(4, 4):
        if scores.count(max(scores)) >= best:
            assert chance_beyond(softmax(scores, mechanism.scale), scores, number(width), strictly=True) <= miss
    less = width * Fraction(999, 1000)
    hardest = (*[Fraction(0)] * best, *[-less] * (4 - best))
    found = chance_beyond(softmax(hardest, mechanism.scale), hardest, number(less), strictly=False)
    assert found > miss or width == 0


def test_intervals_where_any_choice_is_good_enough() -> None:
    assert Exponential(scale=2, candidates=1).interval("0.99") == 0
    assert Exponential(scale=2, candidates=3).interval("0.99", best=3) == 0
    assert Exponential(scale=2, candidates=2).interval("0.5") == 0
    assert Exponential(scale=2, candidates=2, grid="1/4").interval("0.5") == Fraction(1, 4)
