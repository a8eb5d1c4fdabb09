"""Every Interval contains the reference: more than 500 values from mpmath and Arb that share nothing with us."""

import ast
import csv
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from privately import accounting as acc
from privately.accounting.encoding import from_text
from privately.rounding import Interval
from tests.accounting.references.generate import FILE
from tests.accounting.references.grid import cases

FOLDER = Path(__file__).parent / "references"
WIDTH, SCALE = Fraction(1, 10**6), Fraction(1, 1000)
LENGTHS = {1, 2, 10, 100, 1_000, 10_000, 100_000, 1_000_000}


@dataclass(frozen=True)
class Row:
    """A reference: the truth is within `error` of `epsilon`."""

    family: str
    text: str
    event: str
    delta: str
    epsilon: Fraction
    error: Fraction
    method: str

    @property
    def times(self) -> int:
        event = json.loads(self.event)["event"]
        return int(event["times"]) if event["kind"] == "Repeat" else 1

    def __str__(self) -> str:
        return f"{self.text}, delta {self.delta}"


def read() -> list[Row]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [
            Row(**row | {"epsilon": Fraction(row["epsilon"]), "error": Fraction(row["error"])})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]


ROWS = read()


def misses(found: Interval, row: Row) -> str:
    """What is wrong with an interval, in a word; empty if it contains the reference."""
    if found.upper < row.epsilon - row.error:
        return "the upper end is below the truth"
    if found.lower > row.epsilon + row.error:
        return "the lower end is above the truth"
    return "negative" if found.lower < 0 else ""


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_epsilon_contains_the_reference(row: Row) -> None:
    found = acc.epsilon(from_text(row.event), delta=row.delta)
    assert not misses(found, row), f"{misses(found, row)}: {found:20} and {float(row.epsilon):.20g}, by {found.method}"
    assert found.width <= WIDTH * max(row.epsilon, SCALE), f"wide: {found:12}, by {found.method}"


@pytest.mark.thinned(2)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_delta_contains_the_reference(row: Row) -> None:
    """delta falls in epsilon: below the reference it is at least the delta of the row, above it at most."""
    event, delta = from_text(row.event), Fraction(row.delta)
    above = acc.delta(event, epsilon=row.epsilon + row.error)
    assert 0 <= above.lower <= delta, f"{above:12}, by {above.method}"
    if row.epsilon > row.error:
        below = acc.delta(event, epsilon=row.epsilon - row.error)
        assert delta <= below.upper <= 1, f"{below:12}, by {below.method}"


def test_the_grid_is_as_large_as_promised() -> None:
    assert len(ROWS) >= 500
    assert len({(row.event, row.delta) for row in ROWS}) == len(ROWS)
    assert {row.times for row in ROWS} >= LENGTHS
    deltas = [Fraction(row.delta) for row in ROWS if row.family != "gaussian deep"]
    assert (max(deltas), min(deltas)) == (Fraction("1e-3"), Fraction("1e-15"))
    assert min(Fraction(row.delta) for row in ROWS) == Fraction("1e-100")
    sizes = [row.epsilon for row in ROWS if row.epsilon]
    assert min(sizes) <= Fraction("0.01")
    assert max(sizes) >= 300


@pytest.mark.parametrize("family", ["gaussian", "laplace", "response", "sampled gaussian", "sampled laplace"])
def test_each_family_has_every_length(family: str) -> None:
    assert {row.times for row in ROWS if row.family == family} == LENGTHS


def test_references_are_far_more_precise_than_what_they_judge() -> None:
    assert [str(row) for row in ROWS if row.error > Fraction("1e-10") * max(row.epsilon, SCALE)] == []


def test_the_file_is_that_of_the_grid() -> None:
    """Row by row, in its order: nothing is missing."""
    wanted = [(case.family, case.text, delta) for case in cases() for delta in case.deltas]
    assert [(row.family, row.text, row.delta) for row in ROWS] == wanted


def response_epsilon(size: Fraction, categories: int, times: int, delta: Fraction) -> Any:
    """By mpmath alone: masses by the recurrence of the trinomial coefficients, from the largest loss down."""
    one = mp.mpf(size.numerator) / size.denominator
    wanted = mp.mpf(delta.numerator) / delta.denominator
    low = 1 / (categories - 1 + mp.exp(one))
    high, middle = low * mp.exp(one), (categories - 2) * low
    last, current, above, other, n = mp.mpf(0), high**times, mp.mpf(0), mp.mpf(0), 0
    while n < times and not (n and above - mp.exp((times - n) * one) * other >= wanted):
        above, other = above + current, other + current * mp.exp(-(times - n) * one)
        following = (current * middle * (times - n) + last * low * (2 * times - n + 1)) / (high * (n + 1))
        last, current, n = current, following, n + 1
    return mp.log((above - wanted) / other) if above - other > wanted else mp.mpf(0)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.family.startswith("response") and row.times <= 100], ids=str
)
def test_responses_by_another_evaluation(row: Row) -> None:
    """Within the stated error of 30 digits, with epsilon as it is written and not as a float."""
    event = json.loads(row.event)["event"]
    leaf = event["event"] if event["kind"] == "Repeat" else event
    with mp.workdps(70):
        found = response_epsilon(Fraction(leaf["epsilon"]), leaf["categories"], row.times, Fraction(row.delta))
        assert abs(Fraction(mp.nstr(found, 60)) - row.epsilon) <= row.error


@pytest.mark.parametrize(
    "text",
    ["gaussian 10 x100", "laplace 10 x100", "response 3 of 100 x100", "gaussian 0.8 rate 0.1 x1", "hetero100 x100"],
)
def test_the_generator_gives_these_rows(text: str) -> None:
    case = next(case for case in cases() if case.text == text)
    answers = case.solve([Fraction(delta) for delta in case.deltas])
    written = [row for row in ROWS if (row.family, row.text) == (case.family, text)]
    for row, (epsilon, error) in zip(written, answers, strict=True):
        assert abs(Fraction(epsilon) - row.epsilon) <= Fraction(error) + row.error


def test_the_generator_imports_nothing_of_ours() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "privately"], path.name


@pytest.mark.parametrize("factor", [1 - Fraction("1e-8"), 1 + Fraction("1e-8")], ids=["below", "above"])
def test_an_interval_beside_the_truth_is_noticed(factor: Fraction) -> None:
    """References are sharp enough to see an error of 1e-8 in an interval of no width."""
    for row in ROWS:
        if row.epsilon:
            assert misses(Interval(row.epsilon * factor, row.epsilon * factor), row)
            assert not misses(Interval(row.epsilon, row.epsilon), row)
