"""Whole numbers below a bound, all equally likely."""

from __future__ import annotations

import numpy as np

from privately.noise.inversion import CHUNK
from privately.noise.kernels import Draws
from privately.noise.source import Source

_SPARE = 4
"""A word has at least this many bits more than the bound, so that at most one in 16 is wasted."""


class Uniform:
    """0, 1, ..., upper - 1.

    Theorem: the remainder of a uniform word below the largest multiple of `upper` that it can reach is uniform.
    Reference: rejection; counting
    Proof: docs/theory/noise.md#uniform
    Checked-by: tests/noise/test_uniform.py::test_every_remainder_is_reached_equally_often
    """

    def __init__(self, upper: int) -> None:
        self._upper = upper
        needed = (upper - 1).bit_length()
        self._wide = needed > 63
        self.bytes_per_draw = 48 + needed // 7 if self._wide else 8
        self._bits = next((b for b in (16, 32, 64) if needed + _SPARE <= b), 8 * -(-(needed + _SPARE) // 8))

    def draw(self, source: Source, size: int) -> Draws:
        """Independent draws."""
        out: Draws = np.empty(size, object if self._wide else np.int64)
        done = 0
        while done < size:
            drawn = self._propose(source, min(CHUNK, size - done))
            out[done : done + drawn.size] = drawn
            done += drawn.size
        return out

    def _propose(self, source: Source, count: int) -> Draws:
        fits = (1 << self._bits) // self._upper * self._upper
        if self._bits <= 64:
            proposed = source.words(count, f"<u{self._bits // 8}").astype(np.uint64)
            chosen = proposed[proposed <= np.uint64(fits - 1)] % np.uint64(self._upper)
            return chosen.astype(np.int64)
        width = self._bits // 8
        raw = source.stream.take(count * width).tobytes()
        numbers = (int.from_bytes(raw[i : i + width], "little") for i in range(0, len(raw), width))
        return np.array([number % self._upper for number in numbers if number < fits], object)
