"""The laws with finitely many outcomes, as lists of outcomes and exact weights."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm

from privately.errors import NotSupported
from privately.proving.exact.budgets import NotFinite
from privately.proving.exact.places import Between
from privately.proving.exact.weights import ONE, UNKNOWN, Quotient, Weight, weight
from privately.proving.language.meaning import ordered, shown
from privately.proving.language.syntax import Value

MOST_OUTCOMES = 100_000


class Finer(Exception):
    """Powers of t = exp(-1/d) need a larger d."""

    def __init__(self, denominator: int) -> None:
        super().__init__(denominator)
        self.denominator = denominator


def outcomes(
    law: str, arguments: tuple[Value, ...], unit: int, place: Between | None = None
) -> list[tuple[Value, Weight]]:
    """Every outcome with its weight; t = exp(-1/unit), or lies in `place`."""
    match law:
        case "flip":
            return _coin(_probability(arguments[0], place))
        case "flip_exp":
            if place is not None:
                raise NotSupported("exponentials beside an open parameter.", hint="Give the parameter a value.")
            return _coin(power_of_e(_exponent(arguments[0]), unit))
        case "uniform":
            count = _count(arguments[0])
            return [(value, weight(Fraction(1, count))) for value in range(count)]
        case "uniform_bits":
            length = _count(arguments[0], least=0)
            if length > 16:
                raise NotFinite(f"all {length}-bit lists are too many to list.", hint="Take at most 16 bits.")
            share = weight(Fraction(1, 2**length))
            return [(bits, share) for bits in product((0, 1), repeat=length)]
        case _:
            raise NotFinite(f"{law} has outcomes without end.")


def power_of_e(exponent: Fraction, unit: int) -> Weight:
    """exp(-exponent) as a power of t = exp(-1/unit)."""
    if exponent == 0:
        return ONE
    power = exponent * unit
    if power.denominator != 1:
        raise Finer(lcm(unit, exponent.denominator))
    if power > 100_000:
        raise NotFinite(f"exp(-{shown(exponent)}) beside others is too long to be written exactly.")
    return UNKNOWN ** int(power)


def _coin(heads: Weight) -> list[tuple[Value, Weight]]:
    both = [(True, heads), (False, ONE - heads)]
    return [(face, mass) for face, mass in both if mass]


def _probability(value: Value, place: Between | None) -> Weight:
    if isinstance(value, Quotient):
        if place is None or not (place.nonnegative(value) and place.nonnegative(ONE - value)):
            raise NotSupported("a coin whose probability leaves [0, 1].", hint="Declare a narrower parameter.")
        return value
    exact = Fraction(ordered(value))
    if not 0 <= exact <= 1:
        raise NotSupported(f"a coin with probability {shown(value)}.", hint="Probabilities lie from 0 to 1.")
    return weight(exact)


def _exponent(value: Value) -> Fraction:
    exact = Fraction(ordered(value))
    if exact < 0:
        raise NotSupported(f"a coin with probability exp({shown(-exact)}), which is above 1.")
    return exact


def _count(value: Value, *, least: int = 1) -> int:
    exact = Fraction(ordered(value))
    if exact.denominator != 1 or exact < least:
        raise NotSupported(f"any of {shown(value)} outcomes.", hint=f"Give a whole number from {least} on.")
    if exact > MOST_OUTCOMES:
        raise NotFinite(f"{shown(exact)} outcomes are too many to list (at most {MOST_OUTCOMES}).")
    return int(exact)


__all__ = ["MOST_OUTCOMES", "Finer", "NotFinite", "outcomes", "power_of_e"]
