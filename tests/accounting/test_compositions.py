"""What is added up for an event: exact, order-free, and never less than the mechanisms cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

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
from privately.accounting import compositions as composing
from privately.accounting.compositions import LONGEST_SUM, Composition, _sums, compositions, law_of, one_by_one
from privately.accounting.losses import (
    Direction,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.errors import InvalidParameter
from privately.guarantees import Neighbors
from tests.accounting.exact_profiles import excess, gap, hockey_stick, least_delta, profile, removals, strongest
from tests.guarantees.enumeration import Table, adaptive, clamped_noise, joint, poisson_sampled, tables

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
NOTHING = (Composition(),)
CERTAIN = (Composition(infinite=Fraction(1)),)

LEAVES: list[Event] = [
    Gaussian(noise_multiplier=2),
    GaussianDP(mu="1/3"),
    Laplace(scale=3),
    DiscreteGaussian(variance=2),
    DiscreteLaplace(scale=2, sensitivity=3),
    RandomizedResponse(epsilon=1, categories=4),
    Pure(epsilon="0.3"),
    Approx(epsilon=1, delta="1e-5"),
]
leaves = st.sampled_from(LEAVES)
sampled = st.builds(PoissonSample, event=leaves, rate=st.sampled_from(["0.1", "0.5"]))
events = st.recursive(
    leaves | sampled,
    lambda inner: (
        st.builds(Sequence, events=st.lists(inner, min_size=1, max_size=4))
        | st.builds(Repeat, event=inner, times=st.integers(0, 5))
    ),
    max_leaves=8,
)


def only(event: Event) -> Composition:
    (found,) = compositions(event)
    return found


# Leaves


@pytest.mark.parametrize(
    ("event", "law"),
    [
        (Gaussian(noise_multiplier="0.5"), GaussianLoss(mu_squared=Fraction(4))),
        (GaussianDP(mu=3), GaussianLoss(mu_squared=Fraction(9))),
        (Laplace(scale=4), LaplaceLoss(epsilon=QUARTER)),
        (DiscreteGaussian(variance=2, sensitivity=3), DiscreteGaussianLoss(variance=Fraction(2), sensitivity=3)),
        (DiscreteLaplace(scale=2, sensitivity=3), DiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3)),
        (DiscreteLaplace(scale=2), response(HALF)),
        (RandomizedResponse(epsilon=2), response(Fraction(2))),
        (Pure(epsilon=2), response(Fraction(2))),
    ],
)
def test_leaves_have_one_law_for_both_directions(event: Event, law: Any) -> None:
    assert compositions(event) == (Composition(parts=((law, 1),)),)


def test_delta_is_kept_apart() -> None:
    found = only(Sequence(events=[Approx(epsilon=1, delta="0.1"), Approx(epsilon=1, delta="0.2"), Pure(epsilon=1)]))
    assert found == Composition(parts=((response(Fraction(1)), 3),), infinite=1 - Fraction(9, 10) * Fraction(8, 10))


@pytest.mark.parametrize(
    "event",
    [Gaussian(noise_multiplier=0), Laplace(scale=0), DiscreteGaussian(variance=0), DiscreteLaplace(scale=0)],
)
def test_no_noise_is_no_crash(event: Event) -> None:
    assert compositions(event) == CERTAIN
    assert compositions(Sequence(events=[event, Pure(epsilon=1)])) == CERTAIN
    assert compositions(Repeat(event=event, times=0)) == NOTHING
    removed, added = compositions(PoissonSample(event=event, rate="0.25"))
    assert (removed.infinite, added.infinite) == (QUARTER, Fraction(0))
    both = Sequence(events=[event, Gaussian(noise_multiplier=1)])
    if isinstance(event, Gaussian):
        assert compositions(PoissonSample(event=both, rate="0.25")) == (removed, added)


@pytest.mark.parametrize(
    "event",
    [
        Pure(epsilon=0),
        Approx(epsilon=0, delta=0),
        GaussianDP(mu=0),
        RandomizedResponse(epsilon=0, categories=9),
        Exponential(epsilon=0),
        ZCDP(rho=0),
        Renyi(bounds={2: 0, 3: 5}),
        PoissonSample(event=Gaussian(noise_multiplier=0), rate=0),
        PoissonSample(event=Pure(epsilon=0), rate=HALF),
        FixedSizeSample(event=Gaussian(noise_multiplier=0, neighbors=Neighbors.REPLACE), size=0, population=9),
        Repeat(event=Gaussian(noise_multiplier=1), times=0),
        Group(event=Pure(epsilon=0), size=5),
        Parallel(events=[Pure(epsilon=0), GaussianDP(mu=0)]),
    ],
)
def test_what_reveals_nothing_has_no_parts(event: Event) -> None:
    assert compositions(event) == NOTHING
    assert compositions(event)[0].is_nothing
    assert not only(Gaussian(noise_multiplier=1)).is_nothing
    assert not only(Gaussian(noise_multiplier=0)).is_nothing


# Samples


@pytest.mark.parametrize(
    ("event", "law", "parameters"),
    [
        (Gaussian(noise_multiplier=1), SampledGaussianLoss, {"mu_squared": Fraction(1)}),
        (Laplace(scale=2), SampledLaplaceLoss, {"epsilon": HALF}),
        (DiscreteGaussian(variance=3), SampledDiscreteGaussianLoss, {"variance": Fraction(3), "sensitivity": 1}),
        (
            DiscreteLaplace(scale=3, sensitivity=2),
            SampledDiscreteLaplaceLoss,
            {"scale": Fraction(3), "sensitivity": 2},
        ),
    ],
)
def test_samples_have_two_directions(event: Event, law: Any, parameters: dict[str, Any]) -> None:
    expected = tuple(
        Composition(parts=((law(rate=QUARTER, direction=direction, **parameters), 7),))
        for direction in ("remove", "add")
    )
    assert compositions(Repeat(event=PoissonSample(event=event, rate="0.25"), times=7)) == expected


def test_gaussians_on_one_sample_are_one_gaussian() -> None:
    several = Sequence(events=[Gaussian(noise_multiplier=1), Repeat(event=Gaussian(noise_multiplier=2), times=3)])
    one = GaussianDP(mu=2)
    more = Sequence(events=[several, GaussianDP(mu="1.5")])
    assert compositions(PoissonSample(event=more, rate="0.1")) == compositions(PoissonSample(event=one, rate="0.1"))


def test_other_mixtures_on_one_sample_have_no_pair() -> None:
    for events in ([Pure(epsilon=1)] * 2, [Pure(epsilon=1), Gaussian(noise_multiplier=1)]):
        with pytest.raises(NotApplicable, match="several mechanisms on one sample"):
            compositions(PoissonSample(event=Sequence(events=events), rate="0.1"))
    nested = Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=1), rate="0.1"), times=2)
    with pytest.raises(NotApplicable):
        compositions(PoissonSample(event=nested, rate="0.1"))


def test_fixed_size_is_glued() -> None:
    noisy = FixedSizeSample(event=Gaussian(noise_multiplier=2, neighbors=Neighbors.REPLACE), size=1, population=4)
    glued = GluedLoss(base=GaussianLoss(mu_squared=QUARTER), rate=QUARTER)
    assert compositions(Repeat(event=noisy, times=3)) == (Composition(parts=((glued, 3),)),)
    approx = FixedSizeSample(event=Approx(epsilon=1, delta="0.1", neighbors=Neighbors.REPLACE), size=1, population=4)
    assert only(approx).infinite == Fraction(1, 40)


@pytest.mark.parametrize(
    "event",
    [ZCDP(rho=1), Renyi(bounds={2: 1}), Exponential(epsilon=1), Group(event=Approx(epsilon=1, delta="0.1"), size=2)],
)
def test_events_without_a_pair(event: Event) -> None:
    with pytest.raises(NotApplicable, match="no single pair"):
        compositions(event)
    with pytest.raises(NotApplicable):
        compositions(Sequence(events=[Pure(epsilon=1, neighbors=event.neighbors), event]))


# Against mechanisms written out


@settings(max_examples=25)
@given(
    tables(("a",), (0, 1), outcomes=2, zeros=True) | tables(("a",), (0, 1), outcomes=3),
    st.fractions(min_value=Fraction(1, 9), max_value=Fraction(8, 9), max_denominator=9),
    st.integers(1, 3),
)
def test_compositions_dominate_enumeration(table: Table, rate: Fraction, times: int) -> None:
    """Sampled runs, side by side, each with a fresh sample; both directions, every ratio."""
    delta = least_delta(removals(table))
    ratio = strongest(removals(table), delta)
    claimed: Event = Approx(epsilon=1 if ratio > 1 else 0, delta=delta)  # the tests put `ratio` for e^1
    found = compositions(Repeat(event=PoissonSample(event=claimed, rate=rate), times=times))
    once = poisson_sampled(table, rate, table)
    ((p, q),) = removals({data: joint([law] * times) for data, law in once.items()})
    assert excess([(p, q)], found[:1], ratio) is None
    assert excess([(q, p)], found[-1:], ratio) is None


@settings(max_examples=25)
@given(
    tables(("a",), (0, 1), outcomes=2),
    st.lists(tables(("a",), (0, 1), outcomes=2), min_size=2, max_size=2),
    st.sampled_from([Fraction(1, 5), Fraction(2, 3)]),
)
def test_adaptive_compositions_are_dominated(first: Table, later: list[Table], rate: Fraction) -> None:
    """The second mechanism depends on the first answer; both are sampled anew."""
    ratio = max(strongest(removals(table), Fraction(0)) for table in (first, *later))
    claimed = PoissonSample(event=Pure(epsilon=1 if ratio > 1 else 0), rate=rate)
    found = compositions(Sequence(events=[claimed, claimed]))
    one, *others = (poisson_sampled(table, rate, table) for table in (first, *later))
    ((p, q),) = removals(adaptive(one, lambda answer: others[answer == "o0"]))
    assert excess([(p, q)], found[:1], ratio) is None
    assert excess([(q, p)], found[-1:], ratio) is None


@given(
    st.fractions(min_value=Fraction(21, 20), max_value=5, max_denominator=20),
    st.lists(st.integers(1, 3), min_size=2, max_size=3),
)
def test_laplace_noise_on_vectors_is_dominated(ratio: Fraction, shifts: list[int]) -> None:
    """Discrete noise on each number; one number that changes by the sum is the worst. Unit steps are ratio-private."""
    noisy = [(clamped_noise(0, ratio, range(by + 1)), clamped_noise(by, ratio, range(by + 1))) for by in shifts]
    pair = joint([p for p, _ in noisy]), joint([q for _, q in noisy])
    found = compositions(DiscreteLaplace(scale=1, sensitivity=sum(shifts)))
    for power in range(-2 * sum(shifts) - 1, 2 * sum(shifts) + 2):
        for alpha in (ratio**power, ratio**power * Fraction(4, 5)):
            assert hockey_stick(*pair, alpha) <= profile(found[0], alpha, ratio)
    smaller = compositions(DiscreteLaplace(scale=1, sensitivity=max(shifts)))
    assert hockey_stick(*pair, ratio ** max(shifts)) > profile(smaller[0], ratio ** max(shifts), ratio)


def test_directions_are_not_mixed() -> None:
    """The larger direction of each term, taken before composing, would be another (larger) number."""
    ratio, rate = Fraction(9), Fraction(1, 5)
    told = {("a",): {"1": Fraction(9, 10), "0": Fraction(1, 10)}, (): {"1": Fraction(1, 10), "0": Fraction(9, 10)}}
    removed, added = compositions(Repeat(event=PoissonSample(event=Pure(epsilon=1), rate=rate), times=2))
    once = poisson_sampled(told, rate, told)
    ((p, q),) = removals({data: joint([law] * 2) for data, law in once.items()})
    assert gap((p, q), removed, ratio) == gap((q, p), added, ratio) == 0
    assert excess([(p, q)], [added], ratio)
    assert excess([(q, p)], [removed], ratio)


# The algebra


@given(st.lists(events, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_order_does_not_matter(listed: list[Event], random: Any) -> None:
    shuffled = list(listed)
    random.shuffle(shuffled)
    assert compositions(Sequence(events=listed)) == compositions(Sequence(events=shuffled))


@given(events, st.integers(0, 4))
def test_repeat_is_a_sequence(event: Event, times: int) -> None:
    repeated = compositions(Repeat(event=event, times=times))
    listed = compositions(Sequence(events=[event] * times)) if times else NOTHING
    assert repeated == listed


@given(st.lists(events, min_size=2, max_size=4))
def test_nesting_does_not_matter(listed: list[Event]) -> None:
    nested = Sequence(events=[listed[0], Sequence(events=[Repeat(event=Sequence(events=listed[1:]), times=1)])])
    assert compositions(Sequence(events=listed)) == compositions(nested)


def test_gaussians_are_merged_by_their_squares() -> None:
    several = [Gaussian(noise_multiplier=2), GaussianDP(mu="1/3"), Repeat(event=Gaussian(noise_multiplier=3), times=5)]
    assert only(Sequence(events=several)).parts == ((GaussianLoss(mu_squared=QUARTER + Fraction(6, 9)), 1),)


# Large and bad input


def test_many_different_gaussians_become_a_few_laws() -> None:
    several = Sequence(events=[GaussianDP(mu=Fraction(1, 10**6 + 2 * n + 1)) for n in range(20_000)])
    parts = only(several).parts
    assert 1 < len(parts) < 1000
    total = sum(float(law.mu_squared) for law, _ in parts if isinstance(law, GaussianLoss))
    assert total == pytest.approx(sum((10**6 + 2 * n + 1) ** -2.0 for n in range(20_000)), rel=1e-12)
    assert all(law.mu_squared.denominator.bit_length() < LONGEST_SUM + 100 for law, _ in parts)  # type: ignore[union-attr]
    with pytest.raises(NotApplicable, match="too many different"):
        compositions(PoissonSample(event=several, rate=HALF))


def test_a_hundred_different_floats_are_one_law() -> None:
    several = [Gaussian(noise_multiplier=20.1 + n / 7) for n in range(100)]
    assert len(only(Sequence(events=several)).parts) == 1


def test_a_hundred_gaussians_are_hashed_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing a Fraction takes longer than anything else that is done to a term."""
    hashed, plainly = [], Fraction.__hash__

    def counting(self: Fraction) -> int:
        hashed.append(self)
        return plainly(self)

    event = Sequence(events=[Gaussian(noise_multiplier=Fraction(500 + k, 7)) for k in range(100)])
    monkeypatch.setattr(Fraction, "__hash__", counting)
    (one,) = compositions(event)
    monkeypatch.undo()
    assert len(hashed) <= 110
    assert one.parts == (
        (GaussianLoss(mu_squared=sum((Fraction(7, 500 + k) ** 2 for k in range(100)), Fraction(0))), 1),
    )


