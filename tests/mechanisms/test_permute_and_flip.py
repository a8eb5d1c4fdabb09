"""Permute-and-flip: the textbook's probabilities, losses, that it is never worse than the exponential mechanism."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.mechanisms import permute_and_flip as module
from privately.mechanisms.exponential import Exponential
from privately.mechanisms.permute_and_flip import PermuteAndFlip
from privately.mechanisms.randomness import SYSTEM
from tests.mechanisms.enumeration import Distribution, Untouchable, outcomes
from tests.mechanisms.number_checks import certified
from tests.mechanisms.selection_checks import (
    LITTLE,
    ONE,
    Scores,
    all_pairs,
    chance_beyond,
    expected_score,
    number,
    permuted,
    small_scores,
    softmax,
    worst_loss,
)


def chosen(mechanism: PermuteAndFlip, scores: Any, window: int) -> Distribution:
    """Noise counts only as far as the largest gap, which the window reaches: so the ends stand for all beyond."""
    return outcomes(lambda random: mechanism.run(scores, random), window=window, lumped=True)


@pytest.fixture
def by_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were many candidates."""
    monkeypatch.setattr(module, "_MOST_COINS", 0)


def claimed(mechanism: PermuteAndFlip, sensitivity: Sensitivity = ONE) -> Any:
    return number(mechanism.guarantee(sensitivity).parameters["epsilon"])


LONG = Fraction(1, 2**61 - 1)
CASES: list[tuple[Any, list[Any], int]] = [
    ("1/2", [0, 1, 2], 2),
    ("7/3", [2, 2, 1, 0], 2),
    (3, [0, 9], 9),
    ("2/3", [5], 1),
    ("1/1000", [0, 1, 0], 1),
    ("1/4", [Fraction(1, 2), 0, Fraction(-1, 2)], 2),
    (2**60, [2**61, 2**61 - 3], 3),
    (1, [0, LONG, Fraction(3, 2)], 4),
    ("1/3", [1, 1 - LONG, Fraction(1, 2)], 4),
    (2, [LONG, 0, 7], 4),
]
"""In the last ones scale/unit is no scale of noise: coins are flipped for the whole part of gap/scale and the rest."""


@pytest.mark.parametrize(("scale", "scores", "window"), CASES)
def test_choices_have_the_exact_probabilities(scale: Any, scores: list[Any], window: int) -> None:
    mechanism = PermuteAndFlip(scale=scale, candidates=len(scores))
    found = chosen(mechanism, scores, window)
    assert found.farthest(permuted(tuple(scores), Fraction(scale))) < 1e-30
    assert mechanism.release(scores) in range(len(scores))


@pytest.mark.usefixtures("by_levels")
@pytest.mark.parametrize(("scale", "scores", "window"), CASES)
def test_choices_by_levels_have_the_exact_probabilities(scale: Any, scores: list[Any], window: int) -> None:
    test_choices_have_the_exact_probabilities(scale, scores, window)


RANGES: list[tuple[list[Any], list[int]]] = [
    ([0, 3, 1], [2, 1, 1]),
    ([5, 0, 5, 2], [1, 0, 2, 2]),
    ([Fraction(1, 2), Fraction(1, 3)], [2, 2]),
]


@pytest.mark.parametrize(("scores", "widths"), RANGES)
def test_ranges_have_the_exact_probabilities(scores: list[Any], widths: list[int]) -> None:
    """Of the first two that are accepted: both have the law of a random order of all who are."""
    mechanism = PermuteAndFlip(scale="7/3", candidates=sum(widths))
    listed = tuple(score for score, width in zip(scores, widths, strict=True) for _ in range(width))
    starts = [sum(widths[:piece]) for piece in range(len(widths))]

    def first(random: Any) -> int:
        piece, place = next(mechanism.accepted_in_ranges(scores, widths, random))
        return starts[piece] + place

    found = outcomes(first, window=1, negligible=1e-16)
    assert found.missing < 1e-12
    assert found.farthest(permuted(listed, Fraction(7, 3))) <= found.missing + 1e-30


def test_nobody_is_accepted_twice() -> None:
    mechanism = PermuteAndFlip(scale=2, candidates=6)
    for _ in range(30):
        found = list(mechanism.accepted_in_ranges([0, 9, 8], [1, 3, 2], SYSTEM))
        assert len(set(found)) == len(found)
        assert {(1, 0), (1, 1), (1, 2)} <= set(found)


