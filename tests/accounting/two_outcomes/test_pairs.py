"""Two outcomes at every order."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.pairs import TwoOutcomes, concentration

PAIRS = [("0.3", "0.1"), ("0.7", "0.2"), ("0.9", "0.05"), ("0.501", "0.499"), ("1e-6", "1e-9"), ("0.6", "0.4")]
ORDERS = [Fraction(n, 40) for n in range(-400, 0)] + [Fraction(41 + n, 40) for n in range(400)]


def apart(pair: TwoOutcomes, t: Fraction) -> mpf:
    """F(t), by its definition."""
    with mp.workdps(40):
        p, q, t = mpf(str(pair.p)), mpf(str(pair.q)), mpf(t.numerator) / t.denominator
        if t in {0, 1}:
            p, q = (p, q) if t else (q, p)
            return p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q))
        return mp.log(p**t * q ** (1 - t) + (1 - p) ** t * (1 - q) ** (1 - t)) / (t * (t - 1))


def order_of_the_summit(pair: TwoOutcomes) -> Fraction:
    return max(ORDERS, key=lambda t: apart(pair, t))


def pair_of(texts: tuple[str, str]) -> TwoOutcomes:
    return TwoOutcomes(Decimal(texts[0]), Decimal(texts[1]))


@pytest.mark.parametrize("texts", PAIRS)
def test_divergences_contain_the_truth(texts: tuple[str, str]) -> None:
    pair = pair_of(texts)
    for t in (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-3), Fraction(7, 2), Fraction(10**9 + 1, 10**9)):
        found = pair.apart(t)
        assert found.lower <= Decimal(mp.nstr(apart(pair, t), 20)) * (1 + Decimal("1e-15"))
        assert found.upper >= Decimal(mp.nstr(apart(pair, t), 20)) * (1 - Decimal("1e-15"))
        assert found.upper - found.lower < found.upper * Decimal("1e-30")


@pytest.mark.parametrize("texts", PAIRS)
def test_no_order_is_above_the_concentration(texts: tuple[str, str]) -> None:
    pair = pair_of(texts)
    highest = max(apart(pair, t) for t in [*ORDERS, Fraction(0), Fraction(1)])
    found = concentration(pair, max(order_of_the_summit(pair), Fraction(1)))
    assert highest * (1 - mpf(10) ** -25) <= mpf(str(found)) < highest * (1 + mpf(10) ** -3)


@pytest.mark.parametrize("texts", PAIRS)
def test_one_summit(texts: tuple[str, str]) -> None:
    """All of it rises, and then falls; where p + q <= 1 not before 1/2."""
    pair = pair_of(texts)
    values = [apart(pair, Fraction(n, 8)) for n in range(-80, 90)]
    top = values.index(max(values))
    assert values[: top + 1] == sorted(values[: top + 1])
    assert values[top:] == sorted(values[top:], reverse=True)
    assert top >= 80 + 4


def test_a_wrong_order_is_refused() -> None:
    """A hint that is far off is not believed: the bound is the same, or there is none."""
    pair = pair_of(("1e-6", "1e-9"))
    right = concentration(pair, order_of_the_summit(pair))
    for wrong in (Fraction(100), Fraction(10**6)):
        assert concentration(pair, wrong) == pytest.approx(right, rel=Decimal("1e-8"))
    with pytest.raises(NotApplicable, match="not near this order"):
        concentration(pair, Fraction(11, 10))


@pytest.mark.parametrize(("p", "q"), [("0.9", "0.2"), ("0.99", "0.5")])
def test_the_larger_direction_is_not_forgotten(p: str, q: str) -> None:
    """Where p + q > 1 the other direction is the larger one: refused, since nobody asks for it."""
    with pytest.raises(NotApplicable, match="other direction"):
        concentration(pair_of((p, q)), Fraction(2))


@pytest.mark.parametrize(("p", "q"), [("0.1", "0.1"), ("0.1", "0.2"), ("1", "0.5"), ("0.5", "0")])
def test_only_probabilities_that_differ(p: str, q: str) -> None:
    with pytest.raises(NotApplicable, match="cannot be told apart"):
        pair_of((p, q))


def test_what_a_pair_reveals() -> None:
    pair = pair_of(("0.3", "0.1"))
    assert pair.delta(Fraction(0)).contains(Fraction(2, 10))
    assert float(pair.epsilon(Fraction(1, 10)).lower) == pytest.approx(math.log(2))
    with pytest.raises(NotApplicable, match="no more than delta"):
        pair.epsilon(Fraction(3, 10))
