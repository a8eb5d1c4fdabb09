"""Choices: each of them is allowed, and they are of all kinds."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.accounting.two_outcomes import choices
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.choices import table

from .brute import apart


def test_all_are_allowed() -> None:
    rho = 0.05
    found = table(Concentrated(Fraction("0.05")), 0.02, 300)
    for choice in found.choices[::12]:
        assert apart(choice.p, choice.q) <= rho
        assert apart(choice.p, choice.q) >= rho * (1 - 1e-3) or choice.p + choice.q > 0.99
    assert found.choices[0].p > 0.5
    assert found.choices[-1].p < 1e-3


def test_a_pair_that_was_not_found_well_is_checked() -> None:
    """A loss that is a little too large for the statement."""
    statement = Concentrated(Fraction("0.05"))
    found = table(statement, 0.02, 100).choices[20]
    for more, fits in ((1.0, True), (1.01, False)):
        loss = more * math.log(found.p / found.q)
        assert (choices._choice(statement, found.q, loss, 0.02, float(found.limit.t)) is not None) == fits


def test_the_same_with_both_laws_exchanged() -> None:
    choice = table(Concentrated(Fraction("0.05")), 0.02, 100).choices[20]
    first, second, first_rest, second_rest = choice.mirrored
    assert apart(first, second) <= 0.05
    assert (first_rest, second_rest) == (choice.q, choice.p)


def test_listed_orders() -> None:
    bounds = ((Fraction(2), Fraction("0.1")), (Fraction(8), Fraction("0.4")))
    found = table(AtOrders(bounds), 0.02, 200)
    assert {choice.limit.t for choice in found.choices} <= {Fraction(2), Fraction(8)}
