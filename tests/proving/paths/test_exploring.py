"""All ways through a program."""

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.exact.states import Excluded
from privately.proving.language.syntax import Sample, Value
from privately.proving.paths import exploring
from privately.proving.paths.affine import Affine, NotAffine, holds, symbol_form
from privately.proving.paths.exploring import NoOutput, Path, TooManyPaths, explore, some_paths
from privately.proving.reading import read_program
from privately.proving.running import Run
from tests.endless import ends
from tests.proving.textbook import ADAPTIVE, CLAMPED, NOISY_MAX, SMART_SUM, sparse

MIXED = """
def mixed(x, epsilon):
    z = [v + discrete_laplace(2) for v in x]
    total = abs(z[0]) + max(z) - min(z[1], 3)
    if total == 2 or z[0] in [4, z[1]]:
        return [1, total]
    if flip(1/3):
        return [2, [v - 1 for v in z if v > 0]]
    return [3, 0 if z[0] >= z[1] else z[1]]
"""

CASES: list[tuple[str, dict[str, Any]]] = [
    (sparse(), {"q": (1, 0, 2), "threshold": 1, "most": 2, "epsilon": 1}),
    (NOISY_MAX, {"q": (1, 0, 2), "epsilon": 1}),
    (SMART_SUM, {"q": (1, 0, 2), "block": 2, "epsilon": 1}),
    (ADAPTIVE, {"q": (1, 0), "threshold": 0, "epsilon": 1}),
    (CLAMPED, {"x": 2, "epsilon": 1}),
    (MIXED, {"x": (1, 0), "epsilon": 1}),
]


def output_on(path: Path, drawn: list[Fraction]) -> Value:
    def filled(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(filled, value))
        if isinstance(value, Affine):
            return value.constant + sum(factor * drawn[int(symbol)] for symbol, factor in value.terms.items())
        return value

    return filled(path.output)


def taken(path: Path, drawn: list[Fraction]) -> bool:
    return len(path.noises) <= len(drawn) and all(
        holds(one.form.constant + sum(f * drawn[int(s)] for s, f in one.form.terms.items()), one.relation)
        for one in path.constraints
    )


@pytest.mark.parametrize(("text", "inputs"), CASES)
def test_paths_say_what_runs_do(text: str, inputs: Mapping[str, Any]) -> None:
    program = read_program(text)
    paths = explore(program, inputs).paths
    chance = random.Random(7)
    for _ in range(150):
        drawn: list[Fraction] = []
        faces: list[Value] = []

        def draw(
            sample: Sample, _: tuple[Value, ...], drawn: list[Fraction] = drawn, faces: list[Value] = faces
        ) -> Value:
            if sample.law == "flip":
                faces.append(chance.random() < 0.5)
                return faces[-1]
            whole = sample.law.startswith("discrete")
            drawn.append(
                Fraction(chance.randint(-4, 4)) if whole else Fraction(chance.randint(-(10**6), 10**6), 300_007)
            )
            return drawn[-1]

        output = Run(program, inputs, draw).output()
        # A path that reads more draws than the run did is another path.
        fitting = [path for path in paths if len(path.noises) == len(drawn) and taken(path, drawn)]
        possible = [path for path in fitting if output_on(path, drawn) == output]
        assert possible
        assert len(fitting) == 1 or program.name == "mixed"


def test_coins_carry_their_weights() -> None:
    program = read_program("def f(x):\n    return [flip(1/3), uniform(2), flip_exp(2)]\n")
    paths = explore(program, {"x": 0}).paths
    assert sum(path.weight for path in paths if path.coins[0][1]) == 1
    assert {path.weight for path in paths} == {Fraction(1, 6), Fraction(1, 3)}
    assert {path.coins[0][0] for path in paths} == {2}


def test_guards_on_open_inputs_fork_and_assumptions_are_kept() -> None:
    text = """
def f(x, y):
    assume(x > y)
    if x > 3:
        return 1
    if y > 3:
        return 2
    return 0
"""
    found = explore(read_program(text), {"x": symbol_form("x"), "y": symbol_form("y")})
    assert sorted(path.output for path in found.paths) == [0, 1]
    assert len(found.assumptions) == 1
    with pytest.raises(Excluded):
        explore(read_program(text), {"x": 0, "y": 1})


def test_continuous_noise_never_equals_a_number() -> None:
    program = read_program("def f(x):\n    if laplace(1) == x:\n        return 1\n    return 0\n")
    assert [path.output for path in explore(program, {"x": 3}).paths] == [0]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("z = laplace(1)\n    return z * z", NotAffine),
        ("z = laplace(1)\n    return laplace(z)", NotAffine),
        ("z = discrete_laplace(1)\n    return [1, 2, 3][z]", NotAffine),
        ("z = discrete_laplace(1)\n    return z % 2", NotAffine),
        ("z = discrete_laplace(1)\n    while z < 5:\n        z = z + discrete_laplace(1)\n    return z", NotSupported),
        ("while True:\n        x = x + 1\n    return x", NotSupported),
        ("z = laplace(1)\n    assume(z > 0)\n    return 1", NotSupported),
    ],
)
def test_what_cannot_be_followed_is_refused(body: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploring, "MOST_DECISIONS", 30)
    with pytest.raises(error):
        explore(read_program(f"def f(y):\n    x = y\n    {body}\n"), {"y": 0})


def test_too_many_paths_are_refused() -> None:
    text = "def f(q):\n    out = []\n    for x in q:\n        out.append(x + laplace(1) > 0)\n    return out\n"
    with pytest.raises(NotSupported, match="more than 20 paths"):
        explore(read_program(text), {"q": (0,) * 8}, most_paths=20)


def test_exploring_ends_when_it_is_too_late() -> None:
    with pytest.raises(TooManyPaths, match="too long"):
        explore(read_program(sparse()), {"threshold": 0, "most": 1, "epsilon": 1, "q": (0, 0)}, too_late=lambda: True)


def test_loops_that_only_noise_ends_are_refused_soon() -> None:
    text = "def f(x: each(1)):\n    z = laplace(1)\n    while z < 0:\n        z = laplace(1)\n    return x + z\n"
    with ends(), pytest.raises(NotSupported, match="does not end soon enough"):
        explore(read_program(text), {"x": 0})


def test_programs_that_can_end_without_an_output_are_told_apart() -> None:
    with pytest.raises(NoOutput):
        explore(read_program("def f(x: each(1)):\n    if laplace(1) > x:\n        return 1\n"), {"x": 0})


def test_some_paths_are_among_all_paths() -> None:
    text = "def f(q: each(1)):\n    out = []\n    for v in q:\n        out.append(v + laplace(1) > 0)\n    return out\n"
    program, given = read_program(text), {"q": (0, 1, 2, 3)}
    some = some_paths(program, given, (), 5, lambda: False).paths
    assert 5 <= len(some) < 16
    everything = explore(program, given).paths
    assert all(path in everything for path in some)
    with pytest.raises(NotSupported):
        some_paths(program, given, (), 5, lambda: True)
