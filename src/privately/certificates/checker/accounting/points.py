"""Transforms as sums over points: M(z) is near the sum of weight * e^(i w loss), z = c + i w, weights at w = 0.

All numbers are fixed point; every error is counted in ulp of it.
"""

from typing import NamedTuple

from ..intervals import Interval, whole
from ..rationals import Rational
from ..schema import Invalid
from ..work import Work
from .numbers import BITS, PLACES, UNIT, near
from .trigonometry import turn

Complex = tuple[int, int]


class Turns(NamedTuple):
    """M(c + i n h)/M(c) for n = 1, 2, ...: each off by at most constant + n slope, in ulp."""

    values: list[Complex]
    constant: int
    slope: int


class Points(NamedTuple):
    """Weights and losses, and by how much of M(c) the sum over them may be off, at w = 0 and at all w in use."""

    weights: list[Interval]
    losses: list[Interval]
    missing: int


def shared_exponent(weights: list[Interval]) -> int:
    """All weights are below 2 to this power, and at least one is about that."""
    return max(weight.magnitude() for weight in weights)


def turns(points: Points, step: Rational, count: int, work: Work) -> Turns:
    """The sums for w = step, 2 step, ..., count step.

    A weight a < 1 and a turn u, off by e, give a u^n by repeated multiplication: each product is off by what the one
    before is, times |u| <= 1 + e ulp, and by e + 2 more (rounding, for |a u^(n-1)| <= 1). While count e ulp <= 1/2,
    that is at most 2 n (e + 2) in the end. With S_n the sums, S_0 all weights, both with errors:
    |S_n/S_0 - true| <= (|error of S_n| + |error of S_0|)/S_0, for |S_n| <= S_0.
    """
    work.spend(len(points.weights) * (count + 30))
    shift = shared_exponent(points.weights)
    real, imaginary = [0] * count, [0] * count
    total = vague = slope = 0
    for weight, loss in zip(points.weights, points.losses, strict=True):
        low, high = weight.scaled(-shift).fixed(PLACES)
        cosine, sine, error = turn(loss * near(step), PLACES)
        if 2 * count * error > UNIT:
            raise Invalid("witness", "the points are too vague")
        total, vague, slope = total + low, vague + high - low, slope + 2 * (error + 2)
        x, y = low, 0
        for n in range(count):
            x, y = (x * cosine - y * sine) >> PLACES, (x * sine + y * cosine) >> PLACES
            real[n] += x
            imaginary[n] += y
    if total <= 0:
        raise Invalid("witness", "the points have no weight")
    values = [((x << PLACES) // total, (y << PLACES) // total) for x, y in zip(real, imaginary, strict=True)]
    return Turns(values, (2 * vague << PLACES) // total + points.missing + 3, (slope << PLACES) // total + 1)


def total_weight(points: Points) -> Interval:
    """The sum of all weights."""
    total = whole(0, BITS)
    for weight in points.weights:
        total += weight
    return total
