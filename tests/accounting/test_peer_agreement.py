"""Agreement with the PLD accountant of dp-accounting, on a grid of events with delta from 1e-7 to 1e-3.

It rounds upwards, to a grid of CELL, so its epsilon should be ours or a little more. How much more its grid explains:

- A loss is split between both ends of its cell, so that the masses under both laws stay. Weighted with exp(a loss), as
  the tail at order a is, this adds (a + 1) CELL^2/12 on average and (a + 1) CELL^2/8 at most to every step. Orders here
  are up to 11 where it shows, so CELL^2 a step; and once more for the answer, between two points of the grid.
- One or two steps of Laplace noise have a largest loss that is likely. It goes to the end of its cell: CELL a step.
- Losses of randomized response are not split but rounded up: CELL a step, and nothing where they are on the grid.

How much less: their Fourier transforms leave errors of floats in delta, which come to FLOATS of epsilon.
"""

import csv
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp

from privately import accounting as acc
from privately.accounting.encoding import from_text
from privately.accounting.events import Event
from privately.rounding import Interval
from tests.accounting.references.dp_accounting import DELTAS, FILE, LENGTHS, cases
from tests.accounting.test_references import response_epsilon

CELL = Fraction(1, 10**4)
FLOATS = Fraction(1, 10**8)
"""Seen: 8.4e-9, at 1000 responses and delta 1e-7."""
NOISE = {"noise_multiplier": 1, "scale": 1, "epsilon": -1}
"""The fields that say how much noise there is, and which way they go with it."""


@dataclass(frozen=True)
class Row:
    """What dp-accounting says."""

    family: str
    text: str
    event: str
    delta: str
    epsilon: Fraction
    method: str

    @property
    def ours(self) -> Event:
        return from_text(self.event)

    @property
    def grid_cost(self) -> Fraction:
        """How much their grid adds to epsilon at most."""
        steps = self.ours.runs
        if self.family == "response off the grid" or (self.family.endswith("laplace") and steps <= 2):
            return steps * CELL
        return (steps + 1) * CELL**2

    def __str__(self) -> str:
        return f"{self.text}, delta {self.delta}"


def read() -> list[Row]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [Row(**row | {"epsilon": Fraction(row["epsilon"])}) for row in csv.DictReader(file)]  # type: ignore[arg-type]


ROWS = read()


def disagreement(found: Interval, row: Row) -> str:
    """What their rounding does not explain, in a word; empty if they agree."""
    if row.epsilon < found.lower * (1 - FLOATS):
        return "theirs is below our lower end"
    if row.epsilon > found.upper + row.grid_cost:
        return "theirs is above our upper end"
    return ""


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_both_accountants_agree(row: Row) -> None:
    found = acc.epsilon(row.ours, delta=row.delta)
    assert not disagreement(found, row), f"{found:12}, by {found.method}, and {float(row.epsilon):.12g}"


def with_noise(data: Any, factor: Fraction) -> Any:
    """An event as JSON data, with so many times its noise in every leaf."""
    match data:
        case dict():
            return {
                name: str(Fraction(value) * factor ** NOISE[name]) if name in NOISE else with_noise(value, factor)
                for name, value in data.items()
            }
        case list():
            return [with_noise(part, factor) for part in data]
    return data


@pytest.mark.parametrize(
    ("factor", "fault"),
    [("1.01", "theirs is above our upper end"), ("0.99", "theirs is below our lower end")],
    ids=["more noise", "less noise"],
)
def test_one_percent_of_noise_is_noticed_in_every_row(factor: str, fault: str) -> None:
    for row in ROWS:
        wrong = from_text(json.dumps(with_noise(json.loads(row.event), Fraction(factor))))
        assert disagreement(acc.epsilon(wrong, delta=row.delta), row) == fault, str(row)


@pytest.mark.parametrize("row", [row for row in ROWS if row.family == "response"], ids=str)
def test_where_theirs_is_below_ours_is_the_truth(row: Row) -> None:
    """By an exact sum in 70 digits: it is in our interval, and their floats are off by what lies between."""
    data = json.loads(row.event)["event"]
    leaf = data.get("event", data)
    with mp.workdps(70):
        sizes = Fraction(leaf["epsilon"]), leaf["categories"], row.ours.runs, Fraction(row.delta)
        truth = Fraction(mp.nstr(response_epsilon(*sizes), 60))
    found = acc.epsilon(row.ours, delta=row.delta)
    assert found.lower <= truth <= found.upper
    assert abs(row.epsilon - truth) <= FLOATS * truth


def test_the_grid_is_as_large_as_promised() -> None:
    assert [(row.family, row.text, row.delta) for row in ROWS] == [
        (family, text, delta) for family, text, _, deltas in cases() for delta in deltas
    ]
    assert len(ROWS) >= 60
    assert {row.delta for row in ROWS} == set(DELTAS)
    for family in ("gaussian", "laplace", "response", "sampled gaussian", "sampled laplace"):
        assert {row.ours.runs for row in ROWS if row.family == family} == set(LENGTHS)
    assert all(row.epsilon > Fraction(1, 10) for row in ROWS), "where 0 is the answer, agreement says little"


def test_all_rows_are_of_one_version() -> None:
    assert {row.method for row in ROWS} == {"dp-accounting 0.6.0"}
