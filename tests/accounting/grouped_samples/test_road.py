"""Groups on Poisson samples: all subsets of small mechanisms, mixtures with many digits, and planted mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import Event
from privately.accounting.contour.road import log_ends
from privately.accounting.grouped_samples import METHOD, in_samples, road
from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.grouped_samples.normal_law import GroupSums
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.guarantees import Neighbors
from privately.rounding import Interval
from tests.accounting.exact_profiles import Pair, hockey_stick, removals, strongest
from tests.accounting.grouped_samples.profiles import laplace_profile, normal_profile
from tests.guarantees.enumeration import (
    Law,
    Table,
    clamped_noise,
    data_sets,
    joint,
    mixture,
    neighbour_pairs,
    poisson_sampled,
    tables,
)

RATES = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(9, 10), max_denominator=20)
LEVELS = [Fraction(n, 8) for n in (1, 2, 4, 6, 8, 10, 14, 20, 40, 100)]


def group(event: Event, size: int, times: int = 1) -> Event:
    return acc.Group(event=acc.Repeat(event=event, times=times), size=size)


def sampled(event: Event, rate: str | Fraction) -> Event:
    return acc.PoissonSample(event=event, rate=rate)


# The theorem, in rational numbers


def worst_pair(ratio: Fraction, rate: Fraction, split: Split) -> Pair:
    """Noise around i rows, against noise around -j rows: what is beyond the ends has the same ratio."""
    allowed = range(-split[1], split[0] + 1)

    def side(rows: int, sign: int) -> Law:
        kept = (math.comb(rows, i) * rate**i * (1 - rate) ** (rows - i) for i in range(rows + 1))
        return mixture((share, clamped_noise(sign * i, ratio, allowed)) for i, share in enumerate(kept))

    return side(split[0], 1), side(split[1], -1)


def worst(pairs: Iterable[Pair], alpha: Fraction) -> Fraction:
    return max(hockey_stick(p, q, alpha) for p, q in pairs)


def splits(size: int) -> list[Split]:
    return [(removed, size - removed) for removed in range(size + 1)]


def changes(table: Table, rate: Fraction, size: int) -> list[Pair]:
    """All data sets that are so many changes apart, in both directions, on all samples."""
    pairs = neighbour_pairs(poisson_sampled(table, rate, table), Neighbors.ADD_REMOVE.times(size))
    return [*pairs, *((q, p) for p, q in pairs)]


@settings(max_examples=15)
@given(tables(("a", "b"), (0, 1, 2), outcomes=3), RATES)
def test_groups_of_samples_dominate_enumeration(table: Table, rate: Fraction) -> None:
    """Any epsilon-DP mechanism of up to two rows: two changes are dominated by one of the splits."""
    ratio = strongest(removals(table), Fraction(0))
    if ratio == 1:
        return
    found = changes(table, rate, 2)
    for alpha in LEVELS:
        assert worst(found, alpha) <= worst((worst_pair(ratio, rate, split) for split in splits(2)), alpha)


def counting(ratio: Fraction, most: int) -> Table:
    """Rows a count 1, rows b count -1."""
    allowed = range(-most, most + 1)
    inputs = data_sets(("a", "b"), range(most + 1))
    return {data: clamped_noise(data.count("a") - data.count("b"), ratio, allowed) for data in inputs}


@pytest.mark.parametrize("size", [2, 3])
def test_groups_of_samples_are_reached(size: int) -> None:
    """By a count, for every split; and no split may be left out, no direction, no weight."""
    ratio, rate = Fraction(3), Fraction(1, 4)
    seen = poisson_sampled(counting(ratio, size), rate, data_sets(("a", "b"), range(size + 1)))
    exact = {split: (seen[("a",) * split[0]], seen[("b",) * split[1]]) for split in splits(size)}
    for split, pair in exact.items():
        for alpha in LEVELS:
            assert hockey_stick(*pair, alpha) == hockey_stick(*worst_pair(ratio, rate, split), alpha)
    for left_out in splits(size):
        others = [worst_pair(ratio, rate, split) for split in splits(size) if split != left_out]
        beyond = [alpha for alpha in LEVELS if hockey_stick(*exact[left_out], alpha) > worst(others, alpha)]
        assert beyond or left_out not in {(size, 0), (0, size)}
    only_added = worst_pair(ratio, rate, (0, size))
    assert hockey_stick(*exact[size, 0], Fraction(2)) > hockey_stick(*only_added, Fraction(2))
    unweighted = worst_pair(ratio, rate, (size - 1, 0))
    assert hockey_stick(*exact[size, 0], Fraction(2)) > hockey_stick(*unweighted, Fraction(2))


def test_one_split_alone_does_not_dominate() -> None:
    """One row removed and one added, below 1: all removed is less."""
    ratio, rate = Fraction(3), Fraction(1, 4)
    mixed, removed = worst_pair(ratio, rate, (1, 1)), worst_pair(ratio, rate, (2, 0))
    assert any(hockey_stick(*mixed, alpha) > hockey_stick(*removed, alpha) for alpha in LEVELS)


# Answers


@pytest.mark.parametrize(("size", "rate", "times"), [(2, "1/4", 2), (3, "1/10", 1)])
def test_answers_contain_exact_enumerations(size: int, rate: str, times: int) -> None:
    """Mechanisms that are ln 3-DP, in exact numbers: all outcomes of one step or two, all splits."""
    low, high = Fraction("1.0986122886681"), Fraction("1.0986122886682")
    pairs = [worst_pair(Fraction(3), Fraction(rate), split) for split in splits(size)]
    composed = [(joint([p] * times), joint([q] * times)) for p, q in pairs]
    truth = worst(composed, Fraction(2))
    for epsilon, asked in ((low, Fraction("0.69314718055995")), (high, Fraction("0.69314718055994"))):
        found = acc.delta(group(sampled(acc.Pure(epsilon=epsilon), rate), size, times), asked)
        assert found.method == METHOD
        assert found.lower <= truth + Fraction(1, 10**11)
        assert found.upper >= truth - Fraction(1, 10**11)
        assert found.upper - found.lower <= truth / 10**5


@pytest.mark.parametrize("rate", ["0.3", "0.001"])
@pytest.mark.parametrize("epsilon", ["0.01", "0.4"])
def test_one_step_is_known(rate: str, epsilon: str) -> None:
    with mpmath.workdps(40):
        level = mpmath.mpf(epsilon)
        normal = max(normal_profile("1.25", rate, split, level) for split in splits(3))
        laplace = max(laplace_profile("2", rate, split, level) for split in splits(3))
        for event, truth in ((acc.Gaussian(noise_multiplier="1.25"), normal), (acc.Laplace(scale=2), laplace)):
            found = acc.delta(group(sampled(event, rate), 3), epsilon)
            assert found.lower <= truth <= found.upper
            assert found.upper - found.lower <= 1e-4 * truth


def two_steps(noise: str, rate: str, split: Split, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The mean of the profile of the second step over the outcomes of the first, by Gauss-Legendre."""
    mu, q = 1 / mpmath.mpf(noise), mpmath.mpf(rate)
    weights = [[mpmath.binomial(rows, i) * q**i * (1 - q) ** (rows - i) for i in range(rows + 1)] for rows in split]

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        p = mpmath.fsum(w * mpmath.npdf(x - i * mu) for i, w in enumerate(weights[0]))
        other = mpmath.fsum(w * mpmath.npdf(x + j * mu) for j, w in enumerate(weights[1]))
        return p * normal_profile(noise, rate, split, epsilon - mpmath.log(p / other))

    return mpmath.quad(excess, [-9, -2, 1, 4, 11], method="gauss-legendre", maxdegree=4)


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["0.3", "0.05"])
def test_two_steps_are_known(rate: str) -> None:
    with mpmath.workdps(20):
        truth = max(two_steps("1.25", rate, split, mpmath.mpf(1)) for split in splits(2))
    found = acc.delta(group(sampled(acc.Gaussian(noise_multiplier="1.25"), rate), 2, 2), 1)
    assert found.lower <= truth * (1 + 1e-9)
    assert found.upper >= truth * (1 - 1e-9)
    assert found.upper - found.lower <= 1e-4 * truth


