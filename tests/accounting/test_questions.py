"""What can be said of a composition without a road, and how a road's answer is completed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privately.accounting.answers import epsilon
from privately.accounting.compositions import Composition
from privately.accounting.events import Gaussian, PoissonSample
from privately.accounting.losses import GaussianLoss, Loss, SampledGaussianLoss, SampledLaplaceLoss, response
from privately.accounting.questions import (
    LARGEST_EPSILON,
    NEVER,
    NOTHING,
    DeltaAt,
    EpsilonAt,
    is_hardly_different,
    seldom,
    shown_at_most,
)
from privately.accounting.roads import NotApplicable
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)
NORMAL = ((GaussianLoss(mu_squared=Fraction(1)), 1),)
COIN = ((response(Fraction(1)), 2),)
HALF = Fraction(1, 2)


class FakeRoad:
    """Answers what it was told, and remembers the questions."""

    def __init__(self, answer: Interval) -> None:
        self.answer = answer
        self.asked: list[Fraction] = []

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        assert composition.infinite == 0
        assert width == WIDTH
        self.asked.append(delta)
        return self.answer

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        assert composition.infinite == 0
        assert width == WIDTH
        self.asked.append(epsilon)
        return self.answer


@pytest.mark.parametrize(
    ("composition", "delta", "expected"),
    [
        (Composition(), Fraction(0), NOTHING),
        (Composition(infinite=HALF), Fraction(1, 3), NEVER),
        (Composition(infinite=HALF), HALF, NOTHING),
        (Composition(parts=NORMAL), Fraction(0), NEVER),
        (Composition(parts=NORMAL, infinite=HALF), HALF, NEVER),
        (Composition(parts=NORMAL), Fraction(1, 10), None),
        (Composition(parts=NORMAL, infinite=HALF, infinite_lower=Fraction(1, 3)), Fraction(2, 5), None),
    ],
)
def test_what_needs_no_road(composition: Composition, delta: Fraction, expected: Interval | None) -> None:
    assert EpsilonAt(delta, WIDTH).settled(composition) == expected


def test_without_delta_the_largest_loss_counts() -> None:
    found = EpsilonAt(Fraction(0), WIDTH).settled(Composition(parts=COIN))
    assert found is not None
    assert float(found.lower) <= 2 <= float(found.upper) < 2 + 1e-12


def test_infinite_losses_take_their_part_of_delta() -> None:
    road = FakeRoad(Interval(1, 2))
    asked = EpsilonAt(Fraction(1, 10) + Fraction(9, 10) * Fraction(1, 3), WIDTH)
    found = asked.by(road, Composition(parts=NORMAL, infinite=Fraction(1, 10)))
    assert road.asked == [Fraction(1, 3)]
    assert (found.lower, found.upper) == (1, 2)


def test_a_mass_that_is_not_known_exactly_counts_against_us() -> None:
    road = FakeRoad(Interval(1, 2))
    vague = Composition(parts=NORMAL, infinite=HALF, infinite_lower=Fraction(1, 4))
    found = EpsilonAt(Fraction(2, 5), WIDTH).by(road, vague)
    assert road.asked == [Fraction(1, 5)]
    assert (found.lower, found.upper) == (1, math.inf)
    EpsilonAt(Fraction(3, 5), WIDTH).by(road, vague)
    assert road.asked[1:] == [Fraction(7, 15), Fraction(1, 5)]


def test_no_road_is_asked_where_no_delta_is_left() -> None:
    road = FakeRoad(Interval(1, 2))
    vague = Composition(parts=NORMAL, infinite=HALF, infinite_lower=Fraction(1, 4))
    with pytest.raises(NotApplicable):
        EpsilonAt(Fraction(1, 4), WIDTH).by(road, vague)
    assert not road.asked


def test_the_largest_finite_loss_is_no_limit_where_losses_may_be_infinite() -> None:
    vague = Composition(parts=COIN, infinite=HALF, infinite_lower=Fraction(1, 4))
    road = FakeRoad(Interval(1, 2))
    assert EpsilonAt(Fraction(2, 5), WIDTH).by(road, vague).upper == math.inf
    assert EpsilonAt(Fraction(2, 5), WIDTH).unknown(vague).upper == math.inf
    assert EpsilonAt(Fraction(3, 5), WIDTH).by(road, vague).upper == 2


def test_the_largest_loss_is_a_limit() -> None:
    found = EpsilonAt(Fraction(1, 10), WIDTH).by(FakeRoad(Interval(1, 7)), Composition(parts=COIN))
    assert float(found.upper) == pytest.approx(2)


def test_delta_is_completed_by_the_infinite_losses() -> None:
    found = DeltaAt(Fraction(1), WIDTH).by(
        FakeRoad(Interval(Fraction(1, 5), Fraction(1, 4))), Composition(parts=NORMAL, infinite=HALF)
    )
    assert (found.lower, found.upper) == (Fraction(3, 5), Fraction(5, 8))


def test_beyond_the_largest_loss_only_the_infinite_ones_are_left() -> None:
    settled = DeltaAt(Fraction(3), WIDTH).settled(Composition(parts=COIN, infinite=HALF))
    assert settled == Interval(HALF, HALF)
    assert DeltaAt(Fraction(1), WIDTH).settled(Composition(parts=COIN)) is None


class Bold:
    """Says of everything that it is below."""

    def is_at_most(self, composition: Composition, epsilon: Fraction, delta: Fraction) -> bool:
        assert 0 < delta < 1
        return True


def test_nothing_is_below_what_infinite_losses_take() -> None:
    """No delta is left for the finite ones."""
    half = Composition(parts=NORMAL, infinite=HALF)
    found = Interval(1, 2)
    for delta, is_below in ((HALF, False), (Fraction(1, 4), False), (Fraction(3, 4), True)):
        assert EpsilonAt(delta, WIDTH).is_below(Bold(), half, found) == is_below
        assert DeltaAt(HALF, WIDTH).is_below(Bold(), half, Interval(0, delta)) == is_below


def test_beyond_the_largest_epsilon_a_delta_has_no_lower_end() -> None:
    road = FakeRoad(Interval(Fraction(1, 4), HALF))
    found = DeltaAt(2 * LARGEST_EPSILON, WIDTH).by(road, Composition(parts=NORMAL))
    assert list(found) == [0, HALF]
    assert road.asked == [LARGEST_EPSILON]


def test_widths() -> None:
    asked = EpsilonAt(Fraction(1, 10), Fraction(1, 100))
    assert asked.is_met(Interval(Fraction(991, 1000), 1))
    assert asked.is_met(Interval(math.inf, math.inf))
    assert not asked.is_met(Interval(0, math.inf))
    assert not asked.is_met(Interval(Fraction(98, 100), 1))
    assert asked.is_met(Interval(0, Fraction(1, 10**5)))
    assert not DeltaAt(Fraction(1), Fraction(1, 100)).is_met(Interval(0, Fraction(1, 10**5)))
    assert not DeltaAt(Fraction(1), Fraction(1, 100)).is_met(Interval(0, Fraction(1, 10**999)))
    assert DeltaAt(Fraction(1), Fraction(1, 100)).is_met(Interval(0, Fraction(1, 10**1000)))


@pytest.mark.parametrize("scale", [Fraction(1, 10**320), Fraction(1, 10**300), Fraction(1), 10**30, 10**400])
def test_widths_at_the_edge(scale: Fraction) -> None:
    """Floats decide only where they are sure."""
    width = Fraction(1, 10**6)
    for part in (Fraction(1), 1 - Fraction(1, 10**20), 1 + Fraction(1, 10**20), 1 - Fraction(1, 10**5), Fraction(2)):
        found = Interval(scale, scale * (1 + width * part))
        assert EpsilonAt(HALF, width).is_met(found) == (found.width <= width * max(scale, Fraction(1, 1000)))
        assert DeltaAt(HALF, width).is_met(found) == (found.width <= width * found.upper)


def test_what_is_known_without_any_road() -> None:
    assert EpsilonAt(HALF, WIDTH).unknown(Composition(parts=NORMAL)).upper == math.inf
    assert float(EpsilonAt(HALF, WIDTH).unknown(Composition(parts=COIN)).upper) == pytest.approx(2)
    assert DeltaAt(HALF, WIDTH).unknown(Composition(parts=NORMAL, infinite=HALF)) == Interval(HALF, 1)


@pytest.mark.parametrize("mu", ["1e-90", "0.01", "0.5", "1.25", "2.4", "2.5", "30"])
def test_rows_that_are_seldom_seen(mu: str) -> None:
    """The bound is above the total variation of one step, and near it where noise hides the row."""
    square, rate = Fraction(mu) ** 2, Fraction(1, 1000)
    with mpmath.workdps(120):
        for law, truth in (
            (
                SampledGaussianLoss(mu_squared=square, rate=rate, direction="remove"),
                mpmath.erf(mpmath.mpf(mu) / 8**0.5),
            ),
            (SampledLaplaceLoss(epsilon=Fraction(mu), rate=rate, direction="add"), -mpmath.expm1(-mpmath.mpf(mu) / 2)),
        ):
            bound = seldom(Composition(parts=((law, 3),)))
            near = mpmath.mpf(bound.numerator) / bound.denominator / (3 * mpmath.mpf(1) / 1000)
            assert truth <= near <= 1
            assert mpmath.mpf(mu) > 0.01 or near <= truth * 1.01
    hidden = SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=rate, direction="remove")
    assert EpsilonAt(rate, WIDTH).settled(Composition(parts=((hidden, 5),))) == NOTHING
    assert seldom(Composition(parts=((hidden, 5),))) <= rate < seldom(Composition(parts=((hidden, 6),)))
    assert EpsilonAt(rate, WIDTH).settled(Composition(parts=((hidden, 8),))) is None


def test_rows_that_are_seldom_sampled() -> None:
    law = SampledGaussianLoss(mu_squared=Fraction(100), rate=Fraction(1, 1000), direction="remove")
    rare = Composition(parts=((law, 5),), infinite=Fraction(1, 100))
    most = Fraction(15, 1000)
    assert EpsilonAt(most, WIDTH).settled(rare) == NOTHING
    assert EpsilonAt(most - Fraction(1, 10**9), WIDTH).settled(rare) is None
    loose = FakeRoad(Interval(0, 1))
    truth = 1 - (1 - Fraction(1, 1000)) ** 5 * Fraction(99, 100)  # a row that is always recognised
    assert Fraction(14, 1000) < truth <= most
    assert truth <= DeltaAt(Fraction(0), WIDTH).by(loose, rare).upper <= truth + Fraction(1, 10**50)


@pytest.mark.parametrize("infinite", [Fraction(0), Fraction(1, 7)])
def test_rows_that_show_in_some_sample(infinite: Fraction) -> None:
    """Above the total variation where every sample shows the row, and next to it; never above what is known."""
    laws: list[tuple[Loss, int]] = [
        (SampledGaussianLoss(mu_squared=Fraction(10**6), rate=Fraction(1, 2), direction="remove"), 3),
        (SampledLaplaceLoss(epsilon=Fraction(1000), rate=Fraction(1, 10), direction="remove"), 20),
    ]
    shown = Composition(parts=tuple(laws), infinite=infinite)
    truth = 1 - (1 - infinite) * Fraction(1, 8) * Fraction(9, 10) ** 20
    for question in (DeltaAt(Fraction(0), WIDTH), DeltaAt(Fraction(5), WIDTH)):
        assert truth <= question.unknown(shown).upper <= truth + Fraction(1, 10**50)
    assert shown_at_most(shown, Fraction(1, 3)) == Fraction(1, 3)
    assert shown_at_most(shown, math.inf) >= truth
    unsampled = Composition(parts=(*laws, *NORMAL))
    assert shown_at_most(unsampled, Fraction(1)) == 1
    small = SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=Fraction(1, 3), direction="add")
    variation = math.erf(0.25 / math.sqrt(2)) / 3  # of one step; that of two is at least as much as of one
    assert variation < shown_at_most(Composition(parts=((small, 2),)), Fraction(1)) < 2 * variation * 1.02


def test_what_is_known_widely_is_not_asked_narrowly() -> None:
    for question in (EpsilonAt(Fraction(1, 1000), Fraction(1, 10**6)), DeltaAt(Fraction(1), Fraction(1, 10**6))):
        assert question.eased(Interval(Fraction(1, 2), Fraction(1, 2))) == question
        eased = question.eased(Interval(Fraction(99, 100), 1))
        assert question.width < eased.width <= Fraction(1, 99)
        assert eased == replace(question, width=eased.width)
    asked = EpsilonAt(Fraction(1, 1000), Fraction(1, 10**6))
    assert asked.eased(Interval(0, math.inf)) == asked


@pytest.mark.parametrize(
    "law",
    [
        SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 100), direction="remove"),
        SampledGaussianLoss(mu_squared=Fraction(1, 4), rate=Fraction(1, 10), direction="add"),
        SampledLaplaceLoss(epsilon=Fraction(1), rate=Fraction(1, 50), direction="remove"),
    ],
)
def test_many_rare_samples_are_hardly_different(law: SampledGaussianLoss | SampledLaplaceLoss) -> None:
    """Of two steps the total variation by a double integral; nothing below it is said to be enough."""
    step, times = 0.01, 2
    x = np.arange(-12.0, 13.0, step)
    if isinstance(law, SampledGaussianLoss):
        mu = math.sqrt(law.mu_squared)
        q, p = (np.exp(-((x - shift) ** 2) / 2) / math.sqrt(2 * math.pi) for shift in (0.0, mu))
    else:
        q, p = (np.exp(-np.abs(x - shift)) / 2 for shift in (0.0, float(law.epsilon)))
    mixed = (1 - float(law.rate)) * q + float(law.rate) * p
    apart = float(np.abs(np.outer(mixed, mixed) - np.outer(q, q)).sum()) * step**2 / 2
    composition = Composition(parts=((law, times),))
    enough = [d for d in np.geomspace(apart / 4, 8 * apart, 60) if is_hardly_different(composition, Fraction(d))]
    assert enough, "the bound is of the size of the truth"
    assert apart < min(enough) < 4 * apart


def test_rare_samples_by_the_million_reveal_nothing() -> None:
    rare = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10**12), direction="remove")
    assert EpsilonAt(Fraction(1, 10**6), WIDTH).settled(Composition(parts=((rare, 10**12),))) == Interval(0, 0)
    assert EpsilonAt(Fraction(1, 10**7), WIDTH).settled(Composition(parts=((rare, 10**12),))) is None


def test_infinite_losses_that_floats_do_not_tell_are_different() -> None:
    rare = SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 10**250), direction="remove")
    mass = Fraction(1, 10**200)
    for delta in (mass / 2, mass):
        assert not is_hardly_different(Composition(parts=((rare, 1),), infinite=mass), delta)
    assert is_hardly_different(Composition(parts=((rare, 1),), infinite=mass), 2 * mass)


def test_a_largest_loss_below_0_is_no_limit_below_0() -> None:
    """Without noise a row that is not in the sample has a loss of ln(1-q)."""
    event = PoissonSample(event=Gaussian(noise_multiplier=0), rate="0.3")
    found = epsilon(event, "0.5")
    assert found.lower == found.upper == 0
    assert epsilon(event, "0.1").lower == math.inf
