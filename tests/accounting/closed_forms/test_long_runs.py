"""Long runs of one law, where the truth is known otherwise: exact sums for shorter ones, other roads for long ones."""

import math
from fractions import Fraction
from typing import cast

import pytest
from mpmath import mp

from privately import accounting as acc
from privately.accounting.closed_forms import long_runs
from privately.accounting.closed_forms.binomials import TwoLosses
from privately.accounting.closed_forms.long_runs import Nearly, Thinned, _of
from privately.accounting.compositions import Composition, compositions
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure
from tests.accounting.closed_forms.true_profiles import exact, real

DELTAS = [Fraction(d) for d in ("0.3", "1e-3", "1e-8")]


def trinomial_delta(epsilon: Fraction, categories: int, times: int, at: Fraction) -> Fraction:
    """K-ary randomized response: the coefficients of (a x + b + c/x)^T, by their own recurrence."""
    with mp.workdps(60):
        low = 1 / (categories - 1 + mp.exp(real(epsilon)))
        high, middle = low * mp.exp(real(epsilon)), (categories - 2) * low
        last, current, total = mp.mpf(0), high**times, mp.mpf(0)
        for n in range(math.ceil(times - at / epsilon)):
            total += current * (1 - mp.exp(real(at - (times - n) * epsilon)))
            last, current = (
                current,
                (current * middle * (times - n) + last * low * (2 * times - n + 1)) / (high * (n + 1)),
            )
        return exact(total)


def law_of(event: acc.Event) -> FiniteLoss:
    (composition, *_) = compositions(event)
    law = composition.parts[0][0]
    assert isinstance(law, FiniteLoss)
    return law


@pytest.mark.parametrize(("size", "categories", "times"), [("0.1", 3, 2000), ("1", 5, 1000), ("3", 100, 500)])
def test_thinned_runs_contain_the_truth(
    monkeypatch: pytest.MonkeyPatch, size: str, categories: int, times: int
) -> None:
    """The bounds hold for any number of runs; for many they are narrow too."""
    monkeypatch.setattr(long_runs, "_FEWEST_RUNS", 1)
    law = law_of(acc.RandomizedResponse(epsilon=size, categories=categories))
    found = long_runs._thinned(law, times)
    for delta in DELTAS:
        lower, upper = found.inverse(delta)
        assert trinomial_delta(Fraction(size), categories, times, upper) <= delta
        assert lower == 0 or trinomial_delta(Fraction(size), categories, times, lower) >= delta
        for at in (lower, upper):
            profile = found.profile(at)
            assert profile.lower <= trinomial_delta(Fraction(size), categories, times, at) <= profile.upper


@pytest.mark.parametrize("fault", ["more runs below", "fewer runs above", "nothing beyond"])
def test_wrong_bounds_on_the_runs_are_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    law = law_of(acc.RandomizedResponse(epsilon=1, categories=5))
    monkeypatch.setattr(long_runs, "_FEWEST_RUNS", 1)
    sound = Thinned._tails
    shift = {"more runs below": 0.25, "fewer runs above": -0.25, "nothing beyond": 0.0}[fault]

    def moved(self: Thinned, steps: tuple[int, ...]) -> object:
        near = tuple(round(step - shift * self._spread * 8) for step in steps)
        least, more = sound(self, near)
        return least, [one * 0 for one in more] if fault == "nothing beyond" else more

    monkeypatch.setattr(Thinned, "_tails", moved)
    if fault == "nothing beyond":
        monkeypatch.setattr(long_runs, "_FARTHEST", 0.0)
    found = long_runs._thinned(law, 1000)
    faults = []
    for at in (Fraction(200), Fraction(300), Fraction(350)):
        profile, truth = found.profile(at), trinomial_delta(Fraction(1), 5, 1000, at)
        faults.append(not profile.lower <= truth <= profile.upper)
    assert any(faults)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", ["1e-6", "0.001", "1", "5"])
@pytest.mark.parametrize("categories", [3, 100])
@pytest.mark.parametrize("times", [10**10, pytest.param(10**12, marks=pytest.mark.slow)])
def test_answers_are_narrow(size: str, categories: int, times: int) -> None:
    one = acc.RandomizedResponse(epsilon=size, categories=categories)
    found = acc.epsilon(acc.Repeat(event=one, times=times), delta="1e-5", method="closed form")
    assert found.lower > 0
    assert found.width <= Fraction(1, 1000) * found.upper
    whole = acc.epsilon(acc.Repeat(event=acc.RandomizedResponse(epsilon=size), times=times), delta="1e-5")
    assert found.lower <= whole.upper


