"""Sums of randomized responses: the worst case of composing (epsilon, delta) guarantees, on a lattice.

h  lattice unit        m  multiple: a loss of m h or -m h        S  total loss, in units of h

Only the upper half of the work is rounded up and the part subtracted from it rounded down, so that delta is never
too small. Proof: docs/theory/composition.md#optimal-composition.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from privately.errors import InvalidParameter
from privately.rounding import Enclosure
from privately.rounding.enclosure import DOWN, UP

MAX_STEPS = 200_000
"""The largest sum of count times multiple that a certificate may ask a checker to add up."""

MAX_WORK = 4_000_000
_FINEST = 20_000


def lattice(losses: Sequence[Fraction], counts: Sequence[int]) -> tuple[Fraction, list[int]]:
    """A unit h and multiples m with m h >= loss; exact when the losses have a common divisor that is not too fine."""
    unit = _common_divisor(losses)
    if unit == 0:
        return Fraction(1), [0] * len(losses)
    steps = _FINEST
    while True:
        multiples = [math.ceil(loss / unit) for loss in losses]
        if _affordable(multiples, counts):
            return unit, multiples
        if steps < sum(counts):
            raise InvalidParameter(
                "premises", "too many to compose optimally.", hint="Use advanced_composition, or fewer distinct losses."
            )
        total = sum(count * loss for loss, count in zip(losses, counts, strict=True))
        unit, steps = _short(Fraction(total) / steps), steps // 2


def solve(unit: Fraction, multiples: Sequence[int], counts: Sequence[int], delta: Fraction) -> Enclosure:
    """An upper bound of the least epsilon >= 0 with E[(1 - e^(epsilon - S h))_+] <= delta, as a degenerate enclosure.

    Between two lattice points the expectation is A - e^epsilon B with fixed A and B, so epsilon has a closed form.
    """
    above = _masses(unit, multiples, counts)
    total = len(above) - 1
    if delta == 0:
        return Enclosure.of(total * unit)
    goal = Enclosure.of(delta).lower
    mass, discounted = Decimal(0), Decimal(0)
    for place in range(total, -total - 2, -2):
        point = max(place, 0)
        epsilon_there = Enclosure.of(point * unit)
        at_point = UP.subtract(mass, DOWN.multiply(epsilon_there.exp().lower, discounted))
        if at_point > goal:
            return _within_segment(mass, discounted, goal)
        if place <= 0:
            return Enclosure.of(0)
        mass = UP.add(mass, above[(place + total) // 2].upper)
        discounted = DOWN.add(discounted, above[(total - place) // 2].lower)
    raise AssertionError("the expectation is at most 1")


def _within_segment(mass: Decimal, discounted: Decimal, goal: Decimal) -> Enclosure:
    ratio = UP.divide(UP.subtract(mass, goal), discounted)
    bound = Enclosure(ratio, ratio).log().upper
    return Enclosure(bound, bound).nonnegative()


def _masses(unit: Fraction, multiples: Sequence[int], counts: Sequence[int]) -> list[Enclosure]:
    """P(S = 2 i - n) for i = 0..n, where n is the sum of count times multiple."""
    grouped: Counter[int] = Counter()
    for multiple, count in zip(multiples, counts, strict=True):
        if multiple:
            grouped[multiple] += count
    result = [Enclosure.of(1)]
    for multiple, count in sorted(grouped.items()):
        result = _convolve(result, _binomial(count, unit * multiple), multiple)
    return result


def _convolve(first: list[Enclosure], second: list[Enclosure], stride: int) -> list[Enclosure]:
    lower = [Decimal(0)] * (len(first) + stride * (len(second) - 1))
    upper = list(lower)
    for i, weight in enumerate(second):
        for j, mass in enumerate(first, start=i * stride):
            if mass.upper:
                lower[j] = DOWN.add(lower[j], DOWN.multiply(mass.lower, weight.lower))
                upper[j] = UP.add(upper[j], UP.multiply(mass.upper, weight.upper))
    return [Enclosure(low, high) for low, high in zip(lower, upper, strict=True)]


def _binomial(count: int, loss: Fraction) -> list[Enclosure]:
    """P(i of `count` responses are truthful), each truthful with probability 1/(1 + e^-loss)."""
    odds = Enclosure.of(loss).exp()
    masses = [1 / (1 + odds) ** count]
    for i in range(count):
        masses.append(masses[-1] * odds * (count - i) / (i + 1))
    return masses


def _affordable(multiples: Sequence[int], counts: Sequence[int]) -> bool:
    steps = sum(multiple * count for multiple, count in zip(multiples, counts, strict=True))
    if steps > MAX_STEPS:
        return False
    grouped: Counter[int] = Counter()
    for multiple, count in zip(multiples, counts, strict=True):
        grouped[multiple] += count
    support, work = 1, 0
    for multiple, count in sorted(grouped.items()):
        work += (count + 1) * support
        support += multiple * count
    return work <= MAX_WORK


def _common_divisor(losses: Sequence[Fraction]) -> Fraction:
    bottom = math.lcm(*(loss.denominator for loss in losses))
    top = math.gcd(*(loss.numerator * (bottom // loss.denominator) for loss in losses))
    return Fraction(top, bottom)


def _short(value: Fraction) -> Fraction:
    """Rounded to a dyadic of few bits, so that certificates stay readable."""
    shift = 20 - (value.numerator.bit_length() - value.denominator.bit_length())
    return Fraction(math.ceil(value * Fraction(2) ** shift)) / Fraction(2) ** shift
