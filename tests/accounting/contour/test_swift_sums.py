"""Sums for many alike steps are bounds in both directions, also where steps are coarse; planted faults break it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.compositions import Composition
from privately.accounting.contour import road, swift_points
from privately.accounting.contour.saddle import Outline, for_delta, shape
from privately.accounting.contour.sampled_gaussian import SampledGaussian
from privately.accounting.contour.swift import summed
from privately.accounting.contour.swift_points import normal_weights
from privately.accounting.contour.swift_sums import Side, SwiftSums
from privately.accounting.elementary import Floats
from privately.accounting.losses import DIRECTIONS, Direction, SampledGaussianLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

CASES = [(1.0, 0.01, 1000), (0.5, 0.01, 1000), (0.5, 0.01, 10**4), (0.25, 0.1, 300), (1.25, 0.01, 10**6)]
BOTH = [(0.5, 0.01, 10**4), (0.25, 0.1, 300), (1.0, 0.01, 10**5)]
"""Where the other direction is so near that it needs a sum of its own."""
TARGET = math.log(1e-6)


def laid(mu: float, rate: float, times: int, widen: float = 1.0, tolerance: float = 1e-7) -> SwiftSums:
    """Nodes `widen` times as far apart as they should be."""
    law = SampledGaussian(mu=mu, rate=rate, removes=True)
    outline = Outline([(law, times)], 0.0)
    saddle = for_delta(outline, TARGET)
    guess = saddle.epsilon + (saddle.log_delta - TARGET) / saddle.c
    contour = shape(outline, saddle, guess, math.log(tolerance))
    return summed(law, times, contour._replace(step=contour.step * widen), math.log(tolerance), TARGET)


def truth(mu: float, rate: float, times: int, direction: Direction, epsilon: float) -> tuple[float, float]:
    """ln D by the usual way, which keeps what one step does relative to how little that is."""
    law = SampledGaussianLoss(mu_squared=Fraction(mu) ** 2, rate=Fraction(rate), direction=direction)
    found = road.delta(Composition(parts=((law, times),)), Fraction(epsilon), Fraction(1, 10**7))
    return math.log(found.lower), math.log(found.upper)


def are_held(sums: SwiftSums, mu: float, rate: float, times: int) -> bool:
    """Whether the bounds contain the truth at some places."""
    for away in (-0.2, 0.0, 0.1):
        s = sums.guess * (1 + away) - sums.near
        lower, upper = sums.lower(s), sums.upper(s)
        low, high = truth(mu, rate, times, "remove", sums.near + s)
        if not (lower <= high + 1e-12 and low - 1e-12 <= upper):
            return False
    return True


@pytest.mark.parametrize(("mu", "rate", "times"), CASES)
@pytest.mark.parametrize("widen", [1.0, 3.0])
def test_bounds_hold(mu: float, rate: float, times: int, widen: float) -> None:
    """Also with steps so coarse that the aliases are as large as the answer."""
    sums = laid(mu, rate, times, widen)
    assert are_held(sums, mu, rate, times)
    lower, upper = sums.lower(sums.guess - sums.near), sums.upper(sums.guess - sums.near)
    assert upper - lower <= 1e-5 or widen > 1


def exact_term(sums: SwiftSums, side: int, node: int) -> acb:
    """phi^T at one node, by integration."""
    law, w, removes = sums.points.law, node * sums.step, side == 0
    at, whole = (exact_transforms.sampled_gaussian(law.mu, law.rate, removes, z) for z in (complex(sums.c, w), sums.c))
    turned = (acb(0, -1 if removes else 1) * arb(w) * arb(sums.centre)).exp()
    return (at / whole * turned) ** sums.times


def is_left_open(sums: SwiftSums) -> bool:
    """Whether all that is off, by integration, is within what is charged: terms, ln M(c), what is left out."""
    law = sums.points.law
    for place, (side, row) in enumerate(zip(sums.sides, sums.terms, strict=True)):
        with precision(200):
            for node in (1, 2, sums.count // 2, sums.count):
                z, exact = acb(complex(sums.c, node * sums.step)), exact_term(sums, place, node)
                off = float(abs(acb(complex(row[node - 1])) * z * (z + 1) - exact).upper())
                if off > side.error * 2 * math.sqrt(sums.base):
                    return False
            left = float(abs(exact_term(sums, place, sums.count)).upper())
            if left / (math.pi * sums.last) > side.truncated:
                return False
            mass = sums.times * exact_transforms.sampled_gaussian(law.mu, law.rate, place == 0, sums.c).real.log()
            if not arb(side.log_mass[0]) <= mass <= arb(side.log_mass[1]):
                return False
    return True


@pytest.mark.parametrize(("mu", "rate", "times"), [(0.5, 0.01, 1000), *BOTH[:2], (1.25, 0.01, 10**6)])
def test_what_the_terms_leave_open(mu: float, rate: float, times: int) -> None:
    assert is_left_open(laid(mu, rate, times))


@pytest.mark.parametrize(("mu", "rate", "times"), CASES)
def test_what_is_below_is_certain(mu: float, rate: float, times: int) -> None:
    """By a Chernoff bound or by a sum, and only where it is true; by a sum, almost wherever it is true, by a bound
    wherever that was hoped for."""
    sums = laid(mu, rate, times)
    assert (sums.chernoff is None) == (len(sums.sides) == 2)
    for epsilon in (sums.guess, 1.02 * sums.guess):
        low, high = truth(mu, rate, times, "add", epsilon)
        assert not sums.is_other_below(epsilon, low - 1e-9)
        assert sums.is_other_below(epsilon, high + 1e-4 if sums.chernoff is None else max(high + 4.0, TARGET))


@pytest.mark.parametrize(("mu", "rate", "times"), BOTH)
def test_both_directions_where_they_are_near(mu: float, rate: float, times: int) -> None:
    assert laid(mu, rate, times).chernoff is None


def test_ends_are_on_both_sides_of_the_truth() -> None:
    for mu, rate, times in CASES:
        sums = laid(mu, rate, times)
        lower, upper = sums.solved(TARGET, TARGET)
        assert 0 < upper - lower <= 1e-6 * lower
        assert truth(mu, rate, times, "remove", lower)[1] >= TARGET
        assert truth(mu, rate, times, "remove", upper)[0] <= TARGET


def test_far_from_the_guess_the_sum_is_taken_anew() -> None:
    sums = laid(0.5, 0.01, 1000)
    place = sums.expansion.place
    low, high = truth(0.5, 0.01, 1000, "remove", sums.near + sums.guess / 2)
    lower, upper = sums.lower(sums.guess / 2), sums.upper(sums.guess / 2)
    assert sums.expansion.place != place
    assert lower <= high
    assert low <= upper <= high + 1e-5


def forgets(monkeypatch: pytest.MonkeyPatch, **parts: float) -> None:
    """Planted: parts of what is not known are forgotten."""
    honest = SwiftSums._side

    def side(self: SwiftSums, means: object, weights: object) -> Side:
        return honest(self, means, weights)._replace(**parts)  # type: ignore[arg-type]

    monkeypatch.setattr(SwiftSums, "_side", side)


def test_aliases_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SwiftSums, "_aliases", lambda *_: 0.0)
    assert not all(are_held(laid(*case, widen=3.0), *case) for case in CASES[:3])


def test_truncation_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums that end far too early are held as long as what is beyond their end is charged."""
    monkeypatch.setattr("privately.accounting.contour.swift._FARTHER", 0.3)
    assert all(are_held(laid(*case), *case) for case in CASES)
    forgets(monkeypatch, truncated=0.0)
    assert not all(are_held(laid(*case), *case) for case in CASES[:3])


