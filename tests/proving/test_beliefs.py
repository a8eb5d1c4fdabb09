"""What an observer can believe."""

from fractions import Fraction

import pytest

from privately.errors import InvalidParameter, NotSupported
from privately.guarantees.couplings import Lifted, NotLifted
from privately.proving import analyze, anything, bits
from privately.proving.beliefs import all_inputs, coupled, expected, feasible, odds, posterior, reveals_nothing

MATCH = "def match(secret: replaced(0, 1, 2, 3), guess):\n    return secret == guess\n"
RESPONSE = "def rr(x: replaced(0, 1)):\n    return x if flip() else flip()\n"
PAD = "OneTimePad(m : private msg) : public msg\n  key := $ Uniform({0,1}n);\n  cipher := m xor key;\n  return cipher\n"


def test_feasible_sets_of_the_match_rule() -> None:
    found = analyze(MATCH, public={"guess": 2})
    assert feasible(found, output=True) == [(2,)]
    assert feasible(found, output=False) == [(0,), (1,), (3,)]
    assert len(all_inputs(found)) == 4


def test_posteriors_by_bayes() -> None:
    found = analyze(RESPONSE)
    assert posterior(found, 1) == {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert posterior(found, 1, {(0,): 9, (1,): 1}) == {(0,): Fraction(3, 4), (1,): Fraction(1, 4)}
    with pytest.raises(InvalidParameter, match="no input"):
        posterior(found, 1, {(7,): 1})
    with pytest.raises(NotSupported, match="nobody"):
        posterior(found, 5)


def test_odds_stay_within_epsilon() -> None:
    found = analyze(RESPONSE)
    assert odds(found, 1, (1,), (0,)) == 3
    assert odds(found, 0, (1,), (0,)) == Fraction(1, 3)
    assert odds(analyze(MATCH, public={"guess": 2}), True, (2,), (1,)) is None
    with pytest.raises(NotSupported, match="neither"):
        odds(found, 5, (1,), (0,))
    with pytest.raises(InvalidParameter, match="no input"):
        odds(found, 1, 1, 0)  # type: ignore[arg-type]  # no tuples
    assert feasible(found, [1]) == []


def test_expected_errors() -> None:
    found = analyze(RESPONSE)
    assert expected(found, lambda inputs, output: abs(inputs["x"] - output)) == dict.fromkeys(
        [(0,), (1,)], Fraction(1, 4)
    )


def test_a_pad_reveals_nothing() -> None:
    assert reveals_nothing(analyze(PAD, neighbors={"m": anything(bits(3))}, public={"n": 3}))
    assert not reveals_nothing(analyze(RESPONSE))


def test_couplings_of_outputs() -> None:
    found = analyze(RESPONSE)
    assert isinstance(coupled(found, (0,), (1,), lambda a, b: a <= b), Lifted)
    assert isinstance(coupled(found, (0,), (1,), lambda a, b: a == b), NotLifted)


def test_beliefs_about_noise_without_end() -> None:
    found = analyze("def f(x: replaced(0, 1, 2)):\n    return x + geometric(1/2)\n")
    assert feasible(found, 1) == [(0,), (1,)]
    assert feasible(found, 40) == [(0,), (1,), (2,)]
    assert odds(found, 40, (2,), (0,)) == 4
    assert posterior(found, 1) == {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    assert not reveals_nothing(found)
    assert reveals_nothing(analyze("def f(x: replaced(0, 1)):\n    return 2 - geometric(1/2)\n"))
    with pytest.raises(NotSupported, match="no end"):
        expected(found, lambda _, output: output)


def test_a_measure_may_be_true_or_false() -> None:
    found = analyze("def f(x: replaced(0, 1)):\n    return x if flip(3/4) else 1 - x\n")
    wrong = expected(found, lambda inputs, output: inputs["x"] != output)
    assert wrong == {(0,): Fraction(1, 4), (1,): Fraction(1, 4)}


def test_floats_are_meant_as_they_are_written() -> None:
    found = analyze("def f(x: replaced(0, 0.1)):\n    return x if flip(3/4) else 0\n")
    assert feasible(found, 0.1) == [(Fraction(1, 10),)]
    assert feasible(found, 0.0) == [(0,), (Fraction(1, 10),)]
    assert odds(found, 0, (0.0,), (0.1,)) == 4
    with pytest.raises(InvalidParameter, match="nan is no output"):
        feasible(found, float("nan"))
