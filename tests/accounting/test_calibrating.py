"""The parameter found is on the safe side, and no better one is far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.errors import InvalidParameter

Make = Callable[[float], acc.Event]


def steps(noise: Any, rate: Any, times: Any) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=acc.Gaussian(noise_multiplier=noise), rate=rate), times=times)


@pytest.mark.parametrize(
    ("make", "epsilon", "delta", "expected"),
    [
        (lambda noise: steps(noise, "0.01", 1000), 1, "1e-5", 1.41462),
        (lambda noise: steps(noise, "0.01", 10**4), 3, "1e-6", 1.70828),
        (lambda noise: steps(noise, "0.01", 10**4), 8, "1e-5", 0.88253),
        (lambda noise: acc.Gaussian(noise_multiplier=noise), 1, "1e-5", 3.73063),
        (lambda scale: acc.Laplace(scale=scale), "0.001", 0, 1000.0),
        (lambda scale: acc.Laplace(scale=scale), 10**6, 0, 1e-6),
        (lambda epsilon: acc.Repeat(event=acc.Pure(epsilon=epsilon), times=50), 1, 0, 0.02),
    ],
)
def test_known_noise(make: Make, epsilon: Any, delta: Any, expected: float) -> None:
    found = acc.calibrate(make, epsilon=epsilon, delta=delta)
    assert found == pytest.approx(expected, rel=2e-5)
    assert acc.epsilon(make(found), delta).upper <= Fraction(epsilon)


@pytest.mark.parametrize("precision", ["0.1", "1e-3", "1e-8"])
def test_the_precision_is_kept(precision: str) -> None:
    found = acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon="0.3", precision=precision)
    assert 1 / 0.3 <= found <= 1 / 0.3 * (1 + float(precision))


def test_rates_rise() -> None:
    found = acc.calibrate(lambda rate: steps(1, rate, 10**4), epsilon=2, delta="1e-5")
    assert acc.epsilon(steps(1, found, 10**4), "1e-5").upper <= 2
    assert acc.epsilon(steps(1, found * 1.0001, 10**4), "1e-5").lower > 2


def test_parameters_that_begin_far_from_1() -> None:
    found = acc.calibrate(lambda x: acc.PoissonSample(event=acc.Laplace(scale=1), rate=1000 * x), epsilon="0.1")
    rate = Fraction(1000 * found)
    assert math.log(1 - rate + rate * Fraction(math.e)) == pytest.approx(0.1, rel=1e-4)


def test_the_dearest_parameter_there_is() -> None:
    assert acc.calibrate(lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate), epsilon=2) == 1
    assert acc.calibrate(lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate / 4), epsilon=2) == (
        pytest.approx(4, rel=1e-4)
    )


def test_promises_of_any_size() -> None:
    assert acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=2**29) == pytest.approx(2.0**-29, rel=1e-4)
    assert acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=10**400) == pytest.approx(1e-9, rel=1e-4)


def test_whole_numbers_of_steps() -> None:
    found = acc.calibrate(lambda times: steps(1, "0.01", times), epsilon=2, delta="1e-5", whole=True)
    assert isinstance(found, int)
    assert acc.epsilon(steps(1, "0.01", found), "1e-5").upper <= 2
    assert acc.epsilon(steps(1, "0.01", found + 1), "1e-5").upper > 2


def test_parameters_that_end() -> None:
    """The best rate is just below the largest there is."""
    found = acc.calibrate(
        lambda rate: acc.PoissonSample(event=acc.Laplace(scale=1), rate=rate), epsilon=math.log(0.05 + 0.95 * math.e)
    )
    assert found == pytest.approx(0.95, rel=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: acc.Pure(epsilon=1), "all of the parameters"),
        (lambda _: acc.Pure(epsilon=3), "none of the parameters"),
        (lambda _: "laplace", "is no event"),
        (lambda s: acc.Laplace(scale=-s), "scale"),
        (3, "function"),
    ],
)
def test_what_cannot_be_found(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        acc.calibrate(make, epsilon=2)


@pytest.mark.parametrize("bad", [{"epsilon": -1}, {"epsilon": math.nan}, {"epsilon": 1, "delta": 2}])
def test_bad_promises(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        acc.calibrate(lambda s: acc.Laplace(scale=s), **bad)


def test_a_promise_of_nothing() -> None:
    with pytest.raises(InvalidParameter, match="none of the parameters"):
        acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=0)


def test_precision_has_limits() -> None:
    with pytest.raises(InvalidParameter):
        acc.calibrate(lambda s: acc.Laplace(scale=s), epsilon=1, precision="1e-20")
