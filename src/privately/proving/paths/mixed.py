"""The probability of a tree of constraints on continuous and discrete noise together.

Seen from continuous noise, a discrete subtree is a step function; seen from a whole number, a continuous one is a value
of its integral. Normal noise may stand at leaves below discrete noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

from flint import arb

from privately.proving.paths import discrete
from privately.proving.paths.continuous import limits, lines, normal_alone
from privately.proving.paths.densities import Table, density, gaussian_variance
from privately.proving.paths.piecewise import Cumulative, Piecewise, Terms, cumulative, evaluated, middles
from privately.proving.paths.systems import Edge, Entangled, Node, Part


def probability(part: Part) -> arb:
    """How likely the part is, at the working precision.

    Theorem: the ball contains the probability that independent draws meet all constraints of the part.
    Reference: Pearl 1988, section 4.2 (trees)
    Proof: docs/theory/refuting.md#mixed
    Checked-by: tests/proving/paths/test_mixed.py::test_mixed_trees_agree_with_sums_over_the_discrete_draws
    """
    whole = [symbol for symbol, shares in part.shares.items() if not shares[0][1].continuous]
    top, outside = _met(part.rooted(max(whole, key=lambda symbol: len(part.neighbors(symbol)))))
    return sum(top.masses, arb(0)) + outside * arb(0.5, 0.5)


def _met(node: Node) -> tuple[Table, arb]:
    """Every value of a discrete variable with its probability, its subtree met; and how much may be missing in all."""
    found = discrete.within(node)
    masses, outside = found.masses, found.outside
    for child, edges in node.children:
        if child.continuous:
            chances, missing = _given(child, edges, range(found.low, found.low + len(masses)))
        else:
            below, missing = _met(child)
            chances = [one for one, _ in zip(discrete.given(below, edges, found.low), masses, strict=False)]
        outside += missing
        masses = [mass * chance for mass, chance in zip(masses, chances, strict=True)]
    return Table(found.low, masses, arb(0)), outside


def _given(child: Node, edges: Sequence[Edge], values: range) -> tuple[list[arb], arb]:
    """How likely a continuous child is, for each value of its discrete parent; and how much may be missing."""
    lowers, uppers = lines(edges)
    if child.laws != {"gaussian"}:
        inside, missing = _summed(child)
        along = inside.between(lowers, uppers)
        return [evaluated(along.piece(Fraction(value)), Fraction(value)) for value in values], missing
    if child.children:
        raise Entangled("normal noise that is compared along a chain.")
    low, high = limits(child.bounds)
    lowers += [] if low is None else [(Fraction(0), low)]
    uppers += [] if high is None else [(Fraction(0), high)]
    variance = gaussian_variance(child.shares)
    chances: list[arb] = []
    for value in values:
        least = max((slope * value + height for slope, height in lowers), default=None)
        most = min((slope * value + height for slope, height in uppers), default=None)
        empty = least is not None and most is not None and least >= most
        chances.append(arb(0) if empty else normal_alone(variance, least, most))
    return chances, arb(0)


def _summed(node: Node) -> tuple[Cumulative, arb]:
    """What lies below a value of a continuous variable, all its subtree met; and how much may be missing in all."""
    if node.laws == {"gaussian"}:
        raise Entangled("normal noise beside continuous and discrete noise.")
    inside, outside = density(node.shares).within(*limits(node.bounds)), arb(0)
    for child, edges in node.children:
        if child.continuous:
            below, missing = _summed(child)
            inside = inside * below.between(*lines(edges))
        else:
            listed, missing = _met(child)
            inside = inside * _steps(listed, edges)
        outside += missing
    return cumulative(inside), outside


def _steps(below: Table, edges: Sequence[Edge]) -> Piecewise:
    """How likely a discrete child is, as a function of its continuous parent: it changes where a line meets a whole
    number, and between such places nothing is equal, so that strict or not is all one."""
    lowers, uppers = lines(edges)
    breaks = sorted(
        {
            (place - height) / slope
            for slope, height in (*lowers, *uppers)
            for place in range(below.low, below.low + len(below.masses))
        }
    )
    sums = [arb(0), *accumulate(below.masses)]
    pieces: list[Terms] = []
    for place in middles(breaks):
        first = max((ceil(slope * place + height) for slope, height in lowers), default=below.low)
        last = min((floor(slope * place + height) for slope, height in uppers), default=below.high)
        start = min(max(first - below.low, 0), len(sums) - 1)
        end = min(max(last - below.low + 1, 0), len(sums) - 1)
        pieces.append({(Fraction(0), 0): sums[end] - sums[start]} if end > start else {})
    return Piecewise(tuple(breaks), tuple(pieces))
