"""The chances of two outcomes, on a lattice that the range fits, and on one that it does not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from privately.accounting.adaptive.chances import table

SIZES = [Fraction(1, 10), Fraction(1), Fraction(5)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("part", [Fraction(12), Fraction(59, 5)])
def test_chances_are_two_laws(size: Fraction, part: Fraction) -> None:
    chances = table(size, size / part)
    count = chances.cells + 1
    assert (chances.ups + chances.downs)[:count] == pytest.approx(np.ones(count), rel=1e-13)
    assert (chances.cheap + chances.dear)[:count] == pytest.approx(np.ones(count), rel=1e-13)
    assert chances.ups[-1] == 0 == chances.downs[0]
    assert chances.reach == -(-part // 1)
    e = mpf(size.numerator) / size.denominator
    for i in (1, 7, 11):
        t = e * i * part.denominator / part.numerator
        up = (mp.exp(e) - mp.exp(t)) / mp.expm1(e)
        assert abs(chances.ups[i] / up - 1) < chances.slack
        assert abs(chances.cheap[i] / (up * mp.exp(-t)) - 1) < chances.slack


def test_the_end_of_a_chord_is_between_two_places() -> None:
    """e^range = e^(cells step) (1 + rest (e^step - 1)), rounded down."""
    size, step = Fraction(1), Fraction(5, 59)
    chances = table(size, step)
    h, e = mpf(5) / 59, mpf(1)
    rest = mp.expm1(e - chances.cells * h) / mp.expm1(h)
    assert 0 < rest - chances.rest < 1e-14
    assert chances.nearest == 12
    assert table(size, Fraction(1, 12)).rest == 0