def test_the_largest_number_of_runs() -> None:
    event = Repeat(event=Approx(epsilon="0.1", delta="1e-13"), times=10**12)
    ((found,),) = (compositions(event),)
    assert found.parts == ((response(Fraction(1, 10)), 10**12),)
    assert found.infinite_lower < found.infinite < found.infinite_lower * (1 + Fraction(1, 10**30))
    assert float(found.infinite) == pytest.approx(0.09516258196404048, rel=1e-12)  # 1 - e^-0.1


@pytest.mark.parametrize(
    "arguments",
    [
        {"infinite": Fraction(2)},
        {"infinite": Fraction(-1)},
        {"infinite": Fraction(1, 3), "infinite_lower": Fraction(1, 2)},
        {"parts": ((response(Fraction(1)), 0),)},
    ],
)
def test_impossible_compositions_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Composition(**arguments)


def test_the_order_of_laws_is_that_of_exact_numbers() -> None:
    """Also where floats cannot tell them apart."""
    bases = [Gaussian(noise_multiplier=1 + Fraction(k, 10**30)) for k in (-1, 0, 1, 10**29, 10**31)]
    events = [PoissonSample(event=base, rate="0.1") for base in bases]
    ((first, second),) = {compositions(Sequence(events=row)) for row in permutations(events)}
    for found in (first, second):
        squares = [law.mu_squared for law, _ in found.parts if isinstance(law, SampledGaussianLoss)]
        assert squares == sorted(squares)
        assert len(squares) == len(events)


