"""What shows that a claim is broken: one output, or a set in which all are alike, its probabilities and their loss.

Where only far outputs come near to the largest ratio, one of them that is far enough is named. Its probabilities may
be too small to be written, but balls still say how many times one is the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from flint import arb, ctx

from privately.proving.exact.budgets import spend
from privately.proving.exact.claims import Claim
from privately.proving.exact.places import Place, ball, exact_end
from privately.proving.exact.ratios import Ratio, epsilon, probability
from privately.proving.exact.spreads import Falls, falls_of
from privately.proving.exact.tails import put
from privately.proving.exact.weights import ONE, weight
from privately.proving.language.syntax import Value
from privately.rounding import Interval

BITS = 256
FARTHEST = 1 << 128
"""No output further out is tried."""

NEAR = Fraction(1, 20)
"""How much of a largest loss may be missing, where an output with more of it can be named as well."""

SMALLEST = 10_000
"""Probabilities below 2 to the minus that are not written out."""

METHOD = "ball arithmetic"
STEP = 200
"""Steps of work for one output."""


@dataclass(frozen=True)
class Evidence:
    """An output that is so likely for one input and for its neighbour, and the loss that these show."""

    output: Value
    probabilities: tuple[Interval, Interval]
    loss: Interval


def evidence(ratio: Ratio, claim: Claim, place: Place | None) -> Evidence | None:
    """What shows that the largest ratio breaks the claim; None if the outputs that do are too far out.

    Theorem: far out the ratio comes as near to its largest value as one likes, so some output has more than e^claim if
        the largest has; every output that is given certainly has.
    Reference: Polya-Szego 1925, part V, chapter 1 (zeros of exponential polynomials)
    Proof: docs/theory/programs.md#rays
    Checked-by: tests/proving/exact/test_evidence.py::test_far_outputs_show_what_they_are_said_to_show
    """
    if not ratio.rays:
        first, second = (probability(mass, place) for mass in ratio.masses)
        claimed = claim.exponent if claim.factor == ONE else None
        return Evidence(ratio.output, (first, second), epsilon(ratio, place, claimed))
    broken = claim.epsilon.upper
    wanted = broken if ratio.value is None else max(broken, Fraction(epsilon(ratio, place).lower) - NEAR)
    for limit in (wanted, broken):
        found = _first_above(ratio, Fraction(limit), place)
        if found is not None:
            return found
    return None


def _first_above(ratio: Ratio, least: Fraction, place: Place | None) -> Evidence | None:
    """The nearest output whose loss is certainly above a limit, where losses grow."""
    with ctx.workprec(BITS):
        limit = arb(weight(least))
    k = 1
    while not _loss(ratio, k, place) > limit:
        k *= 2
        if k > FARTHEST:
            return None
    low, high = k // 2, k
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _loss(ratio, middle, place) > limit else (middle, high)
    return _at(ratio, high, place)


def _at(ratio: Ratio, k: int, place: Place | None) -> Evidence:
    one, other = (_interval(mass) for mass in _masses(ratio, k, place))
    loss = _loss(ratio, k, place)
    at: dict[Any, int] = {ours: k for ours, _ in ratio.rays}
    return Evidence(put(ratio.output, at), (one, other), _ends(loss))


def _loss(ratio: Ratio, k: int, place: Place | None) -> arb:
    """The logarithm of the ratio of one output; not a number while balls do not tell its probabilities from 0."""
    spend(STEP * len(ratio.rays))
    one, other = _masses(ratio, k, place)
    with ctx.workprec(BITS):
        return (one / other).log() if one > 0 and other > 0 else arb("nan")


def _masses(ratio: Ratio, k: int, place: Place | None) -> tuple[arb, arb]:
    """Both probabilities of the output that is k steps out in all noises of which no value has the largest ratio."""
    bits = BITS + 2 * k.bit_length()
    with ctx.workprec(bits):
        one, other = (ball(mass, place, bits) for mass in ratio.masses)
        for ours, theirs in ratio.rays:
            one, other = one * _mass(falls_of(ours), k, place, bits), other * _mass(falls_of(theirs), k, place, bits)
    return one, other


def _mass(falls: Falls, k: int, place: Place | None, bits: int) -> arb:
    total = arb(0)
    for (ratio, order), share in falls.items():
        fall = ball(ratio, place, bits)
        total += ball(share, place, bits) * (1 - fall) ** order * comb(k + order - 1, order - 1) * fall**k
    return total


def _interval(mass: arb) -> Interval:
    with ctx.workprec(BITS):
        least = arb(2) ** -SMALLEST
        return _ends(mass) if mass > least else Interval(0, exact_end(max(least, mass.upper())), method=METHOD)


def _ends(found: arb) -> Interval:
    with ctx.workprec(BITS):
        return Interval(exact_end(found.lower()), exact_end(found.upper()), method=METHOD)
