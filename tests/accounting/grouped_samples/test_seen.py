"""What a group sees of an event, sorted."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting import Event
from privately.accounting.grouped_samples.mixtures import Step
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.losses import DiscreteLaplaceLoss, FiniteLoss, GaussianLoss, LaplaceLoss
from privately.accounting.roads import NotApplicable
from privately.errors import NoSuchRule


def sampled(event: Event, rate: str = "0.1") -> Event:
    return acc.PoissonSample(event=event, rate=rate)


def seen(*events: Event, size: int = 3) -> Seen:
    return Seen.of(acc.Group(event=acc.Sequence(events=events), size=size))


def test_what_is_sampled_and_what_is_not() -> None:
    both = acc.Sequence(events=[acc.Gaussian(noise_multiplier=2), acc.GaussianDP(mu=1)])
    steps = acc.Repeat(event=sampled(acc.Pure(epsilon="0.5")), times=7)
    found = seen(sampled(both), sampled(sampled(acc.Laplace(scale=4))), steps, acc.Laplace(scale=6))
    assert found.noises == [
        (Step(GaussianLoss(mu_squared=Fraction(5, 4)), Fraction(1, 10)), 1),
        (Step(LaplaceLoss(epsilon=Fraction(1, 4)), Fraction(1, 100)), 1),
        (Step(DiscreteLaplaceLoss(scale=Fraction(2), sensitivity=1), Fraction(1, 10)), 7),
    ]
    assert found.laws == {LaplaceLoss(epsilon=Fraction(1, 2)): 1}
    assert list(found.splits()) == [(3, 0), (2, 1), (1, 2), (0, 3)]


def test_responses_and_no_noise() -> None:
    """Each removed row and each added one has its own answer; without noise any kept row is seen."""
    response = acc.RandomizedResponse(epsilon=1, categories=3)
    found = seen(acc.Repeat(event=sampled(response), times=2))
    removed, added = found.parted((3, 0), "upper", 64, 1e-20), found.parted((1, 2), "upper", 64, 1e-20)
    assert sorted(removed.laws.values()) == [6]
    assert sorted(added.laws.values()) == [2, 4]
    assert not removed.lists
    bare = seen(sampled(acc.Laplace(scale=0)), sampled(acc.DiscreteGaussian(variance=0)))
    for split, mass, ratio in (((3, 0), 1 - Fraction(9, 10) ** 6, 0.729), ((1, 2), 1 - Fraction(81, 100), 1 / 0.9)):
        parts = bare.parted(split, "lower", 64, 1e-20)
        assert parts.infinite == mass
        ((law, times),) = parts.laws.items()
        assert isinstance(law, FiniteLoss)
        assert times == 2
        assert float(law.atoms()[0][1].lower) == pytest.approx(math.log(ratio))


def test_many_different_noises_are_not_listed_for_many_splits() -> None:
    steps = [sampled(acc.Laplace(scale=scale)) for scale in range(1, 11)]
    with pytest.raises(NotApplicable, match="too many lists"):
        seen(*steps, size=10).parted((10, 0), "upper", 64, 1e-20)
    normal = [sampled(acc.Gaussian(noise_multiplier=noise)) for noise in range(1, 11)]
    with pytest.raises(NotApplicable, match="too many lists"):
        seen(*normal, size=41).parted((41, 0), "upper", 64, 1e-20)


@pytest.mark.parametrize("size", [2, 5])
def test_largest_losses(size: int) -> None:
    step = math.log(0.9 + 0.1 * math.exp(0.5))
    found = seen(
        acc.Repeat(event=sampled(acc.Laplace(scale=2)), times=3),
        sampled(acc.DiscreteLaplace(scale=4, sensitivity=2)),
        sampled(acc.RandomizedResponse(epsilon="0.5", categories=5)),
        acc.Pure(epsilon="0.1"),
        size=size,
    ).largest()
    assert found is not None
    assert float(found.lower) == pytest.approx(size * (5 * step + 0.1))
    for other in (acc.Gaussian(noise_multiplier=1), acc.DiscreteGaussian(variance=1), acc.Gaussian(noise_multiplier=0)):
        assert seen(sampled(acc.Laplace(scale=2)), sampled(other)).largest() is None


@pytest.mark.parametrize(
    "event",
    [
        sampled(acc.ZCDP(rho=1)),
        sampled(acc.Sequence(events=[acc.Laplace(scale=1), acc.Approx(epsilon=1, delta="1e-6")])),
        sampled(acc.Sequence(events=[acc.Laplace(scale=1), acc.Laplace(scale=2)])),
        acc.Sequence(events=[sampled(acc.Laplace(scale=1)), acc.ZCDP(rho=1)]),
        acc.Repeat(event=sampled(acc.Laplace(scale=1)), times=10**7),
        acc.Laplace(scale=1),
        acc.Parallel(events=[sampled(acc.Laplace(scale=1)), acc.Gaussian(noise_multiplier=1)]),
        sampled(acc.Parallel(events=[acc.RandomizedResponse(epsilon=1), acc.Pure(epsilon=1)])),
    ],
)
def test_what_has_no_known_worst_case(event: Event) -> None:
    with pytest.raises((NotApplicable, NoSuchRule)):
        Seen.of(acc.Group(event=event, size=3))


def test_rows_in_several_parts() -> None:
    """For one row a response is as bad as any mechanism of that epsilon; for several the other is worse."""
    response, pure = acc.RandomizedResponse(epsilon=1), acc.Pure(epsilon=1)
    one, both = acc.Group(event=sampled(pure), size=3), acc.Parallel(events=[response, pure])
    found = acc.epsilon(acc.Group(event=sampled(both), size=3), "0.01")
    assert found.upper >= acc.epsilon(one, "0.01").lower
