"""The truncated geometric mechanism: discrete Laplace noise, and whatever leaves a known range is moved to its ends."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.error_bars import miss_of, most_noise
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.mechanism import Accuracy, Alignment, Mechanism
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Interval, Number, rational, whole


@dataclass(frozen=True, init=False)
class TruncatedGeometric(Mechanism):
    """An integer moved into [lowest, highest], plus discrete Laplace noise, moved there again.

    PureDP with epsilon = sensitivity/scale; between any two values of the range with at most (highest - lowest)/scale.

    >>> from privately.guarantees import Sensitivity
    >>> count = TruncatedGeometric(scale=2, lowest=0, highest=100)
    >>> count.guarantee(Sensitivity(value=1)), count.interval("0.95")
    (PureDP(epsilon=0.5), Fraction(6, 1))
    """

    justification = Alignment(shifts="the noise by the difference of the values")
    program = Program("""
def truncated_geometric(value: private, lowest, highest, scale):
    inside = min(max(value, lowest), highest)
    noisy = inside + discrete_laplace(scale)
    return min(max(noisy, lowest), highest)
""")

    scale: Fraction
    lowest: int
    highest: int

    def __init__(self, *, scale: Number, lowest: int, highest: int) -> None:
        object.__setattr__(self, "scale", rational(scale, "scale", minimum=NARROWEST, maximum=WIDEST))
        object.__setattr__(self, "lowest", whole(lowest, "lowest", minimum=-FARTHEST, maximum=FARTHEST - 1))
        object.__setattr__(self, "highest", whole(highest, "highest", minimum=self.lowest + 1, maximum=FARTHEST))

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, *, lowest: int, highest: int) -> TruncatedGeometric:
        """The least noise with this epsilon."""
        widest = cls(scale=1, lowest=lowest, highest=highest).change(sensitivity)
        return cls(
            scale=some_change(widest.value) / rational(epsilon, "epsilon", above=0), lowest=lowest, highest=highest
        )

    @classmethod
    def for_accuracy(cls, *, error: Number, confidence: Number, lowest: int, highest: int) -> TruncatedGeometric:
        """The most noise with which the answer is within `error` with this confidence, wherever in the range it is."""

        def noisy(scale: Fraction) -> TruncatedGeometric:
            return cls(scale=scale, lowest=lowest, highest=highest)

        return noisy(most_noise(lambda scale: noisy(scale).interval(confidence), error))

    @property
    def law(self) -> DiscreteLaplace:
        """The law of the noise, before anything is moved."""
        return DiscreteLaplace(scale=self.scale)

    def change(self, sensitivity: Sensitivity) -> Sensitivity:
        """How far the values lie apart once they are in the range."""
        one = sensitivity.to("L1", dimension=1)
        most = min(one.value, Fraction(self.highest - self.lowest))
        return Sensitivity(value=most, neighbors=one.neighbors)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP with epsilon = sensitivity/scale."""
        noisy = rules.discrete_laplace(scale=self.scale, sensitivity=self.change(sensitivity))
        return rules.postprocessing(noisy, description=f"moved into the range from {self.lowest} to {self.highest}")

    def run(self, value: Any, randomness: Randomness) -> int:
        """One noisy integer of the range."""
        inside = self._inside(_read(value))
        return self._inside(inside + int(randomness.draw(self.law, size=1)[0]))

    def probability(self, answer: int, *, value: int) -> Interval:
        """How likely an answer is; at the ends of the range, all that is moved there."""
        shift = whole(answer, "answer", minimum=self.lowest, maximum=self.highest) - self._inside(_read(value))
        if answer == self.lowest:
            return self.law.cdf(shift)
        return self.law.tail(shift - 1) if answer == self.highest else self.law.pmf(shift)

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that the answer is within w of the truth with this confidence, wherever in the range it is.

        Theorem: errors beyond w on both sides are possible for some value exactly if 2w + 2 <= highest - lowest, on
            one side exactly if w < highest - lowest.
        Reference: the noise is symmetric
        Proof: docs/theory/mechanisms.md#truncated-geometric
        Checked-by: tests/mechanisms/test_truncated_geometric.py::test_intervals_cover_every_value_and_are_the_least
        """
        miss, span = miss_of(confidence), self.highest - self.lowest
        both = self.law.interval(1 - miss)
        if 2 * both + 2 <= span:
            return Fraction(both)
        one = max(self.law.quantile(1 - miss), span // 2)
        return Fraction(min(one, span))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return Accuracy(
            error=self.interval(confidence), confidence=rational(confidence, "confidence"), measure="the error"
        )

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The value and the parameters."""
        return {"value": _read(value), "lowest": self.lowest, "highest": self.highest, "scale": self.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[int, int]:
        """From the lower end upwards."""
        return self.lowest, self.lowest + floor(self.change(sensitivity).value)

    def _inside(self, value: int) -> int:
        return min(max(value, self.lowest), self.highest)


def _read(value: Any) -> int:
    return int(Grid(None).snap(value, 1)[0])