def test_sums_of_many_ratios() -> None:
    """In pairs, over common denominators; none longer than allowed is made, wherever the long ones stand."""
    for many in (1, 2, 3, 7, 100):
        ratios = [(k + 1, (k % 5 + 1) * 10 ** (k % 7)) for k in range(many)]
        assert sum(_sums(ratios)) == sum(Fraction(*ratio) for ratio in ratios)
    primes = [(1, 2**4093 + 2 * k + 1) for k in range(40)]
    for ratios in ([*primes, (1, 1)], [*((1, 1) for _ in range(40)), *primes]):
        sums = _sums(ratios)
        assert len(sums) > 1
        assert all(one.denominator.bit_length() <= LONGEST_SUM + 4096 for one in sums)
        assert sum(sums) == sum(Fraction(*ratio) for ratio in ratios)


@pytest.mark.parametrize("rate", [None, "0.01", "1/3"])
@pytest.mark.parametrize("times", [1, 7, 10**6])
@pytest.mark.parametrize("noise", [Gaussian(noise_multiplier="1.25"), Laplace(scale="1/7")])
def test_one_noise_is_composed_as_all_else(noise: Event, times: int, rate: str | None) -> None:
    """The short way and the long one, on which it is wrapped in a Sequence, lead to the same."""
    one = noise if rate is None else PoissonSample(event=noise, rate=rate)
    event = Repeat(event=one, times=times)
    assert compositions(event) == compositions(Sequence(events=[event]))
    assert compositions(one) == compositions(Repeat(event=one, times=1))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.fractions(min_value="1/100", max_value=100, max_denominator=10**6), min_size=1, max_size=30))
