"""The probability of a tree of constraints on continuous noise.

Laplace and exponential noise: every subtree leaves a piecewise sum of s^k exp(rs), in closed form. Normal noise: it may
stand at the root and at leaves under the root; the last integral is then a certified quadrature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import acb, arb, ctx

from privately.proving.paths.densities import density, gaussian_variance
from privately.proving.paths.piecewise import Cumulative, Line, Piecewise, ball, cumulative, evaluated_at
from privately.proving.paths.systems import Bound, Edge, Entangled, Node, Part

FEWEST_STEPS = 8


def probability(part: Part) -> arb:
    """How likely the part is, at the working precision.

    Theorem: the ball contains the probability that independent draws meet all constraints of the part.
    Reference: Pearl 1988, section 4.2 (trees); Johansson-Mezzarobba 2018 (the quadrature)
    Proof: docs/theory/refuting.md#trees
    Checked-by: tests/proving/paths/test_continuous.py::test_trees_agree_with_quadrature_by_another_library
    """
    normal = [symbol for symbol, shares in part.shares.items() if shares[0][1].law == "gaussian"]
    if not normal:
        root = max(part.shares, key=lambda symbol: len(part.neighbors(symbol)))
        return _closed(part.rooted(root)).total
    for root in sorted(part.shares, key=lambda symbol: -len(part.neighbors(symbol))):
        near = {root, *part.neighbors(root)}
        if all(symbol in near and (symbol == root or len(part.neighbors(symbol)) == 1) for symbol in normal):
            return _integrated(part.rooted(root))
    raise Entangled("normal noise that is compared along a chain.")


def _closed(node: Node) -> Cumulative:
    """What lies below a value of this variable, all its subtree met."""
    inside = density(node.shares).within(*limits(node.bounds))
    for child, edges in node.children:
        inside = inside * _closed(child).between(*lines(edges))
    return cumulative(inside)


def limits(bounds: Sequence[Bound]) -> tuple[Fraction | None, Fraction | None]:
    """The largest lower and the smallest upper bound on a variable alone."""
    lowers = [-c / a for a, c, _ in bounds if a > 0]
    uppers = [-c / a for a, c, _ in bounds if a < 0]
    return max(lowers, default=None), min(uppers, default=None)


def lines(edges: Sequence[Edge]) -> tuple[list[Line], list[Line]]:
    """The lower and the upper bounds on the child, as functions of the parent."""
    lowers = [(-b / a, -c / a) for a, b, c, _ in edges if a > 0]
    uppers = [(-b / a, -c / a) for a, b, c, _ in edges if a < 0]
    return lowers, uppers


def _integrated(root: Node) -> arb:
    """The last integral by quadrature, between breakpoints, cut where almost nothing is left."""
    lower, upper = limits(root.bounds)
    if not root.children:
        return normal_alone(gaussian_variance(root.shares), lower, upper)
    if root.laws == {"gaussian"}:
        own, reach, outside = _normal_root(gaussian_variance(root.shares))
        breaks: set[Fraction] = set()
    else:
        own, breaks, reach, outside = _exponential_root(density(root.shares))
    factors: list[Callable[[Any, Fraction], Any]] = [own]
    for child, edges in root.children:
        factor, more = _factor(child, edges)
        factors.append(factor)
        breaks |= more
    first = -reach if lower is None else max(-reach, lower)
    last = reach if upper is None else min(reach, upper)
    if first >= last:
        return outside * arb(0.5, 0.5)
    steps = {first + (last - first) * k / FEWEST_STEPS for k in range(FEWEST_STEPS + 1)}
    places = sorted({first, last, *steps, *(one for one in breaks if first < one < last)})
    total = arb(0)
    for start, end in pairwise(places):
        middle = (start + end) / 2

        def integrand(place: Any, _: bool, middle: Fraction = middle) -> Any:  # noqa: FBT001 - flint's signature
            value = acb(1)
            for factor in factors:
                value *= factor(place, middle)
            return value

        total += acb.integral(integrand, acb(ball(start)), acb(ball(end)), abs_tol=arb(2) ** (-ctx.prec)).real
    return total + outside * arb(0.5, 0.5)


def normal_alone(variance: Fraction, lower: Fraction | None, upper: Fraction | None) -> arb:
    """P(lower < X < upper), from the tail in which it lies."""
    unit = (2 * ball(variance)).sqrt()
    if lower is None or (upper is not None and upper <= 0):
        lower, upper = (None if upper is None else -upper), (None if lower is None else -lower)
    start = arb(2) if lower is None else (ball(lower) / unit).erfc()
    end = arb(0) if upper is None else (ball(upper) / unit).erfc()
    return (start - end) / 2


def _normal_root(variance: Fraction) -> tuple[Callable[[Any, Fraction], Any], Fraction, arb]:
    unit = (2 * ball(variance)).sqrt()
    height = 1 / (unit * arb.pi().sqrt())
    reach = _above(unit * arb(ctx.prec).sqrt())
    return lambda place, _: height * (-((place / unit) ** 2)).exp(), reach, (ball(reach) / unit).erfc()


def _exponential_root(whole: Piecewise) -> tuple[Callable[[Any, Fraction], Any], set[Fraction], Fraction, arb]:
    slowest = min(abs(rate) for piece in whole.pieces for rate, _ in piece)
    powers = max(power for piece in whole.pieces for _, power in piece)
    reach = Fraction(ctx.prec + 8 * powers) / slowest
    summed = cumulative(whole)
    below = summed.between([], [(Fraction(1), Fraction(0))])
    left = evaluated_at(below.piece(-reach), ball(-reach))
    right = summed.total - evaluated_at(below.piece(reach), ball(reach))
    outside = arb(left.abs_upper()) + arb(right.abs_upper())
    return lambda place, middle: evaluated_at(whole.piece(middle), place), set(whole.breaks), reach, outside


def _factor(child: Node, edges: Sequence[Edge]) -> tuple[Callable[[Any, Fraction], Any], set[Fraction]]:
    """How likely a subtree is, given the root; and where that changes its form."""
    if child.laws != {"gaussian"}:
        known = _closed(child).between(*lines(edges))
        return lambda place, middle: evaluated_at(known.piece(middle), place), set(known.breaks)
    low, high = limits(child.bounds)
    lowers, uppers = lines(edges)
    lowers += [] if low is None else [(Fraction(0), low)]
    uppers += [] if high is None else [(Fraction(0), high)]
    both = [*lowers, *uppers]
    breaks = {(b - d) / (c - a) for place, (a, b) in enumerate(both) for c, d in both[:place] if a != c}
    unit = (2 * ball(gaussian_variance(child.shares))).sqrt()

    def above(line: Line, place: Any) -> Any:
        return ((place * ball(line[0]) + ball(line[1])) / unit).erfc() / 2

    def likely(place: Any, middle: Fraction) -> Any:
        lowest = max(lowers, key=lambda line: line[0] * middle + line[1], default=None)
        highest = min(uppers, key=lambda line: line[0] * middle + line[1], default=None)
        if highest is None:
            return above(lowest, place) if lowest is not None else place * 0 + 1
        if lowest is None:
            return above((-highest[0], -highest[1]), place)
        if lowest[0] * middle + lowest[1] >= highest[0] * middle + highest[1]:
            return place * 0
        return above(lowest, place) - above(highest, place)

    return likely, breaks


def _above(value: arb) -> Fraction:
    """A whole number from there on."""
    return Fraction(int(float(value.abs_upper())) + 2)
