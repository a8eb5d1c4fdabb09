"""What the mechanisms for partial sums share whose noise is of one kind, Laplace or normal, and of one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Required, Self, TypedDict, Unpack

from privately.guarantees import Sensitivity
from privately.mechanisms.additive import largest_error, spread_over
from privately.mechanisms.mechanism import Accuracy
from privately.mechanisms.partial_sums import deviation_for_mu, mu_for_rho, read_stream, scale_for_epsilon
from privately.mechanisms.programs import Program
from privately.mechanisms.sums_of_noise import Noise, NoiseLaw, law_of, most_noise, widest_of
from privately.rounding import Number


class Shape(TypedDict, total=False):
    """The public length of the stream; for trees, also how many levels they have."""

    length: Required[int]
    levels: int | None


class NoisySums(ABC):
    """Partial sums made of noisy sums, of which each item is a term of at most so many `copies`."""

    programs: ClassVar[dict[str, Program]]
    scale: Fraction
    length: int
    noise: Noise

    @abstractmethod
    def __init__(self, *, scale: Number, noise: Noise = "discrete_laplace", **shape: Unpack[Shape]) -> None:
        """Checked; the scale of Laplace noise, or the standard deviation of normal noise."""

    @property
    @abstractmethod
    def copies(self) -> int:
        """Of how many noisy sums an item is a term, at most."""

    @abstractmethod
    def interval(self, confidence: Number) -> Fraction:
        """A w such that all sums are within w of the truth with this confidence.

        Chances of all sums are added up, though sums share noise: docs/theory/mechanisms.md#all-partial-sums-at-once
        says how much wider than needed that is, 5 to 33 %.
        """

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, **shape: Unpack[Shape]) -> Self:
        """The least Laplace noise with this epsilon, for all sums together."""
        sums = cls(scale=1, **shape)
        scale = scale_for_epsilon(epsilon, sensitivity, length=sums.length, copies=sums.copies)
        return cls(scale=scale, **shape)

    @classmethod
    def for_mu(cls, mu: Number, sensitivity: Sensitivity, **shape: Unpack[Shape]) -> Self:
        """The least normal noise with this mu, for all sums together."""
        sums = cls(scale=1, **shape)
        deviation = deviation_for_mu(mu, sensitivity, length=sums.length, copies=sums.copies)
        return cls(scale=deviation, noise="rounded_gaussian", **shape)

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Sensitivity, **shape: Unpack[Shape]) -> Self:
        """The least normal noise with this rho, for all sums together."""
        return cls.for_mu(mu_for_rho(rho), sensitivity, **shape)

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, noise: Noise = "discrete_laplace", **shape: Unpack[Shape]
    ) -> Self:
        """The most noise with which all sums are within `error` with this confidence, as far as `interval` can tell."""
        scale = most_noise(
            lambda scale: cls(scale=scale, noise=noise, **shape).interval(confidence), error, highest=widest_of(noise)
        )
        return cls(scale=scale, noise=noise, **shape)

    @property
    def law(self) -> NoiseLaw:
        """The law of each noise."""
        return law_of(self.noise, self.scale)

    @property
    def program(self) -> Program:
        """Item by item; one text for each kind of noise."""
        return self.programs[self.noise]

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """`interval` as a statement."""
        return largest_error(self.interval(confidence), confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The stream, and the scale."""
        return {"stream": read_stream(value, self.length).tolist(), "scale": self.scale}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """The first item changes: no other is in more sums."""
        return spread_over(self.length, floor(sensitivity.to("L1", dimension=self.length).value))
