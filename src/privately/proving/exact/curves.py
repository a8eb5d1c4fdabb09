"""The tight delta for every epsilon, and back, of laws with any exact weights: enclosures by ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from privately.errors import InvalidParameter
from privately.proving.exact.budgets import NotFinite, spend
from privately.proving.exact.places import Exponential, exact_end
from privately.proving.exact.rays import Rest, cut
from privately.proving.exact.sets import Met, met
from privately.proving.exact.spreads import falls_of, scaled
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
    rests: tuple[tuple[Rest, ...], ...]
    """Of every pair, what is left of tails whose ratio changes."""

    def delta(self, epsilon: Number) -> Interval:
        """The least delta for this epsilon."""
        exact = rational(epsilon, "epsilon", minimum=0, maximum=LARGEST)
        spend(2 * sum(map(len, self.pairs)))
        with ctx.workprec(BITS):
            ends = [self._excess(*pair, exact) for pair in zip(self.pairs, self.rests, strict=True)]
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
    def _excess(pair: Sequence[tuple[arb, arb]], rests: Sequence[Rest], epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """Both ends of the sum; a term whose sign is open counts as 0 below and as its upper end above."""
        growth = arb(weight(epsilon)).exp()
        sure, open_terms = arb(0), arb(0)
        for left, right in pair:
            term = left - growth * right
            if term > 0:
                sure += term
            elif not term <= 0:
                open_terms += term.upper()
        lower, upper = sure, sure + open_terms
        for rest in rests:
            least, most = rest.excess(growth)
            lower, upper = lower + least, upper + most
        return exact_end(lower.lower()), exact_end(upper.upper())


def curve_of(pairs: Iterable[tuple[Outputs, Outputs]], place: object) -> Curve:
    """The curve of the worst of these pairs; give both directions."""
    found, rests = [], []
    with ctx.workprec(BITS):
        for left, right in pairs:
            sets = met(left, right)
            spend(10 * len(sets))
            masses: list[tuple[arb, arb]] = []
            rest: list[Rest] = []
            for one in sets:
                if not one.differing or not all(one.masses):
                    masses.append((_ball(one.masses[0], place), _ball(one.masses[1], place)))
                    continue
                first, others = _along(one, place)
                masses += first
                rest.append(others)
            found.append(tuple(masses))
            rests.append(tuple(rest))
    if not found:
        raise InvalidParameter("pairs", "there are no two laws to compare.")
    return Curve(tuple(found), tuple(rests))


def _along(one: Met, place: object) -> tuple[list[tuple[arb, arb]], Rest]:
    """The masses of a set in which one noise falls in two ways."""
    if len(one.differing) > 1:
        raise NotFinite("noises of different sizes in several places of the output.")
    laws = [scaled(falls_of(noise), mass) for noise, mass in zip(one.differing[0], one.masses, strict=True)]
    return cut(laws[0], laws[1], place if isinstance(place, Exponential) else None)


def _ball(mass: Weight | None, place: object) -> arb:
    if mass is None:
        return arb(0)
    if isinstance(mass, Quotient):
        if not isinstance(place, Exponential):
            raise InvalidParameter("public", "a parameter is open, so there is no one curve.", hint="Give it a value.")
        return place.ball(mass, BITS)
    return arb(mass)
