"""The sum along the contour is a bound from both sides, also where its step is coarse; planted faults break it."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb
from mpmath import mp, mpf

from privately.accounting.contour import integral as module
from privately.accounting.contour import view as view_module
from privately.accounting.contour.expanding import Expansion
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import Layout, lay
from privately.accounting.contour.protocols import Law, Sketch
from privately.accounting.contour.saddle import Outline, Shape, for_epsilon, shape
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.sampled_laplace import Grid, SampledLaplace
from privately.accounting.losses import LaplaceLoss
from privately.guarantees.curves import gaussian_delta
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

MUS = [Fraction(1, 10), Fraction(1), Fraction(3)]
Build = Callable[[Layout], Layout]


def contour(mu: Fraction, epsilon: float, widen: float) -> Shape:
    """For a Gaussian; its step is `widen` times as wide as it should be."""
    outline = Outline([], float(mu * mu))
    saddle = for_epsilon(outline, epsilon)
    laid = shape(outline, saddle, epsilon, math.log(1e-3))
    return laid._replace(step=laid.step * widen)


def gaussian(mu: Fraction, epsilon: float, widen: float, change: Build = lambda layout: layout) -> Integral:
    return Integral(change(lay([], float(mu * mu), contour(mu, epsilon, widen), 1e-3)))


def held(integral: Integral, truth: Callable[[Fraction], tuple[mpf, mpf]], epsilon: float) -> bool:
    """Whether the bounds contain the truth at the float nearest to this epsilon."""
    s = float(Fraction(epsilon) - integral.centre)
    low, high = truth(integral.centre + Fraction(s))
    bounds = integral.bounds(s)
    return bool(mpf(bounds.lower) <= mp.log(high) and mp.log(low) <= mpf(bounds.upper))


def truth_of(mu: Fraction) -> Callable[[Fraction], tuple[mpf, mpf]]:
    def truth(epsilon: Fraction) -> tuple[mpf, mpf]:
        delta = gaussian_delta(mu, epsilon)
        return mpf(str(delta.lower)), mpf(str(delta.upper))

    return truth


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("widen", [0.5, 1.0, 2.0, 3.0, 5.0])
def test_the_sum_is_a_bound(mu: Fraction, widen: float) -> None:
    """Steps so coarse that the aliases are as large as the answer."""
    for scale in (-1.0, 0.0, 0.5, 2.0, 4.0, 6.0):
        epsilon = float(mu) * scale + float(mu * mu) / 2
        integral = gaussian(mu, epsilon, widen)
        for shift in (-0.3, 0.0, 0.3):
            assert held(integral, truth_of(mu), epsilon + shift * float(mu))


def test_it_is_narrow_where_it_should_be() -> None:
    integral = gaussian(Fraction(1), 3.0, 1.0)
    bounds = integral.bounds(float(3 - integral.centre))
    assert 0 < bounds.upper - bounds.lower < 0.01


def test_it_is_not_kept_when_nobody_needs_it() -> None:
    """With all points of its laws it would take much memory."""
    integral = gaussian(Fraction(1), 3.0, 1.0)
    integral.bounds(0.5)
    known = weakref.ref(integral)
    del integral
    assert known() is None


def broken(change: Build, widen: float) -> bool:
    """Whether some bound fails."""
    return not all(
        held(gaussian(mu, epsilon, widen, change), truth_of(mu), epsilon)
        for mu in MUS
        for epsilon in (float(mu) * 2.0 + float(mu * mu) / 2, float(mu) * 4.0)
    )


def test_aliases_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Integral, "_aliases", lambda self, epsilon, scale: 0.0)
    assert broken(lambda layout: layout, 2.0)


def test_truncation_is_needed() -> None:
    def cut(layout: Layout) -> Layout:
        return replace(layout, count=layout.count // 4, truncated=0.0)

    assert broken(cut, 0.5)


def test_the_tilt_is_needed() -> None:
    assert broken(lambda layout: replace(layout, log_mass=(0.0, 0.0)), 1.0)


def test_the_centre_has_its_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = module._exact_centre
    monkeypatch.setattr(module, "_exact_centre", lambda layout: -honest(layout))
    assert broken(lambda layout: layout, 1.0)


@pytest.mark.parametrize(("side", "shift"), [(1, 2.0), (0, -2.0)])
def test_one_side_of_the_aliases_is_not_enough(side: int, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: only the Chernoff bound from one height, where the aliases come from the other side."""
    honest = Layout.heights.func  # type: ignore[attr-defined]
    kept = property(lambda layout: tuple(sorted(honest(layout))[side : side + 1]))
    places = [(widen, shift * part) for widen in (1.5, 2.0, 3.0, 4.0) for part in (0.5, 1.0, 1.5, 2.0)]

    def results() -> list[bool]:
        return [held(gaussian(Fraction(1), 3.0, widen), truth_of(Fraction(1)), 3.0 + by) for widen, by in places]

    assert all(results())
    monkeypatch.setattr(Layout, "heights", kept)
    assert not all(results())


