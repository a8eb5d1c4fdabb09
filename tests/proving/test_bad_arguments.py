"""What is no input, no claim or no program is told so in words."""

from collections.abc import Callable
from operator import eq
from typing import Any

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import analyze, coupled, expected, feasible, odds, posterior, prove, quadruple, reveals_nothing

RESPONSE = "def f(x: replaced(0, 1), k: between(0, 1)):\n    return x if flip(1/2) else flip(1/2)\n"
KNOWN: dict[str, Any] = {"k": 1}
Wrong = Callable[..., Any]

CASES: dict[str, tuple[Wrong, str]] = {
    "neighbours": (lambda: analyze(RESPONSE, neighbors=3, public=KNOWN), "neighbors: give a dictionary"),  # type: ignore[arg-type]
    "public": (lambda: prove(RESPONSE, 1, public=3), "public: give a dictionary"),  # type: ignore[arg-type]
    "a list for a number": (lambda: analyze(RESPONSE, public={"k": [5]}), "k: 5 is not in between"),
    "an input elsewhere": (lambda: _found().law(x=3), "x: 3 is not in one_of"),
    "an input of another": (lambda: _found().law(x=0, y=1), "no private input 'y'"),
    "inputs elsewhere": (
        lambda: analyze(RESPONSE, public=KNOWN, between=({"x": 5}, {"x": 0})),
        "x: 5 is not in one_of",
    ),
    "no inputs": (lambda: analyze(RESPONSE, public=KNOWN, between=(0, 1)), "inputs: give a dictionary"),  # type: ignore[arg-type]
    "a measure": (lambda: expected(_found(), 3), "measure: give a function"),  # type: ignore[arg-type]
    "no tuple": (lambda: coupled(_found(), 0, 1, lambda one, other: one == other), "0 is no input"),  # type: ignore[arg-type]
    "no input": (lambda: coupled(_found(), (0,), (7,), lambda one, other: one == other), r"\(7,\) is no input"),
    "no analysis": (lambda: reveals_nothing(3), "what pv.analyze returned"),  # type: ignore[arg-type]
    "no analysis at all": (lambda: feasible(3, 0), "what pv.analyze returned"),  # type: ignore[arg-type]
    "no output": (lambda: feasible(_found(), {}), "output: {} is no output"),
    "an unusual input": (lambda: odds(_found(), 1, ({},), (0,)), "no input"),
    "a prior": (lambda: posterior(_found(), 1, 5), "prior: give a dictionary"),  # type: ignore[arg-type]
    "no samples": (lambda: _refuted().witness.replay(0), "samples: 0 is not between 1"),
    "no number of samples": (lambda: _refuted().witness.replay("x"), "samples: 'x' is not a whole number"),
    "no memories": (lambda: _judged(memories=3), "memories: give a list of dictionaries"),
    "memories without names": (lambda: _judged(right_memories=[1]), "right_memories: give a list of dictionaries"),
    "no relation": (lambda: _judged(before=None), "before: give a function of two"),
    "a claim": (lambda: prove(RESPONSE, "-1", public=KNOWN), "claim: -1 is below 0"),
    "no text": (lambda: prove(" \n", 1), "program: is empty"),
}


def _found() -> Any:
    return analyze(RESPONSE, public=KNOWN)


def _refuted() -> Any:
    return prove(RESPONSE, "1/2", public=KNOWN)


def _judged(**given: Any) -> Any:
    known = {"left": RESPONSE, "right": RESPONSE, "before": eq, "after": eq, "memories": [{"x": 0, "k": 1}]}
    return quadruple(**{**known, **given})


@pytest.mark.parametrize("name", CASES)
def test_words_for(name: str) -> None:
    wrong, told = CASES[name]
    with pytest.raises(InvalidParameter, match=told):
        wrong()


def test_texts_of_editors_and_of_loops() -> None:
    assert prove("\ufeff" + RESPONSE, 2, public=KNOWN).word == "proved"
    with pytest.raises(NotSupported, match="a program is one function"):
        prove("async def f(x: replaced(0, 1)):\n    return x\n", 1)
