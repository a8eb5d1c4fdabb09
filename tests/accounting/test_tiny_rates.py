"""Samples so rare that their rates are no floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privately import accounting as acc
from privately.accounting.tiny_rates import TINY, has_tiny_rates, without_tiny_rates
from privately.errors import NoSuchRule

BASES: list[acc.Event] = [
    acc.Gaussian(noise_multiplier=1),
    acc.Laplace(scale=1),
    acc.Pure(epsilon=1),
    acc.RandomizedResponse(epsilon=1),
    acc.Exponential(epsilon=1),
    acc.Approx(epsilon=1, delta="1e-9"),
    acc.ZCDP(rho=1),
]


def sampled(event: acc.Event, rate: Any) -> acc.Event:
    return acc.PoissonSample(event=event, rate=rate)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("rate", ["1e-400", "1e-320"])
def test_they_have_answers(base: acc.Event, rate: str) -> None:
    event = acc.Repeat(event=sampled(base, rate), times=100)
    assert acc.epsilon(event, delta="1e-6").upper == 0
    assert acc.delta(event, epsilon=1).upper < Fraction(1, 10**190)


def test_between_a_float_and_nothing() -> None:
    noise = acc.Gaussian(noise_multiplier=1)
    event = acc.Sequence(events=[noise, acc.Repeat(event=sampled(acc.Laplace(scale=1), "1e-300"), times=3)])
    above, below = (without_tiny_rates(event, upward=upward) for upward in (True, False))
    assert has_tiny_rates(event)
    assert not has_tiny_rates(above)
    assert not has_tiny_rates(below)
    assert above == acc.Sequence(events=[noise, acc.Repeat(event=sampled(acc.Laplace(scale=1), TINY), times=3)])
    assert acc.epsilon(below, delta="1e-6").lower <= acc.epsilon(event, delta="1e-6").lower
    alone = acc.epsilon(noise, delta="1e-6")
    found = acc.epsilon(event, delta="1e-6")
    assert alone.lower <= found.upper <= alone.upper * (1 + Fraction(1, 10**5))


def test_samples_of_samples() -> None:
    twice = sampled(sampled(acc.Gaussian(noise_multiplier=1), "1e-150"), "1e-150")
    assert has_tiny_rates(twice)
    assert not has_tiny_rates(sampled(acc.Gaussian(noise_multiplier=1), "1e-150"))
    assert not has_tiny_rates(sampled(acc.Gaussian(noise_multiplier=1), 0))
    assert acc.epsilon(twice, delta="1e-9").upper == 0
    assert not has_tiny_rates(without_tiny_rates(twice, upward=True))


def test_certificates_of_them_are_refused() -> None:
    with pytest.raises(NoSuchRule, match="larger rate"):
        acc.derive(acc.Repeat(event=sampled(acc.ZCDP(rho=1), "1e-400"), times=100), delta="1e-6")
