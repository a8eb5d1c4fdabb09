"""Lower ends where no road leads: below the truth, and not far."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from privately import accounting as acc
from privately.accounting import which_road
from privately.accounting.below import continuous, noticed, overlapping, told_apart
from privately.accounting.compositions import Composition
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.questions import DeltaAt, EpsilonAt
from tests.accounting.contour import exact_transforms
from tests.accounting.lattice import exact

WIDTH = Fraction(1, 10**6)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(50)])
def test_laplace_noise_is_discrete_noise_and_something(scale: Fraction) -> None:
    """The density of what is added is not negative, 0 beyond 1, and gives Laplace noise when mixed."""
    t = exact.number(scale)
    r = mp.exp(-1 / t)
    k = r / (1 - r) ** 2

    def plain(x: mpf) -> mpf:
        return mp.exp(-abs(x) / t) / (2 * t)

    def added(x: mpf) -> mpf:
        return (1 + 2 * k) * plain(x) - k * (plain(x - 1) + plain(x + 1))

    for x in (mpf(j) / 40 for j in range(-80, 81)):
        assert added(x) >= -(mpf(10) ** -12)
        if abs(x) >= 1:
            assert abs(added(x)) < mpf(10) ** -12
    for x in (mpf(0), mpf("0.3"), mpf("2.7"), mpf(-4)):
        near = [j for j in range(-8, 9) if abs(x - j) < 1]
        mixed = sum((1 - r) / (1 + r) * r ** abs(j) * added(x - j) for j in near)
        assert abs(mixed - plain(x)) < mpf(10) ** -12


@pytest.mark.parametrize("epsilon", [Fraction(-1), Fraction(0), Fraction(1, 2), Fraction(9, 10)])
def test_laplace_noise_costs_no_more(epsilon: Fraction) -> None:
    """One step, in closed form, against all outcomes; a scale a hundredth smaller would cost more."""
    scale, sensitivity = Fraction(20), 30
    place = exact.number(epsilon)
    truth = exact.finite_profile(exact.law_of(exact.discrete_laplace(scale, sensitivity)), place)
    whole = continuous(Composition(parts=((DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity), 1),)))
    assert whole == Composition(parts=((LaplaceLoss(epsilon=sensitivity / scale), 1),))
    size = exact.number(sensitivity / scale)
    assert exact.laplace(size, place) <= truth * (1 + mpf(10) ** -14)
    assert exact.laplace(size * mpf("1.05"), place) > truth


def test_only_discrete_laplace_noise_is_replaced() -> None:
    law = SampledDiscreteLaplaceLoss(scale=Fraction(2), sensitivity=3, rate=Fraction(1, 5), direction="add")
    found = continuous(Composition(parts=((law, 4), (response(Fraction(1)), 2)), infinite=Fraction(1, 100)))
    replaced = SampledLaplaceLoss(epsilon=Fraction(3, 2), rate=Fraction(1, 5), direction="add")
    assert found == Composition(parts=((replaced, 4), (response(Fraction(1)), 2)), infinite=Fraction(1, 100))
    assert continuous(Composition(parts=((response(Fraction(1)), 2),))) is None


@pytest.mark.parametrize("mu", [Fraction(1), Fraction(5), Fraction(30), Fraction(1000)])
def test_tests_are_below_the_truth(mu: Fraction) -> None:
    """Normal losses, whose profile is known, alone; also where next to nothing but the probability counts."""
    composition = Composition(parts=((GaussianLoss(mu_squared=mu**2), 1),))
    for delta in (Fraction(85, 100), Fraction(1, 10), Fraction(1, 10**6)):
        found = told_apart(composition, EpsilonAt(delta, WIDTH))
        truth = acc.epsilon(acc.Gaussian(noise_multiplier=1 / mu), delta)
        assert found is not None
        assert found.lower <= truth.upper
        assert found.upper == math.inf
        assert found.lower >= mu**2 / 2 - mu or delta > Fraction(1, 100)
    deviations = (Fraction(1), Fraction(2), Fraction(3))
    for epsilon in (Fraction(0), mu**2 / 2 - 2 * mu, *(mu**2 / 2 - x * mu - 8 for x in deviations)):
        found = told_apart(composition, DeltaAt(max(epsilon, Fraction(0)), WIDTH))
        assert found is not None
        assert found.lower <= acc.delta(acc.Gaussian(noise_multiplier=1 / mu), max(epsilon, Fraction(0))).upper


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(2)])
def test_discrete_normal_noise_is_near_its_mean(variance: Fraction) -> None:
    """P(L <= mean - x mu) by all outcomes; also where noise is so small that it is hardly normal."""
    sensitivity = 3
    law = exact.law_of(exact.discrete_gaussian(variance, sensitivity))
    mu = mp.sqrt(exact.number(sensitivity**2 / variance))
    for x in (mpf(j) / 10 for j in range(1, 60)):
        low = mp.fsum(p for p, loss in law if loss <= mu * mu / 2 - x * mu)
        assert low <= mp.exp(-x * x / 2)
    composition = Composition(parts=((DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity), 1),))
    found = told_apart(composition, EpsilonAt(Fraction(1, 100), WIDTH))
    assert found is not None
    assert exact.finite_profile(law, exact.number(found.lower)) >= mpf("0.01")


def test_what_is_not_tested() -> None:
    normal = (GaussianLoss(mu_squared=Fraction(1)), 1)
    for composition in (
        Composition(parts=(normal, (response(Fraction(1)), 1))),
        Composition(parts=(normal,), infinite=Fraction(1, 10)),
        Composition(),
    ):
        assert told_apart(composition, EpsilonAt(Fraction(1, 100), WIDTH)) is None
    assert told_apart(Composition(parts=(normal,)), EpsilonAt(Fraction(0), WIDTH)) is None


def test_answers_that_no_road_has() -> None:
    fine = acc.Repeat(event=acc.DiscreteLaplace(scale=10**9, sensitivity=10**6), times=10**6)
    found = acc.epsilon(fine, "1e-6")
    assert found.lower > Fraction(9, 10) * found.upper
    many = acc.Repeat(event=acc.DiscreteGaussian(variance=10**9), times=10**12)
    found = acc.epsilon(many, "1e-6")
    assert found.lower > Fraction(7, 10) * found.upper
    assert acc.delta(many, 400).lower > Fraction(98, 100)


OVERLAPS: dict[str, Composition] = {
    "laplace": Composition(parts=((LaplaceLoss(epsilon=Fraction(1)), 40), (LaplaceLoss(epsilon=Fraction(1, 3)), 9))),
    "responses": Composition(parts=((response(Fraction(1)), 60),)),
    "normal": Composition(parts=((GaussianLoss(mu_squared=Fraction(20)), 1),)),
    "discrete": Composition(parts=((DiscreteGaussianLoss(variance=Fraction(3), sensitivity=2), 15),)),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlaps_are_below_the_truth(name: str) -> None:
    composition = OVERLAPS[name]
    for epsilon in (Fraction(0), Fraction(2), Fraction(5)):
        question = DeltaAt(epsilon, WIDTH)
        bound, truth = overlapping(composition, question), which_road.of_one(composition, question, None)
        assert bound is not None
        assert 1 - 12 * (1 - Fraction(truth.upper)) <= bound.lower <= truth.upper
        back = overlapping(composition, EpsilonAt(Fraction(bound.lower) * (1 - WIDTH), WIDTH))
        assert back is not None
        assert back.lower >= epsilon * (1 - 10 * WIDTH)


def test_an_epsilon_far_below_the_mean() -> None:
    """There no road leads, and delta is next to 1."""
    for epsilon in (10**8, 3 * 10**8):
        assert acc.delta(acc.Repeat(event=acc.Laplace(scale=1), times=10**9), epsilon).lower > 1 - Fraction(1, 10**50)
    sampled = SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 2), direction="add")
    assert overlapping(Composition(parts=((sampled, 9),)), DeltaAt(Fraction(0), WIDTH)) is None
    assert overlapping(Composition(infinite=Fraction(1, 2)), DeltaAt(Fraction(0), WIDTH)) is None


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("mu", "rate", "times"), [("6", "0.3", 1), ("10", "0.3", 2), ("4", "0.5", 2)])
def test_what_shows_is_below_the_truth(mu: str, rate: str, times: int) -> None:
    """Beside the whole profile; without what shows though it is not there the bound would be too high."""
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction="remove")
    profile = exact_transforms.sampled_gaussian_profile if times == 1 else exact_transforms.two_steps
    composition = Composition(parts=((law, times),))
    for epsilon in ("0", "1", "4"):
        truth = profile(mpf(mu), mpf(rate), True, mpf(epsilon))
        found = noticed(composition, DeltaAt(Fraction(epsilon), WIDTH))
        assert found is not None
        assert mpf(float(found.lower)) <= truth * (1 + mpf(10) ** -12)
    shown = 1 - (1 - mpf(rate) * (1 + mp.erf(mpf(mu) / 2 / mp.sqrt(2))) / 2) ** times
    assert float(mu) > 4 or shown > profile(mpf(mu), mpf(rate), True, mpf(4))


@pytest.mark.parametrize(
    ("rate", "times", "epsilon"),
    [
        ("0.5", 2, 1),
        ("0.5", 1000, 300),
        ("0.9", 2, 0),
        pytest.param("0.1", 100, 3, marks=pytest.mark.slow),
        pytest.param("0.001", 1000, 0, marks=pytest.mark.slow),
    ],
)
def test_hardly_any_noise_is_known(rate: str, times: int, epsilon: int) -> None:
    """All that shows, and all that can: 1 less the probability that no sample has the row."""
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.001"), rate=rate)
    found = acc.delta(acc.Repeat(event=step, times=times), epsilon=epsilon)
    truth = 1 - (1 - Fraction(rate)) ** times
    assert found.lower <= truth <= found.upper
    assert found.width <= Fraction(1, 10**9)


def test_whether_a_row_shows_is_not_asked_elsewhere() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 2), direction="remove")
    whole, added = Composition(parts=((law, 2),)), replace(law, direction="add")
    assert noticed(whole, EpsilonAt(Fraction(1, 10), WIDTH)) is None
    assert noticed(whole, DeltaAt(Fraction(2000), WIDTH)) is None
    assert noticed(Composition(parts=((added, 2),)), DeltaAt(Fraction(1), WIDTH)) is None
