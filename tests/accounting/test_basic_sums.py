"""Basic composition of the answers for single steps."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.answers import _anyhow
from privately.accounting.basic_sums import basic_sum, rarely_shown
from privately.accounting.questions import DeltaAt, EpsilonAt

NARROW = Fraction(1, 10**6)


def sampled(event: acc.Event, rate: str, times: int) -> acc.Event:
    return acc.Repeat(event=acc.PoissonSample(event=event, rate=rate), times=times)


@pytest.mark.parametrize("times", [2, 20])
def test_no_less_than_the_truth(times: int) -> None:
    event = acc.Sequence(events=[sampled(acc.Gaussian(noise_multiplier=1), "0.01", times), acc.Laplace(scale=5)])
    epsilon, delta = EpsilonAt(Fraction(1, 10**6), NARROW), DeltaAt(Fraction(1), NARROW)
    for question in (epsilon, delta):
        found = basic_sum(event, question, _anyhow)
        assert found is not None
        assert found.upper >= _anyhow(event, question).upper
        assert found.lower == 0


def test_a_step_that_is_left_out_would_be_missed() -> None:
    """Where everything is revealed or nothing, all steps together are nearly the sum."""
    rate, chance, times = Fraction(1, 100), Fraction(1, 10**4), 50
    event = sampled(acc.Approx(epsilon=0, delta=chance), "0.01", times)
    truth = 1 - (1 - rate * chance) ** times
    found = basic_sum(event, DeltaAt(Fraction(1), NARROW), _anyhow)
    fewer = basic_sum(
        sampled(acc.Approx(epsilon=0, delta=chance), "0.01", times - 1), DeltaAt(Fraction(1), NARROW), _anyhow
    )
    assert found is not None
    assert fewer is not None
    assert fewer.upper < truth <= found.upper


@pytest.mark.slow
def test_rare_samples_of_statements_cost_no_more() -> None:
    """Renyi divergences say 0.09 and 1.5."""
    assert acc.epsilon(sampled(acc.ZCDP(rho="0.1"), "1e-4", 5), delta="1e-6").upper < Fraction(13, 10**4)
    assert acc.epsilon(sampled(acc.Renyi(bounds={8: 1}), "0.001", 2), delta="1e-6").upper < Fraction(85, 10**4)


def test_hardly_any_samples_cost_nothing() -> None:
    assert acc.epsilon(sampled(acc.ZCDP(rho=1), "1e-9", 10), delta="1e-6").upper == 0


@pytest.mark.slow
def test_hardly_any_samples_reveal_anything() -> None:
    assert acc.delta(sampled(acc.ZCDP(rho=1), "1e-9", 10), epsilon="0.01").upper <= Fraction(1, 10**8)


def test_what_has_one_step_or_no_samples_is_left_alone() -> None:
    question = EpsilonAt(Fraction(1, 10**6), NARROW)
    zcdp = acc.ZCDP(rho=1)
    parts = acc.Parallel(events=[acc.Laplace(scale=1), acc.Gaussian(noise_multiplier=1)])
    chosen = acc.Sequence(events=[acc.Repeat(event=parts, times=2), sampled(zcdp, "0.1", 2)])
    for event in (zcdp, acc.Repeat(event=zcdp, times=3), sampled(zcdp, "0.1", 1), chosen):
        assert basic_sum(event, question, _anyhow) is None


@pytest.mark.parametrize("rate", ["0.001", "0.01"])
def test_delta_covers_what_samples_show(rate: str) -> None:
    """Noise beside them reveals nothing at 2 Phi(1/4) - 1 = 0.19741 and more, and two samples add at most twice the
    rate; below it they do not make anything better.
    """
    noise = acc.Gaussian(noise_multiplier=2)
    event = acc.Sequence(events=[noise, sampled(acc.ZCDP(rho="0.01"), rate, 2)])
    assert acc.epsilon(event, delta="0.25").upper == 0
    below = acc.epsilon(event, delta="0.19")
    assert below.upper >= acc.epsilon(noise, delta="0.19").lower
    assert rarely_shown(event, EpsilonAt(Fraction(1, 10**6), NARROW), _anyhow) is None  # they show more than that
    assert rarely_shown(event, DeltaAt(Fraction(1), NARROW), _anyhow) is None
    assert rarely_shown(noise, EpsilonAt(Fraction(1, 4), NARROW), _anyhow) is None


def test_what_samples_show_is_paid_for() -> None:
    """An (epsilon, delta) of which a part is theirs: as for the noise at what is left of delta, and no less."""
    one = acc.PoissonSample(event=acc.Pure(epsilon=1), rate="0.01")
    event, noise = acc.Sequence(events=[acc.Laplace(scale=1), one]), acc.Laplace(scale=1)
    shown = acc.delta(one, 0).upper
    found = rarely_shown(event, EpsilonAt(Fraction(1, 10), NARROW), _anyhow)
    assert found is not None
    assert found.upper == acc.epsilon(noise, delta=Fraction(1, 10) - Fraction(shown), width=NARROW).upper
    assert found.upper >= acc.epsilon(event, delta="0.1").lower
