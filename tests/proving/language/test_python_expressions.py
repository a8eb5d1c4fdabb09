"""Draws are taken out of expressions, in order and only where Python would make them."""

import pytest

from privately.errors import NotSupported
from privately.proving.exact.states import output_law
from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import If, Sample, statements


def test_draws_come_before_in_their_order() -> None:
    program = read_python("def f(x):\n    return [uniform(2), x + flip(1/3), uniform(5)]\n")
    assert [one.law for one in program.samples] == ["uniform", "flip", "uniform"]
    assert all(isinstance(one, Sample) for one in program.body[:3])


@pytest.mark.parametrize("text", ["x and flip()", "x or flip()", "flip() if x else 0"])
def test_draws_that_may_not_happen_are_conditional(text: str) -> None:
    program = read_python(f"def f(x):\n    y = {text}\n    return y\n")
    branches = [one for one in statements(program.body) if isinstance(one, If)]
    assert len(branches) == 1
    assert len(program.samples) == 1


def test_decimals_are_exact() -> None:
    from fractions import Fraction

    from privately.proving.language.syntax import Constant, Return

    program = read_python("def f(x):\n    return 0.1\n")
    assert program.body == (Return(Constant(Fraction(1, 10))),)


def test_no_noise_in_the_condition_of_a_list() -> None:
    with pytest.raises(NotSupported, match="condition of a list"):
        read_python("def f(x):\n    return [v for v in x if flip()]\n")


def test_a_name_inside_brackets_is_its_own() -> None:
    text = (
        "def f(x):\n    v = 7\n    y = [v + uniform(2) for v in x]\n    return [v, [v for v in x if v > 1], len(y)]\n"
    )
    law, _ = output_law(read_python(text), {"x": (1, 2)})
    assert list(law) == [(7, (2,), 2)]
