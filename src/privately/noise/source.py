"""What a sampler draws with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privately.noise.kernels import NUMPY, Kernels
from privately.noise.streams import Stream


@dataclass(frozen=True)
class Source:
    """Random bytes, and the inner loops that use them up."""

    stream: Stream
    kernels: Kernels = NUMPY

    def words(self, count: int, kind: str) -> NDArray[np.unsignedinteger]:
        """So many unsigned integers; `kind` is a little-endian NumPy type, so that every machine reads the same."""
        return self.stream.take(count * np.dtype(kind).itemsize).view(kind)

    def integer(self, bits: int) -> int:
        """A whole number of `bits` bits, a multiple of eight."""
        return int.from_bytes(self.stream.take(bits // 8).tobytes(), "little")
