"""A stream that can be repeated, for tests and for nothing else: whoever knows the seed can subtract the noise.

No function of the library takes it, and no module of the library may import this one (a contract checks it).
"""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from privately.noise.streams import REKEY_AFTER, counter_mode, encipher

_ROOM = 15


class RepeatableStream:
    """The same bytes for the same seed, however they are asked for."""

    def __init__(self, *, seed: str) -> None:
        self._cipher = counter_mode(sha256(b"privately, for tests only: " + seed.encode()).digest())
        self.taken = 0

    def take(self, count: int) -> NDArray[np.uint8]:
        """The next bytes."""
        out = np.empty(count + _ROOM, np.uint8)
        for start in range(0, count, REKEY_AFTER):
            encipher(self._cipher, out[start:], min(count - start, REKEY_AFTER))
        self.taken += count
        return out[:count]
