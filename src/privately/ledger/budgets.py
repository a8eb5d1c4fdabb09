"""What an account has left, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.ledger.names import SEPARATOR
from privately.ledger.state import Account, spendable
from privately.rounding import Enclosure
from privately.rounding.normal import normal_cdf

_LARGEST = 700


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """An account as its owner sees it. `promise` holds for all answers together that it pays for, whatever is asked.

    `served` tells whether its holder may also be given, free, what others paid for; then `promise` leaves that out.
    `above` are those promises of the accounts above it that hold for all that its holder is given.
    """

    account: str
    promise: Guarantee
    cap: Guarantee
    spent: Guarantee
    remaining: Guarantee
    entries: int
    last: Guarantee | None
    more_like_last: int | None
    served: bool = False
    above: tuple[Guarantee, ...] = ()

    @classmethod
    def of(cls, account: Account, accounts: Mapping[str, Account]) -> Budget:
        """Everything there is to see of an account among others."""
        filter_, currency = account.filter, account.filter.tally.currency
        last = None if account.last is None else spendable(tuple(account.last[account.name]))
        above = [name for name in _above(account.name) if name in accounts and not _is_served(name, accounts)]
        return cls(
            account=account.name,
            promise=filter_.promise,
            cap=filter_.cap,
            spent=filter_.spent,
            remaining=filter_.remaining,
            entries=filter_.entries,
            last=None if last is None else currency.statement(last),
            more_like_last=None if account.last is None else _more(account.last, accounts),
            served=_is_served(account.name, accounts),
            above=tuple(accounts[name].filter.promise for name in above),
        )

    @property
    def words(self) -> str:
        """What all that the holder is given means to a person in the data, free answers included.

        It is told by the best of the promises that hold for that; nothing is told where none does.
        """
        held = self.above if self.served else (*self.above, self.promise)
        alike = [promise for promise in held if promise.neighbors == held[-1].neighbors]
        return in_words(min(alike, key=_right)) if alike else ""


def _above(name: str) -> list[str]:
    """The accounts of the lineage and the analyst that an account is within."""
    parts = name.split(SEPARATOR)
    return [SEPARATOR.join(parts[:length]) for length in range(1, len(parts))]


def _is_served(name: str, accounts: Mapping[str, Account]) -> bool:
    """Whether the holder of an account may be given what other accounts of its kind paid for.

    Stored answers serve every analyst, or every token of the one who asked, or nobody. Where nobody has decided yet,
    they may.
    """
    lineage, *holder = name.split(SEPARATOR)
    policy = accounts[lineage].reuse if lineage in accounts else "everyone"
    return len(holder) > {"everyone": 0, "own": 1}.get(policy, len(holder))


def _more(owed: Mapping[str, list[str]], accounts: Mapping[str, Account]) -> int:
    """How many charges like this one all accounts that pay for it can still pay."""
    found = []
    for name, texts in owed.items():
        pairs = zip(accounts[name].filter.tally.rest, spendable(tuple(texts)), strict=True)
        found += [math.floor(rest / amount) for rest, amount in pairs if amount]
    return min(found)


def in_words(promise: Guarantee) -> str:
    """A guarantee as odds: how sure somebody can become who was half sure before, or how often such a guess is right.

    Theorem: a guess which of two equally likely neighbours is there is right with probability at most (1 + t)/2, if
        their total variation is at most t: under (epsilon, delta)-DP that is (e^epsilon + delta)/(1 + e^epsilon), under
        mu-GDP the normal distribution at mu/2, and t <= sqrt(1 - e^-r) if the Kullback-Leibler divergence is at most
        r: rho in zCDP, the least bound in Renyi DP; in delta-approximate zCDP t is larger by delta. For pure
        epsilon the same number bounds what can be believed after any answer.
    Reference: Kairouz-Oh-Viswanath 2015; Dong-Roth-Su 2022; Bretagnolle-Huber 1979
    Proof: docs/theory/accounting/filters.md#in-words
    Checked-by: tests/ledger/test_budgets.py::test_words_hold_for_the_worst_pair,
        tests/ledger/test_budgets.py::test_words_of_other_kinds

    >>> in_words(PureDP(epsilon=1))
    'Whoever gives it 50 in 100 that your row is in the data can come to at most 73.2 in 100, whatever is asked.'
    """
    if promise.neighbors.size != 1:
        return ""
    chance = _rounded_up(100 * _right(promise))
    if isinstance(promise, PureDP):
        belief = f"can come to at most {chance} in 100, whatever is asked"
        return f"Whoever gives it 50 in 100 {_secret(promise.neighbors, 'that')} {belief}."
    guess = f"guesses right at most {chance} times in 100, whatever is asked"
    return f"Whoever guesses {_secret(promise.neighbors, 'whether')}, and would be right 50 times in 100, {guess}."


def _secret(neighbors: Neighbors, word: str) -> str:
    """What is not to be known."""
    row = neighbors.unit is None
    if neighbors.change == "add_remove":
        return f"{word} {'your row is' if row else 'you are'} in the data"
    return f"{word} it is the first of two versions of {'your row' if row else 'your rows'}"


def _right(promise: Guarantee) -> Fraction:
    """How likely a guess is right, at most."""
    exact, most = promise.parameters, Fraction(1)
    delta = exact.get("delta", Fraction(0))
    match promise:
        case PureDP() | ApproxDP() if exact["epsilon"] <= _LARGEST:
            odds = Enclosure.of(exact["epsilon"]).exp()
            return min(most, Fraction(((odds + delta) / (1 + odds)).upper))
        case GaussianDP() if exact["mu"] <= _LARGEST:
            return min(most, Fraction(normal_cdf(exact["mu"] / 2).upper))
        case ZCDP() | ApproxZCDP() if exact["rho"] <= _LARGEST:
            return _from_divergence(exact["rho"], delta)
        case RenyiDP():
            return _from_divergence(min(bound for _, bound in exact["bounds"]), delta)
    return most


def _from_divergence(divergence: Fraction, delta: Fraction) -> Fraction:
    if divergence > _LARGEST:
        return Fraction(1)
    apart = Fraction((1 - Enclosure.of(-divergence).exp()).nonnegative().sqrt().upper) + delta
    return min(Fraction(1), (1 + apart) / 2)


def _rounded_up(share: Fraction) -> str:
    """With one digit, or more where that would be all of 100."""
    digits = 1
    while digits < 12 and math.ceil(share * 10**digits) >= 100 * 10**digits:
        digits += 1
    shown = math.ceil(share * 10**digits)
    return f"{shown // 10**digits}.{shown % 10**digits:0{digits}}" if shown < 100 * 10**digits else "100"
