"""Intervals of variances hold as often as they say, and are not much wider than the noise makes them."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privately.laws import DiscreteLaplace, RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query import spreads
from privately.query.spreads import Scale, Variances, laplace_width
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


def variances(laws: tuple[NoiseLaw, NoiseLaw], centre: int = 50) -> Variances:
    scale = Scale(
        law=laws[0],
        law_of_squares=laws[1],
        low=Fraction(-centre),
        high=Fraction(STEPS - centre),
        steps=STEPS,
        unit=Fraction(1),
        most=max(centre, STEPS - centre) ** 2,
    )
    return Variances(scale, CONFIDENCE)


def found(values: Any, laws: tuple[NoiseLaw, NoiseLaw], centre: int = 50) -> list[Interval | None]:
    exact = [values.sum(), (STEPS - values).sum(), ((values - centre) ** 2).sum()]
    noise = np.column_stack([drawn(laws[0]), np.roll(drawn(laws[1])[:, 0], 7)])
    looked = variances(laws, centre)
    return [looked.between(*sums) for sums in (noise + exact).tolist()]


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
    monkeypatch.setattr(spreads, "largest_weight", lambda *given: 0.0)
    laws = DiscreteLaplace(scale=400), DiscreteLaplace(scale=20)
    assert missed(VALUES["skew"], laws) > 0.3


def test_of_nobody_there_is_none() -> None:
    assert variances(LAPLACE).between(-3, 2, 9) is None
    assert variances(LAPLACE).between(7, 93, 43**2) == Interval(0, 2500)


@pytest.mark.parametrize("scales", [(1,), (1, 1), (3, 1), (1, 1, 1), (5, 4, 1), (10, 1, 0), (7, 7, 2)])
@pytest.mark.parametrize("doubt", [0.3, 0.05, 0.001])
def test_sums_of_laplace_noise_of_several_scales(scales: tuple[int, ...], doubt: float) -> None:
    """Against densities that are folded on a circle of 32,768 places."""
    grid = np.fft.fftfreq(2**15) * 2**15 / 100
    densities = [np.exp(-np.abs(grid) / scale) for scale in scales if scale]
    folded = np.prod([np.fft.fft(one / one.sum()) for one in densities], axis=0)
    density = np.fft.ifft(folded).real
    width = laplace_width(scales, Fraction(doubt))
    beyond = density[np.abs(grid) > width].sum()
    assert beyond <= doubt * 1.01
    assert density[np.abs(grid) > width * 0.93].sum() >= doubt


def test_doubts_that_doubles_do_not_hold() -> None:
    assert 900 < laplace_width([1.0], Fraction(1, 10**400)) < 930


@pytest.mark.parametrize("unit", [Fraction(1, 2**900), Fraction(2**900)])
def test_units_beyond_what_squares_of_doubles_hold(unit: Fraction) -> None:
    """Whatever the unit, it is the same variance."""
    scale = Scale(
        law=LAPLACE[0], law_of_squares=LAPLACE[1], low=-50 * unit, high=50 * unit, steps=100, unit=unit**2, most=2500
    )
    found = Variances(scale, CONFIDENCE).between(30_000, 20_000, 700_000)
    usual = variances(LAPLACE).between(30_000, 20_000, 700_000)
    assert found is not None
    assert usual is not None
    assert [float(Fraction(end) / unit**2) for end in found] == pytest.approx([float(end) for end in usual])


def test_far_from_the_centre_it_may_be_any() -> None:
    low, (law, other) = Fraction(10**400), LAPLACE
    scale = Scale(low=low, high=low + 1, steps=100, unit=Fraction(1), most=10**801, law=law, law_of_squares=other)
    assert Variances(scale, CONFIDENCE).between(300, 200, 1000) == Interval(0, 10**801)


def test_the_largest_weight_is_found() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        means, squares, (bound, _) = (np.sort(random.uniform(-2, 2, 2)).tolist() for _ in "msb")
        largest = spreads.largest_weight(bound, means, squares)
        inside = np.linspace(means[0], means[1], 9)[:, None]
        assert np.abs(2 * inside * (inside - bound) - np.array(squares)).max() <= largest


def test_scales_that_are_alike_have_a_width_too() -> None:
    """Where two scales are alike the formula has no value."""
    assert laplace_width([1.0, 1.0, 0.999], Fraction(1, 10)) < 1.1 * laplace_width([1.05, 1.0, 0.95], Fraction(1, 10))


@pytest.mark.parametrize("step", [1.0, 0.5, 0.01])
def test_rounding_moves_variances_by_no_more(step: float) -> None:
    """The mean is that of values rounded to steps, squares are of the values as they are: 0.51 five away from 5."""
    steps, unit = round(10 / step), Fraction(step) ** 2
    law = DiscreteLaplace(scale=Fraction(1, 50))
    scale = Scale(
        law=law,
        law_of_squares=law,
        low=Fraction(-5),
        high=Fraction(5),
        steps=steps,
        unit=unit,
        most=round(25 / unit),
        rounded=True,
    )
    refuted = 0
    for values in (np.full(9000, 0.51 * step), np.full(9000, 10 - 0.51 * step), RANDOM.uniform(0, 10, 9000)):
        above = int(np.rint(values / step).sum())
        sums = above, steps * len(values) - above, int(np.rint((values - 5) ** 2 / step**2).sum())
        interval, blind = (Variances(one, CONFIDENCE).between(*sums) for one in (scale, replace(scale, rounded=False)))
        assert interval is not None
        assert values.var() in interval
        assert blind is not None
        refuted += values.var() not in blind
    assert refuted
