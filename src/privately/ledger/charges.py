"""Charges: what is to be run and what it costs, said before any data is touched."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

from privately.accounting import Batch, Event, decode, encode
from privately.accounting.encoding import KINDS as EVENTS
from privately.accounting.filters import Currency
from privately.accounting.filters.currencies import KINDS as GUARANTEES
from privately.accounting.filters.states import decoded, encoded
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee
from privately.ledger.book import key_of
from privately.ledger.entries import canonical, question_of, quoted, request_of
from privately.ledger.names import checked_name, checked_text

Cost: TypeAlias = Guarantee | Event | Batch

LONGEST_QUERY, LONGEST_COST, LONGEST_LABEL, MOST_LINEAGES = 10**6, 10**5, 10_000, 100
OWNER, _BLANK = "owner", ""
_COSTS = {*GUARANTEES.values(), *(kind for kind, _ in EVENTS.values()), Batch}


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One question: of which people, by whom, how it is written, and what its answer costs.

    `query` is the question in its one canonical form, with all that decides on the answer, noise included; `snapshot`
    says of which state of the data, in the owner's words or under the owner's key. Both must be public. `key` names
    the request: the same key with the same request is answered once. `named` tells whether a key was given; otherwise
    it is one that nobody has used. `label` is for people who read the history.

    >>> from privately.guarantees import PureDP
    >>> Charge(lineages=["visits"], query="count", cost=PureDP(epsilon="0.1")).lineages
    ('visits',)
    """

    lineages: tuple[str, ...]
    query: str
    cost: Cost
    snapshot: str = ""
    analyst: str = OWNER
    token: str | None = None
    key: str = ""
    label: str = ""
    named: bool = field(default=False, init=False, repr=False, compare=False)
    _body: str | None = field(default=None, init=False, repr=False, compare=False)

    def __init__(
        self,
        *,
        lineages: Iterable[str],
        query: str,
        cost: Cost,
        snapshot: str = _BLANK,
        analyst: str = OWNER,
        token: str | None = None,
        key: str | None = None,
        label: str = _BLANK,
    ) -> None:
        if type(cost) not in _COSTS:
            raise InvalidParameter("cost", "give a guarantee, an event of privately.accounting, or a Batch of events.")
        known = vars(self)  # in half the time of object.__setattr__; what is not said is as in the class
        known.clear()
        known["lineages"] = _listed(lineages)
        known["query"] = checked_text(query, "query", longest=LONGEST_QUERY)
        known["cost"] = cost
        known["analyst"] = checked_name(analyst, "analyst")
        if snapshot is not _BLANK:
            known["snapshot"] = checked_text(snapshot, "snapshot", longest=LONGEST_LABEL)
        if token is not None:
            known["token"] = checked_name(token, "token")
        if key is None:
            known["key"] = new_key()
        else:
            known["key"], known["named"] = checked_name(key, "key"), True
        if label is not _BLANK:
            known["label"] = checked_text(label, "label", longest=LONGEST_LABEL)

    @property
    def accounts(self) -> tuple[tuple[str, ...], ...]:
        """Of each lineage: its own account, that of the analyst, that of the token. The first must exist."""
        holders = [self.analyst] if self.token is None else [self.analyst, f"{self.analyst}/{self.token}"]
        return tuple((lineage, *(f"{lineage}/{holder}" for holder in holders)) for lineage in self.lineages)

    @property
    def filed(self) -> str:
        """The name under which it is found again."""
        return key_of(self.analyst, self.key)

    @property
    def body(self) -> str:
        """A hash of what is asked, and of which people: never of their data."""
        return self.hashed(self.beginning)

    @property
    def request(self) -> str:
        """A hash of all that is requested, which is equal for equal requests. The snapshot is no part of it."""
        return request_of(self.body, self.terms, self.token)

    def question(self, *, own: bool | None) -> str | None:
        """A hash of what decides whether a stored answer serves again: the query, the snapshot, the policy."""
        return question_of(self.body, self.snapshot, self.analyst, own=own)

    def hashed(self, beginning: str) -> str:
        """The body, where `beginning` is known."""
        if self._body is None:
            vars(self)["_body"] = sha256(f"{beginning}{quoted(self.query)}]".encode("ascii")).hexdigest()
        return self._body or ""

    @property
    def beginning(self) -> str:
        """What is hashed before the query, as JSON."""
        return f"[[{','.join(map(quoted, self.lineages))}],"

    @property
    def terms(self) -> str:
        """The cost as a text with one spelling."""
        return described_text(self.cost)


