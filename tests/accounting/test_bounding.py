"""Events that cost more, and events that cost less, where no pair is known."""

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
)
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import compositions
from privately.accounting.losses import FiniteLoss, GaussianLoss
from privately.accounting.roads import NotApplicable
from privately.errors import NoSuchRule
from privately.guarantees import ApproxDP, Neighbors
from privately.rounding import Enclosure
from tests.accounting.exact_profiles import enclosed_profile, gap, hockey_stick, least_delta, removals, strongest
from tests.guarantees.enumeration import (
    Table,
    joint,
    neighbour_pairs,
    normalised,
    poisson_sampled,
    present,
    response,
    revealing,
    sampled_without_replacement,
    tables,
)
from tests.guarantees.rules.refutation import refutation

TWO = Neighbors.ADD_REMOVE.times(2)
REPLACE = Neighbors.REPLACE
RATIOS = [Fraction(n, 4) for n in (0, 1, 2, 3, 4, 5, 6, 8, 12, 20, 40, 400)]


def logarithm(ratio: Fraction) -> Fraction:
    """A short rational that is at least ln(ratio)."""
    return Enclosure.of(ratio).log().claim() if ratio > 1 else Fraction(0)


def profiles(event: Event, alpha: Fraction) -> list[Enclosure]:
    return [enclosed_profile(one, alpha) for one in compositions(event)]


# From above


@settings(max_examples=25)
@given(
    tables(("a",), (0, 1, 2), outcomes=3, zeros=True) | tables(("a",), (0, 1, 2), outcomes=3),
    tables(("a",), (0, 1), outcomes=2),
    st.sampled_from([Fraction(1, 4), Fraction(2, 3)]),
)
def test_bounding_events_dominate_enumeration(grouped: Table, other: Table, rate: Fraction) -> None:
    """Groups of approximate mechanisms; two different mechanisms on one sample."""
    delta = least_delta(removals(grouped))
    first = Approx(epsilon=logarithm(strongest(removals(grouped), delta)), delta=delta)
    bound = bounding(Group(event=first, size=2))
    assert isinstance(bound, Approx)
    statement = ApproxDP(epsilon=bound.epsilon, delta=bound.delta, neighbors=bound.neighbors)
    assert refutation(statement, neighbour_pairs(grouped, TWO)) == ""

    small = {data: law for data, law in grouped.items() if data in other}
    second = Pure(epsilon=logarithm(strongest(removals(other), Fraction(0))))
    together = {data: joint([small[data], other[data]]) for data in other}
    ((p, q),) = removals(poisson_sampled(together, rate, together))
    event = bounding(PoissonSample(event=Sequence(events=[first, second]), rate=rate))
    removed, added = compositions(event)[0], compositions(event)[-1]
    for alpha in RATIOS:
        assert hockey_stick(p, q, alpha) <= enclosed_profile(removed, alpha).upper
        assert hockey_stick(q, p, alpha) <= enclosed_profile(added, alpha).upper


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=2))
def test_bounded_range_is_bounded(qualities: list[list[int]]) -> None:
    """The exponential mechanism with base 3/2: the range is the largest minus the smallest change of quality."""
    one, other = (normalised([int(6**4 * Fraction(3, 2) ** quality) for quality in listed]) for listed in qualities)
    changes = [a - b for a, b in zip(*qualities, strict=True)]
    bound = bounding(Exponential(epsilon=logarithm(Fraction(3, 2) ** (max(changes) - min(changes)))))
    assert isinstance(bound, Pure)
    assert refutation(ApproxDP(epsilon=bound.epsilon, delta=0), [(one, other)]) == ""


