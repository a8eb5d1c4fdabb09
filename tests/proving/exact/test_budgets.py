"""What one answer may take."""

from fractions import Fraction
from typing import Any

import pytest

from privately.proving import Proved, Verdict, analyze, bits, each, prove, prover, replaced, whole
from privately.proving.exact import budgets
from privately.proving.exact.budgets import GLANCE, Budget, NotFinite, spend


def test_a_budget_is_spent() -> None:
    budget = Budget(10)
    budget.spend(10)
    assert not budget.is_spent
    with pytest.raises(NotFinite, match="more than 10 steps"):
        budget.spend(1)
    assert budget.is_spent


def test_time_ends_what_work_misjudges() -> None:
    budget = Budget(10 * GLANCE, seconds=0)
    budget.spend(GLANCE)
    with pytest.raises(NotFinite, match="more than 0 seconds"):
        budget.spend(1)


def test_steps_are_those_of_who_answers() -> None:
    spend(10**9)
    budget = Budget(100)
    with budget.answering(), pytest.raises(NotFinite):
        spend(101)
    spend(10**9)


def test_all_of_an_answer_spends_together_and_a_renewed_budget_begins_again() -> None:
    budget = Budget(100, renewed=True)
    for _ in range(3):
        with budget.answering():
            spend(60)
            with budget.answering():
                spend(30)
            assert budget.left == 10
    kept = Budget(100)
    for left in (40, -20):
        try:
            with kept.answering():
                spend(60)
        except NotFinite:
            assert left < 0
        assert kept.left == left


QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "laws": ("def f(x: replaced(0, 1)):\n    return [uniform(1000), uniform(1000)]\n", {}),
    "pairs": ("def f(x):\n    return flip(1/2)\n", {"neighbors": {"x": replaced(bits(10))}}),
    "outputs": (
        "def f(x):\n    a = []\n    for v in x:\n        a.append(v + uniform(2))\n    return a\n",
        {"neighbors": {"x": each(1, whole(0, 2))}, "sizes": [4]},
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_part_of_an_answer_is_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: with little work all of these are refused, in whichever part it runs out."""
    text, known = QUESTIONS[name]
    monkeypatch.setattr(budgets, "MOST_WORK", 20_000)
    with pytest.raises(NotFinite, match=r"steps of work"):
        _ = analyze(text, **known).epsilon


def test_comparing_is_work() -> None:
    text = "def f(x: replaced(0, 1)):\n    return uniform(500) + x\n"
    found = analyze(text)
    assert len(found.pairs) == 2
    left = found._budget.left
    _ = found.largest
    assert found._budget.work - found._budget.left >= 1000
    assert left < found._budget.work
    found.delta(1)
    assert found._budget.work - found._budget.left >= 1000


def test_zeros_of_formulas_are_work() -> None:
    flips = "def f(x: replaced(0, 1), p):\n    s = x\n    for i in range(30):\n        s += flip(p)\n    return s % 2\n"
    found = analyze(flips)
    assert found.pieces
    assert found._budget.work - found._budget.left > 30**3 // 2


@pytest.mark.parametrize(("inputs", "coins"), [(5, 12), (3, 25)])
def test_formulas_of_many_pieces_are_refused_before_they_are_drawn(inputs: int, coins: int) -> None:
    """Without counting them, the zeros of all differences take minutes."""
    text = f"""def f(x: replaced(whole(0, {inputs})), p):
    s = x
    for i in range({coins}):
        if flip(p / (1 + x)):
            s += flip(p)
    return s % 7
"""
    with pytest.raises(NotFinite, match="steps of work"):
        _ = analyze(text).pieces


def test_a_verdict_shares_its_work_among_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each size alone is cheap enough; all together are not, so the last are searched only."""
    text = (
        "def f(x: replaced(0, 1)):\n    a = []\n    for v in x:\n        a.append((v + flip(1/4)) % 2)\n    return a\n"
    )
    searched: list[float] = []

    def search(*_: object, budget: float, **__: object) -> Verdict:
        searched.append(budget)
        return Proved(claim="", epsilon=None, scope="", method="", model="")

    monkeypatch.setattr(prover, "searched", search)
    assert prove(text, "ln(3) + size", sizes=[3]).word == "proved"
    monkeypatch.setattr(budgets, "MOST_WORK", 4_200)
    assert prove(text, "ln(3) + size", sizes=[3]).word == "proved"
    assert not searched
    prove(text, "ln(3) + size", sizes=[1, 2, 3])
    assert len(searched) == 1


def test_fractions_of_a_second_are_said() -> None:
    budget = Budget(10 * GLANCE, seconds=float(Fraction(1, 4)))
    budget.end = 0.0
    with pytest.raises(NotFinite, match=r"more than 0\.25 seconds"):
        budget.spend(GLANCE + 1)


def test_laws_that_are_asked_for_later_have_work_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MOST_WORK", 3_000)
    found = analyze("def f(x: replaced(0, 1, 2, 3)):\n    return [x, uniform(300)]\n", between=({"x": 0}, {"x": 1}))
    for x in range(4):
        assert len(found.law(x=x)) == 300
