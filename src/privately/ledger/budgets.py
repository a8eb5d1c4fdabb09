"""What an account has left, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING
from fractions import Fraction

from privately.guarantees import ApproxDP, Guarantee, PureDP
from privately.ledger.state import Account, spendable
from privately.rounding import Enclosure, decimal_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An account as its owner sees it. `promise` holds for all answers together, whatever is asked."""

    account: str
    promise: Guarantee
    cap: Guarantee
    spent: Guarantee
    remaining: Guarantee
    entries: int
    last: Guarantee | None
    more_like_last: int | None

    @classmethod
    def of(cls, account: Account) -> Budget:
        """Everything there is to see."""
        filter_, currency = account.filter, account.filter.tally.currency
        last = None if account.last is None else spendable(account.last)
        more = None
        if last is not None:
            pairs = zip(filter_.tally.rest, last, strict=True)
            more = min(math.floor(rest / amount) for rest, amount in pairs if amount)
        return cls(
            account=account.name,
            promise=filter_.promise,
            cap=filter_.cap,
            spent=filter_.spent,
            remaining=filter_.remaining,
            entries=filter_.entries,
            last=None if last is None else currency.statement(last),
            more_like_last=more,
        )

    @property
    def words(self) -> str:
        """What the promise means to a person in the data."""
        return in_words(self.promise)


def in_words(promise: Guarantee) -> str:
    """A guarantee as odds: how sure somebody can become who was half sure before.

    >>> in_words(PureDP(epsilon=1))
    'Whoever gives it 50 in 100 that you are in the data can come to at most 73.2 in 100, whatever is asked.'
    """
    if not isinstance(promise, (PureDP, ApproxDP)):
        return ""
    chance = _posterior(promise.parameters["epsilon"])
    text = f"Whoever gives it 50 in 100 that you are in the data can come to at most {chance} in 100, whatever is asked"
    delta = promise.parameters.get("delta", Fraction(0))
    if not delta:
        return f"{text}."
    return f"{text}, but for a chance of {decimal_text(delta, 3, ROUND_CEILING)} that more comes out."


def _posterior(epsilon: Fraction) -> str:
    """100 e^epsilon/(1 + e^epsilon), rounded up so that it is never said to be less than it is."""
    if epsilon > 700:
        return "100"
    odds = Enclosure.of(epsilon).exp()
    share = Fraction((100 * odds / (1 + odds)).upper)
    digits = 1
    while digits < 12 and math.ceil(share * 10**digits) >= 100 * 10**digits:
        digits += 1
    shown = math.ceil(share * 10**digits)
    return f"{shown // 10**digits}.{shown % 10**digits:0{digits}}" if shown < 100 * 10**digits else "100"
