"""Charges that follow one another, settled together: every account pays for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

from privately.accounting.filters import Currency
from privately.accounting.filters.states import encoded_neighbors
from privately.accounting.filters.sums import EXACT_BITS
from privately.accounting.filters.tallies import Tally
from privately.errors import LedgerCorrupt, PrivatelyError
from privately.guarantees import GaussianDP
from privately.ledger.charges import repriced
from privately.ledger.entries import Charged, charge_line, kind_of, terms_of
from privately.ledger.names import SEPARATOR
from privately.ledger.state import Account, State, bill_of
from privately.ledger.stores import Session

Look = Callable[[Callable[[Session], Any]], Any]
_WRONG = (PrivatelyError, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError)


@dataclass(slots=True)
class Run:
    """Charges between two other entries, with only answers among them: how many on which terms, and whose."""

    start: int = 1
    counts: dict[bytes, int] = field(default_factory=dict)
    latest: dict[bytes, int] = field(default_factory=dict)
    holders: dict[tuple[bytes, str, str | None], int] = field(default_factory=dict)
    unasked: dict[bytes, int] = field(default_factory=dict)

    def add(self, first: bytes, analyst: str, token: str | None, question: str | None, number: int) -> None:
        """One more charge: the first line of its text, and who asked what."""
        self.counts[first] = self.counts.get(first, 0) + 1
        self.latest[first] = number
        self.holders.setdefault((first, analyst, token), number)
        if question is None:
            self.unasked[first] = self.unasked.get(first, 0) + 1


def settle(look: Look, state: State, run: Run, upto: int) -> None:
    """All accounts pay for the charges of a run. LedgerCorrupt if it is not those that had to, or not enough."""
    try:
        for (first, analyst, token), number in run.holders.items():
            _check_payers(state, terms_of(first)[1]["accounts"], analyst, token)
            state.asked.setdefault(analyst, number)
        owed: dict[str, list[tuple[bytes, tuple[Fraction, ...]]]] = {}
        for first, count in run.counts.items():
            _check_question(state, first, run.unasked.get(first, 0), count)
            for name, amounts in bill_of(first).amounts:
                owed.setdefault(name, []).append((first, amounts))
        accounts = [_charged(state.accounts[name], listed, run) for name, listed in owed.items()]
    except LedgerCorrupt:
        raise
    except _WRONG as fault:
        raise LedgerCorrupt(f"records {run.start} to {upto} do not add up ({fault}).") from None
    if None in accounts:
        _one_by_one(look, state, run.start - 1, upto)
    else:
        state.accounts.update({account.name: account for account in accounts if account is not None})


def _check_payers(state: State, owed: Mapping[str, Any], analyst: str, token: str | None) -> None:
    """Of every lineage that pays, those accounts of the analyst and the token pay that there are, and no others."""
    expected = set()
    for lineage in {name.split(SEPARATOR)[0] for name in owed}:
        names = [lineage, f"{lineage}/{analyst}", f"{lineage}/{analyst}/{token}"][: 2 if token is None else 3]
        expected |= {lineage, *(name for name in names if name in state.accounts)}
    if not owed or expected != owed.keys():
        raise LedgerCorrupt(f"{', '.join(owed)} paid for what {', '.join(sorted(expected))} should have.")


def _check_question(state: State, first: bytes, unasked: int, count: int) -> None:
    """A charge says what may serve again unless a lineage does not allow it."""
    owed = terms_of(first)[1]["accounts"]
    never = any(state.accounts[name].reuse == "never" for name in owed if SEPARATOR not in name)
    if unasked != (count if never else 0):
        raise LedgerCorrupt("answers to charges may serve again, or not, where the lineage says otherwise.")


def _charged(account: Account, listed: list[tuple[bytes, tuple[Fraction, ...]]], run: Run) -> Account | None:
    """The account after these charges; None where rounding would make their order matter."""
    tally = account.filter.tally
    for first, amounts in listed:
        _check_amounts(account.name, tally.currency, first, amounts)
    columns = list(zip(*(amounts for _, amounts in listed), strict=True))
    if len(columns) != len(tally.units):
        raise LedgerCorrupt(f"account {account.name} was charged in another currency than its own.")
    counts = [run.counts[first] for first, _ in listed]
    scales = [lcm(scale, *(a.denominator for a in column)) for scale, column in zip(tally.scales, columns, strict=True)]
    if any(scale.bit_length() > EXACT_BITS for scale in scales):
        return None
    totals = [
        before
        + Fraction(
            sum(n * (a.numerator * (scale // a.denominator)) for n, a in zip(counts, column, strict=True)), scale
        )
        for before, column, scale in zip(tally.amounts, columns, scales, strict=True)
    ]
    if any(total > limit for total, limit in zip(totals, tally.limits, strict=True)):
        raise LedgerCorrupt(f"account {account.name} was charged more than its cap.")
    spent = Tally.of(tally.currency, tally.limits, tuple(totals), tally.entries + sum(counts))
    last = bill_of(max(listed, key=lambda one: run.latest[one[0]])[0]).accounts
    return account._replace(filter=account.filter.with_tally(spent), last=last)


def _check_amounts(name: str, currency: Currency, first: bytes, amounts: tuple[Fraction, ...]) -> None:
    """What was charged is a cost, and at least what its event costs by the rules of today."""
    if any(amount.numerator < 0 for amount in amounts) or not any(amounts):
        raise LedgerCorrupt(f"account {name} was charged what is no cost.")
    terms = terms_of(first)[1]
    if _plainly(terms["cost"], currency) == tuple(terms["accounts"][name]):
        return
    least = repriced(terms["cost"], currency)
    if any(amount < enough for amount, enough in zip(amounts, least, strict=True)):
        raise LedgerCorrupt(f"account {name} was charged less than the event costs.")


def _plainly(cost: Mapping[str, Any], currency: Currency) -> tuple[str, ...] | None:
    """The numbers of a guarantee that is written in the currency itself, which is what it costs."""
    found = cost.get("guarantee")
    if found is None or found["kind"] != currency.kind.__name__ or currency.kind is GaussianDP or currency.orders:
        return None
    same = found["neighbors"] == encoded_neighbors(currency.neighbors)
    return tuple(found[str(name)] for name in currency.names) if same else None


def _one_by_one(look: Look, state: State, after: int, upto: int) -> None:
    for start in range(after, upto, 1_000):
        for row in look(lambda session: list(session.rows(start, min(start + 1_000, upto)))):  # noqa: B023 - looked at once
            first, _, second = row.text.partition(b"\n")
            if kind_of(first) is Charged:
                state.apply_charge(first, charge_line(second).analyst, state.time, state.head)
