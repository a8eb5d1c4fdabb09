"""Every outcome below the bound is met equally often over all words, and no word is used that would bend that."""

from collections import Counter

import numpy as np
import pytest

from privately.noise.inversion import CHUNK
from privately.noise.source import Source
from privately.noise.uniform import Uniform
from tests.noise.scripted import CountingStream, ScriptedStream, ScriptEnded

EVERY_WORD = np.arange(1 << 16, dtype="<u2").tobytes()
WIDTHS = {4096: 2, 4097: 4, 2**28: 4, 2**28 + 1: 8, 2**60: 8, 2**60 + 1: 9, 2**61: 9, 2**63: 9, 2**64: 9, 10**30: 13}


def fitting(upper: int, width: int) -> int:
    """The largest multiple of the bound that words of so many bytes reach."""
    return (1 << 8 * width) // upper * upper


def counts(sampler: Uniform, words: int) -> Counter[int]:
    """How often each outcome comes up when every 16-bit word is read once and `words` of them are to be used."""
    return Counter(sampler.draw(Source(ScriptedStream(EVERY_WORD)), words).tolist())


@pytest.mark.parametrize("upper", [1, 2, 3, 5, 7, 10, 255, 256, 257, 1000, 2731, 4095, 4096])
def test_every_remainder_is_reached_equally_often(upper: int) -> None:
    words = fitting(upper, 2)
    found = counts(Uniform(upper), words)
    assert found == dict.fromkeys(range(upper), words // upper)
    with pytest.raises(ScriptEnded):
        counts(Uniform(upper), words + 1)


def test_using_every_word_would_be_noticed() -> None:
    class Biased(Uniform):
        def _propose(self, source: Source, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return (source.words(count, "<u2") % self._upper).astype(np.int64)

    found = counts(Biased(1000), 1 << 16)
    assert found[0] > found[999] > 0


@pytest.mark.parametrize(("upper", "width"), WIDTHS.items())
def test_words_at_the_edges_of_wide_bounds(upper: int, width: int) -> None:
    fits, words = fitting(upper, width), 1 << 8 * width
    used = [0, 1, upper - 1, upper, upper + 1, fits - upper, fits - 1, 12345]
    wasted = [fits, words - 1] if fits < words else []
    proposed = used[:3] + wasted + used[3:]
    stream = ScriptedStream(b"".join(word.to_bytes(width, "little") for word in proposed))
    drawn = Uniform(upper).draw(Source(stream), len(used))
    assert drawn.tolist() == [0, 1, upper - 1, 0, 1 % upper, 0, upper - 1, 12345 % upper]
    assert stream.left == 0
    assert all(type(one) is int for one in drawn.tolist())


@pytest.mark.parametrize(("upper", "width"), WIDTHS.items())
def test_less_than_one_word_in_sixteen_is_wasted(upper: int, width: int) -> None:
    assert fitting(upper, width) > (15 << 8 * width) // 16


@pytest.mark.parametrize(
    ("upper", "kind"), [(2**63 - 1, np.int64), (2**63, np.int64), (2**63 + 1, object), (2**64, object)]
)
def test_python_integers_only_where_64_bits_are_too_few(upper: int, kind: type) -> None:
    drawn = Uniform(upper).draw(Source(ScriptedStream((upper - 1).to_bytes(9, "little"))), 1)
    assert drawn.tolist() == [upper - 1]
    assert drawn.dtype == kind


def test_one_outcome_is_certain_but_still_read() -> None:
    assert set(counts(Uniform(1), 1 << 16)) == {0}


def test_long_batches_come_in_chunks_and_ask_for_no_more_than_is_missing() -> None:
    accepted = np.arange(CHUNK, dtype=np.int64) % 1000
    words = np.concatenate([np.full(CHUNK, 65535), accepted, np.arange(7)]).astype("<u2")
    stream = CountingStream(ScriptedStream(words.tobytes()))
    drawn = Uniform(1000).draw(Source(stream), CHUNK + 7)
    assert drawn.tolist() == [*accepted.tolist(), *range(7)]
    assert stream.asked == [2 * CHUNK, 2 * CHUNK, 14]
