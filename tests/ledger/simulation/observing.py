"""Somebody outside, who keeps all that ever left the ledger, and compares it with what is in the ledger later."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from hashlib import sha256
from typing import Any

from privately.accounting import Filter
from privately.guarantees import GaussianDP
from privately.ledger import Charge, Ledger, Receipt
from privately.ledger.stores import Head, Row
from tests.ledger.simulation.processes import Violation


class Observer:
    """What escaped: heads that were handed out, answers that were shown, and under which requests."""

    def __init__(self) -> None:
        self.accounts: set[str] = set()
        self.heads: set[Head] = set()
        self.answers: dict[Head, set[bytes]] = defaultdict(set)
        self.charged: list[Charge] = []
        self.run: set[Head] = set()
        self.loops = 0
        self.shown: dict[tuple[str, str], tuple[Charge, bytes]] = {}

    def see_head(self, head: Head) -> None:
        self.heads.add(head)

    def see_receipt(self, receipt: Receipt) -> None:
        """A receipt, and the answer that it may hold; without one it is a charge that may be run, once."""
        self.heads.add(receipt.head)
        if receipt.answer is not None:
            self.answers[receipt.head].add(receipt.answer)
        elif receipt.head in self.run:
            raise Violation(f"record {receipt.number} was given out twice, to be run again for nothing.")
        else:
            self.run.add(receipt.head)
            self.charged.append(receipt.charge)

    def see_answer(self, charge: Charge, answer: bytes) -> None:
        """An answer that was shown to whoever was charged for it."""
        before = self.shown.setdefault((charge.analyst, charge.key), (charge, answer))
        if before[1] != answer:
            raise Violation(f"two answers were shown for the key {charge.key}.")

    def check(self, ledger: Ledger) -> None:
        """Everything that escaped is in the ledger, and the ledger is in order, both by its own account and by ours."""
        ledger.verify()
        with ledger._store.reading() as session:
            rows = list(session.rows(0))
            answers = {row.charge: session.answer(row.number) for row in rows if row.charge is not None}
        state = {name: account.filter for name, account in ledger._state().accounts.items()}
        if not self.accounts <= state.keys():
            raise Violation("accounts were opened and are not in the ledger.")
        check_chain(rows)
        charged = check_sums(rows, state)
        self._check_escaped(rows, charged, answers)

    def _check_escaped(self, rows: list[Row], charged: set[int], answers: dict[int, bytes | None]) -> None:
        lost = sorted(head.number for head in self.heads if not _holds(rows, head))
        if lost:
            raise Violation(f"records {lost} were handed out and are not in the ledger.")
        stored: dict[str, list[bytes | None]] = defaultdict(list)
        for row in rows:
            if row.key is not None:
                stored[row.key].append(answers.get(row.number))
        keyed = {f"{key}\n{analyst}": answer for (analyst, key), (_, answer) in self.shown.items()}
        for key in keyed.keys() - stored.keys():
            raise Violation(f"an answer was released under the key {key!r} that was never charged.")
        for key, answer in keyed.items():
            if answer not in stored[key]:
                raise Violation(f"the answer that was shown for the key {key!r} is not the stored one.")
        for head, shown in self.answers.items():
            if head.number not in charged or not _holds(rows, head):
                raise Violation(f"an answer was released, its charge {head.number} is not in the ledger.")
            if shown != {answers.get(head.number)}:
                raise Violation(f"the answer that was shown for record {head.number} is not the stored one.")


def _holds(rows: list[Row], head: Head) -> bool:
    return head.number <= len(rows) and rows[head.number - 1].hash == head.hash


def check_chain(rows: Iterable[Row]) -> None:
    """Every hash is that of the text and of the hash before it."""
    before = bytes(32)
    for number, row in enumerate(rows, 1):
        if row.number != number or row.hash != sha256(before + row.text).digest():
            raise Violation(f"the chain is broken at record {number}.")
        before = row.hash


def check_sums(rows: Iterable[Row], state: dict[str, Filter]) -> set[int]:
    """What was charged is what is spent, within every cap; the numbers of the charges."""
    spent: dict[str, list[Fraction]] = {}
    caps: dict[str, list[Fraction]] = {}
    charges, asked = set(), list[dict[str, Any]]()
    said: dict[int, dict[str, Any]] = {}
    for row in rows:
        first, second = map(json.loads, row.text.splitlines())
        if first["what"] == "charged":
            first = said[first["terms"]] if "terms" in first else said.setdefault(row.number, first)
        elif first["what"] == "checkpoint":
            said.clear()
        entry: dict[str, Any] = first | second
        if entry["what"] in {"opened", "adjusted"}:
            caps[entry["account"]] = _cap(entry["filter"]["cap"])
            before = _spent_before(entry["account"], asked) or [Fraction(0)] * len(caps[entry["account"]])
            spent.setdefault(entry["account"], before)
        elif entry["what"] == "charged":
            charges.add(row.number)
            asked.append(entry)
            for name, amounts in entry["accounts"].items():
                spent[name] = [sum_ + Fraction(part) for sum_, part in zip(spent[name], amounts, strict=True)]
                if any(sum_ > cap for sum_, cap in zip(spent[name], caps[name], strict=True)):
                    raise Violation(f"record {row.number} takes {name} over its cap.")
    found = {name: [Fraction(part) for part in account.to_state()["spent"]] for name, account in state.items()}
    if found != spent:
        raise Violation(f"the entries add up to {spent}, the accounts say {found}.")
    return charges


def _spent_before(account: str, asked: list[dict[str, Any]]) -> list[Fraction]:
    """With what a late account, which counts epsilons, begins; empty if its holder had not asked."""
    lineage, *holder = account.split("/")
    theirs = [entry for entry in asked if lineage in entry["accounts"] and holder == _holder(entry)[: len(holder)]]
    epsilons = [Fraction(entry["cost"]["guarantee"]["epsilon"]) for entry in theirs]
    return [sum(epsilons, Fraction(0))] if holder and epsilons else []


def _holder(entry: dict[str, Any]) -> list[str]:
    return [entry["analyst"], *([] if entry["token"] is None else [entry["token"]])]


def _cap(cap: dict[str, Any]) -> list[Fraction]:
    if cap["kind"] == GaussianDP.__name__:
        return [Fraction(cap["mu"]) ** 2]
    return [Fraction(cap[name]) for name in ("epsilon", "rho", "delta") if name in cap]