def test_huge_ranges_are_chosen_from() -> None:
    """Half of the accepted are far behind, as they are so many."""
    mechanism = PermuteAndFlip(scale=1, candidates=2**62)
    widths = [1, 2**62 - 1]
    found = [next(mechanism.accepted_in_ranges([43, 0], widths, SYSTEM))[0] for _ in range(60)]
    assert {*found} == {0, 1}


def without_acceptance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "flip_exp", lambda exponent, random: True)


def with_second_chances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "insort", lambda before, place: None)


@pytest.mark.usefixtures("by_levels")
@pytest.mark.parametrize("change", [without_acceptance, with_second_chances])
def test_choices_that_leave_out_a_step_are_noticed(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = (Fraction(2), Fraction(2) - Fraction(1, 9), Fraction(2) - Fraction(1, 8))
    change(monkeypatch)
    try:
        found = chosen(PermuteAndFlip(scale=1, candidates=3), list(scores), 1)
    except StopIteration:  # the best was never found among those who came twice
        assert change is with_second_chances
    else:
        assert found.farthest(permuted(scores, 1)) > 1e-4


def test_the_textbook_by_hand() -> None:
    """Two candidates, the second accepted with w: asked first in half of the orders."""
    w = mpmath.exp(-1)
    assert abs(permuted((1, 0), 1).chances[1] - w / 2) < 1e-45
    assert abs(permuted((0, 0, 0), 1).chances[2] - mpmath.mpf(1) / 3) < 1e-45
    law = permuted((2, 1, 0), 1).chances
    u, v = mpmath.exp(-1), mpmath.exp(-2)
    assert abs(law[2] - v * (mpmath.mpf(1) / 3 + (1 - u) / 6)) < 1e-45
    assert abs(sum(law.values()) - 1) < 1e-45


@pytest.mark.parametrize("scores", [[0, 1, 2], [1, 1, 0]])
def test_the_program_does_the_same(scores: list[int]) -> None:
    mechanism = PermuteAndFlip(scale="1/2", candidates=3)
    inputs = mechanism.program_inputs(scores)
    text = outcomes(lambda random: mechanism.program.run(inputs, random), window=1)
    assert text.farthest(permuted(tuple(scores), Fraction(1, 2))) < 1e-40
    assert chosen(mechanism, scores, 2).farthest(text) < 1e-30


def test_the_program_does_the_same_on_a_grid() -> None:
    mechanism = PermuteAndFlip(scale="1/2", candidates=3, grid="1/2")
    inputs = mechanism.program_inputs([0.25, 1.3, -1])
    text = outcomes(lambda random: mechanism.program.run(inputs, random), window=1)
    assert text.farthest(permuted((0, Fraction(3, 2), -1), Fraction(1, 2))) < 1e-40
    assert chosen(mechanism, [0.25, 1.3, -1], 5).farthest(text) < 1e-30


# Privacy


@pytest.mark.parametrize(
    ("monotone", "candidates", "highest"), [(False, 2, 3), (False, 3, 1), (True, 2, 3), (True, 3, 2)]
)
@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(5)])
def test_the_claim_is_the_largest_loss(monotone: bool, candidates: int, highest: int, scale: Fraction) -> None:
    mechanism = PermuteAndFlip(scale=scale, candidates=candidates, monotone=monotone)
    loss = worst_loss(lambda scores: permuted(scores, scale), all_pairs(candidates, highest, monotone=monotone))
    assert abs(loss - claimed(mechanism)) < LITTLE


@pytest.mark.parametrize("monotone", [False, True])
def test_the_worst_case_attains_the_claim(monotone: bool) -> None:
    mechanism = PermuteAndFlip(scale="7/3", candidates=3, monotone=monotone)
    before, after = mechanism.worst_case(ONE)
    loss = worst_loss(lambda scores: permuted(scores, Fraction(7, 3)), [(tuple(before), tuple(after))])
    assert abs(loss - claimed(mechanism)) < LITTLE


def in_order(scores: Scores, scale: Fraction) -> Distribution:
    """The mutant that flips without permuting."""
    left, law = mpmath.mpf(1), {}
    for i, score in enumerate(scores):
        accept = mpmath.exp(number((score - max(scores)) / scale))
        law[i], left = left * accept, left * (1 - accept)
    return Distribution({i: chance for i, chance in law.items() if chance}, left)


