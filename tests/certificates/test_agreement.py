"""What the library derives for a mechanism, the checker accepts, and hardly anything less."""

import json
from fractions import Fraction
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates import certify
from privately.certificates.checker import Invalid
from privately.certificates.checker import check as check_independently
from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, Derivation, Neighbors, PureDP, Sensitivity, rules
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
