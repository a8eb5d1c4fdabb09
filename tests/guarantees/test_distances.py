"""Every distance against brute force over all events, and its logarithms against mpmath."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees.distances import (
    PrivacyCurve,
    distribution,
    epsilon_distance,
    epsilon_distance_at_ratio,
    hockey_stick,
    privacy_curve,
    privacy_curve_of,
    privacy_loss,
    renyi_divergence,
    renyi_moment,
    statistical_distance,
    subdistribution,
)
from privately.rounding import Interval, Number

Exact = dict[int, Fraction]
Pair = tuple[Exact, Exact]

ORDERS: list[Number] = [1, Fraction(101, 100), Fraction(3, 2), 2, Fraction(7, 3), 3, 5, "17.5", 64, 1000, math.inf]
TRUTHFUL = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
LYING = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}


def normalised(weights: Sequence[int]) -> Exact:
    return {x: Fraction(weight, sum(weights)) for x, weight in enumerate(weights)}


def tables(size: int, least: int = 0) -> st.SearchStrategy[Exact]:
    weights = st.lists(st.integers(least, 9), min_size=size, max_size=size).filter(any)
    return weights.map(normalised)


PAIRS: st.SearchStrategy[Pair] = st.integers(1, 5).flatmap(lambda size: st.tuples(tables(size), tables(size)))
FINITE_PAIRS: st.SearchStrategy[Pair] = st.integers(1, 5).flatmap(
    lambda size: st.tuples(tables(size), tables(size, least=1))
)
RATIOS = st.fractions(min_value=1, max_value=12, max_denominator=20)
EPSILONS = st.fractions(min_value=0, max_value=3, max_denominator=50)
DELTAS = st.fractions(min_value=0, max_value=1, max_denominator=50)
MAPS = st.lists(tables(3), min_size=5, max_size=5)


def events(p: Exact, q: Exact) -> Iterator[tuple[Fraction, Fraction]]:
    """p(E) and q(E) of every event."""
    outcomes = sorted({**p, **q})
    for size in range(len(outcomes) + 1):
        for event in itertools.combinations(outcomes, size):
            yield sum((p[x] for x in event), Fraction(0)), sum((q[x] for x in event), Fraction(0))


def brute_force(p: Exact, q: Exact, ratio: Fraction) -> Fraction:
    """Delta_epsilon as seed 000 writes it."""
    zero = Fraction(0)
    return max(max(above - ratio * below, below - ratio * above, zero) for above, below in events(p, q))


def push(p: Exact, stochastic: Sequence[Exact]) -> Exact:
    return {y: sum((p[x] * stochastic[x][y] for x in p), Fraction(0)) for y in stochastic[0]}


def real(exact: Fraction) -> Any:
    return mpmath.mpf(exact.numerator) / exact.denominator


def encloses(interval: Interval, truth: Any) -> bool:
    """Against an mpmath value good to more than 65 digits."""
    lower, upper = real(Fraction(interval.lower)), real(Fraction(interval.upper))
    slack = mpmath.mpf(10) ** -65
    return bool(lower - slack <= truth <= upper + slack and upper - lower < mpmath.mpf(10) ** -45)


@pytest.fixture(autouse=True, scope="module")
def _many_digits() -> Iterator[None]:
    with mpmath.workdps(80):
        yield


@given(PAIRS, st.fractions(min_value=0, max_value=12, max_denominator=20))
def test_hockey_stick_is_the_best_event(pair: Pair, ratio: Fraction) -> None:
    p, q = pair
    assert hockey_stick(p, q, ratio=ratio) == max(above - ratio * below for above, below in events(p, q))
    if ratio > 0:  # the two directions are one curve, seen from both ends
        dual = hockey_stick(q, p, ratio=1 / ratio)
        assert hockey_stick(p, q, ratio=ratio) == 1 - ratio + ratio * dual


@given(PAIRS, RATIOS)
def test_epsilon_distance_is_the_best_event(pair: Pair, ratio: Fraction) -> None:
    p, q = pair
    distance = epsilon_distance_at_ratio(p, q, ratio=ratio)
    assert distance == epsilon_distance_at_ratio(q, p, ratio=ratio) == brute_force(p, q, ratio)
    assert (epsilon_distance_at_ratio(p, q, ratio=1) == 0) == (distribution(p) == distribution(q))


@given(PAIRS, EPSILONS)
def test_epsilon_distance_encloses_the_truth(pair: Pair, epsilon: Fraction) -> None:
    p, q = pair
    ratio = mpmath.exp(real(epsilon))
    masses = [(real(above), real(below)) for above, below in events(p, q)]
    truth = max(max(above - ratio * below, below - ratio * above, 0) for above, below in masses)
    assert encloses(epsilon_distance(p, q, epsilon=epsilon), truth)


@given(PAIRS)
def test_statistical_distance_is_the_best_event(pair: Pair) -> None:
    p, q = pair
    distance = statistical_distance(p, q)
    assert distance == max(abs(above - below) for above, below in events(p, q))
    assert distance == sum(abs(p[x] - q[x]) for x in p) / 2 == statistical_distance(q, p)
    assert epsilon_distance(p, q, epsilon=0) == Interval(distance, distance)


@given(tables(4), tables(4), tables(4), RATIOS, RATIOS)
def test_triangle_inequality_costs_a_factor(p: Exact, q: Exact, r: Exact, s: Fraction, t: Fraction) -> None:
    first, second = hockey_stick(p, q, ratio=s), hockey_stick(q, r, ratio=t)
    assert hockey_stick(p, r, ratio=s * t) <= first + s * second
    assert statistical_distance(p, r) <= statistical_distance(p, q) + statistical_distance(q, r)


@given(PAIRS)
def test_privacy_loss_is_the_logarithm_of_the_ratio(pair: Pair) -> None:
    p, q = pair
    losses = privacy_loss(p, q)
    assert set(losses) == {x for x in p if p[x] or q[x]}
    for x, loss in losses.items():
        if q[x] == 0:
            assert loss.ratio == math.inf == loss.logarithm.lower
        elif p[x] == 0:
            assert (loss.ratio, loss.logarithm) == (0, Interval(-math.inf, -math.inf))
        else:
            assert loss.ratio == p[x] / q[x]
            assert encloses(loss.logarithm, mpmath.log(real(p[x] / q[x])))


@given(FINITE_PAIRS, st.sampled_from(ORDERS))
def test_renyi_divergence_encloses_the_truth(pair: Pair, order: Number) -> None:
    p, q = pair
    masses = [(real(p[x]), real(q[x])) for x in p if p[x]]
    if order == math.inf:
        truth = mpmath.log(max(a / b for a, b in masses))
    elif order == 1:
        truth = mpmath.fsum(a * mpmath.log(a / b) for a, b in masses)
    else:
        exponent = real(Fraction(order))
        truth = mpmath.log(mpmath.fsum(b * (a / b) ** exponent for a, b in masses)) / (exponent - 1)
    assert encloses(renyi_divergence(p, q, order=order), truth)


@given(FINITE_PAIRS)
def test_renyi_divergence_increases_with_the_order(pair: Pair) -> None:
    p, q = pair
    bounds = [renyi_divergence(p, q, order=order) for order in ORDERS]
    assert all(lower.lower <= higher.upper for lower, higher in itertools.pairwise(bounds))
    assert all(bound.lower >= 0 for bound in bounds)


@given(FINITE_PAIRS)
def test_renyi_divergence_tends_to_its_mean_and_its_maximum(pair: Pair) -> None:
    p, q = pair
    tiny = Fraction(1, 10**9)
    mean, maximum = (renyi_divergence(p, q, order=order) for order in (1, math.inf))
    near_mean, near_maximum = (renyi_divergence(p, q, order=order) for order in (1 + tiny, 1 / tiny))
    losses = (Fraction(loss.logarithm.upper) for x, loss in privacy_loss(p, q).items() if p[x])
    assert near_mean.upper - mean.lower <= tiny * max(loss**2 for loss in losses) + tiny**2
    assert maximum.upper - near_maximum.lower <= 4 * tiny  # the least mass is 1/37, and ln 37 < 4


@given(FINITE_PAIRS, st.integers(2, 6))
def test_renyi_moment_is_exact(pair: Pair, order: int) -> None:
    p, q = pair
    moment = renyi_moment(p, q, order=order)
    assert moment == sum(p[x] ** order / q[x] ** (order - 1) for x in p)
    assert moment >= 1
    assert renyi_moment(p, q, order=1) == 1


@given(PAIRS, st.sampled_from(ORDERS))
def test_renyi_divergence_is_infinite_when_q_misses_an_outcome(pair: Pair, order: Number) -> None:
    p, q = pair
    missed = any(p[x] and not q[x] for x in p)
    assert (renyi_divergence(p, q, order=order).upper == math.inf) == missed
    assert (renyi_moment(p, q, order=2) == math.inf) == missed


def test_long_tables_and_orders_leave_the_exact_road() -> None:
    size = 500
    p = {x: Fraction(2 * (x + 1), size * (size + 1)) for x in range(size)}
    q = dict.fromkeys(range(size), Fraction(1, size))
    bounds = [renyi_divergence(p, q, order=order) for order in (1, 50, 10**9, math.inf)]
    assert all(lower.upper < higher.lower for lower, higher in itertools.pairwise(bounds))
    assert all(bound.width < Fraction(1, 10**40) for bound in bounds)


@given(st.tuples(tables(5), tables(5)), MAPS, RATIOS)
def test_post_processing_cannot_increase_any_distance(pair: Pair, stochastic: list[Exact], ratio: Fraction) -> None:
    p, q = pair
    after = push(p, stochastic), push(q, stochastic)
    distances: list[Callable[[Exact, Exact], Any]] = [
        statistical_distance,
        lambda p, q: hockey_stick(p, q, ratio=ratio),
        lambda p, q: epsilon_distance_at_ratio(p, q, ratio=ratio),
        lambda p, q: renyi_moment(p, q, order=3),
        lambda p, q: privacy_curve(p, q).ratio("0.1"),
    ]
    assert all(distance(*after) <= distance(p, q) for distance in distances)
    for order in ORDERS:
        assert renyi_divergence(*after, order=order).lower <= renyi_divergence(p, q, order=order).upper


@given(st.lists(st.tuples(tables(4), tables(4)), min_size=1, max_size=4), RATIOS)
def test_curve_is_the_best_event_of_all_pairs(pairs: list[Pair], ratio: Fraction) -> None:
    curve = privacy_curve_of(pairs)
    assert curve.delta_at_ratio(ratio) == max(brute_force(p, q, ratio) for p, q in pairs)
    for corner, delta in curve.vertices:
        assert delta == max(brute_force(p, q, corner) for p, q in pairs)
    assert curve.delta_at_ratio(math.inf) == max(brute_force(p, q, Fraction(10**6)) for p, q in pairs)
    assert curve == privacy_curve_of((q, p) for p, q in reversed(pairs))


@given(PAIRS, RATIOS, RATIOS, st.fractions(min_value=0, max_value=1, max_denominator=9))
def test_curve_is_convex_and_decreasing(pair: Pair, s: Fraction, t: Fraction, weight: Fraction) -> None:
    delta_at = privacy_curve(*pair).delta_at_ratio
    middle = weight * s + (1 - weight) * t
    assert delta_at(middle) <= weight * delta_at(s) + (1 - weight) * delta_at(t)
    assert delta_at(max(s, t)) <= delta_at(min(s, t))


@given(PAIRS, DELTAS)
def test_epsilon_and_delta_are_inverse(pair: Pair, delta: Fraction) -> None:
    curve = privacy_curve(*pair)
    ratio = curve.ratio(delta)
    epsilon = curve.epsilon(delta=delta)
    if isinstance(ratio, float):
        assert curve.delta_at_ratio(math.inf) > delta
        assert epsilon.lower == math.inf
        return
    assert curve.delta_at_ratio(ratio) <= delta
    if ratio == 1:
        assert epsilon == Interval(0, 0)
        return
    assert curve.delta_at_ratio(ratio) == delta
    assert curve.delta_at_ratio((1 + ratio) / 2) > delta
    assert encloses(epsilon, mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator))
    assert curve.delta(epsilon=Fraction(epsilon.upper)).lower <= delta
    assert curve.delta(epsilon=Fraction(epsilon.lower)).upper >= delta


@given(PAIRS, RATIOS)
def test_probabilistic_privacy_is_stronger(pair: Pair, ratio: Fraction) -> None:
    """ERRATA 000: "distance <= epsilon with probability 1 - delta" implies (epsilon, delta)-DP."""
    p, q = pair
    exceeds = sum((p[x] for x, loss in privacy_loss(p, q).items() if loss.ratio > ratio), Fraction(0))
    assert hockey_stick(p, q, ratio=ratio) <= exceeds


def test_approximate_privacy_is_not_probabilistic_privacy() -> None:
    """ERRATA 000, the other way round: (ln 2, 1/4)-DP, though the loss exceeds ln 2 with probability 3/4."""
    assert epsilon_distance_at_ratio(TRUTHFUL, LYING, ratio=2) == Fraction(1, 4)
    exceeds = sum(TRUTHFUL[x] for x, loss in privacy_loss(TRUTHFUL, LYING).items() if loss.ratio > 2)
    assert exceeds == Fraction(3, 4)


def test_randomized_response_costs_exactly_ln_3() -> None:
    """Seed 002: with probability 1/2 the truth, otherwise a fair coin."""
    curve = privacy_curve(TRUTHFUL, LYING)
    assert curve == PrivacyCurve(vertices=((Fraction(1), Fraction(1, 2)), (Fraction(3), Fraction(0))))
    assert curve.ratio(0) == 3
    assert encloses(curve.epsilon(delta=0), mpmath.log(3))
    assert curve.epsilon(delta="0.5") == Interval(0, 0)


@pytest.mark.parametrize("size", [1, 2, 10])
def test_releasing_one_record_has_small_statistical_distance_and_infinite_loss(size: int) -> None:
    """Seed 001: San(x) = (j, x_j) for a random j is (0, 1/n)-DP, and no better for any epsilon."""
    share = Fraction(1, size)
    everyone_zero = {(j, 0): share for j in range(size)}
    pairs = [(everyone_zero, {(j, int(i == j)): share for j in range(size)}) for i in range(size)]
    assert all(statistical_distance(p, q) == share for p, q in pairs)
    curve = privacy_curve_of(pairs)
    assert curve == PrivacyCurve(vertices=((Fraction(1), share),))
    assert curve.ratio(share) == 1
    assert curve.ratio(share / 2) == math.inf == curve.epsilon(delta=0).lower


def test_equal_distributions_are_at_distance_zero() -> None:
    curve = privacy_curve(TRUTHFUL, TRUTHFUL)
    assert curve == PrivacyCurve(vertices=((Fraction(1), Fraction(0)),))
    assert all(renyi_divergence(TRUTHFUL, TRUTHFUL, order=order).lower == 0 for order in ORDERS)
    assert curve.epsilon(delta=0) == curve.delta(epsilon=0) == Interval(0, 0)


def test_extreme_numbers() -> None:
    tiny = Fraction(1, 2**4000)
    curve = privacy_curve({0: tiny, 1: 1 - tiny}, {0: tiny**2, 1: 1 - tiny**2})
    assert curve.ratio(0) == 2**4000
    assert curve.delta(epsilon=10**9).upper < tiny  # beyond 10**1000, ratios are reported as infinite
    assert curve.delta_at_ratio(Fraction(curve.ratio(tiny / 3))) == tiny / 3
    assert Fraction(1, 2) in privacy_curve(TRUTHFUL, LYING).delta(epsilon="1e-70")


def test_a_curve_of_many_outcomes() -> None:
    size = 20_000
    p = {x: Fraction(2 * (x + 1), size * (size + 1)) for x in range(size)}
    q = {x: Fraction(2 * (size - x), size * (size + 1)) for x in range(size)}
    curve = privacy_curve(p, q)
    assert curve.ratio(0) == size
    assert len(curve.vertices) > size // 4


BAD_TABLES: list[tuple[object, str]] = [
    ({"a": -1, "b": 2}, "p['a']"),
    ({"a": Fraction(-1, 2), "b": Fraction(3, 2)}, "p['a']"),
    ({"a": math.nan}, "p['a']"),
    ({"a": math.inf}, "p['a']"),
    ({"a": True}, "p['a']"),
    ({"a": "half"}, "p['a']"),
    ({"a": None}, "p['a']"),
    ({"a": "1/2"}, "p"),
    ({"a": 1, "b": "1e-9"}, "p"),
    (dict.fromkeys(range(10), 0.1), "p"),
    ({}, "p"),
    ([("a", 1)], "p"),
    (None, "p"),
]


@pytest.mark.parametrize(("table", "field"), BAD_TABLES)
def test_bad_tables_are_refused_by_name(table: Any, field: str) -> None:
    calls: list[Callable[[Any, Any], object]] = [
        privacy_loss,
        statistical_distance,
        privacy_curve,
        lambda p, q: hockey_stick(p, q, ratio=1),
        lambda p, q: epsilon_distance_at_ratio(p, q, ratio=1),
        lambda p, q: epsilon_distance(p, q, epsilon=1),
        lambda p, q: renyi_divergence(p, q, order=2),
        lambda p, q: renyi_moment(p, q, order=2),
    ]
    for call in calls:
        with pytest.raises(InvalidParameter) as caught:
            call(table, TRUTHFUL)
        assert caught.value.field == field


def test_bad_numbers_are_refused_by_name() -> None:
    curve = privacy_curve(TRUTHFUL, LYING)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("ratio", lambda: hockey_stick(TRUTHFUL, LYING, ratio=-1)),
        ("ratio", lambda: epsilon_distance_at_ratio(TRUTHFUL, LYING, ratio="0.9")),
        ("ratio", lambda: curve.delta_at_ratio(Fraction(1, 2))),
        ("epsilon", lambda: epsilon_distance(TRUTHFUL, LYING, epsilon=-1)),
        ("epsilon", lambda: curve.delta(epsilon=math.inf)),
        ("delta", lambda: curve.epsilon(delta=Fraction(3, 2))),
        ("delta", lambda: curve.ratio("-0.1")),
        ("order", lambda: renyi_divergence(TRUTHFUL, LYING, order="0.5")),
        ("order", lambda: renyi_divergence(TRUTHFUL, LYING, order=math.nan)),
        ("order", lambda: renyi_moment(TRUTHFUL, LYING, order=Fraction(3, 2))),  # type: ignore[arg-type]
        ("order", lambda: renyi_moment(TRUTHFUL, LYING, order=10**9)),
        ("pairs", lambda: privacy_curve_of([])),
    ]
    for field, call in calls:
        with pytest.raises(InvalidParameter) as caught:
            call()
        assert caught.value.field == field


BAD_VERTICES: list[list[tuple[Any, Any]]] = [
    [],
    [(2, 0)],
    [(1, 2)],
    [(1, -1)],
    [(1, 0), (2, 1)],
    [(1, 1), (1, 0)],
    [(1, 1), (2, Fraction(3, 4)), (3, 0)],
    [(1, 1), (2, Fraction(1, 2)), (3, 0)],
]


@pytest.mark.parametrize("vertices", BAD_VERTICES)
def test_a_curve_that_is_none_is_refused(vertices: list[tuple[Any, Any]]) -> None:
    with pytest.raises(InvalidParameter, match="vertices"):
        PrivacyCurve(vertices=tuple((Fraction(ratio), Fraction(delta)) for ratio, delta in vertices))
    with pytest.raises(InvalidParameter, match="vertices"):
        PrivacyCurve(vertices=((1.0, 0.5),))  # type: ignore[arg-type]


@given(tables(4), st.fractions(min_value=0, max_value=1, max_denominator=9))
def test_subdistributions_may_miss_some_mass(p: Exact, share: Fraction) -> None:
    part = {x: mass * share for x, mass in p.items()}
    assert subdistribution(part) == {x: mass for x, mass in part.items() if mass}
    assume(share < 1)
    with pytest.raises(InvalidParameter, match="add up to 1 -"):
        distribution(part)
