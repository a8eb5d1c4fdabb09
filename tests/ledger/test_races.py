"""Everybody wants the last of a budget at once: exactly as many succeed as it lasts for, and all others are told."""

import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from privately.errors import BudgetExhausted, Unanswered
from privately.guarantees import GaussianDP, Guarantee, PureDP
from privately.ledger import Charge, Ledger
from tests.ledger.simulation.children import PATIENCE, Nursery

CLIENTS, PROCESSES = 64, 4
ANALYSTS = ["ana", "ben", "eve", "joe"]


def together(run: Callable[[int], None], count: int = CLIENTS) -> None:
    """All at the same moment; none of them waits for ever."""
    start = threading.Barrier(count)

    def begin(number: int) -> None:
        start.wait()
        run(number)

    threads = [threading.Thread(target=begin, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def raced(ledger: Ledger, cost: Guarantee, analysts: list[str]) -> tuple[Counter[str], list[tuple[str, object]]]:
    """Who was charged how often, and who was refused with what left."""
    charged: Counter[str] = Counter()
    refused: list[tuple[str, object]] = []
    guard = threading.Lock()

    def run(number: int) -> None:
        analyst = analysts[number % len(analysts)]
        charge = Charge(lineages=["visits"], query=f"question {number}", cost=cost, analyst=analyst)
        try:
            ledger.charge(charge)
        except BudgetExhausted as refusal:
            with guard:
                refused.append((analyst, refusal.left))
        else:
            with guard:
                charged[analyst] += 1

    together(run)
    return charged, refused


@pytest.mark.parametrize(
    ("cap", "cost", "fit"), [("1", "0.3", 3), ("1", "0.1", 10), ("0.6399", "0.01", 63), ("0.05", "0.1", 0)]
)
@pytest.mark.parametrize("place", ["file", ":memory:"])
def test_threads_race_for_the_last_unit(tmp_path: Path, place: str, cap: str, cost: str, fit: int) -> None:
    left = Fraction(cap) - fit * Fraction(cost)
    with Ledger.open(place if place == ":memory:" else tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=cap))
        charged, refused = raced(ledger, PureDP(epsilon=cost), ["ana"])
        assert charged.total() == fit == Fraction(cap) // Fraction(cost)
        assert refused == [("ana", PureDP(epsilon=left))] * (CLIENTS - fit)
        assert ledger.budget("visits").remaining == PureDP(epsilon=left)
        assert ledger.verify().charges == fit


def test_threads_race_in_another_currency(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=GaussianDP(mu=1))
        charged, refused = raced(ledger, GaussianDP(mu="0.3"), ["ana"])
        assert charged.total() == 11
        assert len(refused) == CLIENTS - 11
        assert all(left == GaussianDP(mu="0.1") for _, left in refused)


def test_analysts_race_for_their_own_caps(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=100))
        for analyst in ANALYSTS:
            ledger.account("visits", analyst=analyst, cap=PureDP(epsilon="0.65"))
        charged, refused = raced(ledger, PureDP(epsilon="0.1"), ANALYSTS)
        assert charged == dict.fromkeys(ANALYSTS, 6)
        assert Counter(refused) == dict.fromkeys(((name, PureDP(epsilon="0.05")) for name in ANALYSTS), 10)


def test_all_caps_hold_together(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=2))
        for analyst in ANALYSTS:
            ledger.account("visits", analyst=analyst, cap=PureDP(epsilon="0.65"))
        charged, refused = raced(ledger, PureDP(epsilon="0.1"), ANALYSTS)
        assert charged.total() == 20
        assert max(charged.values()) <= 6
        assert {left for _, left in refused} <= {PureDP(epsilon="0.05"), PureDP(epsilon=0)}
        assert all(charged[analyst] == 6 for analyst, left in refused if left == PureDP(epsilon="0.05"))
        assert sum(left == PureDP(epsilon=0) for _, left in refused) >= 64 - 20 - 40


def test_one_key_is_charged_once(tmp_path: Path) -> None:
    charge = Charge(lineages=["visits"], query="count", cost=PureDP(epsilon="0.1"), key="the one")
    ran, shown = [], []

    with Ledger.open(tmp_path / "ledger") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))

        def run(number: int) -> None:
            def answer(_: object) -> bytes:
                ran.append(number)
                return b"%d" % number

            try:
                shown.append(ledger.answer(charge, answer).body)
            except Unanswered:
                shown.append(b"")

        together(run)
        assert len(ran) == 1
        assert len(shown) == CLIENTS
        assert set(shown) <= {b"", b"%d" % ran[0]}
        assert ledger.budget("visits").spent == charge.cost


@pytest.mark.parametrize(
    ("cap", "own", "cost", "fit"),
    [("1", None, "0.3", 3), ("3.99", None, "0.1", 39), ("100", "0.65", "0.1", 24), ("2", "0.65", "0.1", 20)],
)
def test_threads_of_several_processes_race(tmp_path: Path, cap: str, own: str | None, cost: str, fit: int) -> None:
    path = tmp_path / "ledger"
    with Nursery(path) as nursery:
        for seed in range(PROCESSES):
            nursery.start(seed=seed, threads=CLIENTS // PROCESSES, analysts=ANALYSTS, cost=cost)
        assert nursery.wait(PROCESSES) == [["ready"]] * PROCESSES  # all of them have created it
        with Ledger.open(path) as ledger:
            ledger.account("visits", cap=PureDP(epsilon=cap))
            for analyst in ANALYSTS if own else []:
                ledger.account("visits", analyst=analyst, cap=PureDP(epsilon=own or ""))
        nursery.go()
        outcomes = nursery.wait(PROCESSES + CLIENTS)[PROCESSES:]
    assert Counter(what for what, *_ in outcomes) == {"charged": fit, "refused": CLIENTS - fit}
    lefts = {Fraction(cap) - fit * Fraction(cost)} | ({Fraction(own) % Fraction(cost)} if own else set())
    assert {Fraction(left) for what, _, left in outcomes if what == "refused"} <= lefts
    numbers = [number for what, _, number in outcomes if what == "charged"]
    assert len(set(numbers)) == fit
    with Ledger.open(path) as ledger:
        assert ledger.verify().charges == fit
        assert ledger.budget("visits").spent == PureDP(epsilon=fit * Fraction(cost))
