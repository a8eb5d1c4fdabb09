"""What is recognised at a glance is what is read with care."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from privately.errors import LedgerCorrupt
from privately.ledger.entries import OWN, ChargeLine, Released, charge_line, release_members, written
from privately.ledger.lines import is_plain, release_text, usual_charge, usual_question, usual_time

TIME = "2030-01-01T00:00:00.000000Z"
ODD = st.text(st.sampled_from('ab"\\/ \n\x00\x1f\x7fé\ud800'), max_size=6)
LINES = st.builds(
    ChargeLine,
    analyst=ODD,
    before=st.sampled_from([None, "0", "17"]),
    body=ODD,
    key=ODD,
    label=ODD,
    own=st.sampled_from(sorted(OWN.values())),
    snapshot=ODD,
    time=st.just(TIME),
    token=st.none() | ODD,
)
EDITS = st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from([*b'"\\,:{}0a\x00\x7f\xff', None])), max_size=3)


def edited(text: bytes, edits: list[tuple[int, int | None]]) -> bytes:
    """With bytes exchanged, or taken out."""
    changed = bytearray(text)
    for place, new in edits:
        at = place % len(changed)
        changed[at : at + 1] = b"" if new is None else bytes([new])
    return bytes(changed)


def at_a_glance(second: bytes) -> tuple[bytes | None, ...] | None:
    found = usual_charge(second)
    return found.groups() if found and is_plain(second) and usual_time(found[8]) else None


PLAIN = ChargeLine("ann", None, "b", "k", "", "false", "", TIME, None)


@given(LINES, EDITS)
@example(PLAIN, [])
@example(PLAIN._replace(analyst='a","before":null,"body":"', before="7", token="t"), [])
def test_charges(line: ChargeLine, edits: list[tuple[int, int | None]]) -> None:
    second = edited(line.written(), edits)
    found = at_a_glance(second)
    if found is not None:
        read = charge_line(second)
        assert read == tuple(None if one is None else one.decode("ascii") for one in found)
        analyst, _, body, _, _, own, snapshot, _, _ = found
        question = usual_question(*(one or b"" for one in (body, snapshot, analyst, own)))
        assert read.question == (None if question is None else question.decode("ascii"))
    if not edits and all(one is None or one.isalnum() for one in (*line[:7], line.token)):
        assert found is not None or not all(one is None or one.isascii() for one in (*line[:7], line.token))


def test_a_usual_charge_is_recognised() -> None:
    assert at_a_glance(PLAIN.written()) == (b"ann", None, b"b", b"k", b"", b"false", b"", TIME.encode(), None)


@given(ODD, EDITS, st.sampled_from([TIME, "x" * 27, TIME[:-1] + '"']))
@example("q", [], TIME)
def test_releases(question: str, edits: list[tuple[int, int | None]], time: str) -> None:
    """The text that is built is the one that is written, if its question is plain and its time is one."""
    hashed = "0" * 64
    entry = Released(charge=7, hash=hashed, size=3, question=question)
    if not is_plain(question.encode("utf-8", "surrogatepass")) or '"' in question:
        return
    built = release_text(7, hashed.encode(), question.encode(), 3, time.encode())
    if usual_time(time.encode()):
        assert built == written(entry, time)
        assert release_members(built.partition(b"\n")[2]) == ("7", hashed, question, "3", time)
    elif "\n" not in time:
        refused = False
        try:
            release_members(built.partition(b"\n")[2])
        except LedgerCorrupt:
            refused = True
        assert refused


def test_no_question() -> None:
    entry = Released(charge=7, hash="0" * 64, size=3, question=None)
    assert release_text(7, b"0" * 64, None, 3, TIME.encode()) == written(entry, TIME)
