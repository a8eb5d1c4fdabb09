"""Weighted states through statements: planted faults are found, and there is a limit."""

import pytest

from privately.errors import NotSupported
from privately.proving.exact import budgets, following, tails
from privately.proving.exact.budgets import Budget
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.states import output_law
from privately.proving.language.pythonic import read_python
from tests.endless import ends
from tests.proving.exact.test_states import agrees_with_a_window


def _skips(state: tuple[object, ...], gap: tails.Tail) -> list[tuple[tuple[object, ...], object]]:
    """Starts tails one too far."""
    parts = tails.split(state, gap)
    return [
        (tails.put(part, {one: tails.Tail(1, ((one, 1),)) for one in tails.variables(part)}), m) for part, m in parts
    ]


def _same_again(value: object, _: tuple[object, ...]) -> object:
    """Takes a new draw for one that was made before."""
    return value


@pytest.mark.parametrize(("name", "fault"), [("split", _skips), ("fresh", _same_again)])
def test_planted_faults_are_found(name: str, fault: object, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "    a = x + geometric(1/2)\n    b = geometric(1/2)\n    return [a > 2, a < b]\n"
    assert agrees_with_a_window(body, 0)
    monkeypatch.setattr(following, name, fault)
    assert not agrees_with_a_window(body, 0)


def test_states_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MOST_WORK", 1000)
    text = "def f(x):\n    n = 0\n    while flip():\n        n += 1\n    return n\n"
    with pytest.raises(NotSupported, match="more than 1000 steps"):
        output_law(read_python(text), {"x": 0})


GROWING = {
    "long numbers": "    y = 1\n    while y > 0:\n        y = y * 2/3\n    return y\n",
    "halves": "    y = 1\n    while y > 0:\n        y = y / 2\n    return y\n",
    "long lists": "    i = 0\n    while i < 9000:\n        s = sum(range(90000))\n        i += 1\n    return i\n",
    "a long list kept": "    a = [0] * 90000\n    i = 0\n    while i < 9000:\n        i += 1\n    return a[x]\n",
    "lists compared": "    a = [0] * 90000\n    i = 0\n    while i < 9000:\n        i += a == a\n    return i\n",
    "many noises": "    y = 0\n    while y >= 0:\n        y += discrete_laplace(1)\n    return y\n",
    "noises of many sizes": """    a = 0
    for i in range(12):
        a = a*3 + discrete_laplace(1)
    return a > x
""",
    "fractions": "    s = x\n    for i in range(1, 40):\n        s = s + flip(1/3) / (i * i + 1)\n    return s\n",
    "many powers": "    s = 0\n    for i in range(400):\n        s += flip_exp((i + 1) / 7)\n    return s\n",
    "a sum and another": """    s = 0
    t = 0
    for i in range(900):
        if flip(1/3):
            t = 1 - t
        if t == 1:
            s += flip(1/7)
    return s
""",
    "many outcomes": "    return [uniform(1000), uniform(1000)]\n",
    "long weights": "    y = 9\n    while 0 < y and y < 80:\n        y += flip_exp(1) - flip_exp(1/3)\n    return y\n",
}


@pytest.mark.parametrize("name", GROWING)
def test_work_is_counted_in_bits_and_entries(name: str) -> None:
    """Without counting it, each of these takes minutes, or seconds at best."""
    with ends(), pytest.raises(NotFinite, match="more than 80000 steps"):
        output_law(read_python(f"def f(x):\n{GROWING[name]}"), {"x": 1}, budget=Budget(80_000))
