"""The tight delta for every epsilon, and back, of laws with any exact weights: enclosures by ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from privately.errors import InvalidParameter
from privately.proving.exact.budgets import spend
from privately.proving.exact.places import Exponential, exact_end
from privately.proving.exact.sets import side_by_side
from privately.proving.exact.states import Outputs
from privately.proving.exact.weights import Quotient, Weight, weight
from privately.rounding import Interval, Number, rational

BITS = 192
STEPS = 60
LARGEST = 1000
METHOD = "ball arithmetic"


@dataclass(frozen=True)
class Curve:
    """Pairs of laws as enclosures of their probabilities: delta is the largest sum of P - e^epsilon Q over outputs.

    Theorem: (epsilon, delta) holds for two laws exactly when the sum over outputs of max(0, P - e^epsilon Q) is at
        most delta, and this sum does not grow with epsilon.
    Reference: Dwork-Roth 2014, Definition 2.4; seed 000, epsilon-distance
    Proof: docs/theory/distances.md#hockey-stick
    Checked-by: tests/proving/exact/test_curves.py::test_curves_agree_with_exact_tables
    """

    pairs: tuple[tuple[tuple[arb, arb], ...], ...]

    def delta(self, epsilon: Number) -> Interval:
        """The least delta for this epsilon."""
        exact = rational(epsilon, "epsilon", minimum=0, maximum=LARGEST)
        spend(2 * sum(map(len, self.pairs)))
        with ctx.workprec(BITS):
            ends = [self._excess(pair, exact) for pair in self.pairs]
            lower, upper = max(end for end, _ in ends), max(end for _, end in ends)
            return Interval(max(lower, Fraction(0)), min(max(upper, Fraction(0)), Fraction(1)), method=METHOD)

    def epsilon(self, delta: Number) -> Interval:
        """The least epsilon for this delta; infinite if none is enough."""
        allowed = rational(delta, "delta", minimum=0, maximum=1)
        low, high = Fraction(0), Fraction(1)
        if self.delta(0).upper <= allowed:
            return Interval(0, 0, method=METHOD)
        while self.delta(high).upper > allowed:
            if high >= LARGEST:
                return Interval(high if self.delta(high).lower > allowed else low, float("inf"), method=METHOD)
            low, high = (high if self.delta(high).lower > allowed else low), min(2 * high, Fraction(LARGEST))
        bottom, top = low, high
        for _ in range(STEPS):
            middle = (bottom + top) / 2
            if self.delta(middle).lower > allowed:
                bottom = middle
            elif self.delta(middle).upper <= allowed:
                top = middle
            else:
                return self._around(middle, bottom, top, allowed)
        return Interval(bottom, top, method=METHOD)

    def _around(self, tie: Fraction, bottom: Fraction, top: Fraction, allowed: Fraction) -> Interval:
        """The ends on both sides of a point that balls do not decide, such as the very answer."""
        below, above = tie, tie
        for _ in range(STEPS):
            low, high = (bottom + below) / 2, (above + top) / 2
            bottom, below = (low, below) if self.delta(low).lower > allowed else (bottom, low)
            above, top = (above, high) if self.delta(high).upper <= allowed else (high, top)
        return Interval(bottom, top, method=METHOD)

    @staticmethod
    def _excess(pair: Sequence[tuple[arb, arb]], epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Both ends of the sum; a term whose sign is open counts as 0 below and as its upper end above."""
        growth = arb(weight(epsilon)).exp()
        sure, open_terms = arb(0), arb(0)
        for left, right in pair:
            term = left - growth * right
            if term > 0:
                sure += term
            elif not term <= 0:
                open_terms += term.upper()
        return exact_end(sure.lower()), exact_end((sure + open_terms).upper())


def curve_of(pairs: Iterable[tuple[Outputs, Outputs]], place: object) -> Curve:
    """The curve of the worst of these pairs; give both directions."""
    found = []
    with ctx.workprec(BITS):
        for left, right in (side_by_side(*pair) for pair in pairs):
            outputs = dict.fromkeys([*left, *right])
            spend(10 * len(outputs))
            found.append(tuple((_ball(left.get(one), place), _ball(right.get(one), place)) for one in outputs))
    if not found:
        raise InvalidParameter("pairs", "there are no two laws to compare.")
    return Curve(tuple(found))


def _ball(mass: Weight | None, place: object) -> arb:
    if mass is None:
        return arb(0)
    if isinstance(mass, Quotient):
        if not isinstance(place, Exponential):
            raise InvalidParameter("public", "a parameter is open, so there is no one curve.", hint="Give it a value.")
        return place.ball(mass, BITS)
    return arb(mass)