@pytest.mark.parametrize("categories", [3, 1000])
@pytest.mark.parametrize("times", [6, 10, 1000])
def test_rare_losses_are_covered(categories: int, times: int) -> None:
    (composition,) = compositions(
        acc.Repeat(event=acc.RandomizedResponse(epsilon=30, categories=categories), times=times)
    )
    found = _of(composition)
    assert isinstance(found, Nearly)
    for delta in DELTAS:
        lower, upper = found.inverse(delta)
        assert trinomial_delta(Fraction(30), categories, times, upper) <= delta
        assert trinomial_delta(Fraction(30), categories, times, lower) >= delta
        assert upper - lower <= Fraction(1, 10**6) * upper
        profile = found.profile(upper)
        assert profile.lower <= trinomial_delta(Fraction(30), categories, times, upper) <= profile.upper


def test_samples_of_approx_many_times() -> None:
    """They have four outcomes, two of them rare; the lower end is at least that of samples of Pure."""
    for times in (10**10, 10**12):
        both = [acc.Approx(epsilon="0.01", delta="1e-20"), acc.Pure(epsilon="0.01")]
        approx, pure = (
            acc.epsilon(acc.Repeat(event=acc.PoissonSample(event=one, rate="0.01"), times=times), delta="1e-5")
            for one in both
        )
        assert approx.width <= Fraction(1, 1000) * approx.lower
        assert pure.width <= Fraction(1, 10**6) * pure.lower
        assert pure.lower <= approx.upper


def test_forgotten_rare_losses_are_seen() -> None:
    law = law_of(acc.RandomizedResponse(epsilon=15, categories=1000))
    times = 100
    found = _of(Composition(parts=((law, 1),)))
    assert isinstance(found, Nearly)
    usual = long_runs._two(sorted(law.atoms(), key=lambda atom: -atom[0].lower)[:2], times)
    at = Fraction(15 * 100 - 1)
    truth = trinomial_delta(Fraction(15), 1000, times, at)
    assert not usual.profile(at).lower <= truth <= usual.profile(at).upper


def test_deltas_of_a_million_digits_take_no_time() -> None:
    run = acc.Repeat(event=acc.RandomizedResponse(epsilon="0.01", categories=5), times=10**9)
    assert acc.delta(run, 5 * 10**6).upper <= Fraction(1, 10**1000)


def test_refused() -> None:
    one = law_of(acc.RandomizedResponse(epsilon=1))
    three = law_of(acc.RandomizedResponse(epsilon=1, categories=3))
    for composition in (Composition(parts=((one, 2), (three, 2))), Composition(parts=((three, 10**4),))):
        with pytest.raises(NotApplicable):
            long_runs.profile(composition, Fraction(1))


class Usual:
    """Half of delta, whatever epsilon; and epsilon for a delta is 1 - delta."""

    def profile(self, _: Fraction) -> Enclosure:
        return Enclosure.of(Fraction(1, 2))

    def inverse(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        return 1 - delta, 1 - delta


def test_rare_losses_may_add_all_of_their_probability() -> None:
    nearly = Nearly(cast("TwoLosses", Usual()), Enclosure.of(Fraction(9, 10)))
    found = nearly.profile(Fraction(1))
    assert found.lower <= Fraction(45, 100)
    assert found.upper >= Fraction(55, 100)
    lower, upper = nearly.inverse(Fraction(1, 2))
    assert lower <= 1 - Fraction(5, 9)
    assert upper >= 1 - Fraction(4, 9)


def test_runs_that_might_cost_less_are_not_thinned() -> None:
    """Q has more of these outcomes than P: then delta need not rise with the number of runs that count."""
    whole = [tuple((Fraction(n), Fraction(0)) for n in pair) for pair in ((2, 1), (1, 3), (5, 5))]
    law = FiniteLoss(epsilon=Fraction(0), outcomes=tuple(whole))  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match="cost less"):
        long_runs._thinned(law, 10**8)
