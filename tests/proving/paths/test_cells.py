"""Draws cut into cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from flint import arb

from privately.errors import NotSupported
from privately.proving.paths.affine import Constraint, symbol_form
from privately.proving.paths.cells import cells
from privately.proving.paths.measuring import probability
from privately.proving.paths.noise import Noise
from privately.proving.paths.ranges import Range

LAWS = [
    ("laplace", Fraction(1)),
    ("laplace", Fraction(5, 3)),
    ("exponential", Fraction(2)),
    ("gaussian", Fraction(3, 2)),
    ("discrete_laplace", Fraction(3)),
    ("discrete_exponential", Fraction(2)),
    ("geometric", Fraction(1, 3)),
    ("geometric", Fraction(1)),
    ("rounded_gaussian", Fraction(2)),
    ("discrete_gaussian", Fraction(4)),
]


@pytest.mark.parametrize(("law", "parameter"), LAWS)
@pytest.mark.parametrize("count", [0, 6, 40])
def test_cells_are_a_partition_with_the_chances_of_the_law(law: str, parameter: Fraction, count: int) -> None:
    found = cells(law, (parameter,), count)
    assert sum((mass for _, mass in found), arb(0)).contains(1)
    assert len(found) <= 2 * count + 4
    for (one, _), (other, _) in combinations(found, 2):
        ends = [(cell.low, cell.high) if isinstance(cell, Range) else (cell, cell) for cell in (one, other)]
        (_, below), (above, _) = sorted(ends)
        assert below < above or (below == above and isinstance(one, Range) and one.open)
    draw = symbol_form(0)
    for cell, mass in found[:3] + found[-3:]:
        wanted = [Constraint(draw - cell, "==")] if not isinstance(cell, Range) else []
        if isinstance(cell, Range):
            wanted += [Constraint(draw - cell.low, ">=")] if abs(cell.low) < 10**9 else []
            wanted += [Constraint(cell.high - draw, ">=")] if abs(cell.high) < 10**9 else []
        assert mass.overlaps(probability([Noise(law, parameter)], wanted))


def test_whole_numbers_are_ends_of_cells() -> None:
    ends = {cell.low for cell, _ in cells("laplace", (Fraction(10, 3),), 256) if isinstance(cell, Range)}
    assert ends >= {-3, 0, 7}


def test_coins() -> None:
    assert [value for value, _ in cells("flip", (Fraction(1, 3),), 9)] == [True, False]
    assert [value for value, _ in cells("flip_exp", (Fraction(0),), 9)] == [True]
    (_, heads), (_, tails) = cells("flip_exp", (Fraction(2),), 9)
    assert (heads + tails).contains(1)
    with pytest.raises(NotSupported):
        cells("flip_exp", (Fraction(-1),), 9)
    with pytest.raises(NotSupported):
        cells("laplace", (Fraction(-1),), 9)


def test_laws_with_parameters_that_are_not_known() -> None:
    vague = Range(0, 1, open=True, whole=False)
    assert cells("flip", (vague,), 9) == [(Range(0, 1, open=False, whole=True), arb(1))]
    ((cell, mass),) = cells("exponential", (vague,), 9)
    assert isinstance(cell, Range)
    assert cell.low == 0
    assert mass == 1
    with pytest.raises(NotSupported):
        cells("uniform", (vague,), 9)
