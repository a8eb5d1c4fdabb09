"""Expressions and programs as text."""

import ast

import pytest

from privately.proving.language.pythonic import read_python
from privately.proving.language.rendering import rendered, rendered_block
from privately.proving.language.syntax import Return


@pytest.mark.parametrize(
    "text",
    [
        "(a + 1) * b",
        "a - (b - c)",
        "a / (b * c)",
        "not (a and b)",
        "-a + b",
        "x[i] + len(x)",
        "[v + 1 for v in x if v > 0]",
        "a if b else c",
        "min(a, b)",
        "x[1:2]",
        "(a if b else c) + 1",
    ],
)
def test_what_is_rendered_reads_the_same_again(text: str) -> None:
    def read(one: str) -> object:
        statement = read_python(f"def f(a, b, c, i, x):\n    return {one}\n").body[-1]
        assert isinstance(statement, Return)
        return statement.value

    again = rendered(read(text))  # type: ignore[arg-type]
    assert read(again) == read(text)
    ast.parse(again)


def test_blocks_are_indented() -> None:
    program = read_python("def f(x):\n    while x < 3:\n        if flip():\n            x = x + 1\n    return x\n")
    assert rendered_block(program.body).splitlines()[:4] == [
        "while x < 3",
        "  #3 := $ flip(1 / 2)",
        "  if #3 then",
        "    x := x + 1",
    ]
