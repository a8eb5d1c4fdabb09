"""What several changes at once see, against mechanisms written out in full."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    FixedSizeSample,
    Gaussian,
    GaussianDP,
    Group,
    Laplace,
    Parallel,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
    epsilon,
)
from privately.accounting.compositions import Composition, compositions
from privately.accounting.groups import gathered, grouped, has_rule
from privately.accounting.losses import response
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Neighbors
from tests.accounting.exact_profiles import Pair, excess, gap, hockey_stick, profile, removals, strongest
from tests.guarantees.enumeration import Table, data_sets, joint, neighbour_pairs, present, tables
from tests.guarantees.enumeration import response as answers

THREE = Neighbors.ADD_REMOVE.times(3)


def group_of(event: Event, size: int) -> Composition:
    (found,) = compositions(Group(event=event, size=size))
    return found


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Gaussian(noise_multiplier=6), Gaussian(noise_multiplier=2, neighbors=THREE)),
        (Gaussian(noise_multiplier=0), Gaussian(noise_multiplier=0, neighbors=THREE)),
        (Laplace(scale=6), Laplace(scale=2, neighbors=THREE)),
        (DiscreteGaussian(variance=6), DiscreteGaussian(variance=6, sensitivity=3, neighbors=THREE)),
        (DiscreteLaplace(scale=6, sensitivity=2), DiscreteLaplace(scale=6, sensitivity=6, neighbors=THREE)),
        (
            RandomizedResponse(epsilon=1, categories=4),
            Repeat(event=RandomizedResponse(epsilon=1, categories=4, neighbors=THREE), times=3),
        ),
        (Exponential(epsilon=2), Exponential(epsilon=6, neighbors=THREE)),
        (Pure(epsilon=2), DiscreteLaplace(scale="1/2", sensitivity=3, neighbors=THREE)),
        (Pure(epsilon=0), Pure(epsilon=0, neighbors=THREE)),
        (ZCDP(rho=2), ZCDP(rho=18, neighbors=THREE)),
        (GaussianDP(mu=2), GaussianDP(mu=6, neighbors=THREE)),
        (Approx(epsilon=1, delta="0.1"), Group(event=Approx(epsilon=1, delta="0.1"), size=3)),
        (
            Sequence(events=[Repeat(event=Laplace(scale=3), times=5), ZCDP(rho=1)]),
            Sequence(events=[Repeat(event=Laplace(scale=1, neighbors=THREE), times=5), ZCDP(rho=9, neighbors=THREE)]),
        ),
    ],
    ids=repr,
)
def test_each_kind(event: Event, expected: Event) -> None:
    assert grouped(event, 3) == expected
    assert grouped(event, 3).neighbors == THREE
    assert grouped(event, 1) is event
    assert grouped(Group(event=event, size=3), 2) == grouped(event, 6)


@settings(max_examples=30)
@given(tables(("a",), (0, 1, 2, 3), outcomes=3), st.integers(2, 3))
def test_groups_dominate_enumeration(table: Table, size: int) -> None:
    """Any epsilon-DP mechanism: groups have at most the profile of discrete Laplace noise."""
    ratio = strongest(removals(table), Fraction(0))
    if ratio == 1:
        return
    pairs = neighbour_pairs(table, Neighbors.ADD_REMOVE.times(size))
    both: list[Pair] = [*pairs, *((q, p) for p, q in pairs)]
    assert excess(both, [group_of(Pure(epsilon=1), size)], ratio) is None


@given(st.fractions(min_value=Fraction(6, 5), max_value=9, max_denominator=5), st.integers(1, 5))
def test_pure_groups_are_reached(ratio: Fraction, size: int) -> None:
    table = present(ratio, most=size)
    assert strongest(removals(table), Fraction(0)) == ratio
    pair = table[("0",) * size], table[()]
    assert gap(pair, group_of(Pure(epsilon=1), size), ratio) == 0


def test_the_usual_bound_for_groups_is_not_reached() -> None:
    """k epsilon is safe but too much: randomized response with 3 epsilon is above every 3-group."""
    usual = Composition(parts=((response(Fraction(1)), 1),))
    alpha, ratio = Fraction(3), Fraction(2)
    assert profile(group_of(Pure(epsilon=1), 3), alpha, ratio) < profile(usual, alpha, ratio**3)


@pytest.mark.parametrize("false", [1, 2])
def test_smaller_groups_do_not_dominate(false: int) -> None:
    table = present(2, most=3)
    assert excess([(table[("0",) * 3], table[()])], [group_of(Pure(epsilon=1), false)], 2)


@settings(max_examples=10)
@given(st.fractions(min_value=Fraction(6, 5), max_value=5, max_denominator=5), st.integers(2, 3))
def test_groups_of_answers(ratio: Fraction, categories: int) -> None:
    """Two people of three change their answers."""
    records = [str(i) for i in range(categories)]
    one = answers(ratio, records=records)
    table = {data: joint([one[(record,)] for record in data]) for data in data_sets(records, [3])}
    found = group_of(RandomizedResponse(epsilon=1, categories=categories, neighbors=Neighbors.REPLACE), 2)
    pair = table[("0", "0", "0")], table[("1", "0", "1")]
    assert gap(pair, found, ratio) == 0
    for alpha in (Fraction(1, 2), Fraction(1), ratio, ratio**2):
        worst = max(hockey_stick(p, q, alpha) for p, q in neighbour_pairs(table, Neighbors.REPLACE.times(2)))
        assert worst <= profile(found, alpha, ratio)


@pytest.mark.parametrize(
    "event",
    [
        PoissonSample(event=Pure(epsilon=1), rate="0.5"),
        FixedSizeSample(event=Pure(epsilon=1, neighbors=Neighbors.REPLACE), size=1, population=2),
        Parallel(events=[Pure(epsilon=1)]),
        Renyi(bounds={2: 1}),
        Sequence(events=[Pure(epsilon=1), PoissonSample(event=Pure(epsilon=1), rate="0.5")]),
    ],
)
def test_what_has_no_rule_is_refused(event: Event) -> None:
    with pytest.raises(NoSuchRule, match="groups of 2") as caught:
        compositions(Group(event=event, size=2))
    assert caught.value.hint
    if not isinstance(event, Renyi):
        assert compositions(Group(event=event, size=1)) == compositions(event)


def test_which_groups_are_known() -> None:
    known = Sequence(events=[Pure(epsilon=1), Repeat(event=ZCDP(rho=1), times=3)])
    assert has_rule(Group(event=known, size=3))
    for other in (
        Approx(epsilon=1, delta="0.1"),
        Renyi(bounds={2: 1}),
        PoissonSample(event=Pure(epsilon=1), rate="0.1"),
    ):
        assert not has_rule(Group(event=Sequence(events=[known, Repeat(event=other, times=2)]), size=3))


def test_groups_beyond_the_range_are_refused() -> None:
    discrete = DiscreteLaplace(scale=1, sensitivity=10**17)
    for event in (Gaussian(noise_multiplier="1e-8"), GaussianDP(mu=10**8), discrete):
        with pytest.raises(InvalidParameter):
            compositions(Group(event=event, size=1000))


def test_gathered_groups_see_the_same() -> None:
    step = PoissonSample(event=Laplace(scale=2), rate="0.1")
    inner = Group(event=step, size=3)
    six = Group(event=step, size=6)
    assert gathered(Group(event=inner, size=2)) == six
    assert gathered(Group(event=Group(event=inner, size=1), size=2)) == six
    assert gathered(Group(event=step, size=1)) == step
    assert gathered(Repeat(event=inner, times=4)) == Group(event=Repeat(event=step, times=4), size=3)
    assert gathered(Sequence(events=[inner, inner])) == Group(event=Sequence(events=[step, step]), size=3)
    twice = Group(event=Group(event=Pure(epsilon=1), size=2), size=3)
    assert gathered(Sequence(events=[six, twice])) == Group(event=Sequence(events=[step, Pure(epsilon=1)]), size=6)
    pairs = Neighbors.ADD_REMOVE.times(2)
    for apart in (
        Sequence(events=[six, Group(event=Pure(epsilon=1, neighbors=pairs), size=3)]),
        Sequence(events=[inner, Pure(epsilon=1, neighbors=THREE)]),
        step,
    ):
        assert gathered(apart) is apart


def test_groups_within_groups_take_no_longer() -> None:
    event: Event = PoissonSample(event=Laplace(scale=2), rate="0.1")
    for _ in range(25):
        event = Group(event=Repeat(event=event, times=1), size=2)
    with pytest.raises(NoSuchRule):
        epsilon(event, "1e-5")


def test_a_refused_group_is_told_what_has_an_answer() -> None:
    sample = PoissonSample(event=Gaussian(noise_multiplier=1), rate="0.01")
    with pytest.raises(NoSuchRule, match=r"fewer rows .* up to 96.* without its samples"):
        grouped(Repeat(event=sample, times=1000), 100)
