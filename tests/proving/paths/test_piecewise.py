"""Piecewise sums of powers times exponentials."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from mpmath import mp, quad

from privately.proving.paths.piecewise import Piecewise, ball, cumulative, evaluated, evaluated_at, middles

HALF = Fraction(1, 2)
DENSITY = Piecewise((Fraction(0),), ({(HALF, 0): ball(Fraction(1, 4))}, {(-HALF, 0): ball(Fraction(1, 4))}))
BUMP = Piecewise((Fraction(-1), Fraction(2)), ({}, {(Fraction(0), 1): arb(1), (Fraction(1), 2): arb(3)}, {}))


def value(function: Piecewise, place: float) -> float:
    return float(evaluated(function.piece(Fraction(place)), Fraction(place)).mid())


def test_products_and_limits_hold_at_every_place() -> None:
    product = (DENSITY * BUMP).within(Fraction(-1, 2), Fraction(1))
    for place in (-3.0, -0.75, -0.25, 0.3, 0.9, 1.5, 3.0):
        wanted = value(DENSITY, place) * value(BUMP, place) if -0.5 < place < 1 else 0.0
        assert value(product, place) == pytest.approx(wanted)


def test_cumulative_is_the_integral() -> None:
    summed = cumulative(DENSITY * BUMP.within(None, Fraction(1)))
    mp.dps = 20

    def density(s: float) -> float:
        return float(mp.exp(-abs(s) / 2) / 4 * (s + 3 * s**2 * mp.exp(s)))

    assert float(summed.total.mid()) == pytest.approx(float(quad(density, [-1, 0, 1])))
    for end in (-0.5, 0.25, 0.75):
        assert value(summed.values, end) == pytest.approx(float(quad(density, [-1, 0, end] if end > 0 else [-1, end])))


def test_integrals_between_moving_lines() -> None:
    summed = cumulative(DENSITY)
    lowers, uppers = [(Fraction(1), Fraction(-1)), (Fraction(0), Fraction(-2))], [(Fraction(-2), Fraction(3))]
    between = summed.between(lowers, uppers)
    mp.dps = 20
    for place in (-7.0, -1.5, 0.1, 0.9, 1.2, 5.0):
        low, high = max(place - 1, -2.0), -2 * place + 3
        wanted = (
            float(quad(lambda s: mp.exp(-abs(s) / 2) / 4, sorted({low, min(max(0, low), high), high})))
            if low < high
            else 0.0
        )
        assert value(between, place) == pytest.approx(wanted, abs=1e-12)


def test_complex_places_agree_with_real_ones() -> None:
    terms = {(Fraction(-1, 3), 2): arb(5), (Fraction(0), 1): arb(-1)}
    assert evaluated_at(terms, ball(Fraction(7, 5))).overlaps(evaluated(terms, Fraction(7, 5)))


def test_a_density_that_does_not_fade_is_refused() -> None:
    with pytest.raises(ArithmeticError):
        cumulative(Piecewise((), ({(Fraction(0), 0): arb(1)},)))


def test_middles_lie_inside() -> None:
    assert middles(()) == [0]
    assert middles((Fraction(0), Fraction(1))) == [-1, HALF, 2]
    with ctx.workprec(200):
        assert ball(Fraction(1, 3)).rel_accuracy_bits() >= 190
