"""Bytes are read as little-endian words, on every machine."""

import numpy as np
import pytest

from privately.noise.kernels import NUMPY
from privately.noise.source import Source
from tests.noise.scripted import ScriptedStream, ScriptEnded

BYTES = bytes(range(1, 17))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("<u2", [0x0201, 0x0403, 0x0605, 0x0807]),
        ("<u4", [0x04030201, 0x08070605, 0x0C0B0A09, 0x100F0E0D]),
        ("<u8", [0x0807060504030201, 0x100F0E0D0C0B0A09]),
    ],
)
def test_words_are_little_endian(kind: str, expected: list[int]) -> None:
    words = Source(ScriptedStream(BYTES)).words(len(expected), kind)
    assert words.tolist() == expected
    assert words.dtype == np.dtype(kind)


def test_an_integer_is_little_endian() -> None:
    assert Source(ScriptedStream(BYTES)).integer(64) == 0x0807060504030201
    assert Source(ScriptedStream(BYTES)).integer(8) == 1
    assert Source(ScriptedStream(BYTES)).integer(128) == int.from_bytes(BYTES, "little")


def test_what_follows_begins_where_the_last_one_ended() -> None:
    source = Source(ScriptedStream(BYTES))
    assert source.words(1, "<u2").tolist() == [0x0201]
    assert source.integer(16) == 0x0403
    assert source.words(3, "<u4").tolist() == [0x08070605, 0x0C0B0A09, 0x100F0E0D]
    with pytest.raises(ScriptEnded):
        source.integer(8)


def test_no_words_take_no_bytes() -> None:
    stream = ScriptedStream(b"")
    assert Source(stream).words(0, "<u8").size == 0


def test_numpy_is_what_runs_unless_something_else_is_asked_for() -> None:
    assert Source(ScriptedStream(b"")).kernels is NUMPY
