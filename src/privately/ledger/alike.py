"""Terms that differ in their numbers alone, such as charges each at an epsilon of its own.

They are added up without reading each of them as JSON: the text between the numbers is read once, and says where the
numbers of the cost stand and that every account pays just these, in its own currency.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from privately.accounting.filters import Currency
from privately.accounting.filters.states import decoded_neighbors, encoded_neighbors, kind_named
from privately.errors import LedgerCorrupt
from privately.guarantees import GaussianDP, Neighbors
from privately.ledger.entries import Charged
from privately.ledger.state import WRONG, Account

_WHOLE = rb"[1-9][0-9]{0,99}"
_NUMBER = re.compile(rb'"(%b(?:/%b)?)"(?=[],}])' % (_WHOLE, _WHOLE)).split
_USUAL = 20
_PLACE = "#"  # the name of what stands for a number, where a text uses it for nothing else

Payers = tuple[bytes, bytes | None, bytes]
"""An analyst, a token, and whom the answers to charges serve again, as it is written."""

Match = Callable[[bytes], re.Match[bytes] | None]
Column = dict[int, int]
"""A sum of fractions: for each denominator, the sum of the numerators."""


class Place(NamedTuple):
    """Where a number stands: so many numbers come before it."""

    before: int


class Summed(NamedTuple):
    """Charges on terms that are one text but for the numbers: their sums by place, how many, and the last of them."""

    between: tuple[bytes, ...]
    sums: list[tuple[int, list[tuple[int, int]]]]
    charges: int
    last: int
    terms: bytes
    groups: list[tuple[Payers, list[int]]]


class Alike:
    """Charges on terms that are one text but for the numbers. Every account pays the numbers of the cost."""

    def __init__(
        self, between: tuple[bytes, ...], accounts: Mapping[str, list[Place | str]], cost: tuple[Place | str, ...]
    ) -> None:
        paid = [pair for amounts in accounts.values() for pair in zip(amounts, cost, strict=True)]
        if any(type(mine) not in (Place, str) or (mine != theirs and type(mine) is str) for mine, theirs in paid):
            raise ValueError
        if any(type(mine) is not type(theirs) for mine, theirs in paid):
            raise ValueError
        self._between, self.names = between, tuple(accounts)
        self._same = [
            (mine.before, theirs.before)
            for mine, theirs in paid
            if isinstance(mine, Place) and isinstance(theirs, Place)
        ]
        self._places = [one.before if isinstance(one, Place) else None for one in cost]
        self._fixed = [Fraction(0) if isinstance(one, Place) else Fraction(one) for one in cost]
        self._sums: dict[int, dict[bytes, int]] = {place: {} for place in self._places if place is not None}
        self._match: Match | None = None
        self._summing: list[tuple[int, int, dict[bytes, int]]] = []
        self.count, self.last, self.terms = 0, 0, b""
        self.groups: dict[Payers, list[int]] = {}
        if not self._sums or any(amount < 0 for amount in self._fixed):
            raise ValueError

    def add(self, numbers: list[bytes], payers: Payers, first: bytes, number: int) -> bool:
        """Goes on by a charge, unless somebody pays something else than the cost."""
        for mine, theirs in self._same:
            if numbers[mine] != numbers[theirs]:
                return False
        for place, column in self._sums.items():
            above, _, below = numbers[place].partition(b"/")
            column[below] = column.get(below, 0) + int(above)
        self.count, self.last, self.terms = self.count + 1, number, first
        counted(self.groups, payers, number)
        return True

    def add_if_alike(self, first: bytes, payers: Payers, number: int) -> bool:
        """The same for terms that may be others, sooner; where nothing is known of such terms yet, False."""
        if self._match is None:
            if self.count < _USUAL:
                return False
            self._recognise()
        found = self._match and self._match(first)
        if not found:
            return False
        for at, after, column in self._summing:
            above, below = found.group(at, after)
            column[below or b""] = column.get(below or b"", 0) + int(above)
        self.count, self.last, self.terms = self.count + 1, number, first
        counted(self.groups, payers, number)
        return True

    def _recognise(self) -> None:
        """From now on such terms are recognised as a whole, and that equal numbers are equal."""
        equal: dict[int, list[int]] = {}
        for mine, theirs in self._same:
            equal.setdefault(theirs, [theirs]).append(mine)
        first = {place: min(listed) for listed in equal.values() for place in listed}
        pattern = _pattern(self._between, tuple(first.get(place, place) for place in range(len(self._between) - 1)))
        self._match, named = pattern.fullmatch, pattern.groupindex
        for place, column in self._sums.items():
            self._summing.append((named[f"a{first.get(place, place)}"], named[f"b{first.get(place, place)}"], column))

    def summed(self) -> Summed:
        """All of them, for whoever goes on from there."""
        sums = [(place, list(_column(column).items())) for place, column in self._sums.items()]
        return Summed(self._between, sums, self.count, self.last, self.terms, list(self.groups.items()))

    def take(self, summed: Summed) -> None:
        """Goes on by charges on such terms that were summed elsewhere, after these."""
        if [place for place, _ in summed.sums] != list(self._sums):
            raise LedgerCorrupt("charges were summed that are not alike.")
        for place, listed in summed.sums:
            column = self._sums[place]
            for denominator, above in listed:
                below = b"%d" % denominator
                column[below] = column.get(below, 0) + above
        self.count, self.last, self.terms = self.count + summed.charges, summed.last, summed.terms
        for payers, (count, first, last) in summed.groups:
            known = self.groups.setdefault(payers, [0, first, last])
            known[0] += count
            known[2] = last

    def columns(self) -> list[Column]:
        """What each account pays for all of them."""
        return [
            {fixed.denominator: fixed.numerator * self.count} if place is None else _column(self._sums[place])
            for place, fixed in zip(self._places, self._fixed, strict=True)
        ]


def _column(sums: Mapping[bytes, int]) -> Column:
    """By the denominators themselves; a number that is whole may be written without one."""
    found: Column = {}
    for below, above in sums.items():
        denominator = int(below or 1)
        found[denominator] = found.get(denominator, 0) + above
    return found


@lru_cache(maxsize=64)
def _pattern(between: tuple[bytes, ...], first: tuple[int, ...]) -> re.Pattern[bytes]:
    """Recognises terms by what stands between their numbers; `first` is the first place with the same number.

    It finds the numbers that `taken_apart` does: none of them begins or ends within what stands between them, as none
    did in the terms that this is from.
    """
    text = re.escape(between[0])
    for place, part in enumerate(between[1:]):
        number = b"(?P<n%d>(?P<a%d>%b)(?:/(?P<b%d>%b))?)" % (place, place, _WHOLE, place, _WHOLE)
        if first[place] != place:
            number = b"(?P=n%d)" % first[place]
        text += b'"%b"%b' % (number, re.escape(part))
    return re.compile(text)


def counted(groups: dict[Any, list[int]], group: Any, number: int) -> None:
    """One more charge of a group: how many, the first and the last record."""
    known = groups.get(group)
    if known is None:
        groups[group] = [1, number, number]
    else:
        known[0] += 1
        known[2] = number


def taken_apart(first: bytes) -> tuple[tuple[bytes, ...], list[bytes]]:
    """What stands between the numbers of terms, and the numbers."""
    parts = _NUMBER(first)
    return tuple(parts[::2]), parts[1::2]


def alike(between: tuple[bytes, ...], accounts: Mapping[str, Account] | None) -> Alike | None:
    """Nothing spent yet on terms with this text between their numbers; None if they must be read one by one.

    Where the accounts are not known, each is taken to count in the kind of the cost: it does if this gives the same
    once they are known, and otherwise None.
    """
    try:
        terms = _form(between)
        currencies = (
            [_own(terms["cost"])] if accounts is None else [_currency(accounts[name]) for name in terms["accounts"]]
        )
        return Alike(between, terms["accounts"], *{plainly(terms["cost"], one) for one in currencies})  # type: ignore[arg-type] # None, or several, are no cost
    except WRONG:
        return None


def _currency(account: Account) -> Currency:
    return account.filter.tally.currency


def _own(cost: Mapping[str, Any]) -> Currency:
    """That of the cost itself."""
    found = cost["guarantee"]
    return Currency(kind=kind_named(found["kind"], "cost"), neighbors=decoded_neighbors(found["neighbors"], "cost"))


@lru_cache(maxsize=64)
def _form(between: tuple[bytes, ...]) -> dict[str, Any]:
    """Terms with places for numbers."""
    if f'"{_PLACE}"'.encode("ascii") in b"".join(between):
        raise ValueError
    text = between[0]
    for number, part in enumerate(between[1:]):
        text += b'{"%b":%d}%b' % (_PLACE.encode("ascii"), number, part)
    terms: dict[str, Any] = json.loads(text, object_hook=_placed)
    if terms.pop("what") != Charged.what or terms.keys() != {"accounts", "cost"}:
        raise ValueError
    return terms


def _placed(data: dict[str, Any]) -> Any:
    return Place(data[_PLACE]) if _PLACE in data else data


def plainly(cost: Mapping[str, Any], currency: Currency) -> tuple[Any, ...] | None:
    """The numbers of a guarantee that is written in the currency itself, which is what it costs."""
    found = cost.get("guarantee")
    if found is None or found["kind"] != currency.kind.__name__ or currency.kind is GaussianDP or currency.orders:
        return None
    same = found["neighbors"] == _written(currency.neighbors)
    return tuple(found[str(name)] for name in currency.names) if same else None


@lru_cache(maxsize=64)
def _written(neighbors: Neighbors) -> dict[str, Any]:
    return encoded_neighbors(neighbors)
