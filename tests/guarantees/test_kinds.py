"""Each kind's privacy curve against closed forms in mpmath, at ordinary and at absurd numbers, and bad input."""

from __future__ import annotations

import itertools
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import FrameType
from typing import Any

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP, RenyiDP
from privately.rounding import Interval, Number
from tests.rounding.truth import encloses, real, truth

LOSSES = st.fractions(min_value=0, max_value=30, max_denominator=10**6)
AMOUNTS = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
EPSILONS = st.fractions(min_value=0, max_value=30, max_denominator=10**6)
INNER = st.fractions(min_value=Fraction(1, 10**9), max_value=1 - Fraction(1, 10**9), max_denominator=10**12)
TINY = st.integers(1, 300).map(lambda exponent: Fraction(1, 10**exponent))
DELTAS = INNER | TINY
ABSOLUTE = Fraction(1, 10**55)
CLOSE = Fraction(1, 10**12)
FEWER = settings(max_examples=settings().max_examples // 5)
"""For what solves a Gaussian curve several times."""


ORDER_LISTS = st.lists(st.fractions(min_value=Fraction(11, 10), max_value=300), min_size=1, max_size=5, unique=True)
FLOORS = st.just(Fraction(0)) | DELTAS


def listed(rho: Fraction, orders: list[Fraction]) -> RenyiDP:
    return RenyiDP(bounds=[(order, order * rho) for order in orders])


STATEMENTS: st.SearchStrategy[Guarantee] = st.one_of(
    st.builds(PureDP, epsilon=AMOUNTS),
    st.builds(ApproxDP, epsilon=AMOUNTS, delta=FLOORS),
    st.builds(ZCDP, rho=AMOUNTS),
    st.builds(ApproxZCDP, rho=AMOUNTS, delta=FLOORS),
    st.builds(GaussianDP, mu=AMOUNTS),
    st.builds(listed, AMOUNTS, ORDER_LISTS),
)


def near(found: Interval, value: Fraction) -> bool:
    """Encloses the value, to 55 digits after the point."""
    return encloses(found, value) and found.width <= ABSOLUTE


# Randomized response: PureDP and ApproxDP


def response_delta(loss: Fraction, epsilon: Fraction) -> Fraction:
    value = truth(lambda: (mpmath.exp(real(loss)) - mpmath.exp(real(epsilon))) / (1 + mpmath.exp(real(loss))))
    return max(value, Fraction(0))


def response_epsilon(loss: Fraction, delta: Fraction) -> Fraction:
    def formula() -> Any:
        inside = mpmath.exp(real(loss)) * (1 - real(delta)) - real(delta)
        return mpmath.log(inside) if inside > 1 else 0

    return truth(formula)


@given(LOSSES, EPSILONS)
def test_pure_delta_is_that_of_randomized_response(loss: Fraction, epsilon: Fraction) -> None:
    assert near(PureDP(epsilon=loss).delta(epsilon=epsilon), response_delta(loss, epsilon))


@given(LOSSES, DELTAS)
@example(Fraction(1), Fraction(1, 2))
@example(Fraction(0), Fraction(1, 10**300))
def test_pure_epsilon_is_that_of_randomized_response(loss: Fraction, delta: Fraction) -> None:
    assert near(PureDP(epsilon=loss).epsilon(delta=delta), response_epsilon(loss, delta))


@given(LOSSES, DELTAS, EPSILONS)
def test_approximate_delta_reveals_all_now_and_then(loss: Fraction, floor: Fraction, epsilon: Fraction) -> None:
    found = ApproxDP(epsilon=loss, delta=floor).delta(epsilon=epsilon)
    assert near(found, floor + (1 - floor) * response_delta(loss, epsilon))


@given(LOSSES, DELTAS, DELTAS)
def test_approximate_epsilon_starts_at_the_floor(loss: Fraction, floor: Fraction, delta: Fraction) -> None:
    found = ApproxDP(epsilon=loss, delta=floor).epsilon(delta=delta)
    if delta < floor:
        assert (found.lower, found.upper) == (math.inf, math.inf)
    elif delta > floor:
        assert near(found, response_epsilon(loss, (delta - floor) / (1 - floor)))


@given(LOSSES, DELTAS)
def test_at_its_own_delta_the_epsilon_is_exact(loss: Fraction, floor: Fraction) -> None:
    assert PureDP(epsilon=loss).epsilon(delta=0) == Interval(loss, loss)
    assert ApproxDP(epsilon=loss, delta=floor).epsilon(delta=floor) == Interval(loss, loss)


@given(LOSSES, EPSILONS, DELTAS)
def test_pure_is_approximate_without_a_delta(loss: Fraction, epsilon: Fraction, delta: Fraction) -> None:
    pure, approximate = PureDP(epsilon=loss), ApproxDP(epsilon=loss, delta=0)
    assert pure.delta(epsilon=epsilon) == approximate.delta(epsilon=epsilon)
    assert pure.epsilon(delta=delta) == approximate.epsilon(delta=delta)


# GaussianDP


def gaussian_delta(mu: Fraction, epsilon: Fraction | float, digits: int = 250) -> Fraction:
    exact = Fraction(epsilon)
    if exact / mu > 10_000 + mu:  # below e^-10,000,000; mpmath would take all memory
        return Fraction(0)

    def formula() -> Any:
        middle, half = real(exact) / real(mu), real(mu) / 2
        upper, lower = (mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (middle - half, middle + half))
        return upper - mpmath.exp(real(exact)) * lower

    return truth(formula, digits)


def brackets(mu: Fraction, delta: Fraction, found: Interval, digits: int = 250) -> bool:
    """The true curve passes delta between the two ends."""
    above = found.lower == 0 or gaussian_delta(mu, found.lower, digits) >= delta
    return above and gaussian_delta(mu, found.upper, digits) <= delta


@FEWER
@given(AMOUNTS, EPSILONS)
def test_gaussian_delta_to_twelve_digits(mu: Fraction, share: Fraction) -> None:
    """The share is epsilon/mu, up to 30: there delta is about 1e-200."""
    epsilon = share * mu
    assert encloses(GaussianDP(mu=mu).delta(epsilon=epsilon), gaussian_delta(mu, epsilon), width=1e-12)


@FEWER
@given(AMOUNTS, DELTAS)
@example(Fraction(1), Fraction(1, 10**100))
@example(Fraction(1, 10), Fraction(1, 10**300))
@example(Fraction(30), Fraction(1, 10**300))
def test_gaussian_epsilon_to_twelve_digits(mu: Fraction, delta: Fraction) -> None:
    found = GaussianDP(mu=mu).epsilon(delta=delta)
    assert brackets(mu, delta, found)
    assert found.width <= CLOSE * found.upper


@pytest.mark.parametrize("mu", ["1e-300", "5e-324", "1e-100", "1e-61", "1e-58", "1e-50", "1e-30", "1e-9"])
@pytest.mark.parametrize("share", ["1e-200", "1e-20", "1e-5", "0.1", "0.398", "0.5", "1000"])
def test_gaussian_epsilon_is_sound_for_tiny_mu(mu: str, share: str) -> None:
    """delta as a share of mu; the curve starts at about 0.3989 mu."""
    delta = Fraction(mu) * Fraction(share)
    assert brackets(Fraction(mu), delta, GaussianDP(mu=mu).epsilon(delta=delta), digits=900)


@pytest.mark.parametrize("mu", [9, 20, 40, 100])
@pytest.mark.parametrize("missing", ["1e-5", "1e-50", "1e-59", "1e-60", "1e-61", "1e-65", "1e-150"])
def test_gaussian_epsilon_is_sound_near_delta_one(mu: int, missing: str) -> None:
    delta = 1 - Fraction(missing)
    assert brackets(Fraction(mu), delta, GaussianDP(mu=mu).epsilon(delta=delta))


@pytest.mark.parametrize("mu", ["1e3", "1e6", "1e9"])
@pytest.mark.parametrize("delta", ["1e-300", "1e-5", "0.5", "0.999"])
def test_gaussian_epsilon_for_huge_mu(mu: str, delta: str) -> None:
    found = GaussianDP(mu=mu).epsilon(delta=delta)
    assert brackets(Fraction(mu), Fraction(delta), found)
    assert found.width <= CLOSE * found.upper


def test_the_gaussian_meets_known_values() -> None:
    """Phi(-1/2) - e Phi(-3/2), and epsilon at 1e-5 as every accountant gives it."""
    assert str(GaussianDP(mu=1).delta(epsilon=1)) == "[0.1269367, 0.1269368]"
    assert str(GaussianDP(mu=1).epsilon(delta="1e-5")) == "[4.377178, 4.377179]"


# ZCDP and ApproxZCDP


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The least over a of a rho + ln((a-1)/a) - (ln delta + ln a)/(a-1): where (a-1)^2 rho = -ln(delta a)."""

    def formula() -> Any:
        strength, log_delta = real(rho), mpmath.log(real(delta))
        low, high = mpmath.mpf(0), -log_delta + 1 + mpmath.sqrt(-log_delta / strength)
        for _ in range(300):
            middle = (low + high) / 2
            falling = middle**2 * strength < -log_delta - mpmath.log1p(middle)
            low, high = (middle, high) if falling else (low, middle)
        order = 1 + high
        return order * strength + mpmath.log(high / order) - (log_delta + mpmath.log(order)) / high

    return max(truth(formula, 80), Fraction(0))


@FEWER
@given(AMOUNTS, DELTAS)
@example(Fraction(1, 2), Fraction(1, 10**5))
def test_concentrated_epsilon_is_the_best_conversion(rho: Fraction, delta: Fraction) -> None:
    best, found = concentrated_epsilon(rho, delta), ZCDP(rho=rho).epsilon(delta=delta)
    assert best * (1 - Fraction(1, 10**60)) <= found.upper <= best * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12)


@FEWER
@given(AMOUNTS, DELTAS)
def test_concentrated_epsilon_is_at_least_that_of_the_gaussian(rho: Fraction, delta: Fraction) -> None:
    gaussian = GaussianDP(mu=2 * rho).epsilon(delta=delta)
    found = ZCDP(rho=2 * rho**2).epsilon(delta=delta)
    assert gaussian.lower * (1 - Fraction(1, 10**9)) <= found.lower <= gaussian.upper <= found.upper


@pytest.mark.parametrize(("delta", "digits"), [("1e-5", "4.728386"), ("1e-6", "5.221534")])
def test_known_values_of_the_tight_conversion(delta: str, digits: str) -> None:
    upper = ZCDP(rho="0.5").epsilon(delta=delta).upper
    assert Fraction(digits) <= upper < Fraction(digits) + Fraction(1, 10**6)


@FEWER
@given(AMOUNTS, INNER)
def test_the_two_upper_curves_are_inverse(rho: Fraction, delta: Fraction) -> None:
    statement = ZCDP(rho=rho)
    epsilon = statement.epsilon(delta=delta).upper
    assert isinstance(epsilon, Fraction)
    if epsilon > 0:
        again = statement.delta(epsilon=epsilon).upper
        assert abs(Fraction(again) - delta) <= delta * Fraction(1, 10**7)


@FEWER
@given(AMOUNTS, DELTAS, EPSILONS)
def test_approximate_concentrated_has_a_floor(rho: Fraction, floor: Fraction, epsilon: Fraction) -> None:
    statement, inner = ApproxZCDP(rho=rho, delta=floor), ZCDP(rho=rho)
    found, pure = statement.delta(epsilon=epsilon), inner.delta(epsilon=epsilon)
    for end, below in zip(found, pure, strict=True):
        assert abs(Fraction(end) - (floor + (1 - floor) * Fraction(below))) <= ABSOLUTE
    assert statement.epsilon(delta=floor).lower == math.inf
    assert statement.epsilon(delta=floor / 2).lower == math.inf
    assert statement.epsilon(delta=(1 + floor) / 2) == inner.epsilon(delta=Fraction(1, 2))


# RenyiDP


@FEWER
@given(AMOUNTS, ORDER_LISTS, DELTAS, EPSILONS)
def test_listed_orders_never_say_more_than_all_orders(
    rho: Fraction, orders: list[Fraction], delta: Fraction, epsilon: Fraction
) -> None:
    few, all_orders = listed(rho, orders), ZCDP(rho=rho)
    slack = 1 + Fraction(1, 10**9)
    assert few.epsilon(delta=delta).upper * slack + CLOSE >= all_orders.epsilon(delta=delta).upper
    assert few.delta(epsilon=epsilon).upper * slack >= all_orders.delta(epsilon=epsilon).upper


@FEWER
@given(AMOUNTS, ORDER_LISTS, DELTAS)
def test_a_gaussian_within_the_bounds_is_below(rho: Fraction, orders: list[Fraction], delta: Fraction) -> None:
    found = listed(2 * rho**2, orders).epsilon(delta=delta)
    assert found.lower <= GaussianDP(mu=2 * rho).epsilon(delta=delta).upper
    assert GaussianDP(mu=2 * rho).epsilon(delta=delta).lower <= found.upper


def test_at_delta_zero_only_a_bound_of_zero_is_enough() -> None:
    """A Gaussian mechanism stays within positive bounds and has no epsilon; a divergence of 0 means equal laws."""
    assert RenyiDP(bounds=[(2, 1)]).epsilon(delta=0) == Interval(math.inf, math.inf)
    assert RenyiDP(bounds=[(2, 0), (8, 5)]).epsilon(delta=0) == Interval(0, 0)
    assert RenyiDP(bounds=[(2, 0), (8, 5)]).delta(epsilon=0) == Interval(0, 0)


# All kinds


@given(STATEMENTS, DELTAS, DELTAS)
def test_epsilon_decreases(statement: Guarantee, first: Fraction, second: Fraction) -> None:
    few, many = [statement.epsilon(delta=delta) for delta in sorted((first, second))]
    assert few.lower <= few.upper
    slack = 1 + Fraction(1, 10**9)
    assert few.upper * slack + CLOSE >= many.upper
    assert few.lower * slack + CLOSE >= many.lower


@given(STATEMENTS, EPSILONS, EPSILONS)
def test_delta_decreases(statement: Guarantee, first: Fraction, second: Fraction) -> None:
    few, many = (statement.delta(epsilon=epsilon) for epsilon in sorted((first, second)))
    assert 0 <= few.lower <= few.upper <= 1
    slack = 1 + Fraction(1, 10**9)
    assert few.upper * slack + CLOSE >= many.upper
    assert few.lower * slack + CLOSE >= many.lower


@given(STATEMENTS, DELTAS)
def test_epsilon_and_delta_are_inverse_up_to_width(statement: Guarantee, delta: Fraction) -> None:
    found = statement.epsilon(delta=delta)
    if found.upper <= 10**9:
        assert statement.delta(epsilon=Fraction(found.upper)).lower <= delta
    if 0 < found.lower <= 10**9:
        assert statement.delta(epsilon=Fraction(found.lower)).upper >= delta


@given(STATEMENTS)
def test_everything_holds_at_delta_one(statement: Guarantee) -> None:
    assert statement.epsilon(delta=1) == Interval(0, 0)


@given(DELTAS, EPSILONS)
def test_nothing_is_revealed_by_zero(delta: Fraction, epsilon: Fraction) -> None:
    for silent in (PureDP(epsilon=0), ZCDP(rho=0), GaussianDP(mu=0), ApproxDP(epsilon=0, delta=0)):
        assert silent.epsilon(delta=0) == silent.epsilon(delta=delta) == Interval(0, 0)
        assert silent.delta(epsilon=epsilon) == Interval(0, 0)


@pytest.mark.parametrize("statement", [ZCDP(rho=1), GaussianDP(mu=1), ApproxZCDP(rho=1, delta=0)])
def test_no_epsilon_is_enough_at_delta_zero(statement: Guarantee) -> None:
    assert statement.epsilon(delta=0) == Interval(math.inf, math.inf)


@pytest.mark.parametrize("statement", [ApproxDP(epsilon=1, delta=1), ApproxZCDP(rho=1, delta=1)])
def test_delta_one_promises_nothing(statement: Guarantee) -> None:
    assert statement.epsilon(delta="0.999") == Interval(math.inf, math.inf)
    assert statement.delta(epsilon=100) == Interval(1, 1)


# Absurd numbers must be answered, in bounded time

AMOUNTS_TO_THE_EDGE: list[Number] = ["1e-1000", "1e-400", 5e-324, "1e-300", "1e-100", "1e-58", "1e-20", 1, "1e6", "1e9"]
DELTAS_TO_THE_EDGE: list[Number] = [
    "1e-1000",
    "1e-300",
    5e-324,
    "1e-75",
    "1e-5",
    0.5,
    1 - 2**-53,
    1 - Fraction(1, 10**300),
]
EPSILONS_TO_THE_EDGE: list[Number] = ["1e-1000", "1e-400", 5e-324, "1e-20", 1, 1000, "1e9"]
NEAR_ONE: list[Number] = [
    "1.0000001",
    "1.00000000000000000001",
    "1.00000000000000000002",
    1 + Fraction(1, 10**300),
    1 + Fraction(1, 10**400),
]


def edge_cases() -> Iterator[Guarantee]:
    for amount in AMOUNTS_TO_THE_EDGE:
        yield from (PureDP(epsilon=amount), ZCDP(rho=amount), GaussianDP(mu=amount))
        yield from (ApproxDP(epsilon=amount, delta="1e-1000"), ApproxZCDP(rho=amount, delta="1e-1000"))
        yield RenyiDP(bounds=[(order, amount) for order in (*NEAR_ONE, "2", 10**9)])
        yield from (RenyiDP(bounds=[(order, amount)]) for order in (*NEAR_ONE, 10**9))
        yield from (RenyiDP(bounds=[(x, amount), (y, amount)]) for x, y in itertools.pairwise(NEAR_ONE))


@contextmanager
def within(seconds: float) -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("statement", list(edge_cases()), ids=repr)
def test_absurd_numbers_are_answered(statement: Guarantee) -> None:
    with within(20):
        for delta in DELTAS_TO_THE_EDGE:
            assert statement.epsilon(delta=delta).lower >= 0
        for epsilon in EPSILONS_TO_THE_EDGE:
            assert statement.delta(epsilon=epsilon).upper <= 1


# Bad input

NO_NUMBERS: list[Any] = [
    *(None, True, False, "", "many", "1/0", "0x1", "1e99999", "٣", b"1", [1], {}, 1j, object()),
    *(float("nan"), float("inf"), -float("inf"), "nan", "inf", "-inf", "Infinity"),
    *(10**10_000, Fraction(10**10_000, 3), Fraction(1, 10**10_000), "9" * 10_000, "0." + "3" * 10_000),
]
NO_AMOUNTS: list[Any] = [*NO_NUMBERS, -1, "-0.1", -5e-324, Fraction(-1, 3), 10**9 + 1, "1e10"]
NO_DELTAS: list[Any] = [*NO_NUMBERS, -1, "-1e-9", "1.0000001", 2, 1 + 2**-52]
NO_ORDERS: list[Any] = [*NO_NUMBERS, 0, 1, "1", -2, 0.5, 10**9 + 1]


def refused(make: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", NO_AMOUNTS, ids=itertools.count())
def test_bad_amounts(value: Any) -> None:
    refused(lambda: PureDP(epsilon=value), "epsilon")
    refused(lambda: ApproxDP(epsilon=value, delta=0), "epsilon")
    refused(lambda: ZCDP(rho=value), "rho")
    refused(lambda: ApproxZCDP(rho=value, delta=0), "rho")
    refused(lambda: GaussianDP(mu=value), "mu")
    refused(lambda: RenyiDP(bounds=[(2, value)]), "bounds.bound")
    refused(lambda: PureDP(epsilon=1).delta(epsilon=value), "epsilon")


@pytest.mark.parametrize("value", NO_DELTAS, ids=itertools.count())
def test_bad_deltas(value: Any) -> None:
    refused(lambda: ApproxDP(epsilon=1, delta=value), "delta")
    refused(lambda: ApproxZCDP(rho=1, delta=value), "delta")
    refused(lambda: GaussianDP(mu=1).epsilon(delta=value), "delta")


@pytest.mark.parametrize("value", NO_ORDERS, ids=itertools.count())
def test_bad_orders(value: Any) -> None:
    refused(lambda: RenyiDP(bounds=[(value, 1)]), "bounds.order")
    refused(lambda: RenyiDP(bounds=[(3, 1), (value, 1)]), "bounds.order")


@pytest.mark.parametrize(
    "bounds",
    [
        *(None, 2, 2.5, "", "ab", "abc", b"ab", {}, [], [2], [(2,)], [(2, 1, 0)], [2, 1], [None], object(), int),
        *({2: 1, "2": 1}, {2: 1, 2.5: 1, "5/2": 2}, [(2, 1), (2, 1)], dict.fromkeys(range(2, 1003), 1)),
    ],
    ids=itertools.count(),
)
def test_bad_bounds(bounds: Any) -> None:
    refused(lambda: RenyiDP(bounds=bounds), "bounds")


def test_endless_bounds_are_refused() -> None:
    with within(2):
        refused(lambda: RenyiDP(bounds=((order, 1) for order in itertools.count(2))), "bounds")


def test_a_thousand_orders_are_allowed() -> None:
    assert len(RenyiDP(bounds=[(order, 1) for order in range(2, 1002)]).parameters["bounds"]) == 1000


@pytest.mark.parametrize("neighbors", [None, "replace", "add_remove", 1, object, {}])
def test_bad_neighbors(neighbors: Any) -> None:
    refused(lambda: PureDP(epsilon=1, neighbors=neighbors), "neighbors")
    refused(lambda: RenyiDP(bounds=[(2, 1)], neighbors=neighbors), "neighbors")
