"""Constants as they are written."""

from __future__ import annotations

import math

from privately.errors import NotSupported
from privately.plans import Constant, Type, call, constant
from privately.plans.columns import LONGEST_TEXT
from privately.plans.meaning import evaluate
from privately.plans.types import LARGEST_INTEGER

_DATES = "Write a day as '2026-01-31' and a time as '2026-01-31 12:00:00'."


def read_number(text: str) -> Constant:
    """A whole number if it is written as one; else the double that is nearest."""
    if text.isascii() and text.isdecimal():
        value = int(text) if len(text) < 20 else LARGEST_INTEGER
        if value >= LARGEST_INTEGER:
            raise NotSupported("a whole number of 2^62 or more.", hint="Write it with a point, as a real number.")
        return constant(value)
    try:
        real = float(text) if len(text) <= LONGEST_TEXT and text.isascii() and "_" not in text else math.nan
    except ValueError:
        real = math.nan
    if not math.isfinite(real):
        raise NotSupported("this is no number.", hint="Write one below 1e308 with up to 17 digits.")
    return constant(real)


def read_text(text: str) -> Constant:
    """A text of no more than the longest that a column may hold."""
    if len(text) > LONGEST_TEXT:
        raise NotSupported("a constant text that is too long.", hint=f"Write at most {LONGEST_TEXT:,} characters.")
    return constant(text)


def read_instant(text: str, type_: Type | None) -> Constant:
    """A date or timestamp that was written as a text; of whichever type fits, if none is wanted."""
    for function in {Type.DATE: ["to_date"], Type.TIMESTAMP: ["to_timestamp"], None: ["to_date", "to_timestamp"]}[
        type_
    ]:
        value = evaluate(call(function, constant(text)), {})
        if value is not None:
            return constant(value)
    raise NotSupported("this is no date and no time.", hint=_DATES)
