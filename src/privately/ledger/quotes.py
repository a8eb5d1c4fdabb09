"""What is known of a charge before its turn: who pays how much, and all of its record but its place and its time."""

from __future__ import annotations

from collections.abc import Iterator

from privately.errors import InvalidParameter
from privately.ledger.book import Quote
from privately.ledger.charges import Charge, amounts, described
from privately.ledger.entries import ChargeLine, terms
from privately.ledger.state import Account, Bill, State

_MOST_OFFERS = 4096


def quote(state: State, charge: Charge) -> Quote:
    """The quote for a charge in this state, whether or not it can be paid; InvalidParameter if nobody would pay."""
    offers = state.offers
    question = question_of(state, charge)
    first, bill = offer(state, charge)
    line = ChargeLine(
        charge.analyst, None, charge.body, charge.key, charge.label, question, charge.snapshot, "", charge.token
    )
    start, end = line.parts()
    return Quote(offers, charge.filed, question, b"%b\n%b" % (first, start), end, bill, charge.analyst)


def question_of(state: State, charge: Charge) -> str | None:
    """What decides whether a stored answer serves: by the strictest policy of the lineages asked about."""
    policies = [lineage_account(state, lineage).reuse for lineage in charge.lineages]
    if "never" in policies:
        return None
    return charge.question(own="own" in policies)


def offer(state: State, charge: Charge) -> tuple[bytes, Bill]:
    """What every account would pay for a charge, as the first line of its text and as a bill."""
    offers = state.offers
    asked = (charge.lineages, charge.analyst, charge.token, charge.terms)
    found = offers.get(asked)
    if found is None:
        owed = {
            account.name: list(amounts(charge.cost, account.filter.tally.currency)) for account in payers(state, charge)
        }
        found = terms(owed, described(charge.cost)), Bill.of(owed)
        if len(offers) >= _MOST_OFFERS:
            offers.clear()
        offers[asked] = found
    return found


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
