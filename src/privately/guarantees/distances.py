"""Exact distances between finite distributions: only e^epsilon and logarithms are ever rounded.

p, q     distributions: mappings from outcomes to probabilities that add up to exactly 1
E        an event: a set of outcomes
t        the ratio e^epsilon, or p(x)/q(x)
H_t      hockey stick, the largest p(E) - t q(E)
Delta    statistical distance; Delta_epsilon is its skewed form, the least delta for that epsilon

Definitions and proofs are in docs/theory/distances.md. Sums below 1 are for couplings alone.
"""

from __future__ import annotations

import math
import reprlib
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from privately.errors import InvalidParameter
from privately.rounding import LARGEST, Enclosure, End, Interval, Number, decimal_text, log_sum_exp, rational

Outcome = TypeVar("Outcome", bound=Hashable)
Table: TypeAlias = Mapping[Any, Number]
Exact: TypeAlias = dict[Any, Fraction]
Point: TypeAlias = tuple[Fraction, Fraction]

_ZERO = Fraction(0)
_LARGEST_MOMENT = 10_000
_EXACT_MOMENT_BITS = 20_000


def distribution(table: Mapping[Outcome, Number], *, name: str = "table") -> dict[Outcome, Fraction]:
    """The table with exact probabilities above 0 that add up to 1, or InvalidParameter naming the outcome.

    >>> distribution({"yes": "0.75", "no": 0.25, "maybe": 0})
    {'yes': Fraction(3, 4), 'no': Fraction(1, 4)}
    """
    exact = subdistribution(table, name=name)
    _refuse_excess(sum(exact.values(), _ZERO) - 1, name)
    return exact


def subdistribution(table: Mapping[Outcome, Number], *, name: str = "table") -> dict[Outcome, Fraction]:
    """The same for a sum of at most 1: what is missing is the probability that a program does not end."""
    if not isinstance(table, Mapping):
        raise InvalidParameter(name, "give a mapping from outcomes to probabilities.")
    masses = {x: _exact(mass, f"{name}[{reprlib.repr(x)}]", minimum=0) for x, mass in table.items()}
    exact = {x: mass for x, mass in masses.items() if mass}
    _refuse_excess(max(sum(exact.values(), _ZERO) - 1, _ZERO), name)
    return exact


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyLoss:
    """What one outcome reveals: `ratio` = p(x)/q(x), exact or `math.inf`, and its natural logarithm."""

    ratio: End
    logarithm: Interval


def privacy_loss(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number]) -> dict[Outcome, PrivacyLoss]:
    """L(x) = ln(p(x)/q(x)) for every outcome that p or q can give; minus infinity where p(x) = 0.

    >>> privacy_loss({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})["yes"]
    PrivacyLoss(ratio=Fraction(3, 1), logarithm=Interval(1.09861228866, 1.09861228867))
    """
    left, right = distribution(p, name="p"), distribution(q, name="q")
    ratios = {x: left.get(x, _ZERO) / right[x] if x in right else math.inf for x in {**left, **right}}
    return {x: PrivacyLoss(ratio=ratio, logarithm=_log(ratio)) for x, ratio in ratios.items()}


def hockey_stick(p: Table, q: Table, *, ratio: Number) -> Fraction:
    """One direction: the least delta with p(E) <= ratio * q(E) + delta for every event E.

    Theorem: sup_E p(E) - t q(E) = sum_x max(p(x) - t q(x), 0), attained at {x : p(x) > t q(x)}, for t >= 0.
    Reference: Barthe-Olmedo 2013; Sason-Verdu 2016
    Proof: docs/theory/distances.md#hockey-stick
    Checked-by: tests/guarantees/test_distances.py::test_hockey_stick_is_the_best_event
    """
    left, right = distribution(p, name="p"), distribution(q, name="q")
    return _hockey_stick(left, right, _exact(ratio, "ratio", minimum=0))


def epsilon_distance_at_ratio(p: Table, q: Table, *, ratio: Number) -> Fraction:
    """Delta_epsilon of seed 000 for ratio = e^epsilon >= 1, exactly.

    Theorem: Delta_epsilon(p, q) = max(H_t(p, q), H_t(q, p)) with t = e^epsilon; post-processing both with
        the same stochastic map cannot increase it.
    Reference: Barthe-Kopf-Olmedo-Zanella 2012
    Proof: docs/theory/distances.md#epsilon-distance
    Checked-by: tests/guarantees/test_distances.py::test_epsilon_distance_is_the_best_event
    """
    left, right = distribution(p, name="p"), distribution(q, name="q")
    exact = _exact(ratio, "ratio", minimum=1)
    return max(_hockey_stick(left, right, exact), _hockey_stick(right, left, exact))


def epsilon_distance(p: Table, q: Table, *, epsilon: Number) -> Interval:
    """Delta_epsilon of seed 000: the least delta for which p and q are (epsilon, delta)-indistinguishable."""
    return privacy_curve(p, q).delta(epsilon=epsilon)


