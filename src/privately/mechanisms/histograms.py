"""Counts for keys that are known beforehand, each with noise."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Neighbors, Sensitivity
from privately.mechanisms.distinct_units import LARGEST_COUNT, read_count
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.gaussian import Gaussian
from privately.mechanisms.laplace import Laplace
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import Randomness
from privately.noise.draws import MAX_SIZE
from privately.rounding import Number, rational, whole

Noise = Literal["discrete_laplace", "rounded_gaussian"]


@dataclass(frozen=True, init=False)
class Histogram(Mechanism):
    """For every declared key its count + noise, also where the count is 0; other keys are dropped.

    `scale` is the scale of discrete Laplace noise (PureDP, from the L1 sensitivity), or the standard deviation of
    rounded Gaussian noise (GaussianDP, from the L2 sensitivity).

    >>> eyes = Histogram(keys=["blue", "brown", "green"], scale=2)
    >>> one_row = eyes.sensitivity()
    >>> print(one_row, "->", eyes.guarantee(one_row))
    1 in L1, adding or removing one row -> PureDP with epsilon 0.5, adding or removing one row
    >>> list(eyes.release({"blue": 10, "red": 7}))
    ['blue', 'brown', 'green']
    """

    justification = Theorem(reference="Dwork-McSherry-Nissim-Smith 2006; docs/theory/mechanisms.md#histograms")

    keys: tuple[Hashable, ...]
    scale: Fraction
    noise: Noise

    def __init__(self, *, keys: Sequence[Hashable], scale: Number, noise: Noise = "discrete_laplace") -> None:
        object.__setattr__(self, "keys", _read_keys(keys))
        if noise not in ("discrete_laplace", "rounded_gaussian"):
            raise InvalidParameter("noise", f"{noise!r} is neither 'discrete_laplace' nor 'rounded_gaussian'.")
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "scale", rational(scale, "scale", above=0))
        self.vector  # noqa: B018  (it checks the scale)

    @classmethod
    def for_epsilon(cls, epsilon: Number, sensitivity: Sensitivity, *, keys: Sequence[Hashable]) -> Histogram:
        """The least discrete Laplace noise with this epsilon."""
        chosen = Laplace.for_epsilon(epsilon, sensitivity, dimension=len(_read_keys(keys)))
        return cls(keys=keys, scale=chosen.scale)

    @classmethod
    def for_rho(cls, rho: Number, sensitivity: Sensitivity, *, keys: Sequence[Hashable]) -> Histogram:
        """The least rounded Gaussian noise with this rho."""
        chosen = Gaussian.for_rho(rho, sensitivity, dimension=len(_read_keys(keys)))
        return cls(keys=keys, scale=chosen.standard_deviation, noise="rounded_gaussian")

    @classmethod
    def for_accuracy(
        cls, *, error: Number, confidence: Number, keys: Sequence[Hashable], noise: Noise = "discrete_laplace"
    ) -> Histogram:
        """The most noise, hence the most privacy, with which all counts are within `error` with this confidence."""
        entries = len(_read_keys(keys))
        if noise == "discrete_laplace":
            scale = Laplace.for_accuracy(error=error, confidence=confidence, dimension=entries).scale
        else:
            scale = Gaussian.for_accuracy(error=error, confidence=confidence, dimension=entries).standard_deviation
        return cls(keys=keys, scale=scale, noise=noise)

    @property
    def vector(self) -> Laplace | Gaussian:
        """The mechanism for the counts as a vector."""
        if self.noise == "discrete_laplace":
            return Laplace(scale=self.scale, dimension=len(self.keys))
        return Gaussian(standard_deviation=self.scale, dimension=len(self.keys))

    @property
    def program(self) -> Program:
        """That of the vector."""
        return self.vector.program

    def sensitivity(
        self, *, keys_per_unit: int = 1, rows_per_key: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE
    ) -> Sensitivity:
        """Of counts of rows, in the norm that the noise needs. By default every row is a unit of its own."""
        return counts_sensitivity(
            norm="L1" if self.noise == "discrete_laplace" else "L2",
            keys=len(self.keys),
            keys_per_unit=keys_per_unit,
            rows_per_key=rows_per_key,
            neighbors=neighbors,
        )

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """PureDP or GaussianDP, by the noise."""
        return self.vector.derive(sensitivity)

    def run(self, value: Any, randomness: Randomness) -> dict[Hashable, int]:
        """Keys with their noisy counts, in the order in which they were declared."""
        noisy = self.vector.run(self.counts(value), randomness)
        return dict(zip(self.keys, np.asarray(noisy).tolist(), strict=True))

    def counts(self, value: Any) -> list[int]:
        """The counts in the order of the keys, from a mapping or from such a list; keys without a count have 0."""
        if not isinstance(value, (Mapping, Sequence, np.ndarray)) or (isinstance(value, np.ndarray) and not value.ndim):
            raise InvalidParameter("value", "must be a mapping from keys to counts, or a list of counts.")
        listed = [value.get(key, 0) for key in self.keys] if isinstance(value, Mapping) else list(value)
        if len(listed) != len(self.keys):
            raise InvalidParameter("value", f"must have one count for each of the {len(self.keys)} keys.")
        return [read_count(count, minimum=-LARGEST_COUNT) for count in listed]

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that all counts are within w of the truth with this confidence."""
        return self.vector.interval(confidence)

    def interval_per_key(self, confidence: Number) -> Fraction:
        """The least w such that any one count is within w of the truth with this confidence."""
        return Fraction(half_width(self.vector.law, confidence, 1))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """About all counts at once."""
        return self.vector.accuracy(confidence=confidence)

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The counts as a vector, and the scale."""
        return self.vector.program_inputs(self.counts(value))

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[int], list[int]]:
        """One count takes the whole change."""
        return self.vector.worst_case(sensitivity)


def counts_sensitivity(
    *,
    norm: Literal["L1", "L2", "Linf"],
    keys: int,
    keys_per_unit: int = 1,
    rows_per_key: int = 1,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
) -> Sensitivity:
    """How far counts of rows over so many keys move, if a unit has rows in at most K keys, at most m in each.

    Theorem: adding or removing a unit changes at most c = min(K, keys) counts, replacing one at most c = min(2K, keys),
        each by at most m: that is c m in L1, sqrt(c) m in L2 and m in Linf; and so many times that for several units.
    Reference: triangle inequality
    Proof: docs/theory/mechanisms.md#histograms
    Checked-by: tests/mechanisms/test_histograms.py::test_no_neighbours_are_further_apart_than_the_sensitivity
    """
    if not isinstance(neighbors, Neighbors):
        raise InvalidParameter("neighbors", f"{neighbors!r} is not a Neighbors, such as Neighbors.ADD_REMOVE.")
    most = whole(keys_per_unit, "keys_per_unit") * (1 if neighbors.change == "add_remove" else 2)
    each = Sensitivity(value=whole(rows_per_key, "rows_per_key"), norm="Linf", neighbors=neighbors)
    return each.to(norm, dimension=min(most, whole(keys, "keys"))).scaled(neighbors.size)


def _read_keys(keys: Sequence[Hashable]) -> tuple[Hashable, ...]:
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Sequence):
        raise InvalidParameter("keys", "must be a list of the keys that are counted.")
    whole(len(keys), "keys", maximum=MAX_SIZE)
    try:
        different = len(set(keys)) == len(keys)
    except TypeError:
        raise InvalidParameter("keys", "must be hashable, such as texts or numbers.") from None
    if not different:
        raise InvalidParameter("keys", "must differ from one another.")
    return tuple(keys)
