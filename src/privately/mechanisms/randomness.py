"""What mechanisms draw with. The module `privately.noise` is one; an enumeration of all draws is another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privately import noise
from privately.laws import Law
from privately.noise.kernels import Draws
from privately.rounding import LARGEST, Number


class Randomness(Protocol):
    """The effects of drawing; functions with the names and meanings of `privately.noise`."""

    def draw(self, law: Law, *, size: int) -> Draws:
        """Independent draws from a law."""

    def uniform(self, *, upper: int, size: int) -> Draws:
        """Any of 0, ..., upper - 1."""

    def bernoulli(self, *, probability: Number, size: int) -> NDArray[np.bool_]:
        """True with this probability."""

    def bernoulli_exp(self, *, exponent: Number, size: int) -> NDArray[np.bool_]:
        """True with probability exp(-exponent)."""

    def weighted(self, *, counts: Sequence[int], exponents: Sequence[Number], size: int) -> Draws:
        """i in proportion to counts[i] exp(-exponents[i])."""

    def accepted(self, *, counts: Sequence[int], exponents: Sequence[Number]) -> Iterator[int]:
        """The i of each of counts[i] candidates that is accepted with probability exp(-exponents[i]), in random order.

        It ends with the last of those whose exponent is 0.
        """


SYSTEM: Randomness = noise


def flip_exp(exponent: Fraction, randomness: Randomness) -> bool:
    """True with probability exp(-exponent), however large that is: `bernoulli_exp` takes no more than LARGEST.

    Theorem: exp(-a-b) = exp(-a) exp(-b), so independent coins for a and b both show heads as often as one for a + b.
    Reference: independence
    Proof: docs/theory/mechanisms.md#choosing-by-levels
    Checked-by: tests/mechanisms/test_randomness.py::test_long_exponents_are_flipped_in_parts
    """
    while exponent > LARGEST:
        if not randomness.bernoulli_exp(exponent=LARGEST, size=1)[0]:
            return False
        exponent -= LARGEST
    return bool(randomness.bernoulli_exp(exponent=exponent, size=1)[0])
