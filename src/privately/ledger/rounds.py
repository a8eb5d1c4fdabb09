"""All acts of one turn, in the order in which they were asked for; new charges that follow one another at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile
from typing import Any, Protocol, TypeAlias, TypeVar

from privately.errors import LedgerCorrupt, LedgerUnavailable, PrivatelyError
from privately.ledger.acts import MakeCharge, Receipt, StoreAnswer
from privately.ledger.book import Book, Quote
from privately.ledger.desks import Answerable
from privately.ledger.storing import Owed, owed

Result_co = TypeVar("Result_co", covariant=True)


class Act(Protocol[Result_co]):
    """Looks at the book, decides, and appends what it decided; an error means that it appended nothing."""

    def __call__(self, book: Book, /) -> Result_co: ...


Asked: TypeAlias = tuple[Act[Any], Answerable]
Outcome: TypeAlias = tuple[Answerable, Any, Exception | None]

_MISTAKES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


def perform(book: Book, acts: Sequence[Asked]) -> list[Outcome]:
    """What each act comes to: its result, or its refusal. Whatever else is raised undoes the turn."""
    offers = book.state.offers
    quotes = [
        act.quote
        if type(act) is MakeCharge and act.quote is not None and act.quote.offers is offers
        else _quote(act, book)
        for act, _ in acts
    ]
    known = [quote for quote in quotes if quote is not None]
    questions = [quote.question for quote in known if quote.question is not None]
    book.expect(keys=[quote.key for quote in known], questions=questions)
    found: list[Outcome] = []
    while len(found) < len(acts):
        answers = list(takewhile(lambda asked: type(asked[0]) is StoreAnswer, acts[len(found) :]))
        if answers:
            found += _stored(book, answers)
            continue
        new = _new_charges(book, quotes, len(found))
        listed = acts[len(found) : len(found) + max(len(new), 1)]
        heads = _charged(book, new) if new else None
        if heads is None:
            found += [(future, *_outcome(act, book)) for act, future in listed]
        else:
            found += [
                (future, tuple.__new__(Receipt, (act.charge, head, None)), None)  # type: ignore[attr-defined]
                for (act, future), head in zip(listed, heads, strict=True)
            ]
    return found


def _stored(book: Book, acts: Sequence[Asked]) -> list[Outcome]:
    """Answers that follow one another are stored together where nothing stands in the way."""
    found: list[Outcome] = []
    several = _owed(book, acts) if len(acts) > 1 else [None]
    for usual, pairs in groupby(zip(acts, several, strict=True), key=lambda pair: pair[1] is not None):
        listed = list(pairs)
        if usual and _answered(book, [one for _, one in listed if one is not None]):
            found += [(future, act.answer, None) for (act, future), _ in listed]  # type: ignore[attr-defined]
        else:
            found += [(future, *_outcome(act, book)) for (act, future), _ in listed]
    return found


def _owed(book: Book, acts: Sequence[Asked]) -> Sequence[Owed | None]:
    try:
        return owed(book, [act for act, _ in acts])  # type: ignore[misc]
    except _MISTAKES:
        return [None] * len(acts)  # one of them makes no sense, and is told so


def _answered(book: Book, several: Sequence[Owed]) -> bool:
    try:
        book.answer_together(several)
    except LedgerUnavailable:
        return False  # a clock that is behind: everybody is told
    return True


def _quote(act: Act[Any], book: Book) -> Quote | None:
    """What would be recorded of a charge. An act that is none, or that is refused, is looked at when it comes."""
    if type(act) is not MakeCharge:
        return None
    try:
        return act.quoted(book.state)
    except (PrivatelyError, *_MISTAKES):
        return None


def _new_charges(book: Book, quotes: Sequence[Quote | None], start: int) -> list[Quote]:
    """The charges from here on of which it is known that they are new, and who pays for them."""
    found = []
    offers = book.state.offers
    for at in range(start, len(quotes)):
        quote = quotes[at]
        if quote is None or quote.offers is not offers or not book.take(quote):
            break
        found.append(quote)
    return found


def _charged(book: Book, quotes: Sequence[Quote]) -> Sequence[Any] | None:
    try:
        return book.charge_together(quotes)
    except LedgerUnavailable:
        return None  # a clock that is behind: everybody is told


def _outcome(act: Act[Any], book: Book) -> tuple[Any, Exception | None]:
    """What an act comes to. Its own mistakes are its own, as long as it has written nothing."""
    before = book.state.head
    try:
        return act(book), None
    except LedgerCorrupt:
        raise
    except (PrivatelyError, *_MISTAKES) as refusal:
        if book.state.head != before:
            raise
        return None, refusal
