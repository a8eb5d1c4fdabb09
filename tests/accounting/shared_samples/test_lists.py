"""Sampled lists, against exact pairs of laws with finitely many outcomes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting import Gaussian, Laplace, PoissonSample, Pure, Sequence
from privately.accounting.losses import DIRECTIONS, Direction
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples.lists import Step, is_shared, laid, sampled
from privately.accounting.spreading import Losses, Side
from privately.accounting.spreading.lists import profile_of
from privately.accounting.terms import flatten

SIDES: tuple[Side, Side] = "lower", "upper"
NOTHING = Losses.of(np.zeros(1), np.ones(1))

PAIRS = [
    [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 3), Fraction(1, 4)), (Fraction(1, 6), Fraction(1, 2))],
    [(Fraction(1, 10), Fraction(0)), (Fraction(4, 5), Fraction(1, 2)), (Fraction(1, 10), Fraction(1, 2))],
    [
        (Fraction(1, 1000), Fraction(1, 10**9)),
        (Fraction(999, 1000), Fraction(1, 2)),
        (Fraction(0), Fraction(1, 2) - Fraction(1, 10**9)),
    ],
]


def listed(pair: list[tuple[Fraction, Fraction]], side: Side) -> Step:
    """Every number of the finite losses a little off on its side."""
    infinite = sum((p for p, q in pair if not q), Fraction(0))
    finite = [(float(p / (1 - infinite)), math.log(p / q)) for p, q in pair if p and q]
    off = 1e-14 if side == "upper" else -1e-14
    losses = np.array([loss + off * (1 + abs(loss)) for _, loss in finite])
    return Step(Losses.of(losses, np.array([mass * (1 + off) for mass, _ in finite])), infinite)


def exact(pair: list[tuple[Fraction, Fraction]], rate: Fraction, direction: Direction, ratio: Fraction) -> Fraction:
    mixed = [
        ((1 - rate) * q + rate * p, q) if direction == "remove" else (p, (1 - rate) * p + rate * q) for p, q in pair
    ]
    return sum((max(p - ratio * q, Fraction(0)) for p, q in mixed), Fraction(0))


def at(step: Step, epsilon: float, side: Side) -> float:
    return float(step.infinite) + float(1 - step.infinite) * profile_of(step.losses, NOTHING, epsilon, side)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["1e-9", "0.01", "0.5", "0.999"])
def test_sampled_lists_are_on_their_sides(
    pair: list[tuple[Fraction, Fraction]], direction: Direction, rate: str
) -> None:
    q = Fraction(rate)
    lower, upper = (sampled(listed(pair, side), q, direction, side) for side in SIDES)
    for epsilon in (-8.0, -0.5, -1e-3, 0.0, 1e-10, 0.1, 0.6, 3.0):
        truth = float(exact(pair, q, direction, Fraction(math.exp(epsilon))))
        low, high = at(lower, epsilon, "lower"), at(upper, epsilon, "upper")
        assert low <= truth * (1 + 1e-15) + 1e-15 * math.exp(epsilon)
        assert truth * (1 - 1e-15) - 1e-15 * math.exp(epsilon) <= high
        assert high - low < 1e-9 * truth + 1e-12


RARE = Fraction(1, 10**9)
WITH_INFINITE = [(Fraction(1, 10), Fraction(0)), (Fraction(1, 5), RARE), (Fraction(7, 10), 1 - RARE)]


@pytest.mark.parametrize("pair", [PAIRS[2], WITH_INFINITE])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["0.01", "0.5"])
def test_losses_that_were_left_out_are_sampled_too(
    pair: list[tuple[Fraction, Fraction]], direction: Direction, rate: str
) -> None:
    """The largest loss is not in the list, but what it has under P is known: it may be anywhere above."""
    q = Fraction(rate)
    whole = listed(pair, "upper")
    left_out = int(whole.losses.losses.argmax())
    losses, masses = (np.delete(part, left_out) for part in (whole.losses.losses, whole.losses.masses))
    short = Step(Losses.of(losses, masses, float(whole.losses.masses[left_out])), whole.infinite)
    found = sampled(short, q, direction, "upper")
    for epsilon in (0.0, 1e-3, 0.1, 0.5, 2.0):
        truth = float(exact(pair, q, direction, Fraction(math.exp(epsilon))))
        assert at(found, epsilon, "upper") >= truth * (1 - 1e-12)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_lowered_losses_are_no_more_than_one_law(direction: Direction) -> None:
    """With all losses lowered much, Q has more than 1 in all: the sample's P must not."""
    base = Step(Losses.of(np.array([0.2, -0.8]), np.array([0.6, 0.4])), Fraction(0))
    for rate in (Fraction(1, 10), Fraction(9, 10)):
        assert sampled(base, rate, direction, "lower").losses.masses.sum() <= 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_neither_list_serves_for_the_other_side(direction: Direction) -> None:
    terms = flatten(Sequence(events=[Gaussian(noise_multiplier=1), Laplace(scale=1)]))
    lower, upper = (sampled(laid(terms, direction, side, 1e-20), Fraction(1, 10), direction, side) for side in SIDES)
    gap = profile_of(upper.losses, NOTHING, 0.1, "upper") - profile_of(lower.losses, NOTHING, 0.1, "lower")
    assert 0 < gap < 1e-5


def test_only_what_has_no_pair_is_listed() -> None:
    noises = Sequence(events=[Gaussian(noise_multiplier=1), Gaussian(noise_multiplier=2)])
    assert not is_shared(PoissonSample(event=noises, rate="0.1"))
    assert is_shared(PoissonSample(event=Sequence(events=[*noises.events, Pure(epsilon=1)]), rate="0.1"))
    assert not is_shared(noises)


@pytest.mark.parametrize("rate", [Fraction(1, 10**31), 1 - Fraction(1, 2**23)])
def test_rates_next_to_0_and_1_are_refused(rate: Fraction) -> None:
    with pytest.raises(NotApplicable, match="rate"):
        sampled(listed(PAIRS[0], "upper"), rate, "add", "upper")


def test_losses_beyond_floats_are_refused() -> None:
    far = Step(Losses.of(np.array([691.0]), np.ones(1)), Fraction(0))
    with pytest.raises(NotApplicable, match="large"):
        sampled(far, Fraction(1, 2), "remove", "upper")


def test_too_many_different_laws_are_refused() -> None:
    terms = flatten(Sequence(events=[Laplace(scale=n) for n in range(1, 18)]))
    with pytest.raises(NotApplicable, match="different"):
        laid(terms, "add", "upper", 1e-20)
