"""Other expressions in the place of variables."""

from privately.proving.language.pythonic import read_python
from privately.proving.language.substituting import substituted, with_reads
from privately.proving.language.syntax import Assign, Constant, Each, Variable


def test_names_inside_brackets_stay() -> None:
    each = Each(Variable("v"), "v", Variable("v"), Variable("w"))
    assert substituted(each, {"v": Constant(1), "w": Constant(2)}) == Each(Variable("v"), "v", Constant(1), Constant(2))


def test_only_reads_are_replaced() -> None:
    text = (
        "def f(a):\n    while a < 1:\n        if flip(a):\n            a = a + 1\n    assume\n    return a\n".replace(
            "    assume\n", ""
        )
    )
    changed = [with_reads(one, {"a": Constant(7)}) for one in read_python(text).body]
    assert "Variable" not in str(changed).replace("Variable(name='#3')", "")
    assert with_reads(Assign("a", Variable("b")), {"a": Constant(1)}) == Assign("a", Variable("b"))
