"""Sums over the noise of a threshold, in integers and rounded down.

Where the noise is wide, the sum goes over blocks of it, with the least that each block holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from privately.noise.brackets import exp_minus

BITS = 128
BLOCKS_PER_SCALE = 32
MOST_BLOCKS = 1 << 13
REST = 25
"""The threshold's noise is followed so many scales beyond the point where its tail is all that may go wrong."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The integers from -count * size to count * size - 1 in blocks of `size`; chances are in units of 2^-bits.

    Theorem: with q = exp(-1/scale), the block that begins at j size has the chance q^(j size) (1 - q^size)/(1 + q) for
        j >= 0, and q^((-j-1) size + 1) (1 - q^size)/(1 + q) for j < 0; whatever is rounded down stays a lower bound,
        since all that is done to chances is monotone.
    Reference: geometric series
    Proof: docs/theory/mechanisms.md#accuracy-of-threshold-answers
    Checked-by: tests/mechanisms/test_threshold_sums.py::test_sums_are_lower_bounds_and_close
    """

    size: int
    count: int
    bits: int

    @classmethod
    def cover(cls, scale: Fraction, others: Iterable[Fraction], *, doubt: Fraction) -> Blocks:
        """So many that less than e^-25 times `doubt` is left out, and no wider than 1/32 of the narrowest noise."""
        tail = ceil(1 / doubt).bit_length()
        reach = ceil((tail + REST) * scale) + 1
        size = max(1, int(min(scale, *others) / BLOCKS_PER_SCALE), 2 * reach // MOST_BLOCKS)
        return cls(size=size, count=-(-reach // size), bits=BITS + tail)

    @property
    def one(self) -> int:
        """Certainty."""
        return 1 << self.bits

    def mean(self, scale: Fraction, chances: Iterable[int]) -> Fraction:
        """The sum over all blocks of the chance that noise of this scale lies there, times what is given for it."""
        total = sum(mass * chance for mass, chance in zip(self._masses(scale), chances, strict=True))
        return Fraction(total, self.one**2)

    def up_to(self, scale: Fraction, centre: int, *, rising: bool) -> list[int]:
        """For each block the least of P(X <= centre + r), or P(X <= centre - r), over its r."""
        start = centre - self.count * self.size
        found = self._cumulative(scale, start if rising else start + 1)
        return found if rising else found[::-1]

    def times(self, chances: Sequence[int]) -> int:
        """That all of these happen."""
        result = self.one
        for chance in chances:
            result = result * chance >> self.bits
        return result

    def some(self, chances: Sequence[int]) -> int:
        """That some of these happen."""
        missed = self.one
        for chance in chances:
            missed = -(-missed * (self.one - chance) >> self.bits)
        return self.one - missed

    def power(self, base: int, exponent: int) -> int:
        """That it happens so often."""
        result = self.one
        while exponent:
            if exponent & 1:
                result = result * base >> self.bits
            base, exponent = base * base >> self.bits, exponent >> 1
        return result

    def _masses(self, scale: Fraction) -> Iterator[int]:
        step, decay = exp_minus(self.size / scale, self.bits), exp_minus(1 / scale, self.bits)
        first = (self.one - step.upper << self.bits) // (self.one + decay.upper)
        below = self._shrinking(first * decay.lower >> self.bits, step.lower)
        yield from reversed(below)
        yield from self._shrinking(first, step.lower)

    def _shrinking(self, first: int, ratio: int) -> list[int]:
        terms = [first]
        for _ in range(self.count - 1):
            terms.append(terms[-1] * ratio >> self.bits)
        return terms

    def _cumulative(self, scale: Fraction, start: int) -> list[int]:
        """P(X <= start + i size) for i = 0, 1, ..., 2 count - 1: q^-k/(1+q) for k < 0, otherwise 1 - q^(k+1)/(1+q)."""
        step, decay = exp_minus(self.size / scale, self.bits), exp_minus(1 / scale, self.bits)
        length = 2 * self.count
        negative = min(length, max(0, -(start // self.size)))
        found = [0] * length
        tail = exp_minus(max(-start - (negative - 1) * self.size, 0) / scale, self.bits).lower
        for i in reversed(range(negative)):
            found[i] = (tail << self.bits) // (self.one + decay.upper)
            tail = tail * step.lower >> self.bits
        tail = exp_minus(max(start + negative * self.size + 1, 0) / scale, self.bits).upper
        for i in range(negative, length):
            found[i] = self.one + (-tail << self.bits) // (self.one + decay.lower)
            tail = -(-tail * step.upper >> self.bits)
        return found
