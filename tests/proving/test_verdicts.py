"""Verdicts in words and as data."""

import json
from fractions import Fraction

import pytest

from privately.errors import NotPrivate, Unproved
from privately.proving.verdicts import Proved, Refuted, Unknown, Witness, shown
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