@dataclass
class Coarse:
    """The sampled Laplace on a grid of one's own."""

    law: SampledLaplace
    n: int

    def rough(self, highest: float) -> Sketch:
        return self.law.rough(highest)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Grid:
        return Grid.over(self.law, self.n)


EPSILON, RATE, BESIDE = 2.0, 0.25, 25.0


def beside_gaussian(removes: bool, place: Fraction) -> tuple[mpf, mpf]:
    """The profile of one sampled Laplace and one Gaussian: the mean over the first loss of the second's profile."""
    with mp.workdps(25):
        at, whole, rate = mpf(place.numerator) / place.denominator, mpf(EPSILON), mpf(RATE)

        def part(x: mpf) -> mpf:
            loss = mp.log1p(rate * mp.expm1(whole * (1 - 2 * x)))
            weight = mp.exp(-whole * (1 - x)) * (mp.exp(loss) if removes else 1)
            return weight * exact_transforms.gaussian_profile(mp.sqrt(BESIDE), at - (loss if removes else -loss))

        value = (part(mpf(0)) + part(mpf(1)) + whole * mp.quad(part, [0, 0.5, 1])) / 2
        return value * (1 - mpf(10) ** -18), value * (1 + mpf(10) ** -18)


def bounded(removes: bool, n: int, change: Build = lambda layout: layout) -> bool:
    """Whether the bounds contain the truth, with so few points for the sampled Laplace."""
    parts: list[tuple[Law, int]] = [(Coarse(SampledLaplace(epsilon=EPSILON, rate=RATE, removes=removes), n), 1)]
    outline = Outline(parts, BESIDE)
    saddle = for_epsilon(outline, 20.0)
    layout = lay(parts, BESIDE, shape(outline, saddle, 20.0, math.log(1e-8)), 1e-8)
    return held(Integral(change(layout)), lambda place: beside_gaussian(removes, place), 20.0)


@pytest.mark.parametrize("removes", [True, False])
def test_coarse_points_are_covered(removes: bool) -> None:
    for n in (24, 32, 64):
        assert bounded(removes, n)


@pytest.mark.parametrize("removes", [True, False])
def test_their_errors_are_needed(removes: bool) -> None:
    """Planted: far too few points that claim to be exact."""

    def bold(layout: Layout) -> Layout:
        few = Grid.over(SampledLaplace(epsilon=EPSILON, rate=RATE, removes=removes), 4)
        tilted = few.points.tilted(few.law.power(layout.c))
        view = tilted.view(few.points.loss if removes else -few.points.loss, few.points.loss_error, 0.0)
        return replace(layout, views=((replace(view, slope=0.0), 1),))

    assert not bounded(removes, 64, bold)


@pytest.mark.parametrize("removes", [True, False])
def test_the_other_direction_is_another_law(removes: bool) -> None:
    """Planted: the points of the other direction."""

    def swapped(layout: Layout) -> Layout:
        other = Grid.over(SampledLaplace(epsilon=EPSILON, rate=RATE, removes=not removes), 64)
        return replace(layout, views=((other.view(layout.c, layout.step * layout.count), 1),))

    assert not bounded(removes, 64, swapped)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_atoms_are_added(times: int) -> None:
    """Few steps of the Laplace mechanism, where the atoms do not die out. One step: delta = 1 - e^((epsilon-1)/2)."""
    parts = [(Laplaces.of([(LaplaceLoss(epsilon=Fraction(1)), times)]), 1)]
    outline = Outline(parts, 0.0)
    epsilon = 0.5
    saddle = for_epsilon(outline, epsilon)
    layout = lay(parts, 0.0, shape(outline, saddle, epsilon, math.log(1e-3)), 1e-3)
    assert layout.atoms is not None
    integral = Integral(layout)
    s = float(Fraction(1, 2) - integral.centre)
    bounds = integral.bounds(s)
    if times == 1:
        truth = math.log(-math.expm1(-0.25))
        assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower < 0.05
    part = layout.atoms.part(s)[0]
    assert part > 1e-3 * math.exp(bounds.lower - layout.log_mass[1] + integral.c * 0.5)


def sampled_layout(times: int, count: int) -> Layout:
    """A sum for a law alone whose points are exactly right."""
    parts = [(SampledGaussian(mu=1.0, rate=0.1, removes=True), times)]
    outline = Outline(parts, 0.0)
    saddle = for_epsilon(outline, 2.0)
    layout = lay(parts, 0.0, shape(outline, saddle, 2.0, math.log(1e-6)), 1e-6)
    ((view, _),) = layout.views
    return replace(layout, count=count, views=((replace(view, error=0.0, slope=0.0), times),))


def rounding_of(layout: Layout) -> tuple[float, float]:
    """How far the terms are off in all, and what is charged for it."""
    integral, (view, times) = Integral(layout), layout.views[0]
    gap = arb(0)
    with precision(300):
        points = list(zip(view.weights.tolist(), view.losses.tolist(), strict=True))
        for n, term in enumerate(integral.terms.tolist(), 1):
            z = acb(layout.c, arb(layout.step) * n)
            turns = (acb(p) * ((acb(0, 1) * arb(layout.step) * n * acb(loss)).exp() - 1) for p, loss in points)
            gap += abs((1 + sum(turns, acb(0))) ** times / (z * (z + 1)) - acb(term))
        return float(gap.upper()), integral.rounding


