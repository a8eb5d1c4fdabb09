"""What is known of a charge before its turn: who pays how much, and all of its record but its place and its time."""

from __future__ import annotations

from collections.abc import Iterator

from privately.errors import InvalidParameter
from privately.ledger.book import Quote
from privately.ledger.charges import Charge, amounts, described, described_text
from privately.ledger.entries import LONGEST_REMEMBERED, OWN, charge_end, charge_front, charge_start, question_of, terms
from privately.ledger.state import Account, Bill, Offer, State

_MOST_OFFERS = 4096


def quote(state: State, charge: Charge) -> Quote:
    """The quote for a charge in this state, whether or not it can be paid; InvalidParameter if nobody would pay."""
    offers = state.offers
    key, analyst = charge.key, charge.analyst
    known = offers.get((charge.lineages, analyst, charge.token, described_text(charge.cost)))
    first, bill, own, front, end, beginning = offer(state, charge) if known is None else known
    body, snapshot = charge.hashed(beginning), charge.snapshot
    start = charge_start(front + body, key, charge.label, OWN[own], snapshot)
    question = body if own is False and not snapshot else question_of(body, snapshot, analyst, own=own)
    made: Quote = tuple.__new__(Quote, (offers, f"{key}\n{analyst}", question, first, start, end, bill, analyst))
    return made  # as Quote(...), in half the time, once for every charge


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
        found = Offer(first, Bill.of(owed), own_question(state, charge), front, end, charge.beginning)
        if len(offers) >= _MOST_OFFERS:
            offers.clear()
        if len(first) <= LONGEST_REMEMBERED:
            offers[asked] = found
    return found


def own_question(state: State, charge: Charge) -> bool | None:
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
