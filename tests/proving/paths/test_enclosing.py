"""Laws between two ends."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp
from random import Random

import pytest
from flint import arb

from privately.errors import NotSupported
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import fraction
from privately.proving.language.syntax import Value
from privately.proving.paths import enclosing, masses
from privately.proving.paths.cells import Cell, cells
from privately.proving.paths.enclosing import TooMuchWork, enclosed_law
from privately.proving.paths.events import Condition, Event, event_probability, exactly
from privately.proving.paths.exploring import explore
from privately.proving.paths.masses import Mass, is_shapeless
from privately.proving.paths.ranges import ANYTHING, hull
from privately.proving.reading import read_program
from privately.proving.running import run
from privately.rounding import Interval
from tests.proving.drawn import small_program

COUNTING = """def f(x: replaced(0, 1)):
    n = 0
    while flip(1/2) == 0:
        n += 1
    return n + x
"""
REJECTING = """def f(x: each(1)):
    y = x + laplace(1)
    while y < 0:
        y = x + laplace(1)
    return y
"""
SQUARED = "def f(x: each(1)):\n    y = x + laplace(1)\n    return y*y\n"
ROUNDED = "def f(x: each(1)):\n    return (x + discrete_laplace(1)) // 2\n"
LENGTHS = """def f(x: each(1)):
    out = []
    for i in range(max(0, x + discrete_laplace(1/2))):
        out.append(i)
    return out
"""
WALK = """def f(x: replaced(0, 1)):
    y = x
    while y > -3 and y < 3:
        y += 2*flip(1/2) - 1
    return y
"""
FLAGS = """def f(x: replaced(0, 1)):
    done = False
    n = 0
    while not done:
        z = x + discrete_laplace(1)
        if z == 0 or z > 3:
            done = True
        n += z % 2
    return n
"""
SCALED = "def f(x: each(1)):\n    s = 1 + geometric(1/2)\n    return x + laplace(s)\n"
TABLE = "def f(x: each(1)):\n    return [5, 7, 11][(x + discrete_laplace(1)) % 3]\n"
VAGUE = "def f(x: each(1)):\n    y = x + laplace(1)\n    return 1 / y\n"


def half_line(comparison: str, bound: Fraction | int) -> Event:
    return Event(None, (Condition(((0, Fraction(1)),), comparison, Fraction(bound)),))  # type: ignore[arg-type]  # one of five words


@pytest.mark.parametrize("text", [COUNTING, REJECTING, SQUARED, ROUNDED, WALK, FLAGS, SCALED, TABLE, VAGUE])
def test_laws_lie_between_the_two_ends(text: str) -> None:
    """Samples agree with the intervals of all half lines: by Hoeffding a right law fails once in some 10^5 tests."""
    program, given = read_program(text), {"x": 1}
    found = enclosed_law(program, given, fineness=16, smallest=16)
    samples = [run(program, given) for _ in range(200)]
    for bound in (-2, 0, Fraction(1, 2), 1, 2, 5):
        for comparison in (">", "<=", ">=", "=="):
            event = half_line(comparison, bound)
            chance = found.probability(event)
            seen = sum(map(event.happened, samples)) / len(samples)
            assert float(chance.lower) - 0.2 < seen < float(chance.upper) + 0.2


@pytest.mark.parametrize("x", [0, 1])
def test_finite_programs_have_their_exact_law(x: int) -> None:
    program = read_program(WALK)
    law, _ = output_law(program, {"x": x})
    found = enclosed_law(program, {"x": x}, fineness=4)
    for output, mass in law.items():
        chance = found.probability(exactly(output))
        assert chance.lower <= fraction(mass) <= chance.upper
        assert float(chance.width) < 1e-15


def test_paths_and_enclosures_agree() -> None:
    program = read_program("def f(x: each(1)):\n    y = x + laplace(1)\n    return y if y > 0 else -2*y\n")
    paths, found = explore(program, {"x": 1}).paths, enclosed_law(program, {"x": 1}, fineness=256)
    for bound in (1, 2, Fraction(5, 2)):
        chance = found.probability(half_line("<=", bound))
        exact = event_probability(paths, half_line("<=", bound))
        assert float(chance.lower) <= float(exact.mid()) <= float(chance.upper)
        assert float(chance.width) < 0.05


def test_rejection_is_summed_to_its_end() -> None:
    chance = enclosed_law(read_program(REJECTING), {"x": 1}, fineness=64).probability(half_line("<=", 1))
    wanted = (0.5 - 0.5 * exp(-1)) / (1 - 0.5 * exp(-1))
    assert float(chance.lower) == pytest.approx(wanted, abs=1e-12) == float(chance.upper)


def test_impossible_is_decided_beyond_where_a_loop_was_followed() -> None:
    program = read_program(COUNTING)
    assert enclosed_law(program, {"x": 1}, fineness=8).probability(exactly(0)) == Interval(0, 0)
    far = enclosed_law(program, {"x": 1}, fineness=8).probability(exactly(10_000))
    assert far.lower == 0 < far.upper < 1e-15


def test_what_a_loop_may_still_give_counts_against_the_event() -> None:
    """The planted fault: forgetting the rest of a loop would make a possible output impossible."""
    late = "def f(x: replaced(0, 1)):\n    n = 0\n    while flip(1/2) == 0:\n        n += 1\n    return n > 500\n"
    chance = enclosed_law(read_program(late), {"x": 0}, fineness=8).probability(exactly(1))
    assert chance.lower == 0 < chance.upper
    returned = """def f(x: replaced(0, 1)):
    n = 0
    while flip(1/2) == 0:
        n += 1
        if n > 500:
            return 1
    return 0
