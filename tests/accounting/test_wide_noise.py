"""Noise on the whole numbers between two laws on the line: each on its side, at the edge, and no wider than said."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately import accounting as acc
from privately.accounting import lattice
from privately.accounting.compositions import Composition, compositions
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.roads import NotApplicable
from privately.accounting.which_road import asked
from privately.accounting.wide_noise import (
    LEAST_VARIANCE,
    OFF,
    SPREAD,
    WideNoise,
    enclosed,
    event_on_the_line,
    on_the_line,
)
from privately.guarantees import Neighbors
from privately.rounding import Interval

ROAD = WideNoise(asked, narrow=Fraction(1, 30))
WIDTH = Fraction(1, 10**6)


def normal(x: mpf, variance: mpf) -> mpf:
    return mp.exp(-x * x / (2 * variance)) / mp.sqrt(2 * mp.pi * variance)


def theta(x: mpf, variance: mpf) -> mpf:
    near = int(mp.floor(x))
    far = int(mp.ceil(mp.sqrt(2 * variance * 70)))
    return mp.fsum(mp.exp(-((k - x) ** 2) / (2 * variance)) for k in range(near - far, near + far + 1))


def largest_off(variance: int, spread: int) -> mpf:
    """By how much, in logarithms, the laws of the two roundings are off at some places."""
    v, t = mpf(variance), mpf(spread)
    total = theta(mpf(0), v)
    found = []
    for k in (0, 7, 40):
        truth = mp.exp(-(mpf(k) ** 2) / (2 * v)) / total
        step, middle = mpf(1) / 5, k * (v - t) / v
        places = [middle + j * step for j in range(-105, 106)]  # smooth: a sum in place of the integral is exact here
        rounded = mp.fsum(normal(x, v - t) * mp.exp(-((k - x) ** 2) / (2 * t)) / theta(x, t) for x in places) * step
        found.append(abs(mp.log(truth / rounded)))
    for x in (mpf(0), mpf("0.5"), mpf("13.3")):
        centre = x * v / (v + t)
        near = range(int(centre) - 60, int(centre) + 61)
        added = mp.fsum(mp.exp(-(mpf(k) ** 2) / (2 * v)) * normal(x - k, t) for k in near) / total
        found.append(abs(mp.log(added / normal(x, v + t))))
    return max(found)


def test_normal_noise_is_on_its_side() -> None:
    """At the least variance both laws are off by less than said; with a third of the spread they would not be."""
    with mp.workdps(36):
        assert largest_off(int(LEAST_VARIANCE), int(SPREAD)) < mpf(OFF.numerator) / OFF.denominator
        assert largest_off(int(LEAST_VARIANCE), int(SPREAD) // 3) > 1000 * mpf(OFF.numerator) / OFF.denominator
        worst = 2 * mp.exp(-2 * mp.pi**2 * 300 / mpf(103)) * mpf("1.05")
        assert 3 * worst < mpf(OFF.numerator) / OFF.denominator


def laplace_profile(shift: float, alpha: float) -> float:
    """H_alpha of Laplace noise of scale 1 on a number that changes by `shift`, by the best half-line."""
    if alpha >= math.exp(shift):
        return 0.0
    if alpha <= math.exp(-shift):
        return 1 - alpha
    return 1 - math.exp((math.log(alpha) - shift) / 2)


def discrete_profile(scale: int, shift: int, alpha: float) -> float:
    k = np.arange(-60 * scale - shift, 60 * scale + 2 * shift)
    r = math.exp(-1 / scale)
    weights = (1 - r) / (1 + r) * np.exp(-np.abs(k) / scale)
    moved = (1 - r) / (1 + r) * np.exp(-np.abs(k - shift) / scale)
    return float(np.maximum(moved - alpha * weights, 0).sum())


@pytest.mark.parametrize(("scale", "shift"), [(1, 1), (1, 4), (3, 1), (3, 2), (10, 1), (10, 7), (10, 30)])
def test_laplace_noise_is_on_its_side(scale: int, shift: int) -> None:
    """At many ratios, below 1 too; a twentieth of what is added to the shift would not be enough."""
    alphas = np.exp(np.linspace(-1.2, 1.2, 97) * shift / scale)
    too_little = []
    for alpha in alphas.tolist():
        truth = discrete_profile(scale, shift, alpha)
        assert laplace_profile(shift / scale, alpha) <= truth + 1e-13
        assert truth <= laplace_profile((shift + 1 / scale) / scale, alpha) + 1e-13
        too_little.append(truth > laplace_profile((shift + 1 / (20 * scale)) / scale, alpha) + 1e-13)
    assert any(too_little)


def line_laws() -> list[tuple[Loss, Loss, Loss]]:
    """What stands above and below."""
    found: list[tuple[Loss, Loss, Loss]] = [
        (
            DiscreteGaussianLoss(variance=Fraction(400), sensitivity=20),
            GaussianLoss(mu_squared=Fraction(400, 397)),
            GaussianLoss(mu_squared=Fraction(400, 403)),
        ),
        (
            DiscreteLaplaceLoss(scale=Fraction(20), sensitivity=10),
            LaplaceLoss(epsilon=Fraction(201, 400)),
            LaplaceLoss(epsilon=Fraction(1, 2)),
        ),
    ]
    rate = Fraction(1, 5)
    for direction in DIRECTIONS:
        found += [
            (
                SampledDiscreteGaussianLoss(variance=Fraction(400), sensitivity=20, rate=rate, direction=direction),
                SampledGaussianLoss(mu_squared=Fraction(400, 397), rate=rate, direction=direction),
                SampledGaussianLoss(mu_squared=Fraction(400, 403), rate=rate, direction=direction),
            ),
            (
                SampledDiscreteLaplaceLoss(scale=Fraction(20), sensitivity=10, rate=rate, direction=direction),
                SampledLaplaceLoss(epsilon=Fraction(201, 400), rate=rate, direction=direction),
                SampledLaplaceLoss(epsilon=Fraction(1, 2), rate=rate, direction=direction),
            ),
        ]
    return found


@pytest.mark.parametrize("place", range(6))
def test_only_wide_noise_is_replaced(place: int) -> None:
    law, more, less = line_laws()[place]
    assert on_the_line(law, upward=True) == more
    assert on_the_line(law, upward=False) == less
    beside = response(Fraction(1))
    assert on_the_line(beside, upward=True) == beside
    above, below, off = ROAD.both(Composition(parts=((beside, 2), (law, 1))))
    assert dict(above.parts) == {more: 1, beside: 2}
    assert dict(below.parts) == {less: 1, beside: 2}
    assert off == (OFF if hasattr(law, "variance") else 0)
    with pytest.raises(NotApplicable):
        ROAD.both(Composition(parts=((beside, 2),)))
    with pytest.raises(NotApplicable):
        WideNoise(asked, narrow=Fraction(1, 10**4)).both(Composition(parts=((law, 1),)))


def test_factors_add_up_over_steps() -> None:
    law = DiscreteGaussianLoss(variance=Fraction(400), sensitivity=20)
    assert ROAD.both(Composition(parts=((law, 12),)))[2] == 12 * OFF
    with pytest.raises(NotApplicable):
        ROAD.both(Composition(parts=((law, 10**25),)))


Weights = tuple[np.ndarray, np.ndarray]


def noise_weights(law: Loss) -> Weights:
    """P and Q on the whole numbers, far enough."""
    k = np.arange(-700, 701)
    if isinstance(law, (DiscreteGaussianLoss, SampledDiscreteGaussianLoss)):
        variance = float(law.variance)

        def weight(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.exp(-(x**2) / (2 * variance)))
    else:
        assert isinstance(law, (DiscreteLaplaceLoss, SampledDiscreteLaplaceLoss))
        scale = float(law.scale)

        def weight(x: np.ndarray) -> np.ndarray:
            return np.asarray(np.exp(-np.abs(x) / scale))

    total = weight(k.astype(float)).sum()
    with_row, without = weight(k - float(law.sensitivity)) / total, weight(k.astype(float)) / total
    rate = float(getattr(law, "rate", 1))
    if getattr(law, "direction", "remove") == "remove":
        return (1 - rate) * without + rate * with_row, without
    return without, (1 - rate) * without + rate * with_row


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10)])
def test_answers_contain_exact_sums(place: int, epsilon: Fraction) -> None:
    """Two steps over all outcomes, and back again; hardly wider than the two sides are apart."""
    law = line_laws()[place][0]
    p, q = noise_weights(law)
    truth = float(np.maximum(np.outer(p, p) - math.exp(epsilon) * np.outer(q, q), 0).sum())
    composition = Composition(parts=((law, 2),))
    found = ROAD.delta(composition, epsilon, WIDTH)
    assert found.lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.upper
    assert found.width <= Fraction(3, 100) * found.upper
    back = ROAD.epsilon(composition, Fraction(truth), WIDTH)
    assert back.lower <= epsilon + Fraction(1, 10**7)
    assert epsilon <= back.upper + Fraction(1, 10**7)


def cases() -> dict[str, Callable[[], acc.Event]]:
    many = acc.DiscreteGaussian(variance=10**8, sensitivity=10**3)
    rare = acc.PoissonSample(event=acc.DiscreteGaussian(variance=10**8, sensitivity=10**4), rate="0.01")
    laplace = acc.PoissonSample(event=acc.DiscreteLaplace(scale=10**6, sensitivity=10**6), rate="0.01")
    return {
        "sums": lambda: acc.Repeat(event=many, times=100),
        "different": lambda: acc.Sequence(
            events=[many, acc.DiscreteGaussian(variance=3 * 10**8, sensitivity=700), acc.Laplace(scale=3)]
        ),
        "sampled": lambda: acc.Repeat(event=rare, times=1000),
        "laplace": lambda: acc.Repeat(event=laplace, times=100),
    }


@pytest.mark.parametrize("name", ["sums", "different", "sampled", "laplace"])
def test_fixed_point_sums_are_narrow(name: str) -> None:
    found = acc.epsilon(cases()[name](), "1e-5")
    assert 0 < found.width <= WIDTH * found.lower
    assert found.method.endswith("noise on the line")


def test_two_roads_agree_where_both_lead() -> None:
    """In the first place at this width, and beside loss distributions at a standard deviation of 1,000."""
    event = acc.Repeat(event=acc.DiscreteGaussian(variance=10**6, sensitivity=100), times=100)
    (composition,) = compositions(event)
    one, other = acc.epsilon(event, "1e-5", method="lattice"), ROAD.epsilon(composition, Fraction(1, 10**5), WIDTH)
    assert other.lower < one.lower <= one.upper < other.upper
    assert other.width <= Fraction(1, 10**5) * one.lower


def test_wide_noise_beside_other_losses_is_soon_told() -> None:
    """The mix for which a lattice took 5 s and 120 MB."""
    wide = acc.PoissonSample(event=acc.DiscreteGaussian(variance=3 * 10**6, sensitivity=2), rate="0.5")
    event = acc.Sequence(events=[acc.Laplace(scale=30), acc.Repeat(event=wide, times=100)])
    found = acc.epsilon(event, "1e-6")
    assert found.method.endswith("noise on the line")
    assert found.width <= found.lower / 10**6
    other = EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**3)).by(lattice, compositions(event)[0])
    assert other.lower <= found.upper
    assert found.lower <= other.upper


def test_infinite_losses_and_ends_of_the_scale() -> None:
    wide = acc.DiscreteGaussian(variance=10**8, sensitivity=10**4)
    twice = acc.Repeat(event=wide, times=2)
    assert acc.epsilon(twice, 0).lower == math.inf
    revealing = acc.Sequence(events=[twice, acc.Approx(epsilon=0, delta="0.001")])
    assert acc.delta(revealing, 3).lower > acc.delta(twice, 3).upper
    (composition,) = compositions(twice)
    nearly = ROAD.epsilon(composition, 1 - OFF / 100, WIDTH)
    assert nearly.lower == 0
    assert nearly.upper <= 10 * OFF
    assert asked(composition, DeltaAt(Fraction(0), WIDTH)).width <= WIDTH
    assert asked(composition, EpsilonAt(Fraction(1, 10**5), WIDTH)).width <= 10 * WIDTH


R = Neighbors.REPLACE
WIDE_EVENTS: list[acc.Event] = [
    acc.DiscreteGaussian(variance=120, sensitivity=3),
    acc.Repeat(event=acc.PoissonSample(event=acc.DiscreteGaussian(variance=400, sensitivity=20), rate="0.1"), times=10),
    acc.Sequence(
        events=[acc.DiscreteGaussian(variance=100), acc.DiscreteGaussian(variance=99), acc.Pure(epsilon="0.01")]
    ),
    acc.Parallel(events=[acc.DiscreteGaussian(variance=150), acc.DiscreteGaussian(variance=160, sensitivity=2)]),
    acc.Group(event=acc.DiscreteGaussian(variance=150), size=3),
    acc.FixedSizeSample(event=acc.DiscreteGaussian(variance=150, sensitivity=4, neighbors=R), size=2, population=5),
]


def always(found: Interval) -> Callable[[Question], Interval]:
    return lambda _: found


@pytest.mark.parametrize("event", WIDE_EVENTS, ids=str)
def test_events_on_the_line_are_on_their_sides(event: acc.Event) -> None:
    """At variances near 100 they are several per cent apart, so that the sides cannot be mixed up."""
    above, below = (event_on_the_line(event, upward=upward) for upward in (True, False))
    assert above.neighbors == below.neighbors == event.neighbors
    for delta in ("1e-2", "1e-6"):
        low, middle, high = (acc.epsilon(one, delta) for one in (below, event, above))
        assert low.upper < middle.lower
        assert middle.upper < high.lower
        found = enclosed(EpsilonAt(Fraction(delta), WIDTH), always(high), always(low), OFF)
        assert found.lower <= middle.lower <= middle.upper <= found.upper


@pytest.mark.slow
def test_many_different_discrete_noises() -> None:
    noises = [acc.DiscreteGaussian(variance=1000 + place) for place in range(1000)]
    normal = acc.Sequence(events=[acc.Gaussian(noise_multiplier=math.sqrt(one.variance)) for one in noises])
    found, near = acc.epsilon(acc.Sequence(events=noises), "1e-5"), acc.epsilon(normal, "1e-5")
    assert found.lower <= near.lower <= near.upper <= found.upper
    assert found.width < near.upper / 100
    told = acc.delta(acc.Sequence(events=noises), 3)
    assert told.lower <= acc.delta(normal, 3).lower <= acc.delta(normal, 3).upper <= told.upper < 2 * told.lower


def small(question: Question) -> Interval:
    """Of a law whose delta is e^-epsilon/8, exactly but for rounding."""
    if isinstance(question, DeltaAt):
        near = Fraction(math.exp(-question.epsilon) / 8)
    else:
        near = Fraction(-math.log(8 * question.delta))
    return Interval(near, near, method="known")


@pytest.mark.parametrize("off", [Fraction(1, 50), Fraction(1, 5)])
def test_factors_of_both_laws_move_both_ends(off: Fraction) -> None:
    """All probabilities of P too large and those of Q too small, or the other way: D(epsilon -+ 2 off) e^+-off."""
    width = Fraction(1, 10**6)
    for epsilon in (Fraction(0), Fraction(1, 100), Fraction(1), Fraction(3)):
        found = enclosed(DeltaAt(epsilon, width), small, small, off)
        assert found.lower <= math.exp(-epsilon - 3 * off) / 8 * (1 + 1e-12)
        y = epsilon - 2 * off
        there = math.exp(-y) / 8 if y >= 0 else 1 - math.exp(y) + math.exp(2 * y) / 8  # as of a symmetric pair
        assert found.upper >= min(there * math.exp(off), 1) * (1 - 1e-12)
    for delta in (Fraction(1, 100), Fraction(1, 10)):
        found = enclosed(EpsilonAt(delta, width), small, small, off)
        assert found.lower <= max(-math.log(8 * delta) - 3 * off, 0) + 1e-12
        assert found.upper >= -math.log(8 * delta) + 3 * off - 1e-12
