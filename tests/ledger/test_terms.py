"""Charges that name the record that says their terms: which may be named, and that no other ever is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from privately.accounting import Laplace, Sequence
from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger, terms
from privately.ledger import book as books
from privately.ledger.entries import Charged, terms_of
from privately.ledger.stores import SQLiteReader
from privately.ledger.terms import Terms, named, naming
from privately.ledger.verifying import verified
from tests.ledger.examples import charge, content, founded
from tests.ledger.rewriting import rechained

DEAR = PureDP(epsilon="0.2")


def first_lines(path: Path) -> dict[int, dict[str, Any]]:
    """What the first lines of charges hold, without our code."""
    rows: Any = [row for row in content(path) if len(row) > 2]
    lines = {number: json.loads(text.split(b"\n")[0]) for number, _, text, *_ in rows}
    return {number: line for number, line in lines.items() if line.pop("what") == "charged"}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Opened; charges 3 to 6, two on each of two terms, an answer, a checkpoint; charges 9 to 12 on the same terms."""
    monkeypatch.setattr(books, "CHECKPOINT_EVERY", 7)
    with founded(tmp_path / "l", cap=10) as ledger:
        for half in ("a", "b"):
            receipts = [ledger.charge(charge(f"{half}{at}", cost=[charge().cost, DEAR][at % 2])) for at in range(4)]
            if half == "a":
                ledger.store(receipts[0], b"42")
    return tmp_path / "l"


def test_terms_are_said_once_between_checkpoints(path: Path) -> None:
    found = first_lines(path)
    names = {number: line.get("terms") for number, line in found.items()}
    assert names == {3: None, 4: None, 5: 3, 6: 4, 9: None, 10: None, 11: 9, 12: 10}
    said = found[3]
    assert said == found[9]
    assert (said["accounts"], said["cost"]["guarantee"]["epsilon"]) == ({"visits": ["1/10"]}, "1/10")


def test_every_charge_is_told_with_its_terms(path: Path) -> None:
    with Ledger.inspect(path) as ledger:
        told = {record.number: record.entry for record in ledger.history()}
        assert ledger.verify().charges == 8
        assert ledger.budget("visits").spent == PureDP(epsilon="1.2")
    paid = {number: entry.accounts for number, entry in told.items() if isinstance(entry, Charged)}
    cheap, dear = {"visits": ["1/10"]}, {"visits": ["1/5"]}
    assert paid == {3: cheap, 4: dear, 5: cheap, 6: dear, 9: cheap, 10: dear, 11: cheap, 12: dear}


def test_what_others_said_is_named(path: Path) -> None:
    """Whoever follows knows the terms that another said."""
    with Ledger.open(path) as one, Ledger.open(path) as other:
        one.charge(charge("one", cost=PureDP(epsilon="0.3")))
        other.charge(charge("other", cost=PureDP(epsilon="0.3")))
        assert one.verify() == other.verify()
    assert first_lines(path)[14] == {"terms": 13}


def test_no_more_are_named_than_everybody_remembers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "MOST", 2)
    with founded(tmp_path / "l", cap=10) as ledger:
        for at in (1, 2, 3, 3, 2, 1):
            ledger.charge(charge(f"{at}", cost=PureDP(epsilon=f"0.{at}"), key=f"k{ledger.head.number}"))
        ledger.verify()
    found = first_lines(tmp_path / "l")
    assert [line.get("terms") for line in found.values()] == [None, None, None, None, 4, 3]


def lies_about(number: int, said: int) -> Callable[[bytes], bytes]:
    """One charge names another record."""

    def change(text: bytes) -> bytes:
        return text.replace(naming(number), naming(said))

    return change


LIES = {
    "none": (9, 99),
    "itself": (9, 11),
    "a later one": (9, 12),
    "a later one that says them": (3, 9),
    "an account": (9, 2),
    "a checkpoint": (9, 8),
    "an answer": (3, 7),
    "one that names them": (10, 11),
    "one before the checkpoint": (9, 3),
    "the beginning": (9, 1),
}


