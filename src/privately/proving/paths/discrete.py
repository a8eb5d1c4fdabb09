"""The probability of a tree of constraints on discrete noise: sums of balls over finite ranges, the rest bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, count
from math import lcm
from typing import TypeAlias

from flint import arb

from privately.proving.paths.affine import Relation
from privately.proving.paths.densities import Table, table
from privately.proving.paths.systems import Edge, Node, Part

_Line: TypeAlias = tuple[int, int, int]
_FIRST, _LAST = -(10**30), 10**30


def probability(part: Part) -> arb:
    """How likely the part is, at the working precision.

    Theorem: the ball contains the probability that independent draws meet all constraints of the part.
    Reference: Pearl 1988, section 4.2 (trees)
    Proof: docs/theory/refuting.md#tables
    Checked-by: tests/proving/paths/test_discrete.py::test_trees_agree_with_summing_over_all_draws
    """
    root = max(part.shares, key=lambda symbol: len(part.neighbors(symbol)))
    top, outside = _met(part.rooted(root))
    inside = sum(top.masses, arb(0))
    return inside + outside * arb(0.5, 0.5)


def _met(node: Node) -> tuple[Table, arb]:
    """Every value of this variable with its probability, its subtree met; and how much may be missing in all."""
    found = within(node)
    masses, outside = found.masses, found.outside
    for child, edges in node.children:
        below, missing = _met(child)
        outside += missing
        masses = [mass * chance for mass, chance in zip(masses, given(below, edges, found.low), strict=False)]
    return Table(found.low, masses, arb(0)), outside


def within(node: Node) -> Table:
    """The law of a variable between the bounds on it alone."""
    plain = table(node.shares)
    low, high = plain.low, plain.high
    for factor, constant, relation in node.bounds:
        whole, _, shift = _whole(factor, Fraction(0), constant)
        least, most = _range((whole, shift), relation)
        low, high = max(low, least), min(high, most)
    masses = plain.masses[low - plain.low : high - plain.low + 1] if low <= high else []
    return Table(low, masses, plain.outside)


def given(below: Table, edges: Sequence[Edge], first: int) -> Iterator[arb]:
    """How likely a child is, for one value of its parent after the other."""
    summed = [arb(0), *accumulate(below.masses)]
    lines = [(_whole(factor, other, constant), relation) for factor, other, constant, relation in edges]
    return (_between(summed, below.low, lines, value) for value in count(first))


def _between(summed: list[arb], low: int, lines: Sequence[tuple[_Line, Relation]], value: int) -> arb:
    """The mass of all values of the child that go with this value of the parent."""
    first, last = _FIRST, _LAST
    for (factor, other, constant), relation in lines:
        least, most = _range((factor, other * value + constant), relation)
        first, last = max(first, least), min(last, most)
    start = min(max(first - low, 0), len(summed) - 1)
    end = min(max(last - low + 1, 0), len(summed) - 1)
    return summed[end] - summed[start] if end > start else arb(0)


def _whole(factor: Fraction, other: Fraction, constant: Fraction) -> _Line:
    """The same line times the common denominator: no comparison with zero changes."""
    common = lcm(factor.denominator, other.denominator, constant.denominator)
    return int(factor * common), int(other * common), int(constant * common)


def _range(line: tuple[int, int], relation: Relation) -> tuple[int, int]:
    """The whole numbers k with factor k + constant as wanted."""
    factor, constant = line
    if relation == "==":
        return (1, 0) if constant % factor else (-constant // factor, -constant // factor)
    if factor > 0:
        return (-constant // factor + 1 if relation == ">" else -(constant // factor)), _LAST
    return _FIRST, (-(constant // factor) - 1 if relation == ">" else constant // -factor)
