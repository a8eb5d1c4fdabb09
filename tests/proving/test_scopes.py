"""For which inputs a verdict speaks."""

import pytest

from privately.proving.analysis import question
from privately.proving.language.declarations import inside
from privately.proving.reading import read_program
from privately.proving.scopes import declared_sizes, scope_of


@pytest.mark.parametrize(
    ("condition", "sizes"),
    [
        ("len(x) == 3", (3,)),
        ("len(x) <= 2", (0, 1, 2)),
        ("1 < 2 and len(x) < 2", (0, 1)),
        ("len(x) <= 3 and len(x) == 2", (2,)),
        ("3 == len(x)", (3,)),
        ("2 >= len(x)", (0, 1, 2)),
        ("len(x) >= 2", ()),
        ("len(x) == n", ()),
        ("len(x) == 100000000", ()),
    ],
)
def test_lengths_that_a_program_assumes(condition: str, sizes: tuple[int, ...]) -> None:
    assert (
        declared_sizes(read_program(f"def f(x: replaced(0, 1), n):\n    assume({condition})\n    return x\n")) == sizes
    )


def test_in_words() -> None:
    program = read_program("def f(x: added(0, 1), n, p):\n    assume(n > 1)\n    return x[0] + n\n")
    asked = question(program, public={"n": 2, "p": inside(0, "1/2")}, sizes=[1, 2])
    assert scope_of(asked) == (
        "x of 1, 2 or one more entries, neighbours added(one_of(0, 1)); assuming n > 1; n = 2; p in inside(0, 1/2)"
    )
