"""Streams with bytes of our choosing, and the bytes that make a sampler read a given real number."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.noise.streams import Stream


class ScriptEnded(Exception):
    """A sampler wanted more bytes than the script has."""


@dataclass
class ScriptedStream:
    """Hands out the bytes it was given, in order, and no others."""

    script: bytes
    position: int = 0

    def take(self, count: int) -> NDArray[np.uint8]:
        if self.left < count:
            raise ScriptEnded(f"{count} bytes asked for, {self.left} left")
        self.position += count
        return np.frombuffer(self.script[self.position - count : self.position], np.uint8).copy()

    @property
    def left(self) -> int:
        return len(self.script) - self.position


@dataclass
class CountingStream:
    """Another stream, with a note of how many bytes were asked for each time."""

    stream: Stream
    asked: list[int] = field(default_factory=list)

    def take(self, count: int) -> NDArray[np.uint8]:
        self.asked.append(count)
        return self.stream.take(count)


@dataclass(frozen=True)
class Expansion:
    """A real number in [0, 1]: the first `bits` binary digits, and then zeros without end, or ones."""

    known: int
    bits: int
    ones: bool = False

    def digits(self, start: int, stop: int) -> int:
        """The digits from one place to another, as an integer."""
        longer = max(stop - self.bits, 0)
        extended = (self.known + self.ones << longer) - self.ones
        return extended >> self.bits + longer - stop & (1 << stop - start) - 1

    def bytes(self, start: int, stop: int, *, within: int | None = None) -> bytes:
        """Those digits as a little-endian word. If only the first ones of a word count, the others contradict them."""
        spare = (within or stop - start) - (stop - start)
        unused = 0 if self.ones else (1 << spare) - 1
        return (self.digits(start, stop) << spare | unused).to_bytes((stop - start + spare) // 8, "little")

    def is_below(self, value: Fraction) -> bool:
        """U < value, where ones without end stay short of the number they tend to."""
        limit = Fraction(self.known + self.ones, 1 << self.bits)
        return limit <= value if self.ones else limit < value


def as_read_by_inversion(u: Expansion, *, cell_bits: int = 16, word_bits: int = 64, words: int = 40) -> bytes:
    """A cell, the rest of a word, and 64 digits at a time from there on."""
    script = u.bytes(0, cell_bits, within=16)
    script += u.bytes(cell_bits, word_bits, within=64)
    return script + b"".join(u.bytes(word_bits + 64 * i, word_bits + 64 * i + 64) for i in range(words))


def cut(value: Fraction, bits: int) -> int:
    """The first binary digits of a number."""
    return (value.numerator << bits) // value.denominator
