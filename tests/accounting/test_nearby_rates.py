"""Rates so near 1 that no road takes them, between two that roads take."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.accounting.closed_forms import delta as exact_delta
from privately.accounting.compositions import Composition
from privately.accounting.finite_pairs import FinitePair, response_pair
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.nearby_rates import HIGHEST_RATE, between_rates, share_of_all
from privately.accounting.questions import DeltaAt
from privately.accounting.which_road import _at_nearby_rates
from tests.accounting.exact_profiles import profile

NEAR = 1 - Fraction(1, 10**7)
WIDTH = Fraction(1, 10**6)
rates = st.fractions(min_value=Fraction(1, 20), max_value=1, max_denominator=20)


def formal(pair: FinitePair) -> Composition:
    law, infinite = pair.loss()
    return Composition(parts=() if law is None else ((law, 1),), infinite=infinite)


@settings(max_examples=100, deadline=None)
@given(
    rates,
    rates,
    st.fractions(min_value=Fraction(1, 50), max_value=30, max_denominator=50),
    st.sampled_from([Fraction(0), Fraction(1, 10)]),
)
def test_profiles_rise_with_the_rate(one: Fraction, other: Fraction, alpha: Fraction, delta: Fraction) -> None:
    """In both directions, and glued; at every ratio, so in compositions too."""
    low, high = sorted((one, other))
    base = response_pair(Fraction(1), delta=delta)
    for direction in DIRECTIONS:
        less, more = (formal(base.sampled(rate, direction)) for rate in (low, high))
        assert profile(less, alpha, 3) <= profile(more, alpha, 3)
    less, more = (formal(base.glued(rate)) for rate in (low, high))
    assert profile(less, alpha, 3) <= profile(more, alpha, 3)


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(min_value=Fraction(4, 5), max_value=1, max_denominator=50),
    st.fractions(min_value=Fraction(1, 2), max_value=30, max_denominator=50),
    st.sampled_from([Fraction(0), Fraction(1, 10)]),
)
def test_all_samples_hold_the_row(rate: Fraction, alpha: Fraction, delta: Fraction) -> None:
    """The profile of three steps against that without sampling; at the share itself, and at a smaller one."""
    base = response_pair(Fraction(1), delta=delta)
    truth = profile(formal(base.sampled(rate, "remove")), alpha, 3)
    for share in (rate**3, 1 - 3 * (1 - rate)):
        assert truth >= share * profile(formal(base), alpha / share, 3)


def test_a_larger_share_would_be_seen() -> None:
    base, rate = response_pair(Fraction(1), delta=Fraction(0)), Fraction(9, 10)
    alpha = Fraction(2)
    truth = profile(formal(base.sampled(rate, "remove")), alpha, 3)
    assert truth < profile(formal(base), alpha, 3)
    near = SampledGaussianLoss(mu_squared=Fraction(1), rate=NEAR, direction="remove")
    assert share_of_all(Composition(parts=((near, 100), (response(Fraction(1)), 5)))) == 1 - 100 * (1 - NEAR)
    assert share_of_all(Composition(parts=((near, 10**7),))) is None
    other = SampledGaussianLoss(mu_squared=Fraction(1), rate=NEAR, direction="add")
    assert share_of_all(Composition(parts=((near, 1), (other, 1)))) is None
    glued = GluedLoss(base=GaussianLoss(mu_squared=Fraction(1)), rate=NEAR)
    assert share_of_all(Composition(parts=((glued, 1),))) is None


def test_many_steps_at_a_rate_near_1() -> None:
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=10), rate=1 - Fraction(1, 2**30))
    found = acc.epsilon(acc.Repeat(event=step, times=100), "1e-6")
    assert 0 < found.width <= Fraction(1, 10**7) * found.upper


def sampled(rate: Fraction) -> list[tuple[Loss, Loss]]:
    """Laws at a rate, and what they are without sampling."""
    square, two = Fraction(3), Fraction(2)
    found: list[tuple[Loss, Loss]] = [
        (GluedLoss(base=GaussianLoss(mu_squared=square), rate=rate), GaussianLoss(mu_squared=square))
    ]
    for direction in DIRECTIONS:
        found += [
            (
                SampledGaussianLoss(mu_squared=square, rate=rate, direction=direction),
                GaussianLoss(mu_squared=square),
            ),
            (SampledLaplaceLoss(epsilon=two, rate=rate, direction=direction), LaplaceLoss(epsilon=two)),
            (
                SampledDiscreteGaussianLoss(variance=two, sensitivity=3, rate=rate, direction=direction),
                DiscreteGaussianLoss(variance=two, sensitivity=3),
            ),
            (
                SampledDiscreteLaplaceLoss(scale=two, sensitivity=3, rate=rate, direction=direction),
                DiscreteLaplaceLoss(scale=two, sensitivity=3),
            ),
        ]
    return found


@pytest.mark.parametrize("place", range(9))
def test_only_the_rate_is_another(place: int) -> None:
    (near, base), (lower, _) = sampled(NEAR)[place], sampled(HIGHEST_RATE)[place]
    beside = response(Fraction(1))
    mixed = Composition(parts=((near, 2), (beside, 3)), infinite=Fraction(1, 5), infinite_lower=Fraction(1, 6))
    found = between_rates(mixed)
    assert found is not None
    above, below = found
    for one in found:
        assert (one.infinite, one.infinite_lower) == (mixed.infinite, mixed.infinite_lower)
    whole: dict[Loss, int] = (
        {GaussianLoss(mu_squared=2 * base.mu_squared): 1} if isinstance(base, GaussianLoss) else {base: 2}
    )
    assert dict(above.parts) == {**whole, beside: 3}
    assert dict(below.parts) == {lower: 2, beside: 3}
    assert between_rates(below) is None
    assert between_rates(above) is None


@pytest.mark.parametrize("place", range(9))
def test_near_answers_enclose_the_exact_one(place: int) -> None:
    """Of one step, which has a closed form at every rate."""
    one = Composition(parts=((sampled(NEAR)[place][0], 1),))
    question = DeltaAt(Fraction(1, 2), WIDTH)
    near = _at_nearby_rates(one, question, None)
    assert near is not None
    truth = exact_delta(one, question.epsilon, WIDTH)
    assert near.lower < truth.lower <= truth.upper < near.upper
    assert near.width <= 10 * WIDTH * near.upper


@pytest.mark.parametrize(
    "base",
    [
        acc.Gaussian(noise_multiplier=1),
        acc.Laplace(scale=2),
        acc.DiscreteGaussian(variance=4, sensitivity=3),
        acc.DiscreteLaplace(scale=4, sensitivity=3),
    ],
)
@pytest.mark.parametrize("rate", [NEAR, 1 - Fraction(1, 10**30)])
def test_steps_at_a_rate_near_1(base: acc.Event, rate: Fraction) -> None:
    """Narrow, and hardly above no sampling at all."""
    near = acc.epsilon(acc.Repeat(event=acc.PoissonSample(event=base, rate=rate), times=10), "1e-6")
    full = acc.epsilon(acc.Repeat(event=base, times=10), "1e-6")
    assert near.width <= WIDTH * near.upper
    assert near.lower <= full.upper
    assert near.upper <= full.upper
