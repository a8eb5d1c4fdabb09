"""From a law to the sampler that draws from it: by inversion while its scale is at most 64, through bins above."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import accumulate
from math import isqrt
from typing import NamedTuple, Protocol

from privately.errors import NotSupported
from privately.laws import (
    DiscreteExponential,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Geometric,
    Law,
    RoundedNormal,
)
from privately.noise.bins import Bins, Shape
from privately.noise.brackets import (
    Bracket,
    exp_minus,
    gaussian_tails,
    minus_log_complement,
    normal_tail,
    power,
    quotient,
    ratio,
)
from privately.noise.inversion import Cumulative, Inversion, Listed
from privately.noise.kernels import SLOPE_BITS, Draws, Slope
from privately.noise.source import Source
from privately.noise.uniform import Uniform
from privately.rounding import rational

DIRECT = 64
"""The largest scale or standard deviation with a table of its own."""

NARROWEST = Fraction(1, 1000)
WIDEST = Fraction(2**60)
WIDEST_GAUSSIAN = Fraction(2**40)

LONGEST = 2**53
"""The largest scale with draws in 64 bits: P(|X| >= 2^62) is then below 2^-700."""

COIN_CELL_BITS = 8
"""A coin has one boundary: a small table serves, and is quickly made."""

KEPT = 64
"""Samplers kept of each kind; a table takes some 200 kB."""

_BINS_PER_SCALE = 32
_HALF = Fraction(1, 2)


class Decay(NamedTuple):
    """q, the chance of going on: power(n, bits) brackets q^n, and rate(bits) brackets -ln q."""

    power: Callable[[int, int], Bracket]
    rate: Callable[[int], Bracket]


class Sampler(Protocol):
    """Draws from one law, of so many bytes each: 8, or more for Python integers."""

    bytes_per_draw: int

    def draw(self, source: Source, size: int) -> Draws:
        """So many independent draws."""


@lru_cache(maxsize=KEPT)
def sampler(law: Law) -> Sampler:
    """The sampler of a law, tables included; kept, since tables cost more than most batches."""
    return build(law)


@lru_cache(maxsize=KEPT)
def uniform_below(upper: int) -> Sampler:
    """0, 1, ..., upper - 1."""
    return Uniform(upper)


def coin_of_rational(probability: Fraction) -> Sampler:
    """1 with this probability, otherwise 0. Made anew each time: what it was asked before must not show."""
    if probability in {0, 1}:
        return Inversion(certain(int(probability)), cell_bits=COIN_CELL_BITS)
    return Inversion(coin(lambda bits: ratio(probability, bits)), cell_bits=COIN_CELL_BITS)


def coin_of_exponential(exponent: Fraction) -> Sampler:
    """1 with probability exp(-exponent), otherwise 0. Made anew each time, as exponents may come from data."""
    law = coin(lambda bits: exp_minus(exponent, bits)) if exponent else certain(1)
    return Inversion(law, cell_bits=COIN_CELL_BITS)


@singledispatch
def build(law: Law) -> Sampler:
    """Make the tables of a law."""
    raise NotSupported(f"there is no sampler for {type(law).__name__}.", hint="Draw from one of privately.laws.")


@build.register
def _(law: FiniteLaw) -> Sampler:
    sums = list(accumulate(probability for _, probability in law.table))
    places = Cumulative(bracket=lambda k, bits: ratio(sums[k], bits), lowest=0, highest=len(sums) - 1)
    return Listed(Inversion(places), [outcome for outcome, _ in law.table])


@build.register
def _(law: DiscreteLaplace) -> Sampler:
    rational(law.scale, "scale", minimum=NARROWEST, maximum=WIDEST)
    decay = _exponential_decay(law.scale)
    if law.scale <= DIRECT:
        return Inversion(two_sided(decay))
    return _fading(decay, law.scale, signed=True)


@build.register
def _(law: DiscreteExponential) -> Sampler:
    rational(law.scale, "scale", minimum=NARROWEST, maximum=WIDEST)
    decay = _exponential_decay(law.scale)
    if law.scale <= DIRECT:
        return Inversion(one_sided(decay))
    return _fading(decay, law.scale, signed=False)


@build.register
def _(law: Geometric) -> Sampler:
    rational(law.success, "success", minimum=1 / WIDEST)
    if law.success == 1:
        return Inversion(certain(0))
    decay = _geometric_decay(law.success)
    if law.success * DIRECT >= 1:
        return Inversion(one_sided(decay))
    return _fading(decay, 1 / law.success, signed=False)


@build.register
def _(law: RoundedNormal) -> Sampler:
    rational(law.standard_deviation, "standard_deviation", minimum=NARROWEST, maximum=WIDEST_GAUSSIAN)
    if law.standard_deviation <= DIRECT:
        return Inversion(rounded_normal(law.standard_deviation))
    return _bell(law.standard_deviation**2, real=True)


@build.register
def _(law: DiscreteGaussian) -> Sampler:
    rational(law.variance, "variance", minimum=NARROWEST**2, maximum=WIDEST_GAUSSIAN**2)
    if law.variance <= DIRECT**2:
        return Inversion(discrete_gaussian(law.variance))
    return _bell(law.variance, real=False)


def certain(outcome: int) -> Cumulative:
    """The law of a constant."""
    return Cumulative(bracket=lambda k, bits: ratio(Fraction(k >= outcome), bits), lowest=outcome, highest=outcome)


def coin(heads: Callable[[int], Bracket]) -> Cumulative:
    """1 with the probability that heads(bits) brackets, otherwise 0."""
    return Cumulative(bracket=lambda _, bits: heads(bits).complement(bits), lowest=0, highest=1)


def one_sided(decay: Decay) -> Cumulative:
    """P(X > k) = q^(k+1) for k >= 0."""
    return Cumulative(bracket=lambda k, bits: decay.power(k + 1, bits).complement(bits), lowest=0)


def two_sided(decay: Decay) -> Cumulative:
    """P(X <= -n) = q^n/(1 + q) for n >= 1, and symmetric."""

    @lru_cache(maxsize=8)
    def one_plus_q(bits: int) -> Bracket:
        one, q = 1 << bits, decay.power(1, bits)
        return Bracket(one + q.lower, one + q.upper)

    def below(n: int, bits: int) -> Bracket:
        return quotient(decay.power(n, bits), one_plus_q(bits), bits)

    return _symmetric(below)


def rounded_normal(standard_deviation: Fraction) -> Cumulative:
    """P(X <= -n) = P(N > (n - 1/2)/s), and symmetric."""
    return _symmetric(lambda n, bits: normal_tail((n - _HALF) / standard_deviation, bits))


def discrete_gaussian(variance: Fraction) -> Cumulative:
    """P(X <= -n) is the sum of exp(-j^2/(2v)) over j >= n, divided by that over all j; and symmetric."""

    def below(n: int, bits: int) -> Bracket:
        tails = _tails(1 / variance, bits)
        whole = Bracket(tails[0].lower + tails[1].lower, tails[0].upper + tails[1].upper)
        return quotient(_tail(tails, n), whole, bits)

    return _symmetric(below)


def half_gaussian(c: Fraction) -> Cumulative:
    """P(X = j) in proportion to exp(-c j^2/2) for j >= 0."""

    def bracket(k: int, bits: int) -> Bracket:
        tails = _tails(c, bits)
        return quotient(_tail(tails, k + 1), tails[0], bits).complement(bits)

    return Cumulative(bracket=bracket, lowest=0)


def _symmetric(below: Callable[[int, int], Bracket]) -> Cumulative:
    """The law of X where X and -X have the same one, from below(n, bits), which brackets P(X <= -n) for n >= 1."""
    return Cumulative(bracket=lambda k, bits: below(-k, bits) if k < 0 else below(k + 1, bits).complement(bits))


_tails = lru_cache(maxsize=8)(gaussian_tails)


def _tail(tails: Sequence[Bracket], n: int) -> Bracket:
    """The n-th; beyond the last less than one part is left, since the last was the first below it."""
    return tails[n] if n < len(tails) else Bracket(0, tails[-1].upper)


def _exponential_decay(scale: Fraction) -> Decay:
    return Decay(power=lambda n, bits: exp_minus(n / scale, bits), rate=lambda bits: ratio(1 / scale, bits))


def _geometric_decay(success: Fraction) -> Decay:
    return Decay(
        power=lambda n, bits: power(1 - success, n, bits), rate=lambda bits: minus_log_complement(success, bits)
    )


def _fading(decay: Decay, scale: Fraction, *, signed: bool) -> Bins:
    """q^n through bins: the number of the bin and the place in it are independent."""
    shift = (int(scale) // _BINS_PER_SCALE).bit_length() - 1
    return Bins(
        Shape(
            coarse=Inversion(one_sided(Decay(lambda n, bits: decay.power(n << shift, bits), decay.rate))),
            shift=shift,
            slope=Slope(*decay.rate(SLOPE_BITS + shift), bends=False),
            density=lambda _, place, bits, precision: decay.power(place >> bits - shift, precision),
            real=False,
            signed=signed,
            wide=scale > LONGEST,
        )
    )


def _bell(variance: Fraction, *, real: bool) -> Bins:
    """exp(-y^2/(2v)) through bins, for real or for whole y."""
    shift = isqrt(int(variance) // _BINS_PER_SCALE**2).bit_length() - 1
    c = 4**shift / variance

    def density(j: int, place: int, bits: int, precision: int) -> Bracket:
        x = Fraction(place, 1 << bits)
        return exp_minus(c * x * (j + x / 2), precision)

    return Bins(
        Shape(
            coarse=Inversion(half_gaussian(c)),
            shift=shift,
            slope=Slope(*ratio(c, SLOPE_BITS), bends=True),
            density=density,
            real=real,
            signed=True,
            wide=False,
        )
    )
