"""Samples of any mechanism, against samples that are written out in full."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import events
from privately.accounting.renyi.amplification import MOST_TERMS, Joined, Kept, Mixed, poisson
from privately.accounting.renyi.moments import Listed, Moments, Quadratic
from privately.rounding import End
from tests.accounting.exact_profiles import Pair, additions, removals, replacements
from tests.accounting.renyi.exact_moments import DIGITS, PLACES, OfPairs, gap, moment, sampled_normal
from tests.guarantees.enumeration import (
    Law,
    Table,
    data_sets,
    normalised,
    poisson_sampled,
    sampled_without_replacement,
    tables,
)

rates = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
SLACK = Fraction(1, 10**22)
TENTH = Fraction(1, 10)


def exceeds(pairs: list[Pair], bound: Callable[[Fraction], End], places: list[Fraction] = PLACES[1:6]) -> bool:
    """Whether some pair has more than the bound."""
    return any(OfPairs.of([pair]).above(c) > bound(c) + SLACK for pair in pairs for c in places)


def sample(table: Table, rate: Fraction) -> tuple[Moments, Moments]:
    return poisson((OfPairs.of(removals(table)), OfPairs.of(additions(table))), rate)


@settings(max_examples=20)
@given(tables(("a",), (0, 1, 2), outcomes=3) | tables(("a", "b"), (0, 1), outcomes=3), rates)
def test_samples_dominate_enumeration(table: Table, rate: Fraction) -> None:
    whole = poisson_sampled(table, rate, table)
    remove, add = sample(table, rate)
    assert not exceeds(removals(whole), remove.above)
    assert not exceeds(additions(whole), add.above)
    largest = OfPairs.of(removals(whole)).largest, OfPairs.of(additions(whole)).largest
    assert largest[0] <= remove.largest + SLACK
    assert largest[1] <= add.largest + SLACK


@settings(max_examples=20)
@given(tables(("a",), (0, 1), outcomes=3, zeros=True), rates)
def test_what_only_one_law_can_give(table: Table, rate: Fraction) -> None:
    """Then some divergence of the base is infinite, and that of the sample is not for an added row."""
    whole = poisson_sampled(table, rate, table)
    remove, add = sample(table, rate)
    assert not exceeds(removals(whole), remove.above)
    assert not exceeds(additions(whole), add.above)
    assert add.above(Fraction(2)) < math.inf


@settings(max_examples=12)
@given(tables(("a", "b"), (2,), outcomes=3), st.integers(2, 3))
def test_fixed_samples_dominate_enumeration(table: Table, population: int) -> None:
    records = sorted({record for data in table for record in data})
    whole = sampled_without_replacement(table, 2, data_sets(records, [population]))
    bound = Mixed(OfPairs.of(replacements(table)), Fraction(2, population))
    assert not exceeds(replacements(whole), bound.above)
    assert OfPairs.of(replacements(whole)).largest <= bound.largest + SLACK


weights = st.lists(st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=2, max_size=4)


def moments_on_a_sample(p: Law, q: Law, rate: Fraction, c: Fraction) -> tuple[Any, Any]:
    """E[u^(c+1)] and E[u^-c] over q, u the ratio of the mixture to q."""
    mixed = {o: (1 - rate) * q[o] + rate * p[o] for o in p}
    return mp.exp(moment(mixed, q, c)), mp.exp(moment(q, mixed, c))


@given(weights, rates, st.sampled_from([Fraction(1), Fraction(5, 4), Fraction(3), Fraction(12)]))
def test_added_rows_lose_no_more_than_removed_ones(listed: list[tuple[int, int]], rate: Fraction, c: Fraction) -> None:
    """A mixture of the moments for "remove", of the pair and of its mirror image, covers that for "add"."""
    p, q = normalised([a for a, _ in listed]), normalised([b for _, b in listed])
    share = 3 * (1 - rate) / (3 + 2 * (c - 1) * rate)
    with mp.workdps(DIGITS):
        (kept, joined), (mirrored, _) = moments_on_a_sample(p, q, rate, c), moments_on_a_sample(q, p, rate, c)
        covering = kept * share.numerator / share.denominator + mirrored * (1 - share).numerator / share.denominator
        assert joined <= covering * (1 + mp.mpf(10) ** -25)


@pytest.mark.parametrize("only", ["the pair", "the mirror image"])
def test_one_of_both_is_not_enough(only: str) -> None:
    p, q, rate, c = normalised([1, 9]), normalised([1, 1]), Fraction(1, 2), Fraction(2)
    pairs = [(p, q), (q, p)]
    place = 0 if only == "the pair" else 1
    assert any(
        moments_on_a_sample(one, other, rate, c)[1]
        > moments_on_a_sample(*((one, other) if place == 0 else (other, one)), rate, c)[0]
        for one, other in pairs
    )


def test_symmetric_noise_loses_more_by_removal() -> None:
    for c in PLACES:
        both = [sampled_normal(Fraction(1), TENTH, c, removes=way) for way in (True, False)]
        assert both[1] < both[0]


LOPSIDED: Table = {(): normalised([1, 999]), ("a",): normalised([1, 1])}
MIRRORED: Table = {(): LOPSIDED[("a",)], ("a",): LOPSIDED[()]}
CASES = [(table, Fraction(1, 5)) for table in (LOPSIDED, MIRRORED)]

FALSE: dict[str, Callable[[Table, Fraction], tuple[Callable[[Fraction], End], Callable[[Fraction], End]]]] = {
    "a direction forgotten": lambda table, rate: (sample(table, rate)[0].above, sample(table, rate)[0].above),
    "the other direction forgotten": lambda table, rate: (sample(table, rate)[1].above, sample(table, rate)[1].above),
    "directions of the base exchanged": lambda table, rate: _ways(
        poisson((OfPairs.of(additions(table)), OfPairs.of(removals(table))), rate)
    ),
    "the rate twice": lambda table, rate: _ways(sample(table, rate * rate)),
    "an order too low": lambda table, rate: _ways(sample(table, rate), shift=Fraction(1)),
}


def _ways(both: tuple[Moments, Moments], shift: Fraction = Fraction(0)) -> Any:
    return tuple((lambda c, one=one: one.above(c - shift) if c > shift else 0) for one in both)


@pytest.mark.parametrize("false", FALSE)
def test_false_samples_are_refuted(false: str) -> None:
    def refuted(table: Table, rate: Fraction) -> bool:
        whole = poisson_sampled(table, rate, table)
        remove, add = FALSE[false](table, rate)
        return exceeds(removals(whole), remove) or exceeds(additions(whole), add)

    assert any(refuted(*case) for case in CASES)


def test_the_bounds_are_near_the_truth_for_whole_orders() -> None:
    """The expansion is exact for normal noise; where a row is added, its bound is the same."""
    base = Quadratic(Fraction(1, 2))
    remove, add = poisson((base, base), Fraction(1, 100))
    for c in (Fraction(1), Fraction(2), Fraction(7)):
        truth = [sampled_normal(Fraction(1), Fraction(1, 100), c, removes=way) for way in (True, False)]
        assert -1e-24 <= gap(remove.above(c), truth[0]) < 1e-15
        assert gap(add.above(c), truth[1]) > 0
        assert remove.rough(float(c)) == pytest.approx(float(truth[0]))
    for c in PLACES:
        truth = [sampled_normal(Fraction(1), Fraction(1, 100), c, removes=way) for way in (True, False)]
        assert gap(remove.above(c), truth[0]) >= -1e-24
        assert gap(add.above(c), truth[1]) >= -1e-24


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)])
def test_rough_values_are_near(rate: Fraction) -> None:
    for base in (Quadratic(Fraction(1, 10)), Listed(((Fraction(2), Fraction(1)), (Fraction(9), Fraction(3))))):
        for one in (*poisson((base, base), rate), Mixed(base, rate)):
            for c in [*PLACES, Fraction(300)]:
                found = one.above(c)
                expected = pytest.approx(float(found), rel=1e-6) if found != math.inf else math.inf
                assert one.rough(float(c)) == expected


def test_high_orders_are_not_expanded() -> None:
    base = Quadratic(Fraction(1, 1000))
    remove, add = poisson((base, base), TENTH)
    assert isinstance(remove, Kept)
    assert isinstance(add, Joined)
    assert remove.expanded(Fraction(MOST_TERMS - 2)) < math.inf
    assert remove.expanded(Fraction(MOST_TERMS)) == remove.rough_expanded(float(MOST_TERMS)) == math.inf
    assert 0 < add.above(Fraction(MOST_TERMS)) <= remove.above(Fraction(MOST_TERMS)) <= base.above(Fraction(MOST_TERMS))


def test_listed_orders_that_end() -> None:
    base = Listed(((Fraction(2), Fraction(1)),))
    remove, add = poisson((base, base), TENTH)
    assert remove.above(Fraction(1)) < base.above(Fraction(1))
    assert remove.above(Fraction(2)) == math.inf
    assert 0 < add.above(Fraction(2)) < Fraction(22, 100)


def test_rates_that_are_1_in_floats() -> None:
    sample = events.PoissonSample(event=events.Gaussian(noise_multiplier=1), rate=1 - Fraction(1, 10**17))
    found = acc.epsilon(events.Repeat(event=sample, times=1000), "0.1")
    assert found.lower <= acc.epsilon(events.Repeat(event=sample.event, times=1000), "0.1").upper <= found.upper
