"""One step of every law, against mpmath and against the definition."""

import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from mpmath import mp

from privately.accounting.closed_forms import single
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
    response,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure
from tests.accounting.closed_forms.true_profiles import holds, many_digits, real, true_delta

RANDOM = random.Random(53)
RATES = [Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**9)]
DELTAS = [Fraction(1, 10**k) for k in (1, 3, 5, 10, 30, 60, 100)]
EPSILONS = [Fraction(text) for text in ("0", "1e-12", "0.004", "0.01", "0.3", "0.69", "1", "3", "12", "40")]
Base = GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss


def number(low: float, high: float) -> Fraction:
    return Fraction(repr(round(10 ** RANDOM.uniform(low, high), 6)))


BASES: list[Base] = [
    GaussianLoss(mu_squared=Fraction(1)),
    GaussianLoss(mu_squared=number(-3, 2)),
    LaplaceLoss(epsilon=Fraction(1)),
    LaplaceLoss(epsilon=number(-3, 2)),
    DiscreteGaussianLoss(variance=Fraction(4), sensitivity=3),
    DiscreteGaussianLoss(variance=Fraction(1, 10), sensitivity=1),
    DiscreteGaussianLoss(variance=number(1, 2.5), sensitivity=7),
    DiscreteLaplaceLoss(scale=Fraction(4), sensitivity=3),
    DiscreteLaplaceLoss(scale=number(-1, 2), sensitivity=20),
]


def sampled(base: Base, rate: Fraction) -> list[Loss]:
    """Both directions, and a sample of fixed size."""
    found: list[Loss] = [GluedLoss(base=base, rate=rate)]
    directions: tuple[Any, ...] = ("remove", "add")
    for direction in directions:
        match base:
            case GaussianLoss(mu_squared=square):
                found.append(SampledGaussianLoss(mu_squared=square, rate=rate, direction=direction))
            case LaplaceLoss(epsilon=epsilon):
                found.append(SampledLaplaceLoss(epsilon=epsilon, rate=rate, direction=direction))
            case DiscreteGaussianLoss(variance=variance, sensitivity=far):
                law: Loss = SampledDiscreteGaussianLoss(
                    variance=variance, sensitivity=far, rate=rate, direction=direction
                )
                found.append(law)
            case DiscreteLaplaceLoss(scale=scale, sensitivity=far):
                law = SampledDiscreteLaplaceLoss(scale=scale, sensitivity=far, rate=rate, direction=direction)
                found.append(law)
    return found


LAWS: list[Loss] = [*BASES, *(law for base in BASES for rate in RATES for law in sampled(base, rate))]


def profile_faults(law: Loss) -> list[Fraction]:
    """At which epsilons the enclosure misses the truth."""
    found = [(epsilon, single.profile(law, epsilon)) for epsilon in EPSILONS]
    with many_digits():
        return [e for e, f in found if not holds(true_delta(law, e), Fraction(f.lower), Fraction(f.upper))]


def inverse_faults(law: Loss) -> list[Fraction]:
    """At which deltas the true profile does not pass between both ends."""
    found = [(delta, *single.inverse(law, delta)) for delta in DELTAS]
    with many_digits():
        return [
            delta
            for delta, lower, upper in found
            if not (lower <= upper and holds(true_delta(law, upper), 0, delta))
            or (lower > 0 and not holds(true_delta(law, lower), delta, 1))
        ]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_profiles_contain_the_truth(law: Loss) -> None:
    assert profile_faults(law) == []