@pytest.mark.parametrize("times", [1, 50, 999, 10**5])
def test_a_law_alone(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds on errors that are not kept node by node hold, and are not far above those that are."""
    layout = sampled_layout(times, 12)
    gap, charged = rounding_of(layout)
    assert gap <= charged
    assert Integral(layout)._alone(Integral(layout).squares) is not None
    monkeypatch.setattr(Integral, "_alone", lambda self, shares: None)
    assert rounding_of(layout)[1] <= charged <= 20 * rounding_of(layout)[1]


def test_a_law_alone_that_is_hardly_known_is_left_to_the_nodes() -> None:
    layout = sampled_layout(1000, 12)
    ((view, times),) = layout.views
    integral = Integral(replace(layout, views=((replace(view, error=1e-3), times),)))
    assert integral._alone(integral.squares) is None


def test_the_rounding_of_a_law_alone_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = sampled_layout(10**5, 12)
    monkeypatch.setattr(module, "ERROR", 0.0)
    monkeypatch.setattr(module, "UNIT", 0.0)
    monkeypatch.setattr(view_module, "UNIT", 0.0)
    monkeypatch.setattr(view_module, "turn_error", lambda count: 0.0)
    gap, charged = rounding_of(layout)
    assert gap > charged


@pytest.mark.parametrize("times", [1, 7, 999, 10**5, 2**60 + 1])
def test_the_centre_as_a_float(times: int) -> None:
    layout = sampled_layout(999, 16)
    integral = Integral(replace(layout, views=tuple((view, times) for view, _ in layout.views)))
    assert integral.near_centre == float(integral.centre)


def test_the_ends_of_the_scale_are_outside() -> None:
    """K - c epsilon, in exact numbers."""
    integral = Integral(sampled_layout(999, 96))
    low, high = map(Fraction, integral.layout.log_mass)
    for k in range(-20, 21):
        s = k / 7
        away = Fraction(integral.c) * (integral.centre + Fraction(s))
        _, _, least, most = integral._known(s)
        assert Fraction(least) <= low - away <= high - away <= Fraction(most)


def test_far_from_where_it_was_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers that were left out are covered."""
    monkeypatch.setattr(Expansion, "reaches", lambda self, s, total: True)
    integral = Integral(sampled_layout(999, 4))
    near, last = integral._near(0.0), float(integral.places[-1])
    for x in (-0.9, -0.6, 0.6, 0.9):
        total, off, _, _ = integral._known(x / last)
        assert integral._near(x / last) is near
        value, grown, missing = near.bounded(x / last)
        whole = float((integral.terms * np.exp(-1j * integral.places * x / last)).real.sum())
        assert 1e-12 * whole < missing
        assert abs(value - whole) <= missing * (1 + 1e-2)
        assert off >= integral.step / math.pi * (missing + grown * integral.rounding)
        assert total == pytest.approx(integral.step / (2 * math.pi) * (integral.first + 2 * value), rel=1e-12)


def test_all_aliases_of_both_sides_are_counted() -> None:
    """Bounds that are powers of two, which are not rounded up: the sum of two geometric series, not less."""
    layout, twice = sampled_layout(999, 96), math.log(2) * (1 + 1e-6)
    apart = layout.step * twice / (2 * math.pi)
    levels = [(layout.c + sign * apart, (layout.c + sign * apart) * 2.0 - 10 * twice) for sign in (1, -1)]
    layout.__dict__["heights"] = tuple(levels)
    found = Integral(layout)._aliases(2.0, 0.0)
    assert found >= 2 * 2.0**-10 * (1 - 1e-4)  # each side: 2^-10 times 1/2 + 1/4 + ...


@pytest.mark.parametrize("wrong", [0, 1])
def test_errors_of_each_of_several_laws_count(wrong: int) -> None:
    parts: list[tuple[Law, int]] = [
        (SampledLaplace(epsilon=epsilon, rate=0.1, removes=True), times) for epsilon, times in ((1.0, 9), (0.5, 7))
    ]
    outline = Outline(parts, 0.25)
    saddle = for_epsilon(outline, 1.0)
    layout = lay(parts, 0.25, shape(outline, saddle, 1.0, math.log(1e-3)), 1e-3)
    honest, _ = Integral(layout)._transform()
    views = list(layout.views)
    view, times = views[wrong]
    views[wrong] = replace(view, weights=view.weights * 1.001, error=view.error + 0.002), times
    found, error = Integral(replace(layout, views=tuple(views)))._transform()
    assert (abs(found - honest) <= error).all()
    assert (error < 1).all()


def test_rough_bounds_are_near() -> None:
    integral = Integral(sampled_layout(999, 96))
    for s in (-0.1, 0.0, 0.1):
        found = integral.bounds(s)
        assert integral.roughly(s) == pytest.approx((found.lower, found.upper), rel=1e-12)
