"""Choices for the checker's sum: sensible ones, in the form that is read, and refused when out of reach."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.certifying.contours import MOST_COUNT, Outline, contour_witness, order_witness, sketch
from privately.accounting.losses import (
    DiscreteLaplaceLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    response,
)
from privately.accounting.roads import NotApplicable

REMOVE = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove")
ADD = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="add")
LAWS: list[Loss] = [REMOVE, ADD, LaplaceLoss(epsilon=Fraction(1, 2)), response(Fraction(1, 2))]


@pytest.mark.parametrize("law", LAWS)
def test_sketches_have_mass_one_and_the_divergence_as_mean(law: Loss) -> None:
    drawn = sketch(law, 5.0)
    total = float(np.exp(drawn.base).sum())
    assert math.isclose(total, 1, rel_tol=1e-9)
    assert drawn.cumulants(0.5)[1] > 0
    assert math.isclose(float(np.exp(drawn.base - drawn.loss).sum()), 1, rel_tol=1e-6)


def test_only_laws_that_are_checked() -> None:
    with pytest.raises(NotApplicable):
        sketch(DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=2), 5.0)


def test_saddles() -> None:
    outline = Outline([(GaussianLoss(mu_squared=Fraction(4)), 1)])
    c = outline.saddle(9.0)
    assert math.isclose((c + 0.5) * 4 - 1 / c - 1 / (c + 1), 9, rel_tol=1e-6)
    assert outline.cumulants(c)[0] == pytest.approx((c * c + c) * 2)
    with pytest.raises(NotApplicable):
        outline.saddle(1e9)
    assert outline.best_order(lambda c: (c - 3) ** 2) == pytest.approx(3, rel=1e-2)
    assert outline.best_order(lambda c: (c - 0.01) ** 2) == pytest.approx(0.01, rel=1e-2)


def test_witnesses_of_several_laws_are_in_order() -> None:
    other = SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=Fraction(1, 10), direction="remove")
    parts: list[tuple[Loss, int]] = [(REMOVE, 1000), (other, 50), (LAWS[2], 3)]
    found = contour_witness(parts, 3.0, math.log(1e-6), 1e-5, Fraction(0))
    assert set(found) == {"method", "c", "step", "count", "blur", "grids"}
    assert len(found["grids"]) == 2
    assert Fraction(found["grids"][0]["spacing"]) > Fraction(found["grids"][1]["spacing"])
    assert len(order_witness(parts, 3.0)) == 2
    assert {grid["height"] for grid in order_witness(parts, 3.0)} == {"0"}


def test_sums_that_are_too_long_are_refused() -> None:
    with pytest.raises(NotApplicable, match=r"slowly|long"):
        contour_witness([(LAWS[3], 3)], 1.0, math.log(1e-3), 1e-5, Fraction(0))
    with pytest.raises(NotApplicable):
        contour_witness([(REMOVE, 1)], 0.2, math.log(1e-5), 1e-5, Fraction(0))
    blurred: list[tuple[Loss, int]] = [(LAWS[3], 3), (GaussianLoss(mu_squared=Fraction(1, 100)), 1)]
    assert contour_witness(blurred, 1.0, math.log(1e-3), 1e-5, Fraction(1, 100))["count"] <= MOST_COUNT


def test_there_is_no_contour_beside_hardly_any_noise() -> None:
    """No spacing is small enough where no strip is left: the search for one would never end."""
    law = SampledGaussianLoss(mu_squared=Fraction(10**6), rate=Fraction(1, 2), direction="remove")
    parts, log_delta = [(law, 1000)], math.log(1e-6)
    with pytest.raises(NotApplicable, match="strip"):
        contour_witness(parts, Outline(parts).guess(log_delta), log_delta, 0.01, Fraction(0))
