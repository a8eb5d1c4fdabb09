"""The bounds of the statistics hold, their budget is kept, and the faults planted for them are found."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from privately.noise import brackets, samplers
from privately.noise.bins import Bins
from privately.noise.brackets import Bracket
from privately.noise.inversion import Inversion
from privately.noise.kernels import NUMPY, Draws, Kernels
from privately.noise.source import Source
from tests.meta.tree import ROOT, TESTS
from tests.noise import statistics
from tests.noise.statistical_cases import (
    BINNED,
    BINS_AT_MOST,
    COINS,
    FEW,
    LAWS,
    MANY,
    STEEP,
    Case,
    Cdf,
    Even,
    bracketed,
    choose,
    histograms,
    many,
    planted,
    sampler_of,
    saturated,
    shifted,
    size_tail,
    steep,
    with_two_zeros,
)
from tests.noise.statistics import (
    LEVEL,
    SLOTS,
    SLOTS_TAKEN,
    WRONG_RUNS,
    Evidence,
    accept,
    chance,
    critical,
    drawn,
    examine,
    likelihood_ratio,
    miss_bound,
    missed,
    reject,
    source,
    statistical,
    usual,
)

SCALED = [case for case in [*LAWS, *COINS] if str(case) != "DiscreteLaplace 1/1000"]
"""That one draws nothing but zeros whatever its scale is, within reason."""

WRONG_FEW = {
    "Coin 1/3": "0.9",
    "Coin 1/1000": "0.2",
    "Coin 999/1000": "0.2",
    "Decaying 1/10": "0.8",
    "Decaying 5": "0.9",
}
WRONG_MANY = {
    "Coin 1/3": "0.995",
    "Coin 1/1000": "0.9",
    "Coin 999/1000": "0.9",
    "Decaying 1/10": "0.99",
    "Decaying 5": "0.99",
    "DiscreteLaplace 2^60": "0.98",
}


def find_wrong_scale(case: Case, size: int, factor: Fraction) -> None:
    wrong = case.scaled(factor)
    lost = missed(histograms(case, size), planted(case, size, wrong.cdf), size)
    reject(examine(histograms(case, size), drawn(wrong.sampler, size)), missed=lost)


@pytest.mark.thinned(2)
@statistical("case", SCALED)
def test_a_wrong_scale_is_found(case: Case) -> None:
    """4 % too little noise for all laws; coins that rarely show one side need more."""
    find_wrong_scale(case, FEW, Fraction(WRONG_FEW.get(str(case), "0.96")))


@pytest.mark.slow
@statistical("case", SCALED)
def test_a_slightly_wrong_scale_is_found(case: Case) -> None:
    """0.3 % too little noise for all laws but the one that is drawn less often."""
    find_wrong_scale(case, many(case), Fraction(WRONG_MANY.get(str(case), "0.997")))


def find(case: Case, size: int, cdf: Cdf, change: Callable[[Draws], Draws]) -> None:
    """Draws that are changed after they were drawn, so that they follow `cdf`."""
    lost = missed(histograms(case, size), planted(case, size, cdf), size)
    reject(examine(histograms(case, size), map(change, drawn(case.sampler, size))), missed=lost)


@statistical("case", [case for case in LAWS if case.widest(FEW, Fraction(100)) >= 0])
def test_a_cut_tail_is_found(case: Case) -> None:
    """All that lies beyond is put at the end; a hundred draws are expected there."""
    widest = case.widest(FEW, Fraction(100))
    find(case, FEW, saturated(case.cdf, widest), lambda draws: np.minimum(np.maximum(draws, -widest), widest))


@statistical(
    "case",
    choose(
        "DiscreteLaplace 1/1000",
        "DiscreteLaplace 1/3",
        "DiscreteLaplace 7/3",
        "DiscreteLaplace 10",
        "DiscreteExponential 100",
        "Geometric 1/3",
        "Geometric 1/1000",
        "RoundedNormal 1/3",
        "RoundedNormal 10",
        "DiscreteGaussian 1/9",
        "DiscreteGaussian 100",
    ),
)
def test_a_shift_by_one_is_found(case: Case) -> None:
    find(case, FEW, shifted(case.cdf), lambda draws: draws + 1)


@pytest.mark.slow
@statistical(
    "case",
    choose(
        "DiscreteLaplace 64", "DiscreteLaplace 65", "RoundedNormal 64", "RoundedNormal 200/3", "DiscreteGaussian 5000"
    ),
)
def test_a_shift_by_one_of_wide_laws_is_found(case: Case) -> None:
    find(case, MANY, shifted(case.cdf), lambda draws: draws + 1)


@statistical(
    "case", choose("DiscreteLaplace 65", "DiscreteLaplace 1000", "DiscreteGaussian 5000", "DiscreteGaussian 1e+06")
)
def test_a_second_zero_is_found(case: Case) -> None:
    """The bins without a sign, and a sign of its own."""
    assert isinstance(case.sampler, Bins)
    size, origin = 5 * FEW, source()
    signs = Inversion(samplers.coin(lambda bits: brackets.ratio(Fraction(1, 2), bits)))
    sizes = drawn(Bins(replace(case.sampler._shape, signed=False)), size, origin)
    signed = (part * (1 - 2 * signs.draw(origin, part.size)) for part in sizes)
    lost = missed(histograms(case, size), planted(case, size, with_two_zeros(case.cdf)), size)
    reject(examine(histograms(case, size), signed), missed=lost)


ACCEPTING = Kernels(
    name="accepting",
    look_up=NUMPY.look_up,
    screen=lambda slope, bins, places, coins: (np.ones(bins.size, np.bool_), np.arange(0)),
)


@pytest.mark.slow
@statistical(
    "case",
    choose("DiscreteLaplace 2^40/3", "DiscreteExponential 2^40", "RoundedNormal 2^20", "DiscreteGaussian 2^40"),
)
def test_places_that_are_never_rejected_are_found(case: Case) -> None:
    """The density should fall by two or three percent from end to end of a bin."""
    find_unrejected_places(case, MANY)


def find_unrejected_places(case: Case, size: int) -> None:
    """All places in a bin are equally likely then, but for the second zero."""
    looks = histograms.__wrapped__(case, size)
    claimed = looks[1].seen("places", looks[1].probabilities)
    nats = critical(claimed.size - 1, LEVEL / sum(len(one.views) for one in looks))
    lost = miss_bound(claimed, np.full(claimed.size, 1 / claimed.size), size, nats)
    reject(examine(looks, drawn(case.sampler, size, source(ACCEPTING))), missed=lost)


@statistical("case", choose("DiscreteLaplace 1000", "RoundedNormal 1000", "DiscreteGaussian 1e+06", "Geometric 1/1000"))
def test_a_place_that_is_never_reached_is_found(case: Case) -> None:
    """The last outcome of each bin goes to its neighbour."""
    looks = histograms(case, FEW)
    assert isinstance(case.sampler, Bins)
    last = (1 << case.sampler._shape.shift) - 1
    cells = np.arange(looks[1].probabilities.size)
    truth = np.bincount(cells - (cells & last == last), weights=looks[1].probabilities, minlength=cells.size)

    def change(draws: Any) -> Draws:
        moved: Draws = draws - np.sign(draws) * (np.abs(draws) & last == last)
        return moved

    lost = missed(looks, [None, truth.astype(np.float64), None], FEW)
    reject(examine(looks, map(change, drawn(case.sampler, FEW))), missed=lost)


@statistical("case", choose("DiscreteLaplace 1000", "RoundedNormal 1000"))
def test_wrong_weights_of_bins_are_found(case: Case) -> None:
    """The bins of a scale that is 10 % too small, with the places of the right one."""
    wrong = case.scaled(Fraction("0.9"))
    assert isinstance(case.sampler, Bins)
    assert isinstance(wrong.sampler, Bins)
    looks, coarse = histograms(case, FEW), wrong.sampler._shape.coarse
    assert wrong.sampler._shape.shift == case.sampler._shape.shift
    bins = np.arange(BINS_AT_MOST + 1)
    claimed, chosen = (
        np.array([float(cdf(int(j)) - cdf(int(j) - 1)) for j in bins])
        for cdf in (bracketed(one._law) for one in (case.sampler._shape.coarse, coarse))
    )
    factors = np.divide(chosen, claimed, out=np.zeros(bins.size), where=claimed > 0)
    parts = looks[1].probabilities.size // BINS_AT_MOST
    truth = looks[1].probabilities * np.repeat(factors, parts)[: looks[1].probabilities.size]
    faulty = Bins(replace(case.sampler._shape, coarse=coarse))
    lost = missed(looks, [None, truth / truth.sum(), None], FEW)
    reject(examine(looks, drawn(faulty, FEW)), missed=lost)


@statistical(
    "case",
    choose("DiscreteLaplace 2^53", "DiscreteLaplace 2^60", "RoundedNormal 2^40", "DiscreteGaussian 2^80", "Even 1e+30"),
)
def test_a_lost_last_bit_is_found(case: Case) -> None:
    looks = histograms(case, FEW)
    even = np.arange(48) % 2 == 0
    truth: list[Any] = [None] * (len(looks) - 1) + [np.where(even, 1 / 24, 0)]
    lost = missed(looks, truth, FEW)
    reject(examine(looks, (part - part % 2 for part in drawn(case.sampler, FEW))), missed=lost)


class Remainder:
    """Uniform numbers by the remainder of a word that is one bit too long, without rejection."""

    bytes_per_draw = 64

    def __init__(self, upper: int) -> None:
        self.upper, self.words = upper, 1 << (upper - 1).bit_length() + 1

    def cdf(self, k: int) -> Fraction:
        below = min(max(k + 1, 0), self.upper)
        often, rest = divmod(self.words, self.upper)
        return Fraction(often * below + min(below, rest), self.words)

    def draw(self, origin: Source, size: int) -> Draws:
        words = [origin.integer(128) % self.words for _ in range(size)]
        return np.array([word % self.upper for word in words], object if self.words > 2**62 else np.int64)


@statistical("case", choose("Even 3", "Even 10", "Even 1000", "Even 1e+30"))
def test_remainders_without_rejection_are_found(case: Case) -> None:
    assert isinstance(case.law, Even)
    wrong, size = Remainder(case.law.upper), FEW // 2
    lost = missed(histograms(case, size), planted(case, size, wrong.cdf), size)
    reject(examine(histograms(case, size), drawn(wrong, size)), missed=lost)


@pytest.mark.slow
@statistical("case", choose("Even 65537"))
def test_a_word_too_short_for_the_last_outcome_is_found(case: Case) -> None:
    wrong = Case(Even(2**16))
    lost = missed(histograms(case, MANY), planted(case, MANY, wrong.cdf), MANY)
    reject(examine(histograms(case, MANY), drawn(wrong.sampler, MANY)), missed=lost)


class Hasty(Inversion):
    """Takes the bits of a word for all of U."""

    def _refine(self, source: Source, known: int) -> int:
        return self.first + int(np.searchsorted(self._bounds, np.uint64(known), side="right"))

    def cdf(self, k: int) -> Fraction:
        place = k - self.first
        inside = 0 <= place < self._bounds.size
        return Fraction(int(self._bounds[place]), 1 << self._word_bits) if inside else Fraction(place >= 0)


@statistical("case", choose("DiscreteLaplace 7/3", "RoundedNormal 10", "DiscreteGaussian 100"))
def test_narrow_words_without_more_bits_are_found(case: Case) -> None:
    assert isinstance(case.sampler, Inversion)
    hasty = Hasty(case.sampler._law, cell_bits=8, word_bits=8)
    lost = missed(histograms(case, FEW), planted(case, FEW, hasty.cdf), FEW)
    reject(examine(histograms(case, FEW), drawn(hasty, FEW)), missed=lost)


@statistical("case", STEEP)
def test_steep_places_that_are_never_rejected_are_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    find_unrejected_places(steep(case, monkeypatch), FEW)


def find_believed(case: Case, size: int) -> None:
    """A sampler built now, which believes in something else than the law."""
    wrong = sampler_of(case.law)
    assert isinstance(wrong, Inversion)
    lost = missed(histograms(case, size), planted(case, size, bracketed(wrong._law)), size)
    reject(examine(histograms(case, size), drawn(wrong, size)), missed=lost)


@statistical("case", choose("DiscreteLaplace 7/3", "DiscreteExponential 7/3", "Geometric 1/3", "Coin 1/3"))
def test_a_quotient_of_too_few_bits_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rational is divided out to five bits and goes on as if it were exact."""

    def wrong(x: Fraction, bits: int) -> Bracket:
        unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 4)
        return ratio(x // unit * unit, bits)

    ratio = brackets.ratio
    histograms(case, FEW)
    monkeypatch.setattr(brackets, "ratio", wrong)
    monkeypatch.setattr(samplers, "ratio", wrong)
    find_believed(case, FEW)


@statistical("case", choose("DiscreteLaplace 7/3", "DiscreteLaplace 10", "DiscreteGaussian 100"))
def test_a_division_that_is_wrong_now_and_then_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dividend in three, told by its leading bits, gives a quotient that is too small by one part in 32."""

    def wrong(top: Bracket, bottom: Bracket, bits: int) -> Bracket:
        right = quotient(top, bottom, bits)
        return Bracket(*(end * 31 // 32 for end in right)) if (top.lower >> bits - 20) % 3 == 0 else right

    quotient = brackets.quotient
    monkeypatch.setattr(samplers, "quotient", wrong)
    find_believed(case, FEW)


def test_the_budget_is_not_overdrawn() -> None:
    """Each case of a statistical test, fast or slow, has a slot; together they are wrong once in a million runs."""
    users = [path for path in TESTS.rglob("test_*.py") if "@statistical(" in path.read_text(encoding="utf-8")]
    for path in users:
        import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    registered = {name.split("::")[0] for name in SLOTS_TAKEN}
    assert registered == {path.relative_to(ROOT).as_posix() for path in users}
    assert len(registered) >= 3
    assert 300 < sum(SLOTS_TAKEN.values()) <= SLOTS
    assert LEVEL * SLOTS <= WRONG_RUNS


def test_a_slot_is_taken_once_and_only_by_statistical_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = Evidence(chance=1.0, usual=1.0, view="", size=1)
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "a.py::test_free (call)")
    with pytest.raises(AssertionError, match="not marked"):
        accept(fine)
    monkeypatch.setitem(SLOTS_TAKEN, "a.py::test_one", 1)
    monkeypatch.setattr(statistics, "_judged", set())
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "a.py::test_one[case] (call)")
    accept(fine)
    with pytest.raises(AssertionError, match="twice"):
        accept(fine)


def test_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_take_slot", lambda: None)
    fine, bad = (Evidence(chance=p, usual=p, view="v", size=1) for p in (2 * LEVEL, LEVEL))
    accept(fine)
    reject(bad, missed=LEVEL)
    with pytest.raises(AssertionError):
        reject(fine, missed=0.0)
    with pytest.raises(AssertionError, match="too small to be found"):
        reject(bad, missed=2 * LEVEL)
    with pytest.raises(AssertionError, match=f"NOISE_SEED={statistics.SEED}"):
        accept(bad)


def binomial_law(n: int, p: float) -> list[float]:
    ways = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(n + 1)]
    return [math.exp(ways[i] + i * math.log(p) + (n - i) * math.log1p(-p)) for i in range(n + 1)]


def trinomial_law(n: int, p: np.ndarray[Any, Any]) -> dict[tuple[int, int, int], float]:
    parts = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    return {(i, j, k): math.comb(n, i) * math.comb(n - i, j) * p[0] ** i * p[1] ** j * p[2] ** k for i, j, k in parts}


@pytest.mark.parametrize(("n", "p"), [(10, 0.5), (200, 0.01), (1000, 0.5), (1000, 0.1), (2000, 0.001)])
def test_chance_is_an_upper_bound_for_two_cells(n: int, p: float) -> None:
    masses = binomial_law(n, p)
    nats = [likelihood_ratio(np.array([i, n - i], float), np.array([p, 1 - p])) for i in range(n + 1)]
    for threshold in nats:
        exact = sum(mass for mass, one in zip(masses, nats, strict=True) if one >= threshold * (1 + 1e-12))
        assert exact <= chance(threshold, 1) * (1 + 1e-9)


@pytest.mark.parametrize("p", [(0.4, 0.35, 0.25), (0.9, 0.09, 0.01), (0.5, 0.499, 0.001)])
def test_chance_is_an_upper_bound_for_three_cells(p: tuple[float, float, float]) -> None:
    law = trinomial_law(40, np.array(p))
    nats = {cells: likelihood_ratio(np.array(cells, float), np.array(p)) for cells in law}
    for threshold in range(1, 40):
        exact = sum(mass for cells, mass in law.items() if nats[cells] >= threshold)
        assert exact <= chance(threshold, 2)


def test_two_samples_are_bounded_too() -> None:
    p = np.array([0.6, 0.3, 0.1])
    left, right = trinomial_law(8, p), trinomial_law(12, p)
    found = []
    for (one, first), (two, second) in itertools.product(left.items(), right.items()):
        pooled = (np.array(one) + np.array(two)) / 20
        nats = likelihood_ratio(np.array(one, float), pooled) + likelihood_ratio(np.array(two, float), pooled)
        found.append((nats, first * second))
    for threshold in range(1, 15):
        exact = sum(mass for nats, mass in found if nats >= threshold)
        assert exact <= statistics.two_sample_chance(threshold, np.arange(3))


def test_pearson_would_promise_too_much() -> None:
    """With a hundred draws expected in a cell, his test at 1e-9 rejects what is right ten times as often."""
    n, p = 10_000, 0.01
    masses, cells = binomial_law(n, p), np.array([p, 1 - p])
    by_pearson = (i for i in range(1000) if usual((i - n * p) ** 2 / (2 * n * p * (1 - p)), 1) <= LEVEL)
    assert sum(masses[i] for i in by_pearson) > 10 * LEVEL
    by_us = (i for i in range(1000) if chance(likelihood_ratio(np.array([i, n - i], float), cells), 1) <= LEVEL)
    assert sum(masses[i] for i in by_us) <= LEVEL


def test_the_usual_chance_is_that_of_chi_square() -> None:
    assert usual(10.8275661707 / 2, 1) == pytest.approx(0.001)
    assert usual(59.7030643 / 2, 30) == pytest.approx(0.001)
    assert usual(0.0, 0) == 1
    assert usual(math.inf, 3) == 0


@pytest.mark.parametrize("freedom", [1, 2, 30, 127])
def test_critical_nats_are_where_the_chance_is_the_level(freedom: int) -> None:
    assert chance(critical(freedom, LEVEL), freedom) <= LEVEL < chance(critical(freedom, LEVEL) - 1e-3, freedom)


@pytest.mark.parametrize("q", [0.2, 0.3, 0.45])
def test_no_more_is_missed_than_bounded(q: float) -> None:
    n, claimed, true = 200, np.array([0.1, 0.9]), np.array([q, 1 - q])
    masses = binomial_law(n, q)
    for nats in (1.0, 5.0, 20.0):
        below = (i for i in range(n + 1) if likelihood_ratio(np.array([i, n - i], float), claimed) < nats)
        exact = sum(masses[i] for i in below)
        assert exact <= miss_bound(claimed, true, n, nats) <= 1
    assert miss_bound(claimed, np.array([0.5, 0.5]), n, 20.0) < 1e-6
    assert miss_bound(claimed, claimed, n, 5.0) == 1


def test_what_is_impossible_is_never_forgiven() -> None:
    assert likelihood_ratio(np.array([10**6, 1.0]), np.array([1.0, 0.0])) == math.inf
    assert chance(math.inf, 0) == chance(math.inf, 1) == chance(math.inf, 9) == 0
    assert likelihood_ratio(np.array([10.0, 0.0]), np.array([1.0, 0.0])) == 0
    assert miss_bound(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1, 5.0) == 0


@pytest.mark.parametrize("case", BINNED, ids=str)
def test_cells_within_bins_have_the_probabilities_of_the_law(case: Case) -> None:
    """Those cells are too many for the 60 digits of the laws; a few of them suffice to see that 12 are right."""
    widths = [case.law.interval(Fraction(i, 20)) for i in range(1, 20)]
    for w, rough in zip(widths, size_tail(case.law, np.array(widths, np.float64)), strict=True):
        assert float(rough) == pytest.approx(float(1 - case.cdf(w) + case.cdf(-w - 1)), rel=1e-12)
    for one in histograms(case, FEW):
        assert one.probabilities.sum() == pytest.approx(1, abs=1e-14)
        assert (one.probabilities > -1e-15).all()


def test_seeds_are_fresh_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOISE_SEED", raising=False)
    assert statistics.chosen_seed() != statistics.chosen_seed()
    monkeypatch.setenv("NOISE_SEED", "again")
    assert statistics.chosen_seed() == "again"


def test_a_seed_repeats_the_draws_of_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "SEED", "again")
    first, second = (source().stream.take(8).tolist() for _ in range(2))
    assert first == second
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "another.py::test (call)")
    assert source().stream.take(8).tolist() != first