def test_mutants_are_refuted() -> None:
    """The scale is 2, the sensitivity 1: 1 is claimed, or 1/2 of monotone scores."""
    apart: list[tuple[Scores, Scores]] = [((0, 8), (1, 7)), ((1, 1), (2, 0))]
    mechanism = PermuteAndFlip(scale=2, candidates=2)
    monotone = PermuteAndFlip(scale=2, candidates=2, monotone=True)
    two = Fraction(2)
    assert worst_loss(lambda scores: permuted(scores, two), apart) <= claimed(mechanism) + LITTLE
    assert worst_loss(lambda scores: permuted(scores, two / 2), apart) > claimed(mechanism) + LITTLE, "scale halved"
    assert worst_loss(lambda scores: permuted(scores, two), apart) > claimed(monotone) + LITTLE, "not monotone"
    assert worst_loss(lambda scores: in_order(scores, two), [((1, 1), (0, 2))]) == mpmath.inf, "no permutation"


# Utility


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(10)])
@pytest.mark.parametrize(("candidates", "highest"), [(2, 6), (3, 4), (4, 3)])
def test_it_is_never_worse_than_the_exponential_mechanism(scale: Fraction, candidates: int, highest: int) -> None:
    """In expectation, and in the chance of every gap; of two candidates its error can be half as large."""
    least = mpmath.inf
    for scores in small_scores(candidates, highest):
        ours, theirs = permuted(scores, scale), softmax(scores, scale)
        error, other = (max(scores) - expected_score(law, scores) for law in (ours, theirs))
        assert error <= other + 1e-40
        for gap in {max(scores) - score for score in scores}:
            mine, others = (chance_beyond(law, scores, gap, strictly=False) for law in (ours, theirs))
            assert mine <= others + 1e-40
        if other > 1e-40:
            least = min(least, error / other)
    assert least < 0.95


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(20)])
@pytest.mark.parametrize(("candidates", "highest"), [(2, 6), (3, 4), (4, 3)])
def test_the_utility_theorem_holds_exactly(scale: Fraction, candidates: int, highest: int) -> None:
    """P(score <= best - scale t) <= (|R| - |R_OPT|) exp(-t), at the gaps where it is closest."""
    for scores in small_scores(candidates, highest):
        law, others = permuted(scores, scale), candidates - scores.count(max(scores))
        for gap in {max(scores) - score for score in scores} - {0}:
            bound = others * mpmath.exp(-number(gap / scale))
            assert chance_beyond(law, scores, gap, strictly=False) <= bound


@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
@pytest.mark.parametrize("best", [1, 2, 4])
def test_the_stated_error_is_kept(confidence: str, best: int) -> None:
    mechanism = PermuteAndFlip(scale="3/2", candidates=4)
    stated = mechanism.accuracy(confidence=confidence, best=best)
    assert stated.error == 0 or stated.error < mechanism.accuracy(confidence="0.999", best=best).error
    for scores in small_scores(4, 3):
        if scores.count(max(scores)) >= best:
            law = permuted(scores, mechanism.scale)
            assert chance_beyond(law, scores, number(stated.error), strictly=True) <= 1 - number(confidence)
    assert mechanism.accuracy(confidence=confidence, best=4).error == 0, "all are best"


def test_on_a_grid_the_error_has_a_step_more() -> None:
    exact = PermuteAndFlip(scale=2, candidates=3).accuracy(confidence="0.9").error
    assert PermuteAndFlip(scale=2, candidates=3, grid="1/2").accuracy(confidence="0.9").error == exact + Fraction(1, 2)


# Calibration, certificates, bad input


@pytest.mark.parametrize("grid", [None, "1/8"])
@pytest.mark.parametrize("monotone", [False, True])
def test_sharpest_choice_for_an_epsilon(grid: Any, monotone: bool) -> None:
    replaced = [] if monotone else [Sensitivity(value=3, neighbors=Neighbors.REPLACE)]
    for sensitivity in (*replaced, ONE):
        mechanism = PermuteAndFlip.for_epsilon("0.7", sensitivity, candidates=9, monotone=monotone, grid=grid)
        assert mechanism.guarantee(sensitivity) == PureDP(epsilon="0.7", neighbors=sensitivity.neighbors)
        certified(mechanism.derive(sensitivity))


