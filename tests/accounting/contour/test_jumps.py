"""Rarely sampled Gaussians: epsilon and delta beside a high-precision integral, and what comes of jumps."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx

from privately import accounting as acc
from privately.accounting import spreading
from privately.accounting.compositions import Composition, compositions
from privately.accounting.contour import cutting, jumps
from privately.accounting.contour.jumps import FEW_JUMPS, JUMPS, MORE_JUMPS, JumpIntegral, Jumps, JumpWhole
from privately.accounting.contour.laying import Whole
from privately.accounting.contour.road import exp_of
from privately.accounting.contour.saddle import Saddle, Shape
from privately.accounting.contour.splitting import split_where
from privately.accounting.contour.two_integrals import Both
from privately.accounting.losses import GaussianLoss, LaplaceLoss, Loss, SampledGaussianLoss, SampledLaplaceLoss
from privately.accounting.questions import Road
from privately.accounting.roads import NotApplicable
from tests.accounting.contour.exact_transforms import precision, sampled_laplace

WIDTH = Fraction(1, 10**6)
BESIDE: tuple[tuple[Loss, int], ...] = (
    (GaussianLoss(mu_squared=Fraction(1, 10**4)), 1),
    (SampledLaplaceLoss(epsilon=Fraction(1, 2), rate=Fraction(0.01), direction="remove"), 20),
)
HALF = (
    SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 1000), direction="remove"),
    SampledGaussianLoss(mu_squared=Fraction(2), rate=Fraction(1, 2000), direction="remove"),
)


def steps(multiplier: str, rate: str, times: int) -> Composition:
    law = SampledGaussianLoss(mu_squared=1 / Fraction(multiplier) ** 2, rate=Fraction(rate), direction="remove")
    return Composition(parts=((law, times),))


def exact_delta(composition: Composition, places: list[Fraction], c: int, period: int, reach: int) -> list[arb]:
    """D at these epsilons: the integral along Re z = c with many digits, of the whole law, without any split."""
    before, ctx.prec = ctx.prec, 140
    try:
        laws = []
        for law, times in composition.parts:
            assert isinstance(law, SampledGaussianLoss)
            mu = arb(law.mu_squared.numerator).sqrt() / arb(law.mu_squared.denominator).sqrt()
            rate = arb(law.rate.numerator) / law.rate.denominator
            height = arb(1) / 2
            points = []
            for place in range(-190, 450):
                x = acb(arb(place) / 16, height)
                loss = (1 + rate * ((mu * x - mu * mu / 2).exp() - 1)).log()
                turn = (acb(0, 2 * arb.pi() / period) * loss).exp()
                points.append([(-x * x / 2 + (c + 1) * loss).exp() / 16 / (2 * arb.pi()).sqrt(), turn])
            laws.append((points, times))
        found = [acb(0) for _ in places]
        for n in range(reach * period // 6):
            z, whole = acb(c, 2 * arb.pi() * n / period), acb(1)
            for points, times in laws:
                total = acb(0)
                for point in points:
                    total += point[0]
                    point[0] *= point[1]
                whole *= total**times
            part = whole / (z * (z + 1)) * (1 if n else arb(1) / 2)
            for place, epsilon in enumerate(places):
                found[place] += part * (-z * (arb(epsilon.numerator) / epsilon.denominator)).exp()
        return [2 * one.real / period for one in found]
    finally:
        ctx.prec = before


@pytest.mark.parametrize(
    ("composition", "delta", "setting"),
    [
        (steps("1", "0.001", 200), "1e-8", (3, 13, 700)),
        pytest.param(steps("0.7", "1e-4", 10_000), "1e-5", (2, 16, 1500), marks=pytest.mark.slow),
        pytest.param(
            Composition(parts=((HALF[0], 150), (HALF[1], 100))), "1e-7", (3, 16, 2400), marks=pytest.mark.slow
        ),
    ],
)
def test_answers_contain_the_truth(composition: Composition, delta: str, setting: tuple[int, int, int]) -> None:
    """The integral is too large by less than the first of its aliases, e^(-c period) times at most 1."""
    found = MORE_JUMPS.epsilon(composition, Fraction(delta), WIDTH)
    assert found.width <= WIDTH * found.upper / 10
    middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
    at = [Fraction(found.lower), Fraction(found.upper), middle]
    low, high, near = (float(one.mid()) for one in exact_delta(composition, at, *setting))
    slack = 2 * math.exp(-setting[0] * setting[1])
    assert low >= float(Fraction(delta))
    assert high - slack <= float(Fraction(delta))
    other = MORE_JUMPS.delta(composition, middle, Fraction(1, 10**5))
    assert other.lower <= near
    assert near - slack <= other.upper
    assert other.width <= Fraction(1, 10**5) * other.upper


def at_different_rates(multiplier: str, number: int) -> Composition:
    rates = [Fraction(1, 1000 + place) for place in range(number)]
    return Composition(parts=tuple(part for rate in rates for part in steps(multiplier, str(rate), 1).parts))


def float_deltas(composition: Composition, places: list[float], c: int, period: int, reach: int) -> list[float]:
    """As `exact_delta` in floats, whose errors are next to nothing beside 10^-7 of these deltas, all laws at once."""
    laws = [law for law, _ in composition.parts if isinstance(law, SampledGaussianLoss)]
    mu = np.array([[math.sqrt(law.mu_squared)] for law in laws])
    x = np.arange(-190, 450) / 16 + 0.5j
    loss = np.log1p(np.array([[float(law.rate)] for law in laws]) * np.expm1(mu * x - mu * mu / 2))
    points = np.exp(-x * x / 2 + (c + 1) * loss) / 16 / math.sqrt(2 * math.pi)
    turns, found = np.exp(2j * math.pi / period * loss), np.zeros(len(places))
    for n in range(reach * period // 6):
        z = complex(c, 2 * math.pi * n / period)
        part = complex(np.prod(points.sum(axis=1))) / (z * (z + 1)) * (1 if n else 0.5)
        found += (part * np.exp(-z * np.array(places))).real
        points = points * turns
    return [2 * one / period for one in found.tolist()]


@pytest.mark.parametrize(
    ("composition", "delta", "setting"),
    [
        (at_different_rates("1", 100), "1e-6", (4, 11, 900)),
        pytest.param(at_different_rates("0.8", 70), "1e-5", (3, 14, 900), marks=pytest.mark.slow),
        pytest.param(at_different_rates("1", 300), "1e-7", (3, 13, 500), marks=pytest.mark.slow),
    ],
)
def test_many_different_rates(composition: Composition, delta: str, setting: tuple[int, int, int]) -> None:
    """Narrow, and at both ends delta is what an integral over the laws as they are says."""
    found = JUMPS.epsilon(composition, Fraction(delta), WIDTH)
    assert found.width <= WIDTH * found.upper / 10
    low, high = float_deltas(composition, [float(found.lower), float(found.upper)], *setting)
    assert low >= float(delta) * (1 - 1e-8)
    assert high <= float(delta) * (1 + 1e-8)
    assert low < float(delta) * (1 + 1e-6)
    back = JUMPS.delta(composition, Fraction(found.upper), WIDTH)
    assert float(back.lower) * (1 - 2e-8) <= high <= float(back.upper) * (1 + 2e-8)
    assert back.width <= WIDTH * back.upper


def test_where_few_take_part() -> None:
    """Known before by Renyi divergences only: [0.034, 1.51] and [0.003, 1.19]."""
    found = MORE_JUMPS.epsilon(steps("0.7", "1e-5", 100_000), Fraction(1, 10**8), WIDTH)
    assert 0.05785633 < found.lower < found.upper < 0.05785634
    found = MORE_JUMPS.epsilon(steps("0.5", "1e-5", 10_000), Fraction(1, 10**8), WIDTH)
    assert found.lower > 0.91
    assert found.width < WIDTH * found.upper


def laid(composition: Composition, delta: float) -> Both:
    sums = jumps._Sums(composition, math.log(delta), 300.0)
    return sums.at(sums.first_guess(math.log(delta)), math.log(delta))


def of_jumps(composition: Composition) -> JumpIntegral:
    found = laid(composition, 1e-6).jumps
    assert isinstance(found, JumpIntegral)
    return found


def brute(integral: JumpIntegral, w: float) -> complex:
    """The transform of jumps at w as `_transform` has it, by fine sums over real x; beside it, BESIDE if anything."""
    x = np.arange(-11, 30, 2.0**-12)
    whole = alone = complex(math.exp(-w * w * integral.layout.gaussian / 2))
    for view, times in integral.layout.views[len(integral.grids) :]:
        with precision(200):
            high, low = (sampled_laplace(0.5, 0.01, True, complex(integral.c, at)) for at in (w, 0.0))
            one = complex(high / low * (acb(0, -w) * acb(float(view.centre))).exp())
        whole, alone = whole * one**times, alone * one**times
    for (near, _, times), (view, _) in zip(integral.grids, integral.layout.views, strict=False):
        law = near.law
        loss = np.log1p(law.rate * np.expm1(law.mu * x - law.mu**2 / 2))
        growth = np.exp(np.minimum(law.split.steepness * (x - law.split.at), 300.0))
        base = np.exp(-x * x / 2 + (integral.c + 1) * loss) * 2.0**-12 / math.sqrt(2 * math.pi)
        turned = np.exp(1j * w * (loss - float(view.centre)))
        scale = (base * np.exp(-growth)).sum()
        kept = (base * np.exp(-growth) * turned).sum() / scale
        jumped = (base * -np.expm1(-growth) * turned).sum() / scale
        whole, alone = whole * (kept + jumped) ** times, alone * kept**times
    return complex((whole - alone) / integral.often)


@pytest.mark.parametrize(
    "composition",
    [
        steps("0.7", "1e-3", 500),
        Composition(parts=((HALF[0], 150), (HALF[1], 99))),
        Composition(parts=(*BESIDE, *steps("0.7", "1e-3", 500).parts)),
    ],
)
def test_the_transform_of_jumps(composition: Composition) -> None:
    integral = of_jumps(composition)
    values, errors = integral._transform()
    for n in (0, 1, 7, len(values) // 4):
        assert abs(values[n] - brute(integral, integral.places[n])) <= errors[n] + 1e-11
    assert errors[7] < 1e-8


@pytest.mark.parametrize("beside", [(), BESIDE])
def test_jumps_beyond_the_last_frequency(beside: tuple[tuple[Loss, int], ...]) -> None:
    """What is claimed there is above what is there."""
    integral = of_jumps(Composition(parts=(*steps("0.7", "1e-3", 500).parts, *beside)))
    for part in (0.3, 0.6, 1.0):
        count = max(int(part * integral.layout.count), 1)
        cut = JumpIntegral.__new__(JumpIntegral)
        cut.grids, cut.ratios, cut.often = integral.grids, integral.ratios, integral.often
        cut.beside = integral.beside
        layout = replace(integral.layout, count=count)
        last = layout.step * count
        there = max(abs(brute(integral, w)) for w in np.linspace(last, 1.5 * last, 7))
        assert cut._truncated(layout) >= there / (math.pi * last)


def test_masses_of_jumps_at_other_heights() -> None:
    """prod (N + J)^T - prod N^T, from enclosures of N and J, where near losses have a good deal less than all."""
    law, b = split_where(HALF[1], 0.05), 0.05
    near, jumped = law.grid(b, 2 * b, 0.0, 40.0), law.jumps(b, 2 * b, 34.0)
    (low, high), mass = near.log_mass(b), jumped.mass(b)[0]
    assert high < -0.01
    for times in (3, 100, 5000):
        whole = JumpWhole([(near, jumped, times)], Whole([], 0.0, b))
        often = times * math.log1p(mass * math.exp(-high))
        truth = times * low + often + math.log(-math.expm1(-often))
        assert truth <= whole.log_mass_above(b) <= truth + 0.01


def test_errors_of_near_losses_are_errors_of_jumps() -> None:
    """One point too many, which is turned by half a turn at every step: as wrong as is stated."""
    integral = of_jumps(steps("0.7", "1e-3", 500))
    off = 1e-6
    ((view, times),) = integral.layout.views
    weights, losses = np.append(view.weights, off), np.append(view.losses, math.pi / integral.step)
    wrong = replace(view, weights=weights, losses=losses, error=view.error + 2 * off)
    honest, _ = integral._transform()
    moved = JumpIntegral(replace(integral.layout, views=((wrong, times),)), integral.grids)
    found, errors = moved._transform()
    scale = moved.often / integral.often
    assert (abs(found * scale - honest) <= errors * scale).all()
    assert abs(found[0] - honest[0]) > 1e-4
    (jumped,) = integral.jump_views
    weights, losses = np.append(jumped.weights, off), np.append(jumped.losses, math.pi / integral.step)
    integral.jump_views = [replace(jumped, weights=weights, losses=losses, error=jumped.error + 2 * off)]
    found, errors = integral._transform()
    assert (abs(found - honest) <= errors).all()
    assert abs(found[0] - honest[0]) > 1e-7


def test_where_the_transform_of_one_step_is_next_to_nothing() -> None:
    """Nothing may be divided by it; the errors are as small as elsewhere."""
    integral = of_jumps(steps("0.7", "1e-3", 500))
    integral.step, integral.places = 500 * integral.step, 500 * integral.places
    values, errors = integral._transform()
    ((view, _),) = integral.layout.views
    assert abs(1 + view.transforms(integral.step, 64)[0]).min() < 0.2
    for n in (0, 1, 7, len(values) // 4):
        assert abs(values[n] - brute(integral, integral.places[n])) <= errors[n] + 1e-11
    assert errors[7] < 1e-6


@pytest.mark.parametrize("beside", [(), BESIDE])
def test_jumps_beyond_the_last_frequency_by_the_theorem(beside: tuple[tuple[Loss, int], ...]) -> None:
    integral = of_jumps(Composition(parts=(*steps("0.7", "1e-3", 500).parts, *beside)))
    layout, last = integral.layout, integral.layout.step * integral.layout.count
    falls, often, total, rest = last**2 * layout.gaussian / 2, 0.0, 0.0, 0.0
    for grid, times in integral.beside.grids:
        falls += times * float(grid.decay(layout.c, np.array([last]))[0])
    for (near, jumped, times), (ratio, _) in zip(integral.grids, integral.ratios, strict=True):
        fall = float(near.decay(layout.c, np.array([last]))[0])
        falls, often, total = falls + times * fall, often + times * ratio * math.exp(fall), total + times * ratio
        rest += times * ratio * jumped.rest(layout.c, last)
    bounds = [math.exp(often - falls) * often, math.exp(total) * rest]
    assert integral._truncated(layout) >= min(bounds) / integral.often / (math.pi * last)


def test_forgotten_jumps_are_found_out() -> None:
    """Without what comes of jumps, upper ends would be below the truth."""
    composition, delta = steps("1", "0.001", 200), Fraction(1, 10**8)
    true = Fraction(MORE_JUMPS.epsilon(composition, delta, WIDTH).lower)
    sums = jumps._Sums(composition, math.log(delta), 300.0)
    both = sums.at(float(true), math.log(delta))
    assert both.upper(true) >= delta
    assert Fraction(exp_of(both.near.upper(float(true - both.near.centre))).upper) < delta * Fraction(9, 10)


@pytest.mark.parametrize(
    ("beside", "other_road"),
    [
        (BESIDE, cutting),
        pytest.param(BESIDE, spreading, marks=pytest.mark.slow),
        pytest.param(((GaussianLoss(mu_squared=Fraction(1, 100)), 1),), spreading, marks=pytest.mark.slow),
        pytest.param(((LaplaceLoss(epsilon=Fraction(1, 10)), 30),), spreading, marks=pytest.mark.slow),
    ],
)
def test_other_laws_beside(
    beside: tuple[tuple[Loss, int], ...], other_road: Road, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Narrow, never apart from another road; and without what is beside the jumps they would be."""
    composition, delta = Composition(parts=(*beside, *steps("0.7", "1e-5", 10_000).parts)), Fraction(1, 10**8)
    road = Jumps((30.0,), (1.0,))
    found, other = road.epsilon(composition, delta, WIDTH), other_road.epsilon(composition, delta, WIDTH)
    assert found.width <= WIDTH * found.upper
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
    back = road.delta(composition, middle, WIDTH)
    assert back.lower <= delta * (1 + Fraction(1, 10**4))
    assert back.upper >= delta * (1 - Fraction(1, 10**4))
    monkeypatch.setattr(JumpIntegral, "_others", lambda self: iter(()))
    wrong = road.epsilon(composition, delta, WIDTH)
    assert wrong.upper < found.lower or wrong.lower > found.upper


