"""The oracle draws from the exact laws too, and what it draws cannot be told from what our samplers draw."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, RoundedNormal
from privately.noise.kernels import Draws
from privately.noise.repeatable import RepeatableStream
from privately.noise.source import Source
from tests.noise.oracle import Bits, Oracle, Unit, divide
from tests.noise.statistical_cases import (
    Case,
    Cdf,
    Coin,
    Decaying,
    Even,
    choose,
    histograms,
    planted,
)
from tests.noise.statistics import (
    CHUNK,
    LEVEL,
    accept,
    compare,
    drawn,
    examine,
    missed,
    most_surprising,
    reject,
    source,
    statistical,
)

FEW = 4_000
MANY = 300_000

ORACLES = choose(
    "DiscreteLaplace 1/3",
    "DiscreteLaplace 7/3",
    "DiscreteLaplace 65",
    "DiscreteLaplace 2^60",
    "DiscreteExponential 7/3",
    "Geometric 1/3",
    "RoundedNormal 1/3",
    "RoundedNormal 10",
    "RoundedNormal 200/3",
    "DiscreteGaussian 1",
    "DiscreteGaussian 100",
    "DiscreteGaussian 5000",
    "DiscreteGaussian 2^80",
    "Even 10",
    "Even 1e+30",
    "Coin 1/3",
    "Decaying 1/10",
    "Decaying 5",
)

BIASED = Case(DiscreteLaplace(scale=3))
"""With a wrong division, the oracle is off by one percent here."""


def asked(case: Case, divide: Callable[[Fraction, int], Fraction] = divide) -> Callable[[], int]:
    """What the oracle draws for a case."""
    oracle = Oracle(Bits(source(part="oracle").stream), divide)
    match case.law:
        case DiscreteLaplace(scale=scale):
            return lambda: oracle.discrete_laplace(scale)
        case DiscreteExponential(scale=scale):
            return lambda: oracle.discrete_exponential(scale)
        case Geometric(success=success):
            return lambda: oracle.geometric(success)
        case RoundedNormal(standard_deviation=deviation):
            return lambda: oracle.rounded_normal(deviation)
        case DiscreteGaussian(variance=variance):
            return lambda: oracle.discrete_gaussian(variance)
        case Even(upper=upper):
            return lambda: oracle.uniform(upper)
        case Coin(probability=probability):
            return lambda: oracle.bernoulli(probability)
        case Decaying(exponent=exponent):
            return lambda: oracle.bernoulli_exp(exponent)
    raise NotImplementedError(case)


def answers(size: int, draw: Callable[[], int]) -> Iterator[Draws]:
    """So many of them, as our samplers give them."""
    for start in range(0, size, CHUNK):
        found = [int(draw()) for _ in range(min(CHUNK, size - start))]
        yield np.array(found, np.int64 if max(map(abs, found)) < 2**63 else object)


def agree(case: Case, size: int) -> None:
    """The oracle with the law, and with as many draws of our sampler."""
    asked_for, looks = list(answers(size, asked(case))), histograms(case, size)
    ours = drawn(case.sampler, size)
    accept(most_surprising([examine(looks, asked_for), compare(looks[0], asked_for, ours)]))


@pytest.mark.thinned(2)
@statistical("case", ORACLES)
def test_oracle_law_and_sampler_agree(case: Case) -> None:
    agree(case, FEW)


@pytest.mark.slow
@statistical("case", ORACLES)
def test_oracle_law_and_sampler_agree_for_long(case: Case) -> None:
    agree(case, MANY)


def wrong_division(x: Fraction, n: int) -> Fraction:
    """The fault of a rational library that once biased the samplers of OpenDP (its issue 2638, of 2026).

    To divide a/b by n, the common divisor g of a and n was taken out of b instead of n.
    """
    g = gcd(x.numerator, n)
    return Fraction(x.numerator // g, max(x.denominator // g, 1) * n)


def coin_by(divide: Callable[[Fraction, int], Fraction], exponent: Fraction) -> Fraction:
    """The probability of `bernoulli_exp` for an exponent of at most 1, whatever the division is."""
    total, product = Fraction(0), Fraction(1)
    for n in range(1, 30):
        total += product if n % 2 else -product
        product *= min(divide(exponent, n), Fraction(1))
    return total


def laplace_by(divide: Callable[[Fraction, int], Fraction], scale: Fraction) -> Cdf:
    """The law of `discrete_laplace`, whatever the division is."""
    t, s = scale.numerator, scale.denominator
    accepted = [float(coin_by(divide, Fraction(u, t))) for u in range(t)]
    again = float(coin_by(divide, Fraction(1)))
    sizes = np.zeros(60 * t // s + 1)
    for x in range(s * sizes.size):
        sizes[x // s] += accepted[x % t] / sum(accepted) * (1 - again) * again ** (x // t)
    masses = np.concatenate([sizes[:0:-1], sizes]) / (2 - sizes[0])
    below = np.concatenate([[0.0], np.cumsum(masses)])
    return lambda k: Fraction(below[min(max(k + sizes.size, 0), masses.size)])


def test_the_law_by_division_is_the_law_where_division_is_right() -> None:
    right, wrong = laplace_by(divide, Fraction(3)), laplace_by(wrong_division, Fraction(3))
    assert all(abs(right(k) - BIASED.cdf(k)) < 1e-12 for k in range(-200, 200))
    assert max(abs(wrong(k) - BIASED.cdf(k)) for k in range(-9, 9)) > 0.009
    assert wrong_division(Fraction(2, 3), 4) == Fraction(1, 4)
    assert wrong_division(Fraction(2, 3), 5) == Fraction(2, 15)


@statistical("case", [Case(Decaying(Fraction(2, 3))), BIASED])
def test_a_wrong_division_in_the_oracle_is_found(case: Case) -> None:
    size = 60_000
    if isinstance(case.law, Decaying):
        truth = Case(Coin(coin_by(wrong_division, case.law.exponent))).cdf
    else:
        truth = laplace_by(wrong_division, Fraction(3))
    lost = missed(histograms(case, size), planted(case, size, truth), size)
    reject(examine(histograms(case, size), answers(size, asked(case, wrong_division))), missed=lost)


def test_a_wrong_division_is_found_by_comparison_alone() -> None:
    """Without knowing the law. The seeds are fixed, so this is no matter of chance."""
    case, size = Case(Decaying(Fraction(2, 3))), 10_000
    oracle = Oracle(Bits(RepeatableStream(seed="oracle")), wrong_division)
    ours = case.sampler.draw(Source(RepeatableStream(seed="sampler")), size)
    theirs = answers(size, lambda: oracle.bernoulli_exp(Fraction(2, 3)))
    assert compare(histograms(case, size)[0], theirs, [ours]).chance <= LEVEL


def test_every_bit_is_handed_out_once_and_in_order() -> None:
    stream = RepeatableStream(seed="bits").take(2048).tobytes()
    bits, told, read = Bits(RepeatableStream(seed="bits")), 0, 0
    for count in (1, 7, 64, 0, 5000, 3, 4096):
        told |= bits.take(count) << read
        read += count
    assert told == int.from_bytes(stream, "little") & (1 << read) - 1


def test_a_lazy_number_only_becomes_better_known() -> None:
    x = Unit(Bits(RepeatableStream(seed="unit")))
    for _ in range(5):
        lower, upper, bits = x.lower, x.upper, x.bits
        x.refine()
        assert 0 <= lower <= x.lower < x.upper <= upper <= 1
        assert x.upper - x.lower == Fraction(1, 2**x.bits) < Fraction(1, 2**bits)


def test_certain_answers() -> None:
    oracle = Oracle(Bits(RepeatableStream(seed="certain")))
    for _ in range(100):
        assert oracle.uniform(1) == 0
        assert not oracle.bernoulli(Fraction(0))
        assert oracle.bernoulli(Fraction(1))
        assert oracle.bernoulli_exp(Fraction(0))
        assert oracle.geometric(Fraction(1)) == 0
