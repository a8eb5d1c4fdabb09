"""How likely a path is: a ball around the probability, as narrow as wanted; zero is decided, not approximated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import z3
from flint import arb, ctx

from privately.errors import NotSupported
from privately.proving.paths import continuous, discrete, mixed
from privately.proving.paths.affine import Constraint, Symbol
from privately.proving.paths.evaluating import Coin
from privately.proving.paths.noise import Noise, law_of
from privately.proving.paths.piecewise import ball
from privately.proving.paths.systems import Entangled, Part, impossible, parts
from privately.proving.paths.whole_parts import without_whole_parts
from privately.rounding import Interval

BITS = 48
"""Relative accuracy of an answer, if nobody asks for more."""

SPARE_BITS = 24
MOST_PRECISION = 4_096
SOLVER_STEPS = 200_000


def probability(noises: Sequence[Noise], constraints: Sequence[Constraint], *, bits: int = BITS) -> arb:
    """The probability that independent draws meet all constraints; exactly 0 if they cannot.

    Theorem: the ball contains the probability, and is the exact number 0 if and only if the probability is 0.
    Reference: Pearl 1988, section 4.2 (trees)
    Proof: docs/theory/refuting.md#measuring
    Checked-by: tests/proving/paths/test_measuring.py::test_measures_agree_with_sampling_and_sum_to_one
    """
    about_draws = without_whole_parts(constraints, noises)
    if about_draws is None:
        return arb(0)
    constraints = about_draws
    if not constraints:
        return arb(1)
    if impossible(constraints, noises):
        return arb(0)
    if no_whole_draws(constraints, noises):
        _confirm_zero(constraints, noises)
        return arb(0)
    separate = parts(constraints, noises)
    precision = bits + SPARE_BITS
    while True:
        with ctx.workprec(precision):
            whole = arb(1)
            for part in separate:
                whole *= _measured(part)
        if whole > 0 and whole.rel_accuracy_bits() >= bits:
            return whole
        precision *= 2
        if precision > MOST_PRECISION:
            raise NotSupported("a probability that is too small to be told from zero.")


def _confirm_zero(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> None:
    """A second opinion on the solver's word, where there is one: the sum must not be above zero."""
    try:
        separate = parts(constraints, noises)
    except Entangled:
        return
    whole = arb(1)
    for part in separate:
        whole *= _measured(part)
    if whole > 0:
        raise NotSupported("the solver and the sum disagree about a probability of zero.")


def _measured(part: Part) -> arb:
    kinds = {shares[0][1].continuous for shares in part.shares.values()}
    if len(kinds) > 1:
        return mixed.probability(part)
    return continuous.probability(part) if kinds == {True} else discrete.probability(part)


def no_whole_draws(constraints: Sequence[Constraint], noises: Sequence[Noise]) -> bool:
    """Whether the constraints leave no whole numbers for the discrete draws. Unknown is refused."""
    whole = {symbol for one in constraints for symbol in one.form.terms if not law_of(symbol, noises).continuous}
    if not whole:
        return False
    solver = z3.Solver()
    solver.set("rlimit", SOLVER_STEPS)
    names = {
        symbol: z3.Int(f"z{symbol}") if symbol in whole else z3.Real(f"z{symbol}")
        for one in constraints
        for symbol in one.form.terms
    }
    for symbol in whole:
        if law_of(symbol, noises).one_sided:
            solver.add(names[symbol] >= 0)
    for one in constraints:
        solver.add(_said(one, names))
    answer = solver.check()
    if answer == z3.unknown:
        raise NotSupported("constraints on whole numbers that could not be decided.")
    return bool(answer == z3.unsat)


def _said(constraint: Constraint, names: dict[Symbol, z3.ArithRef]) -> z3.BoolRef:
    whole = constraint.form.constant.denominator
    for factor in constraint.form.terms.values():
        whole = whole * factor.denominator
    total = sum(
        (int(factor * whole) * names[symbol] for symbol, factor in constraint.form.terms.items()),
        z3.IntVal(int(constraint.form.constant * whole)),
    )
    if constraint.relation == ">":
        return total > 0
    return total >= 0 if constraint.relation == ">=" else total == 0


def coins_probability(weight: Fraction, coins: Sequence[Coin]) -> arb:
    """How likely the coins of a path are."""
    whole = ball(weight)
    for exponent, heads in coins:
        chance = ball(-exponent).exp()
        whole *= chance if heads else -ball(-exponent).expm1()
    return whole


TINY = 400_000


def interval(value: arb) -> Interval:
    """The two ends of a ball, as fractions; a probability lies between 0 and 1."""
    lower, upper = value.lower(), value.upper()
    least = Fraction(0) if _is_tiny(lower) else _fraction(lower)
    most = Fraction(1, 2**TINY) if _is_tiny(upper) else _fraction(upper)
    return Interval(_chance(least), _chance(most), method="ball arithmetic")


def _is_tiny(end: arb) -> bool:
    """Whether it is too small to be written as a fraction: that takes a bit for every halving."""
    return bool(abs(end) < arb(2) ** -TINY) and not end.is_zero()


def _chance(end: Fraction) -> Fraction:
    return min(max(end, Fraction(0)), Fraction(1))


def _fraction(exact: arb) -> Fraction:
    mantissa, exponent = exact.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def log_ratio(above: Interval, below: Interval) -> Interval:
    """Where the logarithm of a quotient of two numbers lies; the one above is not 0, the one below is not exactly 0."""
    with ctx.workprec(80):
        least = _fraction(ball(Fraction(above.lower) / Fraction(below.upper)).log().lower())
        if below.lower == 0:
            return Interval(least, math.inf, method="ball arithmetic")
        most = _fraction(ball(Fraction(above.upper) / Fraction(below.lower)).log().upper())
    return Interval(least, most, method="ball arithmetic")