def statistical_distance(p: Table, q: Table) -> Fraction:
    """The largest |p(E) - q(E)| over all events.

    Theorem: max_E |p(E) - q(E)| = sum_x |p(x) - q(x)| / 2 = Delta_0(p, q).
    Reference: Levin-Peres-Wilmer 2009, Proposition 4.2
    Proof: docs/theory/distances.md#statistical-distance
    Checked-by: tests/guarantees/test_distances.py::test_statistical_distance_is_the_best_event
    """
    left, right = distribution(p, name="p"), distribution(q, name="q")
    return _hockey_stick(left, right, Fraction(1))


def renyi_moment(p: Table, q: Table, *, order: int) -> End:
    """sum_x p(x)^order q(x)^(1-order) for a whole order, exactly; infinite when q misses an outcome of p."""
    left, right = distribution(p, name="p"), distribution(q, name="q")
    exact = rational(order, "order", minimum=1, maximum=_LARGEST_MOMENT)
    if exact.denominator != 1:
        raise InvalidParameter("order", "only the moments of whole orders are rational.")
    return math.inf if left.keys() - right.keys() else _moment(left, right, exact.numerator)


def renyi_divergence(p: Table, q: Table, *, order: Number) -> Interval:
    """D_order(p || q): order 1 is the Kullback-Leibler divergence, `math.inf` the largest loss.

    Theorem: D_a(p || q) = ln(sum_x p(x)^a q(x)^(1-a)) / (a - 1) increases with a > 1 from the mean of L(x)
        under p to its maximum; post-processing both with the same stochastic map cannot increase it.
    Reference: van Erven-Harremoes 2014
    Proof: docs/theory/distances.md#renyi-divergence
    Checked-by: tests/guarantees/test_distances.py::test_renyi_divergence_increases_with_the_order
    """
    left, right = distribution(p, name="p"), distribution(q, name="q")
    exact = None if order == math.inf else rational(order, "order", minimum=1, maximum=LARGEST)
    if left.keys() - right.keys():
        return Interval(math.inf, math.inf)
    if exact is None:
        return _log(max(mass / right[x] for x, mass in left.items()))
    if exact == 1:
        losses = (mass * Enclosure.of(mass / right[x]).log() for x, mass in left.items())
        divergence = sum(losses, Enclosure.of(0))
    else:
        divergence = _log_moment(left, right, exact) / (exact - 1)
    lower, upper = divergence.interval()
    return Interval(max(lower, _ZERO), max(upper, _ZERO))  # no divergence is negative, only its enclosure


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyCurve:
    """The least delta for each ratio e^epsilon >= 1: convex, decreasing and linear between its vertices.

    `vertices` are exact pairs (ratio, delta) from ratio 1 on; after the last, only infinite losses are left.

    >>> curve = privacy_curve({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> curve.vertices
    ((Fraction(1, 1), Fraction(1, 2)), (Fraction(3, 1), Fraction(0, 1)))
    >>> curve.epsilon(delta=0), curve.delta_at_ratio(2)
    (Interval(1.09861228866, 1.09861228867), Fraction(1, 4))
    """

    vertices: tuple[Point, ...]

    def __post_init__(self) -> None:
        if not _is_curve(self.vertices):
            raise InvalidParameter("vertices", "these are no corners of a curve; build it with privacy_curve.")

    def delta_at_ratio(self, ratio: Number) -> Fraction:
        """The least delta for e^epsilon = ratio >= 1, exactly; `math.inf` gives the mass of infinite loss."""
        exact = self.vertices[-1][0] if ratio == math.inf else _exact(ratio, "ratio", minimum=1)
        after = bisect_right(self.vertices, exact, key=lambda vertex: vertex[0])
        if after == len(self.vertices):
            return self.vertices[-1][1]
        (t, high), (u, low) = self.vertices[after - 1 : after + 1]
        return high - (high - low) * (exact - t) / (u - t)

    def delta(self, *, epsilon: Number) -> Interval:
        """The least delta for this epsilon."""
        exact = rational(epsilon, "epsilon", minimum=0, maximum=LARGEST)
        ratio = Enclosure.of(exact).exp().interval()
        high = self.delta_at_ratio(max(ratio.lower, Fraction(1)))
        return Interval(self.delta_at_ratio(ratio.upper), high)

    def ratio(self, delta: Number) -> End:
        """The least e^epsilon for this delta, exactly; `math.inf` when no epsilon will do."""
        exact = _exact(delta, "delta", minimum=0, maximum=1)
        met = bisect_left(self.vertices, -exact, key=lambda vertex: -vertex[1])
        if met in {0, len(self.vertices)}:
            return math.inf if met else Fraction(1)
        (t, high), (u, low) = self.vertices[met - 1 : met + 1]
        return t + (u - t) * (high - exact) / (high - low)

    def epsilon(self, *, delta: Number) -> Interval:
        """The least epsilon for this delta: 0 when it is met already, infinite when no epsilon will do."""
        return _log(self.ratio(delta))


