"""Verification re-derives everything: what breaks the chain, and what does not because somebody computed it anew."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.errors import LedgerCorrupt
from privately.guarantees import ZCDP, ApproxDP, PureDP
from privately.ledger import Ledger, settling
from privately.ledger import book as books
from privately.ledger.entries import Charged, Released
from privately.ledger.following import join
from privately.ledger.state import State
from privately.ledger.stores import Head, Row, SQLiteReader
from privately.ledger.verifying import Verification, Verifier, verified
from tests.ledger.examples import charge, founded, used
from tests.ledger.rewriting import Texts, of, rechained, rewritten
from tests.ledger.verdicts import told, with_care


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(books, "CHECKPOINT_EVERY", 7)


def folded(ledger: Ledger) -> State:
    """Entry by entry, which verification saves itself."""
    state = State()
    with ledger._store.reading() as session:
        for row in session.rows(0):
            join(state, row)
    return state


def test_what_is_counted(tmp_path: Path) -> None:
    used(tmp_path / "l", times=3)
    with Ledger.open(tmp_path / "l") as ledger:
        assert ledger.verify() == Verification(records=8, charges=3, answers=3)


def test_empty_answers_are_answers() -> None:
    with founded() as ledger:
        ledger.answer(charge(), lambda _: b"")
        assert ledger.verify().answers == 1


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privately.ledger.verifying._EVERY", 2)
    told: list[tuple[int, int]] = []
    with founded() as ledger:
        for at in range(4):
            ledger.charge(charge(f"q{at}"))
        ledger.verify(progress=lambda done, of: told.append((done, of)))
    assert told == [(2, 6), (4, 6), (6, 6)]


@pytest.mark.parametrize("place", [":memory:", "file"])
def test_verifying_locks_nobody_out(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even somebody who charges while being told how far it has come."""
    monkeypatch.setattr("privately.ledger.verifying._EVERY", 2)
    with founded(":memory:" if place == ":memory:" else tmp_path / "l") as ledger:
        for at in range(4):
            ledger.charge(charge(f"q{at}"))

        def told(done: int, _of: int) -> None:
            ledger.charge(charge(f"more {done}"))

        found = ledger.verify(progress=told)
        assert (found.records, found.charges) == (6, 4)
        assert ledger.verify().charges == 7


AMOUNTS = st.one_of(
    st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 7)]),
    st.integers(1, 2**600).map(lambda k: Fraction(1, 2**601 + 2 * k + 1)),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(AMOUNTS, st.sampled_from(["ann", "bob"])), max_size=25))
def test_counting_comes_to_what_adding_one_by_one_does(asked: list[tuple[Fraction, str]]) -> None:
    """Also where denominators are long and totals are rounded, so that their order matters."""
    before = books.CHECKPOINT_EVERY
    books.CHECKPOINT_EVERY = 6
    try:
        with founded(cap=100) as ledger:
            ledger.account("visits", analyst="bob", cap=ZCDP(rho=50))
            for at, (epsilon, analyst) in enumerate(asked):
                ledger.charge(charge(f"q{at}", cost=PureDP(epsilon=epsilon), analyst=analyst))
            state = folded(ledger)
            for most in (50, 0):
                settling._MOST_TERMS = most
                assert verified(ledger._reader.look).charges == len(asked)
            assert state.head.number == ledger.head.number
    finally:
        books.CHECKPOINT_EVERY, settling._MOST_TERMS = before, 50


def cheaper(texts: Texts) -> None:
    for terms, _ in of(texts, "charged"):
        terms["accounts"]["visits"] = ["1/99"]


def nothing(texts: Texts) -> None:
    for terms, _ in of(texts, "charged"):
        terms["accounts"]["visits"] = ["0"]


def negative(texts: Texts) -> None:
    of(texts, "charged")[0][0]["accounts"]["visits"] = ["-1/10"]


def over_the_cap(texts: Texts) -> None:
    for terms, _ in of(texts, "charged"):
        terms["accounts"]["visits"] = ["9/10"]


def unknown_account(texts: Texts) -> None:
    of(texts, "charged")[0][0]["accounts"] = {"others": ["1/10"]}


def no_amounts(texts: Texts) -> None:
    of(texts, "charged")[0][0]["accounts"]["visits"] = []


