"""Groups that nobody listed: exactly how likely each answer is, for all neighbours of small tables."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise, product
from typing import Any

import pytest

from privately import mechanisms as m
from privately.engines.protocol import Group
from privately.errors import InvalidParameter
from privately.plans import Key, Question, RowCount, Type, Unit, UnitCount
from privately.query.allocation import Budget, Drawn, allocated
from privately.query.listing import fits, groups_of, in_order, listing_of, public_groups, restricted, shown_keys
from privately.query.proving import derivation
from privately.query.uses import Listed, Noisy, uses
from tests.plans.small import AMOUNT, GROUP, Row, exact, field, pairs, row_pairs
from tests.query.small_questions import ROWS, UNITS, NoNoise, question

KINDS = [("a", 1), ("b", 1), (None, 1)]
OTHERS: list[Any] = [(2, "a", 1), (3, "a", 1)]
LIMITS = [(1, 1, 1), (3, 1, 3), (2, 2, 1), (3, 2, 2)]
Pairs = list[tuple[float, float]]


def unknown(*names: str, unit: Unit, public: bool = False) -> Question:
    """A question by part, whose values are not public; with the amount beside it, whose values are."""
    asked = question(*names, unit=unit)
    (key,) = asked.aggregation.keys
    keys: tuple[Key, ...] = (replace(key, values=None),)
    if public:
        keys = (Key(identity=AMOUNT, expression=field(asked.aggregation.source, AMOUNT), values=(1, None)), *keys)
    return replace(asked, aggregation=replace(asked.aggregation, keys=keys))


def planned(asked: Question, epsilon: str = "1.5", delta: str = "0.05") -> tuple[Drawn, ...]:
    return allocated(uses(asked), 1, Budget(currency="epsilon", amount=Fraction(epsilon), delta=Fraction(delta)))


# --- exact probabilities --------------------------------------------------------------------------------------------


@cache
def at_least(law: Any, steps: int) -> float:
    return float(law.tail(steps - 1).lower)


def noisy(law: Any, one: int, other: int, start: int | None = None) -> Pairs:
    """How likely each outcome of number + noise is, from `start` on; those of one ratio are taken together."""
    low, high = min(one, other), max(one, other)
    ends = [low + 1 + step for step in range(high - low)] if start is None else [start]
    if start is not None:
        ends += list(range(max(low, start) + 1, high + 1))
    above = [(at_least(law, end - one), at_least(law, end - other)) for end in ends] + [(0.0, 0.0)]
    first = [(1.0, 1.0)] if start is None else []
    steps = first + above
    return [(p - p_next, q - q_next) for (p, q), (p_next, q_next) in pairwise(steps)]


def showing(histogram: m.ThresholdedHistogram, one: int, other: int, *, shown: bool) -> Pairs:
    """The same for a key that is shown, or is not; one that nobody has never is."""
    there = [at_least(histogram.law, histogram.threshold - number) if number else 0.0 for number in (one, other)]
    if not shown:
        return [(1 - there[0], 1 - there[1])]
    found = noisy(histogram.law, one, other, histogram.threshold)
    return [(p if one else 0.0, q if other else 0.0) for p, q in found]


def delta_at(epsilon: float, asked: Question, plan: Sequence[Drawn], one: list[Row], other: list[Row]) -> float:
    """The least delta at this epsilon for two tables: the sum of max(P - e^epsilon Q, 0) over all answers."""
    listing, (first, *rest) = listing_of(asked), plan
    assert listing is not None
    (histogram,) = first.mechanisms
    assert isinstance(histogram, m.ThresholdedHistogram)
    units = [exact(listing.aggregation, table)[0] for table in (one, other)]
    keys = sorted(units[0].keys() | units[1].keys(), key=repr)
    total = 0.0
    for shown in chain.from_iterable(combinations(keys, size) for size in range(len(keys) + 1)):
        parts = [showing(histogram, *(each.get(key, 0) for each in units), shown=key in shown) for key in keys]
        parts += second(asked, rest, in_order(shown), one, other) if shown else []
        for outcome in product(*parts):
            p, q = math.prod(each[0] for each in outcome), math.prod(each[1] for each in outcome)
            total += max(p - math.exp(epsilon) * q, 0.0)
    return total


def second(asked: Question, rest: Sequence[Drawn], shown: Sequence[Group], one: list[Row], other: list[Row]) -> Any:
    """The noisy numbers of the groups that were shown."""
    for drawn in rest:
        assert isinstance(drawn.use, Noisy)
        (mechanism,) = drawn.mechanisms
        counted = restricted(asked, shown, {drawn.use.tally})
        numbers = [exact(counted, table)[0] for table in (one, other)]
        for group in groups_of(asked, shown):
            yield noisy(mechanism.law, *(each.get(group, 0) for each in numbers))  # type: ignore[union-attr]


def neighbours(unit: Unit) -> Iterator[tuple[list[Row], list[Row]]]:
    listed = row_pairs(unit.change, KINDS, OTHERS) if unit.column is None else pairs(unit.change, 2, KINDS, OTHERS)
    for one, other in listed:
        yield one, other
        yield other, one


def units(change: Any) -> Iterator[Unit]:
    yield Unit(change=change)
    for rows, groups, per_group in LIMITS:
        yield Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group, change=change)


@pytest.mark.parametrize("change", ["add_remove", "replace"])
@pytest.mark.parametrize("names", [("units",), ("rows",)])
def test_what_is_shown_of_all_small_tables(change: Any, names: tuple[str, ...]) -> None:
    """No pair of neighbours needs more than the derived delta at the derived epsilon, and some need much of it."""
    for unit in units(change):
        asked = unknown(*names, unit=unit)
        plan = planned(asked)
        claimed = derivation(plan, asked.aggregation).conclusion.parameters
        found = [delta_at(float(claimed["epsilon"]), asked, plan, *tables) for tables in neighbours(unit)]
        assert max(found) <= float(claimed["delta"]) * (1 + 1e-9)
        assert max(found) >= float(claimed["delta"]) / (4 if change == "replace" else 1.001)


def test_public_keys_beside_unknown_ones() -> None:
    unit = Unit(column="person", rows=2, groups=2, rows_per_group=1)
    asked = unknown("rows", unit=unit, public=True)
    plan = planned(asked)
    claimed = derivation(plan, asked.aggregation).conclusion.parameters
    kinds = [("a", 1), ("a", None), ("b", 1)]
    found = [delta_at(float(claimed["epsilon"]), asked, plan, *two) for two in pairs("add_remove", 2, kinds, OTHERS)]
    assert max(found) <= float(claimed["delta"]) * (1 + 1e-9)


def fault(name: str, asked: Question, plan: tuple[Drawn, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[Drawn, ...]:
    """Mistakes that are easily made."""
    first, *rest = plan
    (histogram,) = first.mechanisms
    assert isinstance(histogram, m.ThresholdedHistogram)
    if name == "rows are counted":
        listing = listing_of(asked)
        assert listing is not None
        wrong = replace(listing.aggregation, tallies=((listing.tally, RowCount()),))
        monkeypatch.setattr(f"{__name__}.listing_of", lambda _: replace(listing, aggregation=wrong))
    if name == "one group":
        histogram = m.ThresholdedHistogram.for_budget(epsilon=first.share, delta="0.05", keys=1)
    if name == "threshold one lower":
        histogram = m.ThresholdedHistogram(scale=histogram.scale, threshold=histogram.threshold - 1, keys=2)
    if name == "all are shown":
        monkeypatch.setattr(f"{__name__}.showing", _everybody)
    return (replace(first, mechanisms=(histogram,)), *rest)


def _everybody(histogram: m.ThresholdedHistogram, one: int, other: int, *, shown: bool) -> Pairs:
    """As if a key were no secret."""
    del histogram
    there = [number > 0 for number in (one, other)]
    return [(float(there[0] == shown), float(there[1] == shown))]


@pytest.mark.parametrize("name", ["rows are counted", "one group", "threshold one lower", "all are shown", "no delta"])
def test_false_listings_are_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit(column="person", rows=3, groups=1 if name == "rows are counted" else 2, rows_per_group=3)
    asked = unknown("rows", unit=unit)
    plan = planned(asked)
    claimed = derivation(plan, asked.aggregation).conclusion.parameters
    delta = 0.0 if name == "no delta" else float(claimed["delta"])
    wrong = fault(name, asked, plan, monkeypatch)
    found = [delta_at(float(claimed["epsilon"]), asked, wrong, *tables) for tables in neighbours(unit)]
    assert max(found) > delta * 1.01


# --- what is counted ------------------------------------------------------------------------------------------------


def test_public_groups_need_no_listing() -> None:
    assert listing_of(question("rows")) is None
    assert listing_of(question("rows", values=None)) is None


@pytest.mark.parametrize(
    ("unit", "names", "counted"),
    [
        (Unit(), ("rows",), ROWS),
        (Unit(), ("rows", "sum"), ROWS),
        (Unit(column="person", rows=3), ("rows", "units"), UNITS),
        (Unit(column="person", rows=3, rows_per_group=1), ("rows",), ROWS),
        (Unit(column="person", rows=1), ("rows",), ROWS),
    ],
)
def test_numbers_of_units_are_drawn_once(unit: Unit, names: tuple[str, ...], counted: Any) -> None:
    asked = unknown(*names, unit=unit)
    listing = listing_of(asked)
    assert listing is not None
    first, *rest = uses(asked)
    assert isinstance(first, Listed)
    assert listing.counted
    assert first.tally == counted
    assert counted not in [use.tally for use in rest if isinstance(use, Noisy)]
    assert first.keys == unit.most_groups
    assert listing.aggregation.tallies[0][1] == (RowCount() if unit.column is None else UnitCount())


def test_rows_are_not_units() -> None:
    asked = unknown("rows", unit=Unit(column="person", rows=3))
    listing = listing_of(asked)
    assert listing is not None
    assert not listing.counted
    assert [type(use) for use in uses(asked)] == [Listed, Noisy]


def test_units_of_a_value_are_not_those_of_its_groups() -> None:
    asked = unknown("rows", unit=Unit(), public=True)
    listing = listing_of(asked)
    assert listing is not None
    assert (listing.counted, listing.places) == (False, (1,))
    assert [key.identity for key in listing.aggregation.keys] == [GROUP]
    assert [type(use) for use in uses(asked)] == [Listed, Noisy]


# --- groups ---------------------------------------------------------------------------------------------------------


def test_groups_come_in_the_order_of_their_keys() -> None:
    asked = unknown("rows", unit=Unit(), public=True)
    shown = in_order([("b",), (None,), ("a",)])
    assert shown == (("a",), ("b",), (None,))
    listed = ((1, "a"), (1, "b"), (1, None), (None, "a"), (None, "b"), (None, None))
    assert groups_of(asked, shown) == listed
    assert groups_of(asked, shown[::-1]) == listed
    assert groups_of(asked) == ()
    assert public_groups(asked) == 2
    assert in_order([(date(2020, 1, 2),), (None,), (date(2020, 1, 1),)])[0] == (date(2020, 1, 1),)


def test_the_second_pass_asks_for_what_was_shown() -> None:
    asked = unknown("rows", "sum", unit=Unit(), public=True)
    second_pass = restricted(asked, [("a",), (None,)], {ROWS})
    assert [key.values for key in second_pass.keys] == [(1, None), ("a", None)]
    assert [name for name, _ in second_pass.tallies] == [ROWS]


def test_too_many_public_groups_are_refused_beforehand() -> None:
    asked = unknown("rows", unit=Unit(), public=True)
    amount, part = asked.aggregation.keys
    many = replace(
        asked, aggregation=replace(asked.aggregation, keys=(replace(amount, values=tuple(range(100_001))), part))
    )
    with pytest.raises(InvalidParameter, match="groups"):
        public_groups(many)


def test_of_too_many_the_largest_are_shown() -> None:
    histogram = m.ThresholdedHistogram(scale=1, threshold=3)
    counts: Any = {(name,): (number,) for name, number in {"d": 9, "a": 3, "c": 7, "b": 2, None: 7}.items()}
    assert shown_keys(histogram, counts, [Type.TEXT], 10, NoNoise()) == {("a",): 3, ("c",): 7, ("d",): 9, (None,): 7}
    assert list(shown_keys(histogram, counts, [Type.TEXT], 2, NoNoise())) == [("c",), ("d",)]
    assert list(shown_keys(histogram, counts, [Type.TEXT], 3, NoNoise())) == [("c",), ("d",), (None,)]
    assert shown_keys(histogram, {}, [Type.TEXT], 3, NoNoise()) == {}


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_the_same_as_the_mechanism_itself(noise: Any) -> None:
    histogram = m.ThresholdedHistogram(scale=2, threshold=4, noise=noise)
    counts: Any = {(f"{number:02}",): (number,) for number in range(1, 20)}
    added = tuple(random.Random(3).randrange(-5, 6) for _ in range(19))
    alone = histogram.run({name: number for (name,), (number,) in counts.items()}, NoNoise(*added))
    shown = shown_keys(histogram, counts, [Type.TEXT], 100, NoNoise(*added))
    assert {name: number for (name,), number in shown.items()} == alone


def test_what_fits() -> None:
    assert fits(("a", None), [Type.TEXT, Type.INTEGER])
    assert not fits(("a",), [Type.TEXT, Type.INTEGER])
    assert not fits((1, 2), [Type.TEXT, Type.INTEGER])
    assert not fits((True, 2), [Type.INTEGER, Type.INTEGER])
    assert not fits(["a"], [Type.TEXT])
    assert not fits((float("nan"),), [Type.REAL])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.3", "1.5", "6"])
@pytest.mark.parametrize("delta", ["0.3", "0.01"])
@pytest.mark.parametrize("change", ["add_remove", "replace"])
def test_what_is_shown_of_more_small_tables(epsilon: str, delta: str, change: Any) -> None:
    kinds = [("a", 1), ("b", 1), ("c", 1), (None, 1)]
    others: list[list[Row]] = [[], [(2, "a", 1), (3, "a", 1), (3, "b", 1), (4, "a", 1)]]
    for unit, names, rest in product(units(change), [("units",), ("rows",)], others):
        asked = unknown(*names, unit=unit)
        plan = planned(asked, epsilon, delta)
        claimed = derivation(plan, asked.aggregation).conclusion.parameters
        listed = row_pairs(change, kinds, rest) if unit.column is None else pairs(change, 2, kinds, rest)
        for one, other in listed:
            for tables in ((one, other), (other, one)):
                found = delta_at(float(claimed["epsilon"]), asked, plan, *tables)
                assert found <= float(claimed["delta"]) * (1 + 1e-9)
