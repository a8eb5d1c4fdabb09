"""Events."""

from fractions import Fraction
from math import exp
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.paths.affine import Constraint, symbol_form
from privately.proving.paths.events import (
    Condition,
    Event,
    entries_of,
    event_probability,
    exactly,
    shape_of,
)
from privately.proving.paths.exploring import explore
from privately.proving.reading import read_program
from privately.proving.running import run
from tests.proving.textbook import CLAMPED, RUNNING_SUM, sparse

ONE = Fraction(1)


def at(place: int, comparison: Any, bound: int) -> Condition:
    return Condition(((place, ONE),), comparison, Fraction(bound))


CASES: list[tuple[str, dict[str, Any], Event]] = [
    (
        sparse(yes="value - bar"),
        {"q": (1, 3, 2), "threshold": 1, "most": 1, "epsilon": 2},
        Event((None, None), (at(0, "==", 0), at(1, ">=", 1))),
    ),
    (
        RUNNING_SUM,
        {"q": (1, 0), "epsilon": 1},
        Event((None, None), (Condition(((0, -ONE), (1, ONE)), "<", ONE), at(0, "<=", 2))),
    ),
    (CLAMPED, {"x": 2, "epsilon": 1}, exactly(3)),
    (CLAMPED, {"x": 2, "epsilon": 1}, Event(None, (at(0, "<=", 0),))),
]


@pytest.mark.parametrize(("text", "inputs", "event"), CASES)
def test_events_are_as_likely_as_sampling_says(text: str, inputs: dict[str, Any], event: Event) -> None:
    program = read_program(text)
    likely = float(event_probability(explore(program, inputs).paths, event).mid())
    samples = 400
    seen = sum(event.happened(run(program, inputs)) for _ in range(samples))
    assert 0.02 < likely < 0.98
    # Hoeffding: off by more than this with probability below 1e-9.
    assert abs(seen / samples - likely) < 0.165


def test_a_single_outcome_of_clamped_noise() -> None:
    law = explore(read_program(CLAMPED), {"x": 5, "epsilon": 1}).paths
    assert event_probability(law, exactly(5)).overlaps(event_probability(law, Event(None, (at(0, ">", 4),))))
    assert float(event_probability(law, exactly(5)).mid()) == pytest.approx(1 / (1 + exp(-1)))
    assert event_probability(law, exactly(6)).is_zero()
    assert event_probability(law, exactly((5,))).is_zero()


def test_conditions_on_open_outputs_become_constraints() -> None:
    noisy = symbol_form(0)
    assert at(0, "<", 2).on((noisy,)) == Constraint(2 - noisy, ">")
    assert at(0, "==", 2).on((2,)) is True
    assert exactly((1, (True,))).on((1, (0,))) is None


def test_half_lines_stretch_and_equalities_stay() -> None:
    event = Event((None, None), (at(0, "==", 0), at(1, ">=", 1)))
    assert list(event.stretched(Fraction(2))) == [Event((None, None), (at(0, "==", 0), at(1, ">=", 3)))]
    both = Event((None, None), (at(0, "<", 0), at(1, ">=", 1)))
    assert len(list(both.stretched(Fraction(2)))) == 3
    assert at(0, "<", 0).stretched(Fraction(2)) == at(0, "<", -2)
    assert list(exactly(3).stretched(Fraction(1))) == []


def test_shapes_and_words() -> None:
    assert shape_of((1, (2, 3))) == (None, (None, None))
    assert entries_of((True, (2, 3))) == (1, 2, 3)
    event = Event((None, (None, None)), (Condition(((0, ONE), (2, -ONE)), "<", Fraction(1, 2)),))
    assert str(event) == "output is a list of 2 with output[0] - output[1][1] < 1/2"
    assert str(exactly(3)) == "output == 3"
    assert event.as_data()["conditions"][0] == {"weights": {"0": "1", "2": "-1"}, "comparison": "<", "bound": "1/2"}
    with pytest.raises(NotSupported):
        entries_of("text")