def division_by_zero(texts: Texts) -> None:
    of(texts, "charged")[0][0]["accounts"]["visits"] = ["1/0"]


def older(texts: Texts) -> None:
    of(texts, "charged")[-1][1]["time"] = "1999-01-01T00:00:00.000000Z"


def answered_twice(texts: Texts) -> None:
    first, second = of(texts, Released.what)[:2]
    second[1]["charge"], second[1]["question"] = first[1]["charge"], first[1]["question"]


def answer_to_no_charge(texts: Texts) -> None:
    of(texts, Released.what)[0][1]["charge"] = 2


def answer_to_a_later_charge(texts: Texts) -> None:
    of(texts, Released.what)[0][1]["charge"] = 99


def answer_to_another_question(texts: Texts) -> None:
    of(texts, Released.what)[0][1]["question"] = "0" * 64


def another_answer(texts: Texts) -> None:
    of(texts, Released.what)[0][1]["hash"] = "0" * 64


def longer_answer(texts: Texts) -> None:
    of(texts, Released.what)[0][1]["size"] += 1


def false_checkpoint(texts: Texts) -> None:
    of(texts, "checkpoint")[-1][1]["state"]["accounts"]["visits"]["filter"]["spent"] = ["1/10"]


def false_last_cost(texts: Texts) -> None:
    of(texts, "checkpoint")[-1][1]["state"]["accounts"]["visits"]["last"] = {"visits": ["1/99"]}


def founded_twice(texts: Texts) -> None:
    texts.append(texts[0])


def not_founded(texts: Texts) -> None:
    del texts[0]


def question_that_is_none(texts: Texts) -> None:
    of(texts, Charged.what)[0][1]["own"] = [1]


def unknown_analyst(texts: Texts) -> None:
    of(texts, "checkpoint")[-1][1]["state"]["asked"] = {}


