"""Exact analysis."""

from fractions import Fraction

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import analyze, between, each, replaced, whole
from privately.proving.analysis import question
from privately.proving.reading import read_program

RESPONSE = "def rr(x: replaced(0, 1), p):\n    b = flip(p)\n    return x if b else flip(p)\n"
EXPONENTIAL = """
def choose(scores: each(1, whole(0, 2)), scale):
    best = max(scores)
    while True:
        i = uniform(len(scores))
        if flip_exp((best - scores[i]) / scale):
            return i
"""


def test_the_tight_epsilon_and_where_it_is_lost() -> None:
    found = analyze(RESPONSE, public={"p": "1/4"})
    assert found.worst.value == Fraction(7, 3)
    assert found.worst.inputs == ((1,), (0,))
    assert found.law(x=1) == {1: Fraction(7, 16), 0: Fraction(9, 16)}
    assert found.curve.delta_at_ratio(1) == Fraction(1, 4)


def test_the_formula_of_randomized_response_has_two_pieces() -> None:
    found = analyze(RESPONSE)
    assert [(str(one.lower), str(one.upper)) for one in found.pieces] == [("0", "1/2"), ("1/2", "1")]
    first, second = (repr(one.largest.value) for one in found.pieces)
    assert first == "(x + (-2))/(x + (-1))"
    assert second == "(x^2 + (-1)*x + 1)/(x^2 + (-2)*x + 1)"


def test_at_the_ends_the_formula_jumps() -> None:
    assert analyze(RESPONSE, public={"p": 0}).epsilon.upper == 0
    assert analyze(RESPONSE, public={"p": 1}).epsilon.lower == float("inf")


def test_exponentials_are_exact_too() -> None:
    found = analyze(EXPONENTIAL, public={"scale": 2}, sizes=[2])
    assert abs(found.epsilon.lower - Fraction("0.62011450695827752463176337351")) < Fraction(1, 10**27)  # ln((1+e)/2)
    assert found.epsilon.width < Fraction(1, 10**17)
    with pytest.raises(NotSupported, match="curve"):
        _ = found.curve


def test_units_are_made_finer_when_needed() -> None:
    text = "def f(x: replaced(2, 3)):\n    return flip_exp(1 / x)\n"
    found = analyze(text)
    assert abs(found.epsilon.lower - Fraction("0.327901475287467975510625833897")) < Fraction(1, 10**27)
    assert found.place is not None


def test_vacuous_assumptions_are_noticed() -> None:
    text = "def f(x: replaced(0, 1)):\n    assume(x > 5)\n    return x\n"
    with pytest.raises(NotSupported, match="every claim would hold"):
        _ = analyze(text).pairs


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"public": {"zebra": 1}}, "public"),
        ({"neighbors": {"zebra": replaced(0, 1)}}, "neighbors"),
        ({"sizes": []}, "sizes"),
        ({"sizes": [-1]}, "sizes"),
        ({"public": {"p": float("nan")}}, "p"),
        ({"public": {"p": "many"}}, "p"),
    ],
)
def test_bad_questions_are_refused(change: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        question(read_program(RESPONSE), **change)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_values_stay_in_their_domains() -> None:
    text = "def f(x: replaced(0, 1), n: whole(1, 3)):\n    return x + n\n"
    with pytest.raises(InvalidParameter, match=r"whole\(1, 3\)"):
        analyze(text, public={"n": 7})


def test_only_one_parameter_stays_open() -> None:
    with pytest.raises(InvalidParameter, match="have no values"):
        _ = analyze("def f(x: replaced(0, 1), p, q):\n    return flip(p) + flip(q)\n").pairs
    with pytest.raises(InvalidParameter, match="may be anything"):
        _ = analyze(RESPONSE, public={"p": whole(0, 3)}).pieces
    with pytest.raises(InvalidParameter, match="one epsilon"):
        _ = analyze(RESPONSE, public={"p": "1/2"}).pieces
    assert analyze(RESPONSE, public={"p": between(0, "1/4")}).pieces
    assert each(1).distance == 1


def test_missing_inputs_are_named() -> None:
    with pytest.raises(InvalidParameter, match="'x' is missing"):
        analyze(RESPONSE, public={"p": 0}).law(y=1)


def test_programs_without_private_inputs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no private input"):
        _ = analyze("def f(x):\n    return x\n", public={"x": 1}).pairs
