"""Real numbers caught between two integers, as closely as asked for.

A bracket (lower, upper) at `bits` says: lower <= x 2^bits <= upper. All arithmetic is on integers; what goes into
`lower` is rounded down and what goes into `upper` is rounded up, so a bracket is a theorem whatever its width.
The laws of `privately.laws` stop at 60 digits; a sampler must never have to stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import NamedTuple

GUARD = 32
"""Bits of working precision beyond those asked for; they decide how narrow a bracket is, not whether it is right."""


class Bracket(NamedTuple):
    """lower <= x 2^bits <= upper, where the reader knows the bits."""

    lower: int
    upper: int

    def complement(self, bits: int) -> Bracket:
        """The bracket of 1 - x."""
        return Bracket((1 << bits) - self.upper, (1 << bits) - self.lower)


def ratio(x: Fraction, bits: int) -> Bracket:
    """A rational, to the last bit."""
    scaled = x.numerator << bits
    return Bracket(scaled // x.denominator, -(-scaled // x.denominator))


def exp_minus(x: Fraction, bits: int) -> Bracket:
    """exp(-x) for a rational x >= 0.

    Theorem: with r = x/2^k <= 1/2, exp(r) lies between the sum of r^n/n! over n < N and that sum plus 2 r^N/N!; and
        exp(-x) is 1/exp(r) squared k times.
    Reference: comparison with the geometric series
    Proof: docs/theory/noise.md#exponentials
    Checked-by: tests/noise/test_brackets.py::test_exp_minus_contains_the_truth
    """
    if x >= bits:
        return Bracket(0, 1)
    halvings = int(x).bit_length() + 5
    working = bits + halvings + GUARD
    small = ratio(x / (1 << halvings), working)
    grown = _exp_series(small, working)
    lower = (1 << 2 * working) // grown.upper
    upper = -(-(1 << 2 * working) // grown.lower)
    for _ in range(halvings):
        lower = lower * lower >> working
        upper = -(-upper * upper >> working)
    return _shortened(Bracket(lower, upper), working - bits)


def power(base: Fraction, exponent: int, bits: int) -> Bracket:
    """base^exponent for a rational base between 0 and 1, by repeated squaring.

    Theorem: products of numbers rounded down (up) and rounded down (up) again stay below (above) the true product.
    Reference: monotony of multiplication of nonnegative numbers
    Proof: docs/theory/noise.md#exponentials
    Checked-by: tests/noise/test_brackets.py::test_power_contains_the_truth
    """
    working = bits + exponent.bit_length() + GUARD
    result, square = Bracket(1 << working, 1 << working), ratio(base, working)
    while exponent:
        if exponent & 1:
            result = _product(result, square, working)
        exponent >>= 1
        if exponent:
            square = _product(square, square, working)
    return _shortened(result, working - bits)


def minus_log_complement(p: Fraction, bits: int) -> Bracket:
    """-ln(1 - p) for a rational 0 < p <= 1/2.

    Theorem: -ln(1 - p) lies between the sum of p^n/n over 1 <= n < N and that sum plus 2 p^N/N.
    Reference: comparison with the geometric series
    Proof: docs/theory/noise.md#exponentials
    Checked-by: tests/noise/test_brackets.py::test_minus_log_complement_contains_the_truth
    """
    working = bits + GUARD
    base = ratio(p, working)
    term, lower, upper, n = base, 0, 0, 1
    while term.upper > 1:
        lower += term.lower // n
        upper += -(-term.upper // n)
        term = _product(term, base, working)
        n += 1
    return _shortened(Bracket(lower, upper + 2), working - bits)


def normal_tail(x: Fraction, bits: int) -> Bracket:
    """P(N > x) for a standard normal N and a rational x >= 0.

    Theorem: P(N > x) = 1/2 - exp(-x^2/2)/sqrt(2 pi) times the sum over n >= 0 of x^(2n+1)/(1 3 5 ... (2n+1)); once
        x^2 <= n + 1 the terms from the n-th on add up to at most twice the n-th; and P(N > x) <= exp(-x^2/2)/2.
    Reference: Abramowitz-Stegun 1964, 26.2.11
    Proof: docs/theory/noise.md#the-normal-distribution
    Checked-by: tests/noise/test_brackets.py::test_normal_tail_contains_the_truth
    """
    square = x * x
    if square >= 2 * bits:
        return Bracket(0, 1)
    # The sum grows like exp(x^2/2), so its factor needs that many more bits: 3/4 > 1/(2 ln 2).
    working = bits + int(square) * 3 // 4 + GUARD
    total = _odd_series(ratio(x, working), ratio(square, working), working)
    density = _product(exp_minus(square / 2, working), _inverse_root_two_pi(working), working)
    middle = _product(total, density, working)
    half = 1 << working - 1
    return _shortened(Bracket(max(half - middle.upper, 0), half - middle.lower), working - bits)


def gaussian_tails(c: Fraction, bits: int) -> Sequence[Bracket]:
    """Sums of exp(-c j^2/2) over all j >= n, for n = 0, 1, 2, ... until nothing of them is left.

    Theorem: with g_j = exp(-c j^2/2) and r_j = exp(-c (2j+1)/2), g_(j+1) = g_j r_j and r_(j+1) = r_j exp(-c); and all
        g_j with j > n add up to at most g_n r_n/(1 - r_n).
    Reference: comparison with the geometric series
    Proof: docs/theory/noise.md#gaussian-sums
    Checked-by: tests/noise/test_brackets.py::test_gaussian_tails_contain_the_truth
    """
    working = bits + 2 * GUARD
    shrinking = exp_minus(c, working)
    step = exp_minus(c / 2, working)
    term = Bracket(1 << working, 1 << working)
    terms = [term]
    while term.upper > 1 << GUARD:
        term = _product(term, step, working)
        step = _product(step, shrinking, working)
        terms.append(term)
    lower, upper = 0, -(-term.upper * step.upper // ((1 << working) - step.upper))
    tails = []
    for term in reversed(terms):
        lower, upper = lower + term.lower, upper + term.upper
        tails.append(_shortened(Bracket(lower, upper), working - bits))
    return tuple(reversed(tails))


def quotient(top: Bracket, bottom: Bracket, bits: int) -> Bracket:
    """x/y for 0 <= x <= y, from brackets of both."""
    upper = -(-(top.upper << bits) // bottom.lower)
    return Bracket((top.lower << bits) // bottom.upper, min(upper, 1 << bits))


def _exp_series(r: Bracket, bits: int) -> Bracket:
    total_below = total_above = 0
    below = above = 1 << bits
    n = 0
    while above > 1:
        total_below += below
        total_above += above
        n += 1
        below = (below * r.lower >> bits) // n
        above = -(-above * r.upper // (n << bits))
    return Bracket(total_below, total_above + 2)


def _odd_series(x: Bracket, square: Bracket, bits: int) -> Bracket:
    total_below = total_above = 0
    below, above = x
    odd = 1
    while above > 1 or square.upper > odd + 1 << bits - 1:
        total_below += below
        total_above += above
        odd += 2
        below = (below * square.lower >> bits) // odd
        above = -((-above * square.upper >> bits) // odd)
    return Bracket(total_below, total_above + 2 * above)


@lru_cache(maxsize=16)
def _inverse_root_two_pi(bits: int) -> Bracket:
    """1/sqrt(2 pi), from 2^(2 bits)/(2 pi) between integers."""
    pi = _pi(2 * bits)
    lower = isqrt((1 << 4 * bits - 1) // pi.upper)
    upper = isqrt(-(-(1 << 4 * bits - 1) // pi.lower)) + 1
    return Bracket(lower, upper)


def _pi(bits: int) -> Bracket:
    """Machin: pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    working = bits + GUARD
    large, small = _arctan_of_inverse(5, working), _arctan_of_inverse(239, working)
    return _shortened(Bracket(16 * large.lower - 4 * small.upper, 16 * large.upper - 4 * small.lower), GUARD)


def _arctan_of_inverse(n: int, bits: int) -> Bracket:
    """An alternating series with falling terms; each term is rounded twice, so it is off by less than two."""
    term, odd, total, sign = (1 << bits) // n, 1, 0, 1
    while term:
        total += sign * (term // odd)
        term //= n * n
        odd, sign = odd + 2, -sign
    return Bracket(total - odd - 1, total + odd + 1)


def _product(x: Bracket, y: Bracket, bits: int) -> Bracket:
    return Bracket(x.lower * y.lower >> bits, -(-x.upper * y.upper >> bits))


def _shortened(x: Bracket, bits: int) -> Bracket:
    return Bracket(x.lower >> bits, -(-x.upper >> bits))
