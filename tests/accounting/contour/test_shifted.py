"""On the line beside the real one the error does not grow with the frequency, and stays below its bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour.sampled_gaussian import Grid, SampledGaussian
from privately.accounting.contour.shifted import Line
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision
from tests.accounting.contour.test_sampled_gaussian import characteristic, coarse, law_of


def line_of(law: SampledGaussian, c: float, height: float) -> Line:
    return Line(mu=law.mu, removes=law.removes, c=c, height=height)


def gap(law: SampledGaussian, grid: Grid, c: float, w: float) -> float:
    """What the sum over the line misses of M(c + iw), over M(c)."""
    tilted = grid.points.tilted(law.power(c))
    view = grid.line.view(grid.x, grid.points, grid.share, tilted, (0.0, 0.0))
    found = complex(view.weights @ np.exp(1j * w * view.losses))
    scale = complex(np.sum(tilted.weights))
    with precision(200):
        whole = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, c)
        at = exact_transforms.sampled_gaussian(law.mu, law.rate, law.removes, complex(c, w))
        at = at * (acb(0, -1) * arb(w) * arb(float(view.centre))).exp()
        return float(abs((at - acb(found * scale) * arb(tilted.shift).exp()) / whole).upper())


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate", "c"), [(0.5, 0.1, 4.0), (1.0, 0.02, 6.0), (1.0, 0.6, 20.0), (2.0, 0.3, 2.0)])
def test_the_sum_on_the_line(mu: float, rate: float, c: float, removes: bool) -> None:
    """Coarse steps and frequencies far beyond what the real line could bear."""
    law = law_of(mu, rate, removes)
    for height in (0.25, 0.5, 1 / mu if mu >= 1 else 1.0):
        for step in (0.2, 0.4, 0.7):
            bound = line_of(law, c, height).missing(step)
            if not math.isfinite(bound):
                continue
            grid = coarse(law, c, step, height)
            for w in (0.0, 3.0, 12.0):
                assert gap(law, grid, c, w) <= bound + 1e-11


def test_the_bound_on_the_line_is_needed() -> None:
    """At a coarse step the error is there, and at a high frequency the real line at the same step does worse."""
    law = law_of(1.0, 0.6, removes=True)
    observed = gap(law, coarse(law, 3.0, 0.7, 1.0), 3.0, 12.0)
    assert 1e-9 < observed <= line_of(law, 3.0, 1.0).missing(0.7)
    assert gap(law, coarse(law, 3.0, 0.7, 0.0), 3.0, 12.0) > observed


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "rate", "c"), [(0.2, 0.05, 30.0), (1.0, 0.02, 6.0), (1.0, 0.9, 3.0), (3.0, 0.3, 1.0)])
def test_the_view(mu: float, rate: float, c: float, removes: bool) -> None:
    law = law_of(mu, rate, removes)
    grid = coarse(law, c, 0.0625, math.floor(min(0.5, 1 / mu) * 64) / 64)
    view = grid.view(c, 1.0)
    assert (np.imag(view.losses) >= 0).all()
    found, bounds = view.transforms(2.0, 16)
    with precision(200):
        for n in (1, 2, 7):
            truth = characteristic(law, c, 2.0 * n, view.centre) - 1
            assert abs(truth - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))
    assert bounds[-1] <= 1e-7


@pytest.mark.parametrize("wrong", ["mirrored", "untilted"])
def test_a_line_on_the_wrong_side_is_wrong(wrong: str) -> None:
    """The sign of the phase, and the part of the tilt that the line changes, both matter."""
    law = law_of(1.0, 0.3, removes=True)
    grid = coarse(law, 3.0, 0.0625, 0.5)
    tilted = grid.points.tilted(law.power(3.0))
    view = grid.line.view(grid.x, grid.points, grid.share, tilted, (0.0, 0.0))
    weights = np.conj(view.weights) if wrong == "mirrored" else tilted.shares.astype(np.complex128)
    found = complex(weights @ np.exp(4j * view.losses))
    with precision():
        truth = characteristic(law, 3.0, 4.0, view.centre)
        assert abs(truth - acb(complex(view.weights @ np.exp(4j * view.losses)))) <= arb(1e-9)
        assert abs(truth - acb(found)) > arb(1e-3)


def test_the_edge_is_larger_for_add() -> None:
    """-ln cos y <= 0.62 y^2 up to 1, and no further."""
    y = np.linspace(1e-3, 1, 2000)
    assert (-np.log(np.cos(y)) <= 0.62 * y * y).all()
    assert -math.log(math.cos(1.1)) > 0.62 * 1.1**2
    adds, removes = (Line(mu=1.0, removes=flag, c=50.0, height=0.5) for flag in (False, True))
    assert adds.edge == pytest.approx(removes.edge + 0.62 * 50 * 0.25)


@pytest.mark.parametrize("mu", [1e-4, 0.3, 1.0, 7.0, 2000.0])
@pytest.mark.parametrize("c", [0.01, 3.0, 5000.0])
def test_the_best_line_is_within_the_theorem(mu: float, c: float) -> None:
    for removes in (True, False):
        line = Line.best(mu, c, 30.0, removes=removes)
        assert 0 <= line.height * mu <= 1
        if line.height:
            assert line.missing(line.step(30.0)) <= 10 * math.exp(-30.0)
