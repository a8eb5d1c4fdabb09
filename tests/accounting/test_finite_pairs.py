"""Finite pairs, checked in exact numbers against mechanisms that are written out in full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.compositions import Composition
from privately.accounting.finite_pairs import FinitePair, response_pair
from privately.accounting.losses import DIRECTIONS, Direction
from tests.accounting.exact_profiles import (
    Pair,
    additions,
    excess,
    gap,
    hockey_stick,
    least_delta,
    profile,
    removals,
    replacements,
    strongest,
)
from tests.guarantees.enumeration import (
    Table,
    data_sets,
    normalised,
    poisson_sampled,
    response,
    revealing,
    sampled_without_replacement,
    tables,
)

FORMAL = Fraction(1)
"""Some epsilon above 0: the tests put their own ratio for e^epsilon."""

rates = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
shares = st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=12)
ratios = st.fractions(min_value=1, max_value=20, max_denominator=9)
ROW = [(), ("a",)]


def composition(pair: FinitePair) -> Composition:
    law, infinite = pair.loss()
    return Composition(parts=() if law is None else ((law, 1),), infinite=infinite)


def base(ratio: Fraction, delta: Fraction, categories: int = 2) -> FinitePair:
    return response_pair(FORMAL if ratio > 1 else Fraction(0), categories=categories, delta=delta)


def within(pairs: list[Pair], extra: Fraction) -> tuple[Fraction, Fraction]:
    """A ratio and a delta that the pairs keep."""
    delta = min(least_delta(pairs) + extra, Fraction(1))
    return strongest(pairs, delta), delta


# Randomized response


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.lists(st.integers(0, 9), min_size=3, max_size=3), shares)
def test_response_pair_dominates_random_mechanisms(first: list[int], second: list[int], extra: Fraction) -> None:
    if not any(first) or not any(second):
        return
    pair = normalised(first), normalised(second)
    ratio, delta = within([pair], extra)
    assert excess([pair, pair[::-1]], [composition(base(ratio, delta))], ratio) is None


@given(st.fractions(min_value=Fraction(3, 2), max_value=9, max_denominator=7), st.integers(2, 6))
def test_response_pair_is_k_ary_randomized_response(ratio: Fraction, categories: int) -> None:
    table = response(ratio, records=[str(i) for i in range(categories)])
    found = composition(base(ratio, Fraction(0), categories))
    assert all(gap(pair, found, ratio) == 0 for pair in replacements(table))


@given(ratios, shares)
def test_response_pair_is_reached(ratio: Fraction, delta: Fraction) -> None:
    present, absent = _detector(ratio, delta).values()
    assert gap((present, absent), composition(base(ratio, delta)), ratio) == 0


def _detector(ratio: Fraction, delta: Fraction) -> Table:
    """Randomized response about whether there is a row; with probability delta it tells."""
    told = response(ratio)
    return revealing({("a",): told[("1",)], (): told[("0",)]}, delta)


# Poisson sampling


@settings(max_examples=60)
@given(tables(("a", "b"), (0, 1, 2), outcomes=3, zeros=True) | tables(("a", "b"), (0, 1, 2), outcomes=3), rates, shares)
def test_sampled_pairs_dominate_enumeration(table: Table, rate: Fraction, extra: Fraction) -> None:
    ratio, delta = within(removals(table), extra)
    whole = poisson_sampled(table, rate, table)
    for direction, pairs in zip(DIRECTIONS, (removals(whole), additions(whole)), strict=True):
        found = composition(base(ratio, delta).sampled(rate, direction))
        assert excess(pairs, [found], ratio) is None


@given(ratios, shares, rates)
def test_sampled_pairs_are_reached(ratio: Fraction, delta: Fraction, rate: Fraction) -> None:
    ((removed, added),) = removals(poisson_sampled(_detector(ratio, delta), rate, ROW))
    pair = base(ratio, delta)
    assert gap((removed, added), composition(pair.sampled(rate, "remove")), ratio) == 0
    assert gap((added, removed), composition(pair.sampled(rate, "add")), ratio) == 0


def test_what_sampling_does_to_infinite_loss() -> None:
    """No noise at all, seen at rate 1/4: certainty remains for a row that is removed, not for one that is added."""
    bare = response_pair(Fraction(0), delta=1)
    removed, added = (composition(bare.sampled(Fraction(1, 4), direction)) for direction in DIRECTIONS)
    assert (removed.infinite, added.infinite) == (Fraction(1, 4), Fraction(0))
    assert profile(added, Fraction(4, 3), 1) == 0 < profile(added, Fraction(4, 3) - Fraction(1, 1000), 1)
    assert profile(removed, Fraction(10**9), 1) == Fraction(1, 4)


FALSE_SAMPLES: dict[str, Callable[[FinitePair, Fraction, Direction], FinitePair]] = {
    "directions exchanged": lambda pair, rate, way: pair.sampled(rate, "add" if way == "remove" else "remove"),
    "the rate twice": lambda pair, rate, way: pair.sampled(rate * rate, way),
    "both sides mixed": lambda pair, rate, way: replace(
        pair, outcomes=tuple((p, q) for (p, _), (_, q) in zip(*_both(pair, rate), strict=True))
    ),
    "infinite loss forgotten": lambda pair, rate, way: replace(
        pair.sampled(rate, way), outcomes=pair.sampled(rate, way).outcomes[1:]
    ),
}


def _both(pair: FinitePair, rate: Fraction) -> list[tuple[tuple[Any, Any], ...]]:
    return [pair.sampled(rate, direction).outcomes for direction in DIRECTIONS]


@pytest.mark.parametrize("false", FALSE_SAMPLES)
def test_false_samples_are_refuted(false: str) -> None:
    ratio, delta, rate = Fraction(5), Fraction(1, 10), Fraction(1, 4)
    ((removed, added),) = removals(poisson_sampled(_detector(ratio, delta), rate, ROW))
    pairs = {"remove": (removed, added), "add": (added, removed)}
    twins = {way: composition(FALSE_SAMPLES[false](base(ratio, delta), rate, way)) for way in DIRECTIONS}
    assert any(excess([pairs[way]], [twins[way]], ratio) for way in DIRECTIONS)


# Samples of fixed size


@settings(max_examples=40)
@given(
    tables(("a", "b"), (2,), outcomes=3, zeros=True) | tables(("a", "b"), (2,), outcomes=3), st.integers(2, 3), shares
)
def test_glued_pairs_dominate_enumeration(table: Table, population: int, extra: Fraction) -> None:
    ratio, delta = within(replacements(table), extra)
    records = sorted({record for data in table for record in data})
    whole = sampled_without_replacement(table, 2, data_sets(records, [population]))
    found = composition(base(ratio, delta).glued(Fraction(2, population)))
    assert excess(replacements(whole), [found], ratio) is None


@given(ratios, shares, st.integers(2, 5), st.sampled_from([2, 4]))
def test_glued_halves_are_reached(ratio: Fraction, delta: Fraction, population: int, categories: int) -> None:
    """A mechanism that looks for one row: above ratio 1 when the row is replaced, below when it comes."""
    noisy = response(ratio, records=[str(i) for i in range(categories)])
    told = revealing({("a",): noisy[("1",)], ("b",): noisy[("0",)]}, delta)
    data = ("b",) * (population - 1)
    whole = sampled_without_replacement(told, 1, [(*data, "a"), (*data, "b")])
    seen, unseen = whole[(*data, "a")], whole[(*data, "b")]
    found = composition(base(ratio, delta, categories).glued(Fraction(1, population)))
    for alpha in [Fraction(n, 8) for n in range(200)]:
        pair = (seen, unseen) if alpha >= 1 else (unseen, seen)
        assert hockey_stick(*pair, alpha) == profile(found, alpha, ratio)


@given(ratios, shares, rates, st.integers(2, 5))
def test_glued_pairs_are_glued(ratio: Fraction, delta: Fraction, rate: Fraction, categories: int) -> None:
    pair = base(ratio, delta, categories)
    removed, added, both = (composition(one) for one in (*_sampled(pair, rate), pair.glued(rate)))
    for alpha in [Fraction(n, 6) for n in range(50)]:
        half = removed if alpha >= 1 else added
        assert profile(both, alpha, ratio) == profile(half, alpha, ratio)
        assert profile(both, alpha, ratio) >= max(profile(removed, alpha, ratio), profile(added, alpha, ratio))


def _sampled(pair: FinitePair, rate: Fraction) -> list[FinitePair]:
    return [pair.sampled(rate, direction) for direction in DIRECTIONS]


def test_a_poisson_pair_does_not_bound_a_sample_of_fixed_size() -> None:
    """The false twin of gluing: below ratio 1 the removing pair is too small."""
    pair, rate = base(Fraction(5), Fraction(0)), Fraction(1, 4)
    alpha = Fraction(9, 10)
    assert profile(composition(pair.glued(rate)), alpha, 5) > profile(
        composition(pair.sampled(rate, "remove")), alpha, 5
    )


# Their laws


@given(ratios, shares, rates, st.integers(2, 5))
def test_losses_fall_and_weights_are_whole(ratio: Fraction, delta: Fraction, rate: Fraction, categories: int) -> None:
    pair = base(ratio, delta, categories)
    for one in (pair, *_sampled(pair, rate), pair.glued(rate)):
        law, infinite = one.loss()
        assert 0 <= infinite <= 1
        if law is not None:
            losses = [(p[0] + p[1] * 3) / (q[0] + q[1] * 3) for p, q in law.outcomes]
            assert losses == sorted(losses, reverse=True)
            assert all(number.denominator == 1 for p, q in law.outcomes for number in (*p, *q))


def test_nothing_and_everything() -> None:
    assert response_pair(Fraction(0)).loss() == (None, Fraction(0))
    assert response_pair(Fraction(0), delta=1).loss() == (None, Fraction(1))
    assert response_pair(Fraction(3), delta=1).loss() == (None, Fraction(1))
    assert response_pair(Fraction(0), categories=7, delta=Fraction(1, 3)).loss() == (None, Fraction(1, 3))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_laws_that_differ_in_epsilon_share_their_weights(direction: Direction) -> None:
    """There may be very many of them, and weights are most of what they take."""
    pairs = [response_pair(Fraction(place), categories=4) for place in (1, 2)]
    assert pairs[0].outcomes is pairs[1].outcomes
    one, other = (pair.sampled(Fraction(1, 7), direction).loss()[0] for pair in pairs)
    assert one is not None
    assert other is not None
    assert one.outcomes is other.outcomes
    assert one != other
