"""Laws of programs with unbounded noise and countable outputs."""

from math import exp

import pytest

from privately.proving.exact.states import output_law
from privately.proving.exact.weights import fraction
from privately.proving.paths.outputs import OpenOutput, output_balls, output_laws
from privately.proving.reading import read_program
from tests.proving.textbook import COUNT, NOISY_MAX

FINITE = """
def f(x):
    n = 0
    for v in x:
        if flip(1/3):
            n = n + (v if uniform(3) < 2 else 1)
    return [n, n > 1]
"""


def test_laws_of_finite_programs_are_those_of_the_exact_engine() -> None:
    program = read_program(FINITE)
    exact, _ = output_law(program, {"x": (0, 2, 1)})
    found = output_laws(program, {"x": (0, 2, 1)})
    assert set(found) == {output for output, mass in exact.items() if mass}
    for output, mass in exact.items():
        assert fraction(mass) in found[output]
        assert found[output].width < 1e-15


def test_a_race_of_two_exponentials() -> None:
    program = read_program("def f(x):\n    return 1 if exponential(1) > x + exponential(2) else 0\n")
    found = output_laws(program, {"x": 1})
    assert float(found[1].lower) == pytest.approx(exp(-1) / 3)
    assert exp(-1) / 3 + 1e-12 > found[1].lower


def test_precision_is_a_matter_of_asking() -> None:
    found = output_balls(
        read_program(NOISY_MAX.replace("laplace", "discrete_laplace")), {"q": (0, 1), "epsilon": 1}, bits=200
    )
    assert all(chance.rel_accuracy_bits() >= 200 for chance in found.values())


def test_noise_in_the_output_is_refused() -> None:
    with pytest.raises(OpenOutput):
        output_laws(read_program(COUNT), {"x": 1, "epsilon": 1})
