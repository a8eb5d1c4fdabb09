"""Upper ends: straight lines above all pairs whose divergences of one order, or of two, are bounded.

r        dP/dQ; alpha = e^epsilon
f(t)     (r^t - 1 - t(r-1))/(t(t-1)), which is convex in r; at t = 1 it is r ln r - r + 1, at t = 0 r - 1 - ln r
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

_TRIES = 20
_NEAR, _LITTLE = Decimal("1e-15"), Fraction(1, 10**18)


@dataclass(frozen=True)
class Limit:
    """F(t) is at most `bound`, and counts for so much."""

    t: Fraction
    bound: Fraction
    weight: Fraction = Fraction(1)

    @property
    def most(self) -> Enclosure:
        """The mean of f over Q is at most this."""
        product = self.t * (self.t - 1)
        return (Enclosure.of(product * self.bound).exp() - 1) / product if product else Enclosure.of(self.bound)

    def value(self, loss: Enclosure) -> Enclosure:
        """f at r = e^loss."""
        if self.t == 1:
            return loss.exp() * (loss - 1) + 1
        if self.t == 0:
            return loss.exp() - 1 - loss
        return ((self.t * loss).exp() - 1 - self.t * (loss.exp() - 1)) / (self.t * (self.t - 1))

    def slope(self, loss: Enclosure) -> Enclosure:
        """Of f in r."""
        return loss if self.t == 1 else (((self.t - 1) * loss).exp() - 1) / (self.t - 1)

    def bend(self, loss: Enclosure) -> Enclosure:
        """The slope of `slope` in the loss."""
        return ((self.t - 1) * loss).exp()


@dataclass(frozen=True)
class Support:
    """For all allowed pairs delta at ln(alpha) is at most `delta`; and how both move with the larger loss."""

    alpha: Enclosure
    delta: Enclosure
    alpha_slope: Enclosure
    delta_slope: Enclosure
    steeper: Enclosure


def support(limits: Sequence[Limit], low: Decimal, high: Decimal) -> Support:
    """The line that touches at the losses low < high.

    Theorem: let f be convex in r with a mean over Q of at most m. For x < y and s = f'(y) - f'(x) > 0 the mean of
        (r - alpha)+ is at most (m - f(x) - f'(x)(1 - x))/s, with alpha = y - (f(y) - f(x) - f'(x)(y - x))/s.
    Reference: Asoodeh-Liao-Calmon-Kosut-Sankar 2021 for one order; convexity
    Proof: docs/theory/accounting/two_outcomes.md#upper-ends
    Checked-by: tests/accounting/two_outcomes/test_supports.py::test_no_allowed_pair_is_above_a_support
    """
    below, above = Enclosure(low, low), Enclosure(high, high)
    x, y = below.exp(), above.exp()
    base, slope = _sum(limits, "value", below), _sum(limits, "slope", below)
    steeper = _sum(limits, "slope", above) - slope
    if steeper.lower <= 0:
        raise NotApplicable("two losses that cannot be told apart")
    risen = (_sum(limits, "value", above) - base - slope * (y - x)) / steeper
    mean = sum((limit.weight * limit.most for limit in limits), Enclosure.of(0))
    bend = _sum(limits, "bend", above) / steeper
    alpha = y - risen
    return Support(alpha, (mean - base - slope * (1 - x)) / steeper, bend * risen / alpha, -bend, steeper)


def _sum(limits: Sequence[Limit], name: str, loss: Enclosure) -> Enclosure:
    return sum((limit.weight * getattr(limit, name)(loss) for limit in limits), Enclosure.of(0))


def weighed(first: Limit, second: Limit, low: Decimal, high: Decimal, alpha: Enclosure) -> list[Limit]:
    """Two limits whose line has this slope, or one of them alone if it is the nearer one to that."""
    lines = [support([limit], low, high) for limit in (first, second)]
    gaps = [line.steeper * (alpha - line.alpha) for line in lines]
    least, most = sorted((0, 1), key=lambda k: lines[k].alpha.lower)
    if gaps[least].lower <= 0 or gaps[most].upper >= 0:
        return [(first, second)[least if gaps[least].lower <= 0 else most]]
    share = (gaps[least] / (gaps[least] - gaps[most])).lower  # of the steeper one
    weights = {least: 1 - Fraction(share), most: Fraction(share)}
    return [replace(limit, weight=weights[k]) for k, limit in enumerate((first, second))]


def delta_above(limits: Sequence[Limit], low: Decimal, high: Decimal, epsilon: Fraction) -> Enclosure:
    """A delta that no allowed pair exceeds at epsilon; `high` is moved until the line belongs to hardly less."""

    def missing(line: Support) -> tuple[Enclosure, Enclosure]:
        return line.alpha.log() - epsilon, line.alpha_slope

    return min((line.delta for line in _lines(limits, low, high, missing)), key=lambda delta: delta.upper)


def epsilon_above(limits: Sequence[Limit], low: Decimal, high: Decimal, delta: Fraction) -> Enclosure:
    """An epsilon at which no allowed pair exceeds delta > 0."""
    asked = Enclosure.of(delta).log()

    def missing(line: Support) -> tuple[Enclosure, Enclosure]:
        return line.delta.log() - asked, line.delta_slope

    return min((line.alpha.log() for line in _lines(limits, low, high, missing)), key=lambda epsilon: epsilon.upper)


def _lines(
    limits: Sequence[Limit], low: Decimal, high: Decimal, missing: Callable[[Support], tuple[Enclosure, Enclosure]]
) -> list[Support]:
    """Lines that are enough, the last one hardly more than that, by Newton's method on the safe side."""
    enough: list[Support] = []
    for _ in range(_TRIES):
        line = support(limits, low, high)
        gap, slope = missing(line)
        if gap.upper <= 0:
            enough.append(line)
            if gap.upper > -_NEAR:
                break
        high = (Enclosure(high, high) - (Enclosure(gap.upper, gap.upper) + _LITTLE) / slope).lower
    if not enough:
        raise NotApplicable("no line was found for what is asked")
    return enough
