"""Sums of normal losses against mpmath with many digits."""

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from mpmath import mp

from privately.accounting.closed_forms import gaussian
from privately.accounting.elementary import normal_tail
from privately.accounting.losses import GaussianLoss
from privately.guarantees.curves import gaussian_delta
from privately.rounding import Enclosure
from tests.accounting.closed_forms.true_profiles import holds, many_digits, true_delta

RANDOM = random.Random(51)
SQUARES = [
    *(Fraction(number) for number in ("1", "4/9", "2", "1e-8", "1e-20", "1e-60", "1e4", "1e10", "12345.678")),
    *(Fraction(round(10 ** RANDOM.uniform(-12, 6), 14)) for _ in range(12)),
]
DELTAS = [Fraction(1, 10**k) for k in (1, 3, 5, 10, 30, 60, 100)]


def profile_faults(square: Fraction, epsilons: list[Fraction]) -> list[Fraction]:
    """At which epsilons the enclosure misses the truth."""
    with many_digits():
        law = GaussianLoss(mu_squared=square)
        found = [(epsilon, gaussian.profile(square, epsilon)) for epsilon in epsilons]
        return [e for e, f in found if not holds(true_delta(law, e), Fraction(f.lower), Fraction(f.upper))]


def inverse_is_right(square: Fraction, delta: Fraction) -> bool:
    """The true profile passes delta between both ends."""
    lower, upper = gaussian.inverse(square, delta)
    law = GaussianLoss(mu_squared=square)
    with many_digits():
        above = lower <= 0 or holds(true_delta(law, lower), delta, 1)
        return lower <= upper and above and holds(true_delta(law, upper), 0, delta)


def about(square: Fraction) -> list[Fraction]:
    """epsilons from 0 to far in the tail, where delta is about a googolth."""
    root = Fraction(float(square) ** 0.5)
    return [Fraction(0), *(square / 2 + root * step for step in (Fraction(-1, 3), 0, 1, 5, 12, 21) if step >= 0)]


@pytest.mark.parametrize("square", SQUARES, ids=str)
def test_contains_the_truth_down_to_a_googolth(square: Fraction) -> None:
    assert profile_faults(square, about(square)) == []


@pytest.mark.parametrize("square", SQUARES, ids=str)
def test_inverses_contain_the_truth_down_to_a_googolth(square: Fraction) -> None:
    assert [delta for delta in DELTAS if not inverse_is_right(square, delta)] == []


def test_profiles_are_narrow() -> None:
    for square in SQUARES:
        for epsilon in about(square)[1:]:
            found = gaussian.profile(square, epsilon)
            assert found.upper - found.lower <= found.upper * Enclosure.of(Fraction(1, 10**15)).upper


def test_inverses_are_narrow() -> None:
    for square in SQUARES:
        for delta in DELTAS[1:]:
            lower, upper = gaussian.inverse(square, delta)
            assert upper - lower <= Fraction(1, 10**7) * upper


def float_faults(square: Fraction, epsilons: list[float]) -> list[float]:
    """At which epsilons the two floats miss the truth."""
    with many_digits():
        law = GaussianLoss(mu_squared=square)
        found = [(epsilon, *gaussian.between(square, epsilon)[0]) for epsilon in epsilons]
        return [e for e, low, high in found if not holds(true_delta(law, Fraction(e)), Fraction(low), Fraction(high))]


FLOAT_SQUARES = [Fraction(round(10 ** RANDOM.uniform(-8, 3), 12)) for _ in range(12)]


def test_floats_contain_the_truth() -> None:
    for square in [*SQUARES, *FLOAT_SQUARES]:
        root = float(square) ** 0.5
        steps = [RANDOM.uniform(-2, 36) for _ in range(12)]
        epsilons = [0.0, *(max(float(square) / 2 + root * step, 0.0) for step in steps)]
        assert float_faults(square, epsilons) == [], square


def test_floats_are_narrow() -> None:
    for square in (Fraction(1, 100), Fraction(1), Fraction(3), Fraction(50)):
        for delta in DELTAS:
            lower, upper = gaussian.inverse(square, delta)
            assert upper - lower <= Fraction(1, 10**10) * upper
            low, high = gaussian.between(square, float(upper))[0]
            assert 0 < low < high <= low * (1 + 1e-9)


def test_faults_of_the_floats_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    square, epsilons = Fraction(2), [0.1, 1.0, 3.0, 9.0, 20.0]
    tail = normal_tail
    assert float_faults(square, epsilons) == []
    monkeypatch.setattr(gaussian, "normal_tail", lambda x: tail(x) * (1 + 2.0**-36))
    assert len(float_faults(square, epsilons)) == len(epsilons)
    monkeypatch.setattr(gaussian, "normal_tail", lambda x: tail(x * (1 + 2.0**-36)))
    assert len(float_faults(square, epsilons[1:])) == len(epsilons) - 1


def displaced(square: Fraction, delta: Fraction, shift: float) -> tuple[Fraction, Fraction] | None:
    """The two ends from a place beside the crossing."""
    near = float(sum(gaussian.inverse(square, delta)) / 2)
    return gaussian._quickly(square, delta, near * (1 + shift))


def encloses_the_crossing(square: Fraction, delta: Fraction, ends: tuple[Fraction, Fraction]) -> bool:
    law = GaussianLoss(mu_squared=square)
    with many_digits():
        return holds(true_delta(law, ends[0]), delta, 1) and holds(true_delta(law, ends[1]), 0, delta)


