"""What is known of a charge before its turn: who pays how much, and all of its record but its place and its time."""

from __future__ import annotations

from collections.abc import Iterator

from privately.errors import InvalidParameter
from privately.ledger.book import Quote
from privately.ledger.charges import Charge, amounts, described, described_text
from privately.ledger.entries import charge_end, charge_front, charge_start, terms
from privately.ledger.state import Account, Bill, Offer, State

_MOST_OFFERS = 4096


def quote(state: State, charge: Charge) -> Quote:
    """The quote for a charge in this state, whether or not it can be paid; InvalidParameter if nobody would pay."""
    offers = state.offers
    key, analyst = charge.key, charge.analyst
    known = offers.get((charge.lineages, analyst, charge.token, described_text(charge.cost)))
    first, bill, own, front, end, around = offer(state, charge) if known is None else known
    hashes = charge.hashes(own=own, around=around)
    start = charge_start(front, hashes, key, charge.label, charge.snapshot)
    made: Quote = tuple.__new__(Quote, (offers, f"{key}\n{analyst}", hashes[1], first, start, end, bill, analyst))
    return made  # as Quote(...), in half the time, once for every charge


def question_of(state: State, charge: Charge) -> str | None:
    """What decides whether a stored answer serves: the query, the snapshot, and the policy of the lineages."""
    own = _own(state, charge)
    return None if own is None else charge.question(own=own)


def offer(state: State, charge: Charge) -> Offer:
    """On what terms a charge is made in this state."""
    offers = state.offers
    asked = (charge.lineages, charge.analyst, charge.token, charge.terms)
    found = offers.get(asked)
    if found is None:
        owed = {
            account.name: list(amounts(charge.cost, account.filter.tally.currency)) for account in payers(state, charge)
        }
        first = terms(owed, described(charge.cost))
        front, end = charge_front(charge.analyst), charge_end(charge.token)
        own = _own(state, charge)
        found = Offer(first, Bill.of(owed), own, front, end, charge.around(own=own))
        if len(offers) >= _MOST_OFFERS:
            offers.clear()
        offers[asked] = found
    return found


def _own(state: State, charge: Charge) -> bool | None:
    """Whether stored answers serve only whoever asked, by the strictest policy of the lineages; None: nobody."""
    policies = [lineage_account(state, lineage).reuse for lineage in charge.lineages]
    return None if "never" in policies else "own" in policies


def payers(state: State, charge: Charge) -> Iterator[Account]:
    """Every account that a charge touches: those of the lineages, and of the analyst and token where there are any."""
    for first, *others in charge.accounts:
        yield lineage_account(state, first)
        yield from (state.accounts[name] for name in others if name in state.accounts)


def lineage_account(state: State, lineage: str) -> Account:
    """The account of a lineage, or InvalidParameter."""
    found = state.accounts.get(lineage)
    if found is None:
        hint = f'The owner opens it: ledger.account("{lineage}", cap=...).'
        raise InvalidParameter("lineage", f"nobody has set a budget for {lineage!r}.", hint=hint)
    return found
