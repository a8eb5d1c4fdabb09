"""Exact laws of whole programs."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.exact import states
from privately.proving.exact.places import Exponential
from privately.proving.exact.ratios import probability
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import mass_at
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import UNKNOWN, Quotient, fraction
from privately.proving.language.pythonic import read_python
from tests.proving.drawn import small_program
from tests.proving.windows import law_in_window


@pytest.mark.parametrize("seed", range(100, 140))
def test_laws_agree_with_all_ways_one_by_one(seed: int) -> None:
    given = {"x": (0, 1), "y": 1}
    text, expected = small_program(seed, given)
    law, _ = output_law(read_python(text), given)
    assert {output: fraction(mass) for output, mass in law.items()} == expected, text


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


def test_noise_without_exact_weights_is_not_finite() -> None:
    with pytest.raises(NotFinite, match="line 2: rounded_gaussian"):
        output_law(read_python("def f(x):\n    return x + rounded_gaussian(1)\n"), {"x": 0})


NOISY = {
    "clipped": "    return min(max(x + geometric(3/4) - geometric(1/2), 0), 3)\n",
    "copied": """    a = x + geometric(1/2)
    b = a + 1
    return [a > 2, b > 3, a + b == 7, a == b, a in [1, 4]]
""",
    "several": """    a = geometric(1/2)
    b = geometric(3/4) + x
    c = geometric(2/3)
    return [a < b, b <= c, abs(a - c) > 1]
""",
    "steps": """    a = 2 * geometric(1/2)
    b = 3 * geometric(3/4) - x
    return [a > b, a == b + 1, max(a, b, 4) == 4]
""",
    "prefixes": "    a = x + geometric(1/2)\n    b = a + geometric(3/4)\n    return [a, b, 2 * b - a, b > 3]\n",
    "told twice": "    a = geometric(1/2) - x\n    return [-a, a, a > 1]\n",
    "answers": "    a = x + geometric(1/2)\n    b = geometric(3/4)\n    return [a if a > b else -b, b > 1]\n",
    "rounds": """    bar = geometric(1/2)
    out = []
    for v in [x, 1, 2]:
        if v + geometric(3/4) > bar:
            out.append(v)
    return out
""",
    "waiting": """    n = 0
    while n + geometric(1/2) < 2 + x:
        n += 1
    return n
""",
    "largest": """    best = 0
    top = -1
    for i in range(3):
        noisy = i * x + geometric(3/4)
        if noisy > top:
            top = noisy
            best = i
    return best
""",
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("x", [0, 2])
def test_noise_without_end_agrees_with_a_window(name: str, x: int) -> None:
    assert agrees_with_a_window(NOISY[name], x, width=6 if name == "rounds" else 12)


def agrees_with_a_window(body: str, x: int, width: int = 12) -> bool:
    text = f"def f(x):\n{body}"
    law, _ = output_law(read_python(text), {"x": x})
    window, missing = law_in_window(text, {"x": x}, width)
    chances = {output: fraction(mass_at(law, output)) for output in window}
    whole = sum(fraction(mass) for mass in law.values()) == 1
    return whole and all(0 <= chances[output] - mass <= missing for output, mass in window.items())


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "answer",
    [
        "[a + x > b, a > -1]",
        "[a + x, 2 * b, a > 0]",
        "[max(a, 0), b if a > 1 else a]",
        "a + x + b",
        "max(a, b, x)",
        "[(a - b) // 2, (a - b) % 2]",
        "abs(3 * a + x) // 2",
        "2 * a < 3 * b",
    ],
)
def test_discrete_laplace_agrees_with_a_window(answer: str) -> None:
    text = f"def f(x):\n    a = discrete_laplace(1/2)\n    b = discrete_exponential(1/3)\n    return {answer}\n"
    law, unit = output_law(read_python(text), {"x": 1})
    window, missing = law_in_window(text, {"x": 1}, 12)
    assert missing < Fraction(1, 10**9)
    for output, mass in window.items():
        chance = probability(mass_at(law, output), Exponential(unit))
        assert mass - Fraction(1, 10**9) < chance.lower <= chance.upper < mass + missing + Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    a = geometric(1/2)\n    b = geometric(1/3)\n    return [a + b, a - b]\n", "ties several noises"),
        ("    return geometric(1/2) // 1009\n", "line 2: noise in steps that"),
        ("    return geometric(1/2) * geometric(1/2)\n", "line 2: the program multiplies two noises"),
        ("    return [1, 2][geometric(1/2)]\n", "line 2: the program uses noise"),
        ("    return geometric(1/2) > 10 ** 6\n", "line 2: a comparison with more than"),
        ("    return discrete_laplace(1/100) > 150\n", "too long to be written"),
        ("    n = 0\n    g = geometric(1/2)\n    while n <= g:\n        n += 1\n    return n > 3\n", "steps"),
        ("    return flip(geometric(1/2))\n", "whose size is noise"),
    ],
)
def test_noise_that_cannot_be_followed_is_refused(body: str, message: str) -> None:
    with pytest.raises(NotFinite, match=message):
        output_law(read_python(f"def f(x):\n{body}"), {"x": 0}, budget=states.Budget())


def test_an_open_parameter_needs_a_place() -> None:
    with pytest.raises(NotSupported, match="leaves"):
        output_law(read_python("def f(p):\n    return flip(p)\n"), {"p": UNKNOWN})
