"""Verdicts in words and as data."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from privately.errors import NotPrivate, Unproved
from privately.proving.verdicts import Proved, Refuted, Unknown, Witness, lowest, shown
from privately.rounding import Interval

WITNESS = Witness(
    inputs={"x": (0, True)},
    neighbor={"x": (1, Fraction(1, 2))},
    event="output 0",
    probability=Interval(Fraction(3, 4), Fraction(3, 4)),
    neighbor_probability=Interval(0, 0),
    epsilon=Interval(float("inf"), float("inf")),
)


def test_refuted() -> None:
    verdict = Refuted(claim="1", witness=WITNESS, model="exact")
    assert verdict.word == "refuted"
    assert "x = [0, 1]" in str(verdict)
    assert json.loads(json.dumps(WITNESS.as_data()))["neighbor"] == {"x": [1, "1/2"]}
    with pytest.raises(NotPrivate) as caught:
        verdict.require()
    assert caught.value.witness is WITNESS


def test_digits_show_that_a_claim_is_false() -> None:
    """Ten of them would be below this one; and probabilities that no float holds are not what shows it."""
    claim, lost = "0.49999999999999999999", Fraction("0.499999999999999999999")
    unlikely = Interval(0, Fraction(1, 2**10_000))
    far = replace(WITNESS, probability=unlikely, neighbor_probability=unlikely, epsilon=Interval(lost, lost))
    words = str(Refuted(claim=claim, witness=far, model="exact"))
    assert "epsilon >= 0.499999999999999999999" in words
    assert "logarithms" in words
    assert lowest(Interval(lost, lost), "1/2") == lowest(Interval(lost, lost), "epsilon") == "0.4999999999"
    assert lowest(WITNESS.epsilon, "1") == lowest(WITNESS.epsilon)
    assert "logarithms" not in str(WITNESS)


def test_unknown() -> None:
    verdict = Unknown(claim="1", lower=Interval(0, 1), upper=None, why="no idea.", model="real")
    assert "at least" in str(verdict)
    with pytest.raises(Unproved, match="no idea"):
        verdict.require()


def test_proved() -> None:
    verdict = Proved(claim="1", epsilon=Interval(0, 1), scope="x", method="hand", model="exact")
    verdict.require()
    assert str(verdict).startswith("proved: epsilon <= 1 for x, by hand; tight epsilon")


def test_values_in_words() -> None:
    assert shown((1, (True, Fraction(1, 3)))) == "[1, [1, 1/3]]"
