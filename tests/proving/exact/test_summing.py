"""Sums that loops add to, as polynomials in the weights."""

from fractions import Fraction
from math import comb

import pytest

from privately.proving.exact import summing
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import Quotient, fraction
from privately.proving.language.pythonic import read_python
from tests.proving.ways import law_by_running

SUM = """
def total(x):
    s = 10
    for v in x:
        if flip():
            s += v
        else:
            s += flip()
    return [s]
"""


def test_a_sum_of_many_coins_is_the_binomial_law() -> None:
    law, _ = output_law(read_python(SUM), {"x": (1,) * 300})
    wanted = {(10 + k,): Fraction(comb(300, k) * 3**k, 4**300) for k in range(301)}
    assert {output: fraction(mass) for output, mass in law.items()} == wanted


def test_a_sum_that_cannot_be_a_polynomial_is_followed_state_by_state() -> None:
    text = SUM.replace("s += v", "s += v / 2")
    law, _ = output_law(read_python(text), {"x": (1, 1)})
    assert {output: fraction(mass) for output, mass in law.items()} == law_by_running(text, {"x": (1, 1)})


def test_a_sum_with_exponentials_is_followed_state_by_state() -> None:
    text = "def f(x):\n    n = 0\n    for v in range(2):\n        n += flip_exp(x)\n    return n\n"
    law, _ = output_law(read_python(text), {"x": 1})
    assert law[2] == Quotient.power(2)


def test_the_long_way_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summing.SumFollower, "rounds", lambda *_: pytest.fail("followed state by state"))
    law, _ = output_law(read_python(SUM), {"x": (1, 0, 1)})
    assert {output: fraction(mass) for output, mass in law.items()} == law_by_running(SUM, {"x": (1, 0, 1)})


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """States that forget their sum at the start."""
    monkeypatch.setattr(summing, "_integer", lambda value: int(value) if value < 9 else 0)
    law, _ = output_law(read_python(SUM), {"x": (1, 0)})
    assert {output: fraction(mass) for output, mass in law.items()} != law_by_running(SUM, {"x": (1, 0)})
