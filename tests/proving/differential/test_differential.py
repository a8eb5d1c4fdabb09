"""Verdicts on random programs beside the truth, which is found by running them in all ways for all neighbours."""

import ast
from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from privately.errors import PrivatelyError
from privately.proving.language.laws import LAWS
from privately.proving.language.python_names import BINARY, COMPARISONS, FUNCTIONS
from tests.proving.differential import faults
from tests.proving.differential.agreeing import agreed
from tests.proving.differential.comparing import Disagreement, compared
from tests.proving.differential.comparing_open import compared_open
from tests.proving.differential.comparing_searches import compared_search
from tests.proving.differential.neighbours import CHANGES
from tests.proving.differential.noisy_programs import noisy_program
from tests.proving.differential.odd_programs import odd_program
from tests.proving.differential.open_programs import open_program
from tests.proving.differential.python_programs import python_program
from tests.proving.differential.running_while import law_of_while
from tests.proving.differential.summed_programs import summed_program
from tests.proving.differential.while_programs import while_program

UNLISTED = {"rounded_gaussian", "discrete_gaussian", "laplace", "gaussian", "exponential"}
"""Laws that have no exact weights: programs that draw from them are searched, not listed."""

SYNTAX = {
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Break, ast.Continue),
    *(ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.Slice, ast.Subscript, ast.BoolOp, ast.And, ast.Or, ast.Not),
    *(ast.UAdd, ast.USub, ast.NotIn, ast.Tuple, ast.List, ast.Pass),
}  # fmt: skip
WORDS = {"assume", "Fraction", "list", "range", "enumerate", "zip", "append", "pop"}


def of_python(seed: int) -> str:
    return compared(python_program(seed), verdicts=seed % 3 == 0)


def of_oddities(seed: int) -> str:
    return compared(odd_program(seed), verdicts=seed % 3 == 0)


def of_while(seed: int) -> str:
    return compared(while_program(seed), law_of_while, verdicts=seed % 3 == 0)


def of_noise(seed: int) -> str:
    return compared(noisy_program(seed), verdicts=seed % 3 == 0)


def of_sums(seed: int) -> str:
    return compared(summed_program(seed), verdicts=seed % 3 == 0)


def of_open(seed: int) -> str:
    return compared_open(open_program(seed))


def counted(check: Callable[[int], str], seeds: Iterable[int]) -> Counter[str]:
    """What came of all of them; few are refused, and in most something was decided."""
    found = Counter(map(check, seeds))
    total = found.total()
    assert found["refused"] <= max(2, 0.08 * total), found
    assert found["endless"] <= max(2, 0.1 * total), found
    assert found["many"] <= 0.3 * total, found
    return found


def test_verdicts_on_python_are_true() -> None:
    found = counted(of_python, range(40))
    assert min(found["finite"], found["everything"], found["nothing"]) >= 3
    assert found["failing"] >= 1


def test_verdicts_on_odd_python_are_true() -> None:
    found = counted(of_oddities, range(40))
    assert min(found["finite"], found["everything"], found["failing"]) >= 1


def test_verdicts_on_while_programs_are_true() -> None:
    found = counted(of_while, range(15))
    assert found["finite"] >= 1


def test_verdicts_on_noise_without_end_are_true() -> None:
    found = counted(of_noise, range(15))
    assert found["finite"] >= 1


def test_verdicts_on_sums_of_noise_are_true() -> None:
    found = Counter(map(of_sums, range(9)))
    assert found["finite"] >= 6


def test_verdicts_on_open_parameters_are_true() -> None:
    found = counted(of_open, range(12))
    assert min(found["proved"], found["refuted"]) >= 1


def test_what_runs_is_what_is_analysed() -> None:
    assert sum(agreed(python_program(seed)) for seed in range(12)) >= 6


def test_all_of_the_language_is_drawn() -> None:
    """Every form and every word that the readers know stands in some program, and so does every kind of neighbour."""
    programs = [make(seed) for make in (python_program, noisy_program) for seed in range(400)]
    nodes = [node for one in programs for node in ast.walk(ast.parse(one.text))]
    kinds = {type(node) for node in nodes}
    assert {*BINARY, *COMPARISONS, *SYNTAX} <= kinds
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = {getattr(one, "id", getattr(one, "attr", "")) for one in called}
    assert {*LAWS, *FUNCTIONS, *WORDS} - UNLISTED <= names
    assert {one.change for program in programs for one in program.private} == set(CHANGES)
    assert any(len(program.private) > 1 for program in programs)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 500))
def test_verdicts_on_many_python_programs_are_true(first: int) -> None:
    counted(of_python, range(first, first + 500))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 1000))
def test_verdicts_on_many_odd_python_programs_are_true(first: int) -> None:
    counted(of_oddities, range(first, first + 1000))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2500, 300))
def test_verdicts_on_many_while_programs_are_true(first: int) -> None:
    counted(of_while, range(first, first + 300))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2500, 300))
def test_verdicts_on_much_noise_without_end_are_true(first: int) -> None:
    counted(of_noise, range(first, first + 300))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1400, 50))
def test_verdicts_on_many_sums_of_noise_are_true(first: int) -> None:
    found = Counter(map(of_sums, range(first, first + 50)))
    assert found["endless"] <= 18, found
    assert found["finite"] >= 25, found


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2500, 500))
def test_verdicts_on_many_open_parameters_are_true(first: int) -> None:
    counted(of_open, range(first, first + 500))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 500))
def test_what_runs_is_what_is_analysed_in_many_programs(first: int) -> None:
    seeds = range(first, first + 500)
    assert sum(agreed(make(seed)) for make in (python_program, odd_program) for seed in seeds) >= 700


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1600, 150))
def test_witnesses_of_searches_are_true(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privately.proving.prover.BUDGET", 0.4)
    found = Counter(compared_search(noisy_program(seed)) for seed in range(first, first + 150))
    assert found["refuted"] >= 60


FAULTS = [
    *((fault, of_python) for fault in faults.PYTHON),
    *((fault, of_oddities) for fault in faults.ODD),
    *((fault, of_noise) for fault in faults.NOISY),
    *((fault, of_sums) for fault in faults.SUMMED),
    *((fault, of_while) for fault in faults.WHILE),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=lambda one: one.__name__.strip("_"))
def test_planted_faults_are_found(
    fault: Callable[[pytest.MonkeyPatch], None], check: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In programs of which the tests above say that without a fault nothing is raised."""
    fault(monkeypatch)
    with pytest.raises((Disagreement, PrivatelyError)):
        Counter(map(check, range(1000, 2000)))