PLACES = [(square, delta) for square in FLOAT_SQUARES[:6] for delta in DELTAS[1:5]]
SHIFTS = (-1e-4, -1e-6, -1e-9, 0.0, 1e-9, 1e-6, 1e-4)


def test_one_place_is_enough() -> None:
    """Wherever it lies, the crossing is between both ends; far away there are none."""
    seen = 0
    for square, delta in PLACES:
        for shift in SHIFTS:
            ends = displaced(square, delta, shift)
            seen += ends is not None
            assert ends is None or encloses_the_crossing(square, delta, ends)
        assert displaced(square, delta, 0.5) is None
    assert seen > len(PLACES) * len(SHIFTS) / 2


def test_faults_of_the_one_place_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    square, delta, terms = Fraction(1), Fraction(1, 10**5), gaussian._terms
    near = float(gaussian.inverse(square, delta)[0])
    places = [near * (1 - 1e-5), near * (1 + 1e-5)]

    def faults() -> int:
        found = [gaussian._quickly(square, delta, place) for place in places]
        return sum(not (ends and encloses_the_crossing(square, delta, ends)) for ends in found)

    def steeper(mu: float, epsilon: float) -> tuple[float, float, float] | None:
        found = terms(mu, epsilon)
        return found and (found[0] + found[1] / 100, found[1] * 1.01, found[2])

    assert faults() == 0
    monkeypatch.setattr(gaussian, "_terms", steeper)  # the same level
    assert faults() == len(places)


def test_beyond_the_floats() -> None:
    for square, epsilon in (("1e4", 100.0), ("1", 700.0), ("1", 40.0), ("1e-20", 1.0)):
        assert gaussian.between(Fraction(square), epsilon) == [(0.0, 1.0)]


def test_inverses_fall_with_delta_and_rise_with_mu() -> None:
    for square in SQUARES:
        found = [gaussian.inverse(square, delta) for delta in DELTAS]
        assert all(one[0] <= other[1] for one, other in itertools.pairwise(found))
    for delta in DELTAS:
        found = [gaussian.inverse(square, delta) for square in sorted(SQUARES)]
        assert all(one[0] <= other[1] for one, other in itertools.pairwise(found))


def test_nothing_is_lost_where_delta_covers_epsilon_0() -> None:
    with many_digits():
        total_variation = true_delta(GaussianLoss(mu_squared=Fraction(1)), Fraction(0))
        assert abs(total_variation - (2 * mp.ncdf(mp.mpf(1) / 2) - 1)) < mp.mpf(10) ** -50
    assert gaussian.inverse(Fraction(1), Fraction(383, 1000)) == (Fraction(0), Fraction(0))
    assert gaussian.inverse(Fraction(1), Fraction(382, 1000))[0] > 0


def test_less_noise_than_digits_can_tell() -> None:
    for delta in DELTAS:
        lower, upper = gaussian.inverse(Fraction(1, 10**100), delta)
        assert lower == 0
        assert upper <= Fraction(1, 10**36)
        assert inverse_is_right(Fraction(1, 10**100), delta)


@pytest.mark.parametrize(
    "guess", [lambda *_: 1e-300, lambda *_: 1e-3, lambda *_: 17.0, lambda *_: 1e9], ids=["least", "low", "high", "far"]
)
def test_a_wrong_guess_does_no_harm(monkeypatch: pytest.MonkeyPatch, guess: Callable[..., float]) -> None:
    monkeypatch.setattr(gaussian, "_guess", guess)
    for square in (Fraction(1), Fraction(3), Fraction(1, 50)):
        assert all(inverse_is_right(square, delta) for delta in DELTAS)


def test_faults_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    square = Fraction(2)
    sound = gaussian._roots
    assert profile_faults(square, about(square)) == []
    with monkeypatch.context() as patched:  # both ends from the lower root
        patched.setattr(gaussian, "_roots", lambda value: (sound(value)[0],) * 2)
        assert profile_faults(square, about(square)) != []
    with monkeypatch.context() as patched:  # one step more
        patched.setattr(gaussian, "_roots", lambda value: sound(value + square))
        assert profile_faults(square, about(square)) != []
    guess, delta = gaussian._guess, gaussian_delta
    with monkeypatch.context() as patched:  # half of delta
        patched.setattr(gaussian, "_guess", lambda value, log_delta: guess(value, log_delta + math.log(2)))
        patched.setattr(gaussian, "gaussian_delta", lambda mu, epsilon: delta(mu, epsilon) / 2)
        assert not inverse_is_right(square, DELTAS[3])


@pytest.mark.parametrize("gap", [Fraction(0), Fraction(1, 2**60), Fraction(1, 2**190), Fraction(1, 10**4)])
def test_a_square_between_two_numbers(gap: Fraction) -> None:
    """The ends enclose the crossing of both numbers and of all between, whether floats tell them apart or not."""
    for square, delta in PLACES[::5]:
        ends = gaussian.inverse_between(square, square * (1 + gap), delta)
        for part in (0, Fraction(1, 2), 1):
            assert encloses_the_crossing(square * (1 + part * gap), delta, ends)
        if gap < Fraction(1, 2**50):
            assert ends[1] - ends[0] <= Fraction(1, 10**10) * ends[1]


def test_numbers_that_floats_tell_apart_are_not_taken_for_one() -> None:
    """Planted: one evaluation for two squares a part in 10^4 apart misses the crossing of the lower one."""
    square, delta = Fraction(2), Fraction(1, 10**6)
    assert not encloses_the_crossing(square, delta, gaussian.inverse(square * (1 + Fraction(1, 10**4)), delta))
