"""Small questions about statements."""

from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import (
    Each,
    Variable,
    assigned,
    blocks_of,
    expressions_of,
    free_variables,
    statements,
    subexpressions,
)

PROGRAM = read_python(
    "def f(x, y):\n    if x[0] > y:\n        z = [v + y for v in x]\n    else:\n        z = flip(y)\n    return z\n"
)


def test_names_inside_brackets_are_not_free() -> None:
    each = Each(Variable("v"), "v", Variable("x"), Variable("w"))
    assert free_variables(each) == {"x", "w"}
    assert Variable("v") in subexpressions(each)


def test_statements_and_their_parts() -> None:
    found = list(statements(PROGRAM.body))
    assert len(found) == 5
    assert len(blocks_of(found[0])) == 2
    assert free_variables(expressions_of(found[0])[0]) == {"x", "y"}
    assert "z" in assigned(PROGRAM.body)
