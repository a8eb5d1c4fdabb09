"""Sums that a loop only adds to."""

import pytest

from privately.proving.exact.accumulators import accumulator, added_to
from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import Apply, Constant, Variable, While

BODY = "def f(x):\n    s = 0\n    t = 0\n    i = 0\n    while i < 3:\n        {}\n        i += 1\n    return [s, t]\n"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("s += x", "s"),
        ("s = x + s", "s"),
        ("s = s - x", None),
        ("s = 2 * s", None),
        ("s = s + s", None),
        ("s += x\n        t = s", None),
        ("s += 1 if s > 2 else 0", None),
        ("s = flip()", None),
        ("s += 1\n        if flip():\n            return s", None),
        ("if s > 1:\n            s += 1", None),
    ],
)
def test_what_is_only_added_to(line: str, found: str | None) -> None:
    loop = next(one for one in read_python(BODY.format(line)).body if isinstance(one, While))
    assert accumulator(loop, frozenset({"s", "t"})) == found


def test_what_is_added() -> None:
    s = Variable("s")
    assert added_to(Apply("+", (s, Constant(1))), "s") == Constant(1)
    assert added_to(Apply("+", (s, s)), "s") is None
    assert added_to(Constant(1), "s") is None
