"""Groups whose rows are divided among parts with samples: against enumeration, and with ways left out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings

from privately import accounting as acc
from privately.accounting import Event
from privately.accounting.grouped_samples import METHOD, in_parts, road
from privately.accounting.grouped_samples.divided import Divided
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval
from tests.accounting.exact_profiles import Pair, removals, strongest
from tests.accounting.grouped_samples.profiles import normal_profile
from tests.accounting.grouped_samples.test_road import LEVELS, changes, worst, worst_pair
from tests.guarantees.enumeration import Table, joint, tables

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)
WIDTH = Fraction(1, 10**6)


def sampled(event: Event, rate: str | Fraction) -> Event:
    return acc.PoissonSample(event=event, rate=rate)


def group(*parts: Event, size: int) -> acc.Group:
    return acc.Group(event=acc.Parallel(events=parts), size=size)


def together(*pairs: Pair) -> Pair:
    return joint([p for p, _ in pairs]), joint([q for _, q in pairs])


def ways(size: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Removed and added rows of two parts."""
    numbers = product(range(size + 1), repeat=4)
    return [((a, b), (c, d)) for a, b, c, d in numbers if a + b + c + d == size]


@settings(max_examples=10)
@given(tables(("a", "b"), (0, 1), outcomes=2), tables(("a", "b"), (0, 1), outcomes=3))
def test_mechanisms_in_two_parts_are_dominated(first: Table, second: Table) -> None:
    """Any epsilon-DP mechanisms: a row of either part comes or goes."""
    ratios = [strongest(removals(table), Fraction(0)) for table in (first, second)]
    if 1 in ratios:
        return
    seen = [together(one, other) for one in changes(first, QUARTER, 1) for other in changes(second, HALF, 1)]
    pairs = [
        together(worst_pair(ratios[0], QUARTER, one), worst_pair(ratios[1], HALF, other))
        for one, other in product([(1, 0), (0, 1)], repeat=2)
    ]
    for alpha in LEVELS:
        assert worst(seen, alpha) <= worst(pairs, alpha)


@pytest.mark.parametrize("size", [2, 3])
def test_rows_in_several_parts_by_enumeration(size: int) -> None:
    """Mechanisms that are ln 20-DP on few rows and ln 3-DP on most: two rows are worse in two parts than in any one."""
    kinds = (Fraction(20), Fraction(1, 5)), (Fraction(3), Fraction(9, 10))
    pairs = {
        way: together(*(worst_pair(*kind, split) for kind, split in zip(kinds, way, strict=True) if any(split)))
        for way in ways(size)
    }
    truth = worst(pairs.values(), Fraction(8))
    alone = worst((pair for way, pair in pairs.items() if not all(map(sum, way))), Fraction(8))
    assert truth > alone * Fraction(11, 10) or size > 2
    low, high = (
        [Fraction(math.log(ratio)).limit_denominator(10**13) + sign * Fraction(1, 10**12) for ratio in (20, 3)]
        for sign in (-1, 1)
    )
    level = Fraction(math.log(8))
    for (strong, weak), asked in ((low, level + Fraction(1, 10**12)), (high, level - Fraction(1, 10**12))):
        event = group(sampled(acc.Pure(epsilon=strong), "0.2"), sampled(acc.Pure(epsilon=weak), "0.9"), size=size)
        found = acc.delta(event, asked)
        assert found.method == METHOD
        assert found.lower <= truth + Fraction(1, 10**9)
        assert found.upper >= truth - Fraction(1, 10**9)
        assert found.width <= truth / 10**4