def test_wrong_weights_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: weights of points that are off by more than is charged, every other one."""

    def wrong(step: float) -> Floats:
        weights = normal_weights(step)
        return weights * (1 + 1e-11 * (np.arange(weights.size) % 2))

    assert is_left_open(laid(0.5, 0.01, 1000))
    monkeypatch.setattr(swift_points, "normal_weights", wrong)
    assert not is_left_open(laid(0.5, 0.01, 1000))


def test_the_other_direction_turns_backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: without the conjugate something is claimed that does not hold, or nothing is."""
    for mu, rate, times in BOTH:
        low, high = truth(mu, rate, times, "add", laid(mu, rate, times).guess)
        with monkeypatch.context() as patched:
            patched.setattr(np, "conjugate", lambda _, out: out)
            sums = laid(mu, rate, times)
        wrong = sums.is_other_below(sums.guess, low - 1e-9), not sums.is_other_below(sums.guess, high + 1e-4)
        assert any(wrong)


def test_too_many_steps_for_floats_are_refused() -> None:
    with pytest.raises(NotApplicable):
        laid(0.5, 0.01, 10**13)


def test_both_directions_are_there() -> None:
    assert DIRECTIONS == ("remove", "add")
    assert np.isfinite(laid(0.5, 0.01, 10**4).terms).all()


def test_what_points_miss_is_charged_for_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the terms twice, and to ln M at the contour and at other heights."""
    times, more = 1000, 1e-9
    known = laid(1.0, 0.01, times)
    honest = SampledGaussian.aliasing

    def missed(law: SampledGaussian, c: float, reach: float, step: float, widest: float = 2.0) -> float:
        return honest(law, c, reach, step, widest) + more

    monkeypatch.setattr(SampledGaussian, "aliasing", missed)
    found, least = laid(1.0, 0.01, times), 0.999 * times * more
    (before,), (after,) = known.sides, found.sides
    assert after.error - before.error >= 2 * least / (2 * math.sqrt(found.base))
    assert after.log_mass[0] <= before.log_mass[0] - least
    assert after.log_mass[1] >= before.log_mass[1] + least
    for (height, low, _), (_, high, _) in zip(known.heights, found.heights, strict=True):
        assert high >= low + least or height == 0


def test_all_aliases_of_both_sides_are_counted() -> None:
    """Bounds that are powers of two, which are not rounded up: the sum of two geometric series, not less."""
    sums, twice = laid(1.0, 0.01, 1000), math.log(2) * (1 + 1e-6)
    apart = sums.step * twice / (2 * math.pi)
    heights = [sums.c + sign * apart for sign in (1, -1)]
    sums.heights = [(height, 2.0 * height - 10 * twice, sums._height(height, None)[2]) for height in heights]
    assert sums._aliases(2.0, 0.0) >= 2 * 2.0**-10 * (1 - 1e-4)  # each side: 2^-10 times 1/2 + 1/4 + ...


@pytest.mark.parametrize("name", ["upper", "lower"])
def test_ends_that_do_not_hold_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sums = laid(1.0, 0.01, 1000)
    assert sums.solved(TARGET, TARGET + 1e-12)[0] > 0
    wrong = math.inf if name == "upper" else -math.inf
    monkeypatch.setattr(SwiftSums, name, lambda self, s: wrong)
    with pytest.raises(NotApplicable, match="no ends"):
        sums.solved(TARGET, TARGET + 1e-12)
