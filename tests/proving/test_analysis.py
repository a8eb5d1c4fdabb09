"""Exact analysis."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.proving import analyze, anything, between, bits, each, replaced, whole
from privately.proving.analysis import question, rational_law
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.weights import Quotient
from privately.proving.reading import read_program
from privately.rounding import Interval

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
    assert first == "(2 - t)/(1 - t)"
    assert second == "(1 - t + t^2)/(1 - 2*t + t^2)"


def test_at_the_ends_the_formula_jumps() -> None:
    assert analyze(RESPONSE, public={"p": 0}).epsilon.upper == 0
    assert analyze(RESPONSE, public={"p": 1}).epsilon.lower == float("inf")


def test_exponentials_are_exact_too() -> None:
    found = analyze(EXPONENTIAL, public={"scale": 2}, sizes=[2])
    assert isinstance(found.epsilon.lower, Fraction)
    assert abs(found.epsilon.lower - Fraction("0.62011450695827752463176337351")) < Fraction(1, 10**27)  # ln((1+e)/2)
    assert found.epsilon.width < Fraction(1, 10**17)
    with pytest.raises(NotSupported, match="are no fractions"):
        _ = found.curve


def test_units_are_made_finer_when_needed() -> None:
    text = "def f(x: replaced(2, 3)):\n    return flip_exp(1 / x)\n"
    found = analyze(text)
    assert isinstance(found.epsilon.lower, Fraction)
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
        question(read_program(RESPONSE), **change)  # type: ignore[arg-type]  # of wrong kinds
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


def test_two_long_inputs_are_compared_alone() -> None:
    text = (
        "def f(x: replaced(0, 1)):\n    s = 0\n    for v in x:\n        s += v if flip(3/4) else 1 - v\n    return s\n"
    )
    zeros = [0] * 40
    found = analyze(text, between=({"x": zeros}, {"x": [1, *zeros[1:]]}))
    assert len(found.pairs) == 2
    assert found.worst.value == 3
    assert found.delta(1).upper < found.delta(0).upper < Fraction(1, 5)
    assert found.epsilon_at(found.delta("1/2").upper).lower <= Fraction(1, 2)
    with pytest.raises(InvalidParameter, match="the same"):
        analyze(text, between=({"x": zeros}, {"x": zeros}))


def test_missing_inputs_are_named() -> None:
    with pytest.raises(InvalidParameter, match="'x' is missing"):
        analyze(RESPONSE, public={"p": 0}).law(y=1)


def test_programs_without_private_inputs_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="no private input"):
        _ = analyze("def f(x):\n    return x\n", public={"x": 1}).pairs


LAPLACE = "def f(x: replaced(0, 1), scale):\n    return x + discrete_laplace(scale)\n"


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(10, 3)])
def test_the_curve_of_discrete_laplace_is_the_closed_form(scale: Fraction) -> None:
    found = analyze(LAPLACE, public={"scale": scale})
    with mpmath.workdps(50):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale.numerator) * scale.denominator)
        for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1, 4)):
            wanted = (1 - mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) * ratio) / (1 + ratio)
            assert encloses(found.delta(epsilon), wanted)
        for delta in (Fraction(1, 100), Fraction(1, 10**6)):
            share = mpmath.mpf(delta.numerator) / delta.denominator
            assert encloses(found.epsilon_at(delta), mpmath.log((1 - share * (1 + ratio)) / ratio))
    assert found.delta(1 / scale).upper < Fraction(1, 10**30)
    assert found.epsilon.lower <= 1 / scale <= found.epsilon.upper


def encloses(found: Interval, wanted: Any) -> bool:
    near = Fraction(1, 10**15)
    exact = Fraction(mpmath.nstr(wanted, 40))
    return found.width < near and found.lower - near < exact < found.upper + near


def test_outputs_with_tails() -> None:
    found = analyze(LAPLACE, public={"scale": 2})
    assert sorted(map(str, found.law(x=1))) == ["0 or less", "1", "2 or more"]
    assert found.worst.inputs == ((0,), (1,))
    rational = analyze("def f(x: replaced(0, 1)):\n    return min(x + geometric(1/3), 9) + geometric(1/2) * 0\n")
    assert rational.curve.delta_at_ratio(1) == Fraction(1, 3)
    unrolled = analyze("def f(x: replaced(0, 1)):\n    return -x - geometric(1/3)\n")
    assert unrolled.curve.delta_at_ratio(1) == Fraction(1, 3)
    assert unrolled.place is None
    with pytest.raises(NotFinite, match="no end"):
        rational_law(unrolled.law_of((0,)))


def test_a_whole_tail_has_exponentials_too() -> None:
    found = analyze("def f(x: replaced(0, 1)):\n    return 1 - x if x > 1 else discrete_exponential(2)\n")
    assert found.epsilon.upper == 0
    assert found.place is not None


def test_two_inputs_whose_exponents_fit_different_units() -> None:
    text = "def f(x: replaced(2, 3)):\n    return flip_exp(1 / x)\n"
    both, chosen = analyze(text), analyze(text, between=({"x": 2}, {"x": 3}))
    assert chosen.worst.value == both.worst.value
    assert chosen.delta(0).upper == both.delta(0).upper


def test_noises_against_each_other_are_exact() -> None:
    """A tie of two discrete Laplace draws has probability (1-t)(1+t^2)/(1+t)^3, and who wins otherwise is fair."""
    text = "def f(x: replaced(0, 1)):\n    return x + discrete_laplace(1) > discrete_laplace(1)\n"
    found = analyze(text)
    t = Quotient.power(1)
    tie = (1 - t) * (1 + t**2) / (1 + t) ** 3
    assert found.law(x=0)[True] == (1 - tie) / 2
    assert found.law(x=1)[True] == (1 - tie) / 2 + tie


def test_comparing_many_tails_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(x: one(1, whole(0, 1))):\n    return [v + geometric(1/2) for v in x]\n"
    assert analyze(text, sizes=[2]).epsilon.lower == float("inf")
    monkeypatch.setattr("privately.proving.analysis.UNROLLING", 10**8)
    with pytest.raises(NotFinite, match="steps"):
        _ = analyze(text, sizes=[2]).epsilon


def test_a_law_in_a_finer_unit_changes_no_answer() -> None:
    found = analyze("def f(x: each(1, whole(0, 2))):\n    return sum(x) + discrete_laplace(len(x))\n", sizes=[1])
    assert str(found.worst.value) == "1/t"
    found.law(x=[0, 0, 0])
    assert (str(found.worst.value), found.unit) == ("1/t^3", 3)
    assert found.epsilon == Interval(1, 1)


def test_neighbours_with_the_same_laws_are_compared_once() -> None:
    pad = "Pad(m : private msg) : public msg\n  key := $ Uniform({0,1}n)\n  return m xor key\n"
    found = analyze(pad, neighbors={"m": anything(bits(6))}, public={"n": 6})
    assert len(found.pairs) == 64 * 63
    assert len(list(found.ratios())) == 64
    assert found.curve.vertices == ((Fraction(1), Fraction(0)),)


def test_inputs_have_the_shape_that_the_program_takes() -> None:
    number, listed = "def f(x: replaced(0, 1)):\n    return x\n", "def f(x: replaced(0, 1)):\n    return sum(x)\n"
    for program, value in ((number, [1]), (listed, 1), (listed, [[1]])):
        with pytest.raises(InvalidParameter, match=r"a number here|a list here|hold numbers"):
            analyze(program).law(x=value)
        with pytest.raises(InvalidParameter, match=r"a number here|a list here|hold numbers"):
            analyze(program, between=({"x": value}, {"x": value}))
    with pytest.raises(InvalidParameter, match=r"3 entries is not in bits\(2\)"):
        analyze(listed, neighbors={"x": anything(bits(2))}).law(x=[0, 1, 1])