def test_every_way_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: rows that are all in one part, or all removed."""
    event = group(sampled(acc.Pure(epsilon=3), "0.2"), sampled(acc.Pure(epsilon=1), "0.9"), size=2)
    right = acc.delta(event, "2.0794")
    every = Divided.splits
    monkeypatch.setattr(Divided, "splits", lambda self: [way for way in every(self) if way[0][1] != (1, 0)])
    assert acc.delta(event, "2.0794").upper < right.lower
    monkeypatch.setattr(Divided, "splits", lambda self: every(self)[:0])
    assert acc.delta(event, "2.0794").upper < right.lower / 1.2


@pytest.mark.slow
def test_normal_noise_in_two_parts_with_many_digits() -> None:
    """A row in a part that is not sampled and one in a part that is, by integrals, beside the answers for this way."""
    parts = [acc.Gaussian(noise_multiplier=1), sampled(acc.Gaussian(noise_multiplier="1.25"), "0.3")]
    divided = Divided(2, parts)
    both = [((0, (1, 0)), (1, (1, 0))), ((0, (1, 0)), (1, (0, 1)))]
    assert divided.splits() == both
    for way in both:
        with mpmath.workdps(15):

            def inside(x: mpmath.mpf, split: tuple[int, int] = way[1][1]) -> mpmath.mpf:
                left = mpmath.mpf("0.9") - x
                return mpmath.npdf(x, 1, 1) * normal_profile("1.25", "0.3", split, left)

            truth = float(mpmath.quad(inside, [-6, -2, 0, 1, 2, 4, 7], maxdegree=4))
        found = road._of(divided, way, DeltaAt(Fraction(2, 5), WIDTH))
        assert found.width <= found.upper / 10**4
        assert float(found.lower) <= truth * (1 + 1e-5)
        assert float(found.upper) >= truth * (1 - 1e-5)
    event = group(*parts, size=2)
    assert acc.delta(event, "0.4") == replace(acc.delta(acc.Group(event=parts[0], size=2), "0.4"), method=METHOD)


@pytest.mark.slow
def test_long_runs_in_parts_are_narrow() -> None:
    steps = acc.Repeat(event=sampled(acc.Gaussian(noise_multiplier=1), "0.01"), times=1000)
    parts = [
        steps,
        acc.Repeat(event=sampled(acc.Laplace(scale=3), "0.02"), times=300),
        acc.Gaussian(noise_multiplier=3),
    ]
    event = acc.Group(event=acc.Parallel(events=[parts[0], acc.Parallel(events=parts[1:])]), size=2)
    found = acc.epsilon(event, "1e-6")
    assert found.method == METHOD
    assert found.width <= found.lower / 10**5
    assert found.lower >= max(acc.epsilon(acc.Group(event=part, size=2), "1e-6").lower for part in parts)
    assert acc.epsilon(group(sampled(acc.Laplace(scale=0), "0.1"), steps, size=2), "0.1").upper == math.inf


def test_infinite_losses_of_all_parts_count() -> None:
    """Nothing but what is seen: of two rows in two parts at least one."""
    bare, other = (sampled(acc.Gaussian(noise_multiplier=0), rate) for rate in ("0.1", "0.2"))
    divided = Divided(2, [bare, other])
    way = ((0, (1, 0)), (1, (1, 0)))
    assert way in divided.splits()
    assert divided.parted(way, "upper", 64, 1e-20).infinite == 1 - Fraction(9, 10) * Fraction(8, 10)
    with pytest.raises(NotApplicable):
        divided.sums(way)


def test_left_to_others() -> None:
    def known(_: Event, question: object) -> Interval:
        return Interval(1, 2) if isinstance(question, EpsilonAt) else Interval(0, Fraction(1, 10))

    noise = acc.Gaussian(noise_multiplier=1)
    for event in (noise, acc.Group(event=sampled(noise, "0.1"), size=2), group(noise, acc.Laplace(scale=2), size=2)):
        assert in_parts(event, EpsilonAt(Fraction(1, 10), WIDTH), known) is None
    unknown = sampled(acc.ZCDP(rho=1), "0.1")
    many = [sampled(acc.Laplace(scale=scale), "0.1") for scale in range(1, 30)]
    for event in (group(noise, unknown, size=2), group(*many, size=3)):
        assert in_parts(event, EpsilonAt(Fraction(1, 10), WIDTH), known) == Interval(1, math.inf, method=METHOD)
        assert in_parts(event, DeltaAt(Fraction(1), WIDTH), known) == Interval(0, 1, method=METHOD)
