"""How questions from a shell are refused: with the place in the text, and with options as they are typed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from privately.cli.sql import telling
from privately.errors import BudgetExhausted, InvalidParameter, PrivatelyError, Refused

if TYPE_CHECKING:
    from privately.query.batching import Options
    from privately.query.sessions import Session


@contextmanager
def refusals(*, as_json: bool) -> Iterator[None]:
    """For programs every error is JSON too, and hints speak of options."""
    try:
        yield
    except Placed as found:
        fault = _typed(found.fault)
        assert isinstance(fault, Refused)  # noqa: S101 - for the type checker
        if as_json:
            print(telling.failed(fault))
        print(telling.refusal(fault, found.question), file=sys.stderr)
        raise typer.Exit(2) from None
    except PrivatelyError as found:
        fault = _typed(found)
        if as_json:
            print(telling.failed(fault))
        raise fault from None


class Placed(Exception):
    """A refusal, and the question that it is a place of."""

    def __init__(self, fault: Refused, question: str) -> None:
        super().__init__(str(fault))
        self.fault, self.question = fault, question


@contextmanager
def placed(question: str) -> Iterator[None]:
    """A refusal knows which question it is about."""
    try:
        yield
    except Refused as fault:
        if fault.span is None:
            raise
        raise Placed(fault, question) from None


def each_priced(session: Session, questions: Sequence[tuple[str, Options]]) -> None:
    """Passes if each of several questions can be asked. Free, and touches no data."""
    for question, asked in questions:
        with placed(question):
            session.price(question, **asked)


def _typed(fault: PrivatelyError) -> PrivatelyError:
    """Hints speak of options, as they are typed here."""
    if isinstance(fault, Refused):
        return type(fault)(fault.message, hint=_options(fault.hint), span=fault.span)
    if isinstance(fault, BudgetExhausted):
        return BudgetExhausted(asked=fault.asked, left=fault.left, hint=_options(fault.hint))
    if isinstance(fault, InvalidParameter):
        return InvalidParameter(fault.field, fault.message.removeprefix(f"{fault.field}: "), hint=_options(fault.hint))
    return fault


def _options(hint: str) -> str:
    """The hint with options in place of arguments.

    >>> _options('List them, keys={"town": [...]}, or ask with delta=1e-6.')
    'List them, --keys town=A,B,C, or ask with --delta 1e-6.'
    """
    named = hint.replace("ApproxDP(epsilon=..., delta=...)", "--budget-epsilon with --budget-delta")
    listed = re.sub(r'keys=\{"([^"]*)": \[\.\.\.\]\}', r"--keys \1=A,B,C", named)
    return re.sub(r"\b(epsilon|rho|mu|delta|keys|assuming)=(\.\.\.)?", r"--\1 ", listed).replace("  ", " ")
