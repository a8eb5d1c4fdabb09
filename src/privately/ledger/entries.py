"""What a ledger records: nine kinds of entries, as JSON texts that are chained by their hashes.

Entries are only ever added. Nothing in them is a hash of data without a key, and no cost is a float. A text has two
lines: the terms, which many entries have in common and which are read once for all of them, and the particulars. Of a
charge, the terms may be the name of an earlier record that says them (`privately.ledger.terms`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, NamedTuple, TypeAlias

from privately.errors import LedgerCorrupt

VERSION = 3
"""Changes with the meaning of what is recorded. A new kind of entry needs no other: who does not know it charges
nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """The first entry: which ledger this is."""

    what: ClassVar[str] = "founded"
    ledger: str
    version: int = VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An account, with the filter that decides on its charges from now on.

    It begins with what its holder has spent before; `last` is what the last of these charges cost every account.
    """

    what: ClassVar[str] = "opened"
    account: str
    filter: Mapping[str, Any]
    reuse: str
    last: Mapping[str, list[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A question that may be run: what it is, and what each account pays, exactly.

    `cost` holds the event, or the guarantee, that was priced. `body` stands for what was asked of whom. Its answer may
    serve again: everyone, only whoever asked if that is their `own`, or nobody (None). `before` is the charge for the
    same key that was thought lost when this one was made.
    """

    what: ClassVar[str] = "charged"
    accounts: Mapping[str, list[str]]
    analyst: str
    token: str | None
    cost: Mapping[str, Any]
    key: str
    before: int | None
    body: str
    own: bool | None
    snapshot: str
    label: str

    @property
    def request(self) -> str:
        """Stands for all that was asked."""
        return request_of(self.body, canonical(self.cost).decode("ascii"), self.token)

    @property
    def question(self) -> str | None:
        """Stands for what decides whether its answer may serve again."""
        return question_of(self.body, self.snapshot, self.analyst, own=self.own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """The answer to a charge was stored; its bytes are kept beside the records."""

    what: ClassVar[str] = "released"
    charge: int
    hash: str
    size: int
    question: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A request was given, free, the stored answer to an earlier charge of the same question. Its key is used up."""

    what: ClassVar[str] = "served"
    analyst: str
    key: str
    request: str
    charge: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """The owner gave an account another cap. What was spent stays spent."""

    what: ClassVar[str] = "adjusted"
    account: str
    filter: Mapping[str, Any]
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A table, the lineages whose people it holds, and a sketch of them under the owner's key.

    `key` tells two keys of owners apart, and nothing else.
    """

    what: ClassVar[str] = "registered"
    table: str
    lineages: list[str]
    sketch: str | None
    key: str | None
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSet:
    """The owner accepts a clock that is behind earlier entries."""

    what: ClassVar[str] = "clock set"
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """All that the entries before this one amount to, so that opening need not read them again."""

    what: ClassVar[str] = "checkpoint"
    state: Mapping[str, Any]


Entry: TypeAlias = Founded | Opened | Charged | Released | Served | Adjusted | Registered | ClockSet | Checkpoint
KINDS: dict[str, type[Entry]] = {
    kind.what: kind for kind in (Founded, Opened, Charged, Released, Served, Adjusted, Registered, ClockSet, Checkpoint)
}
_TERMS: dict[type[Entry], tuple[str, ...]] = {Charged: ("accounts", "cost")}
PARTICULARS: dict[type[Entry], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name not in _TERMS.get(kind, ()))
    for kind in KINDS.values()
}


def _is_listed(value: object) -> bool:
    return isinstance(value, list) and all(type(one) is str for one in value)


_FITS: dict[str, Callable[[object], bool]] = {
    "str": lambda value: type(value) is str,
    "str | None": lambda value: value is None or type(value) is str,
    "int": lambda value: type(value) is int,
    "bool | None": lambda value: value is None or type(value) is bool,
    "int | None": lambda value: value is None or type(value) is int,
    "list[str]": _is_listed,
    "Mapping[str, Any]": lambda value: isinstance(value, Mapping),
    "Mapping[str, list[str]]": lambda value: isinstance(value, Mapping) and all(map(_is_listed, value.values())),
    "Mapping[str, list[str]] | None": lambda value: (
        value is None or (isinstance(value, Mapping) and all(map(_is_listed, value.values())))
    ),
}
_FITTING = {kind: [(field.name, _FITS[str(field.type)]) for field in fields(kind)] for kind in KINDS.values()}
"""What the members of each kind of entry are. Whoever edits a file may write anything."""

