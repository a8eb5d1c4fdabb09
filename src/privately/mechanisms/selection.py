"""What the mechanisms share that choose one of several candidates by their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, ClassVar, Required, Self, TypedDict, Unpack

from privately.errors import InvalidParameter
from privately.guarantees import Sensitivity
from privately.mechanisms.grids import Grid
from privately.mechanisms.mechanism import Accuracy, set_fields
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.scores import Scores, read_scores, selection_fields, spread_of, worst_scores
from privately.noise.draws import MAX_SIZE
from privately.rounding import Number, rational


class Choice(TypedDict, total=False):
    """What can be set beside the scale: how many candidates, whether their scores move together, and their grid."""

    candidates: Required[int]
    monotone: bool
    grid: Number | None


class Selection(ABC):
    """A choice among `candidates` that is sharper the smaller the scale."""

    most_candidates: ClassVar[int] = MAX_SIZE
    whole_scores: ClassVar[bool] = False
    """Whether scores must be whole steps, as noise is."""

    scale: Fraction
    candidates: int
    monotone: bool
    grid: Grid

    def __init__(self, *, scale: Number, candidates: int, monotone: bool = False, grid: Number | None = None) -> None:
        most = self.most_candidates
        fields = selection_fields(scale=scale, candidates=candidates, monotone=monotone, grid=grid, most=most)
        set_fields(self, **fields)

    @abstractmethod
    def accuracy(self, *, confidence: Number) -> Accuracy:
        """How far below the best score the chosen one may be."""

    @abstractmethod
    def interval(self, confidence: Number) -> Fraction:
        """The same from the exact law of the choice."""

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, **choice: Unpack[Choice]) -> Self:
        """The sharpest choice with this epsilon."""
        scale = cls(scale=usual_scale(choice), **choice).scale_for_epsilon(epsilon, sensitivity)
        return cls(scale=scale, **choice)

    @classmethod
    def for_accuracy(cls, *, error: Number, confidence: Number, **choice: Unpack[Choice]) -> Self:
        """The most privacy with which the chosen score is within `error` of the best with this confidence.

        It is `interval` that is met; where `accuracy` is a closed form, that may state a little more.
        """
        scale = cls(scale=usual_scale(choice), **choice).scale_for_accuracy(error, confidence)
        return cls(scale=scale, **choice)

    def scale_for_epsilon(self, epsilon: Number, sensitivity: Sensitivity) -> Fraction:
        """The smallest scale with this epsilon, everything else being the same."""
        return some_change(self.spread(sensitivity)) / rational(epsilon, "epsilon", above=0)

    def scale_for_accuracy(self, error: Number, confidence: Number) -> Fraction:
        """The largest scale with this interval, if intervals are in proportion to it, but for rounding."""
        rounding = 2 * self.grid.rounding
        slack = rational(error, "error", above=0) - rounding
        if slack <= 0:
            raise InvalidParameter("error", "cannot be met: it is not above one step of the grid.")
        return slack / needed((self.interval(confidence) - rounding) / self.scale)

    def spread(self, sensitivity: Sensitivity) -> Fraction:
        """The largest change of a score minus the smallest."""
        return spread_of(sensitivity, self.grid, monotone=self.monotone, whole_steps=self.whole_scores)

    def read(self, value: Any) -> Scores:
        """The scores as integers."""
        if self.whole_scores:
            return Scores(self.grid.snap(value, self.candidates), self.grid.unit)
        return read_scores(value, self.grid, self.candidates)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The scores in steps, and the scale."""
        scores = self.read(value)
        return {"scores": scores.steps.tolist(), "scale": self.scale / scores.unit}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[Any], list[Any]]:
        """One candidate gains what all others lose, from far behind."""
        return worst_scores(
            sensitivity,
            scale=self.scale,
            candidates=self.candidates,
            monotone=self.monotone,
            grid=self.grid,
            whole_steps=self.whole_scores,
        )


def usual_scale(choice: Choice) -> Fraction:
    """One step: a scale that can be drawn on any grid."""
    unknown = sorted(choice.keys() - Choice.__annotations__.keys())
    if unknown:
        known = ", ".join(Choice.__annotations__)
        raise TypeError(f"there is no {unknown[0]!r} to set; beside the scale there are {known}")
    if "candidates" not in choice:
        raise TypeError("candidates are missing: how many are there to choose from?")
    return Grid(choice.get("grid")).unit


def needed(scales: Fraction) -> Fraction:
    """By how many scales the chosen score may be behind, if that is anything at all."""
    if scales <= 0:
        raise InvalidParameter(
            "confidence", "is so low, or candidates are so few, that any choice would do.", hint="Ask for more."
        )
    return scales


def below_the_best(error: Fraction, confidence: Number) -> Accuracy:
    """What is said of the chosen score."""
    return Accuracy(error=error, confidence=rational(confidence, "confidence"), measure="the score below the best")
