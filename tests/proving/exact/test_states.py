"""Exact laws of whole programs."""

from fractions import Fraction
from math import comb

import pytest

from privately.errors import NotSupported
from privately.proving.exact import states
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import UNKNOWN, Quotient, fraction
from privately.proving.language.pythonic import read_python
from tests.proving.drawn import small_program
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


@pytest.mark.parametrize("seed", range(100, 140))
def test_laws_agree_with_all_ways_one_by_one(seed: int) -> None:
    given = {"x": (0, 1), "y": 1}
    text, expected = small_program(seed, given)
    law, _ = output_law(read_python(text), given)
    assert {output: fraction(mass) for output, mass in law.items()} == expected, text


def test_a_sum_of_many_coins_is_the_binomial_law() -> None:
    law, _ = output_law(read_python(SUM), {"x": (1,) * 300})
    wanted = {(10 + k,): Fraction(comb(300, k) * 3**k, 4**300) for k in range(301)}
    assert {output: fraction(mass) for output, mass in law.items()} == wanted


def test_a_sum_that_cannot_be_a_polynomial_is_followed_state_by_state() -> None:
    text = SUM.replace("s += v", "s += v / 2")
    law, _ = output_law(read_python(text), {"x": (1, 1)})
    assert {output: fraction(mass) for output, mass in law.items()} == law_by_running(text, {"x": (1, 1)})


def test_rejection_is_solved_for() -> None:
    text = """
def f(x):
    while True:
        i = uniform(4)
        if i < 3 and flip(1/2):
            return i + x
"""
    law, _ = output_law(read_python(text), {"x": 1})
    assert {output: fraction(mass) for output, mass in law.items()} == dict.fromkeys((1, 2, 3), Fraction(1, 3))


def test_a_walk_that_comes_back_is_solved_for() -> None:
    text = """
def ruin(start, top):
    x = start
    while 0 < x and x < top:
        if flip(1/3):
            x += 1
        else:
            x -= 1
    return x
"""
    law, _ = output_law(read_python(text), {"start": 2, "top": 5})
    assert fraction(law[5]) == Fraction(2**2 - 1, 2**5 - 1)  # the gambler's ruin


def test_exponentials_are_powers_of_one_unknown() -> None:
    text = """
def f(s):
    while True:
        i = uniform(2)
        if flip_exp(Fraction(i) / s):
            return i
"""
    law, unit = output_law(read_python(text), {"s": Fraction(3, 2)})
    assert unit == 3
    assert law[1] == Quotient.power(2) / (Quotient.power(2) + 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x):\n    while True:\n        x = x\n    return x\n", "line 2: a loop that never ends"),
        ("def f(x):\n    if flip():\n        return x\n", "without an output"),
        ("def f(x):\n    return x / 0\n", "line 2: a division by zero"),
        ("def f(x):\n    if flip():\n        y = 1\n    return y\n", "before it has a value"),
        ("def f(x):\n    return flip(x + 5)\n", "line 2: a coin with probability"),
        ("def f(x):\n    return uniform(0)\n", "outcomes"),
        ("def f(x):\n    return uniform_bits(40)\n", "too many to list"),
    ],
)
def test_refusals_say_the_line(text: str, message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        output_law(read_python(text), {"x": 0})


def test_noise_without_end_is_not_finite() -> None:
    with pytest.raises(NotFinite, match="line 2: discrete_laplace"):
        output_law(read_python("def f(x):\n    return x + discrete_laplace(1)\n"), {"x": 0})


def test_states_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_STATES", 1000)
    text = "def f(x):\n    n = 0\n    while flip():\n        n += 1\n    return n\n"
    with pytest.raises(NotSupported, match="more than 1000 states"):
        output_law(read_python(text), {"x": 0})


def test_an_open_parameter_needs_a_place() -> None:
    with pytest.raises(NotSupported, match="leaves"):
        output_law(read_python("def f(p):\n    return flip(p)\n"), {"p": UNKNOWN})