def _listed(lineages: Any) -> tuple[str, ...]:
    """The names of lineages in one order, each once."""
    if type(lineages) in (list, tuple) and len(lineages) == 1:
        return (checked_name(lineages[0], "lineages"),)
    if isinstance(lineages, str) or not isinstance(lineages, Iterable):
        raise InvalidParameter("lineages", 'give a list of names, such as ["visits"].')
    listed = tuple(sorted({checked_name(name, "lineages") for name in lineages}))
    if not 1 <= len(listed) <= MOST_LINEAGES:
        raise InvalidParameter("lineages", f"name between 1 and {MOST_LINEAGES}.")
    return listed


def new_key() -> str:
    """One that nobody has used. Those of one time begin alike, so that a store finds them in one place.

    It is made of a time, 64 random bits, and a number; many are made at once, and the last of them is given first.
    """
    try:
        return _keys.pop()
    except IndexError:
        start = f"{time.time_ns():016x}{os.urandom(8).hex()}"
        _keys.extend([start + number for number in _NUMBERS])
        return new_key()


_keys: list[str] = []  # asking the system for each lets other threads go first, one after the other
_NUMBERS = [f"{number:03x}" for number in reversed(range(512))]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keys.clear)


@lru_cache(maxsize=128)
def described(cost: Cost) -> dict[str, Any]:
    """A cost as JSON data that nobody may change: the event that is run, or the guarantee where there is none."""
    if isinstance(cost, Guarantee):
        return {"guarantee": encoded(cost)}
    if isinstance(cost, Batch):
        return {"event": encode(cost.event), "delta": None if cost.delta is None else str(cost.delta)}
    return {"event": encode(cost), "delta": None}


def described_text(cost: Cost) -> str:
    """The same as a text with one spelling. The very same cost is recognised without hashing its numbers."""
    known = _texts.get(id(cost))
    if known is not None and known[0] is cost:
        return known[1]
    if len(_texts) >= _MOST_TEXTS:
        _texts.clear()
    text = _described_text(cost)
    _texts[id(cost)] = cost, text
    return text


_texts: dict[int, tuple[Cost, str]] = {}
_MOST_TEXTS = 128


@lru_cache(maxsize=1024)
def _described_text(cost: Cost) -> str:
    text = canonical(described(cost)).decode("ascii")
    if len(text) > LONGEST_COST:
        hint = "Repeat equal events with Repeat, or charge what they cost together."
        raise InvalidParameter("cost", f"takes {len(text):,} characters; {LONGEST_COST:,} is the most.", hint=hint)
    return text


@lru_cache(maxsize=1024)
def amounts(cost: Cost, currency: Currency) -> tuple[str, ...]:
    """What a cost comes to in a currency, exactly, as texts; nothing is free.

    >>> from privately.guarantees import PureDP
    >>> amounts(PureDP(epsilon="0.1"), Currency(kind=PureDP))
    ('1/10',)
    """
    priced = currency.price(Batch(events=[cost]) if isinstance(cost, Event) else cost)
    if not any(priced):
        raise InvalidParameter("cost", "is zero: such an answer says nothing, or has no place in a ledger.")
    return tuple(str(amount) for amount in priced)


def repriced(cost: Mapping[str, Any], currency: Currency) -> tuple[Fraction, ...]:
    """What a recorded cost comes to in a currency by the rules of today, which may be tighter than they were."""
    return _repriced(canonical(cost), currency)


@lru_cache(maxsize=1024)
def _repriced(text: bytes, currency: Currency) -> tuple[Fraction, ...]:
    data = json.loads(text)
    if "guarantee" in data:
        return currency.price(decoded(data["guarantee"], "cost"))
    return currency.price(Batch(events=[decode(data["event"])], delta=data["delta"]))
