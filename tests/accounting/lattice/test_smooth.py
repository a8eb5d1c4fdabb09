"""Curves of single steps against integrals in many digits."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.elementary import UNIT
from privately.accounting.lattice.bases import ExponentialBase, NormalBase
from privately.accounting.lattice.smooth import Form, Smooth, smooth
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable

FORMS: list[Form] = ["remove", "add", "glued"]


def truth(law: Smooth, epsilon: float) -> mpmath.mpf:
    """E[(1 - e^(epsilon - L))+] - p (1 - e^epsilon)+ of the density, by an integral over y."""
    rate, e = mpmath.mpf(law.rate), mpmath.exp(mpmath.mpf(epsilon))

    def density(y: mpmath.mpf) -> mpmath.mpf:
        if isinstance(law.base, NormalBase):
            mu = mpmath.mpf(law.base.mu)
            return mpmath.npdf(y, -(mu**2) / 2, mu)
        return mpmath.exp(-(y + mpmath.mpf(law.base.epsilon)) / 2) / 4  # type: ignore[attr-defined]

    def first(y: mpmath.mpf) -> mpmath.mpf:
        """The ratio of the pair of remove."""
        return 1 - rate + rate * mpmath.exp(y)

    low, high = law.base.spread()
    low, high = low * 1.5, min(high, 15 * low * -1)
    if isinstance(law.base, ExponentialBase):
        low, high = -law.base.epsilon, law.base.epsilon
    sides: dict[str, list[tuple[Callable[[mpmath.mpf], mpmath.mpf], float]]] = {
        "remove": [(lambda y: max(first(y) - e, 0), low)],
        "add": [(lambda y: max(1 - e * first(y), 0), low)],
        "glued": [(lambda y: max(first(y) - e, 0), 0), (lambda y: max(1 - e * first(y), 0), 0)],
    }
    kinks = [mpmath.log(1 + (x - 1) / rate) for x in (e, 1 / e) if 1 + (x - 1) / rate > 0]
    total = mpmath.mpf(0)
    for function, left in sides[law.form]:
        places = sorted({left, high, *(kink for kink in kinks if left < kink < high)})
        places = sorted({*places, *(left + (high - left) * mpmath.mpf(k) / 20 for k in range(1, 20))})
        total += mpmath.quad(lambda y, f=function: f(y) * density(y), places)
    mass, _ = law.mass()
    return total - mass * max(1 - e, 0)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("base", "rate"),
    [(NormalBase(1.0), 0.01), (NormalBase(0.3), 0.5), (ExponentialBase(1.0), 0.1), (NormalBase(2.0), 1.0)],
)
def test_curves_are_within_their_errors(base: NormalBase | ExponentialBase, rate: float, form: Form) -> None:
    if rate == 1 and form != "remove":
        pytest.skip("without sampling there is one form")
    law = Smooth(base, rate, form)
    epsilon = np.array([-2.0, -0.6, -0.1, -0.009, -0.001, 0.0, 0.001, 0.009, 0.05, 0.3, 1.0])
    value, error = law.curve(epsilon)
    assert (value >= 0).all()
    assert (error <= 1e-10 * (value + rate)).all()
    with mpmath.workdps(20):
        for i, place in enumerate(epsilon.tolist()):
            assert abs(value[i] - truth(law, place)) <= error[i] + mpmath.mpf(10) ** -14, place


@pytest.mark.parametrize("law", [Smooth(NormalBase(1.0), 0.01, "remove"), Smooth(ExponentialBase(2.0), 0.2, "glued")])
def test_masses_above(law: Smooth) -> None:
    for y in (0.1, 1.0, 1.9):
        found = law.above(y)
        with mpmath.workdps(30):
            if isinstance(law.base, NormalBase):
                plain = [mpmath.erfc((y + s) / mpmath.sqrt(2)) / 2 for s in (mpmath.mpf(-1) / 2, mpmath.mpf(1) / 2)]
            else:
                u = mpmath.exp((mpmath.mpf(y) - 2) / 2)
                plain = [(1 - u) / 2, u * (1 - u) / 2 * mpmath.exp(-y)]
            rate = mpmath.mpf(law.rate)
            assert abs(found.second - plain[1]) <= found.second_error
            assert abs(found.first - ((1 - rate) * plain[1] + rate * plain[0])) <= found.first_error


def test_losses_and_back() -> None:
    law = Smooth(NormalBase(1.0), 0.01, "remove")
    assert law.plain(law.loss(3.0)) == pytest.approx(3.0)
    assert law.plain(-1.0) == -math.inf
    assert law.ends()[0] == pytest.approx(math.log(0.99))
    assert law.ends()[1] == math.inf
    assert Smooth(NormalBase(1.0), 0.01, "add").ends()[0] == -math.inf
    assert Smooth(NormalBase(1.0), 0.01, "add").ends()[1] == pytest.approx(-math.log(0.99))
    assert Smooth(ExponentialBase(1.0), 1.0, "remove").ends() == (-1.0, 1.0)
    low, high = Smooth(ExponentialBase(1.0), 0.1, "glued").ends()
    assert low == -high


@pytest.mark.parametrize("form", FORMS)
def test_sketches_have_the_mass(form: Form) -> None:
    law = Smooth(NormalBase(1.0), 0.05, form)
    _, logs = law.sketch(math.inf)
    assert np.exp(logs).sum() == pytest.approx(law.mass()[0], abs=0.03)


def test_which_laws_have_a_density() -> None:
    gaussian, rate = GaussianLoss(mu_squared=Fraction(4)), Fraction(1, 10)
    assert smooth(gaussian) == Smooth(NormalBase(2.0), 1.0, "remove")
    assert smooth(LaplaceLoss(epsilon=Fraction(1))) == Smooth(ExponentialBase(1.0), 1.0, "remove")
    assert smooth(GluedLoss(base=gaussian, rate=rate)) == Smooth(NormalBase(2.0), 0.1, "glued")
    assert smooth(SampledGaussianLoss(mu_squared=Fraction(4), rate=rate, direction="add")) == Smooth(
        NormalBase(2.0), 0.1, "add"
    )
    assert smooth(SampledLaplaceLoss(epsilon=Fraction(1), rate=rate, direction="remove")) == Smooth(
        ExponentialBase(1.0), 0.1, "remove"
    )
    assert smooth(DiscreteGaussianLoss(variance=Fraction(1), sensitivity=1)) is None
    assert smooth(response(Fraction(1))) is None


def test_rates_out_of_range_are_refused() -> None:
    with pytest.raises(NotApplicable):
        Smooth(NormalBase(1.0), 1 - 2.0**-40, "remove")


def test_losses_are_between_their_bounds() -> None:
    with mpmath.workdps(40):
        for rate in (1e-6, 0.01, 0.7):
            law = Smooth(NormalBase(1.0), rate, "remove")
            for y in (-3.0, 1e-9, 0.4, 30.0):
                low, high = law.loss_between(y)
                for moved in (1 - UNIT, 1 + UNIT):
                    exact = mpmath.log1p(mpmath.mpf(rate) * moved * mpmath.expm1(y))
                    assert low <= exact <= high
                assert high - low <= 1e-14 * max(abs(low), abs(high)) + 1e-22
    assert Smooth(NormalBase(1.0), 1.0, "remove").loss_between(0.3) == (0.3, 0.3)
