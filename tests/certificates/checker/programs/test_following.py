"""The checker's laws of programs are those of the library, found by other code, and of all ways one by one."""

import random
from fractions import Fraction
from typing import Any

import pytest

from privately.certificates.checker.programs.exact import Beyond, fraction
from privately.certificates.checker.programs.following import Excluded, Follower
from privately.certificates.checker.programs.outputs import side_by_side
from privately.certificates.checker.programs.reading import read_program as read_flat
from privately.certificates.checker.programs.weights import Field, Weight
from privately.certificates.checker.rationals import Rational
from privately.certificates.checker.schema import Invalid
from privately.certificates.checker.work import Work
from privately.proving.exact import tails as library
from privately.proving.exact.encoding import Encoder
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import Quotient
from privately.proving.language.pythonic import read_python
from tests.endless import ends
from tests.proving.drawn import small_program

UNIT = 12


def follower(text: str, *, units: int = 30_000_000, unit: int = UNIT) -> tuple[Follower, Encoder]:
    encoder = Encoder(read_python(text))
    field = Field(unit, text.encode(), 256)
    return Follower(read_flat(encoder.data(), "program"), field, Work(units)), encoder


def plain(value: Any) -> Any:
    """A value of the library, as the checker has it."""
    if isinstance(value, tuple):
        return tuple(plain(one) for one in value)
    exact = Fraction(value)
    return fraction(exact.numerator, exact.denominator)


def law(text: str, inputs: dict[str, Any], **known: int) -> tuple[dict[Any, Weight], Follower]:
    made, encoder = follower(text, **known)
    return made.law({encoder.variables[name]: plain(value) for name, value in inputs.items()}), made


def is_the_same(weight: Weight, exact: Any, field: Field) -> bool:
    """Whether the interval holds the number, and the fingerprint is that of the quotient."""
    if not isinstance(exact, Quotient):
        number = Rational(int(exact.p), int(exact.q))
        inside = not weight.interval.above(number) and not (-weight.interval).above(-number)
        return inside and (weight.mark * number.denominator - number.numerator) % field.prime == 0
    above, below = (
        sum(int(one) * pow(field.point, k, field.prime) for k, one in enumerate(part.coeffs()))
        for part in (exact.numerator, exact.denominator)
    )
    if (weight.mark * below - above) % field.prime:
        return False
    t = field.power(1).interval
    values = []
    for part in (exact.numerator, exact.denominator):
        value = field.rational(0).interval
        for one in reversed(part.coeffs()):
            value = value * t + field.rational(int(one)).interval
        values.append(value)
    gap = weight.interval * values[1] - values[0]
    return gap.low <= 0 <= gap.high


def shown(value: Any) -> Any:
    """An output with its tails, in a form that both have."""
    if isinstance(value, library.Tail):
        return ("tail", plain(value.constant), plain(value.factors[0][1]))
    if isinstance(value, tuple) and value[:1] == ("tail",):
        return value
    return tuple(map(shown, value)) if isinstance(value, tuple) else plain(value)


def agree(text: str, inputs: dict[str, Any]) -> None:
    mine, made = law(text, inputs)
    theirs, unit = output_law(read_python(text), inputs, least_unit=UNIT)
    assert unit == UNIT
    laid, *_ = side_by_side(mine, {}, made.field, made.work)
    if laid is not mine:
        laid = {_built(shape, iter(leaves)): weight for (shape, leaves), weight in laid.items()}
    found = {shown(output): weight for output, weight in laid.items()}
    assert set(found) == {shown(output) for output in theirs}
    assert all(is_the_same(found[shown(output)], exact, made.field) for output, exact in theirs.items())


def _built(shape: Any, leaves: Any) -> Any:
    return next(leaves) if shape is None else tuple(_built(one, leaves) for one in shape)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs_have_the_law_of_all_their_ways(seed: int) -> None:
    inputs = {"x": (1, 0), "y": 2}
    text, ways = small_program(seed, inputs)
    found, made = law(text, inputs)
    assert {shown(output): weight.mark for output, weight in found.items()} == {
        shown(output): mass.numerator * pow(mass.denominator, -1, made.field.prime) % made.field.prime
        for output, mass in ways.items()
    }
    agree(text, inputs)


