"""Weights, their sum and the logarithm of their sum lie within their bounds, at every tilt."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from privately.accounting.contour.points import Points, Tilted
from privately.accounting.elementary import UNIT
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.exact_transforms import precision

RANDOM = np.random.default_rng(3)


def law(scale: float, size: int = 30) -> Points:
    """A probability law, all of whose floats are exact but for the rounding of their sum."""
    probability = RANDOM.dirichlet(np.ones(size))
    loss = RANDOM.normal(size=size) * scale
    return Points(probability, np.zeros(size), 4 * UNIT, loss, np.zeros(size))


def exact_excess(points: Points, s: float) -> arb:
    """The sum of p (e^(sL) - 1)."""
    factor = np.broadcast_to(points.factor, points.loss.shape)
    terms = zip(factor.tolist(), points.log_base.tolist(), points.loss.tolist(), strict=True)
    return sum((arb(p) * arb(b).exp() * (arb(s) * arb(x)).expm1() for p, b, x in terms), arb(0))


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize("s", [-40.0, -1.0, -1e-3, 1e-3, 1.0, 2.5, 60.0])
def test_log_mass(scale: float, s: float) -> None:
    points = law(scale)
    try:
        low, high = points.tilted(s).log_mass(0.0)
    except NotApplicable:
        assert s * scale < -1
        return
    with precision(300):
        truth = exact_excess(points, s).log1p()
        assert arb(low) <= truth <= arb(high)


def test_log_mass_is_relative_to_the_excess() -> None:
    """So that T ln M stays exact for T = 10^12: with losses of 10^-6, M - 1 is about 10^-6, known to 10^-18."""
    low, high = law(1e-6).tilted(1.0).log_mass(0.0)
    assert high - low <= 1e-6 * 1e-11


def test_log_mass_below_one_half() -> None:
    """A law of losses below 0, which is what is left when all others are infinite."""
    points = Points(np.array([0.25, 0.75]), np.zeros(2), 4 * UNIT, np.array([0.0, -1.0]), np.zeros(2))
    for s in (1.0, 5.0, 20.0):
        low, high = points.tilted(s).log_mass(0.0)
        with precision():
            truth = exact_excess(points, s).log1p()
            assert arb(low) <= truth <= arb(high)


def quick_faults(points: Points, s: float, truth: Points) -> bool:
    """Whether the bound on the excess is below the truth."""
    quick = points.quickly(s)
    assert quick is not None
    with precision(300):
        return not exact_excess(truth, s) <= arb(quick.above)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0])
@pytest.mark.parametrize("s", [-40.0, -1.0, -1e-3, 1e-3, 1.0, 2.5, 60.0])
def test_quick_bounds(scale: float, s: float) -> None:
    """Above the truth and near it, also where losses and weights are as wrong as is stated."""
    good = law(scale)
    lost = np.full(30, 1e-4 * scale)
    stated = Points(good.factor, good.log_base, 2.0**-43, good.loss, lost)
    for sign in (-1.0, 1.0):
        worse = Points(good.factor * (1 + 2.0**-43), good.log_base, 0.0, good.loss + sign * lost, lost)
        assert not quick_faults(stated, s, good)
        assert not quick_faults(stated, s, worse)
    quick = good.quickly(s)
    assert quick is not None
    with precision(300):
        truth = float(exact_excess(good, s).mid())
    size = float(np.abs(good.factor * np.expm1(s * good.loss)).sum())
    assert quick.above - truth <= 2.0**-37 * size
    assert np.allclose(quick.weights, good.factor * np.exp(s * good.loss), rtol=1e-9, atol=1e-12)


def test_quick_bounds_count_wrong_losses() -> None:
    good = law(1.0)
    worse = Points(good.factor, good.log_base, 0.0, good.loss + 1e-4, good.loss_error)
    assert quick_faults(good, 2.0, worse)


def test_no_quick_bounds_without_good_weights() -> None:
    good = law(1.0)
    assert Points(good.factor, good.log_base, 1e-11, good.loss, good.loss_error).quickly(1.0) is None
    assert Points(good.factor, good.log_base - 650, 0.0, good.loss, good.loss_error).quickly(1.0) is None
    assert good.quickly(1e4) is None


def test_what_is_missing_widens_it() -> None:
    tilted = law(0.1).tilted(2.0)
    narrow, wide = tilted.log_mass(0.0), tilted.log_mass(1e-6)
    assert wide[0] < narrow[0] - 1e-6
    assert wide[1] > narrow[1] + 1e-6


@pytest.mark.parametrize("s", [-3.0, 0.5, 4.0, 900.0])
def test_weights(s: float) -> None:
    points = law(1.0)
    tilted = points.tilted(s)
    assert isinstance(tilted, Tilted)
    with precision(300):
        for p, loss, weight, off in zip(
            np.broadcast_to(points.factor, 30).tolist(),
            points.loss.tolist(),
            tilted.weights.tolist(),
            tilted.error.tolist(),
            strict=True,
        ):
            truth = arb(p) * (arb(s) * arb(loss) - arb(tilted.shift)).exp()
            assert abs(arb(weight) - truth) <= truth * arb(off) + arb(1e-300)


OFF = 1e-6


def wrong(true: Points, s: float, *, by_weight: float = 0.0, by_loss: float = 0.0, is_listed: bool = False) -> Points:
    """The same law as wrong as it says, in the way that moves the sum of p e^(sL) most."""
    away = np.sign(np.expm1(s * true.loss))
    return Points(
        true.factor * (1 + by_weight * away),
        true.log_base,
        abs(by_weight) * 1.001 + 4 * UNIT,
        true.loss + by_loss * np.sign(s),
        np.full(true.loss.size, abs(by_loss) * 1.001),
        covers=1 + 2.0**-4 if is_listed else 0.0,
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0])
@pytest.mark.parametrize("s", [-2.0, 1.5])
@pytest.mark.parametrize(("by_weight", "by_loss"), [(OFF, 0.0), (-OFF, 0.0), (0.0, OFF), (0.0, -OFF), (OFF, OFF)])
def test_the_worst_errors_are_covered(scale: float, s: float, by_weight: float, by_loss: float) -> None:
    true = law(scale)
    with precision(300):
        truth = exact_excess(true, s)
        tilted = wrong(true, s, by_weight=by_weight, by_loss=by_loss).tilted(s)
        low, high = tilted.log_mass(0.0)
        assert arb(low) <= truth.log1p() <= arb(high)
        assert abs(arb(tilted.total) / (1 + truth) - 1) <= arb(tilted.doubt(0.0))
        if by_weight:
            return
        found = wrong(true, s, by_loss=by_loss, is_listed=True).looks([s, -s / 2])
        assert found is not None
        tilted_too, (look, _) = found
        assert truth <= arb(look.above)
        assert scale == 1 or tilted_too is not None
        if tilted_too is not None:
            low, high = tilted_too.log_mass(0.0)
            assert arb(low) <= truth.log1p() <= arb(high)


def test_what_is_missing_of_one_counts_where_little_is_left() -> None:
    """A loss so far below 0 that nothing is left of it, and hardly more of the others."""
    missing, loss = 1e-3, np.array([-5.0, -6.0])
    known = Points(np.array([0.5, 0.5 - missing]), np.zeros(2), 4 * UNIT, loss, np.zeros(2))
    low, high = known.tilted(1.0).log_mass(missing)
    truth = np.log(known.factor @ np.exp(loss))
    assert low <= truth <= high


def test_the_worst_errors_of_transforms_are_covered() -> None:
    """Points far from the centre too heavy and those at it too light; losses all too large; a point left out."""
    shares, loss = np.array([0.05, 0.9, 0.05]), np.array([-1.0, 0.0, 1.0])
    none = np.zeros(3)

    def off(known: Points, missing: float) -> tuple[float, float]:
        view = known.tilted(0.0).view(known.loss, known.loss_error, missing)
        found, bounds = view.transforms(np.pi, 1)
        truth = complex(shares @ np.exp(1j * np.pi * (loss - float(view.centre)))) - 1
        return abs(complex(found[0]) - truth), float(bounds[0])

    heavy = Points(shares * np.array([1.001, 0.999, 1.001]), none, 0.001, loss, none)
    moved = Points(shares, none, 0.0, loss + 0.001, np.full(3, 0.001 * (1 + 1e-9)))
    fewer = Points(shares * np.array([1.0, 1.0, 0.0]), none, 0.0, loss, none)
    for known, missing in ((heavy, 0.0), (moved, 0.0), (fewer, 0.05)):
        gap, bound = off(known, missing)
        assert 0 < gap <= bound


def test_wrong_losses_are_covered() -> None:
    """Losses and weights off by what is stated move ln M and the transform by less than what is claimed."""
    good = law(1.0)
    lost = np.full(30, 1e-7)
    stated = Points(good.factor, good.log_base, 1e-7, good.loss, lost)
    signs = RANDOM.choice([-1.0, 1.0], size=30)
    other = Points(good.factor * (1 + signs * 0.99e-7), good.log_base, 4 * UNIT, good.loss + signs * 0.99e-7, lost)
    for s in (-2.0, 1.0, 3.0):
        tilted, moved = stated.tilted(s), other.tilted(s)
        view = tilted.view(stated.loss, lost, 0.0)
        found, bounds = view.transforms(0.3, 40)
        shares = moved.weights / moved.weights.sum()
        for n in (1, 7, 40):
            angle = 0.3 * n * (other.loss - float(view.centre))
            truth = complex(shares @ np.exp(1j * angle)) - 1
            assert abs(truth - found[n - 1]) <= bounds[n - 1]
            assert bounds[n - 1] <= 1e-4


def test_the_centre_is_near_the_mean() -> None:
    points = law(1.0)
    view = points.tilted(1.0).view(points.loss, points.loss_error, 0.0)
    assert abs(float(np.real(view.weights) @ np.real(view.losses))) <= 1e-12
