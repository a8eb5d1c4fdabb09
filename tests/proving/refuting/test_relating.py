"""Neighbours as formulas."""

import pytest
import z3

from privately.proving.language.declarations import (
    Neighborhood,
    added,
    anything,
    between,
    each,
    inside,
    monotone,
    one,
    one_of,
    replaced,
    whole,
)
from privately.proving.refuting.relating import member, related


def true(formula: z3.BoolRef) -> bool:
    return bool(z3.is_true(z3.simplify(formula)))


def reals(*values: str) -> list[z3.ArithRef]:
    return [z3.RealVal(value) for value in values]


@pytest.mark.parametrize(
    ("near", "left", "right", "wanted"),
    [
        (each(1), ("0", "0"), ("1", "-1"), True),
        (each("1/2"), ("0", "0"), ("1", "0"), False),
        (one(1), ("0", "0"), ("1", "1"), False),
        (one(1), ("0", "0"), ("0", "1"), True),
        (monotone(1), ("0", "0"), ("1", "-1"), False),
        (monotone(1), ("0", "0"), ("-1", "0"), True),
        (replaced(), ("0", "0"), ("5", "0"), True),
        (replaced(), ("0", "0"), ("5", "1"), False),
        (anything(), ("0", "0"), ("5", "1"), True),
        (added(), ("0", "7"), ("7",), True),
        (added(), ("0", "7"), ("1",), False),
        (added(), ("0", "7", "1"), ("0", "1"), True),
        (added(), ("0", "7", "1"), ("7", "0"), False),
        (added(), ("5",), (), True),
        (replaced(), ("0", "1", "2"), ("0", "5", "2"), True),
        (replaced(), ("0", "1", "2"), ("5", "1", "5"), False),
        (replaced(), (), (), True),
    ],
)
def test_relations(near: Neighborhood, left: tuple[str, ...], right: tuple[str, ...], *, wanted: bool) -> None:
    assert true(related(near, reals(*left), reals(*right))) == wanted


def test_membership() -> None:
    assert true(member(z3.RealVal("1/2"), between(0, 1)))
    assert not true(member(z3.RealVal(1), inside(0, 1)))
    assert not true(member(z3.RealVal("1/2"), whole(0)))
    assert true(member(z3.IntVal(3), whole(0, 5)))
    assert true(member(z3.RealVal(2), one_of(1, 2)))
    assert not true(member(z3.RealVal(1000), each(1).domain or between(0, 1)))


@pytest.mark.parametrize("near", [one(1), replaced(), added()], ids=str)
def test_formulas_grow_with_the_lists_and_no_faster(near: Neighborhood) -> None:
    def length(size: int) -> int:
        xs, ys = z3.Reals([f"x{i}" for i in range(size)]), z3.Reals([f"y{i}" for i in range(size)])
        return len(related(near, xs, ys[1:] if near.change == "added" else ys).sexpr())

    assert length(80) < 3 * length(40)