@pytest.mark.thinned(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_inverses_contain_the_truth(law: Loss) -> None:
    assert inverse_faults(law) == []


@pytest.mark.parametrize("law", LAWS[::4], ids=str)
def test_profiles_and_inverses_fall(law: Loss) -> None:
    profiles = [single.profile(law, epsilon) for epsilon in EPSILONS]
    assert all(one.lower <= one.upper for one in profiles)
    assert all(later.lower <= one.upper for one, later in pairwise(profiles))
    inverses = [single.inverse(law, delta) for delta in DELTAS]
    assert all(one[0] <= later[1] for one, later in pairwise(inverses))


@pytest.mark.parametrize("law", LAWS[::2], ids=str)
def test_inverses_are_narrow(law: Loss) -> None:
    for delta in DELTAS[:3]:
        lower, upper = single.inverse(law, delta)
        assert upper - lower <= Fraction(1, 10**9) * max(upper, Fraction(1, 1000))


def densities(base: Base, x: Any) -> tuple[Any, Any]:
    """P and Q at x, up to one factor."""
    match base:
        case GaussianLoss(mu_squared=square):
            return mp.npdf(x, mp.sqrt(real(square)), 1), mp.npdf(x)
        case LaplaceLoss(epsilon=epsilon):
            return mp.exp(-abs(x - real(epsilon))) / 2, mp.exp(-abs(x)) / 2
        case DiscreteGaussianLoss(variance=variance, sensitivity=far):
            return mp.exp(-((x - far) ** 2) / (2 * real(variance))), mp.exp(-(x**2) / (2 * real(variance)))
        case DiscreteLaplaceLoss(scale=scale, sensitivity=far):
            return mp.exp(-abs(x - far) / real(scale)), mp.exp(-abs(x) / real(scale))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("base", [BASES[4], BASES[5], BASES[7]], ids=str)
def test_discrete_profiles_are_those_of_the_definition(base: Base, direction: str) -> None:
    """The sum of max(0, first - alpha second) over all outcomes, whatever their order."""
    rate, epsilon = Fraction(3, 10), Fraction(1, 10)
    law = next(law for law in sampled(base, rate) if getattr(law, "direction", "") == direction)
    with mp.workdps(60):
        both = [densities(base, mp.mpf(k)) for k in range(-700, 701)]
        total, q = sum(second for _, second in both), real(rate)
        mixed = [((1 - q) * b + q * a, b) if direction == "remove" else (a, (1 - q) * a + q * b) for a, b in both]
        truth = sum(max(a - mp.exp(real(epsilon)) * b, 0) for a, b in mixed) / total
        assert abs(truth - true_delta(law, epsilon)) < mp.mpf(10) ** -40


@pytest.mark.thinned(2)
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("base", [BASES[0], BASES[2]], ids=str)
def test_continuous_profiles_are_those_of_the_definition(base: Base, direction: str) -> None:
    rate, epsilon = Fraction(3, 10), Fraction(1, 10)
    law = next(law for law in sampled(base, rate) if getattr(law, "direction", "") == direction)
    with mp.workdps(20):
        q, step = real(rate), mp.mpf(1) / 256

        def above(x: Any) -> Any:
            a, b = densities(base, x)
            first, second = ((1 - q) * b + q * a, b) if direction == "remove" else (a, (1 - q) * a + q * b)
            return max(first - mp.exp(real(epsilon)) * second, 0)

        truth = sum(above((k + mp.mpf(1) / 2) * step) for k in range(-20 * 256, 21 * 256)) * step
        assert abs(truth - true_delta(law, epsilon)) < mp.mpf(10) ** -5


def test_adding_reveals_nothing_beyond_its_largest_loss() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 2), direction="add")
    assert single.profile(law, Fraction(694, 1000)).upper == 0
    assert single.profile(law, Fraction(693, 1000)).lower > 0


def test_rates_below_all_digits_contain_the_truth() -> None:
    rate = Fraction(1, 10**65)
    for law in sampled(BASES[0], rate):
        found = single.profile(law, rate)
        with many_digits():
            assert holds(true_delta(law, rate), Fraction(found.lower), Fraction(found.upper))


def test_deltas_above_the_rate_cost_nothing() -> None:
    for base in BASES:
        for law in sampled(base, Fraction(1, 100)):
            assert single.inverse(law, Fraction(1, 100)) == (Fraction(0), Fraction(0))


def test_what_has_no_closed_form_is_refused() -> None:
    law = response(Fraction(1))
    for ask in (lambda: single.profile(law, Fraction(1)), lambda: single.inverse(law, Fraction(1, 9))):
        with pytest.raises(NotApplicable):
            ask()
    with pytest.raises(NotApplicable):
        single.base_of(law)
    with pytest.raises(NotApplicable):
        single.profile(DiscreteGaussianLoss(variance=Fraction(10) ** 30, sensitivity=1), Fraction(1))


