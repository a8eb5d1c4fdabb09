"""Compositions of samples of statements."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.sampled_games import composed
from privately.accounting.sampled_games.road import METHOD
from privately.accounting.which_road import of_worst_soon

AT = EpsilonAt(Fraction(1, 10**4), Fraction(1, 10**6))
SAMPLE = acc.PoissonSample(event=acc.Exponential(epsilon=1), rate="0.2")
TWICE = acc.Repeat(event=SAMPLE, times=2)


def test_one_step_is_the_sample() -> None:
    """Which is known exactly: delta = q D, D = (e^(1/2) - e^(x/2))^2/(e - 1) at e^x = 1 + (e^epsilon - 1)/q."""
    found = composed(SAMPLE, AT, of_worst_soon)
    one = acc.epsilon(acc.Exponential(epsilon=1), Fraction(1, 2000))
    exact = math.log1p(0.2 * math.expm1(float(one.lower)))
    assert found is not None
    assert found.method == METHOD
    assert float(found.lower) <= exact <= float(found.upper) < exact * 1.005


def test_two_steps_are_narrow() -> None:
    """And above any one pair twice; delta and epsilon agree."""
    found = acc.epsilon(TWICE, "1e-4")
    assert found.method == METHOD
    assert found.upper < found.lower * Fraction(102, 100)
    within = acc.epsilon(
        acc.Repeat(event=acc.PoissonSample(event=acc.Pure(epsilon="0.5"), rate="0.2"), times=2), "1e-4"
    )
    pure = acc.epsilon(acc.Repeat(event=acc.PoissonSample(event=acc.Pure(epsilon=1), rate="0.2"), times=2), "1e-4")
    assert within.lower < found.upper < pure.lower
    back = composed(TWICE, DeltaAt(Fraction(found.upper), Fraction(1, 10**6)), of_worst_soon)
    assert back is not None
    assert back.lower <= Fraction(1, 10**4) <= back.upper * Fraction(11, 10)


def test_other_events_are_left_alone() -> None:
    for event in (acc.ZCDP(rho=1), acc.Gaussian(noise_multiplier=1), acc.Group(event=TWICE, size=2)):
        assert composed(event, AT, of_worst_soon) is None
    assert composed(TWICE, EpsilonAt(Fraction(0), Fraction(1, 10**6)), of_worst_soon) is None


@pytest.mark.slow
def test_beside_others() -> None:
    """More than without, and about what both cost together."""
    beside = acc.Sequence(events=[TWICE, acc.Gaussian(noise_multiplier=2)])
    found, alone = acc.epsilon(beside, "1e-4"), acc.epsilon(TWICE, "1e-4")
    noise = acc.epsilon(acc.Gaussian(noise_multiplier=2), "1e-4")
    assert max(alone.upper, noise.upper) < found.lower <= found.upper < alone.lower + noise.lower
    assert found.upper < found.lower * Fraction(101, 100)


@pytest.mark.slow
def test_statements_on_samples() -> None:
    """Between normal noise, which is allowed, and what divergences say."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho="0.5"), rate="0.2"), times=2)
    found = acc.epsilon(event, "1e-4")
    normal = acc.epsilon(acc.Repeat(event=acc.PoissonSample(event=acc.GaussianDP(mu=1), rate="0.2"), times=2), "1e-4")
    assert normal.upper < found.lower <= found.upper < acc.epsilon(event, "1e-4", method="renyi").upper
    assert found.upper < found.lower * Fraction(101, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "times", "share"), [("0.05", 400, 1.003), ("0.001", 10**5, 1.006)])
def test_long_runs(rate: str, times: int, share: float) -> None:
    """Above one pair for all steps, and hardly; steps that are played, and jumps for all others."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.Exponential(epsilon=1), rate=rate), times=times)
    found = acc.epsilon(event, "1e-4")
    assert found.method == METHOD
    assert found.lower < found.upper < float(found.lower) * share
    least = acc.epsilon(
        acc.Repeat(event=acc.PoissonSample(event=acc.Pure(epsilon="0.5"), rate=rate), times=times), "1e-4"
    )
    assert least.lower < found.lower
    assert found.upper < acc.epsilon(event, "1e-4", method="renyi").upper


@pytest.mark.slow
@pytest.mark.parametrize(("rho", "rate", "times", "share"), [("0.5", "0.001", 300, 1.005), ("2", "0.01", 400, 1.02)])
def test_hundreds_of_rare_samples(rho: str, rate: str, times: int, share: float) -> None:
    """One by one; as a long run, in which single large losses hardly count, they would be a fifth apart."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho=rho), rate=rate), times=times)
    found = acc.epsilon(event, "1e-6")
    assert found.lower < found.upper < float(found.lower) * share
    normal = acc.Repeat(
        event=acc.PoissonSample(event=acc.GaussianDP(mu=(2 * float(rho)) ** 0.5), rate=rate), times=times
    )
    assert acc.epsilon(normal, "1e-6").upper < found.lower


@pytest.mark.slow
def test_long_runs_of_statements() -> None:
    """Between normal noise, which is allowed, and what divergences say."""
    event = acc.Repeat(event=acc.PoissonSample(event=acc.ZCDP(rho="0.1"), rate="0.05"), times=1000)
    found = acc.epsilon(event, "1e-4")
    assert found.upper < acc.epsilon(event, "1e-4", method="renyi").upper
    assert found.upper < float(found.lower) * 1.015


@pytest.mark.parametrize(
    ("base", "rates", "delta"),
    [
        (acc.Exponential(epsilon=1), ("0.5", "0.499"), "1e-2"),
        pytest.param(acc.ZCDP(rho="0.1"), ("0.2", "0.199"), "1e-5", marks=pytest.mark.slow),
    ],
    ids=["range", "zcdp"],
)
def test_two_kinds_reveal_no_more_than_the_larger_twice(base: acc.Event, rates: tuple[str, str], delta: str) -> None:
    """A lower end that is above is no strategy of anybody."""
    first, second = (acc.PoissonSample(event=base, rate=rate) for rate in rates)
    twice = acc.epsilon(acc.Repeat(event=first, times=2), delta)
    found = acc.epsilon(acc.Sequence(events=[first, second]), delta)
    assert twice.lower * Fraction(98, 100) < found.lower <= twice.upper
    assert found.upper >= twice.lower * Fraction(99, 100)


@pytest.mark.slow
def test_ten_steps_of_listed_orders() -> None:
    """Narrow, above two of them, and below what divergences say."""
    sample = acc.PoissonSample(event=acc.Renyi(bounds={2: 1, 8: 4, 32: 16}), rate="0.1")
    found, twice = (acc.epsilon(acc.Repeat(event=sample, times=n), "1e-6") for n in (10, 2))
    assert found.method == METHOD
    assert twice.upper < found.lower <= found.upper < found.lower * Fraction(1001, 1000)
    assert found.upper < acc.epsilon(acc.Repeat(event=sample, times=10), "1e-6", method="renyi").upper
