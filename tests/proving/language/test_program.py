"""Whole programs."""

import pytest

from privately.errors import NotSupported
from privately.proving.language.pythonic import read_python


def test_parts_of_a_program() -> None:
    program = read_python(
        "def f(q: each(1), n: whole(1, 9), e):\n    assume(n > 1)\n    return q[0] + laplace(n / e)\n"
    )
    assert [one.name for one in program.private] == ["q"]
    assert program.private[0].is_list
    assert [one.name for one in program.public] == ["n", "e"]
    assert [one.law for one in program.samples] == ["laplace"]
    assert len(program.assumptions) == 1


def test_continuous_noise_exists_on_paper_only() -> None:
    assert read_python("def f(x: each(1)):\n    return x + laplace(1)\n").model == "real"
    assert read_python("def f(x: each(1)):\n    return x + discrete_laplace(1)\n").model == "exact"


@pytest.mark.parametrize(
    "hint", ["invariant(1/x > 0)", "align(3 // (x + e))", "invariant(e > 0, e % y == 1)", "align(x**-1)"]
)
def test_hints_divide_by_what_is_public_only(hint: str) -> None:
    text = "def f(x: each(1), e):\n    y = x + laplace(1)\n    HINT\n    return y\n"
    with pytest.raises(NotSupported, match=r"line 3: .* divides by what is not public"):
        read_python(text.replace("HINT", hint))
    assert read_python(text.replace("HINT", "invariant(x**2/2 > 1/e**3)")).private
