"""Several quantiles: exact privacy of all small tables, ties, accuracy over all choices, certificates, bad input."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms import quantiles as module
from privately.mechanisms.quantile import Quantile
from privately.mechanisms.quantiles import Quantiles
from privately.mechanisms.ranked_points import ROW
from tests.mechanisms.enumeration import Distribution
from tests.mechanisms.rounds import in_rounds, in_rounds_after
from tests.mechanisms.tables import Table, certified, one_row_more, one_row_replaced, tables, worst_loss

TINY = mpmath.mpf(10) ** -40
ROUNDING = 1e-9
HALVES = ["1/2"]
THIRDS = ["1/3", "2/3"]
QUARTERS = ["1/4", "1/2", "3/4"]
cut = module._between


def over(upper: int, probabilities: Sequence[Any], epsilon: Any = 1, tie_breaks: int = 1) -> Quantiles:
    return Quantiles(probabilities=probabilities, epsilon=epsilon, lower=0, upper=upper, step=1, tie_breaks=tie_breaks)


def law_of(quantiles: Quantiles) -> Callable[[Table], Distribution]:
    def law(table: Table) -> Distribution:
        draws = len(table) if quantiles.tie_breaks > 1 else 0
        return in_rounds_after(
            lambda randomness: quantiles.run(list(table), randomness), upper=quantiles.tie_breaks, draws=draws
        )

    return law


@pytest.mark.parametrize(
    ("probabilities", "upper", "rows", "tie_breaks"),
    [(THIRDS, 2, 3, 1), (QUARTERS, 2, 3, 1), (THIRDS, 1, 3, 2), ([0, "1/2", 1], 2, 2, 1), (HALVES, 1, 3, 3)],
)
def test_exact_privacy_of_every_small_table(probabilities: list[Any], upper: int, rows: int, tie_breaks: int) -> None:
    law, every = law_of(over(upper, probabilities, tie_breaks=tie_breaks)), tables(range(upper + 1), rows)
    assert 0.2 < worst_loss(law, one_row_more(every)) <= 1 + ROUNDING
    assert worst_loss(law, one_row_replaced(every)) <= 2 + ROUNDING


class FullPriceForEveryLevel(Quantiles):
    def _within(self, low: int | None, middle: int, high: int | None) -> Quantile:
        part = super()._within(low, middle, high)
        return Quantile(
            probability=part.probability,
            epsilon=self.epsilon,
            lower=self.points.lower,
            upper=self.points.upper,
            step=self.points.step,
        )


def test_a_level_may_not_cost_as_much_as_all() -> None:
    undivided = FullPriceForEveryLevel(probabilities=THIRDS, epsilon=1, lower=0, upper=3, step=1, tie_breaks=1)
    assert worst_loss(law_of(undivided), one_row_more(tables(range(4), 3))) > 1.1


def every_row_in_every_part(ordered: NDArray[np.int64], first: int | None, last: int | None) -> NDArray[np.int64]:
    return np.clip(ordered, 0 if first is None else first, 2**60 if last is None else last)


def rows_at_a_cut_in_both_parts(ordered: NDArray[np.int64], first: int | None, last: int | None) -> NDArray[np.int64]:
    return cut(ordered, first, None if last is None else last + 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("between", "before", "after"),
    [
        (every_row_in_every_part, (0, 8, 14), (0, 6, 8, 14)),
        (rows_at_a_cut_in_both_parts, (0, 2, 14), (0, 1, 2, 14)),
    ],
)
def test_a_row_may_not_be_in_two_parts(
    monkeypatch: pytest.MonkeyPatch, between: Callable[..., NDArray[np.int64]], before: Table, after: Table
) -> None:
    quartiles = over(14, QUARTERS)
    assert worst_loss(law_of(quartiles), iter([(before, after)])) <= 1
    monkeypatch.setattr(module, "_between", between)
    assert worst_loss(law_of(quartiles), iter([(before, after)])) > 1.015


def test_the_claim_is_nearly_attained() -> None:
    assert worst_loss(law_of(over(8, QUARTERS)), iter([((0, 7, 7), (0, 0, 7, 7))])) > 0.87


def chances(quantiles: Quantiles, values: list[float], given: Sequence[int]) -> tuple[Distribution, Distribution]:
    inputs = quantiles.program_inputs(values)
    return (
        in_rounds(lambda randomness: quantiles.run(values, randomness), given),
        in_rounds(lambda randomness: quantiles.program.run(inputs, randomness), given),
    )


@pytest.mark.parametrize("values", [[], [2.0], [1, 1], [0, 2, -5], [0, 1, 1.8]])
@pytest.mark.parametrize("probabilities", [HALVES, THIRDS, QUARTERS, [0, 1]])
def test_the_text_does_what_run_does(values: list[float], probabilities: list[Any]) -> None:
    ran, read = chances(over(2, probabilities), values, ())
    assert ran.chances.keys() == read.chances.keys()
    assert all(abs(ran.chances[answer] - read.chances[answer]) < TINY for answer in ran.chances)
    assert abs(sum(ran.chances.values()) - 1) < TINY


@pytest.mark.parametrize("values", [[1.0], [0, 0], [0, 1]])
def test_the_text_breaks_ties_as_run_does(values: list[float]) -> None:
    for given in product(range(2), repeat=len(values)):
        ran, read = chances(over(1, THIRDS, tie_breaks=2), values, given)
        assert ran.chances.keys() == read.chances.keys()
        assert all(abs(ran.chances[answer] - read.chances[answer]) < TINY for answer in ran.chances)


def test_answers_are_in_order_and_in_range() -> None:
    laws = [law_of(over(2, probabilities)) for probabilities in (THIRDS, QUARTERS, [0, "1/2", 1])]
    for law in laws:
        for table in tables(range(3), 2):
            answers: list[Any] = list(law(table).chances)
            assert all(list(answer) == sorted(answer) and {*answer} <= {0, 1, 2} for answer in answers)


def test_many_quantiles_of_much_data() -> None:
    """With so much epsilon and so many values, nobody sees a rank that is off by more than one in a hundred."""
    values = np.random.default_rng(4).permutation(100_000) / 10
    probabilities = [Fraction(i, 20) for i in range(21)]
    quantiles = Quantiles(probabilities=probabilities, epsilon=20, lower=0, upper=10_000, step="0.1")
    found = quantiles.release(values)
    assert found == sorted(found)
    assert all(
        abs(point / 10_000 - wanted) < Fraction(1, 100) for point, wanted in zip(found, probabilities, strict=True)
    )


def test_many_equal_values_do_not_draw_all_quantiles_to_themselves() -> None:
    """Six in ten are zero. All zeros on one side of the cut would make 0 of the upper quartile, too."""
    values = np.concatenate([np.zeros(60_000), np.arange(1, 40_001)])
    settings: dict[str, Any] = {"probabilities": QUARTERS, "epsilon": 20, "lower": 0, "upper": 40_000, "step": 1}
    lower, middle, upper = Quantiles(**settings).release(values)
    assert (lower, middle) == (0, 0)
    assert 14_000 < upper < 16_000
    assert Quantiles(tie_breaks=1, **settings).release(values)[2] < 14_000


def choices(quantiles: Quantiles, table: Table) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """All answers that may be chosen, with the errors of each choice within its part, in order of the tree."""
    steps = np.array(table, np.int64)

    def go(found: dict[int, int], misses: list[Fraction]) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
        if len(found) == len(quantiles.nodes):
            yield [Fraction(found[i]) for i in range(len(found))], misses
            return
        node = quantiles.nodes[len(found)]
        low, high = (None if parent is None else found[parent] for parent in (node.low, node.high))
        part = module._between(steps, low, high)
        for point in range(low or 0, (quantiles.points.steps if high is None else high) + 1):
            missed = Fraction(node.quantile.miss(part, point), node.quantile.probability.denominator)
            yield from go({**found, node.index: point}, [*misses, missed])

    return go({}, [])


@pytest.mark.parametrize("probabilities", [THIRDS, QUARTERS, ["1/5", "1/4", "1/2", "9/10"]])
def test_no_rank_is_further_off_than_the_choices_allow(probabilities: list[Any]) -> None:
    """All tables of up to four rows, all choices: errors of the levels add up, and ties once for each cut."""
    quantiles = over(3, probabilities)
    level_of = {node.index: i for i, level in enumerate(quantiles._by_level()) for node in level}
    worst = Fraction(0)
    for table in tables(range(4), 4):
        ties = max((table.count(value) for value in table), default=0)
        for answer, misses in choices(quantiles, table):
            errors = [Fraction(0)] * quantiles.levels
            for node, missed in zip(quantiles.nodes, misses, strict=True):
                errors[level_of[node.index]] = max(errors[level_of[node.index]], missed)
            off = max(distance(table, int(point), p) for point, p in zip(answer, quantiles.probabilities, strict=True))
            worst = max(worst, off - sum(errors))
            assert off <= sum(errors) + (quantiles.levels - 1) * ties
    assert worst > 0  # without ties the sum alone would not be enough


def distance(table: Table, point: int, probability: Fraction) -> Fraction:
    """By how many ranks a point is off."""
    below, upto = sum(v < point for v in table), sum(v <= point for v in table)
    return max(below - probability * len(table), probability * len(table) - upto, Fraction(0))


def test_the_accuracy_adds_up_levels_and_ties() -> None:
    quartiles = over(999, QUARTERS, epsilon=2, tie_breaks=4)
    one = Quantile(probability="1/2", epsilon=1, lower=0, upper=3999, step=1)
    each = one.accuracy(confidence=1 - Fraction(1, 60)).error
    assert quartiles.accuracy(confidence="0.95").error == 2 * each + 1
    assert quartiles.accuracy(confidence="0.95", ties=10).error == 2 * each + 10


@pytest.mark.parametrize("ties", [1, 30])
def test_for_accuracy_meets_its_error_and_less_epsilon_would_not(ties: int) -> None:
    settings: dict[str, Any] = {"probabilities": QUARTERS, "lower": 0, "upper": 1000, "step": "0.5"}
    quartiles = Quantiles.for_accuracy(error=50, confidence="0.95", ties=ties, **settings)
    assert 49 < quartiles.interval("0.95", ties=ties) <= 50
    weaker = Quantiles(epsilon=quartiles.epsilon * (1 - Fraction(1, 10**9)), **settings)
    assert weaker.interval("0.95", ties=ties) > 50


def test_the_interval_adds_up_levels_and_ties() -> None:
    """As the accuracy does, but with the exact law of each choice."""
    quartiles = over(999, QUARTERS, epsilon=2, tie_breaks=4)
    one = Quantile(probability="1/2", epsilon=1, lower=0, upper=3999, step=1)
    each = one.interval(1 - Fraction(1, 60))
    assert quartiles.interval("0.95") == 2 * each + 1
    assert quartiles.interval("0.95", ties=10) == 2 * each + 10
    assert quartiles.accuracy(confidence="0.95").error - 4 < quartiles.interval("0.95")
    assert quartiles.interval("0.95") < quartiles.accuracy(confidence="0.95").error


def test_ranks_are_within_the_interval_for_all_tables() -> None:
    """By the law of each choice, for all tables of up to four rows without ties."""
    quantiles = over(3, THIRDS, epsilon=6)
    for table in (table for table in tables(range(4), 3) if len(set(table)) == len(table)):
        law = in_rounds(lambda randomness, table=table: quantiles.run(list(table), randomness))  # type: ignore[misc]
        for confidence in ("0.5", "0.9"):
            width, inside = quantiles.interval(confidence), mpmath.mpf(0)
            for answer, chance in law.chances.items():
                points: Any = answer
                pairs = zip(points, quantiles.probabilities, strict=True)
                inside += chance if all(distance(table, int(x), p) <= width for x, p in pairs) else 0
            assert inside >= mpmath.mpf(confidence)


def test_errors_below_what_ties_cost_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="above 30"):
        Quantiles.for_accuracy(error=30, confidence="0.9", ties=30, probabilities=QUARTERS, lower=0, upper=9, step=1)


@pytest.mark.parametrize("rho", ["0.1", 2, "1/3"])
def test_for_rho_is_never_above_it(rho: Any) -> None:
    quartiles = Quantiles.for_rho(rho, probabilities=QUARTERS, lower=0, upper=10, step=1)
    found = quartiles.derive_zcdp().conclusion.parameters["rho"]
    assert Fraction(rho) * (1 - Fraction(1, 10**12)) < found <= Fraction(rho)


@pytest.mark.parametrize(
    ("neighbors", "rows"),
    [
        (Neighbors.ADD_REMOVE, 1),
        (Neighbors.REPLACE, 2),
        (Neighbors.ADD_REMOVE.times(3), 3),
        (Neighbors.ADD_REMOVE.of_unit("person", max_rows=4), 4),
        (Neighbors.REPLACE.of_unit("person", max_rows=4), 8),
    ],
)
def test_the_certificate_charges_every_row(neighbors: Neighbors, rows: int) -> None:
    quantiles = over(100, ["1/10", "1/3", "1/2", "0.7", "0.99"], epsilon="0.3")
    of_rows = Sensitivity(value=rows, norm="Linf", neighbors=neighbors)
    assert certified(quantiles.derive(of_rows)) == PureDP(epsilon=Fraction(3 * rows, 10), neighbors=neighbors)
    rho = 3 * Fraction(1, 10) ** 2 / 8 * rows**2
    assert certified(quantiles.derive_zcdp(of_rows)) == ZCDP(rho=rho, neighbors=neighbors)
    with pytest.raises(InvalidParameter):
        quantiles.derive(Sensitivity(value=rows - 1, norm="Linf", neighbors=neighbors))
    with pytest.raises(NoSuchRule):
        quantiles.derive(Sensitivity(value=rows + 1, norm="Linf", neighbors=neighbors))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 15, 16, 1000])
def test_the_tree_has_as_many_levels_as_it_says(count: int) -> None:
    quantiles = over(10, [Fraction(i, 1000) for i in range(count)])
    levels = quantiles._by_level()
    assert len(levels) == quantiles.levels == count.bit_length()
    assert all(levels)
    assert sorted(node.index for level in levels for node in level) == list(range(count))
    assert quantiles.guarantee(ROW) == PureDP(epsilon=1)


def test_the_worst_case_is_that_of_the_first_choice() -> None:
    quartiles = over(100, QUARTERS)
    assert quartiles.worst_case(ROW) == Quantile(probability="1/2", epsilon=1, lower=0, upper=100, step=1).worst_case(
        ROW
    )


def test_nobody_has_quantiles_too() -> None:
    assert len(over(5, QUARTERS, tie_breaks=7).release([])) == 3


@pytest.mark.parametrize("values", [[float("nan")], [1.0, float("nan")], 1, None, ["1"], [[1]], [None]])
def test_bad_values_are_refused_before_anything_is_drawn(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        over(3, QUARTERS).run(values, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"probabilities": []}, "probabilities"),
        ({"probabilities": ["1/2", "1/4"]}, "probabilities"),
        ({"probabilities": ["1/2", "1/2"]}, "probabilities"),
        ({"probabilities": ["1/2", 2]}, "probabilities"),
        ({"probabilities": [-1, 0]}, "probabilities"),
        ({"probabilities": [float("nan")]}, "probabilities"),
        ({"probabilities": 0.5}, "probabilities"),
        ({"probabilities": "0.5"}, "probabilities"),
        ({"probabilities": {"1/4", "1/2"}}, "probabilities"),
        ({"probabilities": [Fraction(i, 5000) for i in range(1001)]}, "probabilities"),
        ({"probabilities": [0.1, 0.2]}, "probability"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"tie_breaks": 0}, "tie_breaks"),
        ({"tie_breaks": 513}, "tie_breaks"),
        ({"tie_breaks": 1.5}, "tie_breaks"),
        ({"upper": 0}, "upper"),
    ],
)
def test_bad_parameters_are_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        Quantiles(**{"probabilities": QUARTERS, "epsilon": 1, "lower": 0, "upper": 3, "step": 1, **changed})
    assert refusal.value.field == field


@pytest.mark.parametrize("confidence", [0, 1, -1, "x"])
def test_bad_confidences_are_refused(confidence: Any) -> None:
    with pytest.raises(InvalidParameter):
        over(3, QUARTERS).accuracy(confidence=confidence)
    with pytest.raises(InvalidParameter):
        over(3, QUARTERS).accuracy(confidence="0.9", ties=0)
