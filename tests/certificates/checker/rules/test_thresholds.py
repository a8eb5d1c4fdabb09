from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.checker.building import (
    PERSON,
    REPLACE,
    ROW,
    Number,
    Plain,
    conclude,
    down,
    mpf,
    refuse,
    statement,
    up,
)

TINY = Fraction(1, 10**90)
SPARSE, ADAPTIVE, HISTOGRAM = "sparse_vector", "adaptive_sparse_vector", "thresholded_histogram"
scales = st.builds(lambda a, k: a * Fraction(10) ** k, st.fractions("1/100", 100), st.integers(-3, 100))
sensitivities = st.fractions(Fraction(1, 1000), 1000)


def sparse(**changes: Any) -> Plain:
    plain = {"threshold_scale": "4", "query_scale": "20", "count": 5, "sensitivity": "1", "monotone": False}
    return {**plain, **changes}


def adaptive(**changes: Any) -> Plain:
    plain = {"threshold_scale": "4", "query_scales": ["20", "10", "3/2"], "query_epsilon": "2/3"}
    return {**plain, "sensitivity": "1", "monotone": False, **changes}


def exactly(rule: str, epsilon: Fraction, parameters: Plain) -> None:
    """This epsilon is accepted, and nothing less."""
    conclude(rule, [], statement("PureDP", epsilon=epsilon), parameters)
    less = statement("PureDP", epsilon=epsilon * (1 - TINY))
    assert "the rule gives" in refuse("conclusion.epsilon", rule, [], less, parameters)


@given(scales, scales, sensitivities, st.integers(1, 100), st.booleans())
def test_sparse_vector(first: Fraction, second: Fraction, sensitivity: Fraction, count: int, monotone: bool) -> None:
    found = sensitivity / first
    for _ in range(count):
        found += (sensitivity if monotone else 2 * sensitivity) / second
    parameters = sparse(
        threshold_scale=str(first),
        query_scale=str(second),
        sensitivity=str(sensitivity),
        count=count,
        monotone=monotone,
    )
    exactly(SPARSE, found, parameters)


@given(scales, sensitivities, st.fractions(0, 1000), st.booleans())
def test_adaptive_sparse_vector(scale: Fraction, sensitivity: Fraction, rest: Fraction, monotone: bool) -> None:
    parameters = adaptive(
        threshold_scale=str(scale), sensitivity=str(sensitivity), query_epsilon=str(rest), monotone=monotone
    )
    exactly(ADAPTIVE, sensitivity / scale + rest, parameters)


def test_one_test_is_the_plain_sparse_vector() -> None:
    """Five yes answers at 2/20 each."""
    exactly(SPARSE, Fraction(3, 4), sparse())
    exactly(ADAPTIVE, Fraction(3, 4), adaptive(query_scales=["20"], query_epsilon="1/2"))
    exactly(SPARSE, Fraction(1, 2), sparse(monotone=True))


@pytest.mark.parametrize(
    ("listed", "place"),
    [
        ([], ""), (["2", "2"], ""), (["1", "2"], ""), (["3", "1", "2"], ""), (["3", "2", "2"], ""), ("2", ""), ({}, ""),
        (None, ""), (["2", "0"], "[1]"), (["-1"], "[0]"), (["2", "-3"], "[1]"), ([2], "[0]"), (["2", None], "[1]"),
    ],
)  # fmt: skip
def test_tests_get_finer(listed: object, place: str) -> None:
    field = f"parameters.query_scales{place}"
    refuse(field, ADAPTIVE, [], statement("PureDP", epsilon=9), adaptive(query_scales=listed))


def test_there_are_at_most_a_thousand_tests() -> None:
    listed = [str(2000 - i) for i in range(1001)]
    fine = statement("PureDP", epsilon=9)
    conclude(ADAPTIVE, [], fine, adaptive(query_scales=listed[:1000]))
    refuse("parameters.query_scales", ADAPTIVE, [], fine, adaptive(query_scales=listed))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"count": 0}, "count"), ({"count": True}, "count"), ({"count": "5"}, "count"), ({"count": 10**9 + 1}, "count"),
        ({"monotone": 1}, "monotone"), ({"monotone": 0}, "monotone"), ({"monotone": None}, "monotone"),
        ({"threshold_scale": "0"}, "threshold_scale"), ({"threshold_scale": "-4"}, "threshold_scale"),
        ({"query_scale": "0"}, "query_scale"), ({"query_scale": "-20"}, "query_scale"),
        ({"sensitivity": "-1"}, "sensitivity"), ({"sensitivity": 1}, "sensitivity"),
    ],
)  # fmt: skip
def test_wrong_parameters_of_queries(wrong: Plain, field: str) -> None:
    claim = statement("PureDP", epsilon=10**9)
    refuse(f"parameters.{field}", SPARSE, [], claim, sparse(**wrong))
    if field in adaptive():
        refuse(f"parameters.{field}", ADAPTIVE, [], claim, adaptive(**wrong))


