"""What all choices share: reading scores, calibration, and what is said of the chosen one."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms import Exponential, NoisyMax, NoisyMaxWithGap, PermuteAndFlip
from privately.mechanisms.selection import Choice, Selection, below_the_best, usual_scale

KINDS: list[Any] = [Exponential, PermuteAndFlip, NoisyMax, NoisyMaxWithGap]
every = pytest.mark.parametrize("kind", KINDS)


@every
@pytest.mark.parametrize("grid", [None, "1/8"])
def test_scores_are_read_in_steps(kind: Any, grid: Any) -> None:
    read = kind(scale=3, candidates=3, grid=grid).read([1, -2, 0])
    assert [step * read.unit for step in read.steps.tolist()] == [1, -2, 0]


@every
def test_only_scores_with_noise_are_whole(kind: Any) -> None:
    exact = [Fraction(1, 3), Fraction(1, 2)]
    mechanism = kind(scale=3, candidates=2)
    if kind in {Exponential, PermuteAndFlip}:
        assert mechanism.read(exact).steps.tolist() == [2, 3]
    else:
        with pytest.raises(InvalidParameter):
            mechanism.read(exact)
    changed = mechanism.spread(Sensitivity(value="1.7", norm="Linf"))
    assert changed == (2 if kind.whole_scores else Fraction("3.4"))


@every
def test_calibrations_keep_the_rest(kind: Any) -> None:
    choice: Choice = {"candidates": 5, "monotone": True, "grid": "1/4"}
    for made in (
        kind.for_epsilon(1, Sensitivity(value=1), **choice),
        kind.for_accuracy(error=30, confidence="0.9", **choice),
    ):
        assert isinstance(made, Selection)
        assert (made.candidates, made.monotone, made.grid.step) == (5, True, Fraction(1, 4))
    with pytest.raises(TypeError, match="candidates"):
        kind.for_epsilon(1, Sensitivity(value=1))
    with pytest.raises(TypeError, match="no 'foo' to set; beside the scale there are candidates, monotone, grid"):
        kind.for_epsilon(1, Sensitivity(value=1), candidates=3, foo=1)
    with pytest.raises(TypeError, match="no 'foo' to set"):
        kind.for_accuracy(error=30, confidence="0.9", candidates=3, foo=1)


@every
def test_scores_that_never_change_are_no_calibration(kind: Any) -> None:
    """And integers that change by less than one never change."""
    nothings: list[Any] = [0, "1/2"] if kind.whole_scores else [0]
    for nothing in nothings:
        with pytest.raises(InvalidParameter) as caught:
            kind.for_epsilon(1, Sensitivity(value=nothing, norm="Linf"), candidates=3)
        assert caught.value.field == "sensitivity"


@every
def test_errors_are_met_by_the_interval(kind: Any) -> None:
    """And by no larger scale: 1 % more, or a step where scores are whole."""
    for grid in (None, "1/8"):
        chosen = kind.for_accuracy(error=40, confidence="0.9", candidates=7, grid=grid)
        choice = getattr(chosen, "choice", chosen)
        assert 38 < choice.interval("0.9") <= 40
        wider = type(choice)(
            **{name: getattr(choice, name) for name in ("candidates", "monotone", "noise") if hasattr(choice, name)},
            scale=chosen.scale * Fraction(105, 100),
            grid=grid,
        )
        assert wider.interval("0.9") > 40


def test_one_step_is_a_scale_on_any_grid() -> None:
    assert usual_scale({"candidates": 2}) == 1
    assert usual_scale({"candidates": 2, "grid": Fraction(1, 2**900)}) == Fraction(1, 2**900)


def test_the_chosen_score_is_below_the_best() -> None:
    stated = below_the_best(Fraction(3), "0.9")
    assert str(stated) == "With probability at least 90 %, the score below the best is at most 3."
