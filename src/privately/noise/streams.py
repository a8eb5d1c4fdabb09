"""Random bytes: AES-256 in counter mode under keys from the operating system.

A stream holds no buffer and no position: bytes are enciphered straight into the array that is handed out, so nothing
can be handed out twice, neither to two threads, nor to a signal handler, nor to a forked process.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

REKEY_AFTER = 1 << 20
"""Bytes under one key. A key that leaks betrays no more than this."""

KEY_BYTES = 32
_BLOCK = 16
_ZEROS = memoryview(bytes(REKEY_AFTER))


class Stream(Protocol):
    """Where samplers get their bytes."""

    def take(self, count: int) -> NDArray[np.uint8]:
        """So many fresh bytes, in an array that belongs to the caller."""


class SystemStream:
    """The only stream behind the public functions. Every thread of every process has a key of its own."""

    def __init__(self) -> None:
        self._own = _Own()

    def take(self, count: int) -> NDArray[np.uint8]:
        """Fresh bytes; a new key after every 2^20 of them, and in the child after a fork."""
        out = np.empty(count + _BLOCK - 1, np.uint8)  # the cipher wants room for a part of a block
        done = 0
        while done < count:
            cipher, left = self._own.ready()
            step = min(count - done, left)
            self._own.left -= step
            encipher(cipher, out[done:], step)
            done += step if self._own.stayed() else 0
        return out[:count]


class _Own(threading.local):
    """What a thread keeps for itself. A signal handler may draw between any two steps, and finds all in order."""

    cipher: CipherContext
    process: tuple[int, int] | None = None
    left = 0

    def ready(self) -> tuple[CipherContext, int]:
        """A cipher that nobody else has, and how many bytes it is still good for."""
        if self.left <= 0 or not self.stayed():
            process = here()  # before the key is made: a fork in between must show
            self.cipher = counter_mode(os.urandom(KEY_BYTES))
            self.left = REKEY_AFTER
            self.process = process
        return self.cipher, max(self.left, 1)

    def stayed(self) -> bool:
        """Whether this is still the process that made the cipher."""
        return self.process == here()


_forks = 0
"""How often this process and its ancestors were forked: process numbers come again, this one does not."""


def _forked() -> None:
    global _forks  # noqa: PLW0603  (it belongs to the process)
    _forks += 1


os.register_at_fork(after_in_child=_forked)


def counter_mode(key: bytes) -> CipherContext:
    """The key stream from its beginning. A key is used once, so the counter may always start at zero."""
    return Cipher(AES(key), CTR(bytes(_BLOCK))).encryptor()


def encipher(cipher: CipherContext, out: NDArray[np.uint8], count: int) -> None:
    """The next `count` <= 2^20 bytes of the key stream, into an array with room for fifteen more."""
    cipher.update_into(_ZEROS[:count], out.data)


def here() -> tuple[int, int]:
    """Which process this is: its number, and how often it was forked."""
    return os.getpid(), _forks


SYSTEM = SystemStream()
