"""Every kind of law offers what the contour integral asks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour.finite import Finite
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.protocols import Law
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.losses import LaplaceLoss, response

LAWS: list[Law] = [
    Finite.of(response(Fraction(1, 2))),
    Laplaces.of([(LaplaceLoss(epsilon=Fraction(1, 4)), 3)]),
    SampledGaussian(mu=0.7, rate=0.1, removes=False),
    SampledLaplace(epsilon=0.5, rate=0.1, removes=True),
]


@pytest.mark.parametrize("law", LAWS)
def test_sketches_and_grids_tell_the_same(law: Law) -> None:
    """ln M(c), nearly and from above; and where the mean is, by its derivative."""
    c = 3.0
    sketch, grid = law.rough(10.0), law.grid(c, 4.0, 1.0, 30.0)
    k, mean, variance = sketch.cumulants(c)
    assert sketch.levels(np.array([c])).tolist() == pytest.approx([k], rel=1e-9)
    assert grid.log_mass_above(c) == pytest.approx(k, rel=1e-6)
    view = grid.view(c, 1.0)
    assert view.log_mass[0] <= view.log_mass[1] <= grid.log_mass_above(c) + 1e-9
    assert float(view.centre) == pytest.approx(mean, rel=1e-6)
    assert variance > 0
    assert np.all(grid.decay(c, np.array([1.0])) >= 0)
    assert grid.size > 1
