"""What the roads from a composition to a number have in common."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.errors import NoSuchRule


class NotApplicable(Exception):
    """This road does not lead to an answer here; `reason` says why. Never leaves `privately.accounting`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


NEAR_ONE = 1 - Fraction(1, 1 << 22)
"""Below this a rate q is so far from 1 that 1 - q, and what is divided by it, is off by 10^-9 of itself at most."""

DEAD_ENDS = (NotApplicable, ArithmeticError, MemoryError)
"""What ends a road: numbers that leave the range of floats or of memory; another road may have an answer."""


def nearly_log(value: Fraction) -> float:
    """ln of a positive number, which may be beyond the range of floats, to some roundings."""
    return math.log(value.numerator) - math.log(value.denominator)


def refusal(premise: str, reason: Exception) -> NoSuchRule:
    """The reason, as users are told."""
    return reason if isinstance(reason, NoSuchRule) else NoSuchRule(premise=premise, wanted="an epsilon and a delta")
