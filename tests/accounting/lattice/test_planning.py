"""Choices that make the bounds good."""

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.lattice.planning import Grid, Outline, View, contour, grid, in_steps
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)

RATE = Fraction(1, 100)
SAMPLED = SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="remove")


@pytest.mark.parametrize(
    ("law", "lowest"),
    [
        (SAMPLED, math.log1p(-0.01)),
        (SampledGaussianLoss(mu_squared=Fraction(1), rate=RATE, direction="add"), -math.inf),
        (GaussianLoss(mu_squared=Fraction(1)), -math.inf),
        (LaplaceLoss(epsilon=Fraction(2)), -2.0),
        (DiscreteGaussianLoss(variance=Fraction(4), sensitivity=1), -math.inf),
        (
            SampledDiscreteGaussianLoss(variance=Fraction(4), sensitivity=1, rate=RATE, direction="remove"),
            math.log1p(-0.01),
        ),
        (GluedLoss(base=GaussianLoss(mu_squared=Fraction(1)), rate=RATE), -math.inf),
        (response(Fraction(1)), -1.0),
    ],
)
def test_least_losses(law: Loss, lowest: float) -> None:
    """They decide from where on a large loss is enough, so they must not be too large."""
    found = View.of(law, 3)
    assert found.times == 3
    assert found.lowest == pytest.approx(lowest, rel=1e-9)
    assert found.lowest < lowest or lowest == -math.inf


def test_views_are_trimmed() -> None:
    view = View.of(SAMPLED, 10)
    by_mass, by_size = view.trimmed(1e-9, math.inf), view.trimmed(1e-30, 1.0)
    assert by_mass.dense is not None
    assert by_size.dense is not None
    assert by_mass.dense.above(by_mass.cut).first == pytest.approx(1e-9, rel=1e-6)
    assert by_size.dense.loss(by_size.cut) == pytest.approx(1.0)
    atoms = View.of(response(Fraction(1)), 10)
    assert atoms.trimmed(1e-9, 0.5).highest == 0.5
    assert atoms.trimmed(1e-9, -7.0).highest == -1.0, "at least one atom stays"


def test_outlines_are_about_right() -> None:
    mu_squared = Fraction(1, 4)
    outline = Outline.of([View.of(GaussianLoss(mu_squared=mu_squared), 16).trimmed(1e-20, math.inf)])
    c = outline.heights[50]
    assert outline.k[50] == pytest.approx(4 * c * (c + 1) / 2, rel=1e-3)
    assert outline.mean[50] == pytest.approx(4 * (c + 0.5), rel=1e-2)
    assert outline.epsilon(math.log(1e-6)) == pytest.approx(10.99, rel=0.01)
    assert outline.log_delta(10.99) == pytest.approx(math.log(1e-6), abs=0.3)
    assert outline.epsilon(-1e-9) == 0


def test_contours_have_room() -> None:
    views = [View.of(SAMPLED, 1000).trimmed(1e-17, math.inf)]
    outline = Outline.of(views)
    level = math.log(1e-6), math.log(1e-8)
    found = contour(outline, 2.1, *level)
    assert 3 < found.tilt < 10 < 3 * found.height
    assert found.tilt * found.period >= -sum(level) - 1e-9
    assert contour(outline, 2.1, level[0], math.log(1e-3)).period < found.period


def spacing(found: Grid, losses: list[float], law: int = 0) -> float:
    places = (np.array(losses) - found.offsets[law]) / found.step
    return float(np.abs(places - np.rint(places)).max())


@pytest.mark.parametrize(
    "law",
    [
        LaplaceLoss(epsilon=Fraction(1, 3)),
        SampledLaplaceLoss(epsilon=Fraction(1), rate=RATE, direction="remove"),
        response(Fraction(1, 7)),
        GluedLoss(base=LaplaceLoss(epsilon=Fraction(1)), rate=RATE),
        DiscreteGaussianLoss(variance=Fraction(7), sensitivity=1),
    ],
)
def test_atoms_come_onto_the_lattice(law: Loss) -> None:
    view = View.of(law, 2)
    found = grid([view], 3.0, 1024, 1 << 18)
    assert spacing(found, view.atoms.losses.tolist()) < 1e-9
    assert found.step * found.count >= 3.0 * (1 - 1e-12)
    assert 0 <= found.offsets[0] < found.step


def test_one_lattice_for_several_laws() -> None:
    views = [View.of(LaplaceLoss(epsilon=Fraction(1, 3)), 2), View.of(SAMPLED, 2), View.of(response(Fraction(1, 7)), 1)]
    found = grid(views, 3.0, 1024, 1 << 18)
    assert found.offsets[1] == 0
    assert spacing(found, [1 / 3, -1 / 3], 0) < 1e-2
    assert grid(views[1:2], 3.0, 1024, 1 << 18) == Grid(3.0 / 1024, 1024, (0.0,))


def test_the_same_loss_twice_is_one() -> None:
    law = FiniteLoss(epsilon=Fraction(0), outcomes=(((Fraction(1), Fraction(0)), (Fraction(1), Fraction(0))),) * 2)
    assert grid([View.of(law, 1)], 3.0, 64, 256) == Grid(3.0 / 64, 64, (0.0,))


def test_atoms_nearer_than_the_step_ask_for_more_nodes() -> None:
    view = View.of(response(Fraction(1, 1000)), 1)
    found = grid([view], 3.0, 64, 1 << 18)
    assert found.count == 2048
    assert found.step == pytest.approx(0.002)
    assert grid([view], 3.0, 64, 256).count == 64


def test_large_normal_losses_come_in_steps() -> None:
    """Mean mu^2/2 and variance mu^2 stay; other laws stay as they are."""
    large = GaussianLoss(mu_squared=Fraction(5001, 2))
    law, times = in_steps(large, 3)
    assert isinstance(law, GaussianLoss)
    assert law.mu_squared * times == 3 * large.mu_squared
    assert law.mu_squared <= 1
    assert in_steps(GaussianLoss(mu_squared=Fraction(2)), 3) == (GaussianLoss(mu_squared=Fraction(2)), 3)
    assert in_steps(SAMPLED, 7) == (SAMPLED, 7)


def test_tiny_steps_beside_large_atoms_take_little_memory() -> None:
    """Only some of the steps that divide a gap of 10^8 steps are looked at."""
    views = [View.of(response(Fraction(100)), 1)]
    tracemalloc.start()
    found = grid(views, 1e-4, 1 << 12, 1 << 18)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < found.step <= 2e-4 / (1 << 12)
    assert peak < 1 << 23
