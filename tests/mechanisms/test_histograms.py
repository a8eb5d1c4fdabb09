"""Histograms over known keys: sensitivities by all neighbours, exact losses, mutants, error bars."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import mpmath
import numpy as np
import pytest

import privately
from privately.errors import InvalidParameter
from privately.guarantees import GaussianDP, Neighbors, PureDP, Sensitivity
from privately.mechanisms.histograms import Histogram, counts_sensitivity
from tests.mechanisms.enumeration import outcomes, probability
from tests.mechanisms.streams import Untouched

Counts = tuple[int, ...]
PERSON = Neighbors.ADD_REMOVE.of_unit("person")


def contributions(keys: int, keys_per_unit: int, rows_per_key: int) -> list[Counts]:
    """All that one unit may add to the counts."""
    return [
        counts
        for counts in product(range(rows_per_key + 1), repeat=keys)
        if sum(count > 0 for count in counts) <= keys_per_unit
    ]


def changes(units: list[Counts], neighbors: Neighbors) -> Iterator[Counts]:
    """All differences between the counts of neighbours."""
    nobody = (0,) * len(units[0])
    once = {
        tuple(a - b for a, b in zip(one, other, strict=True))
        for one in units
        for other in (units if neighbors.change == "replace" else [nobody])
    }
    once |= {tuple(-count for count in change) for change in once}
    for several in product(once, repeat=neighbors.size):
        yield tuple(map(sum, zip(*several, strict=True)))


def length(change: Counts, norm: str) -> float:
    if norm == "L1":
        return sum(map(abs, change))
    return math.hypot(*change) if norm == "L2" else max(map(abs, change))


@pytest.mark.parametrize("keys", [1, 2, 3, 4])
@pytest.mark.parametrize(("keys_per_unit", "rows_per_key"), [(1, 1), (1, 3), (2, 1), (2, 2)])
@pytest.mark.parametrize("change", ["add_remove", "replace"])
@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_no_neighbours_are_further_apart_than_the_sensitivity(
    keys: int,
    keys_per_unit: int,
    rows_per_key: int,
    change: Literal["add_remove", "replace"],
    norm: Literal["L1", "L2", "Linf"],
) -> None:
    """And some are as far apart."""
    neighbors = Neighbors(change=change, unit="person")
    sensitivity = counts_sensitivity(
        norm=norm, keys=keys, keys_per_unit=keys_per_unit, rows_per_key=rows_per_key, neighbors=neighbors
    )
    assert (sensitivity.norm, sensitivity.neighbors) == (norm, neighbors)
    farthest = max(length(one, norm) for one in changes(contributions(keys, keys_per_unit, rows_per_key), neighbors))
    assert farthest * (1 - 1e-14) <= sensitivity.value <= farthest * (1 + 1e-14)


@pytest.mark.parametrize("change", ["add_remove", "replace"])
def test_several_units_move_the_counts_several_times_as_far(change: Literal["add_remove", "replace"]) -> None:
    neighbors = Neighbors(change=change, size=2)
    for norm in ("L1", "L2", "Linf"):
        sensitivity = counts_sensitivity(norm=norm, keys=3, keys_per_unit=1, rows_per_key=2, neighbors=neighbors)
        farthest = max(length(one, norm) for one in changes(contributions(3, 1, 2), neighbors))
        assert farthest * (1 - 1e-14) <= sensitivity.value <= farthest * (1 + 1e-14)


def test_rows_of_their_own_move_one_count_by_one() -> None:
    laplace = Histogram(keys=["a", "b", "c"], scale=1)
    gaussian = Histogram(keys=["a", "b", "c"], scale=1, noise="rounded_gaussian")
    assert str(laplace.sensitivity()) == "1 in L1, adding or removing one row"
    assert laplace.sensitivity(neighbors=Neighbors.REPLACE).value == 2
    assert gaussian.sensitivity(neighbors=Neighbors.REPLACE).norm == "L2"
    assert 2 <= gaussian.sensitivity(neighbors=Neighbors.REPLACE).value ** 2 < 2 + Fraction(1, 10**13)


def law(histogram: Histogram, counts: Any, window: int = 24) -> Any:
    return outcomes(lambda branch: tuple(histogram.run(counts, branch).items()), window=window)


def test_losses_of_laplace_noise_attain_the_claim_and_no_more() -> None:
    """Two keys, of which a person may change both: all neighbours of two small tables."""
    histogram = Histogram(keys=["a", "b"], scale="2/3")
    claim = histogram.guarantee(histogram.sensitivity(keys_per_unit=2, neighbors=PERSON))
    assert claim == PureDP(epsilon=3, neighbors=PERSON)
    worst = 0
    for before, change in product([(0, 0), (1, 2)], product((0, 1), repeat=2)):
        after = [count + by for count, by in zip(before, change, strict=True)]
        one, other = law(histogram, before), law(histogram, after)
        worst = max(worst, one.loss(other, above=1e-5), other.loss(one, above=1e-5))
    assert abs(worst - 3) < 1e-9


def test_losses_of_gaussian_noise_stay_below_the_curve() -> None:
    histogram = Histogram(keys=["a", "b"], scale="3/2", noise="rounded_gaussian")
    claim = histogram.guarantee(histogram.sensitivity(keys_per_unit=2))
    assert isinstance(claim, GaussianDP)
    one, other = law(histogram, (0, 0), 14), law(histogram, (1, 1), 14)
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(2)):
        allowed = float(claim.delta(epsilon=epsilon).upper)
        exact = float(one.excess(other, float(epsilon)))
        assert 0.5 * allowed < exact <= allowed + float(other.missing) * math.exp(2)
    forgotten = histogram.guarantee(histogram.sensitivity())
    assert one.excess(other, 0.5) > float(forgotten.delta(epsilon="0.5").upper) + 0.01


def half_the_noise(counts: Any, branch: Any) -> Any:
    return Histogram(keys=["a", "b"], scale="1/3").run(counts, branch)


def no_noise_on_zeros(counts: Any, branch: Any) -> Any:
    noisy = Histogram(keys=["a", "b"], scale="2/3").run(counts, branch)
    return {key: noisy[key] if counts.get(key) else 0 for key in noisy}


def keys_of_the_data(counts: Any, branch: Any) -> Any:
    present = [key for key in ("a", "b", "c") if key in counts]
    return Histogram(keys=present, scale="2/3").run(counts, branch)


@pytest.mark.parametrize("mutant", [half_the_noise, no_noise_on_zeros, keys_of_the_data])
def test_mutants_are_refuted(mutant: Any) -> None:
    """One row more than none."""
    before, after = {"a": 1}, {"a": 1, "b": 1}
    right = Histogram(keys=["a", "b"], scale="2/3")
    claim = mpmath.mpf(3) / 2
    assert law(right, after).loss(law(right, before), above=1e-5) <= claim + 1e-9
    one = outcomes(lambda branch: tuple(mutant(after, branch).items()), window=20)
    other = outcomes(lambda branch: tuple(mutant(before, branch).items()), window=20)
    assert one.loss(other, above=1e-5) > claim + 0.1


def test_a_unit_in_two_keys_refutes_the_claim_for_one() -> None:
    histogram = Histogram(keys=["a", "b"], scale="2/3")
    claim = float(histogram.guarantee(histogram.sensitivity(neighbors=PERSON)).parameters["epsilon"])
    assert law(histogram, (1, 1)).loss(law(histogram, (0, 0)), above=1e-5) > claim + 1


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_the_program_does_the_same(noise: Any) -> None:
    histogram = Histogram(keys=["a", "b"], scale="1/2", noise=noise)
    counts = {"b": 3}
    run = outcomes(lambda branch: list(histogram.run(counts, branch).values()), window=10)
    text = outcomes(lambda branch: histogram.program.run(histogram.program_inputs(counts), branch), window=10)
    assert run.farthest(text) < 1e-40


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
@pytest.mark.parametrize("keys", [1, 4])
def test_error_bars_cover_one_count_and_all_counts(noise: Any, keys: int) -> None:
    histogram = Histogram(keys=list(range(keys)), scale=5, noise=noise)

    def covered(width: int, entries: int) -> Any:
        return sum(probability(histogram.vector.law, k) for k in range(-width, width + 1)) ** entries

    each, all_of_them = int(histogram.interval_per_key("0.9")), int(histogram.interval("0.9"))
    assert covered(each, 1) >= 0.9 > covered(each - 1, 1)
    assert covered(all_of_them, keys) >= 0.9 > covered(all_of_them - 1, keys)
    assert histogram.accuracy(confidence="0.9").error == all_of_them


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
def test_an_accuracy_is_met_and_with_a_hundredth_more_noise_it_is_not(noise: Any) -> None:
    histogram = Histogram.for_accuracy(error=25, confidence="0.9", keys=[1, 2, 3], noise=noise)
    assert histogram.interval("0.9") == 25
    assert Histogram(keys=[1, 2, 3], scale=histogram.scale * Fraction(101, 100), noise=noise).interval("0.9") > 25


def test_budgets_are_met_and_certified() -> None:
    laplace = Histogram.for_epsilon("0.1", Sensitivity(value=3), keys=["a", "b"])
    assert laplace.guarantee(Sensitivity(value=3)) == PureDP(epsilon="0.1")
    gaussian = Histogram.for_rho("0.02", Sensitivity(value=3, norm="L2"), keys=["a", "b"])
    mu = gaussian.guarantee(Sensitivity(value=3, norm="L2")).parameters["mu"]
    assert Fraction("0.04") * (1 - Fraction(1, 10**12)) < mu**2 <= Fraction("0.04")
    for histogram in (laplace, gaussian):
        assert privately.check(privately.certify(histogram.derive(histogram.sensitivity(keys_per_unit=2))))


def test_other_keys_are_dropped_and_missing_ones_count_zero() -> None:
    histogram = Histogram(keys=["b", "a"], scale="1/1000")
    assert list(histogram.release({"a": 5, "c": 7}).items()) == [("b", 0), ("a", 5)]
    assert histogram.release([3, 4]) == {"b": 3, "a": 4}
    assert histogram.release(np.array([3, 4], np.uint8)) == {"b": 3, "a": 4}
    assert histogram.release({}) == {"b": 0, "a": 0}


def test_the_worst_case_changes_one_count_by_all() -> None:
    assert Histogram(keys=["a", "b"], scale=1).worst_case(Sensitivity(value=4)) == ([0, 0], [4, 0])


@pytest.mark.parametrize(
    "counts", [[1], [1, 2, 3], [1.5, 2], [float("nan"), 1], ["1", "2"], {"a": None}, 7, "ab", [[1, 2], [3, 4]]]
)
def test_bad_counts_are_refused_before_any_noise(counts: Any) -> None:
    with pytest.raises(InvalidParameter, match="value"):
        Histogram(keys=["a", "b"], scale=1).run(counts, Untouched())


@pytest.mark.parametrize(
    "parameters",
    [
        {"keys": []},
        {"keys": "ab"},
        {"keys": ["a", "a"]},
        {"keys": [1, True]},
        {"keys": [[1]]},
        {"keys": [(1, [2])]},
        {"keys": 3},
        {"scale": 0},
        {"scale": "1/2000"},
        {"scale": float("inf")},
        {"noise": "laplace"},
        {"noise": []},
        {"noise": "rounded_gaussian", "scale": 2**41},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Histogram(**{"keys": ["a", "b"], "scale": 1, **parameters})


@pytest.mark.parametrize("bounds", [{"keys_per_unit": 0}, {"rows_per_key": 0}, {"keys_per_unit": "many"}])
def test_bad_bounds_are_refused(bounds: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Histogram(keys=["a"], scale=1).sensitivity(**bounds)


@pytest.mark.parametrize("neighbors", ["replace", None, 1])
def test_neighbours_are_checked(neighbors: Any) -> None:
    with pytest.raises(InvalidParameter, match="neighbors"):
        counts_sensitivity(norm="L1", keys=3, neighbors=neighbors)
    with pytest.raises(InvalidParameter, match="neighbors"):
        Histogram(keys=["a"], scale=1).sensitivity(neighbors=neighbors)
