"""The normal form of events: nothing is lost, nothing counted twice, and parts are the worst of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import (
    Approx,
    Event,
    FixedSizeSample,
    Gaussian,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    Repeat,
    Sequence,
)
from privately.accounting.compositions import compositions
from privately.accounting.terms import alternatives, flatten, is_short, is_silent, parts_of
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors
from tests.accounting.exact_profiles import Pair, excess, hockey_stick, least_delta, profile, removals, strongest
from tests.guarantees.enumeration import (
    Table,
    by_value,
    data_sets,
    poisson_sampled,
    sampled_without_replacement,
    tables,
)

ONE, TWO = Pure(epsilon=1), Laplace(scale=2)
REPLACED = Pure(epsilon=1, neighbors=Neighbors.REPLACE)


def test_runs_are_counted() -> None:
    event = Sequence(events=[ONE, Repeat(event=Sequence(events=[ONE, TWO]), times=3), Repeat(event=TWO, times=0)])
    assert flatten(event) == {ONE: 4, TWO: 3}


def test_samples_are_simplified() -> None:
    tenth = PoissonSample(event=ONE, rate="0.1")
    wrapped = Repeat(event=Sequence(events=[PoissonSample(event=ONE, rate="0.5")]), times=1)
    assert flatten(PoissonSample(event=wrapped, rate="0.2")) == {tenth: 1}
    assert flatten(PoissonSample(event=Repeat(event=ONE, times=3), rate=1)) == {ONE: 3}
    assert flatten(PoissonSample(event=Repeat(event=ONE, times=0), rate="0.5")) == {}
    assert flatten(PoissonSample(event=ONE, rate=0)) == {}
    beside = Sequence(events=[Repeat(event=TWO, times=0), PoissonSample(event=ONE, rate="0.5")])
    assert flatten(PoissonSample(event=beside, rate="0.2")) == {tenth: 1}
    several = PoissonSample(event=Sequence(events=[ONE, TWO]), rate="0.2")
    assert flatten(Repeat(event=several, times=5)) == {several: 5}
    fixed = FixedSizeSample(event=FixedSizeSample(event=REPLACED, size=2, population=5), size=5, population=9)
    assert flatten(fixed) == {FixedSizeSample(event=REPLACED, size=2, population=9): 1}
    assert flatten(FixedSizeSample(event=REPLACED, size=9, population=9)) == {REPLACED: 1}


@settings(max_examples=20)
@given(tables(("a", "b"), (0, 1, 2), outcomes=2), tables(("a", "b"), (1,), outcomes=2))
def test_sampling_twice_is_sampling_once(table: Table, single: Table) -> None:
    twice = poisson_sampled(poisson_sampled(table, Fraction(1, 2), table), Fraction(2, 3), table)
    assert twice == poisson_sampled(table, Fraction(1, 3), table)
    of_two = sampled_without_replacement(single, 1, data_sets(("a", "b"), [2]))
    of_three = data_sets(("a", "b"), [3])
    assert sampled_without_replacement(of_two, 2, of_three) == sampled_without_replacement(single, 1, of_three)


# Parallel


@settings(max_examples=25)
@given(
    tables(("a",), (0, 1, 2), outcomes=2, zeros=True),
    tables(("b",), (0, 1, 2), outcomes=2, zeros=True),
    st.sampled_from([Fraction(1), Fraction(1, 3)]),
)
def test_parallel_dominates_enumeration(first: Table, second: Table, rate: Fraction) -> None:
    """Two parts, each with its own guarantee, sampled or not; the same ratio, so that one e^epsilon serves both."""
    ratio = max(strongest(removals(part), least_delta(removals(part))) for part in (first, second))
    parts = [Approx(epsilon=1 if ratio > 1 else 0, delta=least_delta(removals(part))) for part in (first, second)]
    whole = by_value([first, second], {"a": 0, "b": 1}, data_sets(("a", "b"), range(3)))
    sampled = poisson_sampled(whole, rate, whole)
    found = compositions(PoissonSample(event=Parallel(events=parts), rate=rate))
    assert excess([*removals(sampled), *((q, p) for p, q in removals(sampled))], found, ratio) is None


def test_parts_that_are_covered_are_left_out() -> None:
    assert alternatives(Parallel(events=[ONE, Pure(epsilon=3), Pure(epsilon=2), ONE])) == [{Pure(epsilon=3): 1}]
    assert alternatives(Parallel(events=[ONE, TWO, ONE])) == [{ONE: 1}, {TWO: 1}]
    nested = Parallel(
        events=[Parallel(events=[ONE, TWO]), Repeat(event=Parallel(events=[Repeat(event=TWO, times=2)]), times=1)]
    )
    assert alternatives(nested) == [{ONE: 1}, {TWO: 2}]


def test_sampling_goes_into_the_parts() -> None:
    event = PoissonSample(event=PoissonSample(event=Parallel(events=[ONE, TWO]), rate="0.5"), rate="0.5")
    expected = [{PoissonSample(event=part, rate="0.25"): 1} for part in (ONE, TWO)]
    assert alternatives(event) == expected
    assert alternatives(PoissonSample(event=Parallel(events=[ONE, TWO]), rate=0)) == [{}]


def test_one_worst_part_composes() -> None:
    parts = Parallel(events=[ONE, Pure(epsilon=2)])
    assert flatten(Sequence(events=[parts, TWO])) == {Pure(epsilon=2): 1, TWO: 1}
    assert flatten(Repeat(event=PoissonSample(event=parts, rate="0.5"), times=3)) == {
        PoissonSample(event=Pure(epsilon=2), rate="0.5"): 3
    }


@pytest.mark.parametrize(
    "event",
    [
        Sequence(events=[ONE, Parallel(events=[ONE, TWO])]),
        Repeat(event=Parallel(events=[ONE, TWO]), times=2),
        Sequence(events=[PoissonSample(event=Parallel(events=[ONE, TWO]), rate="0.5"), ONE]),
    ],
)
def test_no_worst_part_does_not_compose(event: Event) -> None:
    with pytest.raises(NoSuchRule, match="earlier answers"):
        compositions(event)


def test_choosing_the_part_adaptively_costs_more_than_any_part() -> None:
    """The planted false rule: the larger of the two products. A split that depends on the first answer refutes it.

    Part 1 is best at large ratios (it reveals with probability 1/10), part 2 at small ones (randomized response).
    """
    coin = {"1": Fraction(3, 4), "0": Fraction(1, 4)}, {"1": Fraction(1, 4), "0": Fraction(3, 4)}
    told = {"all": Fraction(1, 10), "no": Fraction(9, 10)}, {"none": Fraction(1, 10), "no": Fraction(9, 10)}
    asked = {"yes": Fraction(3, 5), "no": Fraction(2, 5)}, {"yes": Fraction(2, 5), "no": Fraction(3, 5)}

    def pair(second: dict[str, Pair]) -> Pair:
        laws = [
            {(first, o): coin[side][first] * mass for first in ("0", "1") for o, mass in second[first][side].items()}
            for side in (0, 1)
        ]
        return laws[0], laws[1]

    alpha = Fraction(3)
    adaptive = hockey_stick(*pair({"1": asked, "0": told}), alpha)
    assert adaptive > max(hockey_stick(*pair({"1": part, "0": part}), alpha) for part in (told, asked))


def test_parts_by_value_under_replacement_cost_two_parts() -> None:
    """Why Parallel refuses REPLACE: sizes are 0-DP within a part, and tell for certain where a row went."""
    sizes: Table = {data: {len(data): Fraction(1)} for data in [(), ("a",), ("b",)]}
    moved = by_value([sizes, sizes], {"a": 0, "b": 1}, [("a",), ("b",)])
    assert hockey_stick(moved[("a",)], moved[("b",)], Fraction(10**9)) == 1
    assert profile(compositions(Pure(epsilon=0))[0], Fraction(10**9), 1) == 0
    with pytest.raises(NoSuchRule):
        Parallel(events=[Pure(epsilon=0, neighbors=Neighbors.REPLACE)] * 2)


# Depth and size


def test_deep_and_large_events_are_flattened() -> None:
    event: Event = ONE
    for _ in range(24):
        event = Parallel(events=[Sequence(events=[PoissonSample(event=Repeat(event=event, times=1), rate="0.99")])])
    ((term, times),) = flatten(event).items()
    assert isinstance(term, PoissonSample)
    assert (term.rate, times) == (Fraction(99, 100) ** 24, 1)
    groups: Event = Gaussian(noise_multiplier=10**6)
    for _ in range(15):
        groups = Group(event=groups, size=2)
    assert next(iter(flatten(groups))).noise_multiplier == Fraction(10**6, 2**15)  # type: ignore[attr-defined]


def test_many_parts_on_many_samples() -> None:
    event: Event = Parallel(events=[Laplace(scale=1 + Fraction(n, 7)) for n in range(3000)])
    for _ in range(50):
        event = PoissonSample(event=event, rate="0.9")
    (terms,) = alternatives(event)
    assert terms == {PoissonSample(event=Laplace(scale=1), rate=Fraction(9, 10) ** 50): 1}


def test_only_what_reveals_nothing_is_silent() -> None:
    assert not any(
        is_silent(event) for event in (ONE, Approx(epsilon=0, delta="1e-9"), Gaussian(noise_multiplier=10**30))
    )
    assert is_silent(PoissonSample(event=ONE, rate=0))
    assert parts_of(Sequence(events=[ONE, ONE])) is None


def test_lists_that_are_plainly_short() -> None:
    noise, sample = acc.Gaussian(noise_multiplier=1), acc.PoissonSample(event=acc.Laplace(scale=2), rate="0.1")
    simple = acc.Sequence(events=[noise, sample, acc.Repeat(event=acc.Repeat(event=sample, times=3), times=0)])
    assert is_short(simple, 3)
    assert len(flatten(simple)) == 2
    assert not is_short(simple, 2)
    for other in (simple, acc.Pure(epsilon=1), acc.PoissonSample(event=noise, rate=1)):
        assert not is_short(acc.Sequence(events=[noise, other]), 10)
    assert not is_short(noise, 10)


def test_noise_repeated_at_any_depth() -> None:
    sample = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=1), rate="0.1")
    event = acc.Repeat(event=acc.Repeat(event=sample, times=3), times=5)
    assert flatten(event) == {sample: 15}
    assert flatten(acc.Repeat(event=acc.Repeat(event=sample, times=0), times=5)) == {}
