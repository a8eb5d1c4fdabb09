"""One list of laws: the least epsilon of all roads."""

from fractions import Fraction

import pytest

from privately.accounting.certifying.bounds import Question, for_claim
from privately.accounting.certifying.cases import Case
from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.roads import Bound
from privately.errors import NoSuchRule
from tests.accounting.certifying.twins import enclosing, law

DELTA = Fraction(1, 10**6)
MIX = enclosing("sampled mix", [(law("laplace", 1), 1), (law("normal", 1), 1)], "1/10")


@pytest.mark.parametrize(
    ("laws", "method"),
    [
        ([(law("normal", 1), 3)], "gaussian"),
        ([(law("laplace", 1), 1)], "laplace"),
        ([(law("response", 1, 2, 0), 30)], "binomial"),
        ([(MIX, 1)], "base"),
        ([(MIX, 10)], "mixed"),
        ([(law("concentrated", 1), 3)], "renyi"),
        ([(law("normal", 10**5), 3)], "renyi"),
    ],
)
def test_the_method_that_fits(laws: list[tuple[Law, int]], method: str) -> None:
    assert Question.of(Case(tuple(laws), "remove"), DELTA).bound(Fraction(-1)).witness["method"] == method


def test_no_bound_at_all() -> None:
    for one in (law("normal", 1), law("response", 1, 2, "1/2")):
        with pytest.raises(NoSuchRule):
            Question.of(Case(((one, 1),), "remove"), Fraction(0)).bound(Fraction(0))


def test_cells_are_for_their_own_epsilon() -> None:
    cells = Bound(Fraction(1), {"method": "base", "bound": {"method": "cells"}})
    assert for_claim(cells, Fraction(1)) is cells
    assert for_claim(cells, Fraction(2)).witness == {"method": "smaller", "epsilon": "1", "bound": cells.witness}
    pure = Bound(Fraction(1), {"method": "pure"})
    assert for_claim(pure, Fraction(2)) is pure
