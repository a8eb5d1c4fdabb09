"""Segments of a ledger that are read by themselves: what they hold, and when they are given up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger, segments
from privately.ledger.segments import Segment, marks, read_segment
from privately.ledger.state import BEGINNING
from privately.ledger.stores import EMPTY
from tests.ledger.examples import charge, founded


@pytest.fixture
def ledger() -> Ledger:
    """Founded, opened, three charges on terms of their own with answers after the last, one that was served."""
    made = founded(cap=10)
    costs = [PureDP(epsilon=f"0.{at + 1}") for at in range(3)]
    receipts = [made.charge(charge(f"q{at}", cost=cost, analyst="ann", token="t")) for at, cost in enumerate(costs)]
    for receipt in receipts:
        made.store(receipt, b"42")
    made.charge(charge("q0", key="again"))
    return made


def read_(ledger: Ledger, after: int, upto: int) -> Segment:
    return read_segment(ledger._reader.look, after, upto)


def test_the_whole_ledger_is_one_segment(ledger: Ledger) -> None:
    found = read_(ledger, 0, 9)
    assert found.start == (EMPTY.hash, BEGINNING)
    assert found.end.hash == ledger.head.hash
    assert [noted.row.number for noted in found.noted] == [1, 2, 9]
    assert found.charged == bytes([0, 0, 255, 255, 255, 0, 0, 0, 0])
    assert found.answers == 3
    expected = [((b"ann", b"t", b"false"), [1, number, number]) for number in (3, 4, 5)]
    assert [(group[1:], numbers) for group, numbers in found.counted.groups] == expected
    assert found.noted[-1].answered


def test_answers_to_charges_before_the_segment_are_noted(ledger: Ledger) -> None:
    found = read_(ledger, 4, 8)
    assert [noted.row.number for noted in found.noted] == [6, 7]
    assert (found.charged, found.answers) == (bytes([255, 0, 0, 0]), 1)
    assert found.start.hash == read_(ledger, 0, 4).end.hash


def test_segments_are_told_as_lines(ledger: Ledger) -> None:
    for after, upto in [(0, 9), (4, 8), (8, 9)]:
        found = read_(ledger, after, upto)
        lines = found.to_lines()
        assert not any(b"\n" in line for line in lines)
        assert Segment.from_lines(*lines) == found


def test_marks() -> None:
    assert list(marks(bytes([0, 1, 255]))) == [0, 1, -1]


def paid_again(ledger: Ledger) -> None:
    for again in (False, True):
        ledger.charge(charge("lost", key="lost", cost=PureDP(epsilon="0.7")), again=again)


def test_charges_that_are_paid_again_name_the_first(ledger: Ledger) -> None:
    paid_again(ledger)
    assert read_(ledger, 9, 11).again == {11: 10}


def odd_name(ledger: Ledger) -> None:
    ledger.charge(charge("odd", analyst="José"))


def many_terms(ledger: Ledger) -> None:
    for at in range(2, 5):
        ledger.charge(charge(f"terms {at}", cost=PureDP(epsilon=f"1/{at}")))


@pytest.mark.parametrize("change", [odd_name, many_terms])
def test_what_is_not_as_usual_is_given_up(
    change: Callable[[Ledger], None], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_MOST_GROUPS", 2)
    change(ledger)
    with pytest.raises(LedgerCorrupt, match=r"not as usual|too many terms"):
        read_(ledger, 5, ledger.head.number)
    ledger.verify()


def test_a_segment_knows_no_terms_before_it(ledger: Ledger) -> None:
    """It begins after a checkpoint, where nobody names what was said before."""
    ledger.charge(charge("more", cost=PureDP(epsilon="0.3"), analyst="ann", token="t"))
    assert read_(ledger, 0, 10).counted.groups[-1][1] == [2, 5, 10]
    with pytest.raises(LedgerCorrupt, match="names terms"):
        read_(ledger, 9, 10)


def test_records_that_are_missing(ledger: Ledger) -> None:
    for after, upto in [(0, 10), (10, 11)]:
        with pytest.raises(LedgerCorrupt, match="missing"):
            read_(ledger, after, upto)


def test_a_process_tells_how_far_it_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path: Any = tmp_path / "l"
    with founded(path) as made:
        made.answer(charge(), lambda _: b"42")
    monkeypatch.setattr("sys.argv", ["segments", str(path), "2", "4"])
    segments.main()
    told, first, second = capfdbinary.readouterr().out.splitlines()
    assert int(told) == 2
    assert Segment.from_lines(first, second).charged == bytes([255, 0])