PROGRAMS = {
    "laplace": "def f(x):\n    return x + discrete_laplace(4)\n",
    "steps": "def f(x):\n    return [2 * discrete_laplace(4) + x, x - geometric(1/3) / 2]\n",
    "largest": """
def f(x):
    best = x
    where = 0
    for i in range(3):
        noisy = x * i + discrete_laplace(3)
        if i == 0 or noisy > best:
            best = noisy
            where = i
    return where
""",
    "gap": """
def f(x):
    a = discrete_exponential(2)
    b = x + discrete_exponential(2)
    return max(a, b) - min(a, b)
""",
    "equal": "def f(x):\n    a = geometric(1/2)\n    return a == discrete_laplace(6) + x\n",
    "clamped": "def f(x):\n    return min(max(x + discrete_laplace(2), 0), 3)\n",
    "retried": """
def f(x):
    a = 3
    while a > 2 - x:
        a = uniform(4) if flip_exp(1/3) else 3
    return a
""",
    "waiting": """
def f(x):
    n = 0
    while n < 2:
        if flip(1/3):
            n = n + 1
    return n + x
""",
    "lists": """
def f(x):
    a = [v ^ 1 for v in uniform_bits(3) if v == x]
    a.append(sum(a))
    return a[-1:] + [abs(-x), 7 // 2, -7 % 3]
""",
    "inside": "def f(x):\n    b = flip(1/4)\n    return [[v, b] for v in range(x + 1) if v in [0, 1] and not v == 5]\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("x", [0, 1])
def test_laws_are_those_of_the_library(name: str, x: int) -> None:
    agree(PROGRAMS[name], {"x": x})


@pytest.mark.parametrize("x", [0, 1])
def test_weights_sum_to_one(x: int) -> None:
    for text in PROGRAMS.values():
        found, made = law(text, {"x": x})
        assert sum(weight.mark for weight in found.values()) % made.field.prime == 1


def test_a_variable_that_was_forgotten_is_gone() -> None:
    encoder = Encoder(read_python("def f(x):\n    a = x\n    return a + 1\n"))
    data = encoder.data()
    data["blocks"][-1].insert(1, ["forget", encoder.variables["a"]])
    made = Follower(read_flat(data, "program"), Field(1, b"", 256), Work())
    with pytest.raises(Beyond, match="no value"):
        made.law({encoder.variables["x"]: 1})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def f(x):\n    while x >= 0:\n        x = 0\n    return x\n", "never ends"),
        ("def f(x):\n    if flip():\n        return 1\n    while x == 0:\n        x = 0\n    return 1\n", "never ends"),
        ("def f(x):\n    return 1 / x\n", "zero"),
        ("def f(x):\n    return flip(2)\n", "between 0 and 1"),
        ("def f(x):\n    return uniform(x)\n", "no outcomes"),
        ("def f(x):\n    return discrete_laplace(x)\n", "no such size"),
        ("def f(x):\n    return flip_exp(1/7)\n", "multiple of 1/unit"),
        ("def f(x):\n    return discrete_laplace(1) * discrete_laplace(1)\n", "noise"),
        ("def f(x):\n    return [x][3]\n", "no such entry"),
        ("def f(x):\n    return [1] < x\n", "list"),
    ],
)
def test_what_cannot_be_followed_is_said(text: str, why: str) -> None:
    with pytest.raises(Beyond, match=why):
        law(text, {"x": 0})


def test_a_loop_without_end_is_stopped() -> None:
    with pytest.raises(Invalid, match="more work"):
        law("def f(x):\n    while flip():\n        x = x + 1\n    return x\n", {"x": 0}, units=100_000)


def test_shared_expressions_cost_what_they_take() -> None:
    data: dict[str, Any] = {"variables": ["x"], "expressions": [["variable", 0]], "blocks": [[["return", 60]]]}
    for kind in ("and", "+", "list"):
        data["expressions"][1:] = [[kind, k, k] for k in range(60)]
        made = Follower(read_flat(data, "program"), Field(1, b"", 256), Work(100_000))
        with pytest.raises((Invalid, Beyond)):
            made.law({0: 1})


def test_an_assumption_that_fails_leaves_the_input_out() -> None:
    with pytest.raises(Excluded):
        law("def f(x):\n    assume(x > 0)\n    return x\n", {"x": 0})


def test_taking_states_away_in_any_order_gives_the_same() -> None:
    """A random walk with two ends: the chances are known."""
    text = "def f(x):\n    while x > 0 and x < 7:\n        x = x + 1 if flip(1/2) else x - 1\n    return x\n"
    for start in random.Random(7).sample(range(1, 7), 3):
        found, made = law(text, {"x": start})
        assert found[7].mark * 7 % made.field.prime == start