@pytest.mark.parametrize("lie", LIES)
def test_terms_that_were_not_said(lie: str, path: Path) -> None:
    """The hashes fit. No way of reading takes the record for a charge."""
    rechained(path, lies_about(*LIES[lie]))
    store = SQLiteReader(path)

    def look(wanted: Callable[[Any], Any]) -> Any:
        with store.reading() as session:
            return wanted(session)

    with pytest.raises(LedgerCorrupt, match=r"names terms|cannot be read"):
        verified(look)
    if LIES[lie][0] > 8:  # after the checkpoint
        with pytest.raises(LedgerCorrupt, match=r"names terms"):
            Ledger.inspect(path).close()
    if lie != "one before the checkpoint":  # which only those notice who read what is between them
        with pytest.raises(LedgerCorrupt):
            look(lambda session: books.spelled_page(0, 12, session))


def test_names_have_one_spelling() -> None:
    assert [named(naming(number)) for number in (1, 9, 10, 10**17)] == [1, 9, 10, 10**17]
    for line in (b'{"terms":01,"what":"charged"}', b'{"terms": 1,"what":"charged"}', b'{"terms":-1,"what":"charged"}'):
        assert named(line) is None
        with pytest.raises(LedgerCorrupt):
            Terms(said={naming(1): b"{}"}).of(line, 2)


def test_what_is_copied_goes_on_by_itself() -> None:
    one = Terms()
    one.note(b"a", 3)
    other = one.copy()
    other.note(b"b", 4)
    one.note(b"a", 5)
    assert (one.named(b"a"), one.named(b"b")) == (naming(3), b"b")
    assert (other.of(naming(3), 6), other.of(naming(4), 6)) == (b"a", b"b")


def test_whoever_is_told_an_entry_may_change_it(tmp_path: Path) -> None:
    """Entries share nothing with what is remembered: neither what was spent nor what is verified follows them."""
    with founded(tmp_path / "l", cap=20) as ledger, Ledger.open(tmp_path / "l") as other:
        for at in range(4):
            ledger.charge(charge(f"q{at}", analyst="ann", cost=PureDP(epsilon=2)))
        for one in (*ledger.history(), *other.history()):
            if isinstance(one.entry, Charged):
                cast(dict[str, Any], one.entry.cost)["guarantee"]["epsilon"] = "1/100"
                one.entry.accounts["visits"][0] = "1/100"
        assert ledger.account("visits", analyst="ann", cap=PureDP(epsilon=8)).spent == PureDP(epsilon=8)
        other.charge(charge("more", cost=PureDP(epsilon=2)))
        assert [one.budget("visits").spent for one in (ledger, other)] == [PureDP(epsilon=10)] * 2


def test_long_terms_are_neither_named_nor_remembered() -> None:
    """Whoever chooses costs does not choose how much memory they take."""
    long = Sequence(events=[Laplace(scale=1000 + at) for at in range(200)])
    with founded(cap=100) as ledger:
        for at in range(3):
            ledger.charge(charge(f"q{at}", cost=long))
        assert not ledger._state().terms.names
        assert not ledger._state().offers
        assert ledger.verify().charges == 3
        costs = [one.entry.cost for one in ledger.history() if isinstance(one.entry, Charged)]
        assert costs[0] == costs[1] == costs[2]


def test_terms_have_one_spelling() -> None:
    """Of two members of one name another reader might take the first."""
    first = b'{"accounts":{"visits":["1"]},"cost":{"guarantee":{}},"what":"charged"}'
    assert terms_of(first)[1]["accounts"] == {"visits": ["1"]}
    for other in (first.replace(b'{"acc', b'{"accounts":{"visits":["99"]},"acc'), first.replace(b":", b": ")):
        with pytest.raises(LedgerCorrupt, match="as no other"):
            terms_of(other)
