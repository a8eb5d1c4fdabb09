"""Generating functions."""

from fractions import Fraction

from flint import fmpq, fmpq_poly

from privately.proving.exact.series import UNIT, Product, Series

COIN = Series(-1, fmpq_poly([fmpq(1, 4), fmpq(3, 4)]))


def test_terms_of_sums_and_products() -> None:
    assert dict(COIN.terms()) == {-1: fmpq(1, 4), 0: fmpq(3, 4)}
    assert dict((COIN * COIN).terms()) == {-2: fmpq(1, 16), -1: fmpq(3, 8), 0: fmpq(9, 16)}
    assert dict((COIN + UNIT.shifted(2)).terms()) == {-1: fmpq(1, 4), 0: fmpq(3, 4), 2: fmpq(1)}
    assert dict((COIN * fmpq(2)).terms()) == {-1: fmpq(1, 2), 0: fmpq(3, 2)}


def test_a_product_is_multiplied_out_when_somebody_looks() -> None:
    lazy = Product()
    for _ in range(5):
        lazy = lazy.times(COIN)
    lazy = lazy.times(UNIT.shifted(3))
    assert len(lazy.factors) == 2
    direct = COIN * COIN * COIN * COIN * COIN
    assert dict(lazy.expanded().terms()) == dict(direct.shifted(3).terms())
    assert sum(Fraction(int(mass.p), int(mass.q)) for _, mass in direct.terms()) == 1