def _without_dividing(_: Follower, row: dict[Any, Weight], key: Any) -> None:
    row.pop(key, None)


def _first_of_all(_: Follower, table: dict[Any, Weight], key: Any, weight: Weight) -> None:
    table.setdefault(key, weight)


@pytest.mark.parametrize(("name", "fault"), [("_left", _without_dividing), ("_add", _first_of_all)])
def test_planted_faults_are_found(name: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that comes back and forgets to divide; states that meet and are not added up."""
    text = "def f(x):\n    n = 0\n    while n < 2:\n        n = x + 2 if flip(1/3) else uniform(4)\n    return n\n"
    agree(text, {"x": 1})
    monkeypatch.setattr(Follower, name, fault)
    with pytest.raises(AssertionError):
        agree(text, {"x": 1})


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    a = [0] * 90000\n    i = 0\n    while i < 9000:\n        i += 1\n    return a[x]\n",
        "def f(x):\n    a = [[0] * 9000] * 10\n    i = 0\n    while i < 9000:\n        i += 1\n    return a[x][x]\n",
        "def f(x):\n    a = [geometric(1/2)] * 9000\n    i = 0\n    while i < 9000:\n        i += 1\n    return a[x]\n",
    ],
)
def test_lists_in_states_are_work(text: str) -> None:
    with ends(), pytest.raises(Invalid, match="more work"):
        law(text, {"x": 1}, units=1_000_000)


@pytest.mark.parametrize("made", ["[[[0]*300]*300]*1000", "[[0]*400 for v in range(400)]", "[[0]*60000] + [[0]*60000]"])
def test_lists_inside_lists_have_a_longest_length_in_all(made: str) -> None:
    with pytest.raises(Beyond, match="too long"):
        law(f"def f(x):\n    a = {made}\n    return len(a)\n", {"x": 1})


BOMBS: dict[str, dict[str, Any]] = {
    "shared expressions": {
        "variables": ["x"],
        "expressions": [["number", "1/3"], *(["+", k, k] for k in range(60))],
        "blocks": [[["return", 60]]],
    },
    "many outcomes": {
        "variables": ["x", "a", "b"],
        "expressions": [["number", "10000"], ["variable", 2]],
        "blocks": [[["draw", 1, "uniform", 0], ["draw", 2, "uniform", 0], ["return", 1]]],
    },
    "long fractions": {
        "variables": ["x", "a"],
        "expressions": [
            ["number", f"1/{2**4000 + 1}"],
            ["number", "1"],
            ["variable", 1],
            ["-", 1, 2],
            ["<", 2, 1],
        ],
        "blocks": [[["assign", 1, 3]], [["assign", 1, 0], ["while", 4, 0], ["return", 1]]],
    },
    "lists compared": {
        "variables": ["x", "a", "i"],
        "expressions": [
            ["number", "0"],
            ["list", 0],
            ["number", "90000"],
            ["repeated", 1, 2],
            ["variable", 1],
            ["variable", 2],
            ["==", 4, 4],
            ["+", 5, 6],
            ["<", 5, 2],
        ],
        "blocks": [[["assign", 2, 7]], [["assign", 1, 3], ["assign", 2, 0], ["while", 8, 0], ["return", 0]]],
    },
}


@pytest.mark.parametrize("name", BOMBS)
def test_work_is_counted_as_long_as_it_takes(name: str) -> None:
    """A million units are a sixth of a second or so; without counting what is handled each would take minutes."""
    made = Follower(read_flat(BOMBS[name], "program"), Field(1, b"", 256), Work(1_000_000))
    with ends(), pytest.raises((Invalid, Beyond)):
        made.law({0: 1})


def test_every_handled_thing_is_work() -> None:
    """Counted, not timed: an outcome, an operator, an entry and a noise each take more than the program without."""

    def used(text: str) -> int:
        _, made = law(text, {"x": 1}, units=10_000_000)
        return 10_000_000 - made.work.left

    plain = used("def f(x):\n    return x\n")
    assert used("def f(x):\n    return x + 1\n") >= plain + 45
    assert used("def f(x):\n    return uniform(50) * 0 + x\n") >= plain + 50 * 25
    lists = [used(f"def f(x):\n    a = [x] * {n}\n    return a == a\n") for n in (10, 110)]
    assert lists[1] - lists[0] >= 2 * 5 * 100
    noises = [used(f"def f(x):\n    a = {' + '.join(['geometric(1/2)'] * n)}\n    return x\n") for n in (2, 12)]
    assert noises[1] - noises[0] >= 10 * 20
