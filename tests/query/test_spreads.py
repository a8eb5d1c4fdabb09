"""Intervals of variances hold as often as they say, and are not much wider than the noise makes them."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query import spreads
from privately.query.spreads import Moments, laplace_width, variance_between
from privately.rounding import Interval

STEPS, DRAWS = 100, 400
CONFIDENCE = Fraction(9, 10)
LAPLACE = DiscreteLaplace(scale=400), DiscreteLaplace(scale=9000)
NORMAL = RoundedNormal(standard_deviation=400), RoundedNormal(standard_deviation=9000)
RANDOM = np.random.default_rng(17)
VALUES = {
    "even": RANDOM.integers(0, STEPS + 1, 500),
    "skew": np.minimum(RANDOM.geometric(0.1, 500), STEPS),
    "narrow": np.clip(np.rint(RANDOM.normal(50, 4, 500)), 0, STEPS).astype(int),
    "two": np.repeat([0, STEPS], [30, 90]),
    "few": np.array([3, 90, 91, 95]),
}


def drawn(law: NoiseLaw) -> Any:
    """Noise of a law, DRAWS times; the same in every run."""
    random = np.random.default_rng(5)
    if isinstance(law, RoundedNormal):
        return np.rint(random.normal(0, float(law.standard_deviation), (DRAWS, 2))).astype(int)
    odds = -np.expm1(-1 / float(law.scale))
    return random.geometric(odds, (DRAWS, 2)) - random.geometric(odds, (DRAWS, 2))


def moments(values: Any, laws: tuple[NoiseLaw, NoiseLaw], noise: tuple[int, int, int], centre: int = 50) -> Moments:
    above, below = int(values.sum()), int((STEPS - values).sum())
    return Moments(
        above=above + noise[0],
        below=below + noise[1],
        squares=int(((values - centre) ** 2).sum()) + noise[2],
        law=laws[0],
        law_of_squares=laws[1],
        low=Fraction(-centre),
        high=Fraction(STEPS - centre),
        steps=STEPS,
        unit=Fraction(1),
        most=max(centre, STEPS - centre) ** 2,
    )


def found(values: Any, laws: tuple[NoiseLaw, NoiseLaw], centre: int = 50) -> list[Interval | None]:
    pairs, (_, of_squares) = drawn(laws[0]), laws
    others = np.roll(drawn(of_squares)[:, 0], 7)
    noises = zip(pairs[:, 0].tolist(), pairs[:, 1].tolist(), others.tolist(), strict=True)
    return [variance_between(moments(values, laws, noise, centre), CONFIDENCE) for noise in noises]


def missed(values: Any, laws: tuple[NoiseLaw, NoiseLaw], centre: int = 50) -> float:
    exact = values.var()
    return (
        sum(
            one is not None and not one.lower - 1e-9 <= exact <= one.upper + 1e-9 for one in found(values, laws, centre)
        )
        / DRAWS
    )


@pytest.mark.parametrize("laws", [LAPLACE, NORMAL])
@pytest.mark.parametrize("name", VALUES)
def test_variances_are_found_as_often_as_stated(name: str, laws: tuple[NoiseLaw, NoiseLaw]) -> None:
    """One in ten may be missed: more than 175 of 1,000 would be five standard deviations off."""
    assert missed(VALUES[name], laws) <= 0.175
    assert missed(VALUES[name], laws, centre=20) <= 0.175


@pytest.mark.parametrize("name", ["even", "skew", "narrow"])
def test_they_are_not_much_wider_than_they_must_be(name: str) -> None:
    values, laws = VALUES[name], (DiscreteLaplace(scale=100), DiscreteLaplace(scale=2000))
    ends = np.array([(float(one.lower), float(one.upper)) for one in found(values, laws) if one is not None])
    needed = np.quantile(np.abs(ends.mean(axis=1) - values.var()), 0.9)
    assert np.median(ends[:, 1] - ends[:, 0]) <= 1.3 * 2 * needed


def test_the_noise_of_the_squares_alone_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planted: as if the mean and the count were exact."""
    monkeypatch.setattr(spreads, "_largest_weight", lambda *given: Fraction(0))
    laws = DiscreteLaplace(scale=400), DiscreteLaplace(scale=20)
    assert missed(VALUES["skew"], laws) > 0.3


def test_of_nobody_there_is_none() -> None:
    assert variance_between(moments(np.array([], int), LAPLACE, (-3, 2, 9)), CONFIDENCE) is None
    assert variance_between(moments(np.array([7]), LAPLACE, (0, 0, 0)), CONFIDENCE) == Interval(0, 2500)


@pytest.mark.parametrize("scales", [(1,), (1, 1), (3, 1), (1, 1, 1), (5, 4, 1), (10, 1, 0), (7, 7, 2)])
@pytest.mark.parametrize("doubt", [0.3, 0.05, 0.001])
def test_sums_of_laplace_noise_of_several_scales(scales: tuple[int, ...], doubt: float) -> None:
    """Against densities that are folded on a circle of 32,768 places."""
    grid = np.fft.fftfreq(2**15) * 2**15 / 100
    densities = [np.exp(-np.abs(grid) / scale) for scale in scales if scale]
    folded = np.prod([np.fft.fft(one / one.sum()) for one in densities], axis=0)
    density = np.fft.ifft(folded).real
    width = float(laplace_width([Fraction(one) for one in scales], 1 - Fraction(doubt)))
    beyond = density[np.abs(grid) > width].sum()
    assert beyond <= doubt * 1.01
    assert density[np.abs(grid) > width * 0.93].sum() >= doubt


def test_doubts_that_doubles_do_not_hold() -> None:
    rare = 1 - Fraction(1, 10**400)
    assert 900 < laplace_width([Fraction(1)], rare) < 930


def test_wide_noise_has_a_width_too() -> None:
    """Numbers beyond all doubles."""
    large = Fraction(2**1100)
    assert large < laplace_width([large, Fraction(1), large / 3], CONFIDENCE) < 10 * large


def test_the_largest_weight_is_found() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        means, squares = (sorted(Fraction(int(one)) for one in random.integers(-9, 10, 2)) for _ in "ms")
        bound = Fraction(int(random.integers(-9, 10)))
        largest = spreads._largest_weight(bound, means, squares)
        inside = [means[0] + (means[1] - means[0]) * Fraction(part, 8) for part in range(9)]
        assert all(abs(2 * d * (d - bound) - one) <= largest for d in inside for one in squares)


def test_cells_are_different() -> None:
    """Where two scales are alike the formula has no value."""
    for one, other in combinations([Fraction(1), Fraction(1), Fraction(999, 1000)], 2):
        assert laplace_width([one, other, one], CONFIDENCE) > 0