@pytest.mark.parametrize("grid", [None, "1/8"])
def test_most_privacy_for_an_error(grid: Any) -> None:
    mechanism = PermuteAndFlip.for_accuracy(error="12.5", confidence="0.95", candidates=1000, grid=grid)
    assert mechanism.interval("0.95") == Fraction("12.5")
    wider = PermuteAndFlip(scale=mechanism.scale * Fraction(10**9 + 1, 10**9), candidates=1000, grid=grid)
    assert wider.interval("0.95") > Fraction("12.5")


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("error", {"error": 0}),
        ("error", {"error": "0.25", "grid": "1/4"}),
        ("confidence", {"candidates": 1}),
        ("confidence", {"confidence": "0.3"}),
        ("candidates", {"candidates": "5"}),
        ("candidates", {"candidates": 0}),
        ("confidence", {"confidence": 1}),
        ("confidence", {"confidence": math.nan}),
    ],
)
def test_bad_calibrations(field: str, more: dict[str, Any]) -> None:
    good: dict[str, Any] = {"error": 5, "confidence": "0.9", "candidates": 3}
    PermuteAndFlip.for_accuracy(**good)
    with pytest.raises(InvalidParameter) as caught:
        PermuteAndFlip.for_accuracy(**{**good, **more})
    assert caught.value.field == field


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [1, 2],
        [1.0, 2.0, math.nan],
        np.array([1, 2, 3], object),
        [Fraction(1), 0.5, 1],
        [[1, 2, 3]],
        None,
        [True] * 3,
    ],
)
@pytest.mark.parametrize("grid", [None, "1/2"])
def test_bad_scores_are_refused_before_any_draw(scores: Any, grid: Any) -> None:
    with pytest.raises(InvalidParameter):
        PermuteAndFlip(scale=1, candidates=3, grid=grid).run(scores, Untouchable())


@pytest.mark.parametrize(("field", "value"), [("scale", 0), ("candidates", 0), ("monotone", "no"), ("grid", 3)])
def test_bad_fields(field: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        PermuteAndFlip(**{"scale": 1, "candidates": 3, field: value})
    assert caught.value.field == field


def test_the_farthest_scores_are_never_confused() -> None:
    """A gap of 2^63 would wrap around and always succeed."""
    assert {PermuteAndFlip(scale=1, candidates=2).release([2**63 - 1, -(2**63)]) for _ in range(20)} == {0}
    assert {PermuteAndFlip(scale=2**60, candidates=2).release([0, 0]) for _ in range(60)} == {0, 1}


def test_scores_are_not_monotone_when_a_row_is_replaced() -> None:
    """Counts [0, 100] become [1, 99]: one goes up, the other down."""
    with pytest.raises(NoSuchRule, match="monotone=False"):
        PermuteAndFlip(scale=1, candidates=2, monotone=True).derive(Sensitivity(value=1, neighbors=Neighbors.REPLACE))


@pytest.mark.parametrize("confidence", ["0.6", "0.95", "0.999"])
@pytest.mark.parametrize("candidates", [2, 4])
def test_intervals_hold_for_all_scores_and_no_less_would_do(confidence: str, candidates: int) -> None:
    mechanism = PermuteAndFlip(scale="3/2", candidates=candidates)
    width, miss = mechanism.interval(confidence), 1 - number(confidence)
    assert width <= Exponential(scale="3/2", candidates=candidates).interval(confidence)
    assert width < mechanism.accuracy(confidence=confidence).error
    for scores in small_scores(candidates, 4):
        assert chance_beyond(permuted(scores, mechanism.scale), scores, number(width), strictly=True) <= miss
    less = width * Fraction(999, 1000)
    hardest = (Fraction(0), *[-less] * (candidates - 1))
    found = chance_beyond(permuted(hardest, mechanism.scale), hardest, number(less), strictly=False)
    assert found > miss or width == 0


def test_intervals_of_many_and_of_one() -> None:
    assert PermuteAndFlip(scale=2, candidates=1).interval("0.99") == 0
    assert PermuteAndFlip(scale=2, candidates=2, grid="1/4").interval("0.5") == Fraction(1, 4)
    many = PermuteAndFlip(scale=1, candidates=10**9)
    assert 0 < many.interval("0.999999") < many.accuracy(confidence="0.999999").error
