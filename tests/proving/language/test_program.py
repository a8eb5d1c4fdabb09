"""Whole programs."""

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