"""
    chance = enclosed_law(read_program(returned), {"x": 0}, fineness=8).probability(exactly(1))
    assert chance.lower == 0 < chance.upper


def test_lists_that_grow_without_end_may_be_anything() -> None:
    found = enclosed_law(read_program(LENGTHS), {"x": 1}, fineness=64)
    lengths = Counter(len(one) for one in found.outputs if isinstance(one, tuple))
    assert set(lengths) >= {0, 1, 2, 3}
    assert any(map(is_shapeless, found.outputs))
    chance = found.probability(Event((None,) * 300, ()))
    assert chance.lower == 0 < chance.upper < 1e-15


def test_states_too_vague_to_go_on_may_end_anyhow() -> None:
    found = enclosed_law(read_program(VAGUE), {"x": Fraction(1, 3)}, fineness=8)
    assert found.outputs[ANYTHING].unsure > 0
    assert found.outputs[ANYTHING].sure.is_zero()


def test_programs_that_fail_are_refused() -> None:
    for text in (
        "def f(x: replaced(0, 1)):\n    y = flip(1/2)\n    return 1 / y\n",
        "def f(x: replaced(0, 1)):\n    y = flip(1/2)\n    if y:\n        return 1\n",
        "def f(x: replaced(0, 1)):\n    return x + laplace(x - 2)\n",
        "def f(x: replaced(0, 1)):\n    assume(x > 5)\n    return flip(1/2)\n",
    ):
        with pytest.raises(NotSupported):
            enclosed_law(read_program(text), {"x": 0}, fineness=8)


def test_work_and_time_have_ends() -> None:
    endless = read_program("def f(x: replaced(0, 1)):\n    n = 1\n    while n > 0:\n        n += 1\n    return n\n")
    with pytest.raises(TooMuchWork):
        enclosed_law(endless, {"x": 0}, fineness=8, most_states=1_000)
    with pytest.raises(TooMuchWork):
        enclosed_law(endless, {"x": 0}, fineness=8, too_late=lambda: True)


@pytest.mark.parametrize("seed", range(40))
def test_laws_of_random_programs_lie_between_the_two_ends(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outcomes of coins and dice are lumped at random, so that ranges go through all that a program does; the truth is
    what Python does with the text."""
    inputs = {"x": (1, 0, 1), "y": 2}
    text, law = small_program(seed, inputs)
    chance = Random(seed)

    def lumped(name: str, given: tuple[Value, ...], count: int) -> list[Cell]:
        found = cells(name, given, count)
        if any(isinstance(value, tuple) for value, _ in found) or chance.random() < 0.3:
            return found
        cut = chance.randint(1, len(found))
        return [
            (hull(value for value, _ in part), sum((mass for _, mass in part), arb(0)))
            for part in (found[:cut], found[cut:])
            if part
        ]

    monkeypatch.setattr(enclosing, "cells", lumped)
    try:
        found = enclosed_law(read_program(text), inputs, fineness=8, smallest=chance.choice([3, 8, 64]))
    except TooMuchWork:
        return
    for output, mass in law.items():
        chances = found.probability(exactly(output))
        assert float(chances.lower) <= float(mass) + 1e-12, text
        assert float(mass) <= float(chances.upper) + 1e-12, text


def _try_all(seeds: range) -> None:
    for seed in seeds:
        with pytest.MonkeyPatch.context() as inner:
            test_laws_of_random_programs_lie_between_the_two_ends(seed, inner)


def test_forgotten_doubts_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: guards that are left open count as decided."""
    monkeypatch.setattr(Mass, "doubted", lambda mass: mass)
    with pytest.raises(AssertionError):
        _try_all(range(40))


UNLIKE = """def f(x: each(1)):
    best = x + laplace(3)
    y = x + laplace(1)
    if y > best:
        best = y
    return best
"""


def test_overlapping_values_are_held_by_one_range() -> None:
    law = enclosed_law(read_program(UNLIKE), {"x": 0}, fineness=16)
    for place in (Fraction(k, 4) for k in range(-12, 13)):
        tails = [exp(-abs(place) / scale) / 2 for scale in (1, 3)]
        truth = tails[0] * tails[1] if place < 0 else (1 - tails[0]) * (1 - tails[1])
        chances = law.probability(half_line("<=", place))
        assert float(chances.lower) <= truth + 1e-12
        assert truth <= float(chances.upper) + 1e-12


def test_a_range_that_holds_one_answer_alone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault: of two answers that give overlapping values the first is taken for both."""
    monkeypatch.setattr(masses, "hull", lambda values: next(iter(values)))
    with pytest.raises(AssertionError):
        test_overlapping_values_are_held_by_one_range()


LARGER = """def f(x: each(1)):
    best = x + laplace(1)
    for i in range(3):
        y = x + laplace(1)
        if y > best:
            best = y
    return best
"""
ROUNDS = """def f(x: each(1)):
    n = geometric(1/2)
    best = x + laplace(1)
    while n > 0:
        best = max(best, x + laplace(1))
        n -= 1
    return best
"""


def test_what_is_the_same_either_way_stays_sure() -> None:
    law = enclosed_law(read_program(LARGER), {"x": 0}, fineness=16)
    assert all(mass.unsure.is_zero() for mass in law.outputs.values())
    chances = law.probability(half_line("<=", 0))
    assert chances.lower <= Fraction(1, 16) <= chances.upper
    assert float(chances.width) < 1e-9


def test_rare_states_count_once_however_long_a_loop_goes_on() -> None:
    law = enclosed_law(read_program(ROUNDS), {"x": 0}, fineness=8, smallest=10)
    assert float(sum((mass.unsure for mass in law.outputs.values()), arb(0))) < 0.2
    chances = law.probability(half_line("<=", 0))
    assert float(chances.lower) <= 1 / 3 <= float(chances.upper)
