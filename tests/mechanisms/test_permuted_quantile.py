"""One quantile by permute-and-flip: exact laws of small tables, their privacy, that it is never worse, error bars."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors, PureDP, Sensitivity
from privately.mechanisms import ranked_points as module
from privately.mechanisms.permuted_quantile import PermutedQuantile
from privately.mechanisms.quantile import Quantile
from privately.mechanisms.randomness import Randomness, flip_exp
from privately.mechanisms.ranked_points import ROW
from tests.mechanisms.enumeration import Distribution, Untouchable, outcomes
from tests.mechanisms.selection_checks import permuted, renyi, softmax
from tests.mechanisms.tables import (
    Table,
    certified,
    miss,
    one_row_more,
    one_row_replaced,
    real,
    tables,
    worst_loss,
)

ROUNDING = 1e-9
RARE = mpmath.mpf(10) ** -13
PROBABILITIES = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
REPLACED = Sensitivity(value=2, norm="Linf", neighbors=Neighbors.REPLACE)


def over(upper: int, probability: Any = "1/2", epsilon: Any = 1) -> PermutedQuantile:
    return PermutedQuantile(probability=probability, epsilon=epsilon, lower=0, upper=upper, step=1)


def scores(quantile: PermutedQuantile | Quantile, values: Sequence[int]) -> tuple[int, ...]:
    return tuple(-miss(quantile.probability, values, x) for x in range(quantile.points.steps + 1))


def textbook(quantile: PermutedQuantile) -> Callable[[Table], Distribution]:
    return lambda table: permuted(scores(quantile, table), quantile.scale)


def ran(quantile: PermutedQuantile, values: Sequence[float]) -> Distribution:
    return outcomes(lambda randomness: int(quantile.run(list(values), randomness)), window=1, negligible=RARE)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("reach", [0, 1, 64])
@pytest.mark.parametrize("values", [[], [3], [0, 0, 4], [1, 2, 2, 2, 4], [0, 1, 2, 3, 4]])
def test_choices_have_the_exact_probabilities(
    monkeypatch: pytest.MonkeyPatch, values: list[int], reach: Fraction
) -> None:
    """Also when most points are lumped together first, which they are if the reach is short."""
    monkeypatch.setattr(module, "_REACH", reach)
    for probability in PROBABILITIES:
        for epsilon in ("0.3", 7):
            quantile = over(4, probability, epsilon)
            found = ran(quantile, values)
            assert found.missing < 1e-9
            assert found.farthest(textbook(quantile)(tuple(values))) <= found.missing + 1e-30


class Anew(PermutedQuantile):
    """The mutant that begins anew where a point that was lumped with others is not accepted after all."""

    def choose(self, ordered: Any, first: int, last: int, randomness: Randomness) -> int:
        starts, misses = self.pieces(ordered, first)
        choice, widths = self.choice(last - first + 1), np.diff(np.append(starts, last + 1))
        while True:
            piece, place = next(choice.accepted_in_ranges(-misses, widths, randomness))
            point = int(starts[piece]) + place
            excess = self.miss(ordered, point) - int(misses[piece])
            if not excess or flip_exp(excess / self.scale, randomness):
                return point


def test_beginning_anew_would_be_another_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REACH", 0)
    values = [0, 1, 2, 3, 4]
    mutant = Anew(probability="1/2", epsilon=1, lower=0, upper=4, step=1)
    found = outcomes(lambda random: int(mutant.run(values, random)), window=1, negligible=RARE, again="accepted")
    assert found.farthest(textbook(mutant)(tuple(values))) > 1e-3


@pytest.mark.parametrize("values", [[], [2], [0, 3, 3], [-7, 9.2, 1.4]])
@pytest.mark.parametrize("probability", ["1/3", 1])
def test_the_text_does_what_run_does(values: list[float], probability: Any) -> None:
    quantile = over(3, probability)
    inputs = quantile.program_inputs(values)
    read = outcomes(lambda randomness: quantile.program.run(inputs, randomness), window=1)
    found = ran(quantile, values)
    assert found.farthest(read) <= found.missing + 1e-30


# Privacy


@pytest.mark.parametrize("probability", [0, "1/3", "1/2", "3/4", 1])
def test_exact_privacy_of_every_small_table(probability: Any) -> None:
    quantile, every = over(3, probability), tables(range(4), 3)
    assert 0.3 < worst_loss(textbook(quantile), one_row_more(every)) <= 1 + ROUNDING
    claim = real(quantile.guarantee(REPLACED).parameters["epsilon"])
    assert claim / 3 < worst_loss(textbook(quantile), one_row_replaced(every)) <= claim + ROUNDING


def test_what_is_run_loses_no_more_than_claimed() -> None:
    """Not by the formula but by the mechanism itself."""
    quantile, every = over(2), tables(range(3), 2)
    assert 0.3 < worst_loss(lambda table: ran(quantile, table), one_row_more(every)) <= 1 + ROUNDING


def test_mutants_are_caught_by_the_same_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    every = tables(range(4), 3)
    assert worst_loss(textbook(over(3, epsilon=2)), one_row_more(every)) > 1.1  # half the scale
    monkeypatch.setattr(PermutedQuantile, "_step_of_score", 1)  # the sensitivity of a median for all
    assert worst_loss(textbook(over(3, "3/4")), one_row_more(every)) > 1.1


@pytest.mark.parametrize("rows", [1, 2])
def test_the_worst_case_nearly_attains_the_claim(rows: int) -> None:
    """Those at the start are accepted for certain before, and with exp(-1) after; the wider, the fewer are."""
    quantile = over(9)
    sensitivity = Sensitivity(value=rows, norm="Linf", neighbors=Neighbors.ADD_REMOVE.times(rows))
    one, other = (tuple(int(v) for v in table) for table in quantile.worst_case(sensitivity))
    loss = worst_loss(textbook(quantile), iter([(one, other)]))
    assert 0.8 * rows < loss <= rows + ROUNDING


@pytest.mark.parametrize(("neighbors", "rows"), [(Neighbors.ADD_REMOVE, 1), (Neighbors.REPLACE, 2)])
def test_the_certificate_charges_every_row(neighbors: Neighbors, rows: int) -> None:
    of_rows = Sensitivity(value=rows, norm="Linf", neighbors=neighbors)
    derived = over(100, epsilon="0.1").derive(of_rows)
    assert derived.rule == "permute_and_flip"
    assert certified(derived) == PureDP(epsilon=Fraction(rows, 10), neighbors=neighbors)
    with pytest.raises(InvalidParameter):
        over(100).derive(Sensitivity(value=rows - 1, norm="Linf", neighbors=neighbors))


def test_a_quarter_of_the_rho_would_be_too_little() -> None:
    """Which is why choices that are paid in rho are made by the exponential mechanism: for this one it is not true."""
    quantile = over(1, epsilon="1/10")
    before, after = (textbook(quantile)(table) for table in ((0, 1), (0, 1, 1)))
    quarter = real(quantile.epsilon**2 / 8)
    assert renyi(before, after, 2) / 2 > 0.9 * quarter
    before, after = (permuted(one, 2) for one in ((0, 0), (Fraction(1, 10), Fraction(-1, 10))))
    assert renyi(before, after, 2) / 2 > 3.5 * quarter
    before, after = (softmax(one, 2) for one in ((0, 0), (Fraction(1, 10), Fraction(-1, 10))))
    assert renyi(before, after, 2) / 2 <= quarter


# Utility


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_it_is_never_worse_than_the_exponential_mechanism(probability: Fraction) -> None:
    """That a rank is off by so much, or more, is never more likely; and on some table it is a good deal less so."""
    gain = mpmath.mpf(0)
    for epsilon in ("0.5", 3):
        quantile = over(3, probability, epsilon)
        for table in tables(range(4), 4):
            found = scores(quantile, table)
            ours, theirs = permuted(found, quantile.scale), softmax(found, quantile.scale)
            for off in set(found) - {0}:
                mine, other = (sum(law.chances[x] for x in range(4) if found[x] <= off) for law in (ours, theirs))
                assert mine <= other + 1e-40
                gain = max(gain, other - mine)
    assert gain > 0.02


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("probability", PROBABILITIES)
def test_intervals_hold_for_all_tables(probability: Fraction, confidence: str) -> None:
    quantile = over(3, probability, 3)
    width, unit = quantile.interval(confidence), probability.denominator
    plain = Quantile(probability=probability, epsilon=3, lower=0, upper=3, step=1)
    assert width <= plain.interval(confidence)
    for table in tables(range(4), 4):
        found = scores(quantile, table)
        law = permuted(found, quantile.scale)
        beyond = sum(law.chances[x] for x in range(4) if -found[x] > width * unit)
        assert beyond <= 1 - real(Fraction(confidence))


def test_no_smaller_interval_would_do() -> None:
    """All values at one point, as many as make all the other points miss by just as much."""
    quantile = over(9, epsilon="1/3")
    width = quantile.interval("0.9")
    law = textbook(quantile)((5,) * int(2 * width))
    assert sum(chance for x, chance in law.chances.items() if x != 5) > 0.1


def test_for_accuracy_meets_its_error_and_less_epsilon_would_not() -> None:
    settings: dict[str, Any] = {"probability": "0.9", "lower": 0, "upper": 1000, "step": "0.5"}
    quantile = PermutedQuantile.for_accuracy(error=12, confidence="0.95", **settings)
    assert quantile.interval("0.95") == 12
    assert PermutedQuantile(epsilon=quantile.epsilon * (1 - Fraction(1, 10**9)), **settings).interval("0.95") > 12
    assert quantile.epsilon < Quantile.for_accuracy(error=12, confidence="0.95", **settings).epsilon


@pytest.mark.parametrize("probability", [0, "0.25", "1/2", 1])
def test_huge_ranges(probability: Any) -> None:
    """With so much epsilon nobody sees a rank that is off by more than five."""
    values = 2**51 + np.arange(1001) * 10**6
    quantile = PermutedQuantile(probability=probability, epsilon=50, lower=0, upper=2**52, step=1)
    for _ in range(5):
        found = int(quantile.release(values))
        assert abs(int(np.searchsorted(values, found)) - 1000 * Fraction(probability)) <= 6
        assert 0 <= found <= 2**52


def test_points_are_given_back_exactly() -> None:
    quantile = PermutedQuantile(probability="1/2", epsilon=1000, lower="0.1", upper="0.7", step="0.2")
    assert quantile.release([0.3] * 9 + [0.7]) == Fraction(3, 10)
    assert quantile.guarantee(ROW) == PureDP(epsilon=1000)


@pytest.mark.parametrize("values", [[float("nan")], 1, None, ["1"], [[1]], [None]])
def test_bad_values_are_refused_before_anything_is_drawn(values: Any) -> None:
    with pytest.raises(InvalidParameter):
        over(3).run(values, Untouchable())


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"probability": "1.01"}, "probability"), ({"epsilon": 0}, "epsilon"), ({"epsilon": "1e-30"}, "scale")],
)
def test_bad_parameters_are_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        PermutedQuantile(**{"probability": "1/2", "epsilon": 1, "lower": 0, "upper": 3, "step": 1, **changed})
    assert refusal.value.field == field
