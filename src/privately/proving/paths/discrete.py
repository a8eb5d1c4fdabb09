"""The probability of a tree of constraints on discrete noise: sums of balls over finite ranges, the rest bounded."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

from flint import arb

from privately.proving.paths.affine import Relation
from privately.proving.paths.densities import Table, table
from privately.proving.paths.systems import Edge, Node, Part

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
    plain = table(node.shares)
    low, high = plain.low, plain.high
    for factor, constant, relation in node.bounds:
        least, most = _range(factor, constant, relation)
        low, high = max(low, least), min(high, most)
    masses = plain.masses[low - plain.low : high - plain.low + 1] if low <= high else []
    outside = plain.outside
    for child, edges in node.children:
        below, missing = _met(child)
        outside += missing
        summed = [arb(0), *accumulate(below.masses)]
        masses = [mass * _between(summed, below.low, edges, value) for value, mass in enumerate(masses, start=low)]
    return Table(low, masses, arb(0)), outside


def _between(summed: list[arb], low: int, edges: Sequence[Edge], value: int) -> arb:
    """The mass of all values of the child that go with this value of the parent."""
    first, last = _FIRST, _LAST
    for factor, other, constant, relation in edges:
        least, most = _range(factor, other * value + constant, relation)
        first, last = max(first, least), min(last, most)
    start = min(max(first - low, 0), len(summed) - 1)
    end = min(max(last - low + 1, 0), len(summed) - 1)
    return summed[end] - summed[start] if end > start else arb(0)


def _range(factor: Fraction, constant: Fraction, relation: Relation) -> tuple[int, int]:
    """The whole numbers k with factor k + constant as wanted."""
    edge = -constant / factor
    if relation == "==":
        return (int(edge), int(edge)) if edge.denominator == 1 else (1, 0)
    if factor > 0:
        return (floor(edge) + 1 if relation == ">" else ceil(edge)), _LAST
    return _FIRST, (ceil(edge) - 1 if relation == ">" else floor(edge))
