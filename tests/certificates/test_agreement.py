"""What the library derives for a mechanism, the checker accepts, and hardly anything less."""

import json
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates import certify
from privately.certificates.checker import Invalid
from privately.certificates.checker import check as check_independently
from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, Derivation, Neighbors, PureDP, Sensitivity, Stability, rules
from tests.certificates.replaying import honest_from
from tests.certificates.tampering import sealed

NUMBERS = ("epsilon", "delta", "rho", "mu")
NEARLY = 1 - Fraction(1, 10**11)

scales = st.builds(
    lambda a, k: a * Fraction(10) ** k, st.fractions("1/10", 10, max_denominator=10**9), st.integers(-3, 12)
)
amounts = st.fractions(0, 100, max_denominator=10**9)
neighbors = st.sampled_from([Neighbors.ADD_REMOVE, Neighbors.REPLACE, Neighbors(unit="person", max_rows=2)])
sensitivities = st.builds(lambda value, who: Sensitivity(value=value, neighbors=who), amounts, neighbors)
falling = st.lists(scales, min_size=1, max_size=4, unique=True).map(lambda found: sorted(found, reverse=True))
noises: st.SearchStrategy[Literal["discrete_laplace", "rounded_gaussian"]] = st.sampled_from(
    ["discrete_laplace", "rounded_gaussian"]
)
keys = st.sampled_from([1, 2, 3, 1000, 10**9])


def agree(derivation: Derivation) -> None:
    """`certify` checks; each number a little smaller is refused."""
    data = json.loads(certify(derivation).document)
    conclusion = data["nodes"][-1]["conclusion"]
    for name in NUMBERS:
        if name in conclusion and conclusion[name] not in {"0", "1"}:
            less = {**conclusion, name: str(Fraction(conclusion[name]) * NEARLY)}
            with pytest.raises(Invalid, match=name):
                check_independently(
                    sealed({**data, "nodes": [*data["nodes"][:-1], {**data["nodes"][-1], "conclusion": less}]})
                )


@given(scales, sensitivities)
def test_noise(scale: Fraction, sensitivity: Sensitivity) -> None:
    agree(rules.discrete_laplace(scale=scale, sensitivity=sensitivity))
    agree(rules.rounded_gaussian(standard_deviation=scale, sensitivity=sensitivity))
    agree(rules.discrete_gaussian(variance=scale, sensitivity=sensitivity))


@given(scales, amounts, st.integers(0, 100), neighbors)
def test_selection(scale: Fraction, spread: Fraction, whole: int, who: Neighbors) -> None:
    agree(rules.exponential_mechanism(scale=scale, spread=spread, neighbors=who, kind=PureDP))
    agree(rules.exponential_mechanism(scale=scale, spread=spread, neighbors=who, kind=ZCDP))
    agree(rules.permute_and_flip(scale=scale, spread=spread, neighbors=who))
    agree(rules.noisy_max(noise="discrete_exponential", scale=scale, spread=spread, gap=False, neighbors=who))
    agree(rules.noisy_max(noise="discrete_laplace", scale=scale, spread=whole, gap=True, neighbors=who))


@given(scales, falling, st.integers(1, 1000), st.booleans(), sensitivities)
def test_queries(first: Fraction, others: list[Fraction], count: int, monotone: bool, sensitivity: Sensitivity) -> None:
    monotone = monotone and sensitivity.neighbors.change == "add_remove"
    agree(
        rules.sparse_vector(
            threshold_scale=first, query_scale=others[0], count=count, monotone=monotone, sensitivity=sensitivity
        )
    )
    agree(
        rules.adaptive_sparse_vector(
            threshold_scale=first,
            query_scales=others,
            query_epsilon=Fraction(count, 77),
            monotone=monotone,
            sensitivity=sensitivity,
        )
    )


@given(noises, st.fractions("1/5", 10**9, max_denominator=10**6), st.fractions(0, 40), keys)
def test_histograms(
    noise: Literal["discrete_laplace", "rounded_gaussian"], scale: Fraction, distance: Fraction, most: int
) -> None:
    most = min(most, int(scale * 10**9), int(scale**2 * 10**9))
    threshold = min(10**9, 2 + int(distance * scale))
    agree(rules.thresholded_histogram(noise=noise, scale=scale, threshold=threshold, keys=most))


