"""Clients of one simulated process: what they ask, ask again, store and show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from privately.accounting import Filter
from privately.errors import LedgerCorrupt, LedgerUnavailable, PrivatelyError
from privately.guarantees import ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.ledger import Charge, Receipt
from privately.ledger.acts import AdjustCap, MakeCharge, OpenAccount, StoreAnswer
from privately.ledger.rounds import Act
from tests.ledger.simulation.disk import Killed
from tests.ledger.simulation.observing import Observer
from tests.ledger.simulation.processes import Violation

Waiting = list[tuple[Act[Any], Future[Any]]]

LINEAGES = ("visits", "wards", "labs")
ANALYSTS = ("ana", "ben", "eve")
COSTS = tuple(PureDP(epsilon=text) for text in ("0.05", "0.1", "0.3"))
SMALL = PureDP(epsilon="0.001")


def _filter(cap: Guarantee) -> Filter:
    return Filter.promising(cap, by=ApproxZCDP) if isinstance(cap, ApproxDP) else Filter(cap=cap)


ACCOUNTS: dict[str, tuple[Callable[[int], Guarantee], str]] = {
    "visits": (lambda units: PureDP(epsilon=units), "everyone"),
    "visits/ana": (lambda units: PureDP(epsilon=f"{units}/2"), "everyone"),
    "visits/ana/app": (lambda units: PureDP(epsilon=f"{units}/5"), "everyone"),
    "visits/ben": (lambda units: GaussianDP(mu=f"{units}/4"), "everyone"),
    "wards": (lambda units: ApproxDP(epsilon=units, delta="0.000001"), "own"),
    "wards/ana": (lambda units: PureDP(epsilon=f"{units}/3"), "everyone"),
    "labs": (lambda units: GaussianDP(mu=units), "never"),
    "labs/eve": (lambda units: PureDP(epsilon=f"{units}/10"), "everyone"),
    "loops": (lambda units: PureDP(epsilon=units), "everyone"),
    "wards/ben": (lambda units: PureDP(epsilon=3 * units), "everyone"),
    "visits/eve/app": (lambda units: PureDP(epsilon=2 * units), "everyone"),
}
"""The caps in units, and who is served again, which the lineage decides; several currencies."""

LOOPS = "loops"
"""Of this lineage somebody asks in a loop until nothing is left."""

LATE = ("wards/ben", "visits/eve/app")
"""These are opened in the course of a life, after their holders have asked."""


def opening(name: str) -> OpenAccount:
    """The same for whoever opens the accounts first."""
    cap, reuse = ACCOUNTS[name]
    return OpenAccount(name=name, filter=_filter(cap(1)), reuse=reuse)  # type: ignore[arg-type]


def raising(name: str, units: int) -> AdjustCap:
    """The owner allows more."""
    return AdjustCap(name=name, filter=_filter(ACCOUNTS[name][0](units)), by="owner", reason="simulated")


class Clients:
    """Those of one process. What they hold in memory dies with it."""

    def __init__(self, rng: random.Random, observer: Observer, everybody: list[Charge]) -> None:
        self._rng, self._observer, self._everybody = rng, observer, everybody
        self.charging: Callable[..., MakeCharge] = MakeCharge
        self.running: list[Receipt] = []
        self.lost: dict[str, Charge] = {}
        self.fault: Violation | None = None

    def forget(self) -> None:
        """The process died: what was charged may have to be paid once more."""
        self.lost |= {receipt.charge.key: receipt.charge for receipt in self.running}
        self.running.clear()

    def turns(self) -> Iterator[Waiting]:
        """What waits for the next turn; or the same again and again, alone, as of somebody who asks in a loop; or an
        account that comes late, and its holder with it.
        """
        kind = self._rng.random()
        if kind < 0.04:
            self._observer.loops += 1
            yield [(raising(LOOPS, self._observer.loops), self._future(self._observer.see_head))]
            yield from ([self.ask(self._alone(LOOPS, ANALYSTS[0]))] for _ in range(self._rng.randint(3, 6)))
        elif kind < 0.07:
            name = self._rng.choice(LATE)
            yield [self._open(name), *(self.ask(self._alone(*name.split("/"))) for _ in range(2))]
        else:
            yield [self._act() for _ in range(self._rng.randint(1, 5))]

    def _act(self) -> tuple[Act[Any], Future[Any]]:
        rng = self._rng
        kind = rng.random()
        if kind < 0.45:
            if not self.running:
                return self.ask(self.new_charge())
            return self.store(self.running.pop(rng.randrange(len(self.running))))
        if kind < 0.48:
            return self._adjust()
        if kind < 0.5:
            return self._open(rng.choice(list(ACCOUNTS)))
        if kind < 0.54 and self._observer.charged:
            return self._other_body(rng.choice(self._observer.charged))
        if kind < 0.6 and self.lost:
            _, charge = self.lost.popitem()
            return self.ask(charge, again=True)
        if kind < 0.7 and self._everybody:
            return self.ask(rng.choice(self._everybody), again=rng.random() < 0.2)
        return self.ask(self.new_charge())

    def new_charge(self) -> Charge:
        """A question of one or two lineages, often one that was asked before under another key."""
        rng = self._rng
        charge = Charge(
            lineages=rng.sample(LINEAGES, rng.choice([1, 1, 2])),
            query=f"count where day = {rng.randrange(6)}",
            cost=rng.choice(COSTS),
            analyst=rng.choice(ANALYSTS),
            token=rng.choice([None, None, "app"]),
            key=f"{rng.getrandbits(64):016x}",
        )
        self._everybody.append(charge)
        return charge

    def _open(self, name: str) -> tuple[Act[Any], Future[Any]]:
        return opening(name), self._future(lambda _: self._observer.accounts.add(name))

    def _alone(self, lineage: str, analyst: str, token: str | None = None) -> Charge:
        """On the same terms as others, and a question of its own."""
        key = f"{self._rng.getrandbits(64):016x}"
        return Charge(lineages=[lineage], query=key, cost=COSTS[-1], analyst=analyst, token=token, key=key)

    def ask(self, charge: Charge, *, again: bool = False) -> tuple[Act[Any], Future[Any]]:
        """The charge; an answer only after it."""
        return self.charging(charge, again=again), self._future(self._charged, charge)

    def store(self, receipt: Receipt) -> tuple[Act[Any], Future[Any]]:
        """Runs, keeps the answer, and shows it only then."""

        def stored(answer: bytes) -> None:
            try:
                self._observer.see_answer(receipt.charge, answer)
            except Violation as violation:
                self.fault = violation

        return StoreAnswer(receipt=receipt, answer=self.run()), self._future(stored, receipt.charge)

    def run(self) -> bytes:
        """Looks at the data: no two answers are the same."""
        return self._rng.randbytes(self._rng.choice([8, 8, 40, 3_000]))

    def _charged(self, receipt: Receipt) -> None:
        try:
            self._observer.see_receipt(receipt)
        except Violation as violation:
            self.fault = violation
        if receipt.answer is None:
            self.running.append(receipt)

    def _adjust(self) -> tuple[Act[Any], Future[Any]]:
        name = self._rng.choice(list(ACCOUNTS))
        return raising(name, self._rng.randint(1, 4)), self._future(self._observer.see_head)

    def _other_body(self, charge: Charge) -> tuple[Act[Any], Future[Any]]:
        other = Charge(
            lineages=charge.lineages, query="another", cost=charge.cost, analyst=charge.analyst, key=charge.key
        )

        def charged(_: Receipt) -> None:
            self.fault = Violation(f"key {charge.key} served two requests.")

        return MakeCharge(charge=other), self._future(charged)

    def _future(self, seen: Callable[[Any], None], charge: Charge | None = None) -> Future[Any]:
        """One whose result escapes at the moment in which it is given."""
        future: Future[Any] = Future()

        def done(given: Future[Any]) -> None:
            fault = given.exception()
            if fault is None:
                seen(given.result())
            elif isinstance(fault, LedgerCorrupt) or not isinstance(fault, (Killed, PrivatelyError)):
                self.fault = Violation(f"a client was told {fault!r}.")
            elif charge is not None and isinstance(fault, (Killed, LedgerUnavailable)):
                self.lost[charge.key] = charge

        future.add_done_callback(done)
        return future
