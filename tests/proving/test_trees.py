"""Trees of draws."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving.reading import read_program
from privately.proving.trees import Leaf, Node, tree
from tests.proving.programs import FORMS
from tests.proving.ways import law_by_running


def leaves(grown: Any) -> list[Leaf]:
    return [grown] if isinstance(grown, Leaf) else [leaf for _, _, below in grown.branches for leaf in leaves(below)]


@pytest.mark.parametrize("name", ["response", "noise in conditions", "popping", "pairs"])
def test_leaves_add_up_to_the_law(name: str) -> None:
    text, inputs = FORMS[name]
    grown = tree(read_program(text), inputs[0])
    law: dict[Any, Fraction] = {}
    for leaf in leaves(grown):
        law[leaf.output] = law.get(leaf.output, Fraction(0)) + leaf.mass
    assert law == law_by_running(text, inputs[0])


def test_a_tree_says_where_it_draws() -> None:
    grown = tree(read_program("def f(x):\n    b = flip(1/3)\n    return x + b\n"), {"x": 4})
    assert isinstance(grown, Node)
    assert (grown.line, grown.law) == (2, "flip")
    assert [leaf.output for leaf in leaves(grown)] == [5, 4]


def test_too_many_ways_and_no_end() -> None:
    assert tree(read_program("def f(x):\n    return uniform(100)\n"), {"x": 0}) is None
    assert tree(read_program("def f(x):\n    while flip():\n        x = 1\n    return x\n"), {"x": 0}) is None
    assert tree(read_program("def f(x):\n    while True:\n        x = 1\n    return x\n"), {"x": 0}) is None
    assert tree(read_program("def f(x):\n    return flip_exp(x)\n"), {"x": Fraction(1, 2)}) is not None


def test_refusals() -> None:
    with pytest.raises(NotSupported, match="without an output"):
        tree(read_program("def f(x):\n    y = x\n"), {"x": 0})
    with pytest.raises(InvalidParameter, match="assumption"):
        tree(read_program("def f(x):\n    assume(x > 1)\n    return x\n"), {"x": 0})


def test_noise_without_end_has_no_tree() -> None:
    assert tree(read_program("def f(x):\n    return x + geometric(1/2)\n"), {"x": 0}) is None