@given(st.integers(2, 10**9), st.fractions(0, 1, max_denominator=10**12))
def test_responses(categories: int, truth: Fraction) -> None:
    if 0 < truth < 1:
        agree(rules.randomized_response(categories=categories, truth=truth))


@pytest.mark.parametrize("name", ["count", "keys", "threshold", "categories"])
def test_the_largest_integer_is_the_same(name: str) -> None:
    def derive(value: int) -> Derivation:
        given = {"count": 1, "keys": 1, "threshold": 10**9, "categories": 2, name: value}
        one = Sensitivity(value=0)
        if name == "count":
            return rules.sparse_vector(threshold_scale=1, query_scale=1, count=value, monotone=True, sensitivity=one)
        if name == "categories":
            return rules.randomized_response(categories=value, truth="1/2")
        return rules.thresholded_histogram(
            noise="discrete_laplace", scale=10**9, threshold=given["threshold"], keys=given["keys"]
        )

    certify(derive(10**9))
    with pytest.raises(InvalidParameter, match=name):
        derive(10**9 + 1)


# --- steps of a plan ------------------------------------------------------------------------------------------------

people = st.sampled_from([Neighbors.ADD_REMOVE.of_unit("person"), Neighbors.REPLACE.of_unit("person")])
ends = st.integers(-(10**6), 10**6)
listed = st.one_of(st.none(), st.integers(1, 40))


@st.composite
def grouped(draw: st.DrawFn) -> Stability:
    """Groups of a table whose units may be much or little of it."""
    most = draw(st.sampled_from([1, 2, 3, 7, 30, 10**9]))
    scanned = rules.scan_rows(
        table="t",
        neighbors=draw(people),
        rows=most,
        groups=draw(st.integers(1, most)),
        rows_per_group=draw(st.integers(1, most)),
    )
    return rules.group_rows(rules.filter_rows(scanned, condition="x"), keys=[("a", draw(listed)), ("b", 2)])


def agree_on_step(derivation: Derivation) -> None:
    """`certify` checks; if the step before the noise says a little less, and the noise follows, it is refused there."""
    data = json.loads(certify(derivation).document)
    step = data["nodes"][-2]["conclusion"]
    step["value"] = str(Fraction(step["value"]) * NEARLY)
    honest_from(data, len(data["nodes"]) - 2)
    with pytest.raises(Invalid, match="value"):
        check_independently(sealed(data))


@given(grouped(), ends, ends, st.sampled_from(["L1", "L2"]))
def test_tallies(groups: Stability, one: int, other: int, norm: Literal["L1", "L2"]) -> None:
    low, high = min(one, other), max(one, other, min(one, other) + 1)
    value: dict[str, Any] = {"norm": norm, "argument": "x", "step": 1, "low": low, "high": high}
    counted: Literal["rows", "values"] = "rows" if low <= 0 <= high else "values"
    bins: dict[str, Any] = {"argument": "x", "lower": low, "width": 1, "bins": 9}
    for tally in (
        rules.count_rows(groups, norm=norm),
        rules.count_units(groups, norm=norm),
        rules.sum_steps(groups, **value),
        rules.sum_pairs(groups, **value, counted=counted),
        rules.count_bins(groups, norm=norm, **bins),
    ):
        scale = 10**12
        if norm == "L1":
            agree_on_step(rules.discrete_laplace(scale=scale, sensitivity=tally))
        else:
            agree_on_step(rules.rounded_gaussian(standard_deviation=scale, sensitivity=tally))


@given(grouped(), st.fractions(0, 1, max_denominator=10**6))
def test_scores_of_quantiles(groups: Stability, probability: Fraction) -> None:
    spread = rules.score_quantile(groups, argument="x", lower=0, width=1, bins=9, probability=probability)
    agree_on_step(rules.exponential_mechanism(scale=10**12, spread=spread))
    agree_on_step(rules.permute_and_flip(scale=10**12, spread=spread))


@given(grouped())
def test_keys_of_units(groups: Stability) -> None:
    keys = rules.count_units_by_key(groups)
    if keys.conclusion.neighbors.change == "add_remove":
        agree(rules.thresholded_histogram(noise="discrete_laplace", scale=10**9, threshold=10**9, keys=keys))
