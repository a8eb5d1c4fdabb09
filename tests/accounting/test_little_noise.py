"""Sums over hits enclose the truth, by references that share nothing with them, and are hardly apart."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting import closed_forms, little_noise
from privately.accounting.compositions import Composition
from privately.accounting.little_noise import LITTLE_NOISE, Steps
from privately.accounting.losses import Direction, GaussianLoss, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

WIDTH = Fraction(1, 10**6)


def steps(mu: int, rate: str, times: int, direction: Direction = "remove") -> Composition:
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction=direction)
    return Composition(parts=((law, times),))


def tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def one_step(mu: float, rate: float, epsilon: float) -> float:
    """The profile of one step, from where the likelihood ratio passes e^epsilon."""
    if math.exp(epsilon) <= 1 - rate:
        return 1 - math.exp(epsilon)
    x = (math.log((math.exp(epsilon) - 1 + rate) / rate) + mu * mu / 2) / mu
    return rate * tail(x - mu) + (1 - rate - math.exp(epsilon)) * tail(x)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def two_steps(mu: float, rate: float, epsilon: float) -> float:
    """A mean over the first step, by Gauss's rule between places that crowd where the second is no longer needed."""
    enough = (math.log((math.exp(epsilon) / (1 - rate) - 1 + rate) / rate) + mu * mu / 2) / mu
    places = sorted([*np.arange(-10, mu + 10, 0.25), *(enough + sign * 0.5**k for k in range(40) for sign in (-1, 1))])
    total = 0.0
    for left, right in pairwise(places):
        half, middle = (right - left) / 2, (right + left) / 2
        for node, weight in zip(NODES.tolist(), WEIGHTS.tolist(), strict=True):
            x = middle + half * node
            density = (1 - rate) * math.exp(-x * x / 2) + rate * math.exp(-((x - mu) ** 2) / 2)
            loss = math.log(1 - rate + rate * math.exp(mu * x - mu * mu / 2))
            total += half * weight * density * one_step(mu, rate, epsilon - loss)
    return total / math.sqrt(2 * math.pi)


@pytest.mark.parametrize(("mu", "rate", "epsilon"), [(6, "0.1", 3), (10, "0.001", 50), (40, "0.3", 900)])
def test_both_sums_enclose_one_step(mu: int, rate: str, epsilon: int) -> None:
    composition = steps(mu, rate, 1)
    found = LITTLE_NOISE.delta(composition, Fraction(epsilon), WIDTH)
    truth = closed_forms.delta(composition, Fraction(epsilon), WIDTH)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper


@pytest.mark.parametrize(
    ("mu", "rate", "epsilon", "wide"),
    [(6, "0.1", 10, 0.5), (10, "0.01", 60, 1e-5), (10, "0.3", 70, 1e-5)],
)
def test_answers_contain_independent_references(mu: int, rate: str, epsilon: int, wide: float) -> None:
    truth = two_steps(mu, float(rate), epsilon)
    found = LITTLE_NOISE.delta(steps(mu, rate, 2), Fraction(epsilon), WIDTH)
    assert found.lower <= truth * (1 + 1e-8)
    assert truth * (1 - 1e-8) <= found.upper
    assert found.width <= wide * truth
    back = LITTLE_NOISE.epsilon(steps(mu, rate, 2), Fraction(truth), WIDTH)
    assert back.lower <= epsilon + 1e-6
    assert epsilon <= back.upper + 1e-6


def test_what_is_left_out_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without cells, without the surplus of large losses, and with twice what is taken off, it is below the truth."""
    truth = two_steps(6, 0.1, 10)
    assert Steps.of(steps(6, "0.1", 2), 0.01).above.above(Fraction(10)) > truth
    only_few = little_noise._sums
    with monkeypatch.context() as patch:
        patch.setattr(little_noise, "_sums", lambda cells: only_few(cells)[:1])
        assert Steps.of(steps(6, "0.1", 2), 0.01).above.above(Fraction(10)) < truth
    beyond = Steps._beyond
    with monkeypatch.context() as patch:
        patch.setattr(Steps, "_beyond", lambda *arguments: [*beyond(*arguments)] * 40)
        assert Steps.of(steps(10, "0.3", 2), 0.01).above.above(Fraction(70)) < two_steps(10, 0.3, 70)


def test_few_steps_of_little_noise_are_narrow() -> None:
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.1"), rate="0.001")
    found = acc.epsilon(acc.Repeat(event=step, times=100), "1e-6")
    assert found.width <= 2 * WIDTH * found.lower
    assert 185.25 < found.lower < 185.27
    step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.05"), rate="0.01")
    found = acc.epsilon(acc.Repeat(event=step, times=100), "1e-6")
    assert found.width <= WIDTH * found.lower / 10
    assert found.method == little_noise.METHOD


def test_far_beyond_all_losses() -> None:
    """Ends of some 10^11 digits are rounded outward before they are written out."""
    found = LITTLE_NOISE.delta(steps(10, "0.1", 1), Fraction(10**9), WIDTH)
    assert found.lower == 0
    assert 0 < found.upper < Fraction(1, 10**300)


def test_negative_sums_are_rounded_up() -> None:
    """A sum a little above a cell's loss belongs to the next one, also below 0."""
    losses = [Fraction(-3, 10), Fraction(-15, 100) + Fraction(5, 10**14), Fraction(4, 10)]
    cells = [(Enclosure.of(1), Enclosure.of(loss)) for loss in losses]
    pairs = little_noise._sums(cells)[2]
    lowest = [mass for mass, loss in pairs if loss.upper < float(2 * losses[1])]
    assert float(sum(lowest, Enclosure.of(0)).upper) == 3


def test_where_the_road_does_not_lead() -> None:
    for composition in (
        steps(10, "0.1", 5, "add"),
        steps(5, "0.1", 5),
        steps(10, "0.3", 10**6),
        Composition(parts=((GaussianLoss(mu_squared=Fraction(100)), 5),)),
        Composition(parts=(*steps(10, "0.1", 5).parts, *steps(12, "0.1", 5).parts)),
    ):
        with pytest.raises(NotApplicable):
            LITTLE_NOISE.epsilon(composition, Fraction(1, 10**6), WIDTH)
