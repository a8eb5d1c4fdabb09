"""Counts for keys that nobody listed beforehand: only those are shown that enough different units have."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, isqrt
from typing import Any, Literal

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace, RoundedNormal
from privately.laws.deciding import least
from privately.mechanisms.distinct_units import count_units, draw_secret, original, read_counts, read_pairs
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.gaussian import Gaussian
from privately.mechanisms.laplace import Laplace
from privately.mechanisms.mechanism import Accuracy, Mechanism, Theorem
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.noise import add
from privately.noise.samplers import NARROWEST, WIDEST, WIDEST_GAUSSIAN
from privately.rounding import LARGEST, Enclosure, Number, rational, whole

Noise = Literal["discrete_laplace", "rounded_gaussian"]

_TEXT = """
def thresholded_histogram(counts: private, scale, threshold):
    answers = []
    for count in counts:
        shown = 0
        if count > 0:
            noisy = count + NOISE(scale)
            if noisy >= threshold:
                shown = noisy
        answers.append(shown)
    return answers
"""
_PROGRAMS = {noise: Program(_TEXT.replace("NOISE", noise)) for noise in ("discrete_laplace", "rounded_gaussian")}


@dataclass(frozen=True, init=False)
class ThresholdedHistogram(Mechanism):
    """For each key in the data its number of different units + noise, if that is at least `threshold`.

    The input is (unit, key) pairs in any order, of which at most `keys` different keys count for a unit; or a mapping
    from keys to exact numbers of units, if the caller promises that no unit is in more than `keys` of them. Keys that
    no unit has are never looked at. With discrete Laplace noise of this scale it is ApproxDP with epsilon = keys/scale,
    with rounded Gaussian noise of this standard deviation approximate zCDP with rho = keys/(2 scale^2).

    >>> from privately.guarantees import Neighbors, Sensitivity
    >>> one_person = Sensitivity(value=1, norm="Linf", neighbors=Neighbors.ADD_REMOVE.of_unit("person"))
    >>> towns = ThresholdedHistogram.for_budget(epsilon=1, delta="1e-9", keys=2)
    >>> towns.threshold, towns.guarantee(one_person).parameters["epsilon"]
    (43, Fraction(1, 1))
    >>> visits = [(person, "Rome") for person in range(1000)] + [(7, "a village")]
    >>> list(towns.release(visits))
    ['Rome']
    """

    justification = Theorem(reference="Korolova et al. 2009; docs/theory/mechanisms.md#thresholded-histogram")

    scale: Fraction
    threshold: int
    keys: int
    noise: Noise
    secret: bytes | None = field(repr=False)

    def __init__(
        self,
        *,
        scale: Number,
        threshold: int,
        keys: int = 1,
        noise: Noise = "discrete_laplace",
        secret: bytes | None = None,
    ) -> None:
        """`secret` chooses among the keys of a unit that has too many; without one, each release draws its own."""
        if noise not in ("discrete_laplace", "rounded_gaussian"):
            raise InvalidParameter("noise", f"{noise!r} is neither 'discrete_laplace' nor 'rounded_gaussian'.")
        if secret is not None and not (isinstance(secret, bytes) and secret):
            raise InvalidParameter("secret", "must be bytes, or None.")
        object.__setattr__(self, "scale", _read_scale(scale, noise))
        object.__setattr__(self, "threshold", whole(threshold, "threshold", minimum=2))
        object.__setattr__(self, "keys", whole(keys, "keys"))
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "secret", secret)

    @classmethod
    def for_budget(cls, *, epsilon: Number, delta: Number, keys: int = 1) -> ThresholdedHistogram:
        """The least discrete Laplace noise with this epsilon, and the least threshold with this delta."""
        scale = whole(keys, "keys") / rational(epsilon, "epsilon", above=0)
        return cls._lowest(scale, delta, keys, "discrete_laplace")

    @classmethod
    def for_rho(cls, *, rho: Number, delta: Number, keys: int = 1) -> ThresholdedHistogram:
        """The least rounded Gaussian noise with this rho, and the least threshold with this delta."""
        scale = Enclosure.of(whole(keys, "keys") / (2 * rational(rho, "rho", above=0))).sqrt().claim()
        return cls._lowest(scale, delta, keys, "rounded_gaussian")

    @classmethod
    def for_accuracy(
        cls,
        *,
        error: Number,
        confidence: Number,
        delta: Number,
        keys: int = 1,
        noise: Noise = "discrete_laplace",
    ) -> ThresholdedHistogram:
        """The most noise with which a count is within `error` with this confidence, and the least threshold."""
        if noise == "discrete_laplace":
            return cls._lowest(Laplace.for_accuracy(error=error, confidence=confidence).scale, delta, keys, noise)
        deviation = Gaussian.for_accuracy(error=error, confidence=confidence).standard_deviation
        return cls._lowest(deviation, delta, keys, noise)

    @classmethod
    def _lowest(cls, scale: Fraction, delta: Number, keys: int, noise: Noise) -> ThresholdedHistogram:
        allowed = rational(delta, "delta", above=0, maximum=1)
        return cls(scale=scale, threshold=least_threshold(scale, allowed, keys, noise), keys=keys, noise=noise)

    @property
    def program(self) -> Program:
        """One text for each kind of noise; a key that nobody has is a count of 0, and so is one that is not shown."""
        return _PROGRAMS[self.noise]

    @property
    def law(self) -> DiscreteLaplace | RoundedNormal:
        """The law of the noise."""
        if self.noise == "discrete_laplace":
            return DiscreteLaplace(scale=self.scale)
        return RoundedNormal(standard_deviation=self.scale)

    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """ApproxDP or ApproxZCDP for one unit. The sensitivity is that of one count, which is at most 1."""
        if sensitivity.to("Linf").value > 1:
            raise NoSuchRule(
                premise=f"counts that change by {sensitivity}",
                wanted="a thresholded histogram",
                hint='Count different units, and give Sensitivity(value=1, norm="Linf", neighbors=...).',
            )
        if sensitivity.neighbors.unit is None:
            raise NoSuchRule(
                premise=f"a thresholded histogram, {sensitivity.neighbors}",
                wanted="a guarantee for one row",
                hint="A row can exchange one key of its unit for another. Name the unit: ADD_REMOVE.of_unit(...).",
            )
        return rules.thresholded_histogram(
            noise=self.noise,
            scale=self.scale,
            threshold=self.threshold,
            keys=self.keys,
            neighbors=sensitivity.neighbors,
        )

    def run(self, value: Any, randomness: Randomness) -> dict[Hashable, int]:
        """Keys with their noisy counts, in an order that only depends on the keys."""
        counts = self.counts(value, randomness)
        if not counts:
            return {}
        noisy = add(list(counts.values()), randomness.draw(self.law, size=len(counts))).tolist()
        return {key: count for key, count in zip(counts, noisy, strict=True) if count >= self.threshold}

    def counts(self, value: Any, randomness: Randomness) -> dict[Hashable, int]:
        """The exact numbers of units: not private."""
        if isinstance(value, Mapping):
            found = read_counts(value)
        else:
            pairs = read_pairs(value)
            secret = draw_secret(randomness) if self.secret is None else self.secret
            found = count_units(pairs, keys=self.keys, secret=secret)
        return {original(key): found[key] for key in sorted(found)}

    def interval(self, confidence: Number) -> Fraction:
        """The least w such that a key's count is within w of the truth, shown or not, with this confidence."""
        return Fraction(half_width(self.law, confidence, 1))

    def shown_from(self, confidence: Number) -> int:
        """The least number of units with which a key is shown with this confidence."""
        return max(1, self.threshold + self.law.quantile(confidence))

    def accuracy(self, *, confidence: Number) -> Accuracy:
        """About the count of one key."""
        return Accuracy(
            error=self.interval(confidence),
            confidence=rational(confidence, "confidence"),
            measure="the error of a key's count, before the threshold",
        )

    def program_inputs(self, value: Any) -> dict[str, Any]:
        """The counts in the order of their keys, the scale and the threshold.

        Pairs are counted first, which for units of too many keys needs the secret: without one in the mechanism, a new
        one is drawn here, so `run` may keep other keys of these units. Give a mapping, or a secret, to compare the two.
        """
        counts = list(self.counts(value, SYSTEM).values())
        return {"counts": counts, "scale": self.scale, "threshold": self.threshold}

    def worst_case(self, sensitivity: Sensitivity) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Nobody, and one unit alone with all the keys it may have: whatever is shown gives it away."""
        alone = self.keys if sensitivity.to("Linf").value >= 1 else 0
        return [], [("somebody", key) for key in range(alone)]


def least_threshold(scale: Fraction, delta: Fraction, keys: int, noise: Noise) -> int:
    """The least threshold whose certificate states no more than this delta."""
    doubt = ceil(whole(keys, "keys") / delta).bit_length()
    guess = int(scale * (doubt if noise == "discrete_laplace" else isqrt(2 * doubt))) + 2

    def enough(threshold: int) -> bool:
        if not 2 <= threshold <= LARGEST:
            return threshold > LARGEST
        try:
            proof = rules.thresholded_histogram(noise=noise, scale=scale, threshold=threshold, keys=keys)
        except InvalidParameter:  # so far above the noise that no delta is written down
            return True
        return bool(proof.conclusion.parameters["delta"] <= delta)

    return least(enough, min(guess, LARGEST))


def _read_scale(scale: Number, noise: Noise) -> Fraction:
    widest = WIDEST if noise == "discrete_laplace" else WIDEST_GAUSSIAN
    return rational(scale, "scale", minimum=NARROWEST, maximum=widest)
