"""What changes nothing is left out, and nothing else."""

from typing import Any

import pytest

from privately.proving.exact.states import output_law
from privately.proving.language.program import Program
from privately.proving.language.rendering import rendered_block
from privately.proving.reading import read_program
from privately.proving.refuting.trimming import trimmed
from tests.proving.drawn import small_program
from tests.proving.failing import failing_program, some_way_fails
from tests.proving.programs import FORMS


def _trimmed(body: str, public: dict[str, Any] | None = None) -> str:
    """The statements that are left, in one line."""
    lines = "\n".join(f"    {one}" for one in body.split("\n"))
    program = read_program(f"def f(x: each(1), e):\n{lines}\n")
    return "; ".join(one.strip() for one in rendered_block(trimmed(program, public or {}).body).splitlines())


@pytest.mark.parametrize("name", FORMS)
def test_trimmed_programs_have_the_same_law(name: str) -> None:
    text, inputs = FORMS[name]
    for given in inputs:
        _compare(read_program(text), given)


@pytest.mark.parametrize("seed", range(60))
def test_trimmed_random_programs_have_the_same_law(seed: int) -> None:
    given = {"x": (1, 2), "y": seed % 3}
    _compare(read_program(small_program(seed, given)[0]), given)


def _compare(program: Program, given: dict[str, Any]) -> None:
    for public in ({}, given):
        assert output_law(trimmed(program, public), given) == output_law(program, given), program.source


def test_programs_that_fail_fail_as_before() -> None:
    failed = 0
    for seed in range(150):
        program = read_program(failing_program(seed))
        for x in (0, 1, 2):
            fails = some_way_fails(program, {"x": x})
            failed += fails
            assert some_way_fails(trimmed(program, {}), {"x": x}) == fails, program.source
    assert failed > 50


@pytest.mark.parametrize(
    "body",
    [
        "unread = flip(1/3)\nreturn x",
        "unread = laplace(2/e)\nreturn x",
        "unread = flip_exp(e)\nother = unread\nreturn x",
        "unread = 3 + 4\nreturn x",
        "for nobody in range(0):\n    x = nobody\nreturn x",
        "if 1 < 2:\n    return x\nelse:\n    return laplace(1)",
        "if e > 1:\n    x = 0\nreturn x",
        "n = 2\nif n == 2:\n    return x\nreturn 7",
        "while e < 0:\n    x = x + 1\nreturn x",
    ],
)
def test_what_changes_nothing_is_left_out(body: str) -> None:
    assert _trimmed(body, {"e": 1}) == "return x"


@pytest.mark.parametrize(
    "body",
    [
        "unread = flip(3/2)\nreturn x",
        "unread = laplace(1 - e)\nreturn x",
        "unread = flip_exp(0 - e)\nreturn x",
        "unread = uniform(0)\nreturn x",
        "unread = laplace(x)\nreturn x",
        "unread = 1 / (e - 1)\nreturn x",
        "unread = 1 / x\nreturn x",
        "unread = [1][e]\nreturn x",
    ],
)
def test_what_can_fail_stays(body: str) -> None:
    assert _trimmed(body, {"e": 1}) != "return x"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("n = 0\nwhile n < x:\n    n = n + 1\nreturn n", "n := n + 1"),
        ("n = 0\nif x > 0:\n    n = 1\nif n == 0:\n    return 5\nreturn 6", "return 5"),
        ("n = 0\nfor i in range(2):\n    if n == 1:\n        return 5\n    n = 1\nreturn 6", "return 5"),
        ("n = 0\nn = flip(1/2)\nif n == 0:\n    return 5\nreturn 6", "return 5"),
        ("e = laplace(1)\nif e > 0:\n    return 5\nreturn 6", "return 5"),
        ("z = laplace(1)\nwhile x > z:\n    x = x - 1\nreturn x", "$ laplace(1)"),
    ],
)
def test_what_changes_is_not_taken_for_known(body: str, kept: str) -> None:
    assert kept in _trimmed(body, {"e": 1})


def test_public_values_by_length_and_private_ones_are_left_open() -> None:
    body = "if e > 1:\n    return x\nreturn 0"
    assert _trimmed(body, {"e": lambda length: length}) == _trimmed(body, {})
    assert _trimmed("if x > 1:\n    return x\nreturn 0", {"x": 0}) == _trimmed("if x > 1:\n    return x\nreturn 0")


def test_a_value_before_it_is_given_still_fails() -> None:
    text = "def f(x: each(1)):\n    if x > 0:\n        a = 1\n    b = a\n    return x\n"
    assert "b := a" in rendered_block(trimmed(read_program(text), {}).body)