@pytest.mark.slow
def test_many_steps_are_narrow() -> None:
    """Beside the upper bound of another library (dp-accounting 0.6, mixtures of Gaussians on a grid of 1e-4)."""
    step = sampled(acc.Gaussian(noise_multiplier=2), "0.01")
    found = acc.epsilon(group(step, 3, 1000), "1e-6")
    assert found.upper - found.lower <= found.lower / 10**5
    assert 2.37700 < found.lower < 2.37702


MIXED: list[Event] = [
    acc.Repeat(event=sampled(acc.Gaussian(noise_multiplier=2), "0.1"), times=30),
    acc.Repeat(event=sampled(acc.Laplace(scale=4), "0.05"), times=20),
    sampled(acc.RandomizedResponse(epsilon="0.2", categories=4), "0.1"),
    sampled(acc.DiscreteGaussian(variance=9, sensitivity=2), "0.02"),
    acc.Gaussian(noise_multiplier=20),
]


@pytest.mark.slow
def test_different_steps_together() -> None:
    whole = acc.Group(event=acc.Sequence(events=MIXED), size=3)
    found = acc.epsilon(whole, "1e-5")
    assert found.method == METHOD
    assert found.upper - found.lower <= found.lower / 10**4
    assert acc.delta(whole, Fraction(found.upper)).lower <= Fraction("1e-5")
    assert acc.delta(whole, Fraction(found.lower)).upper >= Fraction("1e-5")
    apart = [acc.epsilon(acc.Group(event=part, size=3), "1e-5").upper for part in MIXED]
    assert max(apart) < found.lower < sum(apart)