LIES = [
    unknown_analyst,
    question_that_is_none,
    cheaper,
    nothing,
    negative,
    over_the_cap,
    unknown_account,
    no_amounts,
    division_by_zero,
    older,
    answered_twice,
    answer_to_no_charge,
    answer_to_a_later_charge,
    answer_to_another_question,
    another_answer,
    longer_answer,
    false_checkpoint,
    false_last_cost,
    founded_twice,
    not_founded,
]


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_chain_that_was_computed_anew_does_not_make_a_lie_true(lie: Callable[[Texts], None], tmp_path: Path) -> None:
    path = tmp_path / "l"
    used(path, times=6)
    rewritten(path, lambda _texts: None)
    with Ledger.inspect(path) as ledger:
        assert ledger.verify().charges == 6
    try:
        rewritten(path, lie)
    except LedgerCorrupt:
        return
    with pytest.raises(LedgerCorrupt), Ledger.inspect(path) as ledger:
        ledger.verify()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_what_is_recognised_at_a_glance_is_found_with_care_too(
    lie: Callable[[Texts], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l"
    used(path, times=6)
    try:
        rewritten(path, lie)
    except LedgerCorrupt:
        return
    monkeypatch.setattr("privately.ledger.settling._MOST_TERMS", 0)
    at_a_glance = told(path)
    with_care(monkeypatch)
    assert told(path) == at_a_glance


SPELLINGS = {
    "a control character": (b'"label":"x"', b'"label":"\x01"'),
    "a line break": (b'"label":"x"', b'"label":"\n"'),
    "a delete character as it is": (b'"label":"x"', b'"label":"\x7f"'),
    "no ASCII": (b'"label":"x"', b'"label":"\xc3\xa9"'),
    "no UTF-8": (b'"label":"x"', b'"label":"\xff"'),
    "a letter in disguise": (b'"label":"x"', b'"label":"\\u0078"'),
    "a backslash": (b'"label":"x"', b'"label":"\\"'),
    "a space between": (b'"label":"x"', b'"label": "x"'),
    "another member": (b'"label":"x"', b'"label":"x","more":1'),
    "a member twice": (b'"label":"x"', b'"label":"x","label":"x"'),
    "a time that is none": (b'"time":"2', b'"time":"z'),
    "another kind": (b',"what":"charged"', b',"what":"charges"'),
    "an answer in the terms": (b'"what":"charged"', b'"what":"released"'),
    "a kind of its own": (b'{"what":"released"}', b'{"what":"release"}'),
    "a number with a plus": (b'{"charge":', b'{"charge":+'),
    "a number with a zero": (b'{"charge":', b'{"charge":0'),
    "a size that is a text": (b'"size":2', b'"size":"2"'),
    "a question in disguise": (b'"question":"', b'"question":"\\u0061'),
}

CHANGED = (b'{"accounts"', b'{"what":"released"}')


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings_are_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In charges and answers whose chain fits; and both ways to read them say the same."""
    path = tmp_path / "l"
    with founded(path) as ledger:
        for at in range(2):
            ledger.answer(charge(f"q{at}", label="x"), lambda _: b"42")
    rechained(path, lambda text: text)
    assert told(path).startswith("Verification")
    rechained(path, lambda text: text.replace(*SPELLINGS[name]) if text.startswith(CHANGED) else text)
    seen = State(head=Head(1, b""))
    monkeypatch.setattr(Ledger, "_state", lambda _: seen)  # verification alone is to notice
    found = told(path)
    assert not found.startswith("Verification")
    with_care(monkeypatch)
    assert told(path) == found


def test_usual_records_are_recognised_at_a_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    with founded() as ledger:
        for at in range(5):
            ledger.answer(charge(f"q{at}", label="x", analyst="ann", token="t", snapshot="s"), lambda _: b"42")
        seen: list[int] = []
        looked = Verifier.carefully

        def counting(verifier: Verifier, row: Row, *others: Any) -> None:
            seen.append(row.number)
            looked(verifier, row, *others)

        monkeypatch.setattr(Verifier, "carefully", counting)
        assert ledger.verify().charges == 5
        assert seen == [1, 2]


@pytest.mark.usefixtures("often")
def test_the_last_cost_is_that_of_the_last_charge() -> None:
    """Where two costs take turns, and a checkpoint says which was the last."""
    with founded(cap=100) as ledger:
        for at in range(9):
            ledger.charge(charge(f"q{at}", cost=PureDP(epsilon=Fraction(1, 2 + at % 2))))
        assert [record.entry.what for record in ledger.history()].count("checkpoint") == 1
        assert ledger.verify().charges == 9


def served_nothing(entry: dict[str, Any]) -> None:
    entry["charge"] = 1


def served_later(entry: dict[str, Any]) -> None:
    entry["charge"] = 99


def served_itself(entry: dict[str, Any]) -> None:
    entry["charge"] = 6


def served_what_was_lost(entry: dict[str, Any]) -> None:
    entry["charge"] = 5


def served_under_a_used_key(entry: dict[str, Any]) -> None:
    entry["key"] = "lost"


def served_earlier(entry: dict[str, Any]) -> None:
    entry["time"] = "1999-01-01T00:00:00.000000Z"


LIES_OF_SERVING = [
    served_nothing,
    served_later,
    served_itself,
    served_what_was_lost,
    served_under_a_used_key,
    served_earlier,
]


@pytest.mark.parametrize("lie", [None, *LIES_OF_SERVING])
def test_what_was_served_was_stored_before(lie: Callable[[dict[str, Any]], None] | None, tmp_path: Path) -> None:
    path = tmp_path / "l"
    with founded(path) as ledger:
        ledger.answer(charge(), lambda _: b"42")
        ledger.charge(charge("lost", key="lost"))
        assert ledger.answer(charge(key="k"), lambda _: b"").free
        ledger.charge(charge("more"))

    def change(texts: Texts) -> None:
        if lie is not None:
            lie(of(texts, "served")[0][1])

    rewritten(path, change)
    if lie is None:
        assert told(path) == str(Verification(records=7, charges=3, answers=1))
    else:
        with pytest.raises(LedgerCorrupt), Ledger.inspect(path) as ledger:
            ledger.verify()


def test_costs_and_names_of_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain and odd names, costs of their own, in the currency of an account or in another."""
    with founded(cap=10**6) as ledger:
        ledger.account('M\u00fcnster "B"', cap=ZCDP(rho=10**6))
        ledger.account("visits", analyst="J\u00f6rg", cap=PureDP(epsilon=10**6))
        for at in range(40):
            lineages = ("visits", 'M\u00fcnster "B"') if at % 3 == 0 else ("visits",)
            cost = PureDP(epsilon=Fraction(1, 7 + at))
            analyst = "J\u00f6rg" if at % 2 else 'an"n'
            asked = charge(f"q{at}", lineages=lineages, cost=cost, analyst=analyst, token="t" if at % 5 else None)
            ledger.answer(asked, lambda _: b"42")
        for most in (0, 10, 10**9):
            monkeypatch.setattr("privately.ledger.settling._MOST_TERMS", most)
            assert ledger.verify() == Verification(records=ledger.head.number, charges=40, answers=40)
        with_care(monkeypatch)
        assert ledger.verify() == Verification(records=ledger.head.number, charges=40, answers=40)


def test_a_charge_below_what_its_event_costs(tmp_path: Path) -> None:
    """In another currency than the event's own."""
    path = tmp_path / "l"
    with founded(path) as ledger:
        ledger.account("wards", cap=ApproxDP(epsilon=1, delta="1e-6"))
        ledger.charge(charge(lineages=("wards",), cost=acc.Gaussian(noise_multiplier=10)))
        assert ledger.verify().charges == 1

    def half(texts: Texts) -> None:
        amounts = of(texts, Charged.what)[0][0]["accounts"]["wards"]
        amounts[0] = str(Fraction(amounts[0]) / 2)

    rewritten(path, half)
    with Ledger.inspect(path) as ledger, pytest.raises(LedgerCorrupt, match="less than"):
        ledger.verify()


MISSPELT = [b"[0.1]", b"[1]", b"[true]", b'["1_0/100"]', b'["0.1"]', b'[" 1/10"]', b'["1e-1"]', b'"1"', b"[null]"]


@pytest.mark.parametrize("amount", MISSPELT)
def test_what_was_paid_is_written_as_a_fraction(amount: bytes, tmp_path: Path) -> None:
    """Whatever else Python takes for a number would be read in two ways."""
    path = tmp_path / "l"
    used(path)

    def change(text: bytes) -> bytes:
        return text.replace(b'"visits":["1/10"]', b'"visits":' + amount)

    rechained(path, change)
    store = SQLiteReader(path)

    def look(function: Callable[[Any], Any]) -> Any:
        with store.reading() as session:
            return function(session)

    with pytest.raises(LedgerCorrupt):
        verified(look)
    with pytest.raises(LedgerCorrupt), Ledger.inspect(path):
        pass


def test_an_amount_that_is_no_number_among_many_terms(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with founded(path, cap=100) as ledger:
        for at in range(60):
            ledger.charge(charge(f"q{at}", cost=PureDP(epsilon=Fraction(1, 100 + at))))
        ledger.account("claims", cap=ApproxDP(epsilon=100, delta="0.5"), by=ApproxDP)
        paid = ApproxDP(epsilon=1, delta="1/1000")
        ledger.charge(charge("both", lineages=("claims",), cost=paid))
    rechained(path, lambda text: text.replace(b'"1/159"', b'"1/0"').replace(b'"1/1000"', b'"1/0"'))
    store = SQLiteReader(path)

    def look(function: Callable[[Any], Any]) -> Any:
        with store.reading() as session:
            return function(session)

    with pytest.raises(LedgerCorrupt):
        verified(look)


@pytest.mark.parametrize(
    ("column", "kind"),
    [(3, bytes), (4, bytes), (4, len), (5, str), (5, float)],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_a_column_of_another_kind_is_corrupt(
    column: int, kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flipped bit in a page can change what kind of value SQLite reads."""
    read = Verifier.read

    def damaged(self: Verifier, page: Any) -> None:
        rows, answers = page
        changed = [
            (*row[:column], row[column].encode() if kind is bytes else kind(row[column]), *row[column + 1 :])
            if row[column] is not None and (kind is not len or isinstance(row[column], str))
            else row
            for row in rows
        ]
        read(self, (changed, answers))

    used(tmp_path / "l", times=3)
    monkeypatch.setattr(Verifier, "read", damaged)
    with Ledger.open(tmp_path / "l") as ledger, pytest.raises(LedgerCorrupt):
        ledger.verify()
