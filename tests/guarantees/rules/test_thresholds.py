"""Sparse vector and thresholded histograms: exact laws of all short inputs, against what the rules conclude."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    Guarantee,
    Neighbors,
    PureDP,
    Sensitivity,
    rules,
)
from privately.laws import DiscreteLaplace, RoundedNormal
from tests.guarantees.enumeration import Pair
from tests.guarantees.rules.histograms import Histogram, nothing_new, one_unit_more
from tests.guarantees.rules.integer_sums import ZERO, scale_of
from tests.guarantees.rules.knowns import ADD_REMOVE, REPLACE, Rule
from tests.guarantees.rules.refutation import refutation
from tests.guarantees.rules.sparse import Queries, Sparse, Told, moved, sparse_pairs

HALF = Fraction(1, 2)
LITTLE = Fraction(1, 10**9)
UNIT = Sensitivity(value=1, norm="Linf")


# Sparse vector. Rates are inverse scales, in units in which the noise decays like q = 1/2.


def sparse(threshold_rate: int | None, query_rate: int, count: int, told: Told = "answers", most: int = 2) -> Sparse:
    return Sparse(HALF, threshold_rate, ((query_rate, 0),), (1,), count, told, most)


def concluded(mechanism: Sparse, *, monotone: bool, count: int | None = None, halved: bool = False) -> Guarantee:
    scale, ((rate, _),) = scale_of(HALF) * (2 if halved else 1), mechanism.tests
    return rules.sparse_vector(
        threshold_scale=scale / (mechanism.threshold_rate or 1),
        query_scale=scale / rate,
        count=count or mechanism.budget,
        monotone=monotone,
        sensitivity=UNIT,
    ).conclusion


@pytest.mark.thinned(3)
@pytest.mark.parametrize("told", ["answers", "gaps"])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(("threshold_rate", "query_rate", "count"), [(1, 1, 1), (1, 2, 1), (3, 1, 1), (1, 1, 2)])
def test_sparse_vector_dominates_enumeration(
    told: Told, monotone: bool, threshold_rate: int, query_rate: int, count: int
) -> None:
    """Three queries, everything that can be answered, every change, in both directions."""
    mechanism = sparse(threshold_rate, query_rate, count, told, most=1)
    pairs = sparse_pairs(mechanism, (-1, 0, 1), 3, monotone=monotone)
    assert not refutation(concluded(mechanism, monotone=monotone), pairs)


@pytest.mark.slow
@pytest.mark.parametrize("told", ["answers", "gaps"])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(("threshold_rate", "query_rate", "count"), [(1, 2, 1), (2, 1, 1), (1, 1, 2), (1, 2, 3)])
def test_sparse_vector_dominates_enumeration_of_four_queries(
    told: Told, monotone: bool, threshold_rate: int, query_rate: int, count: int
) -> None:
    mechanism = sparse(threshold_rate, query_rate, count, told, most=1)
    pairs = sparse_pairs(mechanism, (-2, 0, 1), 4, monotone=monotone)
    assert not refutation(concluded(mechanism, monotone=monotone), pairs)


def far(high: int, low: int, by: int = 30) -> Queries:
    """So many queries far above the threshold, then so many far below."""
    return (by,) * high + (-by,) * low


def apart(mechanism: Sparse, before: Queries, by: Queries) -> list[Pair]:
    return [(mechanism.law(before), mechanism.law(moved(before, by)))]


MIXED = [
    (sparse(1, 2, 1), far(3, 1), (1, 1, 1, -1)),
    (sparse(1, 1, 2), far(4, 2), (1, 1, 1, 1, -1, -1)),
    (sparse(1, 2, 1, "gaps"), far(3, 1), (1, 1, 1, -1)),
]
ALIKE = [
    (sparse(1, 2, 1), far(3, 1), (1, 1, 1, 0)),
    (sparse(1, 1, 2), far(4, 2), (1, 1, 1, 1, 0, 0)),
    (sparse(1, 2, 1, "gaps"), far(3, 1), (1, 1, 1, 0)),
]


@pytest.mark.parametrize(("mechanism", "before", "by"), MIXED + ALIKE)
def test_sparse_vector_is_tight(mechanism: Sparse, before: Queries, by: Queries) -> None:
    """Unlikely answers: queries far above that are said to be below, then ones far below that are said to be above."""
    statement = concluded(mechanism, monotone=min(by) == 0)
    pairs = apart(mechanism, before, by)
    assert not refutation(statement, pairs)
    assert refutation(PureDP(epsilon=statement.parameters["epsilon"] - LITTLE), pairs)


@pytest.mark.parametrize(("mechanism", "before", "by"), MIXED)
def test_sparse_vector_twins_are_refuted(mechanism: Sparse, before: Queries, by: Queries) -> None:
    pairs = apart(mechanism, before, by)
    scale = scale_of(HALF)
    right = concluded(mechanism, monotone=False)
    twins = {
        "monotone, for queries that move apart": concluded(mechanism, monotone=True),
        "half the scales": concluded(mechanism, monotone=False, halved=True),
        "no price for the threshold": PureDP(epsilon=right.parameters["epsilon"] - 1 / scale),
    }
    if mechanism.budget > 1:
        twins["the count forgotten"] = concluded(mechanism, monotone=False, count=1)
    assert not refutation(right, pairs)
    assert [name for name, twin in twins.items() if not refutation(twin, pairs)] == []


def test_sparse_vector_twin_without_threshold_noise_is_refuted() -> None:
    """Every query that moves is then paid for."""
    mechanism, by = sparse(None, 1, 1), (1, 1, 1, 1)
    assert refutation(concluded(mechanism, monotone=True), apart(mechanism, far(4, 0), by))
    noisy = replace(mechanism, threshold_rate=1)
    assert not refutation(concluded(noisy, monotone=True), apart(noisy, far(4, 0), by))


def test_sparse_vector_twin_that_releases_the_noisy_query_is_refuted() -> None:
    """The noisy query bounds the noisy threshold, which then cannot move; the gap leaves it free."""
    before, by = (9, 9, 9, 9, 0), (1, 1, 1, 1, 0)
    value = sparse(1, 1, 1, "values")
    assert refutation(concluded(value, monotone=False), apart(value, before, by))
    gap = sparse(1, 1, 1, "gaps")
    assert not refutation(concluded(gap, monotone=True), apart(gap, before, by))


def test_sparse_vector_with_sensitivity_forgotten_is_refuted() -> None:
    mechanism, by = sparse(1, 2, 1), (2, 2, 2, -2)
    pairs = apart(mechanism, far(3, 1), by)
    scale = scale_of(HALF)
    right = rules.sparse_vector(
        threshold_scale=scale, query_scale=scale / 2, count=1, monotone=False, sensitivity=UNIT.scaled(2)
    )
    assert not refutation(right.conclusion, pairs)
    assert refutation(concluded(mechanism, monotone=False), pairs)


# The adaptive variant: a coarse test, higher above the threshold, then a fine one


def adaptive(budget: int, *, monotone: bool, told: Told = "answers", costs: tuple[int, ...] | None = None) -> Sparse:
    moves = 1 if monotone else 2
    return Sparse(HALF, 1, ((1, 1), (2, 0)), costs or (moves, 2 * moves), budget, told, most=1)


def concluded_adaptively(mechanism: Sparse, *, monotone: bool) -> Guarantee:
    scale = scale_of(HALF)
    return rules.adaptive_sparse_vector(
        threshold_scale=scale / (mechanism.threshold_rate or 1),
        query_scales=[scale / rate for rate, _ in mechanism.tests],
        query_epsilon=mechanism.budget / scale,
        monotone=monotone,
        sensitivity=UNIT,
    ).conclusion


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("told", "queries"), [("answers", 3), ("gaps", 2)])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("budget", [2, 3, 4])
def test_adaptive_sparse_vector_dominates_enumeration(told: Told, queries: int, monotone: bool, budget: int) -> None:
    mechanism = adaptive(budget, monotone=monotone, told=told)
    pairs = sparse_pairs(mechanism, (-1, 1), queries, monotone=monotone)
    assert not refutation(concluded_adaptively(mechanism, monotone=monotone), pairs)


@pytest.mark.slow
@pytest.mark.parametrize("told", ["answers", "gaps"])
@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize("budget", [4, 6])
def test_adaptive_sparse_vector_dominates_enumeration_of_more(told: Told, monotone: bool, budget: int) -> None:
    mechanism = adaptive(budget, monotone=monotone, told=told)
    pairs = sparse_pairs(mechanism, (-1, 0, 2) if told == "answers" else (-1, 1), 3, monotone=monotone)
    assert not refutation(concluded_adaptively(mechanism, monotone=monotone), pairs)


@pytest.mark.parametrize("monotone", [True, False])
def test_adaptive_sparse_vector_is_tight(monotone: bool) -> None:
    """One yes by the coarse test and one by the fine test use the budget up."""
    mechanism = adaptive(3 if monotone else 6, monotone=monotone)
    low = 0 if monotone else -1
    pairs = apart(mechanism, far(3, 2), (1, 1, 1, low, low))
    statement = concluded_adaptively(mechanism, monotone=monotone)
    assert not refutation(statement, pairs)
    assert refutation(PureDP(epsilon=statement.parameters["epsilon"] - LITTLE), pairs)


@pytest.mark.parametrize("monotone", [True, False])
def test_adaptive_sparse_vector_twins_are_refuted(monotone: bool) -> None:
    before, low = far(3, 2), 0 if monotone else -1
    by = (1, 1, 1, low, low)
    right = adaptive(3 if monotone else 6, monotone=monotone)
    all_coarse = adaptive(2, monotone=monotone, costs=(1, 1))
    assert not refutation(concluded_adaptively(right, monotone=monotone), apart(right, before, by))
    assert refutation(concluded_adaptively(all_coarse, monotone=monotone), apart(all_coarse, before, by))
    alike = adaptive(3, monotone=True)
    assert refutation(concluded_adaptively(alike, monotone=True), apart(alike, before, (1, 1, 1, -1, -1)))
    free = concluded_adaptively(right, monotone=monotone).parameters["epsilon"] - 1 / scale_of(HALF)
    assert refutation(PureDP(epsilon=free), apart(right, before, by)), "no price for the threshold"


# Thresholded histograms


def histogram_pairs(histogram: Histogram, keys: int, universe: int, *, rows: int = 1) -> list[Pair]:
    listed = one_unit_more(keys, universe, 2, rows=rows)
    return [(histogram.law(before), histogram.law(after)) for before, after in listed]


def concluded_of(histogram: Histogram, keys: int, *, wider: int = 1) -> Guarantee:
    laplace = histogram.noise == "discrete_laplace"
    return rules.thresholded_histogram(
        noise="discrete_laplace" if laplace else "rounded_gaussian",
        scale=wider * (scale_of(histogram.width) if laplace else histogram.width),
        threshold=histogram.threshold,
        keys=keys,
    ).conclusion


LAPLACE = [Histogram("discrete_laplace", HALF, 2), Histogram("discrete_laplace", Fraction(1, 5), 4)]
GAUSSIAN = [Histogram("rounded_gaussian", Fraction(1), 3), Histogram("rounded_gaussian", Fraction(3, 2), 2, most=5)]
HIGH = [
    Histogram("discrete_laplace", Fraction(1, 5), 10, most=9),
    Histogram("rounded_gaussian", Fraction(1), 9, most=12),
]


@pytest.mark.parametrize("histogram", LAPLACE)
@pytest.mark.parametrize("keys", [1, 2, 3])
def test_thresholded_histogram_dominates_enumeration(histogram: Histogram, keys: int) -> None:
    """All counts up to 2 of three keys; no smaller delta would do, whatever epsilon is."""
    statement = concluded_of(histogram, keys)
    pairs = histogram_pairs(histogram, keys, 3)
    assert not refutation(statement, pairs)
    less = ApproxDP(epsilon=1000, delta=statement.parameters["delta"] * (1 - LITTLE))
    assert refutation(less, pairs)


@pytest.mark.parametrize("histogram", GAUSSIAN)
@pytest.mark.parametrize("keys", [1, 2])
def test_thresholded_histogram_with_gaussian_noise_dominates_enumeration(histogram: Histogram, keys: int) -> None:
    """The definition itself: new keys stay hidden but for a probability of delta, and given that it is zCDP."""
    statement = concluded_of(histogram, keys)
    assert not refutation(statement, histogram_pairs(histogram, keys, 2))
    kept: list[Pair] = []
    failures = []
    for before, after in one_unit_more(keys, 2, 2):
        law, other = histogram.law(before), histogram.law(after)
        quiet = nothing_new(before, after, other)
        share = sum(quiet.values(), ZERO)
        failures.append(1 - share)
        kept.append((law, {outcome: mass / share for outcome, mass in quiet.items()}))
    delta = statement.parameters["delta"]
    assert delta * (1 - LITTLE) < max(failures) <= delta
    assert not refutation(ZCDP(rho=statement.parameters["rho"]), kept)


@pytest.mark.parametrize("histogram", LAPLACE + GAUSSIAN)
def test_thresholded_histogram_twins_of_delta_are_refuted(histogram: Histogram) -> None:
    """A unit with two keys."""
    pairs = histogram_pairs(histogram, 2, 2)
    right = concluded_of(histogram, 2)
    twins = {
        "delta for one key": concluded_of(histogram, 1),
        "threshold too high by one": concluded_of(replace(histogram, threshold=histogram.threshold + 1), 2),
    }
    assert not refutation(right, pairs)
    for name, twin in twins.items():
        assert refutation(restated(right, delta=twin.parameters["delta"]), pairs), name


@pytest.mark.parametrize("histogram", HIGH)
def test_thresholded_histogram_twins_of_the_cost_are_refuted(histogram: Histogram) -> None:
    """Two counts so high that both are shown, in a histogram of a small delta."""
    pairs = [(histogram.law((14, 14)), histogram.law((15, 15)))]
    right = concluded_of(histogram, 2)
    name = "epsilon" if isinstance(right, ApproxDP) else "rho"
    twins = {"one key": concluded_of(histogram, 1), "half the scale": concluded_of(histogram, 2, wider=2)}
    assert not refutation(right, pairs)
    for twin in twins.values():
        assert refutation(restated(right, **{name: twin.parameters[name]}), pairs)


def restated(statement: Guarantee, **numbers: Fraction) -> Guarantee:
    kind: Any = type(statement)
    found: Guarantee = kind(**{**statement.parameters, **numbers})
    return found


@pytest.mark.parametrize("histogram", LAPLACE + GAUSSIAN)
def test_thresholded_histogram_twin_that_counts_rows_is_refuted(histogram: Histogram) -> None:
    """A unit with two rows of one key: it makes a count of 2 where there was none."""
    assert refutation(concluded_of(histogram, 1), histogram_pairs(histogram, 1, 1, rows=2))
    assert not refutation(concluded_of(histogram, 1), histogram_pairs(histogram, 1, 1))


@pytest.mark.parametrize(("scale", "threshold"), [(1, 2), ("5/2", 30), (10, 300), ("1/4", 12)])
@pytest.mark.parametrize("keys", [1, 5, 10**6])
def test_delta_is_as_small_as_it_can_be(scale: Any, threshold: int, keys: int) -> None:
    """Up to the digits in which it is stated, however small it is."""
    laws: list[tuple[Any, Any]] = [
        ("discrete_laplace", DiscreteLaplace(scale=scale)),
        ("rounded_gaussian", RoundedNormal(standard_deviation=scale)),
    ]
    for noise, law in laws:
        derived = rules.thresholded_histogram(noise=noise, scale=scale, threshold=threshold, keys=keys)
        delta = derived.conclusion.parameters["delta"]
        alone = law.tail(threshold - 2)
        if keys == 1:
            assert alone.upper <= delta <= Fraction(alone.lower) * (1 + Fraction(1, 10**13))
        assert delta <= keys * Fraction(alone.upper) * (1 + Fraction(1, 10**13))
        if keys * alone.upper < Fraction(1, 10**15):
            assert delta >= keys * Fraction(alone.lower) * (1 - Fraction(1, 10**13))


# What is said, and what is refused


PERSON = ADD_REMOVE.of_unit("person", max_rows=7)
SPARSE: dict[str, Any] = {"threshold_scale": 2, "query_scale": 4, "count": 3, "monotone": False, "sensitivity": UNIT}
ADAPTIVE: dict[str, Any] = {
    "threshold_scale": 2,
    "query_scales": [8, "5/2"],
    "query_epsilon": "3/4",
    "monotone": False,
    "sensitivity": Sensitivity(value=3, neighbors=REPLACE),
}
COUNTED: dict[str, Any] = {"noise": "rounded_gaussian", "scale": 2, "threshold": 20, "keys": 3}
CASES: dict[str, tuple[Rule, dict[str, Any]]] = {
    "sparse_vector": (rules.sparse_vector, SPARSE),
    "adaptive_sparse_vector": (rules.adaptive_sparse_vector, ADAPTIVE),
    "thresholded_histogram": (rules.thresholded_histogram, COUNTED),
}


def made(name: str, **other: Any) -> Derivation:
    rule, arguments = CASES[name]
    return rule(**{**arguments, **other})


def test_what_the_derivations_hold() -> None:
    derived = [made(name) for name in CASES]
    assert [one.rule for one in derived] == list(CASES)
    assert derived[0].conclusion == PureDP(epsilon=2)
    assert made("sparse_vector", monotone=True).conclusion == PureDP(epsilon="5/4")
    assert derived[1].conclusion == PureDP(epsilon="9/4", neighbors=REPLACE)
    assert derived[2].conclusion.parameters["rho"] == Fraction(3, 8)
    assert made("thresholded_histogram", neighbors=PERSON).conclusion.neighbors == PERSON
    assert isinstance(derived[2].conclusion, ApproxZCDP)
    assert [dict(one.parameters) for one in derived] == [
        {"threshold_scale": "2", "query_scale": "4", "count": 3, "sensitivity": "1", "monotone": False},
        {
            "threshold_scale": "2",
            "query_scales": ("8", "5/2"),
            "query_epsilon": "3/4",
            "sensitivity": "3",
            "monotone": False,
        },
        {"noise": "rounded_gaussian", "scale": "2", "threshold": 20, "keys": 3},
    ]
    assert all((one.premises, dict(one.witness), one.assumptions) == ((), {}, ()) for one in derived)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("sparse_vector", "threshold_scale"),
        ("sparse_vector", "query_scale"),
        ("adaptive_sparse_vector", "threshold_scale"),
        ("thresholded_histogram", "scale"),
    ],
)
@pytest.mark.parametrize("number", [0, -1, math.nan, math.inf, True, None, "wide", 2**5000])
def test_bad_scales(name: str, field: str, number: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        made(name, **{field: number})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        *(("sparse_vector", "count", bad) for bad in (0, -1, 1.5, "2", True, None, 10**10)),
        *(("sparse_vector", "monotone", bad) for bad in (0, 1, None, "yes")),
        *(("adaptive_sparse_vector", "monotone", bad) for bad in (0, 1, None, "yes")),
        *(("sparse_vector", "sensitivity", bad) for bad in (1, None, "1")),
        *(("adaptive_sparse_vector", "sensitivity", bad) for bad in (1, None, "1")),
        *(("adaptive_sparse_vector", "query_epsilon", bad) for bad in (-1, None, math.inf, True)),
        *(
            ("adaptive_sparse_vector", "query_scales", bad)
            for bad in ([], 3, "31", {4: 1}, [2, 2], [1, 2], [3, 1, 2], [0], [2, -1], [None], [2] * 1001, None)
        ),
        *(("thresholded_histogram", "threshold", bad) for bad in (1, 0, -3, 2.5, "4", True, None, 10**10)),
        *(("thresholded_histogram", "keys", bad) for bad in (0, -1, 1.5, "2", True, None, 10**10)),
        *(("thresholded_histogram", "noise", bad) for bad in ("laplace", "discrete_exponential", None, ["x"])),
        *(("thresholded_histogram", "neighbors", bad) for bad in (None, "add_remove", Neighbors)),
    ],
)
def test_bad_input_names_the_field(name: str, field: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        made(name, **{field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("neighbors", [REPLACE, ADD_REMOVE.times(2), PERSON.times(2), REPLACE.of_unit("person")])
def test_histograms_of_other_neighbours_have_no_rule(neighbors: Neighbors) -> None:
    with pytest.raises(NoSuchRule, match="added or removed"):
        made("thresholded_histogram", neighbors=neighbors)


@pytest.mark.parametrize("noise", ["discrete_laplace", "rounded_gaussian"])
@pytest.mark.parametrize("threshold", [3000, 10**5, 10**9])
def test_a_threshold_far_above_all_noise_still_has_a_delta(noise: str, threshold: int) -> None:
    for scale in (1, "1/1000"):
        derived = made("thresholded_histogram", noise=noise, scale=scale, threshold=threshold)
        assert 0 < derived.conclusion.parameters["delta"] < Fraction(1, 10**990)


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_every_norm_bounds_each_query(norm: Any) -> None:
    stated = Sensitivity(value=1, norm=norm)
    assert made("sparse_vector", sensitivity=stated).conclusion == PureDP(epsilon=2)


@pytest.mark.parametrize("neighbors", [ADD_REMOVE.times(2), ADD_REMOVE.of_unit("id").times(3), REPLACE])
def test_only_one_change_moves_all_queries_the_same_way(neighbors: Neighbors) -> None:
    """Two queries of which one row leaves the first and another enters the second refute what was claimed for one."""
    stated = Sensitivity(value=1, norm="Linf", neighbors=neighbors)
    fields: dict[str, Any] = {"threshold_scale": 1, "monotone": True, "sensitivity": stated}
    with pytest.raises(NoSuchRule, match="groups"):
        rules.sparse_vector(query_scale=1, count=1, **fields)
    with pytest.raises(NoSuchRule, match="groups"):
        rules.adaptive_sparse_vector(query_scales=[2, 1], query_epsilon=1, **fields)
    rules.sparse_vector(query_scale=1, count=1, **{**fields, "monotone": False})
    mechanism = sparse(1, 2, 1)
    opposite = apart(mechanism, far(3, 1), (1, 1, 1, -1))
    assert refutation(concluded(mechanism, monotone=True), opposite)