def test_each_kind_from_above() -> None:
    exponential = Exponential(epsilon=2)
    assert bounding(exponential) == Pure(epsilon=2)
    assert bounding(Repeat(event=PoissonSample(event=exponential, rate="0.5"), times=3)) == Repeat(
        event=PoissonSample(event=Pure(epsilon=2), rate="0.5"), times=3
    )
    assert bounding(Group(event=exponential, size=2)) == DiscreteLaplace(scale="1/2", sensitivity=2, neighbors=TWO)
    assert bounding(Parallel(events=[exponential, Laplace(scale=1)])) == Parallel(
        events=[Pure(epsilon=2), Laplace(scale=1)]
    )
    mixed = Sequence(events=[Pure(epsilon=1), Approx(epsilon=1, delta="0.1"), Repeat(event=Laplace(scale=2), times=4)])
    assert bounding(PoissonSample(event=mixed, rate="0.5")) == PoissonSample(
        event=Approx(epsilon=4, delta="0.1"), rate="0.5"
    )
    failing = Sequence(events=[Approx(epsilon=1, delta="0.1"), Repeat(event=Approx(epsilon=2, delta="0.2"), times=2)])
    assert bounding(PoissonSample(event=failing, rate="0.5")) == PoissonSample(
        event=Approx(epsilon=5, delta=1 - Fraction(9 * 8 * 8, 1000)), rate="0.5"
    )
    noiseless = Sequence(events=[DiscreteLaplace(scale=2, sensitivity=3), Gaussian(noise_multiplier=0)])
    assert bounding(PoissonSample(event=noiseless, rate="0.5")) == PoissonSample(
        event=Approx(epsilon="1.5", delta=1), rate="0.5"
    )
    parts = PoissonSample(event=Parallel(events=[mixed, exponential]), rate="0.5")
    assert bounding(parts) == Parallel(
        events=[
            PoissonSample(event=Approx(epsilon=4, delta="0.1"), rate="0.5"),
            PoissonSample(event=Pure(epsilon=2), rate="0.5"),
        ]
    )
    fixed = FixedSizeSample(event=Exponential(epsilon=1, neighbors=REPLACE), size=1, population=3)
    assert bounding(fixed) == FixedSizeSample(event=Pure(epsilon=1, neighbors=REPLACE), size=1, population=3)


def test_groups_of_approximate_mechanisms_from_above() -> None:
    bound = bounding(Group(event=Sequence(events=[Approx(epsilon=1, delta="1e-3"), Pure(epsilon=1)]), size=3))
    assert isinstance(bound, Sequence)
    approx, _ = bound.events
    assert isinstance(approx, Approx)
    assert approx.epsilon == 3
    assert float(approx.delta) == pytest.approx(1e-3 * (1 + 2.718281828459045 + 7.38905609893065), rel=1e-12)
    assert bounding(Group(event=Approx(epsilon=1000, delta="0.1"), size=3)).delta == 1  # type: ignore[attr-defined]
    for epsilon in (0, "1e-70", "1e-30"):
        small = bounding(Group(event=Approx(epsilon=epsilon, delta="0.1"), size=3)).delta  # type: ignore[attr-defined]
        assert Fraction(3, 10) <= small <= Fraction(3, 10) * (1 + Fraction(1, 10**14))


PAIRED: list[Event] = [
    Gaussian(noise_multiplier=1),
    Sequence(events=[Laplace(scale=1), DiscreteGaussian(variance=1)]),
    PoissonSample(event=Sequence(events=[Gaussian(noise_multiplier=1), GaussianDP(mu=1)]), rate="0.5"),
    Parallel(events=[Laplace(scale=1), Pure(epsilon=1)]),
    Sequence(events=[Parallel(events=[Pure(epsilon=1), Pure(epsilon=2)]), Pure(epsilon=1)]),
    Repeat(event=Pure(epsilon=1), times=0),
    Group(event=Gaussian(noise_multiplier=1), size=1),
]


@pytest.mark.parametrize("event", PAIRED, ids=repr)
def test_what_has_a_pair_keeps_it(event: Event) -> None:
    assert compositions(bounding(event)) == compositions(within(event)) == compositions(event)


