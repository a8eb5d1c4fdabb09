"""Messages arrive as they were sent."""

import io
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from privately.engines.duckdb.messages import counts_message, counts_of, packed, program_header, program_of, unpacked
from privately.engines.duckdb.programs import BinsText, Choice, Code, Histogram, Part, Program
from privately.engines.protocol import Bins, Counts
from privately.plans import Type


def _through(message: bytes) -> tuple[Any, list[Any]]:
    return unpacked(io.BytesIO(message).read)


def test_counts() -> None:
    bins = Bins(np.array([0, 7], dtype=np.int64), np.array([3, 2**40], dtype=np.int64))
    counts: Counts = {
        ("a\0", True, 5, date(1, 1, 1), datetime(2026, 1, 31, 1, 2, 3, 4)): (2**100, bins),
        (None, None, None, None, None): (-1, Bins(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))),
    }
    types = (Type.TEXT, Type.BOOLEAN, Type.INTEGER, Type.DATE, Type.TIMESTAMP)
    assert counts_of(*_through(counts_message(counts)), types) == counts


@pytest.mark.parametrize("most", [0, 2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**32 - 1, 2**32, 2**62])
def test_bins_take_few_bytes(most: int) -> None:
    counts: Counts = {(): (Bins(None, np.array([0, most, 1], dtype=np.int64)),)}
    message = counts_message(counts)
    assert counts_of(*_through(message), ()) == counts
    width = max(1, 1 << (max(most.bit_length() - 1, 0) // 8).bit_length())
    assert message.endswith(most.to_bytes(width, "little") + (1).to_bytes(width, "little"))


def test_that_a_way_was_given_up() -> None:
    assert counts_of(*_through(counts_message(None)), ()) is None
    assert counts_of(*_through(counts_message({})), ()) == {}


def test_histograms() -> None:
    histogram = Histogram(
        before=("CREATE",),
        rows="SELECT 1",
        sizes=(2, 1),
        rests=(None, 0),
        groups=(("a\0", None), None),
        bins=(7, 2**16),
    )
    program = Program(groups="", types=(), tallies=2, bins=(), histogram=histogram)
    assert program_of(_through(packed(program_header(program)))[0]) == program


def test_programs() -> None:
    bins = BinsText(place=1, bins=4, value="a1", rows="r", grouped="g", codes=(Code(text="x", size=None),))
    for codes in (bins, BinsText(place=0, bins=4, value="a0", rows="r", grouped="g", codes=None)):
        program = Program(groups="SELECT 1", types=(Type.DATE,), tallies=2, bins=(codes,))
        header, _ = _through(packed(program_header(program)))
        assert program_of(header) == program


def test_choices() -> None:
    choice = Choice(
        before=("CREATE",),
        rows="SELECT 1",
        key=(2**64 - 1, 0, 1, 2),
        most=3,
        sizes=(5, 2**32),
        lows=(-1, -(2**62)),
        groups=(("a\0", None), (True, 5)),
        parts=(Part(kind="count"), Part(kind="bins", digit=1, bins=7), Part(kind="sum", digit=1, low=-(2**61))),
    )
    program = Program(groups="", types=(), tallies=3, bins=(), choice=choice)
    assert program_of(_through(packed(program_header(program)))[0]) == program


def test_noise_is_no_message() -> None:
    with pytest.raises(ValueError, match="no message"):
        unpacked(io.BytesIO(b"\xff" * 100).read)