def test_refusals() -> None:
    with pytest.raises(NotApplicable, match="so few steps"):
        MORE_JUMPS.epsilon(steps("1", "1e-5", 10), Fraction(1, 10**6), WIDTH)
    with pytest.raises(NotApplicable, match="no sampled Gaussians"):
        MORE_JUMPS.epsilon(steps("1", "0.001", 10), Fraction(1, 10**6), WIDTH)
    with pytest.raises(NotApplicable, match="no sampled Gaussians"):
        MORE_JUMPS.epsilon(Composition(parts=((LaplaceLoss(epsilon=Fraction(1)), 100),)), Fraction(1, 10**6), WIDTH)


def test_deltas_out_of_the_range_of_floats_are_no_error() -> None:
    for law in (("0.7", "1e-5", 100_000), ("1", "0.3", 500)):
        with pytest.raises(NotApplicable):
            JUMPS.epsilon(steps(*law), Fraction(1, 10**4000), WIDTH)
    with pytest.raises(NotApplicable, match="delta is too small"):
        jumps._Sums(steps("3.74", "0.0007825", 303), math.log(1e-9), 1.0).at(0.1, -4000.0)


def test_all_splits_lead_to_the_same() -> None:
    """Jumps that are 30 times and 0.01 times as probable as delta: all rather narrow, and never disjoint."""
    composition, delta = steps("0.7", "1e-5", 100_000), Fraction(1, 10**8)
    found = [road.epsilon(composition, delta, WIDTH) for road in (JUMPS, MORE_JUMPS, Jumps((0.01,), (1.0,)))]
    assert max(one.lower for one in found) <= min(one.upper for one in found)
    assert all(one.width <= 10 * WIDTH * one.upper for one in found)
    assert not set(JUMPS.often) & set(MORE_JUMPS.often)


