"""Charges that follow one another, settled together: every account pays for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple

from privately.accounting.filters import Currency
from privately.accounting.filters.sums import EXACT_BITS
from privately.accounting.filters.tallies import Tally
from privately.errors import LedgerCorrupt
from privately.ledger.alike import Alike, Column, Payers, Summed, alike, counted, plainly, taken_apart
from privately.ledger.book import spelled_page
from privately.ledger.charges import repriced
from privately.ledger.entries import OWN, Charged, charge_line, kind_of, terms_of
from privately.ledger.names import SEPARATOR
from privately.ledger.state import WRONG, Account, State, bill_of
from privately.ledger.stores import Session

Look = Callable[[Callable[[Session], Any]], Any]
"""Has a function look at the ledger, as `Reader.look` does."""

Group = tuple[bytes, bytes, bytes | None, bytes]
"""Charges on the same terms (as they are said), of one analyst and token, and whom their answers serve again."""

_MOST_TERMS = 50
"""So many terms are read one by one; of others their numbers alone, where that is possible."""


class Counted(NamedTuple):
    """The charges of a run: for each group how many, the first and the last record; and those that were summed."""

    groups: list[tuple[Group, list[int]]]
    summed: list[Summed]


class Run:
    """Charges between two other entries, with only answers among them, and the accounts that there are, if known.

    Of each group: how many, and the first and the last record.
    """

    def __init__(self, accounts: Mapping[str, Account] | None, start: int = 1) -> None:
        self.start = start
        self.groups: dict[Group, list[int]] = {}
        self.alike: dict[tuple[bytes, ...], Alike | None] = {}
        self._accounts, self._terms = accounts, set[bytes]()
        self._last: Alike | None = None

    def add(self, group: Group, number: int) -> None:
        """One more charge."""
        first = group[0]
        if first not in self._terms:
            if len(self._terms) >= _MOST_TERMS and self._added(first, group, number):
                return
            self._terms.add(first)
        counted(self.groups, group, number)

    def _added(self, first: bytes, group: Group, number: int) -> bool:
        if self._last is not None and self._last.add_if_alike(first, group[1:], number):
            return True
        between, numbers = taken_apart(first)
        self._last = self._alike(between)
        return self._last is not None and self._last.add(numbers, group[1:], first, number)

    def _alike(self, between: tuple[bytes, ...]) -> Alike | None:
        if between not in self.alike:
            self.alike[between] = alike(between, self._accounts)
        return self.alike[between]

    def counted(self) -> Counted:
        """All of it, for whoever goes on from there."""
        return Counted(list(self.groups.items()), [found.summed() for found in self.found_alike()])

    def take(self, counted: Counted) -> None:
        """Goes on by charges that were counted elsewhere, after these. LedgerCorrupt where they must be read."""
        for group, (count, first, last) in counted.groups:
            known = self.groups.setdefault(group, [0, first, last])
            known[0] += count
            known[2] = last
        for summed in counted.summed:
            found = self._alike(summed.between)
            if found is None:
                raise LedgerCorrupt("charges were summed that must be read one by one.")
            found.take(summed)

    def found_alike(self) -> list[Alike]:
        """Charges whose terms were not read one by one."""
        return [found for found in self.alike.values() if found is not None and found.count]

    @property
    def charges(self) -> int:
        """How many."""
        return sum(count for count, _, _ in self.groups.values()) + sum(found.count for found in self.found_alike())


class _Owed:
    """What an account pays, and on which terms the last time."""

    def __init__(self, columns: int) -> None:
        self.columns: list[Column] = [{} for _ in range(columns)]
        self.count, self.last, self.terms = 0, 0, b""

    def add(self, columns: Iterable[Iterable[tuple[int, int]]], count: int, last: int, first: bytes) -> None:
        """More charges. Each column lists denominators with numerators."""
        for column, listed in zip(self.columns, columns, strict=True):
            for below, above in listed:
                column[below] = column.get(below, 0) + above
        self.count += count
        if last > self.last:
            self.last, self.terms = last, first


def settle(look: Look, state: State, run: Run, upto: int) -> None:
    """All accounts pay for the charges of a run. LedgerCorrupt if it is not those that had to, or not enough."""
    try:
        _check_all_payers(state, run)
        accounts = [_charged(state.accounts[name], owed) for name, owed in _owed(state, run).items()]
    except LedgerCorrupt:
        raise
    except WRONG as fault:
        raise LedgerCorrupt(f"records {run.start} to {upto} do not add up ({fault}).") from None
    if None in accounts:
        _one_by_one(look, state, run.start - 1, upto)
    else:
        state.accounts.update({account.name: account for account in accounts if account is not None})


def _check_all_payers(state: State, run: Run) -> None:
    """Those that had to pay did. Notes who has asked."""
    asked: dict[tuple[Payers, tuple[str, ...]], int] = {}
    for first, payers, number in _asked(run):
        case = payers, tuple(bill_of(first).accounts)
        asked[case] = min(asked.get(case, number), number)
    for ((who, which, own), owed), number in asked.items():
        analyst, token = _name(who), None if which is None else _name(which)
        _check_payers(state, owed, analyst, token, own=_name(own))
        state.asked[analyst] = min(state.asked.get(analyst, number), number)


def _asked(run: Run) -> Iterator[tuple[bytes, Payers, int]]:
    """For all charges of a run: terms that name their accounts, who asked, and the first record of such."""
    for group, (_, number, _) in run.groups.items():
        yield group[0], group[1:], number
    for found in run.found_alike():
        for payers, (_, number, _) in found.groups.items():
            yield found.terms, payers, number


def _name(text: bytes) -> str:
    return text.decode("utf-8", "surrogatepass")


def _owed(state: State, run: Run) -> dict[str, _Owed]:
    """What every account pays for a run, each time at least what the event costs."""
    counts: dict[bytes, tuple[int, int]] = {}
    for (first, *_), (count, _, last) in run.groups.items():
        known = counts.get(first, (0, 0))
        counts[first] = known[0] + count, max(known[1], last)
    found: dict[str, _Owed] = {}
    for first, (count, last) in counts.items():
        for name, amounts in bill_of(first).amounts:
            _check_amounts(name, state.accounts[name].filter.tally.currency, first, amounts)
            owed = found.setdefault(name, _Owed(len(amounts)))
            owed.add([[(a.denominator, count * a.numerator)] for a in amounts], count, last, first)
    for several in run.found_alike():
        columns = [column.items() for column in several.columns()]
        for name in several.names:
            owed = found.setdefault(name, _Owed(len(columns)))
            owed.add(columns, several.count, several.last, several.terms)
    return found


def _check_payers(state: State, owed: Sequence[str], analyst: str, token: str | None, *, own: str) -> None:
    """Of every lineage that pays, those accounts of the analyst and the token pay that there are, and no others.

    A charge says whom its answer serves again, by the strictest policy of its lineages.
    """
    expected, lineages = set(), {name.split(SEPARATOR)[0] for name in owed}
    for lineage in lineages:
        names = [lineage, f"{lineage}/{analyst}", f"{lineage}/{analyst}/{token}"][: 2 if token is None else 3]
        expected |= {lineage, *(name for name in names if name in state.accounts)}
    policies = {state.accounts[lineage].reuse for lineage in lineages}
    if own != OWN[None if "never" in policies else "own" in policies]:
        raise LedgerCorrupt("answers to charges may serve again, or not, where the lineage says otherwise.")
    if not owed or expected != set(owed):
        raise LedgerCorrupt(f"{', '.join(owed)} paid for what {', '.join(sorted(expected))} should have.")


def _charged(account: Account, owed: _Owed) -> Account | None:
    """The account after these charges; None where rounding would make their order matter."""
    tally, columns = account.filter.tally, owed.columns
    if len(columns) != len(tally.units):
        raise LedgerCorrupt(f"account {account.name} was charged in another currency than its own.")
    scales = [lcm(scale, *column) for scale, column in zip(tally.scales, columns, strict=True)]
    if any(scale.bit_length() > EXACT_BITS for scale in scales):
        return None
    totals = [
        before + Fraction(sum(above * (scale // below) for below, above in column.items()), scale)
        for before, column, scale in zip(tally.amounts, columns, scales, strict=True)
    ]
    if any(total > limit for total, limit in zip(totals, tally.limits, strict=True)):
        raise LedgerCorrupt(f"account {account.name} was charged more than its cap.")
    spent = Tally.of(tally.currency, tally.limits, tuple(totals), tally.entries + owed.count)
    return account.after(spent, bill_of(owed.terms).accounts)


def _check_amounts(name: str, currency: Currency, first: bytes, amounts: tuple[Fraction, ...]) -> None:
    """What was charged is a cost, and at least what its event costs by the rules of today."""
    if any(amount.numerator < 0 for amount in amounts) or not any(amounts):
        raise LedgerCorrupt(f"account {name} was charged what is no cost.")
    terms = terms_of(first)[1]
    if plainly(terms["cost"], currency) == tuple(terms["accounts"][name]):
        return
    least = repriced(terms["cost"], currency)
    if any(amount < enough for amount, enough in zip(amounts, least, strict=True)):
        hint = "An older version of privately may have priced it lower: see its changelog. Otherwise it was edited."
        raise LedgerCorrupt(f"account {name} was charged less than the event costs.", hint=hint)


def _one_by_one(look: Look, state: State, after: int, upto: int) -> None:
    for start in range(after, upto, 1_000):
        for row in look(partial(spelled_page, start, min(start + 1_000, upto))):
            first, _, second = row.text.partition(b"\n")
            if kind_of(first) is Charged:
                state.apply_charge(first, charge_line(second).analyst, state.time, state.head)
