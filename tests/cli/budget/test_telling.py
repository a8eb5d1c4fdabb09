"""What is told of a ledger: numbers as they are, and nothing that steers the terminal."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from privately import accounting as acc
from privately.cli.budget.commands import looked_at
from privately.cli.budget.telling import about, as_json, printable, short, show
from privately.guarantees import ApproxDP, GaussianDP, Neighbors, PureDP, RenyiDP
from privately.ledger import Ledger
from tests.ledger.examples import Clock, charge

FILE = Path("a.ledger")


def shown(ledger: Ledger, *, history: int = 100) -> str:
    console = Console(file=io.StringIO(), width=200, highlight=False)
    show(FILE, looked_at(ledger, history=history, verify=False, pins=[]), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [
        (PureDP(epsilon="0.1"), "epsilon 0.1"),
        (PureDP(epsilon=1, neighbors=Neighbors.REPLACE.of_unit("a, b")), "epsilon 1"),
        (ApproxDP(epsilon=1, delta="1e-6"), "epsilon 1, delta 1e-6"),
        (GaussianDP(mu="0.5"), "mu 0.5"),
    ],
)
def test_short(guarantee: PureDP, expected: str) -> None:
    assert short(guarantee) == expected


def test_long_guarantees_are_cut() -> None:
    cut = short(RenyiDP(bounds=[(order, "0.123") for order in range(2, 60)]))
    assert len(cut) == 60
    assert cut.endswith(" ...")


def test_about() -> None:
    assert about(0) == "about 0 more queries like your last"
    assert about(1) == "about 1 more query like your last"
    assert about(12345) == "about 12,345 more queries like your last"


def test_printable() -> None:
    assert printable("a\x1b[2Jb\nc\u202ed") == "a\ufffd[2Jb\ufffdc\ufffdd"


def test_every_kind_of_record_is_told() -> None:
    clock = Clock()
    ledger = Ledger.open(":memory:", clock=clock)
    ledger.account("visits", cap=GaussianDP(mu=1))
    ledger.register("2024", lineage="visits", by="owner")
    ledger.answer(charge("x", cost=acc.Gaussian(noise_multiplier=10), label="[bold]loud"), lambda _: b"123")
    ledger.adjust("visits", cap=GaussianDP(mu=2), by="board", reason="more is needed")
    clock.go(days=-1)
    ledger.accept_clock(by="eve", reason="it was wrong")
    text = shown(ledger)
    for part in (
        "founded", "opened", "table 2024", "Gaussian(noise_multiplier=10) [bold]loud", "record 4", "3 bytes",
        "board", "more is needed", "eve", "it was wrong", "mu 2 (GaussianDP)",
    ):  # fmt: skip
        assert part in text
    kinds = [
        one["what"] for one in json.loads(as_json(FILE, looked_at(ledger, history=99, verify=True, pins=[])))["history"]
    ]
    assert kinds == ["founded", "opened", "registered", "charged", "released", "adjusted", "clock set"]
    ledger.close()


def test_an_empty_ledger() -> None:
    with Ledger.open(":memory:") as ledger:
        assert "1 records" in shown(ledger)
        assert "like your last" not in shown(ledger)


def test_the_promise_of_an_analyst_who_is_served_free_is_for_what_it_pays() -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=10))
        ledger.account("claims", cap=PureDP(epsilon=10), reuse="own")
        for lineage in ("visits", "claims"):
            ledger.account(lineage, analyst="ann", cap=PureDP(epsilon="0.1"))
        text = shown(ledger)
        data = json.loads(as_json(FILE, looked_at(ledger, history=0, verify=False, pins=[])))
    assert text.count("for what it pays for, not for answers that others paid for") == 1
    assert text.count("at most 52.5 in 100") == 1
    assert [(one["account"], one["served"]) for one in data["accounts"]] == [
        ("claims", False),
        ("claims/ann", False),
        ("visits", False),
        ("visits/ann", True),
    ]
