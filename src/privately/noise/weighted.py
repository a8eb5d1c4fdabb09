"""A choice among finitely many, in proportion to weights of the form count times exp(-exponent)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.noise.brackets import GUARD, Bracket, exp_minus
from privately.noise.inversion import least_certain
from privately.noise.kernels import Draws
from privately.noise.source import Source

_FIRST = 64
_MORE = 64


_falling = lru_cache(maxsize=1024)(exp_minus)
"""Choices by levels ask for the same few exponents over and over."""


class Weighted:
    """i with a probability in proportion to counts[i] exp(-exponents[i]).

    Theorem: with the partial sums C(i) of the weights and their total C, the least i with U C < C(i) has these
        probabilities; U in [u, u+1]/2^b settles a comparison if brackets of the sums do for both ends.
    Reference: inversion of distribution functions; lazy comparison after von Neumann
    Proof: docs/theory/noise.md#weighted-choices
    Checked-by: tests/noise/test_weighted.py::test_a_choice_is_the_quantile_of_its_bits
    """

    bytes_per_draw = 48

    def __init__(self, counts: Sequence[int], exponents: Sequence[Fraction]) -> None:
        self._counts, self._exponents = counts, exponents
        self._sums: dict[int, list[Bracket]] = {}

    def draw(self, source: Source, size: int) -> Draws:
        """Independent choices."""
        return np.array([self._choose(source) for _ in range(size)], np.int64)

    def _choose(self, source: Source) -> int:
        known, bits = source.integer(_FIRST), _FIRST
        while (found := self._least_above(known, bits)) is None:
            known, bits = known << _MORE | source.integer(_MORE), bits + _MORE
        return found

    def _least_above(self, known: int, bits: int) -> int | None:
        sums = self._partial_sums(bits)
        total = sums[-1]

        def above(i: int) -> bool | None:
            if not 0 <= i < len(sums) - 1:
                return i >= 0
            if (known + 1) * total.upper <= sums[i].lower << bits:
                return True
            return False if known * total.lower >= sums[i].upper << bits else None

        return least_certain(above, -1, len(sums) - 1)

    def _partial_sums(self, bits: int) -> list[Bracket]:
        """Brackets of C(0), C(1), ..., fine enough to tell numbers of so many bits apart."""
        if bits not in self._sums:
            lower = upper = 0
            sums = self._sums[bits] = []
            for count, exponent in zip(self._counts, self._exponents, strict=True):
                factor = _falling(exponent, bits + GUARD)
                lower, upper = lower + count * factor.lower, upper + count * factor.upper
                sums.append(Bracket(lower, upper))
        return self._sums[bits]
