"""How far sums of independent discrete Laplace noise stray from zero: exactly for few terms, by Chernoff for many.

q  exp(-1/scale)      S_k  a sum of k draws      n  an outcome, at least 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, floor

from privately.laws import DiscreteLaplace
from privately.laws.deciding import least
from privately.laws.series import one_minus_exp
from privately.rounding import Enclosure

EXACT_TERMS = 128
_ROUGH = 1e-3
_GOLDEN = (5**0.5 - 1) / 2

Growth = Callable[[Fraction], Enclosure]
"""ln E exp(y Z), for 0 < y < 1 and Z in scales, or a bound on it."""


def tails(law: DiscreteLaplace, terms: Sequence[int], n: int) -> list[Enclosure]:
    """P(S_k >= n) for each k among the numbers of terms, to full relative precision.

    Theorem: P(S_k = n) for n >= 0 is the sum over 1 <= i <= k of a_{k,i} P(G_i = n), where G_i is the number of
        failures before the i-th success of probability 1-q, a_{k,i} = (1-q)^(2k-i) e_{k,k-i}, and e_{k,m} is the
        coefficient of u^m in (1 + q^2/(1-q^2-u))^k; and P(G_i >= n) is the sum of C(n+j-1, j) (1-q)^j q^n over j < i.
    Reference: partial fractions of the generating function
    Proof: docs/theory/mechanisms.md#sums-of-laplace-noise
    Checked-by: tests/mechanisms/test_laplace_sums.py::test_tails_of_sums_are_those_of_convolutions
    """
    gap = one_minus_exp(1 / law.scale)
    parts = [Enclosure.of(-n / law.scale).exp()]
    for j in range(1, max(terms)):
        parts.append(parts[-1] * gap * Fraction(n + j - 1, j))
    waiting = list(accumulate(parts))
    return [_total(a * t for a, t in zip(_weights(law.scale, k), waiting, strict=False)) for k in terms]


@lru_cache(maxsize=256)
def _weights(scale: Fraction, k: int) -> list[Enclosure]:
    """a_{k,1}, ..., a_{k,k}.

    e_{k,m} is s^m times the sum over j of C(k,j) C(m+j-1, m) (q^2 s)^j with s = 1/(1-q^2); the second binomial
    coefficient comes of m sums over sums. All terms are positive, so nothing cancels.
    """
    gap, steep = one_minus_exp(1 / scale), 1 / one_minus_exp(2 / scale)
    ratio = Enclosure.of(-2 / scale).exp() * steep
    power, parts = Enclosure.of(1), []
    for j in range(1, k + 1):
        power = power * ratio
        parts.append(comb(k, j) * power)
    coefficients, power = [1 + _total(parts)], Enclosure.of(1)
    for _ in range(1, k):
        parts = list(accumulate(reversed(parts)))[::-1]
        power = power * steep
        coefficients.append(power * _total(parts))
    return [gap ** (2 * k - i) * coefficients[k - i] for i in range(1, k + 1)]


def _total(parts: Iterable[Enclosure]) -> Enclosure:
    return sum(parts, Enclosure.of(0))


def exact_half_width(law: DiscreteLaplace, sums: Mapping[int, int], miss: Fraction) -> int:
    """The least w such that the chances of |S_k| > w add up to at most `miss`, over `sums[k]` sums of k terms."""
    terms = list(sums)

    def covers(w: int) -> bool:
        if w < 0:
            return False
        chances = zip(sums.values(), tails(law, terms, w + 1), strict=True)
        return _total(2 * count * chance for count, chance in chances).upper <= miss

    return least(covers, floor(law.scale))


def growth_of(law: DiscreteLaplace, y: Fraction) -> Enclosure:
    """ln E exp(y X/scale) = 2 ln(1-q) - ln(1 - q^(1-y)) - ln(1 - q^(1+y)), for 0 <= y < 1."""
    gap = one_minus_exp(1 / law.scale).log()
    above, below = one_minus_exp((1 - y) / law.scale).log(), one_minus_exp((1 + y) / law.scale).log()
    return 2 * gap - above - below


def growth_at_most(y: Fraction) -> Enclosure:
    """A bound on the same for every scale, -ln(1 - y^2): that of the continuous Laplace law.

    Theorem: E exp(y X/scale) = 1/(1 - h(y)) with h(y) = (cosh(y/scale) - 1)/(cosh(1/scale) - 1) <= y^2 for 0 <= y < 1.
    Reference: cosh(sqrt(x)) is convex
    Proof: docs/theory/mechanisms.md#sums-of-laplace-noise
    Checked-by: tests/mechanisms/test_laplace_sums.py::test_growth_is_that_of_the_law_and_at_most_the_bound
    """
    return -Enclosure.of(1 - y * y).log()


def chernoff_half_width(growth: Growth, miss: Fraction) -> Fraction:
    """A w, in scales, such that symmetric sums Z are all within w of zero but for a probability of `miss`.

    Theorem: if the sum over Z of E exp(y Z) is at most exp(growth(y)), the chances of |Z| > w add up to at most
        2 exp(growth(y) - y w), for every y.
    Reference: Chernoff 1952
    Proof: docs/theory/mechanisms.md#sums-of-laplace-noise
    Checked-by: tests/mechanisms/test_laplace_sums.py::test_chernoff_covers
    """
    surprise = Enclosure.of(2 / miss).log()

    def width(y: Fraction) -> Enclosure:
        return (growth(y) + surprise) / y

    return width(lowest_point(lambda y: float(width(y).upper))).claim()


def lowest_point(curve: Callable[[Fraction], float]) -> Fraction:
    """About where a function on (0, 1) that falls and then rises is least; golden section."""
    low, high = 0.0, 1.0
    left, right = 1 - _GOLDEN, _GOLDEN
    at_left, at_right = curve(Fraction(left)), curve(Fraction(right))
    while high - low > _ROUGH * high:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = curve(Fraction(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = curve(Fraction(right))
    return Fraction(f"{(low + high) / 2:.6g}")
