"""The choice of a contour: nothing here has to be right, but the two other heights must lie on their sides."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour.discrete import Discrete
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.saddle import Outline, for_delta, for_epsilon, shape, wanted_fall
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.losses import LaplaceLoss, SampledDiscreteGaussianLoss
from privately.accounting.roads import NotApplicable


def outlines() -> list[Outline]:
    sampled = SampledGaussian(mu=1.0, rate=0.01, removes=True)
    added = SampledGaussian(mu=0.5, rate=0.3, removes=False)
    return [
        Outline([], 1.0),
        Outline([(sampled, 1000)], 0.0),
        Outline([(added, 50)], 0.1),
        Outline([(Laplaces.of([(LaplaceLoss(epsilon=Fraction(1, 10)), 100)]), 1)], 0.0),
    ]


@pytest.mark.parametrize("place", range(4))
def test_derivatives(place: int) -> None:
    outline = outlines()[place]
    h = 1e-4
    for c in (0.5, 3.0, 12.0):
        k, mean, variance = outline.cumulants(c)
        down, middle, up = outline.levels([c - h, c, c + h])
        assert middle == pytest.approx(k)
        assert mean == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-7)
        assert variance == pytest.approx((up - 2 * k + down) / h**2, rel=1e-2, abs=1e-5)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("log_delta", [math.log(0.01), math.log(1e-5), math.log(1e-12)])
def test_the_two_searches_agree(place: int, log_delta: float) -> None:
    outline = outlines()[place]
    saddle = for_delta(outline, log_delta)
    assert saddle.log_delta == pytest.approx(log_delta, abs=0.5)
    again = for_epsilon(outline, saddle.epsilon)
    assert again.log_delta == pytest.approx(saddle.log_delta, abs=2)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-10])
def test_the_other_heights_lie_on_their_sides(place: int, tolerance: float) -> None:
    """Both on one side would leave half of the aliases without a bound, whatever was tried before."""
    outline = outlines()[place]
    for log_delta in (-3.0, -12.0, -40.0, -12.0):
        saddle = for_delta(outline, log_delta)
        for epsilon in (saddle.epsilon, saddle.epsilon + 1, 0.0):
            laid = shape(outline, saddle, epsilon, math.log(tolerance))
            assert 0 <= laid.below < saddle.c < laid.above
            assert 0 < laid.step < math.inf


def test_out_of_range() -> None:
    with pytest.raises(NotApplicable):
        for_epsilon(Outline([], 1e-8), 1e6)
    law = SampledGaussian(mu=1e-153, rate=0.001, removes=True)
    with pytest.raises(NotApplicable):
        for_delta(Outline([(law, 1)], 0.0), math.log(1e-100))


@pytest.mark.parametrize(
    ("mu", "rate", "times"), [(0.5, 0.01, 1000), (0.5, 0.01, 10**4), (1.25, 0.01, 1000), (1, 0.1, 50)]
)
def test_few_looks_are_enough(mu: float, rate: float, times: int) -> None:
    for removes in (True, False):
        outline = Outline([(SampledGaussian(mu=mu, rate=rate, removes=removes), times)], 0.0)
        saddle = for_delta(outline, math.log(1e-6))
        assert len(outline.seen) - 1 <= 6
        assert for_epsilon(outline, saddle.epsilon).c == pytest.approx(saddle.c, rel=0.1)
        assert len(outline.seen) - 1 <= 12


@pytest.mark.parametrize(("mu", "rate", "times"), [(0.5, 0.01, 1000), (1.0, 0.01, 1000), (1.25, 0.01, 10**4)])
def test_a_good_start_saves_looks(mu: float, rate: float, times: int) -> None:
    outline = Outline([(SampledGaussian(mu=mu, rate=rate, removes=True), times)], 0.0)
    saddle = for_delta(outline, math.log(1e-6))
    assert len(outline.seen) - 1 <= 4
    assert 0.3 * saddle.c <= outline.start(math.log(1e-6)) <= 3 * saddle.c


def test_laws_that_tell_nothing_have_a_usual_start() -> None:
    told = Outline([(Laplaces.of([(LaplaceLoss(epsilon=Fraction(1, 10)), 100)]), 1)], 0.0)
    assert told.start(math.log(1e-6)) == pytest.approx(5.26, rel=0.01)
    silent = SampledLaplace(epsilon=0.5, rate=0.1, removes=True)
    assert Outline([(silent, 10)], 0.0).start(-10) == Outline([(silent, 10)], 1.0).start(-20)


@pytest.mark.parametrize("removes", [True, False])
def test_how_far_to_go(removes: bool) -> None:
    """At the frequency that is offered bounds show that the integrand has fallen about as far as needed."""
    law, times = SampledGaussian(mu=1.0, rate=0.01, removes=removes), 1000
    outline = Outline([(law, times)], 0.0)
    saddle = for_delta(outline, math.log(1e-6))
    found = shape(outline, saddle, saddle.epsilon, math.log(1e-8)).reach
    assert found is not None
    grid = law.grid(saddle.c, 1.4 * saddle.c, found, 40.0)
    fallen = times * grid.decay(saddle.c, np.array([found])).item()
    assert fallen == pytest.approx(wanted_fall(saddle, math.log(1e-8)), rel=0.15)
    assert shape(Outline([(law, times)], 1.0), saddle, 1.0, -10).reach is None


def test_no_contour_above_what_is_known_of_many_laws() -> None:
    """Outcomes of discrete noise end somewhere: contours stay below the heights at which the next ones would matter."""
    law = SampledDiscreteGaussianLoss(variance=Fraction(10), sensitivity=1, rate=Fraction(1, 100), direction="remove")
    listed = Discrete.over(law)
    few, many = (Outline([(listed, 1)] * count, 1e-9) for count in (2, 100))
    assert few.ceiling == math.inf
    assert many.ceiling == listed.ceiling < 100
    found = for_epsilon(many, 50.0)
    assert found.c == pytest.approx(0.8 * listed.ceiling)
    contour = shape(many, found, found.epsilon, math.log(1e-8))
    assert found.c < contour.above <= listed.ceiling
    assert listed.log_mass(contour.above)[1] < math.inf