@pytest.mark.parametrize("base", [BASES[0], BASES[2], BASES[4], BASES[7]], ids=str)
@pytest.mark.parametrize("fault", ["wrong direction", "no sampling", "rate squared", "too narrow"])
def test_faults_are_seen(monkeypatch: pytest.MonkeyPatch, base: Base, fault: str) -> None:
    laws = sampled(base, Fraction(1, 2))
    plain, removed = single._plain, single._removed
    match fault:
        case "wrong direction":
            monkeypatch.setattr(single, "_sampled", lambda law, epsilon: removed(base, law.rate, epsilon))
        case "no sampling":
            monkeypatch.setattr(single, "_removed", lambda one, _, epsilon: plain(one, epsilon))
        case "rate squared":
            monkeypatch.setattr(single, "_removed", lambda one, rate, epsilon: removed(one, rate**2, epsilon))
        case "too narrow":  # an enclosure that has lost its upper part
            monkeypatch.setattr(single, "_plain", lambda law, y: plain(law, y) * (1 - Fraction(1, 10**30)))
            monkeypatch.setattr(single, "_between", lambda law, y: single._plain(law, Fraction(y.lower)))
    assert any(profile_faults(law) for law in laws)


@pytest.mark.parametrize("base", [BASES[4], BASES[7]], ids=str)
@pytest.mark.parametrize("step", [-1, 1])
def test_one_outcome_more_or_less_is_seen(monkeypatch: pytest.MonkeyPatch, base: Base, step: int) -> None:
    least = single._least_above
    monkeypatch.setattr(single, "_least_above", lambda law, y: least(law, y) + step)
    assert profile_faults(base)


@pytest.mark.parametrize("base", [BASES[0], BASES[2], BASES[4], BASES[7]], ids=str)
def test_faults_of_inverses_are_seen(monkeypatch: pytest.MonkeyPatch, base: Base) -> None:
    _, remove, add = sampled(base, Fraction(1, 2))
    assert not inverse_faults(remove)
    monkeypatch.setattr(single, "_removed_inverse", single._added_inverse)
    assert inverse_faults(remove)
    monkeypatch.undo()
    monkeypatch.setattr(single, "_added_inverse", single._removed_inverse)
    assert inverse_faults(add)


def test_enclosures_meet_at_0() -> None:
    """Just below and just above 0 the profile is the same number."""
    for base in BASES:
        below, above = (single._plain(base, Fraction(sign, 10**40)) for sign in (-1, 1))
        assert Fraction(abs(below.lower - above.upper)) < Fraction(1, 10**38)
        assert isinstance(below, Enclosure)


QUICK: list[Any] = [
    GaussianLoss(mu_squared=Fraction(1)),
    GaussianLoss(mu_squared=Fraction(1, 30)),
    GaussianLoss(mu_squared=Fraction(40)),
    LaplaceLoss(epsilon=Fraction(1)),
    LaplaceLoss(epsilon=Fraction(1, 50)),
    LaplaceLoss(epsilon=Fraction(30)),
]


@pytest.mark.parametrize("base", QUICK, ids=str)
def test_floats_and_digits_agree(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for rate in RATES[:2]:
        for delta in (rate / 1000, rate / 10**7):
            quick = single._added_inverse(base, rate, delta)
            assert single._added_quickly(base, rate, delta) is not None
            assert quick[1] - quick[0] <= Fraction(1, 10**9) * quick[1]
            with monkeypatch.context() as patched:
                patched.setattr(single, "_added_quickly", lambda *_: None)
                slow = single._added_inverse(base, rate, delta)
            assert slow[0] <= quick[1]
            assert quick[0] <= slow[1]


@pytest.mark.parametrize("guess", [1e-9, 0.5, 3.0, 500.0])
def test_a_wrong_guess_of_the_crossing_does_no_harm(guess: float, monkeypatch: pytest.MonkeyPatch) -> None:
    base, rate, delta = QUICK[0], Fraction(1, 100), Fraction(1, 10**5)
    sound = single._added_inverse(base, rate, delta)
    monkeypatch.setattr(single, "_added_guess", lambda *_: guess)
    assert single._added_quickly(base, rate, delta) is None
    found = single._added_inverse(base, rate, delta)
    assert found[0] <= sound[1]
    assert sound[0] <= found[1]
