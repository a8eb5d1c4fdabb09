"""Laplace or normal noise, and how far sums of it stray from zero."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privately.errors import InvalidParameter
from privately.laws import DiscreteLaplace, RoundedNormal
from privately.laws.series import one_minus_exp
from privately.mechanisms.laplace_sums import EXACT_TERMS, chernoff_half_width, exact_half_width, growth_of
from privately.mechanisms.normal_sums import normal_half_width
from privately.mechanisms.randomness import Randomness
from privately.noise.kernels import Draws
from privately.noise.samplers import NARROWEST, WIDEST, WIDEST_GAUSSIAN
from privately.rounding import Enclosure, Number, log_sum_exp, rational, round_down

Noise = Literal["discrete_laplace", "rounded_gaussian"]
NOISES: tuple[Noise, ...] = ("discrete_laplace", "rounded_gaussian")
NoiseLaw = DiscreteLaplace | RoundedNormal

LONGEST = 2**40
"""Up to this scale sums of 2^24 draws fit 64 bits, but for a probability below exp(-2^17)."""

_CLOSE = Fraction(1, 10**4)
_STEP = Fraction(5, 4)
_TYPICAL = Fraction(1024)


def law_of(noise: Noise, scale: Number) -> NoiseLaw:
    """Discrete Laplace noise of this scale, or rounded normal noise of this standard deviation."""
    if not isinstance(noise, str) or noise not in NOISES:
        raise InvalidParameter("noise", f"{noise!r} is none of {', '.join(NOISES)}.")
    exact = rational(scale, "scale", minimum=NARROWEST, maximum=widest_of(noise))
    return DiscreteLaplace(scale=exact) if noise == "discrete_laplace" else RoundedNormal(standard_deviation=exact)


def widest_of(noise: Noise) -> Fraction:
    """The largest scale that can be drawn."""
    return WIDEST if noise == "discrete_laplace" else WIDEST_GAUSSIAN


def draw_noise(law: NoiseLaw, size: int, randomness: Randomness) -> Draws:
    """Noise whose sums do not overflow: Python integers where 64 bits might not do."""
    drawn = randomness.draw(law, size=size)
    width = law.scale if isinstance(law, DiscreteLaplace) else law.standard_deviation
    return drawn.astype(object) if width > LONGEST else drawn


def variance_of(law: NoiseLaw) -> Fraction:
    """The variance of one draw, or a little more.

    Theorem: it is 2q/(1-q)^2 with q = exp(-1/scale), and at most standard_deviation^2 + 1/12 for rounded normal noise.
    Reference: moments of the geometric law; Poisson summation
    Proof: docs/theory/mechanisms.md#variance-of-the-noise
    Checked-by: tests/mechanisms/test_sums_of_noise.py::test_variances
    """
    if isinstance(law, RoundedNormal):
        return law.standard_deviation**2 + Fraction(1, 12)
    gap = one_minus_exp(1 / law.scale)
    return (2 * (1 - gap) / (gap * gap)).claim()


def sum_half_width(law: NoiseLaw, terms: int, miss: Fraction) -> int:
    """A w such that a sum of so many draws is within w of zero but for a probability of `miss`.

    The least one for a single draw, and for up to 128 of Laplace noise.
    """
    if terms == 1:
        return law.interval(1 - miss)
    return sums_half_width(law, {terms: 1}, miss)


def sums_half_width(law: NoiseLaw, sums: dict[int, int], miss: Fraction) -> int:
    """The same for several sums at once, sums[k] of them with k terms; they may share terms."""
    if isinstance(law, RoundedNormal):
        squares = np.repeat(np.array(list(sums), np.float64), list(sums.values()))
        return floor(normal_half_width(law.standard_deviation, squares, miss, draws=max(sums)))
    if max(sums) <= EXACT_TERMS:
        return exact_half_width(law, sums, miss)

    def growth(y: Fraction) -> Enclosure:
        one = growth_of(law, y)
        return log_sum_exp([Enclosure.of(count).log() + terms * one for terms, count in sums.items()])

    return floor(law.scale * chernoff_half_width(growth, miss))


def counted(terms: NDArray[np.int64]) -> dict[int, int]:
    """How many sums there are of each number of terms."""
    numbers, counts = np.unique(terms, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def most_noise(interval: Callable[[Fraction], Fraction | int], error: Number, *, highest: Fraction) -> Fraction:
    """The largest scale, to four digits, whose interval is at most `error`, if intervals grow with the scale.

    They grow nearly in proportion to it, which tells where to look.
    """
    allowed = rational(error, "error", minimum=0)
    if interval(NARROWEST) > allowed:
        raise InvalidParameter("error", "cannot be met even with the least noise.")
    if interval(highest) <= allowed:
        return highest
    guess = min(max(_TYPICAL * allowed / interval(_TYPICAL), NARROWEST), highest)
    low = high = round_down(guess, 6)
    while interval(low) > allowed:
        low, high = max(low / _STEP, NARROWEST), low
    while interval(high) <= allowed:
        low, high = high, min(high * _STEP, highest)
    while high > low * (1 + _CLOSE):
        middle = round_down((low + high) / 2, 6)
        low, high = (middle, high) if interval(middle) <= allowed else (low, middle)
    return low
