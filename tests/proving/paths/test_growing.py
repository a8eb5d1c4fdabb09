"""Outputs that grow entry by entry."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from privately.proving.paths.events import Condition, Event, event_probability, exactly
from privately.proving.paths.exploring import explore
from privately.proving.paths.growing import growing, leading_to
from privately.proving.reading import read_program

LEVELS = """def f(q: each(1)):
    bar = laplace(2)
    out = []
    for v in q:
        z = v + laplace(4)
        if z > bar + 2:
            out.append(2)
        elif z > bar:
            out.append(1)
        else:
            out.append(0)
    return out
"""
GIVEN = {"q": (0, 1, -1)}


@pytest.mark.parametrize("wanted", list(product((0, 1, 2), repeat=3))[::4])
def test_no_way_to_the_event_is_lost(wanted: tuple[int, ...]) -> None:
    program = read_program(LEVELS)
    event = exactly(wanted)
    few = explore(program, GIVEN, wanted=leading_to(event, "out")).paths
    everything = explore(program, GIVEN).paths
    assert len(few) < len(everything) / 5
    assert event_probability(few, event).overlaps(event_probability(everything, event))


def test_lists_of_another_length_are_given_up() -> None:
    event = exactly((0, 1))
    assert not explore(read_program(LEVELS), {"q": (0, 0, 0)}, wanted=leading_to(event, "out")).paths


def test_entries_with_noise_are_kept() -> None:
    program = read_program(LEVELS.replace("out.append(2)", "out.append(z)"))
    event = Event((None, None), (Condition(((1, Fraction(2)),), "==", Fraction(2)),))
    outputs = [path.output for path in explore(program, {"q": (0, 0)}, wanted=leading_to(event, "out")).paths]
    assert len(outputs) == 6
    assert all(one[1] == 1 or not isinstance(one[1], int) for one in outputs)


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("    return out", "    return out + [1]"),
        ("    return out", "    out = out + out\n    return out"),
        ("    return out", "    out[0] = 5\n    return out"),
        ("    return out", "    if bar > 3:\n        return [1]\n    return out"),
        ("    for v in q:", "    for v in q:\n        out = []"),
        ("            out.append(1)", "            out = [1] + out"),
    ],
)
def test_lists_that_do_more_than_grow_are_not_taken_for_growing(line: str, other: str) -> None:
    assert growing(read_program(LEVELS)) == "out"
    assert growing(read_program(LEVELS.replace(line, other))) is None


def test_events_that_ask_for_a_length_say_which_lists_are_too_long() -> None:
    possible = leading_to(Event((None,), (Condition(((0, Fraction(1)),), ">", Fraction(0)),)), "out")
    assert possible is not None
    assert possible({"out": (-5,)})
    assert not possible({"out": (5, 5)})


def test_events_that_ask_for_no_list_of_numbers_say_nothing() -> None:
    assert leading_to(Event(None, ()), "out") is None
    assert leading_to(exactly(((1,), 2)), "out") is None
