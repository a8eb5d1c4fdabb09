"""What is covered costs no more: checked on profiles, exactly or in high precision."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting import (
    ZCDP,
    Approx,
    DiscreteGaussian,
    DiscreteLaplace,
    Event,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Renyi,
    Repeat,
    Sequence,
)
from privately.accounting.compositions import Composition, compositions
from privately.accounting.coverage import MAX_ALTERNATIVES, uncovered
from privately.accounting.losses import DiscreteLaplaceLoss, FiniteLoss, GaussianLoss, LaplaceLoss
from privately.accounting.terms import flatten
from privately.errors import NoSuchRule

amounts = st.sampled_from(["0.2", "0.5", 1, 2])
sizes = st.integers(1, 3)
responses = st.one_of(
    st.builds(Pure, epsilon=amounts),
    st.builds(Approx, epsilon=amounts, delta=st.sampled_from([0, "0.1", "0.3"])),
    st.builds(RandomizedResponse, epsilon=amounts, categories=st.integers(2, 4)),
)
families: list[st.SearchStrategy[Event]] = [
    responses,
    st.builds(DiscreteLaplace, scale=amounts, sensitivity=sizes),
    st.builds(Gaussian, noise_multiplier=amounts) | st.builds(GaussianDP, mu=amounts),
    st.builds(Laplace, scale=amounts),
    st.builds(PoissonSample, event=responses, rate=st.sampled_from(["0.2", "0.6"])),
]
repeated = [st.builds(Repeat, event=family, times=st.integers(1, 2)) for family in families]
"""One family each: what is in different families is never compared."""

EPSILONS = [-3, -1, "-0.3", 0, "0.1", "0.5", 1, "1.7", 3, 6]


def delta(composition: Composition, epsilon: Any) -> Any:
    """One law's profile, by itself; `None` where this file knows none."""
    epsilon = mpmath.mpf(epsilon)
    if not composition.parts:
        rest = max(1 - mpmath.e**epsilon, mpmath.mpf(0))
        return _lifted(composition, rest)
    ((law, times),) = composition.parts
    match law:
        case GaussianLoss(mu_squared=square):
            mu = mpmath.sqrt(_real(square) * times)
            return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.e**epsilon * mpmath.ncdf(-mu / 2 - epsilon / mu)
        case LaplaceLoss(epsilon=shift) if times == 1:
            overlap = min(1, mpmath.e**epsilon, mpmath.e ** ((epsilon - _real(shift)) / 2))
            return 1 - overlap
        case FiniteLoss() | DiscreteLaplaceLoss():
            return _lifted(composition, _summed([_atoms(law)] * times, epsilon))
    return None


def _summed(laws: list[list[tuple[Any, Any]]], epsilon: Any) -> Any:
    sums = [(mpmath.mpf(1), mpmath.mpf(0))]
    for atoms in laws:
        sums = [(p * mass, loss + more) for p, loss in sums for mass, more in atoms]
    return mpmath.fsum(p * max(1 - mpmath.e ** (epsilon - loss), mpmath.mpf(0)) for p, loss in sums)


def _atoms(law: FiniteLoss | DiscreteLaplaceLoss) -> list[tuple[Any, Any]]:
    if isinstance(law, FiniteLoss):
        return [(mpmath.mpf(str(p.lower)), mpmath.mpf(str(loss.lower))) for p, loss in law.atoms()]
    shrink, size = mpmath.e ** (-1 / _real(law.scale)), law.sensitivity
    top = (1 - shrink) / (1 + shrink)
    ends = [(1 / (1 + shrink), size), (shrink**size / (1 + shrink), -size)]
    inner = [(top * shrink**k, size - 2 * k) for k in range(1, size)]
    return [(p, loss / _real(law.scale)) for p, loss in [*ends, *inner]]


def _lifted(composition: Composition, rest: Any) -> Any:
    infinite = _real(composition.infinite)
    return infinite + (1 - infinite) * rest


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def covers(one: Event, other: Event) -> bool:
    return uncovered([flatten(one), flatten(other)]) == [flatten(one)]


@settings(max_examples=200)
@given(st.one_of([st.tuples(family, family) for family in repeated]))
def test_what_is_covered_costs_no_more(pair: tuple[Event, Event]) -> None:
    one, other = pair
    if not covers(one, other):
        return
    for stronger, weaker in zip(_both(one), _both(other), strict=True):
        for epsilon in EPSILONS:
            above, below = delta(stronger, epsilon), delta(weaker, epsilon)
            if above is not None and below is not None:
                assert below <= above + mpmath.mpf("1e-12")


