"""Two names for one list that is changed are refused: Python would tell them apart."""

import pytest

from privately.errors import NotSupported
from privately.proving.language.pythonic import read_python


@pytest.mark.parametrize(
    "body",
    [
        "b: list = a\n    a.append(x)\n    return b",
        "b, c = a, 1\n    a.append(x)\n    return b",
        "b = a if x == x else a\n    a.append(x)\n    return b",
        "b = [a]\n    a.append(x)\n    return b",
        "b = []\n    b.append(a)\n    a.append(x)\n    return b",
        "b = [0]\n    b[0] = a\n    a.append(x)\n    return b",
        "c = [[0]]\n    for r in c:\n        r.append(x)\n    return c",
        "c = [[0]] * 2\n    b = c[0]\n    b.append(x)\n    return c[1]",
        "b = xs\n    b += [1]\n    return len(xs)",
        "xs.append(x)\n    return len(xs)",
        "n = 0\n    for v in a:\n        n += 1\n        a.pop()\n    return n",
        "for v in a:\n        a += [v]\n    return a",
        "for v in a:\n        a[0] = x\n    return a",
        "g = (v for v in xs)\n    return sum(g) - sum(g)",
        "return (1, 2) == [1, 2]",
    ],
)
def test_refused(body: str) -> None:
    with pytest.raises(NotSupported, match="line "):
        read_python(f"def f(x, xs):\n    a = [0]\n    {body}\n")


@pytest.mark.parametrize(
    "body",
    [
        "b = list(a)\n    b.append(x)\n    return [a, b]",
        "b = a + [x]\n    a.append(1)\n    return b",
        "b = a[:]\n    a.append(1)\n    return [len(b), sum(v for v in a)]",
        "b = a\n    return b",
        "a += [x]\n    return a, len(a)",
        "for v in list(a):\n        a.append(v)\n    return a",
    ],
)
def test_allowed(body: str) -> None:
    assert read_python(f"def f(x, xs):\n    a = [0]\n    {body}\n").body
