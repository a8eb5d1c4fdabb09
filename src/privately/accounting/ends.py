"""Several answers that are one: intervals around the same number, or around numbers whose largest is meant."""

from __future__ import annotations

from collections.abc import Iterable

from privately.rounding import Interval


def top_of(answers: list[Interval]) -> Interval:
    """The one with the largest upper end."""
    return max(answers, key=lambda answer: answer.upper)


def worst_of(answers: list[Interval]) -> Interval:
    """For whichever of these is the worst."""
    top = top_of(answers)
    return Interval(max(answer.lower for answer in answers), top.upper, method=top.method)


def least_of(answers: Iterable[Interval | None]) -> Interval:
    """The least upper end, and the largest lower one."""
    known = [answer for answer in answers if answer]
    best = min(known, key=lambda answer: answer.upper)
    return Interval(min(max(answer.lower for answer in known), best.upper), best.upper, method=best.method)


def between(below: Interval, above: Interval) -> Interval:
    """From one answer to the other."""
    return Interval(min(below.lower, above.upper), above.upper, method=f"upper: {above.method}; lower: {below.method}")


def both(one: Interval, other: Interval) -> Interval:
    """What both allow."""
    narrow = min((one, other), key=lambda answer: answer.width)
    return Interval(max(one.lower, other.lower), min(one.upper, other.upper), method=narrow.method)


def between_rounded(top: Interval, bottom: Interval) -> Interval:
    """The same for an event that was rounded to either side."""
    return Interval(min(bottom.lower, top.upper), top.upper, method=f"{top.method}, terms rounded")
