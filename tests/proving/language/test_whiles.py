"""The lecture's programs are read as they are printed, and mean what their Python spellings mean."""

from pathlib import Path

import pytest

from privately.errors import NotSupported
from privately.proving.exact.states import output_law
from privately.proving.language.normal import normal_text
from privately.proving.language.pythonic import read_python
from privately.proving.language.whiles import read_while

SEEDS = Path(__file__).parents[2] / "corpus" / "seeds"
SHARED = Path(__file__).parents[4] / "shared" / "seeds" / "programs"


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_seed_program_is_read(path: Path) -> None:
    program = read_while(path.read_text())
    assert program.private
    assert program.body


@pytest.mark.skipif(not SHARED.is_dir(), reason="the lecture texts are not here")
def test_the_corpus_has_the_seed_programs_byte_for_byte() -> None:
    names = sorted(path.name for path in SHARED.iterdir())
    assert names == sorted(path.name for path in SEEDS.iterdir())
    assert all((SHARED / name).read_bytes() == (SEEDS / name).read_bytes() for name in names)


def test_both_spellings_of_the_laplace_mechanism_are_one_program() -> None:
    plain, centred = ((SEEDS / f"000-laplace-mechanism{end}.txt").read_text() for end in ("", "-centred"))
    assert normal_text(read_while(plain)) == normal_text(read_while(centred))


def test_a_sum_in_while_is_a_sum_in_python() -> None:
    python = """
def dummy(data: replaced(0, 1), e):
    total = 0
    out = []
    for value in data:
        total += value
        out.append(total + laplace(1 / e))
    return out
"""
    assert normal_text(read_while((SEEDS / "000-dummy-sum-1.txt").read_text())) == normal_text(read_python(python))


def test_laws_are_those_of_the_text() -> None:
    program = read_while(
        "i := 0;\ns := 0\nwhile (i < size(d)) do\n  b := flip(1/4)\n  s := s + d[i]*b\n  i := i + 1\nreturn s\n"
    )
    law, _ = output_law(program, {"d": (1, 2)})
    assert {output: str(mass) for output, mass in law.items()} == {0: "9/16", 1: "3/16", 2: "3/16", 3: "1/16"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no program"),
        ("x := 1 +\nreturn x", "line 1: a name is missing"),
        ("x := $ Cauchy(1)\nreturn x", "line 1: the law 'Cauchy'"),
        ("while (1 < 2)\nreturn 1", "indented block"),
        ("x := 1\n    y := 2\nreturn x", "indented like no other"),
        ("x := 1 @ 2", "cannot read"),
        ("if x = 1 then\n  y := 1\n", "does not say what it returns"),
        ("x := (1\nreturn x", "is missing"),
        ("x := 1 2\nreturn x", "was not expected"),
        ("Name (d : private data)\n", "a body follows"),
        ("x := $ Laplace(1, 2, 3)\nreturn x", "3 arguments"),
        ("P (n : int)\n  o := Mem(n)\n  return o\n", "marks nothing private, and the program reads Mem"),
        ("true := Mem(0)\nreturn true\n", "line 1: 'true' is a word"),
        ("o := Mem(0)\nreturn then\n", "line 2: 'then' is a word"),
        ("P (d : private data) (d : real)\n  return d\n", "different names"),
        ("P (e : real) (d : private, data)\n  return d\n", "line 1: a type is made of words"),
        ("P (d : private data, e : private data)\n  return e\n", "line 1: a type is made of words"),
        ("P (size : private data)\n  return size\n", "no words of the language"),
        ("x := " + "F(" * 99 + "1" + ")" * 99, "brackets inside one another"),
        ("P (a :" + " " * 50_000 + "x\n  return a\n", "a header is"),
        ("x := Mem(0)\n" * 10_000, "more than 100000 characters"),
    ],
)
def test_the_rest_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        read_while(text)


def test_private_parameters_of_a_header_are_inputs_even_if_nothing_uses_them() -> None:
    both = read_while("P (x : private data) (y : private real) (z : real)\n  return y\n")
    assert [(one.name, one.private) for one in both.parameters] == [("x", True), ("y", True)]
    first = read_while("P (x : data) (y : real)\n  return y\n")
    assert [(one.name, one.private) for one in first.parameters] == [("x", True), ("y", False)]
    second = read_while("iffy (n : public int) (d : data)\n  return d + n\n")
    assert [(one.name, one.private) for one in second.parameters] == [("n", False), ("d", True)]
    large = read_while("P (e : real) (d : Private data)\n  return d + e\n")
    assert [(one.name, one.private) for one in large.parameters] == [("e", False), ("d", True)]
    applied = read_while("P (d : private data)\n  return f(d)\n")
    assert [(one.name, one.private) for one in applied.parameters] == [("f(d)", True)]


def test_without_a_return_the_output_is_what_is_assigned_last() -> None:
    law, _ = output_law(read_while("x := flip(1/4)\ny := 1 - x\n"), {})
    assert {output: str(mass) for output, mass in law.items()} == {0: "1/4", 1: "3/4"}


@pytest.mark.parametrize("sign", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_a_comment_goes_to_the_end_of_its_line(sign: str) -> None:
    """As editors show it: other signs that some call ends of lines hide no statement."""
    law, _ = output_law(read_while(f"x := 1\r\n# nothing{sign}x := 2\rreturn x\n"), {})
    assert list(law) == [1]
