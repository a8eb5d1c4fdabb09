"""One run, as it was analysed."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import analyze, running
from privately.proving.reading import read_program
from privately.proving.running import TooManyRounds, run
from tests.proving.programs import FORMS
from tests.proving.ways import law_by_running


@pytest.mark.parametrize("name", FORMS)
def test_runs_end_where_the_law_says(name: str) -> None:
    text, inputs = FORMS[name]
    for given in inputs:
        possible = law_by_running(text, given)
        assert all(run(read_program(text), given) in possible for _ in range(20))


def test_exact_noise_and_paper_noise() -> None:
    assert isinstance(run(read_program("def f(x):\n    return x + discrete_laplace(1/2)\n"), {"x": 0}), int)
    assert isinstance(run(read_program("def f(x):\n    return x + laplace(1)\n"), {"x": 0}), (Fraction, int))
    assert len(run(read_program("def f(n):\n    return uniform_bits(n)\n"), {"n": 5})) == 5


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidParameter, match="assumption"):
        run(read_program("def f(x):\n    assume(x > 0)\n    return x\n"), {"x": 0})
    with pytest.raises(NotSupported, match="without an output"):
        run(read_program("def f(x):\n    y = x\n"), {"x": 0})
    monkeypatch.setattr(running, "MOST_ROUNDS", 100)
    with pytest.raises(TooManyRounds, match="line 2: more than 100 rounds"):
        run(read_program("def f(x):\n    while True:\n        x = x\n    return x\n"), {"x": 0})


def test_invariants_are_evaluated_when_a_program_runs() -> None:
    text = "def f(x: each(1), e):\n    invariant(1/e > 0)\n    return x\n"
    assert run(read_program(text), {"x": 3, "e": 1}) == 3
    with pytest.raises(NotSupported, match="division by zero"):
        run(read_program(text), {"x": 3, "e": 0})


def test_invariants_about_private_inputs_cannot_end_a_run() -> None:
    text = "def f(x: replaced(0, 1)):\n    invariant([1, 2][2 * x] > 0)\n    return 0\n"
    assert run(read_program(text), {"x": 1}) == 0


@pytest.mark.parametrize("law", ["flip", "uniform", "flip_exp", "geometric", "discrete_laplace", "uniform_bits"])
def test_true_counts_as_one_in_draws(law: str) -> None:
    run(read_program(f"def f(x):\n    y = {law}(x == 1)\n    return 0\n"), {"x": 1})


@pytest.mark.parametrize(
    "draw",
    [
        *(f"{law}({size})" for law in ("discrete_laplace", "discrete_exponential") for size in ("1/1001", "1/1000")),
        *(f"geometric({size})" for size in ("1/10**40", "1/2**61", "1/2**60", "1")),
        *(f"flip({size})" for size in ("1/10**5000", "1 - 1/10**5000")),
        *(f"flip_exp({size})" for size in ("10**4", "1/999", "0")),
    ],
)
def test_what_nobody_draws_has_no_law(draw: str) -> None:
    program = read_program(f"def f(x: replaced(0, 1)):\n    y = {draw}\n    return 0\n")
    try:
        run(program, {"x": 1})
    except NotSupported:
        with pytest.raises(NotSupported):
            analyze(program).law(x=1)


@pytest.mark.parametrize("inputs", [None, {}, {"x": 1, "y": 2}, {"x": True}, {"x": "many"}, {3: 1}])
def test_a_run_takes_all_inputs_and_no_others(inputs: Any) -> None:
    with pytest.raises(InvalidParameter):
        run("def f(x):\n    return x\n", inputs)


def test_inputs_of_a_run_are_exact() -> None:
    assert run("def f(x):\n    return x\n", {"x": [0.1, "1/3"]}) == (Fraction(1, 10), Fraction(1, 3))
