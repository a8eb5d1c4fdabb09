"""The checker's operators are those of the library, on values of all kinds."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately.certificates.checker.programs.exact import Beyond, Fractional, fraction
from privately.certificates.checker.programs.operators import OPERATORS, truth
from privately.errors import NotSupported
from privately.proving.language.meaning import FUNCTIONS
from privately.proving.language.syntax import OPERATORS as KNOWN

VALUES: list[Any] = [
    0,
    1,
    2,
    -3,
    Fraction(1, 2),
    Fraction(-7, 3),
    (),
    (1, 0),
    (2, (1,)),
    ((1,),),
    (Fraction(1, 2), -1, 4),
]


def mine(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(mine(one) for one in value)
    exact = Fraction(value)
    return fraction(exact.numerator, exact.denominator)


def test_there_is_one_for_every_operator() -> None:
    assert set(OPERATORS) | {"and", "or", "if", "function"} == set(KNOWN)
    assert all(count == KNOWN[name] for name, (count, _) in OPERATORS.items())


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_those_of_the_library(name: str) -> None:
    count = OPERATORS[name][0]
    agreed = 0
    for size in [1, 2, 3] if count is None else [count]:
        for given in product(VALUES, repeat=size):
            try:
                wanted = mine(FUNCTIONS[name](*given))
            except NotSupported:
                with pytest.raises(Beyond):
                    OPERATORS[name][1](*map(mine, given))
                continue
            assert OPERATORS[name][1](*map(mine, given)) == wanted, given
            agreed += 1
    assert agreed


def test_conditions_are_one_or_zero() -> None:
    assert truth(1)
    assert not truth(0)
    for other in (2, Fractional(1, 2), (), (1,)):
        with pytest.raises(Beyond, match="neither"):
            truth(other)


def test_lists_and_numbers_have_limits() -> None:
    long = tuple(range(60_000))
    for name, given in (
        ("joined", (long, long)),
        ("repeated", (long, 2)),
        ("numbers", (0, 10**6)),
        ("**", (2, 10**6)),
        ("**", (0, -1)),
        ("list", (((((((1,),),),),),),)),
    ):
        with pytest.raises(Beyond):
            OPERATORS[name][1](*given)
