"""Relational statements."""

from fractions import Fraction
from functools import partial
from itertools import chain, combinations
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.proving import quadruples
from privately.proving.exact import budgets
from privately.proving.exact.budgets import NotFinite
from privately.proving.exact.states import output_law
from privately.proving.quadruples import Invalid, Valid, quadruple
from privately.proving.reading import read_program

COIN = "def c(x):\n    return x if flip(1/4) else uniform(3)\n"
OTHER = "def d(x):\n    return min(2, x + uniform(2))\n"
MEMORIES = [{"x": value} for value in range(3)]


def _is_pair(wanted: tuple[Any, Any], one: Any, other: Any) -> bool:
    return bool((one, other) == wanted)


@pytest.mark.parametrize("relation", [lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: abs(a - b) <= 1])
def test_validity_agrees_with_all_sets_of_outputs(relation: Any) -> None:
    for one in MEMORIES:
        for other in MEMORIES:
            found = quadruple(
                left=COIN,
                right=OTHER,
                before=partial(_is_pair, (one, other)),
                after=relation,
                memories=MEMORIES,
            )
            laws = [
                {
                    output: Fraction(int(mass.p), int(mass.q))
                    for output, mass in output_law(read_program(text), memory)[0].items()
                }
                for text, memory in ((COIN, one), (OTHER, other))
            ]
            sets = chain.from_iterable(combinations(laws[0], size) for size in range(4))
            strassen = all(
                sum(laws[0][a] for a in chosen)
                <= sum(mass for b, mass in laws[1].items() if any(relation(a, b) for a in chosen))
                for chosen in sets
            )
            assert isinstance(found, Valid) is strassen


def test_a_failure_names_the_memories() -> None:
    found = quadruple(left=COIN, right=COIN, before=lambda _a, _b: True, after=lambda a, b: a == b, memories=MEMORIES)
    assert isinstance(found, Invalid)
    assert found.left != found.right


def test_statements_about_nothing_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no two memories"):
        quadruple(left=COIN, right=COIN, before=lambda _a, _b: False, after=lambda _a, _b: True, memories=MEMORIES)
    many = [{"x": value} for value in range(200)]
    with pytest.raises(InvalidParameter, match="more than"):
        quadruple(left=COIN, right=COIN, before=lambda _a, _b: True, after=lambda _a, _b: True, memories=many)


def test_each_law_is_found_once_and_all_of_it_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def followed(program: Any, memory: Any, *, budget: Any) -> Any:
        seen.append(memory)
        return output_law(program, memory, budget=budget)

    monkeypatch.setattr(quadruples, "output_law", followed)
    statement: dict[str, Any] = {"left": COIN, "right": OTHER, "memories": MEMORIES, "after": lambda *_: True}
    assert isinstance(quadruple(before=lambda *_: True, **statement), Valid)
    assert len(seen) == 2 * len(MEMORIES)
    monkeypatch.setattr(budgets, "MOST_WORK", 100)
    with pytest.raises(NotFinite, match="steps of work"):
        quadruple(before=lambda *_: True, **statement)


@pytest.mark.parametrize(("work", "size"), [(9_000, 100), (10_500, 100)], ids=["relations", "searches"])
def test_couplings_take_bounded_work(monkeypatch: pytest.MonkeyPatch, work: int, size: int) -> None:
    monkeypatch.setattr(budgets, "MOST_WORK", work)
    left, right = (f"u := $ Uniform({size})\nreturn {value}\n" for value in ("u", f"{size - 1} - u"))
    with pytest.raises(NotFinite, match="steps of work"):
        quadruple(left=left, right=right, before=_all, after=lambda one, other: one <= other, memories=[{}])


def _all(one: object, other: object) -> bool:
    return one == other or one != other
