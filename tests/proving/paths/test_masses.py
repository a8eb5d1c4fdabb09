"""What is surely there, what may be, and what events make of ranges."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from privately.proving.paths.events import Condition, Event
from privately.proving.paths.masses import Enclosed, Mass, Weighted, add_either, contained
from privately.proving.paths.ranges import ANYTHING, Range

CELL = Range(0, 1, open=True, whole=False)
CLOSED = Range(0, 1, open=False, whole=False)


def half_line(comparison: Any, bound: Fraction | int) -> Event:
    return Event(None, (Condition(((0, Fraction(1)),), comparison, Fraction(bound)),))


@pytest.mark.parametrize(
    ("comparison", "bound", "value", "inside"),
    [
        (">", 0, CELL, True),
        (">", 0, CLOSED, None),
        (">=", 0, CLOSED, True),
        (">", 1, CLOSED, False),
        (">=", 1, CLOSED, None),
        (">=", 1, CELL, False),
        ("<", 0, CELL, False),
        ("<", 0, CLOSED, False),
        ("<=", 0, CLOSED, None),
        ("<=", 0, CELL, False),
        ("<", 1, CELL, True),
        ("<", 1, CLOSED, None),
        ("<=", 1, CLOSED, True),
        ("<=", Fraction(1, 2), CELL, None),
        ("==", Fraction(1, 2), CELL, None),
        ("==", 1, CELL, False),
        ("==", 1, CLOSED, None),
        ("==", 1, 1, True),
        ("<", 1, 1, False),
        ("==", 1, ANYTHING, None),
        ("==", 1, (CELL,), False),
        (">=", -5, (ANYTHING, 1), None),
    ],
)
def test_events_know_what_ranges_leave_open(comparison: str, bound: int, value: Any, *, inside: bool | None) -> None:
    assert contained(half_line(comparison, bound), value) is inside


def test_sums_of_entries() -> None:
    both = Event((None, None), (Condition(((0, Fraction(2)), (1, Fraction(-1))), ">", Fraction(0)),))
    assert contained(both, (CELL, -1)) is True
    assert contained(both, (CELL, 1)) is None
    assert contained(both, (CELL, 2)) is False


def test_what_is_not_sure_is_in_the_upper_end_alone() -> None:
    law = Enclosed({0: Mass(arb(0.5), arb(0)), CELL: Mass(arb(0.25), arb(0.125)), ANYTHING: Mass(arb(0), arb(0.125))})
    chances = law.probability(half_line(">", 0))
    assert (chances.lower, chances.upper) == (Fraction(1, 4), Fraction(1, 2))


def test_mass_stays_where_both_answers_lead() -> None:
    sure = Mass(arb(1), arb(0))
    near, far = (Range(0, 2, open=True, whole=False),), (Range(5, 6, open=True, whole=False),)
    one: Weighted = {}
    add_either(one, [{(CELL,): sure.doubted()}, {near: sure.doubted()}], sure)
    assert one == {near: sure}
    two: Weighted = {}
    add_either(two, [{(CELL,): sure.doubted()}, {far: sure.doubted()}], sure)
    assert two.keys() == {(CELL,), far}
    assert all(mass.sure.is_zero() for mass in two.values())
    lost: Weighted = {}
    add_either(lost, [{(CELL,): sure.doubted()}, {}], None)
    assert all(mass.sure.is_zero() for mass in lost.values())
