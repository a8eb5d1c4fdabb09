"""What the mechanisms for partial sums of a stream share.

A stream has a public length. That one of its items is added or removed means that its value was, or becomes, zero.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.guarantees import Derivation, Sensitivity, rules
from privately.laws import DiscreteLaplace
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.neighborhoods import some_change
from privately.mechanisms.programs import Program
from privately.mechanisms.sums_of_noise import NOISES, Noise, NoiseLaw, law_of, variance_of
from privately.noise.kernels import Draws
from privately.rounding import Enclosure, Number, rational, round_down, tidy, whole

MAX_LENGTH = 2**24
SUMMING = 1 + 2.0**-28
"""No sum of so many positive floats is off by a greater factor."""


def read_length(length: int) -> int:
    """How many items the stream has."""
    return whole(length, "length", maximum=MAX_LENGTH)


def read_sums(scale: Number, length: int, noise: Noise) -> dict[str, Any]:
    """The fields of mechanisms with noise of either kind, checked."""
    law_of(noise, scale)
    return {"scale": rational(scale, "scale"), "length": read_length(length), "noise": noise}


def read_stream(value: Any, length: int) -> NDArray[np.int64]:
    """As many integers; moved to at most 2^62/length from zero, which brings no two streams further apart."""
    farthest = FARTHEST // length
    return np.clip(Grid(None).snap(value, length), -farthest, farthest)


def saturated(sums: Draws) -> NDArray[np.int64]:
    """Moved to the ends of 64 bits where they do not fit."""
    return Grid(None).back(sums).astype(np.int64)


def derive_sums(law: NoiseLaw, sensitivity: Sensitivity, *, length: int, copies: int) -> Derivation:
    """What noisy sums satisfy if each item is a term of at most `copies` of them.

    Theorem: if the stream changes by at most s in L1 between neighbours, these sums change by at most copies s in L1,
        and by at most sqrt(copies) s in L2.
    Reference: triangle inequality
    Proof: docs/theory/mechanisms.md#partial-sums
    Checked-by: tests/mechanisms/test_partial_sums.py::test_sums_of_copies_change_by_no_more_than_stated
    """
    change = sensitivity.to("L1", dimension=length)
    if isinstance(law, DiscreteLaplace):
        noisy = rules.discrete_laplace(scale=law.scale, sensitivity=change.scaled(copies))
    else:
        value = tidy(change.value * root_up(copies))
        moved = Sensitivity(value=value, norm="L2", neighbors=change.neighbors)
        noisy = rules.rounded_gaussian(standard_deviation=law.standard_deviation, sensitivity=moved)
    return rules.postprocessing(noisy, description="partial sums, made of the noisy sums alone")


def scale_for_epsilon(epsilon: Number, sensitivity: Sensitivity, *, length: int, copies: int) -> Fraction:
    """The least scale of Laplace noise with this epsilon."""
    change = some_change(sensitivity.to("L1", dimension=length).value)
    return tidy(change * copies / rational(epsilon, "epsilon", above=0))


def deviation_for_mu(mu: Number, sensitivity: Sensitivity, *, length: int, copies: int) -> Fraction:
    """The least standard deviation of normal noise with this mu, to fifteen digits."""
    change = some_change(sensitivity.to("L1", dimension=length).value)
    return tidy(change * root_up(copies) / rational(mu, "mu", above=0))


def mu_for_rho(rho: Number) -> Fraction:
    """The largest mu that implies this rho, mu^2/2 = rho, to fifteen digits."""
    return round_down(Fraction(Enclosure.of(2 * rational(rho, "rho", above=0)).sqrt().lower))


def root_up(number: int) -> Fraction:
    """The square root, or a little more."""
    root = isqrt(number)
    return Fraction(root) if root * root == number else Enclosure.of(number).sqrt().claim()


def standard_errors(law: NoiseLaw, squares: NDArray[Any]) -> NDArray[np.float64]:
    """Of sums with these numbers of terms, or with weights whose squares add up to these."""
    return np.sqrt(squares * float(variance_of(law)))


def written_with(source: str) -> dict[str, Program]:
    """The program for each kind of noise."""
    return {noise: Program(source.replace("NOISE", noise)) for noise in NOISES}