BASES = [acc.Gaussian(noise_multiplier=2), acc.Laplace(scale=3), acc.Pure(epsilon="0.3")]


@pytest.mark.parametrize("base", BASES)
def test_monotone_in_size_and_rate(base: Event) -> None:
    sizes = [acc.delta(group(sampled(base, "0.1"), size, 2), "0.1") for size in (1, 2, 4)]
    rates = [acc.delta(group(sampled(base, rate), 2, 2), "0.1") for rate in ("0.01", "0.1", "0.999", "1")]
    for answers in (sizes, rates):
        for less, more in pairwise(answers):
            assert less.upper < more.upper
            assert less.lower < more.lower
    assert sizes[0] == acc.delta(acc.Repeat(event=sampled(base, "0.1"), times=2), "0.1")
    assert rates[-1] == acc.delta(group(base, 2, 2), "0.1")
    assert rates[-2].upper > Fraction("0.98") * Fraction(rates[-1].lower)


@pytest.mark.parametrize("only", [(0, 3), (1, 2)])
def test_a_forgotten_split_is_noticed(only: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(seen: Seen) -> Iterator[Split]:
        assert seen.size == 3
        yield only

    with mpmath.workdps(40):
        truth = max(normal_profile("1.25", "0.3", split, mpmath.mpf("0.4")) for split in splits(3))
    monkeypatch.setattr(Seen, "splits", forgetful)
    event = group(sampled(acc.Gaussian(noise_multiplier="1.25"), "0.3"), 3)
    found = in_samples(event, DeltaAt(Fraction(2, 5), Fraction(1, 10**6)))
    assert found is not None
    assert found.upper < truth


def test_a_split_is_passed_over_only_if_it_is_below_for_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """By any of three rough looks; a lower end that is below tells nothing."""
    seen = Seen.of(acc.Group(event=sampled(acc.Gaussian(noise_multiplier=1), "0.1"), size=2))
    tenth, worst = Fraction(1, 10), Interval(1, 2)
    question = EpsilonAt(tenth, Fraction(1, 10**6))
    for quick, known, listed, is_below in (
        (False, Interval(0, 2 * tenth), 2 * tenth, False),
        (False, Interval(0, tenth), 2 * tenth, True),
        (False, Interval(0, 2 * tenth), tenth, True),
        (False, None, 2 * tenth, False),
        (True, None, 2 * tenth, True),
    ):
        monkeypatch.setattr(GroupSums, "are_at_most", lambda *_, quick=quick: quick)
        monkeypatch.setattr(road, "_by_contour", lambda *_, known=known: known)
        monkeypatch.setattr(road, "at_most", lambda *_, listed=listed: listed)
        assert road._is_below(seen, (1, 1), question, worst) == is_below


@pytest.mark.parametrize("split", [(3, 0), (1, 2)])
def test_quick_looks_at_splits(split: Split) -> None:
    """They never say that a split is below what it is."""
    steps = acc.Repeat(event=sampled(acc.Gaussian(noise_multiplier=1), "0.1"), times=20)
    seen = Seen.of(acc.Group(event=steps, size=3))
    delta = Fraction(1, 10**5)
    known = road._of(seen, split, EpsilonAt(delta, Fraction(1, 10**3)))
    assert seen.sums(split).are_at_most(Fraction(known.upper) * Fraction(12, 10), log_ends(delta)[0])
    assert not seen.sums(split).are_at_most(Fraction(known.lower), log_ends(delta)[0])
    assert not seen.sums(split).are_at_most(Fraction(known.lower) * Fraction(9, 10), log_ends(delta)[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "event",
    [
        group(sampled(acc.Gaussian(noise_multiplier=5), "0.01"), 65, 100),
        acc.Group(
            event=acc.Sequence(
                events=[sampled(acc.Gaussian(noise_multiplier=Fraction(place, 10)), "0.01") for place in range(10, 30)]
            ),
            size=4,
        ),
    ],
    ids=["many rows", "many different steps"],
)
def test_many_rows_and_many_different_steps_are_narrow(event: Event) -> None:
    found = acc.epsilon(event, "1e-6")
    assert found.method == METHOD
    assert found.width <= found.lower / 10**5


def test_the_worst_of_all_splits_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen.of(acc.Group(event=sampled(acc.Gaussian(noise_multiplier=1), "0.1"), size=3))
    known = {(3, 0): (4, 5), (2, 1): (3, 7), (1, 2): (6, 6), (0, 3): (0, 1)}
    monkeypatch.setattr(road, "_of", lambda _, split, __: Interval(*known[split]))
    monkeypatch.setattr(road, "_is_below", lambda *_: False)
    found = road._all(seen, DeltaAt(Fraction(1), Fraction(1, 10)))
    assert list(found) == [6, 7]


def test_edges() -> None:
    laplace = group(sampled(acc.Laplace(scale=2), "0.1"), 3, 4)
    largest = 12 * math.log(0.9 + 0.1 * math.exp(0.5))
    assert float(acc.epsilon(laplace, 0).upper) == pytest.approx(largest)
    assert acc.delta(laplace, 2) == acc.delta(laplace, 100)
    assert acc.delta(laplace, 2).upper == 0
    bare = group(sampled(acc.Gaussian(noise_multiplier=0), "0.1"), 3)
    assert acc.epsilon(bare, "0.27").lower == math.inf
    assert acc.epsilon(bare, "0.28").upper == 0
    assert acc.delta(bare, 5).lower == Fraction("0.271")
    assert acc.delta(bare, 5).upper < Fraction("0.271") + Fraction(1, 10**100)
    assert acc.epsilon(group(sampled(acc.Gaussian(noise_multiplier=1), "0.1"), 3), 0).lower == math.inf
    assert acc.epsilon(group(sampled(acc.Laplace(scale=2), "0"), 3), 0).upper == 0
    plain = acc.delta(group(sampled(acc.Gaussian(noise_multiplier=2), "0.5"), 8, 50), "0.1")
    assert plain.method == METHOD
    assert Fraction("0.99") < plain.lower <= plain.upper <= 1  # lists from above may have more than 1 in all
    tiny = acc.delta(group(sampled(acc.DiscreteGaussian(variance=41, sensitivity=2), "0.1"), 2, 2), 4)
    assert 0 < tiny.upper < 1e-38
    assert tiny.upper - tiny.lower <= tiny.upper / 10**6
    rare = group(sampled(acc.Gaussian(noise_multiplier=1), "1e-9"), 2)
    assert acc.epsilon(rare, "1e-3").upper == 0
    assert in_samples(sampled(acc.Laplace(scale=2), "0.1"), DeltaAt(Fraction(1), Fraction(1))) is None
