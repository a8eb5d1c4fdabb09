"""Draws cut into cells: whole numbers one by one, short intervals of continuous noise, and each tail as one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from flint import arb

from privately.errors import NotSupported
from privately.proving.exact.sampling import outcomes
from privately.proving.exact.weights import fraction
from privately.proving.language.laws import LAWS
from privately.proving.language.syntax import Value
from privately.proving.paths.densities import Table, table
from privately.proving.paths.noise import Noise, noise
from privately.proving.paths.piecewise import ball
from privately.proving.paths.ranges import Range, is_vague, ranged

REACH, FAR_REACH, MANY = 8, 16, 512
"""So many scales from zero the cells of continuous noise go, and farther if they are many; normal noise half as far."""

FINE, MIDDLE = Fraction(1, 4), Fraction(1, 2)
"""In the first quarter, around the centre of the noise, cells are half as long; in the outer half, twice."""

WIDEST = 64
"""Wider whole noise has too many values to be cut finely: it is one cell."""

Cell = tuple[Value, arb]


def cells(law: str, arguments: tuple[Value, ...], count: int) -> list[Cell]:
    """Where a draw can lie, with how likely that is: at most about `count` cells, `count` 0 for as few as can be.

    Theorem: the cells cover all draws up to probability zero, they are disjoint, and each ball contains the probability
    of its cell.
    Reference: none, differences of distribution functions
    Proof: docs/theory/refuting.md#cells
    Checked-by: tests/proving/paths/test_cells.py::test_cells_are_a_partition_with_the_chances_of_the_law
    """
    if LAWS[law].support == "finite":
        return _finite(law, arguments)
    if any(map(is_vague, arguments)):
        return [(_support(law), arb(1))]
    drawn = noise(law, arguments)
    if count == 0 or (not drawn.continuous and drawn.scale > WIDEST):
        return [(_support(law), arb(1))]
    return _short(drawn, count) if drawn.continuous else _listed(table([(Fraction(1), drawn)]), drawn, count)


def _finite(law: str, arguments: tuple[Value, ...]) -> list[Cell]:
    if any(map(is_vague, arguments)):
        if law in {"flip", "flip_exp"}:
            return [(Range(0, 1, open=False, whole=True), arb(1))]
        raise NotSupported(f"{law} of a number that is not known exactly.")
    if law != "flip_exp":
        return [(value, ball(fraction(mass))) for value, mass in outcomes(law, arguments, 1)]
    exponent = Fraction(arguments[0])
    if exponent < 0:
        raise NotSupported(f"a coin with probability exp({-exponent}), which is above 1.")
    heads: list[Cell] = [(True, ball(-exponent).exp())]
    return [*heads, (False, -ball(-exponent).expm1())] if exponent else heads


def _support(law: str) -> Range:
    """All that a law can give."""
    continuous = LAWS[law].continuous
    low = 0 if LAWS[law].support in {"naturals", "positive reals"} else -math.inf
    return Range(low, math.inf, open=continuous, whole=not continuous)


def _listed(law: Table, drawn: Noise, count: int) -> list[Cell]:
    """Whole numbers one by one, and two tails."""
    near = count if drawn.one_sided else count // 2
    low, high = max(law.low, 0 if drawn.one_sided else -near), min(law.high, near)
    found: list[Cell] = [(value, law.masses[value - law.low]) for value in range(low, high + 1)]
    rest = law.outside * arb(0.5, 0.5)
    found.append((Range(high + 1, math.inf, open=False, whole=True), sum(law.masses[high + 1 - law.low :], rest)))
    if not drawn.one_sided:
        found.append((Range(-math.inf, low - 1, open=False, whole=True), sum(law.masses[: low - law.low], rest)))
    return [(cell, mass) for cell, mass in found if not mass.is_zero()]


def _short(drawn: Noise, count: int) -> list[Cell]:
    """Intervals with a power of two as their length, so that whole numbers are ends of them, and two tails."""
    near = count if drawn.one_sided else count // 2
    reach = Fraction(REACH if count < MANY else FAR_REACH) / (2 if drawn.law == "gaussian" else 1) * drawn.parameter
    length = Fraction(2) ** math.ceil(math.log2(reach / near))
    edges = [Fraction(0)]
    for share, step in ((FINE, length / 2), (MIDDLE, length), (Fraction(1), 2 * length)):
        end = math.ceil(reach * share / length) * length
        edges += [edges[-1] + step * place for place in range(1, int((end - edges[-1]) / step) + 1)]
    beyond = [_beyond(drawn)(edge) for edge in edges]
    right: list[Cell] = [
        (ranged(a, b, open=True, whole=False), more - less)
        for (a, more), (b, less) in pairwise(zip(edges, beyond, strict=True))
    ]
    right.append((Range(edges[-1], math.inf, open=True, whole=False), beyond[-1]))
    return right if drawn.one_sided else right + [(-cell, mass) for cell, mass in right]


def _beyond(drawn: Noise) -> Callable[[Fraction], arb]:
    """P(draw > place), from zero on."""
    if drawn.law == "gaussian":
        unit = ball(drawn.parameter) * arb(2).sqrt()
        return lambda place: (ball(place) / unit).erfc() / 2
    share = arb(1) if drawn.one_sided else arb(0.5)
    return lambda place: share * ball(-place / drawn.parameter).exp()
