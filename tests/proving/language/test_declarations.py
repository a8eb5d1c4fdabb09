"""Domains and neighbourhoods."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.proving.language.declarations import (
    ANY_NUMBER,
    POSITIVE,
    added,
    anything,
    between,
    bits,
    each,
    inside,
    monotone,
    one,
    one_of,
    replaced,
    whole,
)


def test_members() -> None:
    assert [*whole(0, 2).members()] == [Fraction(k) for k in range(3)]
    assert [*one_of(3, 1, 1).members()] == [Fraction(1), Fraction(3)]
    assert [*bits(3).members()] == [Fraction(0), Fraction(1)]
    with pytest.raises(InvalidParameter, match="no end"):
        between(0, 1).members()


def test_membership() -> None:
    assert Fraction(1, 2) in between(0, 1)
    assert Fraction(1) in between(0, 1)
    assert Fraction(1) not in inside(0, 1)
    assert Fraction(1, 2) not in whole(0, 2)
    assert Fraction(5) in whole(1)
    assert Fraction(0) not in POSITIVE
    assert Fraction(-9) in ANY_NUMBER


def test_words() -> None:
    assert [str(one_) for one_ in (each(1), one("1/2"), monotone(2, whole(0, 3)))] == [
        "each(1)",
        "one(1/2)",
        "monotone(2, whole(0, 3))",
    ]
    assert str(replaced(0, 1)) == "replaced(one_of(0, 1))"
    assert str(added(whole(0, 4))) == "added(whole(0, 4))"
    assert str(anything(bits(8))) == "anything(bits(8))"
    assert str(whole(1)) == "whole(1, -)"


BAD: list[tuple[Callable[..., object], tuple[object, ...]]] = [
    (each, (-1,)),
    (each, (1, 5)),
    (one, (1, (0, 1))),
    (monotone, (1, each(1))),
    (whole, (2, 1)),
    (whole, ("1/2",)),
    (inside, (1, 1)),
    (one_of, ()),
    (bits, (-1,)),
    (bits, ("5/2",)),
]


@pytest.mark.parametrize(("word", "given"), BAD, ids=lambda part: getattr(part, "__name__", str(part)))
def test_bad_declarations_are_refused(word: Callable[..., object], given: tuple[object, ...]) -> None:
    with pytest.raises(InvalidParameter):
        word(*given)
