"""Lists that are only added up: the law stays, the states are few."""

from dataclasses import replace

import pytest

from privately.proving.exact import folding
from privately.proving.exact.budgets import Budget
from privately.proving.exact.folding import folded
from privately.proving.exact.states import output_law
from privately.proving.exact.weights import fraction
from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import (
    Apply,
    Constant,
    Each,
    Return,
    Variable,
    expressions_of,
    statements,
    subexpressions,
)
from tests.proving.ways import law_by_running

FOLDED = {
    "sum": "    return sum([v if flip() else flip() for v in x])\n",
    "generator": "    return sum(v * uniform(2) for v in x) + 1\n",
    "named": "    y = [v if flip() else 0 for v in x]\n    return [sum(y), len(y)]\n",
    "appended": """    a = []
    for v in x:
        if flip(1/3):
            a.append(v)
        else:
            a = a + [v, sum(x), 2]
    return sum(a) - 7 * len(a)
""",
    "copied": """    a = [1]
    b = [2, 3] if flip() else a
    for v in x:
        a = a + [v + uniform(2)]
    b = b + a
    return sum(b)
""",
    "counted": """    a = []
    for v in x:
        if flip(v / 3 + 1/4):
            a.append(v)
    return len(a)
""",
    "shadowed": """    a = [1]
    a = a + [flip()]
    b = [sum(a) for a in [[1, 2], [3]]]
    return sum(b) + sum(a)
""",
    "condition": """    a = []
    b = []
    for v in x:
        b.append(flip())
        if sum(b) > 1:
            a.append(sum(b) + len(b))
    return sum(a)
""",
}
KEPT = {
    "returned": "    a = [flip() for v in x]\n    return [sum(a), a]\n",
    "indexed": "    a = [flip() for v in x]\n    return sum(a) + a[0]\n",
    "largest": "    a = [flip() for v in x]\n    return max(a) + sum(a)\n",
    "own sum": "    a = [1]\n    for v in x:\n        a = a + [sum(a)] if flip() else a\n    return sum(a)\n",
    "own sum decides": """    a = [1]
    for v in x:
        c = 1 + flip()
        a = a + [c] if sum(a) < 3 else a
    return len(a)
""",
}


def text_of(body: str) -> str:
    return f"def f(x):\n{body}"


def holds_lists(text: str) -> bool:
    """Whether some list is still put together."""
    body = folded(read_python(text)).body
    parts = (part for one in statements(body) for value in expressions_of(one) for part in subexpressions(value))
    return any(isinstance(part, Apply) and part.operator == "joined" for part in parts)


def agrees(text: str, x: tuple[int, ...]) -> bool:
    law, _ = output_law(read_python(text), {"x": x})
    return {output: fraction(mass) for output, mass in law.items()} == law_by_running(text, {"x": x})


@pytest.mark.parametrize("name", [*FOLDED, *KEPT])
@pytest.mark.parametrize("x", [(1, 0), (2, 0, 1)])
def test_folding_keeps_the_law(name: str, x: tuple[int, ...]) -> None:
    assert agrees(text_of({**FOLDED, **KEPT}[name]), x)


@pytest.mark.parametrize("name", FOLDED)
def test_lists_that_are_only_added_up_are_gone(name: str) -> None:
    assert not holds_lists(text_of(FOLDED[name]))


@pytest.mark.parametrize("name", KEPT)
def test_lists_that_somebody_looks_at_stay(name: str) -> None:
    assert holds_lists(text_of(KEPT[name]))


def test_folding_without_looking_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a list could be folded whoever reads it."""
    text = text_of(KEPT["own sum decides"])
    monkeypatch.setattr(folding, "_elements", lambda _: frozenset())
    folded.cache_clear()
    try:
        assert not holds_lists(text)
        assert not agrees(text, (2, 0, 1))
    finally:
        folded.cache_clear()


def test_a_name_inside_brackets_is_not_the_one_outside() -> None:
    """No front end writes this, and nothing keeps another from it."""
    inner = Each(Apply("total", (Variable("a"),)), "a", Variable("x"), Constant(value=True))
    program = read_python(text_of("    a = [1]\n    a = a + [flip()]\n    return [sum(a), 0]\n"))
    *before, _ = program.body
    shadowed = replace(program, body=(*before, Return(Apply("list", (Apply("total", (Variable("a"),)), inner)))))
    assert folded(shadowed) is shadowed
    assert folded(program) is not program


def test_states_of_a_sum_are_few() -> None:
    program = read_python(text_of(FOLDED["sum"]))
    law, _ = output_law(program, {"x": (1,) * 200}, budget=Budget(400_000))
    assert len(law) == 201


def test_lists_of_lists_are_followed_as_they_are() -> None:
    text = text_of("    a = []\n    for v in x:\n        a = a + [[v, flip()]]\n    return len(a) + uniform(2)\n")
    assert not holds_lists(text)
    assert agrees(text, (1, 0))


def test_a_program_without_such_lists_is_itself() -> None:
    program = read_python(text_of("    a = 0\n    for v in x:\n        a += v * flip()\n    return a\n"))
    assert folded(program) is program


def test_long_lists_that_are_added_up_are_no_deep_sums() -> None:
    loop = f"for i in range(2):\n        a = a + [{'1, ' * 2000}x]"
    program = read_python(f"def f(x):\n    a = []\n    {loop}\n    return sum(a) + flip()\n")
    assert sorted(output_law(program, {"x": 3})[0]) == [4006, 4007]