def test_normal_noises_are_composed_as_all_else(multipliers: list[Fraction]) -> None:
    """Listed, or in a Sequence within a Sequence: one law, whose mu^2 is the exact sum, in any order."""
    events = [Gaussian(noise_multiplier=one) for one in multipliers]
    (found,) = compositions(Sequence(events=events))
    assert found == compositions(Sequence(events=[Sequence(events=events[::-1])]))[0]
    ((law, times),) = found.parts
    assert isinstance(law, GaussianLoss)
    assert (law.mu_squared, times) == (sum(1 / one**2 for one in multipliers), 1)


def test_noise_that_says_nothing_or_all_has_no_short_way() -> None:
    revealed, none = Gaussian(noise_multiplier=0), PoissonSample(event=Laplace(scale=1), rate=0)
    for event in (Repeat(event=revealed, times=3), none, Repeat(event=Laplace(scale=2), times=0)):
        assert compositions(event) == compositions(Sequence(events=[event]))
    assert compositions(Sequence(events=[Gaussian(noise_multiplier=1), revealed]))[0].infinite == 1


def test_directions_are_made_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many terms two at once would take twice the memory."""
    made: list[str] = []

    def noted(term: Event, direction: Direction) -> object:
        made.append(direction)
        return law_of(term, direction)

    monkeypatch.setattr(composing, "law_of", noted)
    event = Sequence(events=[PoissonSample(event=leaf, rate=QUARTER) for leaf in LEAVES])
    listed = one_by_one(event)
    first = next(listed)
    assert set(made) == {"remove"}
    assert (first, next(listed)) == compositions(event)
