"""Exact sums over all integers, and the noise laws that they are made of.

Noise decays like q^|k| for a rational q, so that every probability is a rational number. A `Factor` is a function of an
integer t that beyond some point to the left, and beyond some point to the right, is a sum of c q^(n t): there a product
of factors adds up by geometric series, and between the points term by term. Nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod

from privately.laws import Law as NoiseLaw
from privately.rounding import Enclosure, Interval, round_down

Powers = Mapping[int, Fraction]
"""From n to c: the sum of c q^(n t)."""

ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Factor:
    """`at` is the function, `left` it up to `low`, `right` it from `high` on."""

    at: Callable[[int], Fraction]
    low: int
    high: int
    left: Powers
    right: Powers


def total(factors: Sequence[Factor], q: Fraction) -> Fraction:
    """The sum of the product over all integers."""
    low, high = min(one.low for one in factors), max(one.high for one in factors)
    middle = sum((prod((one.at(t) for one in factors), start=ONE) for t in range(low + 1, high)), ZERO)
    left, right = ({0: ONE}, {0: ONE})
    for one in factors:
        left, right = _times(left, one.left), _times(right, one.right)
    if low == high:  # it would be counted twice
        middle -= prod((one.at(low) for one in factors), start=ONE)
    below = sum((c * q ** (n * low) / (1 - q**-n) for n, c in left.items()), ZERO)
    above = sum((c * q ** (n * high) / (1 - q**n) for n, c in right.items()), ZERO)
    assert all(n < 0 for n in left), "the sum to the left is infinite"
    assert all(n > 0 for n in right), "the sum to the right is infinite"
    return below + middle + above


def _times(one: Mapping[int, Fraction], other: Powers) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for n, c in one.items():
        for m, d in other.items():
            found[n + m] = found.get(n + m, ZERO) + c * d
    return {n: c for n, c in found.items() if c}


# centre + discrete Laplace noise X, P(X = k) in proportion to q^(rate |k|)


def laplace(centre: int, q: Fraction, rate: int = 1) -> Factor:
    """P(centre + X = t)."""
    p = q**rate
    peak = (1 - p) / (1 + p)
    return Factor(
        lambda t: peak * p ** abs(t - centre),
        centre,
        centre,
        {-rate: peak * p**centre},
        {rate: peak * p**-centre},
    )


def laplace_below(centre: int, q: Fraction, rate: int = 1) -> Factor:
    """P(centre + X < t)."""
    p = q**rate
    return Factor(
        lambda t: p ** (centre - t + 1) / (1 + p) if t <= centre else 1 - p ** (t - centre) / (1 + p),
        centre,
        centre,
        {-rate: p ** (centre + 1) / (1 + p)},
        {0: ONE, rate: -(p**-centre) / (1 + p)},
    )


def laplace_at_least(centre: int, q: Fraction, rate: int = 1) -> Factor:
    """P(centre + X >= t)."""
    below = laplace_below(centre, q, rate)
    return Factor(
        lambda t: 1 - below.at(t), centre, centre, _times({0: ONE}, _complement(below.left)), _complement(below.right)
    )


def _complement(powers: Powers) -> dict[int, Fraction]:
    found = {n: -c for n, c in powers.items()}
    found[0] = 1 + found.get(0, ZERO)
    return {n: c for n, c in found.items() if c}


# centre + discrete exponential noise X >= 0, P(X = k) in proportion to q^k


def exponential(centre: int, q: Fraction) -> Factor:
    """P(centre + X = t)."""
    return Factor(
        lambda t: (1 - q) * q ** (t - centre) if t >= centre else ZERO,
        centre - 1,
        centre,
        {},
        {1: (1 - q) * q**-centre},
    )


def exponential_below(centre: int, q: Fraction) -> Factor:
    """P(centre + X < t)."""
    return Factor(
        lambda t: 1 - q ** (t - centre) if t >= centre else ZERO, centre, centre, {}, {0: ONE, 1: -(q**-centre)}
    )


def up_to(end: int) -> Factor:
    """1 for t <= end, and 0 above."""
    return Factor(lambda t: ONE if t <= end else ZERO, end, end + 1, {0: ONE}, {})


# From q to the scale that a rule takes, and from enclosed laws to exact ones


@lru_cache(maxsize=64)
def scale_of(q: Fraction) -> Fraction:
    """1/ln(1/q), which is irrational, rounded down to 45 digits: what a rule says of it holds for a little more noise.

    (Where less noise lowers a delta, that is by far less than the digits in which a rule states it.)
    """
    return round_down(Fraction((-1 / Enclosure.of(q).log()).lower), 45)


def window(law: NoiseLaw, centre: int, outcomes: range) -> dict[object, Fraction]:
    """The law of centre + X to forty digits, with all that lies below the outcomes as one of them, and all above."""
    found: dict[object, Fraction] = {k: middle(law.pmf(k - centre)) for k in outcomes}
    found["below"] = middle(law.cdf(outcomes[0] - 1 - centre))
    found["above"] = middle(law.tail(outcomes[-1] - centre))
    whole = sum(found.values(), ZERO)
    assert abs(whole - 1) < Fraction(1, 10**40)
    return {outcome: mass / whole for outcome, mass in found.items() if mass}


def middle(interval: Interval) -> Fraction:
    """A number of 45 digits within the interval, or as near to it."""
    return round_down((Fraction(interval.lower) + Fraction(interval.upper)) / 2, 45)
