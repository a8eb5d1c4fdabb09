"""Many different steps, from above, by normal noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import mixed_games, normal_games
from privately.accounting.two_outcomes.allowed import Concentrated

from .test_before_normal import delta, pairs


def lacking(rho: float, v: float, share: float) -> float:
    """By how much normal noise of 2 (1 + share) rho is below some pair, at most, relative to it."""
    worst = -math.inf
    for x in np.linspace(0.0, v / 2 + 5 * math.sqrt(v), 10):
        step = max(
            p * delta(v, x - math.log(p / q)) + (1 - p) * delta(v, x - math.log((1 - p) / (1 - q)))
            for p, q in pairs(rho, 40)
        )
        worst = max(worst, step / delta(v + 2 * rho * (1 + share), x) - 1)
    return worst


def test_one_step_before_normal_noise() -> None:
    """Also a smaller one than the largest; normal noise of the same rho is not enough."""
    share = mixed_games.enough(0.05, 1.5, 6.0)
    assert 0 < share < 0.2
    assert lacking(0.05, 1.5, share) <= 0
    assert lacking(0.02, 1.5, share) <= 0
    assert lacking(0.05, 1.5, 0.0) > 0


def test_of_ranges_more_is_known() -> None:
    ranges, statements = (
        mixed_games.above(Fraction(1, 100), Fraction(3), 300, 1e-6, of_ranges=of_ranges) for of_ranges in (True, False)
    )
    assert 6 < ranges.variance < statements.variance


def test_steps_that_are_too_large() -> None:
    assert mixed_games.enough(1.0, 1.0, 30.0) == math.inf
    with pytest.raises(NotApplicable, match="too large"):
        mixed_games.above(Fraction(1), Fraction(2), 2, 1e-6)


@pytest.mark.slow
def test_equal_steps_are_within() -> None:
    """And a run of them is not known much better by itself."""
    rho = Fraction(1, 1000)
    mixed = mixed_games.above(rho, 500 * rho, 500, 1e-6)
    equal = normal_games.above(Concentrated(rho), 500, 1e-6)
    assert equal.variance < mixed.variance < equal.variance * Fraction(103, 100)
    assert 0 < mixed.rest < 1e-9


@pytest.mark.slow
def test_many_different_ones() -> None:
    known = [Fraction(1, 600) * (1 + Fraction(k, 300)) for k in range(300)]
    found = acc.epsilon(acc.Sequence(events=[acc.ZCDP(rho=rho) for rho in known]), "1e-6")
    normal = acc.epsilon(acc.GaussianDP(mu=Fraction(math.sqrt(2 * sum(known)))), "1e-6")
    assert normal.lower * (1 - Fraction(1, 10**9)) <= found.lower
    assert found.width < Fraction(2, 100) * found.lower


@pytest.mark.slow
def test_very_many_different_ones() -> None:
    known = [Fraction(1, 20000) * (1 + Fraction(k, 10000)) for k in range(10000)]
    found = acc.epsilon(acc.Sequence(events=[acc.ZCDP(rho=rho) for rho in known]), "1e-6")
    assert found.width < Fraction(1, 1000) * found.lower


def gained(tau: float, v: float, share: float, sizes: Floats) -> Floats:
    """What normal noise gains by 2 (1 + share) times each of these, in half the measure of its density."""
    s = 2 * (1 + share) * sizes
    rate = (1 + share) * (1 + s / v) ** -0.5 * np.exp(s / 2 * (tau**2 * v / (v + s) - 0.25))
    return np.asarray(np.append(0.0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(sizes))))


@pytest.mark.parametrize(("rho", "v"), [(0.05, 1.5), (0.01, 0.2), (0.3, 20.0), (1e-4, 0.01)])
@pytest.mark.parametrize("farthest", [3.0, 8.0])
@pytest.mark.parametrize("of_ranges", [False, True])
def test_a_share_is_enough_for_every_size(rho: float, v: float, farthest: float, of_ranges: bool) -> None:
    """Not for the largest step alone; of what may be added only orders from 1 on are known, but of ranges."""
    share = mixed_games.enough(rho, v, farthest, of_ranges=of_ranges)
    after = math.sqrt(v + 2 * rho * (1 + share))
    sizes = np.linspace(0.0, rho, 2001)
    for tau in np.linspace(0.0, (after / 2 + farthest) * after / v, 40):
        power = tau**2 - 0.25 if of_ranges else max(tau**2 - 0.25, 0.0)
        added = np.expm1(power * sizes) / power if power else sizes
        assert (gained(tau, v, share, sizes) >= added * (1 - 1e-7)).all()
    assert (gained(0.0, v, 0.0, sizes)[1:] < sizes[1:]).all()


@pytest.mark.parametrize("fault", ["at the end", "in the mean"])
def test_a_smaller_share_would_be_noticed(fault: str) -> None:
    """Where either condition just holds, a third of the share is not enough at the largest loss."""
    rho, v, farthest = (0.05, 1.5, 8.0) if fault == "at the end" else (1e-4, 0.2, 8.0)
    share = mixed_games.enough(rho, v, farthest, of_ranges=True) / 3
    after = math.sqrt(v + 2 * rho * (1 + share))
    tau = (after / 2 + farthest) * after / v
    power, sizes = tau**2 - 0.25, np.linspace(0.0, rho, 2001)
    assert gained(tau, v, share, sizes)[-1] < math.expm1(power * rho) / power


def of_range(size: float, x: float, v: float) -> float:
    """The best of many pairs of two outcomes of this range, before normal noise."""
    found = 0.0
    for loss in np.linspace(0.02, 0.98, 49) * size:
        up = -math.expm1(loss - size) / -math.expm1(-size)
        found = max(found, up * delta(v, x - loss) + (1 - up) * delta(v, x - loss + size))
    return found


@pytest.mark.parametrize("size", [0.6, 0.25])
def test_a_range_before_normal_noise(size: float) -> None:
    """No pair is above what rho = range^2/8 allows, of the largest range or of a smaller one."""
    rho, v = 0.6**2 / 8, 1.5
    share = mixed_games.enough(rho, v, 6.0, of_ranges=True)
    for x in np.linspace(0.0, v / 2 + 5 * math.sqrt(v), 12):
        assert of_range(size, x, v) <= delta(v + size**2 / 4 * (1 + share), x)
    assert of_range(size, 0.0, v) > delta(v + size**2 / 4 * 0.97, 0.0)


def test_shares_are_those_of_the_least_noise_that_may_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest step from any sum leads to one that is smaller by rho: how much noise there is then counts."""
    asked: list[float] = []

    def enough(_rho: float, v: float, _farthest: float, *, of_ranges: bool) -> float:
        asked.append(v)
        return 0.3 / v + of_ranges

    monkeypatch.setattr(mixed_games, "enough", enough)

    def after(total: float) -> float:
        return mixed_games._carried((2.0, 2.0, 2.0), 1.0, total, 0.5, 6.0)

    after(40.0)
    starts, looked = [1.0], list(asked)
    while len(starts) < len(looked):
        starts.append(starts[-1] + max(0.5, mixed_games._GROWTH * starts[-1]))
    assert all(v <= after(max(start - 0.5, 1.0 + 1e-9)) for start, v in zip(starts, looked, strict=True))


@pytest.mark.parametrize("known", [(2.0, 2.0, 2.0), (2.0, 1.7, 1.2), (2.0, 1.95, 1.3)])
def test_a_step_from_below_the_start_counts_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, known: tuple[float, ...]
) -> None:
    """From every sum that is one statement, however little of the step is beyond the last of these."""
    monkeypatch.setattr(mixed_games, "enough", lambda *_, **__: 0.3)
    for total in (1.001, 1.1, 1.4):
        after = mixed_games._carried(known, 1.0, total, 0.5, 6.0)
        for before in np.linspace(total - 0.5, 1.0, 101):
            follows = known[0] if before > 0.9 else known[1] if before > 0.75 else known[2]
            assert follows + 2 * 1.3 * (total - before) <= after


def test_what_is_beyond_the_last_place_counts_for_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed_games, "SPARE", 1.0)
    found = mixed_games.above.__wrapped__(Fraction(1, 1000), Fraction(1, 5), 200, 1e-3)
    farthest = math.sqrt(-2 * math.log(1e-3 / 200))
    assert found.rest >= 200 * math.erfc(farthest / math.sqrt(2)) / 2
