"""Few losses beside others: against exact sums, against the other roads, and below zero against integrals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately import accounting as acc
from privately.accounting import closed_forms, lattice
from privately.accounting.closed_forms.finite import Table
from privately.accounting.compositions import Composition
from privately.accounting.conditioning import Conditioned
from privately.accounting.conditioning import road as conditioned
from privately.accounting.conditioning.road import Budget, Mixture, exchanged
from privately.accounting.conditioning.tables import one
from privately.accounting.finite_pairs import response_pair
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure, Interval
from tests.accounting.exact_profiles import enclosed_profile

WIDTH = Fraction(1, 10**6)
ROAD = Conditioned(closed_forms.delta, most=256, work=4096, is_one_step=True)


def sampled_response(direction: str) -> FiniteLoss:
    """It leaves out what one of the two laws alone can give."""
    pair = response_pair(Fraction(1), delta=Fraction(1, 10)).sampled(Fraction(1, 3), direction)  # type: ignore[arg-type]
    law, _ = pair.loss()
    assert law is not None
    return law


def mixture(rest: Loss) -> Mixture:
    return Mixture(one(response(Fraction(1)), 0.0), Composition(parts=((rest, 1),)), closed_forms.delta, Budget(10**6))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_means_contain_the_truth(direction: str) -> None:
    """All losses are few, but some are left to the other road: the exact sum over everything is in between."""
    rest, few = sampled_response(direction), response(Fraction(1, 2))
    whole = Composition(parts=((few, 2), (rest, 1)))
    found = Mixture(one(few, 0.0), Composition(parts=((few, 1), (rest, 1))), closed_forms.delta, Budget(10**6))
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(3, 2)):
        slack = Fraction(found.few.slack)
        exact = enclosed_profile(whole, _exp(epsilon))
        assert found.at(epsilon + slack, WIDTH).lower <= exact.upper
        assert found.at(epsilon - slack, WIDTH).upper >= exact.lower
        narrow = found.at(epsilon, WIDTH)
        assert Fraction(narrow.upper) - Fraction(narrow.lower) <= Fraction(1, 10**11)


def _exp(epsilon: Fraction) -> Fraction:
    return Fraction(Enclosure.of(epsilon).exp().lower)


def _by_outcomes(law: FiniteLoss, y: Fraction) -> float:
    return sum(float(p.lower) * max(-math.expm1(float(y) - float(loss.lower)), 0.0) for p, loss in law.atoms())


def _by_integral(law: SampledGaussianLoss | SampledLaplaceLoss, y: Fraction) -> float:
    """A midpoint sum over outcomes x, which knows nothing of exchanged laws."""
    rate, total, step = float(law.rate), 0.0, 1e-3
    for place in range(-20_000, 20_000):
        x = (place + 0.5) * step
        if isinstance(law, SampledGaussianLoss):
            mu = math.sqrt(law.mu_squared)
            p, q = (math.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (mu, 0.0))
        else:
            p, q = (math.exp(-abs(x - m)) / 2 for m in (float(law.epsilon), 0.0))
        first, second = ((1 - rate) * q + rate * p, q) if law.direction == "remove" else (p, (1 - rate) * p + rate * q)
        total += max(first - math.exp(y) * second, 0.0) * step
    return total


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_profiles_below_zero(direction: str) -> None:
    finite = sampled_response(direction)
    for y in (Fraction(-1, 10), Fraction(-1), Fraction(-5)):
        assert float(mixture(finite).others(y, WIDTH).lower) == pytest.approx(_by_outcomes(finite, y), rel=1e-12)
    laws: list[SampledGaussianLoss | SampledLaplaceLoss] = [
        SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 3), direction=direction),  # type: ignore[arg-type]
        SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 3), direction=direction),  # type: ignore[arg-type]
    ]
    for law in laws:
        found = mixture(law).others(Fraction(-1, 10), WIDTH)
        assert float(found.lower) == pytest.approx(_by_integral(law, Fraction(-1, 10)), rel=1e-5)
        assert found.lower <= found.upper <= 1
        false_twin = 1 - math.exp(-0.1) * (1 - float(mixture(law).others(Fraction(1, 10), WIDTH).lower))
        assert abs(false_twin - float(found.lower)) > 1e-4  # laws that were not exchanged would be noticed


def test_far_below_zero() -> None:
    found = mixture(GaussianLoss(mu_squared=Fraction(1))).others(Fraction(-200), WIDTH)
    assert 1 - Fraction(1, 10**50) < Fraction(found.lower) < 1 == found.upper


def test_exchanging_twice_changes_nothing() -> None:
    for law in (sampled_response("remove"), LaplaceLoss(epsilon=Fraction(1)), GaussianLoss(mu_squared=Fraction(2))):
        assert exchanged(exchanged(law)) == law


FEW: tuple[tuple[Loss, int], ...] = (
    (response(Fraction(2, 5)), 1),
    (SampledLaplaceLoss(epsilon=Fraction(1, 5), rate=Fraction(1, 10), direction="add"), 1),
)
CASES = [
    FEW,
    ((response(Fraction(1)), 3), (GaussianLoss(mu_squared=Fraction(1, 4)), 1)),
    pytest.param(
        (
            (DiscreteGaussianLoss(variance=Fraction(1), sensitivity=1), 2),
            (SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10), direction="remove"), 1),
        ),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize("parts", CASES)
@pytest.mark.parametrize("delta", ["1e-3", "1e-8"])
def test_two_roads_are_never_disjoint(parts: tuple[tuple[Loss, int], ...], delta: str) -> None:
    composition, exact = Composition(parts=parts), Fraction(delta)
    ours, theirs = ROAD.epsilon(composition, exact, WIDTH), lattice.epsilon(composition, exact, WIDTH)
    assert ours.width <= WIDTH * ours.upper
    assert ours.lower <= theirs.upper
    assert theirs.lower <= ours.upper
    back = ROAD.delta(composition, Fraction(ours.upper), WIDTH)
    assert back.lower <= exact
    assert ROAD.delta(composition, Fraction(ours.lower), WIDTH).upper >= exact


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_few_losses_alone(direction: str) -> None:
    """Noise so narrow that its losses are beyond the range of other roads: 200 and more in a step."""
    law = SampledDiscreteGaussianLoss(
        variance=Fraction(1, 5),
        sensitivity=10,
        rate=Fraction(1, 10),
        direction=direction,  # type: ignore[arg-type]
    )
    composition = Composition(parts=((law, 10),))
    found = ROAD.epsilon(composition, Fraction(1, 10**6), WIDTH)
    assert found.width <= Fraction(1, 10**9) * found.upper
    for end, above in ((found.lower, True), (found.upper, False)):
        delta = ROAD.delta(composition, Fraction(end), WIDTH)
        assert delta.upper >= Fraction(1, 10**6) if above else delta.lower <= Fraction(1, 10**6)


def test_nothing_is_revealed() -> None:
    composition = Composition(parts=FEW)
    assert ROAD.epsilon(composition, Fraction(9, 10), WIDTH) == Interval(0, 0, method="mean over few losses")


def test_what_it_refuses() -> None:
    laplace = (LaplaceLoss(epsilon=Fraction(1)), 1)
    with pytest.raises(NotApplicable, match="no law"):
        ROAD.epsilon(Composition(parts=(laplace,)), WIDTH, WIDTH)
    with pytest.raises(NotApplicable, match="one step"):
        ROAD.epsilon(Composition(parts=((response(Fraction(1)), 1), (laplace[0], 2))), WIDTH, WIDTH)
    stingy = Conditioned(closed_forms.delta, most=256, work=3, is_one_step=True)
    with pytest.raises(NotApplicable, match="too many profiles"):
        stingy.epsilon(Composition(parts=((response(Fraction(1)), 1), laplace)), WIDTH, WIDTH)


def test_too_much_beside_few_losses_is_seen_before_these_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Table:
        raise AssertionError("nothing is to be listed")

    monkeypatch.setattr(conditioned, "repeated", never)
    beside = tuple((LaplaceLoss(epsilon=Fraction(1, place)), 1) for place in range(1, 18))
    composition = Composition(parts=(*beside, (response(Fraction(1)), 3)))
    for is_one_step in (True, False):
        road = Conditioned(lambda *_: Interval(0, 1), most=64, work=256, is_one_step=is_one_step)
        with pytest.raises(NotApplicable, match="beside few losses"):
            road.mixture(composition, 1e-20)


def test_where_the_other_road_has_no_answer() -> None:
    """A row that is hardly ever sampled: what is not known of it is at most the rate."""

    def lost(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        raise NotApplicable(f"{composition} at {epsilon} within {width}")

    rare = SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 10**9), direction="remove")
    road = Conditioned(lost, most=256, work=4096, is_one_step=True)
    found = road.delta(Composition(parts=((response(Fraction(1)), 1), (rare, 1))), Fraction(1, 2), WIDTH)
    exact = ROAD.delta(Composition(parts=((response(Fraction(1)), 1), (rare, 1))), Fraction(1, 2), WIDTH)
    assert found.lower <= exact.lower <= exact.upper <= found.upper
    assert found.width <= Fraction(3, 10**9)


def test_a_loss_in_the_hundreds_beside_normal_noise() -> None:
    """By a sum over all k in 50 digits: [125, 207] was all that was known."""
    found = acc.epsilon(
        acc.Sequence(events=[acc.DiscreteGaussian(variance=10, sensitivity=50), acc.Gaussian(noise_multiplier=1)]),
        delta="1e-6",
    )

    def exact(epsilon: Fraction) -> mpf:
        weights = {k: mp.exp(-mpf(k * k) / 20) for k in range(-120, 121)}
        total, at = mp.fsum(weights.values()), mpf(epsilon.numerator) / epsilon.denominator
        sides = ((weight / total, at - mpf(50 * (2 * k + 50)) / 20) for k, weight in weights.items())
        return mp.fsum(mass * (mp.ncdf(mpf(1) / 2 - y) - mp.exp(y) * mp.ncdf(-mpf(1) / 2 - y)) for mass, y in sides)

    with mp.workdps(50):
        assert exact(Fraction(found.upper)) <= mpf("1e-6") <= exact(Fraction(found.lower))
    assert found.width < found.upper / 10**8


def half(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    return Interval(Fraction(1, 2), Fraction(1, 2))


def unknown(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    raise NotApplicable("no road")


def test_what_is_not_known_of_few_losses_counts() -> None:
    """Masses that may be a part off, what is outside, and values that hardly ever occur."""
    table = Table(np.array([0.0, -1.0]), np.array([0.5, 1e-16]), slack=0.0, error=0.1, outside=0.01)
    noise = Composition(parts=((GaussianLoss(mu_squared=Fraction(1)), 1),))
    found = Mixture(table, noise, half, Budget(10)).at(Fraction(1), WIDTH)
    assert found.lower <= Fraction(1, 4) * Fraction(9, 10)
    assert found.upper >= Fraction(1, 4) * Fraction(11, 10) + Fraction(1, 100)
    exact = Mixture(replace(table, error=0.0, outside=0.0), noise, half, Budget(10)).at(Fraction(1), WIDTH)
    assert exact.upper >= Fraction(1, 4) + Fraction(1e-16) / 2


def test_a_profile_that_no_road_tells_may_be_anything() -> None:
    """On either side of 0; of a row that is seldom sampled, as much as that."""
    table = one(response(Fraction(1)), 0.0)
    noise = Composition(parts=((GaussianLoss(mu_squared=Fraction(1)), 1),))
    seldom = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 8), direction="remove")
    for rest, most in ((noise, Fraction(1)), (Composition(parts=((seldom, 2),)), Fraction(1, 4))):
        found = Mixture(table, rest, unknown, Budget(10))
        above, below = found.others(Fraction(1), WIDTH), found.others(Fraction(-1, 100), WIDTH)
        assert above.lower == 0
        assert above.upper == most
        assert below.lower <= Fraction(-math.expm1(-0.01)) * (1 + WIDTH)
        assert below.upper >= 1 - (1 - most) * Fraction(math.exp(-0.01)) * (1 + WIDTH)


def test_values_that_may_be_off_move_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value that is 0 but for a quarter, beside something whose profile is (1 - y)/2 up to 1."""

    def straight(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        return Interval(max((1 - epsilon) / 2, Fraction(0)), max((1 - epsilon) / 2, Fraction(0)))

    few = Table(np.zeros(1), np.ones(1), slack=0.25, error=0.0, outside=0.0)
    noise = Composition(parts=((GaussianLoss(mu_squared=Fraction(1)), 1),))
    monkeypatch.setattr(Conditioned, "mixture", lambda *_: Mixture(few, noise, straight, Budget(10**4)))
    delta = ROAD.delta(noise, Fraction(1, 2), WIDTH)
    assert delta.lower <= Fraction(1, 8) * (1 + WIDTH)
    assert delta.upper >= Fraction(3, 8) * (1 - WIDTH)
    epsilon = ROAD.epsilon(noise, Fraction(1, 4), WIDTH)
    assert epsilon.lower <= Fraction(1, 4) * (1 + WIDTH)
    assert epsilon.upper >= Fraction(3, 4) * (1 - WIDTH)
    assert ROAD.epsilon(noise, Fraction(505, 1000), WIDTH).upper > 0
    assert ROAD.epsilon(noise, Fraction(52, 100), WIDTH).upper == 0
