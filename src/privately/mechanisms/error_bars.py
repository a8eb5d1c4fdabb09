"""From laws to error bars, and back: how wide, and how much noise an error allows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privately.errors import InvalidParameter
from privately.laws import Law
from privately.noise.samplers import NARROWEST, WIDEST
from privately.rounding import Enclosure, Number, decimal_text, rational, whole

_DIGITS = 12


def read_confidence(confidence: Number) -> Fraction:
    """Above 0 and below 1."""
    certain = rational(confidence, "confidence", above=0)
    if certain >= 1:
        raise InvalidParameter("confidence", "must be below 1: no bound on noise is certain.")
    return certain


def miss_of(confidence: Number) -> Fraction:
    """1 - confidence: how likely a bound may fail."""
    return 1 - read_confidence(confidence)


def half_width(law: Law, confidence: Number, entries: int) -> int:
    """The least w such that all of so many independent draws lie within w of zero with this confidence.

    Theorem: n independent draws all lie within w with probability P(|X| <= w)^n, which is at least c exactly if
        P(|X| <= w) >= c^(1/n); and c^(1/n) <= 1 - (1-c)/n < 1.
    Reference: independence; Bernoulli's inequality
    Proof: docs/theory/mechanisms.md#error-bars
    Checked-by: tests/mechanisms/test_error_bars.py::test_half_widths_cover_as_stated_and_no_more
    """
    certain = read_confidence(confidence)
    count = whole(entries, "entries", maximum=2**62)
    if count == 1:
        return law.interval(certain)
    root = Fraction((Enclosure.of(certain).log() / count).exp().upper)
    return law.interval(min(root, 1 - (1 - certain) / count))


def most_noise(
    interval: Callable[[Fraction], Fraction],
    error: Number,
    *,
    lowest: Fraction = NARROWEST,
    highest: Fraction = WIDEST,
) -> Fraction:
    """The largest parameter of the noise, to twelve digits, whose interval is at most `error`."""
    allowed = rational(error, "error", minimum=0)
    return largest(lambda width: interval(width) <= allowed, lowest=lowest, highest=highest, field="error")


def largest(fits: Callable[[Fraction], bool], *, lowest: Fraction, highest: Fraction, field: str) -> Fraction:
    """The largest parameter of twelve digits that fits, if all smaller ones do too; by bisection."""
    if not fits(lowest):
        raise InvalidParameter(field, "cannot be met even with the least noise.")
    if fits(highest):
        return highest
    low, high = lowest, highest
    while high > low * (1 + Fraction(1, 10**_DIGITS)):
        middle = _between(low, high)
        if middle in {low, high}:
            break
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _between(low: Fraction, high: Fraction) -> Fraction:
    """About the geometric mean, in few digits."""
    middle = Enclosure.of(low * high).sqrt().lower
    return Fraction(decimal_text(Fraction(middle), _DIGITS + 2, "ROUND_FLOOR"))
