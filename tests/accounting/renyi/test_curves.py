"""From events to curves, on mechanisms that are written out and on events with a worst pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting import events
from privately.accounting.compositions import compositions
from privately.accounting.renyi.curves import Curve, curves
from privately.accounting.renyi.laws import moments_of
from privately.accounting.renyi.moments import Least, Sum
from privately.accounting.roads import NotApplicable
from privately.errors import NoSuchRule
from privately.guarantees import Neighbors
from privately.guarantees.curves import bound_to_delta
from privately.rounding import Enclosure
from tests.accounting.exact_profiles import additions, hockey_stick, removals, strongest
from tests.accounting.renyi.exact_moments import PLACES, OfPairs
from tests.guarantees.enumeration import Table, by_value, joint, poisson_sampled, tables

SLACK = Fraction(1, 10**22)
REPLACE = Neighbors.REPLACE
ONE = events.Gaussian(noise_multiplier=1)
tables_of_one = tables(("a",), (0, 1), outcomes=3)
rates = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])


def pure(table: Table) -> events.Event:
    """The weakest statement that a table satisfies."""
    return events.Pure(epsilon=Enclosure.of(strongest(removals(table), Fraction(0))).log().claim())


def both(event: events.Event) -> tuple[Curve, Curve]:
    found = curves(event)
    return found[0], found[-1]


def covered(table: Table, event: events.Event) -> bool:
    return all(
        OfPairs.of(pairs).above(c) <= curve.moments.above(c) + SLACK
        for curve, pairs in zip(both(event), (removals(table), additions(table)), strict=True)
        for c in PLACES[1:6]
    )


@settings(max_examples=20)
@given(tables_of_one, tables_of_one, rates)
def test_curves_dominate_enumeration(first: Table, second: Table, rate: Fraction) -> None:
    sampled = poisson_sampled(first, rate, first)
    together: Table = {data: joint([sampled[data], second[data]]) for data in first}
    event = events.Sequence(events=[events.PoissonSample(event=pure(first), rate=rate), pure(second)])
    assert covered(together, event)
    renamed: Table = {tuple("b" for _ in data): law for data, law in second.items()}
    split = by_value([first, renamed], {"a": 0, "b": 1}, [(), ("a",), ("b",)])
    assert covered(split, events.Parallel(events=[pure(first), pure(second)]))


def test_a_parallel_inside_a_composition() -> None:
    """Which part a row meets may depend on earlier answers: at each order the worse part counts."""
    laplace, normal = events.Laplace(scale=1), events.Gaussian(noise_multiplier=2)
    event = events.Sequence(events=[events.Parallel(events=[laplace, normal]), events.Laplace(scale=3)])
    with pytest.raises(NoSuchRule):
        compositions(event)
    (found,) = curves(event)
    for c in [*PLACES, Fraction(100)]:
        parts = [one.moments.above(c) for part in (laplace, normal) for one in curves(part)]
        (rest,) = curves(events.Laplace(scale=3))
        assert found.moments.above(c) == max(parts) + rest.moments.above(c)


CASES: list[events.Event] = [
    ONE,
    events.Laplace(scale=2),
    events.Pure(epsilon=1),
    events.RandomizedResponse(epsilon=1, categories=4),
    events.DiscreteLaplace(scale=2, sensitivity=3),
    events.Repeat(event=events.Sequence(events=[ONE, events.Laplace(scale=2)]), times=3),
    events.PoissonSample(event=events.Sequence(events=[ONE, ONE]), rate="0.1"),
    events.PoissonSample(event=events.PoissonSample(event=ONE, rate="0.1"), rate="0.1"),
    events.Group(event=events.Repeat(event=ONE, times=2), size=3),
    events.Parallel(events=[ONE, ONE]),
    events.FixedSizeSample(event=events.Pure(epsilon=1, neighbors=REPLACE), size=1, population=10),
    events.Repeat(event=ONE, times=0),
    events.PoissonSample(event=ONE, rate=0),
    events.PoissonSample(event=ONE, rate=1),
]


@pytest.mark.parametrize("event", CASES, ids=str)
def test_curves_are_above_the_compositions(event: events.Event) -> None:
    """Where there is a worst pair, the curve is its curve, direction by direction."""
    found = compositions(event)
    for composition, curve in zip((found[0], found[-1]), both(event), strict=True):
        assert curve.infinite == composition.infinite
        parts = [(moments_of(law), times) for law, times in composition.parts]
        for c in PLACES:
            expected = sum((times * part.above(c) for part, times in parts), Fraction(0))
            assert float(curve.moments.above(c)) == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


def test_directions_are_kept_apart() -> None:
    assert len(curves(ONE)) == 1
    assert len(curves(events.Sequence(events=[ONE, events.PoissonSample(event=ONE, rate="0.1")]))) == 2
    remove, add = curves(events.PoissonSample(event=events.Approx(epsilon=1, delta="0.1"), rate="0.1"))
    assert [remove.infinite, add.infinite] == [Fraction(1, 100), 0]


def test_mass_at_infinite_loss() -> None:
    approx = events.Approx(epsilon=1, delta="0.1")
    (twice,) = curves(events.Repeat(event=approx, times=2))
    assert twice.infinite == Fraction(19, 100)
    (worse,) = curves(events.Parallel(events=[approx, events.Approx(epsilon=2, delta="0.05")]))
    assert worse.infinite == Fraction(1, 10)
    assert float(worse.moments.largest) == pytest.approx(2)
    (group,) = curves(events.Group(event=approx, size=2))
    assert float(group.infinite) == pytest.approx(0.1 * (1 + math.e))
    (bare,) = curves(events.Laplace(scale=0))
    assert bare.infinite == 1


SAMPLES: dict[str, Callable[[], events.Event]] = {
    "statement": lambda: events.PoissonSample(event=events.ZCDP(rho=1), rate="0.1"),
    "listed": lambda: events.PoissonSample(event=events.Renyi(bounds={2: 1, 9: 2}), rate="0.1"),
    "range": lambda: events.PoissonSample(event=events.Exponential(epsilon=1), rate="0.1"),
    "several": lambda: events.PoissonSample(event=events.Sequence(events=[ONE, events.Laplace(scale=1)]), rate="0.1"),
    "parts": lambda: events.PoissonSample(event=events.Parallel(events=[ONE, events.Pure(epsilon=1)]), rate="0.1"),
    "fixed": lambda: events.FixedSizeSample(event=events.ZCDP(rho=1, neighbors=REPLACE), size=1, population=10),
    "fixed range": lambda: events.FixedSizeSample(
        event=events.Exponential(epsilon=1, neighbors=REPLACE), size=1, population=10
    ),
    "group": lambda: events.Group(event=events.PoissonSample(event=ONE, rate="0.1"), size=2),
    "group of listed": lambda: events.Group(event=events.Renyi(bounds={2: 1, 9: 2}), size=2),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_and_groups_without_a_worst_pair(name: str) -> None:
    event = SAMPLES[name]()
    for curve in curves(event):
        assert curve.infinite == 0
        assert 0 < curve.moments.above(Fraction(1)) < math.inf
        assert curve.moments.rough(1.0) == pytest.approx(float(curve.moments.above(Fraction(1))), rel=0.05)


def test_two_bounds_are_better_than_one() -> None:
    """The range of the losses, and randomized response in its place: neither is always better on a sample."""
    for epsilon, c, better in ((1, Fraction(1), 0), (Fraction(1, 10), Fraction(300), 1)):
        remove, _ = curves(events.PoissonSample(event=events.Exponential(epsilon=epsilon), rate="0.1"))
        assert isinstance(remove.moments, Sum)
        ((least, _),) = remove.moments.parts
        assert isinstance(least, Least)
        assert least.parts[better].above(c) == least.above(c) < least.parts[1 - better].above(c)


def test_samples_of_statements_cost_no_more_when_a_row_is_added() -> None:
    """From whole orders on, as both directions of the statement are alike."""
    for name in ("statement", "several", "range"):
        remove, add = curves(SAMPLES[name]())
        for c in (Fraction(1), Fraction(2), Fraction(7)):
            assert add.moments.above(c) <= remove.moments.above(c) * (1 + Fraction(1, 10**30))


def test_a_sample_of_what_may_reveal_everything() -> None:
    event = events.PoissonSample(
        event=events.Sequence(events=[events.Approx(epsilon=1, delta="0.1"), events.Pure(epsilon=1)]), rate="0.1"
    )
    remove, add = curves(event)
    assert [remove.infinite, add.infinite] == [Fraction(1, 100), 0]
    assert float(remove.moments.largest) == pytest.approx(math.log(0.9 + 0.1 * math.exp(2)))


@pytest.mark.parametrize(
    "event",
    [
        events.Group(event=events.PoissonSample(event=ONE, rate="0.1"), size=1000),
        events.Group(event=events.PoissonSample(event=events.Approx(epsilon=1, delta="0.1"), rate="0.1"), size=2),
        events.Group(
            event=events.PoissonSample(
                event=events.Sequence(events=[events.ZCDP(rho=1), events.Approx(epsilon=1, delta="0.1")]), rate="0.1"
            ),
            size=2,
        ),
    ],
    ids=str,
)
def test_what_nothing_is_known_of(event: events.Event) -> None:
    with pytest.raises(NotApplicable):
        curves(event)


def test_equal_terms_are_counted() -> None:
    listed = events.Sequence(events=[ONE] * 50_000)
    (found,) = curves(listed)
    assert found.moments.above(Fraction(1)) == 50_000


@settings(max_examples=20)
@given(tables_of_one, rates, st.sampled_from([Fraction(1, 20), Fraction(1, 3)]))
def test_samples_of_what_may_reveal_everything(table: Table, rate: Fraction, mass: Fraction) -> None:
    """At every order and place: delta of the sample, written out, is within what the curve gives."""
    shown: Table = {
        data: {**{o: (1 - mass) * p for o, p in law.items()}, ("shown", *data): mass} for data, law in table.items()
    }
    whole = poisson_sampled(shown, rate, shown)
    bound = Fraction(OfPairs.of([*removals(table), *additions(table)]).above(Fraction(1)))
    base = events.Renyi(bounds=[(2, Enclosure.of(bound + SLACK).claim())])
    event = events.PoissonSample(event=events.Sequence(events=[base, events.Approx(epsilon=0, delta=mass)]), rate=rate)
    assert _broken(whole, event, Fraction(1)) == []


def _broken(whole: Table, event: events.Event, factor: Fraction) -> list[object]:
    """Where the profile is above what follows from the curves; `factor` shrinks the mass at infinite loss."""
    found: list[object] = []
    for curve, pairs in zip(both(event), (removals(whole), additions(whole)), strict=True):
        infinite = curve.infinite * factor
        for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(3)):
            moment = curve.moments.above(Fraction(1))
            assert isinstance(moment, Fraction)
            finite = Fraction(bound_to_delta(Fraction(2), moment, epsilon).upper)
            limit = infinite + (1 - infinite) * min(finite, Fraction(1))
            alpha = Fraction(Enclosure.of(epsilon).exp().upper)
            found += [(epsilon, pair) for pair in pairs if hockey_stick(*pair, alpha) > limit + SLACK]
    return found


def test_a_forgotten_revealed_row_is_seen() -> None:
    """The same check, with a tenth of the mass at infinite loss: it is refuted."""
    mass, rate = Fraction(1, 3), Fraction(1, 2)
    even = {"x": Fraction(1)}
    shown: Table = {
        data: {**{o: (1 - mass) * p for o, p in even.items()}, ("shown", *data): mass} for data in ((), ("a",))
    }
    whole = poisson_sampled(shown, rate, shown)
    base = events.Sequence(events=[events.Renyi(bounds=[(2, "1e-9")]), events.Approx(epsilon=0, delta=mass)])
    event = events.PoissonSample(event=base, rate=rate)
    assert _broken(whole, event, Fraction(1)) == []
    assert _broken(whole, event, Fraction(1, 10)) != []