_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"


def _is_time(value: object) -> bool:
    return type(value) is str and re.fullmatch(_TIME, value) is not None


def written(entry: Entry, time: str) -> bytes:
    """The text of an entry: keys sorted, ASCII, so that equal entries are equal bytes."""
    kind = type(entry)
    terms = {name: getattr(entry, name) for name in _TERMS.get(kind, ())}
    particulars = {name: getattr(entry, name) for name in PARTICULARS[kind]}
    return canonical({"what": entry.what, **terms}) + b"\n" + canonical({"time": time, **particulars})


def terms(accounts: Mapping[str, list[str]], cost: Mapping[str, Any]) -> bytes:
    """The first line of the text of a charge."""
    return canonical({"what": Charged.what, "accounts": accounts, "cost": cost})


class ChargeLine(NamedTuple):
    """The particulars of a charge, as they are written: sorted by name."""

    analyst: str
    before: str | None
    body: str
    key: str
    label: str
    own: str
    snapshot: str
    time: str
    token: str | None

    def written(self) -> bytes:
        """The second line of its text: what `written` writes, at a tenth of the cost."""
        before = "null" if self.before is None else self.before
        start = (
            f'{{"analyst":{quoted(self.analyst)},"before":{before},"body":{quoted(self.body)},"key":{quoted(self.key)},'
            f'"label":{quoted(self.label)},"own":{self.own},"snapshot":{quoted(self.snapshot)},"time":"{self.time}'
        )
        return start.encode("ascii") + charge_end(self.token)

    @property
    def question(self) -> str | None:
        """As that of Charged."""
        return question_of(self.body, self.snapshot, self.analyst, own=_OWN[self.own])


BLANK = '""'
"""The empty text as JSON."""

OWN = {True: "true", False: "false", None: "null"}
"""Whom an answer serves again, as JSON: whoever asked, everyone, nobody."""

_OWN = {text: own for own, text in OWN.items()}


def question_of(body: str, snapshot: str, analyst: str, *, own: bool | None) -> str | None:
    """What decides whether a stored answer serves: the body by itself, unless there is a snapshot or it is `own`."""
    if own is None:
        return None
    if not own and not snapshot:
        return body
    return sha256(canonical([body, snapshot, analyst if own else None])).hexdigest()


def request_of(body: str, cost: str, token: str | None) -> str:
    """All that is asked under a key, of which this is the cost as JSON."""
    asked = f"[{quoted(body)},{cost},{'null' if token is None else quoted(token)}]"
    return sha256(asked.encode("ascii")).hexdigest()


def charge_front(analyst: str) -> str:
    """How the second line of a charge begins that was not made before, up to its body."""
    return f'\n{{"analyst":{quoted(analyst)},"before":null,"body":"'


def charge_start(front: str, key: str, label: str, own: str, snapshot: str) -> bytes:
    """The second line up to the time. `front` ends with the body, a hash, which needs no quoting."""
    return (
        f'{front}","key":{quoted(key)},"label":{quoted(label) if label else BLANK},"own":{own},'
        f'"snapshot":{quoted(snapshot) if snapshot else BLANK},"time":"'
    ).encode("ascii")


def charge_end(token: str | None) -> bytes:
    """The text after the time."""
    return b'","token":null}' if token is None else f'","token":{quoted(token)}}}'.encode("ascii")


class ReleaseLine(NamedTuple):
    """The particulars of an answer, as they are written."""

    charge: str
    hash: str
    question: str | None
    size: str
    time: str


def charge_line(second: bytes) -> ChargeLine:
    """The particulars of a charge, from the second line of its text; LedgerCorrupt if it was written differently."""
    text = str(second, "ascii", "replace")
    found = _CHARGE_LINE(text)
    return ChargeLine._make(_members(text, ChargeLine, {"before"}) if found is None else found.groups())


def release_members(second: bytes) -> tuple[Any, ...]:
    """The particulars of an answer, as in ReleaseLine."""
    text = str(second, "ascii", "replace")
    found = _RELEASE_LINE(text)
    return found.groups() if found is not None else _members(text, ReleaseLine, {"charge", "size"})


