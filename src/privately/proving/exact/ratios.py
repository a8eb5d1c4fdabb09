"""The tight epsilon of a finite program: the largest ratio of probabilities over neighbours and outputs, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from privately.errors import InvalidParameter, NotSupported
from privately.proving.exact.budgets import spend
from privately.proving.exact.claims import Claim
from privately.proving.exact.inputs import Inputs
from privately.proving.exact.places import PRECISIONS, Between, Edge, Exponential, Place, at, exact_end
from privately.proving.exact.rays import mass_at, peak
from privately.proving.exact.sets import Met, met
from privately.proving.exact.spreads import Endless, falls_of
from privately.proving.exact.states import Outputs
from privately.proving.exact.tails import put
from privately.proving.exact.weights import ONE, ZERO, Quotient, Weight, cost, quotient, weight
from privately.proving.exact.weights import fraction as _exact
from privately.proving.language.syntax import Value
from privately.rounding import Interval


@dataclass(frozen=True)
class Ratio:
    """How much likelier one output is for one input than for its neighbour; `value` None means infinitely."""

    value: Weight | None
    output: Value
    inputs: tuple[Inputs, Inputs]
    masses: tuple[Weight, Weight]
    rays: tuple[tuple[Endless, Endless], ...] = ()
    """Noises that have their largest ratio only far out, where the outputs come as near to the value as one likes."""


@dataclass(frozen=True)
class Piece:
    """The largest ratio between two values of the open parameter."""

    lower: Edge
    upper: Edge
    largest: Ratio


def ratios(
    inputs: tuple[Inputs, Inputs], left: Outputs, right: Outputs, *, tails: bool = True, place: Place | None = None
) -> Iterable[Ratio]:
    """All ratios of one pair, in one direction; where outputs may have tails, the largest one of every set."""
    if tails:
        yield from (_peak(one, inputs, place) for one in met(left, right) if one.masses[0])
        return
    for output, mass in left.items():
        if mass:
            other = right.get(output, ZERO)
            yield Ratio(mass / other if other else None, output, inputs, (mass, other))


def _peak(one: Met, inputs: tuple[Inputs, Inputs], place: Place | None) -> Ratio:
    """The largest ratio of a set, on which both laws are products."""
    mass, other = one.masses
    if not other:
        return Ratio(None, one.output, inputs, one.masses)
    value, at, far = mass / other, dict[Any, int](), []
    for ours, theirs in one.differing:
        found = peak(falls_of(ours), falls_of(theirs), place)
        value = None if value is None or found.ratio is None else value * found.ratio
        if found.at is None:
            far.append((ours, theirs))
        else:
            at[ours] = found.at
            mass, other = (one * mass_at(falls_of(noise), found.at) for one, noise in ((mass, ours), (other, theirs)))
    return Ratio(value, put(one.output, at), inputs, (mass, other), tuple(far))


def largest(candidates: Iterable[Ratio], place: Place | None) -> Ratio:
    """The largest of all, an impossible output before a ratio that grows; with an open parameter use `pieces`."""
    best: Ratio | None = None
    for one in candidates:
        if one.value is None and not one.rays:
            return one
        if best is None or _is_larger(one, best, place):
            best = one
    if best is None:
        raise NotSupported("no two neighbours to compare.", hint="Give larger sizes or another domain.")
    return best


def _is_larger(one: Ratio, other: Ratio, place: Place | None) -> bool:
    if one.value is None or other.value is None:
        return other.value is not None
    return _exceeds(one.value, other.value, place)


def distinct(candidates: Iterable[Ratio]) -> list[Ratio]:
    """One of each value; all of them when one is infinite is that one, an impossible output if there is any."""
    found: dict[Any, Ratio] = {}
    for one in candidates:
        if one.value is None and not one.rays:
            return [one]
        found.setdefault(one.value, one)
    return [found[None]] if None in found else list(found.values())


def pieces(candidates: list[Ratio], place: Between) -> list[Piece]:
    """The upper envelope of ratios that depend on an open parameter, stretch by stretch."""
    if candidates[0].value is None:
        whole = Edge(place.lower, place.lower), Edge(place.upper, place.upper)
        return [Piece(*whole, candidates[0])]
    values = [quotient(one.value) for one in candidates]
    spend(len(values) ** 2 * max(map(cost, values)))
    differences = [a - b for k, a in enumerate(values) for b in values[:k]]
    found: list[Piece] = []
    for left, middle, right in place.stretches([quotient(one) for one in (*differences, *values)]):
        best = max(candidates, key=lambda one: at(one.value, middle))
        if found and found[-1].largest.value == best.value:
            found[-1] = Piece(found[-1].lower, right, best)
        else:
            found.append(Piece(left, right, best))
    return found


def _exceeds(one: Weight, other: Weight, place: Place | None) -> bool:
    if not isinstance(one, Quotient) and not isinstance(other, Quotient):
        return bool(one > other)
    return isinstance(place, Exponential) and place.sign(quotient(one) - other) > 0


def within(ratio: Ratio, claim: Claim, place: Place | None) -> bool:
    """Whether the ratio is at most e^claim; exact, so a tight claim holds.

    Theorem: for a rational r other than 0, e^r is no rational number, and no quotient of polynomials in e^(1/d) with
        rational coefficients is equal to another at that point unless they are the same quotient.
    Reference: Lindemann 1882
    Proof: docs/theory/programs.md#signs
    Checked-by: tests/proving/exact/test_ratios.py::test_tight_claims_hold_and_smaller_ones_do_not
    """
    if ratio.value is None:
        return False
    if isinstance(place, Between):
        if claim.exponent:
            raise NotSupported("a claim outside ln(...) beside an open parameter.", hint="Give the parameter a value.")
        if isinstance(claim.factor, Quotient) and place.has_zero(claim.factor):
            raise InvalidParameter("claim", f"{claim.text} has no value for some value of the open parameter.")
        return place.nonnegative(quotient(claim.factor) - ratio.value)
    if not isinstance(ratio.value, Quotient) and not claim.exponent:
        return bool(ratio.value <= claim.factor)
    if isinstance(place, Exponential):
        power = claim.exponent * place.unit
        if power.denominator == 1 and abs(power) <= 100_000:
            t = Quotient.power(-int(power))
            return place.nonnegative(t * claim.factor - ratio.value)
    return _by_balls(ratio.value, claim, place)


def _by_balls(value: Weight, claim: Claim, place: Place | None) -> bool:
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            bound = arb(claim.factor) * arb(_fmpq(claim.exponent)).exp()
            found = place.ball(value, bits) if isinstance(place, Exponential) else arb(value)
            if found < bound:
                return True
            if found > bound:
                return False
    raise NotSupported("the claim is too close to the truth to tell them apart.", hint="Claim a little more.")


def epsilon(ratio: Ratio, place: Place | None, above: Fraction | None = None) -> Interval:
    """The logarithm of the ratio, with 60 bits on either side of it; with more where they show it to be above this."""
    found: Interval | None = None
    if ratio.value is None:
        return Interval(lower=float("inf"), upper=float("inf"), method="exact analysis")
    if not isinstance(ratio.value, Quotient) and ratio.value <= ONE:
        return Interval(lower=0, upper=0, method="exact analysis")
    exact = _power_of_e(ratio.value, place)
    if exact is not None:
        return Interval(lower=exact, upper=exact, method="exact analysis")
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            ball = place.ball(ratio.value, bits) if isinstance(place, Exponential) else arb(ratio.value)
            if ball.contains(0):
                continue
            log = ball.log()
            if log.rel_accuracy_bits() > 60:
                lower, upper = (exact_end(end) for end in (log.lower(), log.upper()))
                found = Interval(lower=max(lower, Fraction(0)), upper=max(upper, Fraction(0)), method="exact analysis")
                if above is None or lower > above:
                    return found
    if found is None:
        raise NotSupported("the ratio is too close to 1 to be told from it.")
    return found


def _power_of_e(value: Weight, place: Place | None) -> Fraction | None:
    """The logarithm of the value if it is e to a rational power."""
    if not isinstance(value, Quotient) or not isinstance(place, Exponential):
        return None
    power = value.denominator.degree()
    return Fraction(power, place.unit) if value == Quotient.power(-power) else None


def probability(mass: Weight, place: Place | None) -> Interval:
    """A weight as an interval: one point if it is rational."""
    if not isinstance(mass, Quotient) or not isinstance(place, Exponential):
        return Interval(_exact(mass), _exact(mass), method="exact")
    ball = place.ball(mass, 128)
    return Interval(exact_end(ball.lower()), exact_end(ball.upper()), method="ball arithmetic")


def _fmpq(value: Fraction) -> fmpq:
    return weight(value)
