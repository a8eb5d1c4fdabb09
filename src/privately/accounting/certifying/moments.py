"""Bounds of ln E[e^(c loss)] as the checker evaluates them, in floating point: for laws without a pair, and for samples
and groups of anything. docs/theory/certificates.md#moments
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privately.accounting.certifying.laws import Law
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

MOST_ORDERS = 300
_SLIGHTLY_MORE = 1 + Fraction(1, 10**6)
_STEEPEST, _LARGEST = 700.0, 9000.0
_FAR, _NEAR = 4900.0, 1e-2
_NOISE = ("normal", "laplace", "discrete normal", "discrete laplace", "response")

Laws = Sequence[tuple[Law, int]]


def infinite_mass(law: Law, direction: Direction) -> Fraction:
    """The probability of an infinite loss, as the checker bounds it."""
    match law.name:
        case "response":
            return law.numbers[2]
        case "sampled response" | "glued response":
            return Fraction(0) if law.is_sampled and direction == "add" else law.numbers[2] * law.numbers[-1]
        case "sampled table" | "glued table":
            return Fraction(law.pair(direction).infinite) * _SLIGHTLY_MORE
        case "worst":
            return max(_any_infinite(terms, direction) for terms in law.inner)
        case "sampled mix" | "glued mix":
            rate = law.numbers[-1] if direction == "remove" or not law.is_sampled else Fraction(1)
            return rate * _base_infinite(law, direction)
        case "group" if _base_infinite(law, direction):
            raise NotApplicable("a group of what may reveal everything")
    return Fraction(0)


def _any_infinite(laws: Laws, direction: Direction) -> Fraction:
    return min(sum((times * infinite_mass(law, direction) for law, times in laws), Fraction(0)), Fraction(1))


def _base_infinite(law: Law, direction: Direction) -> Fraction:
    ways = (direction,) if law.is_sampled else DIRECTIONS
    return max(_any_infinite(law.base(), way) for way in ways)


def largest(law: Law, direction: Direction) -> Enclosure | None:
    """No finite loss is above this; None where there is no such number."""
    match law.name:
        case "laplace" | "range" | "response":
            return Enclosure.of(law.numbers[0])
        case "discrete laplace":
            return Enclosure.of(law.numbers[1] / law.numbers[0])
        case "worst":
            return _highest([_largest_sum(terms, direction) for terms in law.inner])
        case "group":
            most = _highest([_largest_sum(law.base(), way) for way in DIRECTIONS])
            return most and int(law.numbers[0]) * most
    if not law.is_sample:
        return None
    rate, base = law.numbers[-1], law.base()
    inside = _highest([_largest_sum(base, way) for way in ((direction,) if law.is_sampled else DIRECTIONS)])
    if law.is_sampled and direction == "add":
        if inside is None or (not law.inner and _any_infinite(base, "add")):
            return -Enclosure.of(1 - rate).log()
        return -_mixed_exactly(rate, -inside)
    return inside and _mixed_exactly(rate, inside)


def _largest_sum(laws: Laws, direction: Direction) -> Enclosure | None:
    total = Enclosure.of(0)
    for law, times in laws:
        most = largest(law, direction)
        if most is None:
            return None
        total = total + times * most
    return total


def _highest(found: Sequence[Enclosure | None]) -> Enclosure | None:
    known = [one for one in found if one is not None]
    return max(known, key=lambda one: one.upper) if len(known) == len(found) else None


def _mixed_exactly(rate: Fraction, exponent: Enclosure) -> Enclosure:
    """ln(1 - q + q e^exponent)."""
    return (1 + rate * (exponent.exp() - 1)).log()


class Moments:
    """Bounds at any c > 0, each computed once; infinite where there is none."""

    def __init__(self) -> None:
        self._known: dict[tuple[Law, Direction, float], float] = {}

    def total(self, laws: Laws, c: float, direction: Direction) -> float:
        return sum(times * self.of(law, c, direction) for law, times in laws)

    def of(self, law: Law, c: float, direction: Direction) -> float:
        key = law, direction, c
        if key not in self._known:
            self._known[key] = self._found(law, c, direction)
        return self._known[key]

    def _found(self, law: Law, c: float, direction: Direction) -> float:
        match law.name:
            case "worst":
                return max(self.total(terms, c, direction) for terms in law.inner)
            case "group":
                return self._group(law, c)
            case "response" | "discrete laplace" | "sampled response" | "glued response":
                return _of_points(law, c, direction)
        if law.is_sampled:
            return self._removed(law, c, "remove") if direction == "remove" else self._added(law, c)
        return self._glued(law, c) if law.is_sample else _closed_form(law, c)

    def _both(self, law: Law, c: float) -> float:
        return max(self.total(law.base(), c, way) for way in DIRECTIONS)

    def _removed(self, law: Law, c: float, base: Direction) -> float:
        below = math.floor(c)
        low = self._whole(law, below, base)
        high = low if c == below else self._whole(law, below + 1, base)
        return high if high == math.inf else low + (c - below) * (high - low)

    def _whole(self, law: Law, c: int, base: Direction) -> float:
        """ln of the sum over i of binomial(n, i) (1-q)^(n-i) q^i e^K(i-1), n = c + 1."""
        if c > MOST_ORDERS:
            return math.inf
        if not c:
            return 0.0
        n, rate = c + 1, float(law.numbers[-1])
        i = np.arange(2.0, n + 1)
        inside = np.array([self.total(law.base(), float(one - 1), base) for one in i])
        if not float(inside.max()) < _LARGEST:
            return math.inf
        grown = inside + np.log(-np.expm1(-np.maximum(inside, 1e-300)))  # ln(e^K - 1)
        ways = math.lgamma(n + 1) - np.array([math.lgamma(one + 1) + math.lgamma(n - one + 1) for one in i])
        logs = ways + i * math.log(rate) + (n - i) * math.log1p(-rate) + grown
        top = float(logs.max())
        total = top + math.log(float(np.exp(logs - top).sum()))
        return math.log1p(math.exp(total)) if total < _STEEPEST else total

    def _added(self, law: Law, c: float) -> float:
        rate, inside = float(law.numbers[-1]), self.total(law.base(), c, "add")
        if inside == math.inf or inside / c > _LARGEST:
            return math.inf
        if _base_infinite(law, "add"):
            return _mixed(rate, inside)
        simple = -c * math.log1p(rate * math.expm1(-inside / c))
        place = max(c, 1.0)
        one, other = (self._removed(law, place, way) for way in DIRECTIONS)
        if max(one, other) == math.inf:
            return simple
        share = 3 * (1 - rate) / (3 + 2 * (place - 1) * rate)
        top = max(one, other)
        if top < 1:
            mixed = math.log1p(share * math.expm1(one) + (1 - share) * math.expm1(other))
        else:
            mixed = top + math.log(share * math.exp(one - top) + (1 - share) * math.exp(other - top))
        return min(simple, mixed * c / place)

    def _glued(self, law: Law, c: float) -> float:
        simple = _mixed(float(law.numbers[-1]), self._both(law, c))
        if any(inside.name not in _NOISE for inside, _ in law.base()) or _base_infinite(law, "remove"):
            return simple
        one, other = self._removed(law, c, "remove"), self._added(law, c)
        if max(one, other) > _STEEPEST:
            return simple
        return min(simple, math.log1p(math.expm1(one) + math.expm1(other)))

    def _group(self, law: Law, c: float) -> float:
        size = int(law.numbers[0])
        if size > MOST_ORDERS:
            return math.inf
        orders = [size * (1 + c) - step for step in range(size)]
        return c * orders[0] * sum(self._both(law, order - 1) / (order * (order - 1)) for order in orders)


def _mixed(rate: float, inside: float) -> float:
    """ln(1 - q + q e^inside)."""
    if inside > _LARGEST:
        return math.inf
    if inside > _STEEPEST:
        return inside + math.log(rate + (1 - rate) * math.exp(-inside))
    return math.log1p(rate * math.expm1(inside))


def _of_points(law: Law, c: float, direction: Direction) -> float:
    try:
        pair = law.pair(direction)
    except NotApplicable:
        return math.inf
    if c * float(np.abs(pair.losses).max(initial=0.0)) > _LARGEST:
        return math.inf
    exponents = pair.log_p + c * pair.losses
    top = float(exponents.max(initial=-math.inf))
    if top == -math.inf:
        return top
    if top < 1:
        # ln of 1 + the sum of P (e^(c loss) - 1), less what has an infinite loss
        return math.log1p(float(np.exp(pair.log_p) @ np.expm1(c * pair.losses)) - pair.infinite)
    return top + math.log(float(np.exp(exponents - top).sum()))


def _closed_form(law: Law, c: float) -> float:
    first, square = float(law.numbers[0]), c * (c + 1)
    match law.name:
        case "normal":
            return square * first / 2
        case "concentrated":
            return square * first
        case "discrete normal":
            return square * float(law.numbers[1] ** 2 / law.numbers[0]) / 2
        case "range":
            return min(c * first, square * first**2 / 8, _skewed(first, c))
        case "laplace":
            return c * first + math.log((c + 1 + c * math.exp(-(2 * c + 1) * first)) / (2 * c + 1))
        case "renyi":
            return _interpolated(law, c)
    raise NotApplicable(f"no moments of a {law.name} law")


def _skewed(width: float, c: float) -> float:
    if (c + 1) * width > _FAR or width * (c + 1) < _NEAR:
        return math.inf

    def g(x: float) -> float:
        return math.log(-math.expm1(-x))

    ends = c * math.log(c / (c + 1)) - math.log1p(c)
    found = c * width + ends + (c + 1) * g((c + 1) * width) - c * g(c * width) - g(width)
    return found + 1e-14 * (c + 2) * (1 + c * width)


def _interpolated(law: Law, c: float) -> float:
    left, left_value = 0.0, 0.0
    for order, bound in zip(law.numbers[::2], law.numbers[1::2], strict=True):
        right, value = float(order - 1), float((order - 1) * bound)
        if c <= right:
            return left_value + (value - left_value) * (c - left) / (right - left)
        left, left_value = right, value
    return math.inf
