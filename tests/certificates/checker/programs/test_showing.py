"""Programs as people read them in a report."""

from typing import Any

import pytest

from privately.certificates.checker.programs.reading import read_private, read_program
from privately.certificates.checker.programs.showing import LINES, program_lines
from privately.proving.exact.encoding import Encoder
from privately.proving.language.pythonic import read_python

TEXT = """
def f(x: each(1, whole(0, 2)), p):
    total = 0
    for v in x:
        if flip(p):
            total = total + v
        else:
            total = total + 1
    return [total + discrete_laplace(2), [v for v in x if v > 0]]
"""


def lines(text: str) -> list[str]:
    program = read_python(text)
    encoder = Encoder(program)
    private = [encoder.private(one, (2, 3)) for one in program.private]
    flat = read_program(encoder.data(), "program")
    return program_lines(flat, read_private(private, "private"), {encoder.variables["p"]: (1, 2)})


def test_a_program_is_told_line_by_line() -> None:
    found = lines(TEXT)
    assert found[0].startswith("program sha256:")
    assert found[1] == "private x: each 1, values 0, 1, 2, lists of 2, 3 entries"
    assert found[2] == "public p = [1, 2]"
    assert "draw flip(p)" in "\n".join(found)
    assert "draw discrete_laplace(2)" in "\n".join(found)
    assert any(line.strip() == "else" for line in found)
    assert found[-1].strip().startswith("return [")
    assert all(line.isascii() and line.isprintable() for line in found)


def test_other_programs_have_other_hashes() -> None:
    assert lines(TEXT)[0] == lines(TEXT)[0]
    assert lines(TEXT)[0] != lines(TEXT.replace("discrete_laplace(2)", "discrete_laplace(3)"))[0]


def test_long_programs_are_cut() -> None:
    data: dict[str, Any] = {"variables": ["x\n"], "expressions": [["variable", 0]], "blocks": [[["assign", 0, 0]] * 3]}
    data["blocks"] += [[["if", 0, k, k]] * 3 for k in range(40)]
    private = [{"variable": 0, "change": "replaced", "distance": None, "values": ["0", "1"], "lengths": None}]
    found = program_lines(read_program(data, "program"), read_private(private, "private"), {})
    assert len(found) <= LINES + 4
    assert found[-1].strip() == "..."
    assert all(line.isprintable() for line in found)


@pytest.mark.parametrize("name", ["x + 1", "0", "", "x ", "flip(1/2)", "\u0445", "'"])
def test_names_are_not_taken_for_more(name: str) -> None:
    data = {"variables": ["x", name], "expressions": [["variable", 1]], "blocks": [[["return", 0]]]}
    private = [{"variable": 1, "change": "replaced", "distance": None, "values": ["0", "1"], "lengths": None}]
    found = program_lines(read_program(data, "program"), read_private(private, "private"), {})
    assert found[-1] == f"  return {name!a}"
    assert found[1].startswith(f"private {name!a}: ")
