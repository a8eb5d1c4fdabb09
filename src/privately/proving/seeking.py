"""Verdicts on programs that are not finite: a witness against the claim is looked for, and what was found is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from privately.errors import InvalidParameter, NotSupported
from privately.proving.analysis import Question
from privately.proving.exact.claims import Claim
from privately.proving.exact.places import at
from privately.proving.exact.weights import Quotient, weight
from privately.proving.language.declarations import inside
from privately.proving.language.meaning import simple
from privately.proving.paths.exploring import NoOutput
from privately.proving.refuting.assuming import NoNeighbors
from privately.proving.refuting.refuting import BUDGET, refute
from privately.proving.refuting.refuting import SIZES as MANY_SIZES
from privately.proving.refuting.witnesses import Comparison, LowerBound
from privately.proving.verdicts import Refuted, Unknown, Verdict, Witness
from privately.rounding import Interval

DIGITS, SMALLEST = 64, 10_000
"""Bits of a probability that are shown, as long as it is not below 2 to the minus the second."""

MOST_NOTES = 3
UNIT = inside(0, 1)
"""Where a parameter without a domain lies."""


def longer_than(sizes: Iterable[int]) -> tuple[int, ...]:
    """The lengths that only a search looks at."""
    return tuple(one for one in MANY_SIZES if one > max(sizes))


def other_than(sizes: Container[int]) -> tuple[int, ...]:
    """The same, with lists without entries, which a program need not be made for."""
    return tuple(one for one in MANY_SIZES if one not in sizes)


def searched(asked: Question, claim: Claim, why: str, *, default_sizes: bool, budget: float = BUDGET) -> Verdict:
    """Refuted with a certified witness, or Unknown with the largest certified lower bound."""
    if asked.open_parameter is not None:
        asked, claim = _at_a_point(asked, claim, asked.open_parameter)
    model = asked.program.model
    sizes = MANY_SIZES if default_sizes else asked.sizes
    try:
        found = refute(asked.program, claim.epsilon, public=asked.public, sizes=sizes, budget=budget)
    except (NoOutput, NoNeighbors):
        raise
    except NotSupported as reason:
        return Unknown(claim=claim.text, lower=None, upper=None, why=f"{why} {reason.message}", model=model)
    if isinstance(found, LowerBound):
        why = why if found.epsilon.lower > 0 else " ".join([why, *found.notes[:MOST_NOTES]])
        return Unknown(claim=claim.text, lower=found.epsilon, upper=None, why=why, model=model)
    witness = Witness(
        inputs=found.inputs,
        neighbor=found.neighbor,
        event=str(found.event),
        probability=_short(found.probability),
        neighbor_probability=_short(found.neighbor_probability),
        epsilon=found.epsilon,
        replayed=partial(_replayed, found),
    )
    return Refuted(claim=claim.text, witness=witness, model=model)


def _replayed(found: Comparison, samples: int) -> tuple[int, int]:
    seen = found.replay(samples)
    return seen.count, seen.neighbor_count


def _at_a_point(asked: Question, claim: Claim, name: str) -> tuple[Question, Claim]:
    """A parameter that was left open is looked at for one value of its domain, which the claim then names."""
    domain = asked.open_domain or UNIT
    low, high = domain.lower, domain.upper
    point = (low + high) / 2 if low is not None and high is not None else (low or Fraction(0)) + 1
    try:
        factor = weight(at(claim.factor, point)) if isinstance(claim.factor, Quotient) else claim.factor
    except ZeroDivisionError:
        raise InvalidParameter("claim", f"{claim.text} has no value at {name} = {point}.") from None
    there = replace(claim, factor=factor, text=f"{claim.text} at {name} = {point}")
    return replace(asked, public={**asked.public, name: simple(point)}, open_domain=None), there


def _short(interval: Interval) -> Interval:
    """The interval with ends of few digits, rounded outwards: events far out in a tail have very long probabilities."""
    low, high = interval
    if isinstance(low, float) or isinstance(high, float):
        return interval
    return Interval(_rounded(low, math.floor), _rounded(high, math.ceil), method=interval.method)


def _rounded(end: Fraction | int, rounding: Callable[[Fraction], int]) -> Fraction:
    """The leading bits; below the smallest there are none."""
    size = end.numerator.bit_length() - end.denominator.bit_length()
    unit = 2 ** min(max(DIGITS - size, 0), SMALLEST)
    return Fraction(rounding(Fraction(end) * unit), unit)