def test_what_cannot_be_bounded() -> None:
    for event in (ZCDP(rho=1), Renyi(bounds={2: 1}), Sequence(events=[Pure(epsilon=1), ZCDP(rho=1)])):
        with pytest.raises(NotApplicable):
            bounding(event)
    with pytest.raises(NoSuchRule, match="on one sample"):
        bounding(PoissonSample(event=Sequence(events=[Pure(epsilon=1), Gaussian(noise_multiplier=1)]), rate="0.5"))


# From below


def test_events_within_are_inside() -> None:
    """Each kind, by the definition of the kind."""
    ((law, _),) = compositions(within(Exponential(epsilon=3)))[0].parts
    assert isinstance(law, FiniteLoss)
    losses = [loss for _, loss in law.atoms()]
    assert (losses[0] - losses[-1]).contains(3)
    for rho in (Fraction(1, 3), Fraction(2), Fraction(1, 10**80)):
        ((normal, _),) = compositions(within(ZCDP(rho=rho)))[0].parts
        assert isinstance(normal, GaussianLoss)
        assert 1 - Fraction(1, 10**35) <= normal.mu_squared / (2 * rho) <= 1
    bounds = {2: Fraction(1), 3: Fraction(1, 2), 8: Fraction(4)}
    ((normal, _),) = compositions(within(Renyi(bounds=bounds)))[0].parts
    assert isinstance(normal, GaussianLoss)
    assert all(order * normal.mu_squared / 2 <= bound for order, bound in bounds.items())
    assert normal.mu_squared == pytest.approx(Fraction(1, 3), rel=1e-30)


@given(st.fractions(min_value=Fraction(6, 5), max_value=5, max_denominator=5), st.integers(2, 3))
def test_within_groups_of_approximate_mechanisms(ratio: Fraction, size: int) -> None:
    delta = Fraction(1, 10)
    table = revealing(present(ratio, most=size), delta)
    assert strongest(removals(table), delta) <= ratio, "an approximate mechanism it is"
    (found,) = compositions(within(Group(event=Approx(epsilon=1, delta=delta), size=size)))
    assert gap((table[("0",) * size], table[()]), found, ratio) == 0


@given(st.fractions(min_value=Fraction(6, 5), max_value=5, max_denominator=5), st.integers(1, 2))
def test_within_samples_of_fixed_size(ratio: Fraction, times: int) -> None:
    """A mechanism that looks for the replaced row alone, beside an unsampled one, both ways round."""
    asked = response(ratio)
    told: Table = {("a",): asked[("1",)], ("b",): asked[("0",)]}
    sampled = sampled_without_replacement(told, 1, [("a", "b", "b"), ("b", "b", "b")])
    seen = joint([sampled[("a", "b", "b")]] * times + [told[("a",)]])
    unseen = joint([sampled[("b", "b", "b")]] * times + [told[("b",)]])
    one = FixedSizeSample(event=Pure(epsilon=1, neighbors=REPLACE), size=1, population=3)
    event = Sequence(events=[Repeat(event=one, times=times), Pure(epsilon=1, neighbors=REPLACE)])
    inside = within(event)
    assert inside.neighbors == Neighbors.ADD_REMOVE
    removed, added = compositions(inside)
    assert gap((seen, unseen), removed, ratio) == gap((unseen, seen), added, ratio) == 0


