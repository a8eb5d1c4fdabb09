"""The laws of single draws, and of sums of multiples of them, in the two forms that measuring needs.

Continuous: piecewise exponentials (laplace, exponential, and their sums), or a variance (gaussian).
Discrete: a table of balls over a range of whole numbers, and a bound on all that lies outside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, factorial, isqrt, log
from typing import TypeAlias

from flint import arb, arb_poly, ctx

from privately.errors import NotSupported
from privately.proving.paths.noise import Noise
from privately.proving.paths.piecewise import Piecewise, Terms, ball

Share: TypeAlias = tuple[Fraction, Noise]
"""A multiple of a draw."""

WIDEST_TABLE = 400_000
LONGEST_SUM = 150_000


@dataclass(frozen=True, slots=True)
class Table:
    """masses[i] is the probability of low + i; all others together have at most `outside`."""

    low: int
    masses: list[arb]
    outside: arb

    @property
    def high(self) -> int:
        """The last place."""
        return self.low + len(self.masses) - 1


def gaussian_variance(shares: Sequence[Share]) -> Fraction:
    """The variance of a sum of multiples of normal draws."""
    return sum((factor**2 * noise.parameter**2 for factor, noise in shares), Fraction(0))


def density(shares: Sequence[Share]) -> Piecewise:
    """The density of a sum of multiples of Laplace and exponential draws.

    Theorem: the density is, on each side of 0, the sum of terms that the partial fractions of the moment generating
    function name.
    Reference: Kotz-Kozubowski-Podgorski 2001, section 2.2 (products of 1/(1 - rt))
    Proof: docs/theory/refuting.md#sums
    Checked-by: tests/proving/paths/test_densities.py::test_densities_of_sums_have_the_moments_of_sums
    """
    right: dict[Fraction, int] = {}
    left: dict[Fraction, int] = {}
    for factor, noise in shares:
        reach = abs(factor) * noise.parameter
        sides = [right, left] if noise.law == "laplace" else [right if factor > 0 else left]
        for side in sides:
            side[reach] = side.get(reach, 0) + 1
    return Piecewise((Fraction(0),), (_side(left, right, -1), _side(right, left, 1)))


def _side(here: dict[Fraction, int], there: dict[Fraction, int], direction: int) -> Terms:
    """The terms on one side of zero: poles of 1/(1 - rt)^m, with the other factors expanded around each."""
    terms: Terms = {}
    for reach, order in here.items():
        series = [Fraction(1), *[Fraction(0)] * (order - 1)]
        for other, times in here.items():
            if other != reach:
                series = _times(series, 1 - other / reach, other / reach, times)
        for other, times in there.items():
            series = _times(series, 1 + other / reach, -other / reach, times)
        for place, share in enumerate(series):
            power = order - place - 1
            if share:
                size = share * direction**power / (reach ** (power + 1) * factorial(power))
                terms[-direction / reach, power] = ball(size)
    return terms


def _times(series: list[Fraction], constant: Fraction, slope: Fraction, times: int) -> list[Fraction]:
    """The series divided by (constant + slope w), so many times."""
    for _ in range(times):
        divided: list[Fraction] = []
        for place, entry in enumerate(series):
            before = divided[place - 1] if place else Fraction(0)
            divided.append((entry - slope * before) / constant)
        series = divided
    return series


def table(shares: Sequence[Share]) -> Table:
    """The law of a sum of whole multiples of discrete draws, at the working precision."""
    return _table(tuple(shares), ctx.prec)


@lru_cache(maxsize=32)
def _table(shares: tuple[Share, ...], _bits: int) -> Table:
    """Events of one program ask for the same tables again and again."""
    parts = [(_single(share), count) for share, count in Counter(shares).items()]
    length = 1 + sum(count * (len(part.masses) - 1) for part, count in parts)
    if length > LONGEST_SUM:
        raise NotSupported("a sum of noise that is too wide to be listed.", hint="Take a larger epsilon.")
    product = arb_poly([1])
    for part, count in parts:
        product *= arb_poly(part.masses) ** count
    low, outside = sum(part.low * count for part, count in parts), arb(0)
    for part, count in parts:
        outside += part.outside * count
    return Table(low, [product[place] for place in range(length)], outside)


def _single(share: Share) -> Table:
    factor, noise = share
    if factor.denominator != 1:
        raise NotSupported("sums of fractions of whole noise.")
    step = int(factor)
    plain = _drawn(noise)
    if step == 1:
        return plain
    if len(plain.masses) * abs(step) > WIDEST_TABLE:
        raise NotSupported("noise that is too wide to be listed.")
    spread = [arb(0)] * ((len(plain.masses) - 1) * abs(step) + 1)
    spread[:: abs(step)] = plain.masses if step > 0 else plain.masses[::-1]
    return Table(min(plain.low * step, plain.high * step), spread, plain.outside)


def _drawn(noise: Noise) -> Table:
    """One law, cut where less than 2^-precision is left."""
    bits = ctx.prec
    match noise.law:
        case "discrete_laplace" | "discrete_exponential":
            reach = _reach(noise.parameter * ceil(bits * log(2) + 2))
            ratio = ball(-1 / noise.parameter).exp()
            powers = _powers(ratio, reach)
            if noise.law == "discrete_exponential":
                return Table(0, [(1 - ratio) * one for one in powers], powers[-1] * ratio)
            first = (1 - ratio) / (1 + ratio)
            half = [first * one for one in powers]
            return Table(-reach, [*half[:0:-1], *half], 2 * powers[-1] * ratio / (1 + ratio))
        case "geometric":
            stay = 1 - noise.parameter
            if not stay:
                return Table(0, [arb(1)], arb(0))
            reach = _reach(Fraction(ceil(bits * log(2) / -log(stay)) + 2))
            powers = _powers(ball(stay), reach)
            return Table(0, [ball(noise.parameter) * one for one in powers], powers[-1] * ball(stay))
        case "rounded_gaussian":
            return _rounded(noise.parameter, bits)
        case "discrete_gaussian":
            return _discrete_gaussian(noise.parameter, bits)
        case _:
            raise NotSupported(f"{noise.law} is not discrete.")


def _rounded(deviation: Fraction, bits: int) -> Table:
    reach = _reach(deviation * (isqrt(2 * bits) + 2) + 1)
    unit = 1 / (ball(deviation) * arb(2).sqrt())
    beyond = [(ball(Fraction(2 * k + 1, 2)) * unit).erfc() / 2 for k in range(reach + 1)]
    half = [a - b for a, b in pairwise(beyond)]
    return Table(-reach, [*half[::-1], 1 - 2 * beyond[0], *half], 2 * beyond[-1])


def _discrete_gaussian(variance: Fraction, bits: int) -> Table:
    reach = _reach(Fraction(isqrt(ceil(2 * variance * bits)) + 2))
    half = [ball(Fraction(-k * k) / (2 * variance)).exp() for k in range(reach + 1)]
    following = ball(Fraction(-((reach + 1) ** 2)) / (2 * variance)).exp()
    rest = 2 * following / (1 - ball(Fraction(-(2 * reach + 3)) / (2 * variance)).exp())
    listed = half[0] + 2 * sum(half[1:], arb(0))
    total = listed + rest * arb(0.5, 0.5)
    masses = [one / total for one in half]
    return Table(-reach, [*masses[:0:-1], *masses], rest / listed)


def _powers(ratio: arb, count: int) -> list[arb]:
    """Each power on its own from the one half as high, so that errors do not pile up."""
    powers = [arb(1), ratio]
    for k in range(2, count + 1):
        powers.append(powers[k // 2] * powers[k - k // 2])
    return powers[: count + 1]


def _reach(distance: Fraction) -> int:
    reach = ceil(distance) + 1
    if reach > WIDEST_TABLE:
        raise NotSupported("noise that is too wide to be listed.", hint="Take a larger epsilon.")
    return reach
