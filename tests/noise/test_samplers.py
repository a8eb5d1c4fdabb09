"""Every sampler draws from its law. That wrong ones would be found out is shown in test_statistics.py."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, RoundedNormal
from privately.noise import inversion, samplers
from privately.noise.bins import Bins
from privately.noise.compiled import NUMBA
from privately.noise.inversion import Inversion
from privately.noise.kernels import Kernels
from privately.noise.repeatable import RepeatableStream
from privately.noise.source import Source
from privately.rounding import Enclosure, Interval
from tests.noise.statistical_cases import (
    BINNED,
    CASES,
    COINS,
    FEW,
    STEEP,
    TABLES,
    Case,
    Even,
    Weighing,
    bracketed,
    choose,
    histograms,
    many,
    middle,
    range_histogram,
    range_views,
    steep,
)
from tests.noise.statistics import accept, drawn, examine, source, statistical

COMPILED = choose(
    "DiscreteLaplace 7/3",
    "DiscreteLaplace 1000",
    "DiscreteLaplace 2^60",
    "Geometric 1/1000",
    "RoundedNormal 10",
    "RoundedNormal 200/3",
    "DiscreteGaussian 4096",
    "DiscreteGaussian 1e+06",
    "Coin 1/3",
)


@pytest.mark.thinned(3)
@statistical("case", CASES)
def test_draws_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, FEW), drawn(case.sampler, FEW)))


@statistical("case", COMPILED)
def test_compiled_draws_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, FEW), drawn(case.sampler, FEW, source(NUMBA))))


@pytest.mark.slow
@statistical("case", CASES)
def test_many_draws_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, many(case)), drawn(case.sampler, many(case))))


@pytest.mark.slow
@statistical("case", CASES)
def test_many_compiled_draws_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, many(case)), drawn(case.sampler, many(case), source(NUMBA))))


CHOICES = [
    Case(Weighing((1, 3, 2**40, 1), (Fraction(0), Fraction(1, 3), Fraction(28), Fraction(2)))),
    Case(Weighing(tuple(range(1, 41)), tuple(Fraction(i, 7) for i in range(40)))),
]


@statistical("case", CHOICES)
def test_weighted_choices_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, 10_000), drawn(case.sampler, 10_000)))


@pytest.mark.slow
@statistical("case", CHOICES)
def test_many_weighted_choices_fit_their_law(case: Case) -> None:
    accept(examine(histograms(case, 1_000_000), drawn(case.sampler, 1_000_000)))


class Counting(Inversion):
    """Counts how often the bits of a word were not enough."""

    refined = 0

    def _refine(self, source: Source, known: int) -> int:
        self.refined += 1
        return super()._refine(source, known)


class Narrow(NamedTuple):
    """Words of eight bits, and `added` bits at a time after them."""

    case: Case
    cell_bits: int
    added: int

    def __str__(self) -> str:
        return f"{self.case}, {self.cell_bits} bits, {self.added} more"


NARROW = [
    Narrow(case, cell_bits, added)
    for case in choose("DiscreteLaplace 7/3", "RoundedNormal 10", "DiscreteGaussian 100", "Coin 1/3")
    for cell_bits, added in ((4, 8), (8, 64))
]


def fit_narrow_words(narrow: Narrow, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inversion, "_MORE", narrow.added)
    case = narrow.case
    assert isinstance(case.sampler, Inversion)
    sampler = Counting(case.sampler._law, cell_bits=narrow.cell_bits, word_bits=8)
    table = [sampler.first - 1, sampler._last]
    accept(examine([range_histogram({**range_views(case, size), "the table": table}, case.cdf)], drawn(sampler, size)))
    _, undecided = inversion._locate(sampler._bounds, np.arange(256, dtype=np.uint64), sampler._ends())
    assert sampler.refined > size * np.count_nonzero(undecided) / 1024, "a quarter of what is expected"
    assert case in COINS or size * (case.cdf(table[0]) + 1 - case.cdf(table[1])) > 20, "draws beyond the table"


@pytest.mark.thinned(2)
@statistical("narrow", NARROW)
def test_draws_from_narrow_words_fit_their_law(narrow: Narrow, monkeypatch: pytest.MonkeyPatch) -> None:
    fit_narrow_words(narrow, 10_000, monkeypatch)


@pytest.mark.slow
@statistical("narrow", NARROW)
def test_many_draws_from_narrow_words_fit_their_law(narrow: Narrow, monkeypatch: pytest.MonkeyPatch) -> None:
    fit_narrow_words(narrow, 20_000_000 if narrow.case in COINS else 1_000_000, monkeypatch)


BLIND = Kernels(
    name="blind",
    look_up=lambda cells, words, out: np.arange(words.size),
    screen=lambda slope, bins, places, coins: (np.zeros(bins.size, np.bool_), np.arange(bins.size)),
)
"""Decides nothing, so that all is decided by words and by added bits."""


def fit_without_screen(case: Case, size: int) -> None:
    accept(examine(histograms.__wrapped__(case, size), drawn(case.sampler, size, source(BLIND))))


@statistical("case", STEEP)
def test_draws_without_screen_fit_their_law(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    fit_without_screen(steep(case, monkeypatch), 10_000)


@pytest.mark.slow
@statistical("case", STEEP)
def test_many_draws_without_screen_fit_their_law(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    fit_without_screen(steep(case, monkeypatch), 1_000_000)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteExponential])
def test_tables_up_to_scale_64_and_bins_above(law: Any) -> None:
    assert isinstance(samplers.build(law(scale=64)), Inversion)
    assert isinstance(samplers.build(law(scale=64 + Fraction(1, 10**9))), Bins)


def test_tables_and_bins_of_the_other_laws() -> None:
    for law in (Geometric(success="1/64"), RoundedNormal(standard_deviation=64), DiscreteGaussian(variance=4096)):
        assert isinstance(samplers.build(law), Inversion)
    for law in (Geometric(success="1/65"), RoundedNormal(standard_deviation=65), DiscreteGaussian(variance=4097)):
        assert isinstance(samplers.build(law), Bins)


@pytest.mark.parametrize(
    ("law", "field"),
    [
        (DiscreteLaplace(scale="1/1001"), "scale"),
        (DiscreteLaplace(scale=2**60 + 1), "scale"),
        (DiscreteExponential(scale="1/1001"), "scale"),
        (DiscreteExponential(scale=2**60 + 1), "scale"),
        (Geometric(success=Fraction(1, 2**60 + 1)), "success"),
        (RoundedNormal(standard_deviation="1/1001"), "standard_deviation"),
        (RoundedNormal(standard_deviation=2**40 + 1), "standard_deviation"),
        (DiscreteGaussian(variance=Fraction(1, 10**6 + 1)), "variance"),
        (DiscreteGaussian(variance=2**80 + 1), "variance"),
    ],
    ids=repr,
)
def test_laws_too_narrow_or_too_wide_are_refused(law: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        samplers.build(law)
    assert caught.value.field == field


def test_other_laws_are_refused() -> None:
    unknown: Any = Even(3)
    with pytest.raises(NotSupported, match="Even"):
        samplers.build(unknown)


def test_equal_laws_share_their_tables() -> None:
    assert samplers.sampler(DiscreteLaplace(scale="0.5")) is samplers.sampler(DiscreteLaplace(scale="1/2"))
    assert samplers.uniform_below(10) is samplers.uniform_below(10)


def test_certain_outcomes() -> None:
    origin = Source(RepeatableStream(seed="certain"))
    for sampler, outcome in (
        (samplers.coin_of_rational(Fraction(0)), 0),
        (samplers.coin_of_rational(Fraction(1)), 1),
        (samplers.coin_of_exponential(Fraction(0)), 1),
        (samplers.build(Geometric(success=1)), 0),
    ):
        assert sampler.draw(origin, 10).tolist() == [outcome] * 10


@pytest.mark.parametrize("case", [*TABLES, *COINS], ids=str)
def test_tables_are_made_from_the_law(case: Case) -> None:
    """What the sampler brackets lies within what the law encloses, or overlaps it."""
    assert isinstance(case.sampler, Inversion)
    believed = bracketed(case.sampler._law)
    for k in {*range(-3, 4), *range_views(case, FEW)["sizes"], *range_views(case, FEW)["tails"]}:
        assert abs(believed(k) - case.cdf(k)) < Fraction(1, 10**37)


@pytest.mark.parametrize("case", BINNED, ids=str)
def test_bin_and_place_together_have_the_density_of_the_law(case: Case) -> None:
    """P(bin) times the chance of acceptance, against that in the first place of all."""
    assert isinstance(case.sampler, Bins)
    shape, coarse = case.sampler._shape, case.sampler._shape.coarse._law
    width = 1 << shape.shift

    def proposed(j: int, place: int) -> Fraction:
        before = coarse.bracket(j - 1, 200).lower if j else 0
        return (
            Fraction(coarse.bracket(j, 200).lower - before) * shape.density(j, place << 64 - shape.shift, 64, 200).lower
        )

    for j, place in ((0, 0), (0, 1), (0, width - 1), (1, 0), (1, width // 2), (7, width - 1), (150, 1)):
        found = proposed(j, place) / proposed(0, 0)
        k = j * width + place
        expected = middle(_density_at(case.law, k)) / middle(_density_at(case.law, 0))
        assert abs(found / expected - 1) < Fraction(1, 10**25)


def _density_at(law: Any, k: int) -> Interval:
    """The mass at k, or the density there of the normal law before it is rounded, each up to a factor."""
    if isinstance(law, RoundedNormal):
        return Enclosure.of(-Fraction(k * k) / (2 * law.standard_deviation**2)).exp().interval("density")
    mass: Interval = law.pmf(k)
    return mass
