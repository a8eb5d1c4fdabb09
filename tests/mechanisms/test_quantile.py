"""One quantile: scores, exact probabilities, exact privacy of all small tables, accuracy, bad input."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms import ranked_points as module
from privately.mechanisms.quantile import Quantile
from privately.mechanisms.ranked_points import ROW
from tests.mechanisms.enumeration import Distribution
from tests.mechanisms.rounds import in_one_round
from tests.mechanisms.tables import Table, certified, miss, one_row_more, one_row_replaced, real, tables, worst_loss

TINY = mpmath.mpf(10) ** -40
ROUNDING = 1e-9
PROBABILITIES = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)]
REPLACED = Sensitivity(value=2, norm="Linf", neighbors=Neighbors.REPLACE)


def over(upper: int, probability: Any = "1/2", epsilon: Any = 1) -> Quantile:
    return Quantile(probability=probability, epsilon=epsilon, lower=0, upper=upper, step=1)


def softmax(quantile: Quantile, values: Sequence[int]) -> dict[Any, Any]:
    scale = real(quantile.scale)
    weights = {
        Fraction(x): mpmath.exp(-miss(quantile.probability, values, x) / scale)
        for x in range(quantile.points.steps + 1)
    }
    total = sum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def law_of(quantile: Quantile) -> Callable[[Table], Distribution]:
    return lambda table: in_one_round(lambda randomness: quantile.run(list(table), randomness))


@pytest.mark.parametrize("reach", [0, Fraction(1, 8), 1, 64])
@pytest.mark.parametrize("values", [[], [3], [0], [8], [4, 4, 4], [0, 0, 8], [1, 2, 2, 2, 7], [0, 8], list(range(9))])
def test_choices_have_the_exact_probabilities(
    monkeypatch: pytest.MonkeyPatch, values: list[int], reach: Fraction
) -> None:
    """Also when most points are lumped together first, which they are if the reach is short."""
    monkeypatch.setattr(module, "_REACH", reach)
    for probability in PROBABILITIES:
        for epsilon in ("0.3", 1, 7, 300):
            quantile = over(8, probability, epsilon)
            found = in_one_round(lambda randomness: quantile.run(values, randomness))  # noqa: B023  (called at once)
            expected = softmax(quantile, values)
            assert found.chances.keys() == expected.keys()
            assert all(abs(found.chances[x] - expected[x]) < TINY for x in expected)


@given(
    values=st.lists(st.integers(-5, 45), max_size=40),
    probability=st.fractions(0, 1, max_denominator=50),
    epsilon=st.fractions(Fraction(1, 10), 200, max_denominator=20),
)
def test_any_table_has_the_exact_probabilities(values: list[int], probability: Fraction, epsilon: Fraction) -> None:
    quantile = over(40, probability, epsilon)
    found = in_one_round(lambda randomness: quantile.run(values, randomness))
    expected = softmax(quantile, [min(max(value, 0), 40) for value in values])
    assert max(abs(found.chances[x] - expected[x]) for x in expected) < TINY


def test_more_rows_than_a_replaced_one_moves_cost_as_rows() -> None:
    """Three rows that come or go need not be a row that is replaced and another."""
    quantile = over(10, "9/10")
    three = Sensitivity(value=3, norm="Linf", neighbors=Neighbors.REPLACE)
    assert quantile.guarantee(three).parameters["epsilon"] == 3
    unit = Sensitivity(value=6, norm="Linf", neighbors=Neighbors.REPLACE.of_unit("person", max_rows=3))
    assert quantile.guarantee(unit).parameters["epsilon"] == Fraction(10, 3)


@pytest.mark.parametrize("probability", [0, "1/3", "1/2", "3/4", 1])
def test_the_claim_for_a_replaced_row_holds_for_every_small_table(probability: Any) -> None:
    quantile, every = over(3, probability), tables(range(4), 3)
    claim = real(quantile.guarantee(REPLACED).parameters["epsilon"])
    assert claim / 3 < worst_loss(law_of(quantile), one_row_replaced(every)) <= claim + ROUNDING


@pytest.mark.parametrize("probability", [0, "1/3", "1/2", "3/4", 1])
def test_exact_privacy_of_every_small_table(probability: Any) -> None:
    quantile, every = over(3, probability), tables(range(4), 3)
    added = worst_loss(law_of(quantile), one_row_more(every))
    assert 0.3 < added <= 1 + ROUNDING
    assert worst_loss(law_of(quantile), one_row_replaced(every)) <= 2 + ROUNDING


def test_mutants_are_caught_by_the_same_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    every = tables(range(4), 3)
    assert worst_loss(law_of(over(3, epsilon=2)), one_row_more(every)) > 1.1  # half the scale
    monkeypatch.setattr(Quantile, "_step_of_score", 1)  # the sensitivity of a median for all
    assert worst_loss(law_of(over(3, "3/4")), one_row_more(every)) > 1.1


@pytest.mark.parametrize("probability", ["1/2", "1/4", "2/3", "9/10", 0, 1])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_worst_case_nearly_attains_the_claim(probability: Any, rows: int) -> None:
    quantile = over(4000, probability)
    sensitivity = Sensitivity(value=rows, norm="Linf", neighbors=Neighbors.ADD_REMOVE.times(rows))
    one, other = (softmax(quantile, [int(v) for v in table]) for table in quantile.worst_case(sensitivity))
    loss = max(abs(mpmath.log(one[x] / other[x])) for x in one)
    assert 0.98 * rows < loss <= rows + ROUNDING


def test_the_worst_case_of_a_replaced_row() -> None:
    one, other = over(4000).worst_case(REPLACED)
    assert len(one) == len(other)
    before, after = (softmax(over(4000), [int(v) for v in table]) for table in (one, other))
    assert 1.96 < max(abs(mpmath.log(before[x] / after[x])) for x in before) <= 2 + ROUNDING


@pytest.mark.parametrize("values", [[], [2], [1, 1, 2], [0, 3, 3], [-7, 9.2, 1.4]])
@pytest.mark.parametrize("probability", [0, "1/3", "1/2", 1])
def test_the_text_does_what_run_does(values: list[float], probability: Any) -> None:
    quantile = over(3, probability)
    inputs = quantile.program_inputs(values)
    ran = in_one_round(lambda randomness: quantile.run(values, randomness))
    read = in_one_round(lambda randomness: quantile.program.run(inputs, randomness))
    assert ran.chances.keys() == read.chances.keys()
    assert all(abs(ran.chances[x] - read.chances[x]) < TINY for x in ran.chances)


@pytest.mark.parametrize(
    ("neighbors", "rows"),
    [
        (Neighbors.ADD_REMOVE, 1),
        (Neighbors.REPLACE, 2),
        (Neighbors.ADD_REMOVE.of_unit("person", max_rows=4), 4),
    ],
)
@pytest.mark.parametrize("probability", [0, "1/2", "9/10"])
def test_the_certificate_charges_every_row(probability: Any, neighbors: Neighbors, rows: int) -> None:
    quantile = over(100, probability, "0.1")
    of_rows = Sensitivity(value=rows, norm="Linf", neighbors=neighbors)
    replaced: Fraction = {0: Fraction(1, 2), "1/2": Fraction(1), "9/10": Fraction(5, 9)}[
        probability
    ]  # of the price of two rows
    charged = rows * (replaced if neighbors.change == "replace" else 1)
    assert certified(quantile.derive(of_rows)) == PureDP(epsilon=Fraction(charged, 10), neighbors=neighbors)
    assert certified(quantile.derive_zcdp(of_rows)) == ZCDP(rho=Fraction(charged**2, 800), neighbors=neighbors)
    with pytest.raises(InvalidParameter):
        quantile.derive(Sensitivity(value=rows - 1, norm="Linf", neighbors=neighbors))


def test_zcdp_holds_exactly_for_every_small_table() -> None:
    quantile = over(3)
    law = {table: law_of(quantile)(table).chances for table in tables(range(4), 3)}
    rho = real(quantile.derive_zcdp(ROW).conclusion.parameters["rho"])
    for order in (mpmath.mpf("1.5"), 2, 10):
        for pair in one_row_more(list(law)):
            for one, other in (pair, pair[::-1]):
                power = sum(p**order * law[other][x] ** (1 - order) for x, p in law[one].items())
                assert mpmath.log(power) / (order - 1) <= rho * order


@pytest.mark.parametrize("values", [[], [5], [0, 0, 0, 9], list(range(10)), [2] * 9 + [7]])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_ranks_are_as_close_as_stated(values: list[int], probability: Fraction) -> None:
    quantile = over(9, probability, 4)
    for confidence in ("0.5", "0.9", "0.99"):
        allowed = quantile.accuracy(confidence=confidence).error * probability.denominator
        far = sum(chance for x, chance in softmax(quantile, values).items() if miss(probability, values, x) > allowed)
        assert far <= 1 - mpmath.mpf(confidence)


def test_for_accuracy_meets_its_error_and_less_epsilon_would_not() -> None:
    settings: dict[str, Any] = {"probability": "0.9", "lower": 0, "upper": 1000, "step": "0.5"}
    quantile = Quantile.for_accuracy(error=12, confidence="0.95", **settings)
    assert quantile.interval("0.95") == 12
    weaker = Quantile(epsilon=quantile.epsilon * (1 - Fraction(1, 10**9)), **settings)
    assert weaker.interval("0.95") > 12
    with pytest.raises(InvalidParameter) as caught:
        Quantile.for_accuracy(error=1, confidence="1/3000", **settings)
    assert caught.value.field == "confidence"


@pytest.mark.parametrize("rho", ["0.1", 2, "1/3"])
def test_for_rho_is_never_above_it(rho: Any) -> None:
    quantile = Quantile.for_rho(rho, probability="1/2", lower=0, upper=10, step=1)
    found = quantile.derive_zcdp().conclusion.parameters["rho"]
    assert Fraction(rho) * (1 - Fraction(1, 10**12)) < found <= Fraction(rho)


@pytest.mark.parametrize("probability", [0, "0.25", "1/2", 1])
def test_huge_ranges(probability: Any) -> None:
    """With so much epsilon nobody sees a rank that is off by more than five."""
    values = 2**51 + np.arange(1001) * 10**6
    quantile = Quantile(probability=probability, epsilon=50, lower=0, upper=2**52, step=1)
    for _ in range(5):
        found = int(quantile.release(values))
        assert abs(int(np.searchsorted(values, found)) - 1000 * Fraction(probability)) <= 6
        assert 0 <= found <= 2**52


def test_points_are_given_back_exactly() -> None:
    quantile = Quantile(probability="1/2", epsilon=1000, lower="0.1", upper="0.7", step="0.2")
    assert quantile.release([0.3] * 9 + [0.7]) == Fraction(3, 10)


@pytest.mark.parametrize("values", [[float("nan")], [1.0, float("nan")], 1, None, ["1"], [[1]], [None]])
def test_bad_values_are_refused_before_anything_is_drawn(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        over(3).run(values, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"probability": -1}, "probability"),
        ({"probability": "1.01"}, "probability"),
        ({"probability": float("nan")}, "probability"),
        ({"probability": 0.1}, "probability"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": "1e-30"}, "scale"),
        ({"epsilon": 10**6}, "scale"),
        ({"upper": 0}, "upper"),
        ({"upper": 2**52 + 1}, "step"),
    ],
)
def test_bad_parameters_are_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        Quantile(**{"probability": "1/2", "epsilon": 1, "lower": 0, "upper": 3, "step": 1, **changed})
    assert refusal.value.field == field


@pytest.mark.parametrize("confidence", [0, 1, -1, "x"])
def test_bad_confidences_are_refused(confidence: Any) -> None:
    with pytest.raises(InvalidParameter):
        over(3).accuracy(confidence=confidence)


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_intervals_hold_for_all_tables(probability: Fraction, confidence: str) -> None:
    quantile = over(4, probability, 3)
    width, unit = quantile.interval(confidence), probability.denominator
    assert width < quantile.accuracy(confidence=confidence).error
    for table in tables(range(5), 5):
        law = softmax(quantile, table)
        beyond = sum(chance for x, chance in law.items() if miss(probability, table, int(x)) > width * unit)
        assert beyond <= 1 - real(Fraction(confidence))


@pytest.mark.parametrize("probability", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_no_smaller_interval_would_do(probability: Fraction) -> None:
    """All values at one point, as many as make all the other points miss by just as much."""
    quantile = over(50, probability, "1/3")
    width = quantile.interval("0.9")
    rows = int(width) if probability in {0, 1} else int(2 * width)
    everybody = [0] * rows if probability == 0 else [50] * rows if probability == 1 else [25] * rows
    law = softmax(quantile, everybody)
    assert sum(chance for x, chance in law.items() if x != everybody[0]) > 0.1