def _both(event: Event) -> list[Composition]:
    found = compositions(event)
    return [found[0], found[-1]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Gaussian(noise_multiplier=1), Gaussian(noise_multiplier=2)),
        (Gaussian(noise_multiplier=1), Repeat(event=GaussianDP(mu="0.5"), times=3)),
        (Laplace(scale=1), Laplace(scale=2)),
        (Repeat(event=Laplace(scale=1), times=3), Laplace(scale=2)),
        (DiscreteLaplace(scale=1, sensitivity=2), DiscreteLaplace(scale=2, sensitivity=1)),
        (DiscreteGaussian(variance=1, sensitivity=2), DiscreteGaussian(variance=1)),
        (Pure(epsilon=2), RandomizedResponse(epsilon=2, categories=3)),
        (Approx(epsilon=2, delta="0.1"), Pure(epsilon=1)),
        (PoissonSample(event=Pure(epsilon=2), rate="0.5"), PoissonSample(event=Pure(epsilon=1), rate="0.4")),
        (Sequence(events=[Laplace(scale=1), Pure(epsilon=1)]), Laplace(scale=1)),
        (Sequence(events=[Laplace(scale=1), Pure(epsilon=1)]), Repeat(event=ZCDP(rho=1), times=0)),
        (Sequence(events=[Pure(epsilon=1), Pure(epsilon=2)]), Pure(epsilon=1)),
        (Repeat(event=ZCDP(rho=1), times=3), ZCDP(rho=1)),
    ],
)
def test_covering_works_one_way(one: Event, other: Event) -> None:
    assert covers(one, other)
    assert not covers(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Pure(epsilon=1), Laplace(scale=1)),
        (DiscreteGaussian(variance=1), DiscreteGaussian(variance=2)),
        (DiscreteLaplace(scale=2, sensitivity=2), DiscreteLaplace(scale=1)),
        (Laplace(scale=1), Repeat(event=Laplace(scale=2), times=2)),
        (Approx(epsilon=1, delta="0.1"), Approx(epsilon=2, delta="0.01")),
        (PoissonSample(event=Pure(epsilon=2), rate="0.4"), PoissonSample(event=Pure(epsilon=1), rate="0.5")),
        (PoissonSample(event=Pure(epsilon=2), rate="0.4"), Pure(epsilon="0.1")),
        (Sequence(events=[Laplace(scale=1), Laplace(scale=3)]), Repeat(event=Laplace(scale=2), times=2)),
    ],
)
def test_what_cannot_be_compared_is_kept(one: Event, other: Event) -> None:
    assert not covers(one, other)
    assert not covers(other, one)


def test_equal_ones_are_kept_once_and_order_is_kept() -> None:
    listed = [flatten(Pure(epsilon=1)), flatten(Laplace(scale=1)), flatten(Pure(epsilon=1))]
    assert uncovered(listed) == listed[:2]
    assert uncovered(listed[1::-1]) == listed[1::-1]


def test_many_incomparable_parts_are_refused() -> None:
    def line(count: int) -> list[Any]:
        return [flatten(Approx(epsilon=n, delta=Fraction(1, n))) for n in range(1, count + 1)]

    assert len(uncovered(line(MAX_ALTERNATIVES))) == MAX_ALTERNATIVES
    with pytest.raises(NoSuchRule, match="none covers another"):
        uncovered(line(MAX_ALTERNATIVES + 1))


NARROW_AND_WIDE: list[tuple[Event, Event]] = [
    (Pure(epsilon=1), Exponential(epsilon=2)),
    (RandomizedResponse(epsilon="0.5", categories=4), Exponential(epsilon=1)),
    (Laplace(scale=2), Exponential(epsilon=1)),
    (DiscreteLaplace(scale=4, sensitivity=2), Exponential(epsilon=1)),
    (Exponential(epsilon=1), ZCDP(rho="1/8")),
    (Pure(epsilon="0.5"), ZCDP(rho="1/8")),
    (Gaussian(noise_multiplier=2), ZCDP(rho="1/8")),
    (Exponential(epsilon="0.9"), Exponential(epsilon=1)),
    (ZCDP(rho="0.1"), ZCDP(rho="1/8")),
    (Renyi(bounds={2: "0.1", 4: "0.2"}), Renyi(bounds={2: "0.1", 4: "0.3"})),
]


def a_little_less(event: Event) -> Event:
    match event:
        case Exponential(epsilon=epsilon):
            return Exponential(epsilon=epsilon * Fraction(999, 1000))
        case ZCDP(rho=rho):
            return ZCDP(rho=rho * Fraction(999, 1000))
    return event


@pytest.mark.parametrize(("narrow", "wide"), NARROW_AND_WIDE, ids=str)
@pytest.mark.parametrize("delta", ["1e-6", "1e-2"])
def test_wider_families_cost_no_less(narrow: Event, wide: Event, delta: str) -> None:
    """Where parameters just meet; with a little less of the wider one nothing is said, but of the same family."""
    assert covers(wide, narrow)
    assert not covers(narrow, wide)
    assert acc.epsilon(narrow, delta).lower <= acc.epsilon(wide, delta).upper
    sampled = [PoissonSample(event=one, rate="0.1") for one in (wide, narrow)]
    if not isinstance(narrow, Gaussian):
        assert covers(*sampled)
    assert acc.epsilon(sampled[1], delta).lower <= acc.epsilon(sampled[0], delta).upper
    if type(narrow) is not type(wide):
        assert not covers(a_little_less(wide), narrow)


def test_several_families_are_not_covered_by_one() -> None:
    """Both would be covered by the same one."""
    several = Sequence(events=[Pure(epsilon="0.5"), Laplace(scale=2)])
    assert not covers(Exponential(epsilon=1), several)
    assert not covers(Exponential(epsilon=2), Repeat(event=Pure(epsilon="0.5"), times=2))
    assert not covers(Exponential(epsilon=9), Approx(epsilon=1, delta="1e-9"))