def test_queries_and_their_claims() -> None:
    for neighbors in (ROW, REPLACE, PERSON, {**ROW, "size": 3}):
        conclude(SPARSE, [], statement("PureDP", neighbors, epsilon=1), sparse())
        conclude(ADAPTIVE, [], statement("PureDP", neighbors, epsilon=1), adaptive())
    for rule, parameters in ((SPARSE, sparse()), (ADAPTIVE, adaptive())):
        refuse("conclusion.kind", rule, [], statement("ZCDP", rho=9), parameters)
        refuse("conclusion.kind", rule, [], statement("ApproxDP", epsilon=9, delta=1), parameters)
    refuse("parameters.query_epsilon", ADAPTIVE, [], statement("PureDP", epsilon=9), adaptive(query_epsilon="-1"))
    refuse("conclusion.epsilon", SPARSE, [], statement("PureDP", epsilon=10**9), sparse(query_scale=f"1/{10**1000}"))
    exactly(SPARSE, Fraction(1, 4) + 2 * 10**6, sparse(count=10**9, query_scale="1000"))


def histogram(noise: str, scale: Number, threshold: int, keys: int) -> Plain:
    return {"noise": noise, "scale": str(Fraction(scale)), "threshold": threshold, "keys": keys}


def claim(parameters: Plain, delta: Number, neighbors: Plain = ROW) -> Plain:
    """With the least first number that is short."""
    scale, keys = min(Fraction(parameters["scale"]), Fraction(10**9)), parameters["keys"]
    if parameters["noise"] == "discrete_laplace":
        return statement("ApproxDP", neighbors, epsilon=keys / scale, delta=delta)
    return statement("ApproxZCDP", neighbors, rho=keys / (2 * scale**2), delta=delta)


def least_delta(parameters: Plain) -> mpmath.mpf:
    """1 - (1 - d)^keys."""
    scale, first = mpf(parameters["scale"]), parameters["threshold"] - 1
    if parameters["noise"] == "discrete_laplace":
        q = mpmath.exp(-1 / scale)
        beyond = q**first / (1 + q)
    else:
        beyond = mpmath.erfc((first - mpmath.mpf("0.5")) / scale / mpmath.sqrt(2)) / 2
    return -mpmath.expm1(parameters["keys"] * mpmath.log1p(-beyond))


def delta_both_sides(parameters: Plain) -> None:
    least = least_delta(parameters)
    if up(least) < 1:
        conclude(HISTOGRAM, [], claim(parameters, up(least)), parameters)
    refuse("conclusion.delta", HISTOGRAM, [], claim(parameters, down(least)), parameters)


@given(st.fractions(1, 1000), st.integers(1, 200), st.integers(1, 10**6))
def test_delta_of_the_discrete_laplace(scale: Fraction, distance: int, keys: int) -> None:
    delta_both_sides(histogram("discrete_laplace", scale, 2 + int(distance * scale), keys))


@given(st.fractions(1, 1000), st.integers(1, 30), st.integers(1, 10**6))
def test_delta_of_the_rounded_gaussian(scale: Fraction, distance: int, keys: int) -> None:
    delta_both_sides(histogram("rounded_gaussian", scale, 2 + int(distance * scale), keys))


NOISES = ["discrete_laplace", "rounded_gaussian"]
each = pytest.mark.parametrize("noise", NOISES)


@each
@pytest.mark.parametrize("keys", [1, 2, 10**9])
@pytest.mark.parametrize(("scale", "threshold"), [(2, 2), (10**6, 2), (10**6, 10**7), ("1e1000", 2), (10**8, 10**9)])
def test_extremes(noise: str, keys: int, scale: Number, threshold: int) -> None:
    delta_both_sides(histogram(noise, scale, threshold, keys))


def test_the_chance_to_be_seen_is_a_sum_of_the_law() -> None:
    """Over all that one row and its noise can add up to, from the threshold on."""
    with mpmath.workprec(200):
        q = mpmath.exp(-mpmath.mpf(1) / 3)
        beyond = sum((1 - q) / (1 + q) * q ** abs(count - 1) for count in range(5, 500))
        assert abs(beyond - least_delta(histogram("discrete_laplace", 3, 5, 1))) < 1e-50
        below = [mpmath.ncdf((mpmath.mpf(count) - 0.5) / 3) for count in (4, 60)]
        assert abs(below[1] - below[0] - least_delta(histogram("rounded_gaussian", 3, 5, 1))) < 1e-50


@each
def test_a_key_of_one_is_seen_from_one_below_the_threshold(noise: str) -> None:
    """Twins that start at the threshold itself, or forget how many keys there are, ask for less."""
    parameters = histogram(noise, 10, 40, 3)
    for twin in ({"threshold": 41}, {"keys": 2}):
        less = up(least_delta({**parameters, **twin}))
        refuse("conclusion.delta", HISTOGRAM, [], claim(parameters, less), parameters)


@each
def test_the_first_number_is_exact(noise: str) -> None:
    parameters = histogram(noise, 7, 3, 4)
    name, least = ("epsilon", Fraction(4, 7)) if noise == NOISES[0] else ("rho", Fraction(4, 98))
    fine = claim(parameters, 1)
    assert fine[name] == str(least)
    conclude(HISTOGRAM, [], fine, parameters)
    refuse(f"conclusion.{name}", HISTOGRAM, [], {**fine, name: str(least - TINY)}, parameters)


