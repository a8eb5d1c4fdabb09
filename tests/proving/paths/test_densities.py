"""Laws of sums of draws."""

from fractions import Fraction

import pytest
from flint import arb, ctx

from privately.errors import NotSupported
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, RoundedNormal
from privately.proving.paths import densities
from privately.proving.paths.densities import density, gaussian_variance, table
from privately.proving.paths.noise import Noise
from privately.proving.paths.piecewise import Piecewise, cumulative
from privately.rounding import Interval

LAPLACE, EXPONENTIAL = Noise("laplace", Fraction(2)), Noise("exponential", Fraction(3))


def moment(whole: Piecewise, power: int) -> arb:
    times = Piecewise((), ({(Fraction(0), power): arb(1)},))
    return cumulative(whole * times).total


@pytest.mark.parametrize(
    ("shares", "mean", "variance"),
    [
        ([(Fraction(1), LAPLACE)], 0, 8),
        ([(Fraction(1), LAPLACE), (Fraction(-1), LAPLACE), (Fraction(3), LAPLACE)], 0, 8 + 8 + 72),
        ([(Fraction(1), EXPONENTIAL), (Fraction(-2), EXPONENTIAL)], 3 - 6, 9 + 36),
        ([(Fraction(1), EXPONENTIAL), (Fraction(1), EXPONENTIAL), (Fraction(1, 2), LAPLACE)], 6, 18 + 2),
    ],
)
def test_densities_of_sums_have_the_moments_of_sums(
    shares: list[tuple[Fraction, Noise]], mean: int, variance: int
) -> None:
    whole = density(shares)
    assert moment(whole, 0).contains(1)
    assert moment(whole, 1).contains(mean)
    assert moment(whole, 2).contains(variance + mean**2)
    assert moment(whole, 0).rad() < 1e-9


def test_variances_add() -> None:
    normal = Noise("gaussian", Fraction(2))
    assert gaussian_variance([(Fraction(1), normal), (Fraction(-3), normal)]) == 4 + 36


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (Noise("discrete_laplace", Fraction(3, 2)), DiscreteLaplace(scale="3/2")),
        (Noise("discrete_exponential", Fraction(2)), DiscreteExponential(scale=2)),
        (Noise("geometric", Fraction(1, 3)), Geometric(success="1/3")),
        (Noise("geometric", Fraction(1)), Geometric(success=1)),
        (Noise("rounded_gaussian", Fraction(2)), RoundedNormal(standard_deviation=2)),
        (Noise("discrete_gaussian", Fraction(5)), DiscreteGaussian(variance=5)),
    ],
)
def test_tables_are_the_laws_we_draw_from(noise: Noise, law: object) -> None:
    with ctx.workprec(64):
        listed = table([(Fraction(1), noise)])
        assert sum(listed.masses, arb(0)) + listed.outside * arb(0.5, 0.5) - 1 < 1e-15
        assert (sum(listed.masses, arb(0)) + listed.outside * arb(0.5, 0.5)).contains(1)
    for k in (-3, 0, 1, 4):
        if listed.low <= k <= listed.high:
            known: Interval = law.pmf(k)  # type: ignore[attr-defined]
            mass = listed.masses[k - listed.low]
            assert abs(float(mass.mid()) - float(known.lower)) < 1e-12
    assert listed.outside < 1e-15


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_exponential", "geometric", "rounded_gaussian"])
def test_a_table_and_what_lies_outside_make_one(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(densities, "_reach", lambda _: 3)
    with ctx.workprec(80):
        short = table([(Fraction(1), Noise(law, Fraction(2, 3)))])
        assert (sum(short.masses, arb(0)) + short.outside).contains(1)


def test_masses_of_a_short_table_are_around_those_of_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    share = (Fraction(1), Noise("discrete_gaussian", Fraction(2)))
    with ctx.workprec(80):
        long = table([share])
        monkeypatch.setattr(densities, "_reach", lambda _: 2)
        short = table([share])
    assert all(
        mass.contains(long.masses[short.low + place - long.low].mid()) for place, mass in enumerate(short.masses)
    )
    assert short.outside > sum(long.masses[: short.low - long.low], arb(0))


def test_tables_of_sums_convolve() -> None:
    with ctx.workprec(64):
        listed = table(
            [(Fraction(1), Noise("geometric", Fraction(1, 2))), (Fraction(-2), Noise("geometric", Fraction(1, 2)))]
        )
        exact = sum(Fraction(1, 2 ** (k + 1)) * Fraction(1, 2 ** (2 * k + 4)) for k in range(200))
        assert abs(float(listed.masses[3 - listed.low].mid()) - float(exact)) < 1e-15


def test_tables_that_are_too_wide_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(densities, "WIDEST_TABLE", 100)
    with pytest.raises(NotSupported):
        table([(Fraction(1), Noise("discrete_laplace", Fraction(100)))])
    with pytest.raises(NotSupported):
        table([(Fraction(1, 2), Noise("geometric", Fraction(1, 2)))])
    with pytest.raises(NotSupported):
        table([(Fraction(1), LAPLACE)])


def test_sums_that_are_too_wide_are_refused() -> None:
    wide = (Fraction(1), Noise("discrete_laplace", Fraction(1000)))
    with ctx.workprec(72), pytest.raises(NotSupported, match="too wide"):
        table((wide, wide))
