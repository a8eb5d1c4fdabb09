"""The largest loss, against the largest ratio of probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting.compositions import Composition, compositions
from privately.accounting.events import (
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
    Sequence,
)
from privately.accounting.extremes import largest_loss, roughly_largest

QUARTER = Fraction(1, 4)


def largest(event: Event) -> list[float]:
    """One for each direction; infinity where there is none."""
    found = [largest_loss(one) for one in compositions(event)]
    return [math.inf if one is None else float(one.upper) for one in found]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Laplace(scale=2), [0.5]),
        (DiscreteLaplace(scale=4, sensitivity=3), [0.75]),
        (RandomizedResponse(epsilon=1, categories=5), [1.0]),
        (Repeat(event=Pure(epsilon="0.1"), times=10), [1.0]),
        (Sequence(events=[Laplace(scale=1), Pure(epsilon=2)]), [3.0]),
        (Gaussian(noise_multiplier=3), [math.inf]),
    ],
)
def test_largest_losses(event: Event, expected: list[float]) -> None:
    assert largest(event) == pytest.approx(expected, rel=1e-15)


def test_rational_losses_add_up_exactly() -> None:
    event = Sequence(events=[Repeat(event=Laplace(scale=7), times=3), Repeat(event=Pure(epsilon="1/7"), times=4)])
    (found,) = (largest_loss(one) for one in compositions(event))
    assert found is not None
    assert found.lower == found.upper == 1


def test_many_denominators_are_rounded() -> None:
    """Exactly, the sum would have 2,000 digits."""
    (found,) = (
        largest_loss(one) for one in compositions(Sequence(events=[Laplace(scale=scale) for scale in range(1, 5000)]))
    )
    assert found is not None
    assert found.lower <= sum(1 / Fraction(scale) for scale in range(1, 5000)) <= found.upper
    assert found.upper - found.lower < 1e-50


@pytest.mark.parametrize("base", [Laplace(scale=1), DiscreteLaplace(scale=1), Pure(epsilon=1)])
def test_sampling_changes_both_directions_differently(base: Event) -> None:
    remove = math.log(0.75 + 0.25 * math.e)
    add = -math.log(0.75 + 0.25 / math.e)
    assert sorted(largest(PoissonSample(event=base, rate=QUARTER))) == pytest.approx(sorted([remove, add]))


@pytest.mark.parametrize("sensitivity", [10**9, 10**18])
def test_losses_beyond_all_exponents(sensitivity: int) -> None:
    noise = PoissonSample(event=DiscreteLaplace(scale="1e-9", sensitivity=sensitivity), rate=QUARTER)
    assert sorted(largest(noise)) == pytest.approx([-math.log(0.75), sensitivity * 1e9])


def test_a_sampled_gaussian_is_bounded_in_one_direction() -> None:
    found = largest(PoissonSample(event=Gaussian(noise_multiplier=1), rate=QUARTER))
    assert sorted(found) == pytest.approx([-math.log(0.75), math.inf])


def test_nothing_has_no_loss() -> None:
    total = largest_loss(Composition())
    assert total is not None
    assert total.upper == 0


def test_the_rough_one_is_never_much_more() -> None:
    """So that nothing is missed when it is used to see whether the exact one is worth its time."""
    for rate in (QUARTER, Fraction(1, 10**6), 1 - Fraction(1, 10**6)):
        remove, add = compositions(Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=1), rate=rate), times=50))
        exact = largest_loss(add)
        assert exact is not None
        assert roughly_largest(add) == pytest.approx(float(exact.upper), rel=1e-6)
        assert largest_loss(remove) is None
    assert roughly_largest(Composition()) == 0
    (laplace,) = compositions(Repeat(event=Laplace(scale=3), times=600))
    assert roughly_largest(laplace) == pytest.approx(200)
