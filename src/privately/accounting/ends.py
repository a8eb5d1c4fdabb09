"""Several answers that are one: intervals around the same number, or around numbers whose largest is meant."""

from __future__ import annotations

from collections.abc import Iterable

from privately.errors import Contradiction
from privately.rounding import End, Interval

_DIGITS = 17


def proved(lower: End, upper: End, *, method: str) -> Interval:
    """Between two ends that were proved apart.

    If they contradict each other one of the proofs is wrong. Nobody can tell which, so there is no answer.
    """
    if lower > upper:
        raise Contradiction(
            lower=Interval(lower, lower).in_words(_DIGITS), upper=Interval(upper, upper).in_words(_DIGITS)
        )
    return Interval(lower, upper, method=method)


def top_of(answers: list[Interval]) -> Interval:
    """The one with the largest upper end."""
    return max(answers, key=lambda answer: answer.upper)


def lowest_of(answers: Iterable[Interval | None]) -> Interval:
    """The one with the least upper end; lower ends may be of other numbers."""
    return min(filter(None, answers), key=lambda answer: answer.upper)


def worst_of(answers: list[Interval]) -> Interval:
    """For whichever of these is the worst."""
    top = top_of(answers)
    return Interval(max(answer.lower for answer in answers), top.upper, method=top.method)


def least_of(answers: Iterable[Interval | None]) -> Interval:
    """The least upper end, and the largest lower one."""
    known = [answer for answer in answers if answer]
    best = min(known, key=lambda answer: answer.upper)
    return proved(max(answer.lower for answer in known), best.upper, method=best.method)


def between(below: Interval, above: Interval) -> Interval:
    """From one answer to the other."""
    return proved(below.lower, above.upper, method=f"upper: {above.method}; lower: {below.method}")


def both(one: Interval, other: Interval) -> Interval:
    """What both allow."""
    narrow = min((one, other), key=lambda answer: answer.width)
    return proved(max(one.lower, other.lower), min(one.upper, other.upper), method=narrow.method)


def between_rounded(top: Interval, bottom: Interval) -> Interval:
    """The same for an event that was rounded to either side."""
    return proved(bottom.lower, top.upper, method=f"{top.method}, terms rounded")