def privacy_curve(p: Table, q: Table) -> PrivacyCurve:
    """The tight curve of one pair, in both directions."""
    return privacy_curve_of([(p, q)])


def privacy_curve_of(pairs: Iterable[tuple[Table, Table]]) -> PrivacyCurve:
    """The tight curve of a mechanism, given the output distributions of all its pairs of neighbours.

    Theorem: a mechanism is (epsilon, delta)-DP exactly when delta(e^epsilon) <= delta, where delta(t) is the
        largest H_t over its neighbours in both directions: the largest of finitely many lines p(E) - t q(E).
    Reference: Balle-Barthe-Gaboardi 2018, privacy profiles
    Proof: docs/theory/distances.md#privacy-curve
    Checked-by: tests/guarantees/test_distances.py::test_curve_is_the_best_event_of_all_pairs
    """
    points: set[Point] = set()
    for p, q in pairs:
        left, right = distribution(p, name="p"), distribution(q, name="q")
        points.update(_best_events(left, right), _best_events(right, left))
    if not points:
        raise InvalidParameter("pairs", "give at least one pair of neighbours.")
    return PrivacyCurve(vertices=_envelope(points))


def _refuse_excess(excess: Fraction, name: str) -> None:
    if excess:
        total = f"1 {'+' if excess > 0 else '-'} {decimal_text(abs(excess), 3, ROUND_HALF_EVEN)}"
        hint = "Write decimals as strings ('0.1') or Fractions: floats are taken exactly and seldom add up."
        raise InvalidParameter(name, f"the probabilities add up to {total}.", hint=hint)


def _exact(value: Number, field: str, *, minimum: int, maximum: int | None = None) -> Fraction:
    """Like `rational`, but a Fraction may be of any length: those we computed ourselves often are long."""
    if not isinstance(value, Fraction):
        return rational(value, field, minimum=minimum, maximum=maximum)
    if value < minimum or (maximum is not None and value > maximum):
        most = "" if maximum is None else f" and at most {maximum}"
        raise InvalidParameter(field, f"must be at least {minimum}{most}.")
    return value


def _log(ratio: End) -> Interval:
    if isinstance(ratio, float) or ratio == 0:
        return Interval(math.inf, math.inf) if ratio else Interval(-math.inf, -math.inf)
    return Enclosure.of(ratio).log().interval()


def _hockey_stick(p: Exact, q: Exact, ratio: Fraction) -> Fraction:
    return sum((max(mass - ratio * q.get(x, _ZERO), _ZERO) for x, mass in p.items()), _ZERO)


def _moment(p: Exact, q: Exact, order: int) -> Fraction:
    return sum((q[x] * (mass / q[x]) ** order for x, mass in p.items()), _ZERO)


def _log_moment(p: Exact, q: Exact, order: Fraction) -> Enclosure:
    bits = sum(p[x].denominator.bit_length() + q[x].denominator.bit_length() for x in p)
    if order.denominator == 1 and order * bits <= _EXACT_MOMENT_BITS:
        return Enclosure.of(_moment(p, q, order.numerator)).log()
    terms = [order * Enclosure.of(mass / q[x]).log() + Enclosure.of(q[x]).log() for x, mass in p.items()]
    return log_sum_exp(terms)


def _best_events(p: Exact, q: Exact) -> list[Point]:
    """(q(E), p(E)) for E = {x : p(x) > t q(x)}, over all t >= 1."""
    certain = sum((mass for x, mass in p.items() if x not in q), _ZERO)
    points = [(_ZERO, certain)]
    likelier = [(mass / q[x], q[x], mass) for x, mass in p.items() if x in q and mass > q[x]]
    for _, below, above in sorted(likelier, reverse=True):
        points.append((points[-1][0] + below, points[-1][1] + above))
    return points


def _envelope(points: set[Point]) -> tuple[Point, ...]:
    """The corners of the largest a - t b for t >= 1, over points (b, a) of which some have b = 0."""
    (b, a), *others = dict(sorted(points)).items()
    hull: list[tuple[Fraction, Fraction, End]] = [(b, a, math.inf)]  # the line is the largest below that t
    for b, a in others:
        while (below := (a - hull[-1][1]) / (b - hull[-1][0])) >= hull[-1][2]:
            hull.pop()
        if below > 1:
            hull.append((b, a, below))
    corners = [(t, a - t * b) for b, a, t in reversed(hull) if isinstance(t, Fraction)]
    b, a, _ = hull[-1]
    return ((Fraction(1), a - b), *corners)


def _is_curve(vertices: tuple[Point, ...]) -> bool:
    if not vertices or not all(isinstance(number, Fraction) for vertex in vertices for number in vertex):
        return False
    (first, most), (_, least) = vertices[0], vertices[-1]
    slopes = [(low - high) / (u - t) for (t, high), (u, low) in pairwise(vertices) if t < u]
    convex = all(steep < flat for steep, flat in pairwise([*slopes, _ZERO]))
    return first == 1 and 0 <= least <= most <= 1 and convex and len(slopes) == len(vertices) - 1
