"""Lists on a lattice, against a quadrature of two steps, the contour integral and sums over hits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting import contour
from privately.accounting.compositions import Composition
from privately.accounting.lattice.road import epsilon_of
from privately.accounting.little_noise import LITTLE_NOISE
from privately.accounting.losses import Direction, GaussianLoss, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from privately.accounting.spreading import LITTLE, SOME, on_lattice
from privately.accounting.spreading.lists import Losses
from privately.accounting.spreading.on_lattice import ListsOnLattice, listed_once
from privately.accounting.spreading.steps import mixed

WIDTH = Fraction(1, 10**6)
ANY = ListsOnLattice(Fraction(1), Fraction(400))


def steps(noise: str, rate: str, times: int, direction: Direction = "remove") -> Composition:
    law = SampledGaussianLoss(mu_squared=1 / Fraction(noise) ** 2, rate=Fraction(rate), direction=direction)
    return Composition(parts=((law, times),))


def two_steps(noise: str, rate: str, epsilon: int) -> Fraction:
    """The mean over the first step of the profile of the second, which is known where its ratio passes e^epsilon."""
    mp = mpmath.mp.clone()
    mp.dps = 30
    mu, q = 1 / mp.mpf(noise), mp.mpf(rate)

    def place(ratio: Any) -> Any:
        return (mp.log((ratio - 1 + q) / q) + mu * mu / 2) / mu

    def second(log_ratio: Any) -> Any:
        ratio = mp.exp(log_ratio)
        if ratio <= 1 - q:
            return 1 - ratio
        x = place(ratio)
        return q * mp.ncdf(mu - x) + (1 - q - ratio) * mp.ncdf(-x)

    def integrand(x: Any) -> Any:
        density = (1 - q) * mp.npdf(x) + q * mp.npdf(x - mu)
        return density * second(epsilon - mp.log(1 - q + q * mp.exp(mu * x - mu * mu / 2)))

    enough = place(mp.exp(epsilon) / (1 - q))
    edges = sorted([*range(-9, round(float(mu)) + 10), enough - mp.mpf("0.1"), enough, enough + mp.mpf("0.1")])
    return Fraction(str(mp.quad(integrand, edges, maxdegree=5)))


@pytest.mark.parametrize(("noise", "rate", "epsilon"), [("0.15", "0.001", 30)])
def test_answers_contain_independent_references(noise: str, rate: str, epsilon: int) -> None:
    truth = two_steps(noise, rate, epsilon)
    found = ANY.delta(steps(noise, rate, 2), Fraction(epsilon), WIDTH)
    assert found.lower <= truth <= found.upper
    assert found.width <= 3 * truth / 10**5
    back = ANY.epsilon(steps(noise, rate, 2), truth, WIDTH)
    assert back.lower <= epsilon <= back.upper
    assert back.width <= 2 * WIDTH * epsilon


@pytest.mark.parametrize(
    ("noise", "rate", "times", "delta"),
    [("0.164", "0.0112", 2803, "5.93e-10"), ("0.131", "0.311", 2951, "4.33e-11")],
)
def test_answers_contain_those_of_the_contour(noise: str, rate: str, times: int, delta: str) -> None:
    composition = steps(noise, rate, times)
    narrow = contour.FewSteps(is_last=False).epsilon(composition, Fraction(delta), WIDTH)
    found = ANY.epsilon(composition, Fraction(delta), WIDTH)
    assert found.lower <= narrow.lower <= narrow.upper <= found.upper
    assert found.width <= 10**-4 * found.lower


def test_answers_agree_with_sums_over_hits() -> None:
    composition = steps("0.08", "1e-5", 300)
    narrow = LITTLE_NOISE.epsilon(composition, Fraction(1, 10**9), WIDTH)
    found = ANY.epsilon(composition, Fraction(1, 10**9), WIDTH)
    assert found.lower <= narrow.lower <= narrow.upper <= found.upper
    assert found.width <= 2 * WIDTH * found.lower


@pytest.mark.parametrize("case", [("0.164", "0.0112", 2803, "5.93e-10")])
def test_neither_list_serves_for_the_other_side(
    case: tuple[str, str, int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With wide cells, each list is clearly on its side."""
    composition, delta = steps(*case[:3]), Fraction(case[3])
    narrow = contour.FewSteps(is_last=False).epsilon(composition, delta, WIDTH)
    monkeypatch.setattr(on_lattice, "_FINE", 600)
    ((law, times),) = composition.parts
    assert isinstance(law, SampledGaussianLoss)
    upper, lower = (epsilon_of([listed_once(law, times, side, 1e-20)], delta, WIDTH) for side in ("upper", "lower"))
    assert upper.lower > narrow.upper
    assert lower.upper < narrow.lower


def test_what_is_left_out_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of delta: without it the upper end would be below the truth."""
    composition, delta = steps("0.15", "0.3", 3), Fraction(1, 10**6)
    narrow = ANY.epsilon(composition, delta, WIDTH)
    monkeypatch.setattr(on_lattice, "_RARE", 0.1)
    assert ANY.epsilon(composition, delta, WIDTH).upper > narrow.upper

    def forgetful(*arguments: Any) -> Losses:
        return replace(mixed(*arguments), outside=0.0)

    monkeypatch.setattr(on_lattice, "mixed", forgetful)
    assert ANY.epsilon(composition, delta, WIDTH).upper < narrow.lower


@pytest.mark.slow
def test_rarely_sampled_steps_of_little_noise_are_narrow() -> None:
    for noise, rate, times, delta, wide in (
        ("0.155", "1e-5", 41, "1e-10", WIDTH),
        ("0.142", "6.80602e-05", 1562, "3.674e-5", 3 * WIDTH),
    ):
        step = acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate)
        found = acc.epsilon(acc.Repeat(event=step, times=times), delta)
        assert found.method == on_lattice.METHOD
        assert found.width <= wide * found.lower


def test_where_the_road_does_not_lead() -> None:
    for composition in (
        steps("0.15", "0.1", 5, "add"),
        steps("0.2", "0.1", 5),
        steps("0.15", "0.1", 1),
        steps("0.15", "1e-40", 10),
        Composition(parts=((GaussianLoss(mu_squared=Fraction(50)), 5),)),
        Composition(parts=(*steps("0.15", "0.1", 5).parts, *steps("0.14", "0.1", 5).parts)),
    ):
        with pytest.raises(NotApplicable):
            LITTLE.epsilon(composition, Fraction(1, 10**6), WIDTH)
    with pytest.raises(NotApplicable):
        SOME.epsilon(steps("0.25", "0.1", 5), Fraction(1, 10**150), WIDTH)