def test_as_far_out_as_a_delta_can_be_written() -> None:
    """e^-2,600 is about 2^-3,750. For the normal law Mills' ratio is between x/(x^2+1) and 1/x."""
    delta_both_sides(histogram("discrete_laplace", 1, 2601, 1))
    parameters, x = histogram("rounded_gaussian", Fraction(1, 2), 38, 1), mpmath.mpf(73)
    conclude(HISTOGRAM, [], claim(parameters, up(mpmath.npdf(x) / x)), parameters)
    less = down(mpmath.npdf(x) * x / (x * x + 1))
    refuse("conclusion.delta", HISTOGRAM, [], claim(parameters, less), parameters)


@each
def test_beyond_what_is_evaluated_any_delta_above_zero_will_do(noise: str) -> None:
    smallest = Fraction(1, 2**4095)
    for threshold, scale in ((10**9, 1), (30_000, 1), (10**9, 10**4)):
        parameters = histogram(noise, scale, threshold, 10**9)
        conclude(HISTOGRAM, [], claim(parameters, smallest), parameters)
        refuse("conclusion.delta", HISTOGRAM, [], claim(parameters, 0), parameters)


@pytest.mark.parametrize(("noise", "last"), [("discrete_laplace", 10_001), ("rounded_gaussian", 142)])
def test_at_the_edge_of_what_is_evaluated(noise: str, last: int) -> None:
    for threshold in (last, last + 1, last + 2):
        parameters = histogram(noise, 1, threshold, 10**9)
        conclude(HISTOGRAM, [], claim(parameters, Fraction(1, 2**4095)), parameters)


@each
def test_nothing_is_free(noise: str) -> None:
    parameters = histogram(noise, 1, 50, 1)
    assert "above 0" in refuse("conclusion.delta", HISTOGRAM, [], claim(parameters, 0), parameters)


@each
def test_it_speaks_of_adding_or_removing_one(noise: str) -> None:
    parameters = histogram(noise, 10, 3, 2)
    for fine in (ROW, PERSON, {**PERSON, "max_rows": None}):
        conclude(HISTOGRAM, [], claim(parameters, 1, fine), parameters)
    for wrong in (REPLACE, {**ROW, "size": 2}, {**PERSON, "change": "replace"}):
        refuse("conclusion.neighbors", HISTOGRAM, [], claim(parameters, 1, wrong), parameters)


def test_each_noise_has_one_kind() -> None:
    laplace, gaussian = (histogram(noise, 10, 300, 1) for noise in NOISES)
    refuse("conclusion.kind", HISTOGRAM, [], claim(gaussian, 1), laplace)
    refuse("conclusion.kind", HISTOGRAM, [], claim(laplace, 1), gaussian)
    refuse("conclusion.kind", HISTOGRAM, [], statement("PureDP", epsilon=9), laplace)
    refuse("conclusion.kind", HISTOGRAM, [], statement("GaussianDP", mu=9), gaussian)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", 1), ("threshold", 0), ("threshold", -5), ("threshold", 10**9 + 1), ("threshold", 10**30),
        ("threshold", True), ("threshold", "3"), ("threshold", 3.0), ("keys", 0), ("keys", 10**9 + 1), ("keys", True),
        ("scale", "0"), ("scale", "-1"), ("scale", 1), ("noise", "discrete_exponential"),
        ("noise", "discrete_gaussian"), ("noise", None), ("noise", ["discrete_laplace"]),
    ],
)  # fmt: skip
def test_wrong_parameters_of_histograms(name: str, value: object) -> None:
    parameters = {**histogram("discrete_laplace", 10, 30, 2), name: value}
    fine = statement("ApproxDP", epsilon=9, delta=1)
    refuse(f"parameters.{name}", HISTOGRAM, [], fine, parameters)


def test_a_tiny_scale_is_refused_at_once() -> None:
    for noise, kind, number in (("discrete_laplace", "ApproxDP", "epsilon"), ("rounded_gaussian", "ApproxZCDP", "rho")):
        wanted: Any = {number: 10**9, "delta": 1}
        refuse(f"conclusion.{number}", HISTOGRAM, [], statement(kind, **wanted), histogram(noise, "1e-1000", 2, 1))


@pytest.mark.parametrize(
    "neighbors", [{**ROW, "size": 2}, {**PERSON, "size": 5}, REPLACE, {**PERSON, "change": "replace"}]
)
def test_only_one_row_or_unit_moves_all_queries_the_same_way(neighbors: Plain) -> None:
    """A certificate that is edited to speak of more: one row may leave where another enters."""
    for rule, parameters in ((SPARSE, sparse(monotone=True)), (ADAPTIVE, adaptive(monotone=True))):
        generous = statement("PureDP", neighbors, epsilon=10**9)
        assert "monotone" in refuse("conclusion.neighbors", rule, [], generous, parameters)
        conclude(rule, [], generous, {**parameters, "monotone": False})
        for fine in (ROW, PERSON):
            conclude(rule, [], statement("PureDP", fine, epsilon=10**9), parameters)
