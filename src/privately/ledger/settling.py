"""Charges that follow one another, settled together: every account pays for all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any

from privately.accounting.filters import Currency
from privately.accounting.filters.states import encoded_neighbors
from privately.accounting.filters.sums import EXACT_BITS
from privately.accounting.filters.tallies import Tally
from privately.errors import LedgerCorrupt
from privately.guarantees import GaussianDP, Neighbors
from privately.ledger.charges import repriced
from privately.ledger.entries import Charged, charge_names, kind_of, terms_of
from privately.ledger.names import SEPARATOR
from privately.ledger.state import WRONG, Account, State, bill_of
from privately.ledger.stores import Session

Look = Callable[[Callable[[Session], Any]], Any]
"""Has a function look at the ledger, as `Reader.look` does."""

Group = tuple[bytes, str, str | None, bool]
"""Charges on the same terms (the first line of their texts), of one analyst and token, and whether none says what
question its answer serves again."""

Item = tuple[bytes, tuple[Fraction, ...], int, int]
"""Terms, what an account pays on them, how often, and the last record in which."""


@dataclass(slots=True)
class Run:
    """Charges between two other entries, with only answers among them.

    Of each group: how many, and the first and the last record.
    """

    start: int = 1
    groups: dict[Group, list[int]] = field(default_factory=dict)


def settle(look: Look, state: State, run: Run, upto: int) -> None:
    """All accounts pay for the charges of a run. LedgerCorrupt if it is not those that had to, or not enough."""
    try:
        counts: dict[bytes, tuple[int, int]] = {}
        for (first, analyst, token, unasked), (count, number, last) in run.groups.items():
            _check_payers(state, bill_of(first).accounts, analyst, token, unasked=unasked)
            state.asked[analyst] = min(state.asked.get(analyst, number), number)
            known = counts.get(first, (0, 0))
            counts[first] = known[0] + count, max(known[1], last)
        owed: dict[str, list[Item]] = {}
        for first, (count, last) in counts.items():
            for name, amounts in bill_of(first).amounts:
                owed.setdefault(name, []).append((first, amounts, count, last))
        accounts = [_charged(state.accounts[name], listed) for name, listed in owed.items()]
    except LedgerCorrupt:
        raise
    except WRONG as fault:
        raise LedgerCorrupt(f"records {run.start} to {upto} do not add up ({fault}).") from None
    if None in accounts:
        _one_by_one(look, state, run.start - 1, upto)
    else:
        state.accounts.update({account.name: account for account in accounts if account is not None})


def _check_payers(state: State, owed: Mapping[str, Any], analyst: str, token: str | None, *, unasked: bool) -> None:
    """Of every lineage that pays, those accounts of the analyst and the token pay that there are, and no others.

    A charge says which question its answer serves again, unless a lineage does not allow it.
    """
    expected, lineages = set(), {name.split(SEPARATOR)[0] for name in owed}
    for lineage in lineages:
        names = [lineage, f"{lineage}/{analyst}", f"{lineage}/{analyst}/{token}"][: 2 if token is None else 3]
        expected |= {lineage, *(name for name in names if name in state.accounts)}
    if unasked != any(state.accounts[lineage].reuse == "never" for lineage in lineages):
        raise LedgerCorrupt("answers to charges may serve again, or not, where the lineage says otherwise.")
    if not owed or expected != owed.keys():
        raise LedgerCorrupt(f"{', '.join(owed)} paid for what {', '.join(sorted(expected))} should have.")


def _charged(account: Account, listed: list[Item]) -> Account | None:
    """The account after these charges; None where rounding would make their order matter."""
    tally = account.filter.tally
    for first, amounts, _, _ in listed:
        _check_amounts(account.name, tally.currency, first, amounts)
    columns = list(zip(*(amounts for _, amounts, _, _ in listed), strict=True))
    if len(columns) != len(tally.units):
        raise LedgerCorrupt(f"account {account.name} was charged in another currency than its own.")
    counts = [count for _, _, count, _ in listed]
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
    last = bill_of(max(listed, key=lambda one: one[3])[0]).accounts
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
    same = found["neighbors"] == _written(currency.neighbors)
    return tuple(found[str(name)] for name in currency.names) if same else None


@lru_cache(maxsize=64)
def _written(neighbors: Neighbors) -> dict[str, Any]:
    return encoded_neighbors(neighbors)


def _one_by_one(look: Look, state: State, after: int, upto: int) -> None:
    for start in range(after, upto, 1_000):
        for row in look(lambda session: list(session.rows(start, min(start + 1_000, upto)))):  # noqa: B023 - looked at once
            first, _, second = row.text.partition(b"\n")
            if kind_of(first) is Charged:
                state.apply_charge(first, charge_names(second)[0], state.time, state.head)