@pytest.mark.parametrize(("variance", "wanted"), [(-1e-20, 5.0), (1e-6, -5.0)])
def test_a_variance_that_rounding_made_negative_is_no_error(variance: float, wanted: float) -> None:
    """As at noise 3.74, rate 0.0007825, 303 times and delta 6.6e-209."""
    sums = jumps._Sums(steps("3.74", "0.0007825", 303), math.log(1e-9), 1.0)
    laid = Shape(Saddle(2.0, 1e-6, 1e-6, variance), 0.1, 1.0, 1.0, 3.0)
    assert sums._short(laid, wanted) is None


RESPONSES = compositions(acc.Repeat(event=acc.RandomizedResponse(epsilon="0.909", categories=2), times=2))[0].parts
SMALL = [
    (steps("2.317", "0.01", 200).parts, "1e-58"),
    (((LaplaceLoss(epsilon=Fraction(1, 16)), 54), *steps("2.239", "0.0016", 1338).parts), "1e-44"),
    ((*steps("2.361", "0.00032", 44).parts, *steps("13.773", "0.00066", 280).parts, *RESPONSES), "1e-46"),
]
"""Where all of delta comes of losses that are unlikely together."""


@pytest.mark.parametrize(("parts", "delta"), SMALL)
def test_small_deltas_are_narrow(parts: tuple[tuple[Loss, int], ...], delta: str) -> None:
    found = JUMPS.epsilon(Composition(parts=parts), Fraction(delta), WIDTH)
    assert found.width <= 2 * WIDTH * found.upper
    for often in (300.0, 3e6):
        other = Jumps((often,), (1.0,)).epsilon(Composition(parts=parts), Fraction(delta), WIDTH)
        assert other.lower <= found.upper
        assert found.lower <= other.upper


