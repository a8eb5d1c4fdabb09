"""The laid sum goes as far as it claims, no view is used beyond its reach, and K is enclosed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from privately.accounting.contour.finite import Finite
from privately.accounting.contour.finites import Finites
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import MOST_NODES, Layout, Whole, lay
from privately.accounting.contour.protocols import Gridded, Law, Sketch
from privately.accounting.contour.saddle import Outline, for_delta, shape
from privately.accounting.contour.sampled_gaussian import Grid, SampledGaussian
from privately.accounting.contour.sampled_laplace import SampledLaplace
from privately.accounting.contour.view import View
from privately.accounting.losses import LaplaceLoss, response
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

Parts = list[tuple[Law, int]]


def laid(parts: Parts, gaussian: float, log_delta: float = math.log(1e-6), tolerance: float = 1e-4) -> Layout:
    outline = Outline(parts, gaussian)
    saddle = for_delta(outline, log_delta)
    return lay(parts, gaussian, shape(outline, saddle, saddle.epsilon, math.log(tolerance)), tolerance)


@dataclass
class Watched:
    """A law whose grids write down for which reach their views are asked."""

    law: SampledGaussian | SampledLaplace | Laplaces
    reaches: list[float] = field(default_factory=list)

    def rough(self, highest: float) -> Sketch:
        return self.law.rough(highest)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Gridded:
        return WatchedGrid(self.law.grid(c, highest, reach, quiet), self.reaches)


@dataclass
class WatchedGrid:
    inner: Gridded
    reaches: list[float]

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def is_endless(self) -> bool:
        return self.inner.is_endless

    def log_mass_above(self, c: float) -> float:
        return self.inner.log_mass_above(c)

    def view(self, c: float, reach: float) -> View:
        self.reaches.append(reach)
        return self.inner.view(c, reach)

    def decay(self, c: float, frequencies: np.ndarray) -> np.ndarray:
        return self.inner.decay(c, frequencies)

    def atoms(self, c: float, view: View, times: int) -> None:
        return None


@pytest.mark.parametrize("times", [20, 100, 1000, 10**6])
@pytest.mark.parametrize(
    "law",
    [
        SampledGaussian(mu=1.0, rate=0.05, removes=True),
        SampledGaussian(mu=1.0, rate=0.05, removes=False),
        SampledLaplace(epsilon=0.5, rate=0.1, removes=True),
        Laplaces.of([(LaplaceLoss(epsilon=Fraction(1, 20)), 1)]),
    ],
)
def test_no_view_is_used_beyond_its_reach(law: SampledGaussian | SampledLaplace | Laplaces, times: int) -> None:
    for tolerance in (1e-3, 1e-5, 1e-8):
        watched = Watched(law)
        try:
            layout = laid([(watched, times)], 0.0, tolerance=tolerance)
        except NotApplicable:
            continue
        assert layout.count * layout.step <= watched.reaches[-1]


@pytest.mark.parametrize("removes", [True, False])
def test_what_is_beyond_the_last_frequency(removes: bool) -> None:
    """The sum of |phi^T|/w^2 beyond, over 2000 more terms, is below what is claimed for all of them."""
    law, times = SampledGaussian(mu=1.0, rate=0.2, removes=removes), 40
    layout = laid([(law, times)], 0.0)
    grid = law.grid(layout.c, 1.5 * layout.c, 1.0, 30.0)
    assert isinstance(grid, Grid)
    s = law.power(layout.c)
    x = np.arange(-12 + min(s, 0), 12 + max(s, 0), 2.0**-8)
    loss = np.log1p(law.rate * np.expm1(law.mu * x - law.mu**2 / 2))
    weights = np.exp(s * loss - x * x / 2 - (s * loss - x * x / 2).max())
    weights /= weights.sum()
    w = layout.step * np.arange(layout.count + 1, layout.count + 500)
    sizes = np.abs(np.exp(1j * np.outer(w, loss)) @ weights) ** times
    rest = layout.step / math.pi * float((sizes / np.hypot(layout.c, w) / np.hypot(layout.c + 1, w)).sum())
    assert 0 < rest <= layout.truncated


def test_log_masses_add_up() -> None:
    sampled = SampledGaussian(mu=0.7, rate=0.1, removes=False)
    laplaces = Laplaces.of([(LaplaceLoss(epsilon=Fraction(1, 4)), 3)])
    parts: Parts = [(sampled, 30), (laplaces, 1), (Finite.of(response(Fraction(1, 2))), 5)]
    layout = laid(parts, 0.25)
    with precision(200):

        def truth(c: float) -> arb:
            at, whole = arb(c), arb(1) / 2
            answer = whole.exp() / (1 + whole.exp()) * (at * whole).exp() + (-at * whole).exp() / (1 + whole.exp())
            total = 30 * exact_transforms.sampled_gaussian(0.7, 0.1, False, c).real.log() + 5 * answer.log()
            return total + 3 * exact_transforms.laplace(0.25, c).real.log() + (at * at + at) * arb(0.25) / 2

        low, high = layout.log_mass
        assert arb(low) <= truth(layout.c) <= arb(high)
        sides = set()
        for height, above in layout.heights:
            assert truth(height) <= arb(above) if height else above == 0
            sides.add(height > layout.c)
        assert sides == {True, False}


def test_refusals() -> None:
    with pytest.raises(NotApplicable):  # nothing here ever falls
        laid([(Finite.of(response(Fraction(1))), 10)], 0.0)


@pytest.mark.parametrize("hint", [None, 1e-3, 0.3, 3.0, 1e3])
def test_hints_need_not_be_right(hint: float | None) -> None:
    """Whatever is guessed, the sum goes far enough, and says how much is beyond."""
    law: Parts = [(SampledGaussian(mu=1.0, rate=0.01, removes=True), 1000)]
    outline = Outline(law, 0.0)
    saddle = for_delta(outline, math.log(1e-6))
    usual = shape(outline, saddle, saddle.epsilon, math.log(1e-8))
    assert usual.reach is not None
    layout = lay(law, 0.0, usual._replace(reach=None if hint is None else hint * usual.reach), 1e-8)
    assert layout.truncated <= 1e-6
    falls, _ = layout.whole.falls(layout.views, np.array([layout.count * layout.step]), 1.0)
    assert layout.truncated >= math.exp(-float(falls[0])) / (math.pi * layout.count * layout.step)


def test_no_sum_has_more_nodes_than_fit_into_memory() -> None:
    """Three points are little work for each node; a step that is too fine is refused, a coarser one is not."""
    parts: Parts = [(Finite.of(response(Fraction(1))), 1)]
    outline = Outline(parts, 1e-4)
    saddle = for_delta(outline, math.log(1e-6))
    found = shape(outline, saddle, saddle.epsilon, math.log(1e-4))
    count = lay(parts, 1e-4, found, 1e-4, 1 << 40).count
    for share, fits in ((0.5, True), (2.0, False)):
        finer = found._replace(step=found.step * count / (share * MOST_NODES))
        if fits:
            assert lay(parts, 1e-4, finer, 1e-4, 1 << 40).count <= MOST_NODES
        else:
            with pytest.raises(NotApplicable, match="the sum is too long"):
                lay(parts, 1e-4, finer, 1e-4, 1 << 40)


def test_atoms_that_scatter_have_fallen_until_the_normal_loss_has() -> None:
    """No frequency beyond a reach is above what is said there, and the reach is short."""
    laws = [response(1 + Fraction(k, 700)) for k in range(600)]
    row, c, softness = Finites.of([(law, 1) for law in laws]), 0.3, 0.02
    whole = Whole([(row, 1)], softness, c)
    reaches = np.array([0.5, 2.0, 9.0, 40.0, 120.0])
    falls, atoms = whole.falls(whole.views(1.0), reaches, 40.0)
    assert atoms is None
    assert falls[1] > 20
    epsilon = np.array([float(law.epsilon) for law in laws])
    share = 1 / (1 + np.exp(-(2 * c + 1) * epsilon))
    w = np.linspace(0.5, 200.0, 20_000)
    true = softness * w * w / 2
    for e, p in zip(epsilon.tolist(), share.tolist(), strict=True):
        true -= np.log(np.abs(p + (1 - p) * np.exp(-2j * w * e)))
    for reach, fall in zip(reaches.tolist(), falls.tolist(), strict=True):
        assert fall <= true[w >= reach].min()
    softness, again = 2e-5, 700 * math.pi  # there all atoms are in phase again
    falls, _ = Whole([(row, 1)], softness, c).falls(whole.views(1.0), reaches, 10.0)
    assert math.sqrt(2 * 15 / softness) < again
    assert 5 < falls[1] <= falls[-1] <= softness * again**2 / 2
