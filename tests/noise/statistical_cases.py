"""The laws whose samplers are tested, what is looked at in their draws, and the faults that are planted."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, cached_property, singledispatch
from math import isqrt
from typing import Any, Protocol, TypeAlias

import numpy as np
import pytest

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, FiniteLaw, Geometric, RoundedNormal
from privately.noise import samplers
from privately.noise.bins import Bins
from privately.noise.inversion import Cumulative
from privately.noise.kernels import Draws
from privately.noise.samplers import Sampler, build, coin_of_exponential, coin_of_rational, uniform_below
from privately.noise.uniform import Uniform
from privately.noise.weighted import Weighted
from privately.rounding import Interval
from tests.noise.statistics import Cells, Floats, Histogram

Cdf: TypeAlias = Callable[[int], Fraction]

FEW = 200_000
MANY = 50_000_000
MANY_WIDE = 10_000_000
"""Python integers are drawn, and counted, thirty times more slowly."""

RANGES, SIZES, PLACES, BINS = 32, 8, 32, 128
"""Into how many cells the views divide what they look at."""

BINS_AT_MOST = 3200
"""Fifty scales of at most 64 bins each: nothing is drawn beyond."""

_JUST = Fraction(1, 10**7)
"""Added to probabilities, so that none of them is one that a law takes exactly."""


class Cumulated(Protocol):
    """What we need to know of a law: P(X <= k), P(|X| <= w) and their inverses."""

    def cdf(self, k: int) -> Interval: ...
    def quantile(self, probability: Fraction) -> int: ...
    def interval(self, confidence: Fraction) -> int: ...


@dataclass(frozen=True)
class Even:
    """0, 1, ..., upper - 1."""

    upper: int

    def cdf(self, k: int) -> Interval:
        exact = Fraction(min(max(k + 1, 0), self.upper), self.upper)
        return Interval(exact, exact)

    def quantile(self, probability: Fraction) -> int:
        return max(math.ceil(probability * self.upper) - 1, 0)

    interval = quantile


@dataclass(frozen=True)
class Coin:
    """1 with this probability, otherwise 0."""

    probability: Fraction

    def cdf(self, k: int) -> Interval:
        exact = Fraction(k >= 1) if k != 0 else 1 - self.probability
        return Interval(exact, exact)

    def quantile(self, probability: Fraction) -> int:
        return int(probability > 1 - self.probability)

    interval = quantile


@dataclass(frozen=True)
class Decaying:
    """1 with probability exp(-exponent), otherwise 0."""

    exponent: Fraction

    def cdf(self, k: int) -> Interval:
        return self._coin().cdf(k)

    def quantile(self, probability: Fraction) -> int:
        return self._coin().quantile(probability)

    interval = quantile

    def _coin(self) -> Coin:
        return Coin(middle(DiscreteExponential(scale=1 / self.exponent).tail(0)))


@dataclass(frozen=True)
class Weighing:
    """i with a probability in proportion to counts[i] exp(-exponents[i])."""

    counts: tuple[int, ...]
    exponents: tuple[Fraction, ...]

    def cdf(self, k: int) -> Interval:
        return self._listed.cdf(k)

    def quantile(self, probability: Fraction) -> int:
        return self._listed.quantile(probability)

    interval = quantile

    @cached_property
    def _listed(self) -> FiniteLaw:
        heads = [middle(Decaying(x).cdf(1)) - middle(Decaying(x).cdf(0)) if x else 1 for x in self.exponents]
        weights = [count * head for count, head in zip(self.counts, heads, strict=True)]
        return FiniteLaw(table={i: weight / sum(weights) for i, weight in enumerate(weights)})


@dataclass(frozen=True)
class Case:
    """A law and its sampler."""

    law: Any

    def __str__(self) -> str:
        kind, values = type(self.law).__name__, [getattr(self.law, one.name) for one in fields(self.law)]
        return " ".join([kind, *(f"of {len(one)}" if isinstance(one, tuple) else short(one) for one in values)])

    @cached_property
    def sampler(self) -> Sampler:
        return sampler_of(self.law)

    @cached_property
    def cdf(self) -> Cdf:
        """P(X <= k) to 40 digits."""
        return lambda k: middle(self.law.cdf(k))

    def scaled(self, factor: Fraction) -> "Case":
        """The wrong scale."""
        return Case(scaled(self.law, factor))

    def widest(self, size: int, expected: Fraction) -> int:
        """The largest size that so many draws are expected to exceed more often than that, or -1."""
        reached: int = self.law.interval(1 - expected / size)
        return reached - 1


def short(value: Fraction | int) -> str:
    """2^40/3 instead of its digits."""
    top, bottom = value.numerator, value.denominator
    texts = [f"2^{n.bit_length() - 1}" if n > 9999 and n & (n - 1) == 0 else f"{n:g}" for n in (top, bottom)]
    return texts[0] if bottom == 1 else "/".join(texts)


def middle(enclosure: Interval) -> Fraction:
    """The truth to 40 digits."""
    lower, upper = Fraction(enclosure.lower), Fraction(enclosure.upper)
    assert upper - lower < Fraction(1, 10**40)
    return (lower + upper) / 2


def shifted(cdf: Cdf) -> Cdf:
    """The law of X + 1."""
    return lambda k: cdf(k - 1)


def saturated(cdf: Cdf, widest: int) -> Cdf:
    """The law of X cut off at +-widest."""
    return lambda k: Fraction(0) if k < -widest else Fraction(1) if k >= widest else cdf(k)


def with_two_zeros(cdf: Cdf) -> Cdf:
    """The law of a size with a sign of its own, where -0 was not rejected."""
    zero = cdf(0) - cdf(-1)
    return lambda k: (cdf(k) + (zero if k >= 0 else 0)) / (1 + zero)


@singledispatch
def scaled(law: Any, factor: Fraction) -> Any:
    """The same law with another scale; a smaller one means less noise."""
    raise NotImplementedError(law)


@scaled.register
def _(law: DiscreteLaplace | DiscreteExponential, factor: Fraction) -> Cumulated:
    return type(law)(scale=law.scale * factor)


@scaled.register
def _(law: Geometric, factor: Fraction) -> Cumulated:
    return Geometric(success=law.success / factor)


@scaled.register
def _(law: RoundedNormal, factor: Fraction) -> Cumulated:
    return RoundedNormal(standard_deviation=law.standard_deviation * factor)


@scaled.register
def _(law: DiscreteGaussian, factor: Fraction) -> Cumulated:
    return DiscreteGaussian(variance=law.variance * factor**2)


@scaled.register
def _(law: Coin, factor: Fraction) -> Cumulated:
    """It is the rarer side whose probability changes."""
    p = law.probability
    return Coin(p * factor if 2 * p <= 1 else 1 - (1 - p) * factor)


@scaled.register
def _(law: Decaying, factor: Fraction) -> Cumulated:
    return Decaying(law.exponent / factor)


@singledispatch
def sampler_of(law: Any) -> Sampler:
    """What draws from a law; never one that is kept, so that planted faults stay where they are planted."""
    return build(law)


@sampler_of.register
def _(law: Even) -> Sampler:
    return uniform_below.__wrapped__(law.upper)


@sampler_of.register
def _(law: Coin) -> Sampler:
    return coin_of_rational(law.probability)


@sampler_of.register
def _(law: Decaying) -> Sampler:
    return coin_of_exponential(law.exponent)


@sampler_of.register
def _(law: Weighing) -> Sampler:
    return Weighted(law.counts, law.exponents)


def size_tail(law: Any, sizes: Floats) -> Floats:
    """P(|X| > w) to 13 digits, for many w at once: enough for cells that the laws would take minutes for."""
    match law:
        case DiscreteLaplace(scale=scale):
            return 2 * np.exp(-(sizes + 1) / float(scale)) / (1 + math.exp(-1 / scale))
        case DiscreteExponential(scale=scale):
            return np.exp(-(sizes + 1) / float(scale))
        case Geometric(success=success):
            return np.exp((sizes + 1) * math.log1p(-success))
        case DiscreteGaussian(variance=variance) if variance < 2**32:
            weights = np.exp(-(np.arange(12 * isqrt(int(variance)) + 50, dtype=np.float64) ** 2) / float(2 * variance))
            weights[0] = 0.5
            above = np.append(np.cumsum(weights[::-1])[::-1], 0) / weights.sum()
            from_there: Floats = above[np.minimum(sizes.astype(np.int64) + 1, above.size - 1)]
            return from_there
        case DiscreteGaussian() | RoundedNormal():
            # A sum over whole numbers is the integral between half ones but for 1/(24 variance).
            deviation = law.standard_deviation if isinstance(law, RoundedNormal) else math.sqrt(law.variance)
            farther: Floats = np.vectorize(math.erfc)((sizes + 0.5) / (float(deviation) * math.sqrt(2)))
            return farther
        case Even(upper=upper):
            return np.maximum(0, upper - 1 - sizes) / upper
    raise NotImplementedError(law)


@cache
def histograms(case: Case, size: int) -> Sequence[Histogram]:
    """What is looked at in so many draws. The first one has ranges for cells."""
    found = [range_histogram(range_views(case, size), case.cdf)]
    if isinstance(case.sampler, Bins):
        found.append(_bins(case.law, case.sampler._shape.shift))
    if isinstance(case.sampler, (Bins, Uniform)) and case.law.interval(Fraction(1, 2)) > 0:
        found.append(_residues(case.law))
    return found


def planted(case: Case, size: int, cdf: Cdf) -> list[Floats | None]:
    """The probabilities of the ranges where the draws follow `cdf` instead; those of the other cells are not known."""
    return [range_masses(range_views(case, size), cdf), *[None] * (len(histograms(case, size)) - 1)]


@cache
def range_views(case: Case, size: int) -> Mapping[str, Sequence[int]]:
    """The last outcome of each cell of each view; beyond the last of them there is one more cell."""
    tail, far = case.widest(size, Fraction(100)), case.widest(size, Fraction(1, 10**14)) + 1
    sizes = {case.law.interval(Fraction(i, SIZES) + _JUST) for i in range(1, SIZES)}
    views = {
        "ranges": {case.law.quantile(Fraction(i, RANGES) + _JUST) for i in range(1, RANGES)},
        "sizes": {edge for w in sizes for edge in (-w - 1, w)},
        "signs": {-1, 0},
        "tails": {-tail - 1, tail} if tail >= 0 else set(),
        "impossible": {-far - 1, far},
    }
    return {name: sorted(edges) for name, edges in views.items()}


def range_masses(views: Mapping[str, Sequence[int]], cdf: Cdf) -> Floats:
    """The probabilities of the common cells of all views."""
    ends = [Fraction(0), *map(cdf, _edges(views)), Fraction(1)]
    return np.array([float(after - before) for before, after in itertools.pairwise(ends)])


def range_histogram(views: Mapping[str, Sequence[int]], cdf: Cdf) -> Histogram:
    """The common cells of all views, one of which is by size."""
    edges = _edges(views)
    inside = [*edges, edges[-1] + 1]
    cells = {name: [bisect_left(own, k) for k in inside] for name, own in views.items()}
    # The ends of sizes lie symmetrically, so the cells of -k and k are equally far from the middle one.
    cells["sizes"] = [abs(2 * cell - len(views["sizes"])) for cell in cells["sizes"]]
    native = np.array(edges, np.int64 if -edges[0] < 2**62 and edges[-1] < 2**62 else object)

    def label(draws: Draws) -> Cells:
        if object in {draws.dtype, native.dtype}:
            return np.array([bisect_left(edges, k) for k in draws.tolist()], np.int64)
        return np.searchsorted(native, draws).astype(np.int64)

    return Histogram(label, range_masses(views, cdf), _compact(cells))


def _edges(views: Mapping[str, Sequence[int]]) -> list[int]:
    return sorted({*itertools.chain(*views.values())})


def _bins(law: Cumulated, shift: int) -> Histogram:
    """Bins 2^shift wide, each in equal parts: which bin, and where in a bin, whichever it is."""
    parts = min(PLACES, 1 << shift)
    unit, top = shift - parts.bit_length() + 1, parts * BINS_AT_MOST
    masses = -np.diff(_at_least(law, np.arange(top + 1, dtype=np.float64) * 2.0**unit), append=0)
    cells = np.arange(top + 1)

    def label(draws: Draws) -> Cells:
        found: Cells = np.minimum(sizes_of(draws) >> unit, top).astype(np.int64)
        return found

    return Histogram(label, masses, _compact({"bins": np.minimum(cells // parts, BINS), "places": cells % parts}))


def _residues(law: Cumulated) -> Histogram:
    """The last digits. If there are too many outcomes to add up, all residues are equally likely, but for 1/scale."""
    widest = law.interval(1 - Fraction(1, 10**17))
    masses = np.full(48, 1 / 48)
    if widest < 2**21:
        sizes = np.arange(widest + 1)
        masses = np.bincount(
            sizes % 48, weights=-np.diff(_at_least(law, sizes.astype(np.float64)), append=0), minlength=48
        )
    residues = np.arange(48)
    return Histogram(
        lambda draws: (sizes_of(draws) % 48).astype(np.int64),
        masses,
        _compact({"modulo 16": residues % 16, "modulo 3": residues % 3}),
    )


def sizes_of(draws: Draws) -> Any:
    """|X|, in Python integers if need be."""
    return abs(draws)


def _at_least(law: Cumulated, sizes: Floats) -> Floats:
    """P(|X| >= w), for w from 0 on."""
    found = size_tail(law, sizes - 1)
    found[0] = 1
    return found


def _compact(views: Mapping[str, Any]) -> dict[str, Cells]:
    """Cells numbered from zero on, without views that see nothing."""
    numbered = {name: np.unique(cells, return_inverse=True)[1] for name, cells in views.items()}
    return {name: cells for name, cells in numbered.items() if cells.max() > 0}


def _cases(law: Callable[..., Cumulated], parameter: str, *values: Fraction | int) -> list[Case]:
    return [Case(law(**{parameter: Fraction(value)})) for value in values]


THIRD = Fraction(1, 3)

TABLES = [
    *_cases(DiscreteLaplace, "scale", Fraction(1, 1000), THIRD, 1, 7 * THIRD, 10, 64),
    *_cases(DiscreteExponential, "scale", 7 * THIRD),
    *_cases(Geometric, "success", THIRD, Fraction(1, 2)),
    *_cases(RoundedNormal, "standard_deviation", THIRD, 1, 10, 64),
    *_cases(DiscreteGaussian, "variance", Fraction(1, 9), 1, 100, 4096),
]
BINNED = [
    *_cases(DiscreteLaplace, "scale", 65, 1000, 2**40 * THIRD, 2**53, 2**60),
    *_cases(DiscreteExponential, "scale", 100, 2**40),
    *_cases(Geometric, "success", Fraction(1, 1000), Fraction(1, 2**40)),
    *_cases(RoundedNormal, "standard_deviation", 200 * THIRD, 1000, 2**20, 2**40),
    *_cases(DiscreteGaussian, "variance", 5000, 10**6, 2**40, 2**80),
]
LAWS = [*TABLES, *BINNED]
WASTEFUL = [Case(Even((2 << bits) // 35)) for bits in (16, 32, 64)]
"""Bounds that fit into a word 17.5 times, so that half of the outcomes would be 6 % too likely without rejection."""

UNIFORM = [*(Case(Even(upper)) for upper in (2, 3, 10, 1000, 2**16 + 1, 10**30)), *WASTEFUL]
COINS = [
    *_cases(Coin, "probability", THIRD, Fraction(1, 1000), Fraction(999, 1000)),
    *_cases(Decaying, "exponent", Fraction(1, 10), 1, 5),
]
LISTED = [
    Case(FiniteLaw(table={-7: "1/3", 0: "1/6", 2: "1/2"})),
    Case(FiniteLaw(table={k**3: Fraction(k + 100, 20100) for k in range(-100, 101)})),
]
CASES = [*LAWS, *UNIFORM, *COINS, *LISTED]


def many(case: Case) -> int:
    """How often a case is drawn in the slow suite."""
    return MANY_WIDE if str(case) in {"DiscreteLaplace 2^60", "Even 1e+30"} else MANY


def choose(*names: str) -> list[Case]:
    """Cases by name."""
    named = {str(case): case for case in CASES}
    return [named[name] for name in names]


def bracketed(law: Cumulative) -> Cdf:
    """The cumulative distribution function that a sampler believes in."""

    def cdf(k: int) -> Fraction:
        if law.lowest is not None and k < law.lowest:
            return Fraction(0)
        if law.highest is not None and k >= law.highest:
            return Fraction(1)
        return Fraction(law.bracket(k, 128).lower, 1 << 128)

    return cdf


STEEP = choose("DiscreteLaplace 1000", "Geometric 1/1000", "RoundedNormal 1000", "DiscreteGaussian 1e+06")


def steep(case: Case, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Bins almost as wide as the scale, so that many proposals are rejected. The screen must not see them."""
    monkeypatch.setattr(samplers, "_BINS_PER_SCALE", 1)
    return Case(case.law)