_PLAIN = r"[ !#-\[\]-~]*"  # what JSON writes as it is
_TEXT, _MAYBE, _NUMBER = f'"({_PLAIN})"', f'(?:null|"({_PLAIN})")', "(0|[1-9][0-9]{0,17})"
_CHARGE_LINE = re.compile(
    f'{{"analyst":{_TEXT},"before":(?:null|{_NUMBER}),"body":{_TEXT},"key":{_TEXT},"label":{_TEXT},'
    f'"own":(true|false|null),"snapshot":{_TEXT},"time":"({_TIME})","token":{_MAYBE}}}'
).fullmatch
_RELEASE_LINE = re.compile(
    f'{{"charge":{_NUMBER},"hash":{_TEXT},"question":{_MAYBE},"size":{_NUMBER},"time":"({_TIME})"}}'
).fullmatch
_OPTIONAL = {"before", "question", "token"}


def _members(text: str, line: type[ChargeLine | ReleaseLine], numbers: set[str]) -> tuple[Any, ...]:
    """Texts with other than plain characters, read in the usual way: one value for each name, in one spelling."""
    try:
        found = json.loads(text)
        members = [_member(name, found[name], number=name in numbers) for name in line._fields]
        one_spelling = canonical(found).decode("ascii") == text and len(found) == len(members)
        one_spelling = one_spelling and _is_time(found["time"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        one_spelling, members = False, []
    if not one_spelling:
        raise LedgerCorrupt("a record cannot be read.")
    return tuple(members)


def _member(name: str, value: object, *, number: bool) -> str | None:
    if name == "own" and (value is None or type(value) is bool):
        return OWN[value]
    if name == "own":
        raise ValueError
    if (value is None and name in _OPTIONAL) or (type(value) is str and not number):
        return value
    if type(value) is not int or not number:
        raise ValueError
    return str(value)


def read(text: bytes) -> tuple[Entry, str]:
    """The entry with this text, and its time. Whoever gets it may change it: nothing of it is kept elsewhere."""
    try:
        first, second = text.split(b"\n")
        kind, terms = _terms(first)
        particulars = json.loads(second)
        time = particulars.pop("time")
        entry = kind(**terms, **particulars)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LedgerCorrupt("a record cannot be read.") from None
    if not _is_time(time) or not all(fits(getattr(entry, name)) for name, fits in _FITTING[kind]):
        raise LedgerCorrupt("a record holds what is no time, or another kind of value than it should.")
    return entry, time


def kind_of(first: bytes) -> type[Entry]:
    """What kind of entry the first line begins."""
    if first == _RELEASED:
        return Released
    if first.endswith(CHARGED_END):  # whether it is one to its end shows where its bill is read
        return Charged
    try:
        return terms_of(first)[0]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LedgerCorrupt("a record cannot be read.") from None


_RELEASED, CHARGED_END = b'{"what":"released"}', b',"what":"charged"}'
MOST_TERMS = 16_384
"""So many terms are remembered: more than there are records between two checkpoints."""
LONGEST_REMEMBERED = 4_096
"""None that are longer: whoever chooses costs does not choose how much memory they take."""


def terms_of(first: bytes) -> tuple[type[Entry], dict[str, Any]]:
    """What kind of entry the first line begins, and the terms in it, which nobody may change."""
    return _remembered(first) if len(first) <= LONGEST_REMEMBERED else _terms(first)


@lru_cache(maxsize=MOST_TERMS)
def _remembered(first: bytes) -> tuple[type[Entry], dict[str, Any]]:
    return _terms(first)


def _terms(first: bytes) -> tuple[type[Entry], dict[str, Any]]:
    terms = json.loads(first)
    if canonical(terms) != first:
        raise LedgerCorrupt("a record is written as no other is.")
    kind = KINDS[terms.pop("what")]
    if terms.keys() != set(_TERMS.get(kind, ())):
        raise LedgerCorrupt(f"a record of the kind {kind.what!r} has other terms than it should.")
    if not all(fits(terms[name]) for name, fits in _FITTING[kind] if name in terms):
        raise LedgerCorrupt(f"the terms of a record of the kind {kind.what!r} hold another kind of value.")
    return kind, terms


def chained(previous: bytes, text: bytes) -> bytes:
    """The hash of a record: of the hash before it and its own text, so that it stands for all records up to it."""
    return sha256(previous + text).digest()


quoted = json.encoder.encode_basestring_ascii
"""A text as JSON."""

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(data: object) -> bytes:
    """JSON with one spelling for each value."""
    return _encode(data).encode("ascii")