def test_a_small_delta_beside_many_digits() -> None:
    """Aliases and what is beyond the last frequency are some 10^-10 of it."""
    parts, delta = SMALL[0]
    found = JUMPS.epsilon(Composition(parts=parts), Fraction(delta), WIDTH)
    places = [Fraction(found.lower), Fraction(found.upper)]
    low, high = (float(one.mid()) for one in exact_delta(Composition(parts=parts), places, 36, 6, 600))
    assert high <= float(delta) <= low
    assert low <= float(delta) * (1 + 1e-5)


@pytest.mark.slow
def test_few_steps_beside_others() -> None:
    """Narrow, and within what lists of losses in cells know; alone they are left to a lattice."""
    composition = Composition(parts=((LaplaceLoss(epsilon=Fraction(3, 5)), 1), *steps("1.6", "0.0012", 13).parts))
    found = FEW_JUMPS.epsilon(composition, Fraction(1, 10**30), WIDTH)
    other = spreading.epsilon(composition, Fraction(1, 10**30), WIDTH)
    assert found.width <= WIDTH * found.upper
    assert other.lower <= found.lower <= found.upper <= other.upper
    with pytest.raises(NotApplicable):
        FEW_JUMPS.epsilon(steps("1.6", "0.0012", 13), Fraction(1, 10**30), WIDTH)
    with pytest.raises(NotApplicable, match="no sampled Gaussians"):
        JUMPS.epsilon(composition, Fraction(1, 10**30), WIDTH)