def test_within_samples() -> None:
    mixed = Sequence(events=[Gaussian(noise_multiplier=1), Exponential(epsilon=1), Laplace(scale=1)])
    assert within(PoissonSample(event=mixed, rate="0.5")) == PoissonSample(
        event=Gaussian(noise_multiplier=1), rate="0.5"
    )
    quiet = Sequence(events=[Gaussian(noise_multiplier=4), Exponential(epsilon=1), Laplace(scale=1)])
    assert within(PoissonSample(event=quiet, rate="0.5")) == PoissonSample(event=Laplace(scale=1), rate="0.5")
    noisy = Sequence(events=[Gaussian(noise_multiplier=1), DiscreteGaussian(variance=1)])
    assert within(PoissonSample(event=noisy, rate="0.5")) == PoissonSample(
        event=Gaussian(noise_multiplier=1), rate="0.5"
    )
    whole = FixedSizeSample(event=Exponential(epsilon=1, neighbors=REPLACE), size=3, population=3)
    assert compositions(within(whole)) == compositions(RandomizedResponse(epsilon="0.5"))
    parts = Parallel(events=[Laplace(scale=1), Pure(epsilon=1)])
    assert compositions(within(Repeat(event=parts, times=2))) == compositions(Repeat(event=Laplace(scale=1), times=2))
    strong = Parallel(events=[Laplace(scale=10), GaussianDP(mu=2), Parallel(events=[Pure(epsilon=1), ZCDP(rho=1)])])
    assert compositions(within(Repeat(event=strong, times=2))) == compositions(Repeat(event=GaussianDP(mu=2), times=2))
    sampled = PoissonSample(event=parts, rate="0.5")
    once = PoissonSample(event=Laplace(scale=1), rate="0.5")
    assert compositions(within(Sequence(events=[sampled, once]))) == compositions(Repeat(event=once, times=2))


finite = st.one_of(
    st.builds(Exponential, epsilon=st.sampled_from([1, "0.3"])),
    st.builds(Pure, epsilon=st.sampled_from([1, "0.3"])),
    st.builds(Approx, epsilon=st.sampled_from([1, "0.3"]), delta=st.sampled_from(["0.1", "1e-5"])),
    st.builds(RandomizedResponse, epsilon=st.just(1), categories=st.integers(2, 3)),
)
samples = st.builds(
    PoissonSample,
    event=st.builds(Sequence, events=st.lists(finite, min_size=1, max_size=2)),
    rate=st.sampled_from(["0.1", "0.7"]),
)


@settings(max_examples=40)
@given(st.lists(finite | samples, min_size=1, max_size=3))
def test_the_lower_end_is_below_the_upper_end(listed: list[Event]) -> None:
    event = Sequence(events=listed)
    for alpha in (Fraction(1), Fraction(3, 2), Fraction(4)):
        low = max(one.lower for one in profiles(within(event), alpha))
        high = max(one.upper for one in profiles(bounding(event), alpha))
        assert low <= high


def test_a_larger_population_only_helps() -> None:
    found = [
        compositions(FixedSizeSample(event=Pure(epsilon=1, neighbors=REPLACE), size=1, population=n))[0] for n in (2, 3)
    ]
    assert enclosed_profile(found[0], Fraction(1)).lower > enclosed_profile(found[1], Fraction(1)).upper


def test_within_groups_of_samples() -> None:
    """One change alone; beside an event that speaks of the whole group nothing is known."""
    sample = PoissonSample(event=ZCDP(rho=1), rate="0.1")
    assert within(Group(event=sample, size=3)) == within(sample)
    group = Group(event=sample, size=2)
    mixed = Sequence(events=[group, Pure(epsilon=1, neighbors=group.neighbors)])
    with pytest.raises(NotApplicable):
        within(mixed)


def test_the_strongest_of_several_on_one_sample() -> None:
    for weak, strong in (
        (Pure(epsilon="0.1"), ZCDP(rho=100)),
        (GaussianDP(mu="0.1"), Pure(epsilon=1)),
        (Pure(epsilon=1), Gaussian(noise_multiplier=0)),
        (Gaussian(noise_multiplier=100), Pure(epsilon=1)),
    ):
        both, alone = (PoissonSample(event=one, rate="0.1") for one in (Sequence(events=[weak, strong]), strong))
        assert compositions(within(both)) == compositions(within(alone))
