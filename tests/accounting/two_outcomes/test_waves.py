"""One step of zCDP at all places at once, from above."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import Floats
from privately.accounting.two_outcomes import waves
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.smooth import Fit, Smooth, Touched, Whole
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import touching
from privately.accounting.two_outcomes.waves import Lattice, Wave, Waves, power, raised, tails

from .test_before_normal import delta, pairs

LATTICE = Lattice(0.02, 120)
V = 0.2


@lru_cache(maxsize=1)
def tenth() -> Waves:
    return Waves(touching(Concentrated(Fraction(1, 10)), 1e-8), LATTICE)


def normal() -> Wave:
    """Before normal noise of rho 0.1, of which everything is known."""
    upper = np.array([delta(V, k * LATTICE.step) for k in range(LATTICE.places)]) * (1 + 1e-12)
    return Wave(upper, Smooth.of(upper, LATTICE.far, LATTICE.step), V / 2)


def step_before_normal(epsilon: float) -> float:
    """By some pairs, in both directions."""
    return max(
        max(
            p * delta(V, epsilon - math.log(p / q)) + (1 - p) * delta(V, epsilon - math.log((1 - p) / (1 - q))),
            (1 - q) * delta(V, epsilon - math.log((1 - q) / (1 - p))) + q * delta(V, epsilon - math.log(q / p)),
        )
        for p, q in pairs(0.1, 40)
    )


def test_one_step_of_a_strategy_is_not_above() -> None:
    """Nor far below."""
    found = raised(normal(), tenth())
    for place in (0, 3, 20, 50, 80):
        least = step_before_normal(place * LATTICE.step)
        assert least <= found.upper[place] <= least * 1.01


@pytest.mark.parametrize("lattice", [Lattice(0.06, 8), LATTICE])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_lines_are_looked_at(seed: int, lattice: Lattice) -> None:
    """Each of them proves what it does by all losses, however large or small, also beyond the lattice; or nothing."""
    choose, places = np.random.default_rng(seed), lattice.places
    lines = Waves(touching(Concentrated(Fraction(1, 10)), 1e-8), lattice)
    upper = np.array([delta(V, k * lattice.step) for k in range(places)])
    nothing = np.zeros(places)
    around = Curve(lattice.step, 0, NEVER, upper, nothing, nothing).upper_around(lattice.far, lattice.far)
    kind = choose.integers(0, lines.orders.size, places)
    tried = Fit(
        kind, choose.choice([-1, 1, 1], places) * np.exp(choose.uniform(-6, 3, places)), choose.uniform(-1, 2, places)
    )
    found = waves._values(around * (1 + 2 * lattice.doubt), lines, np.arange(places), lines.rows(kind), tried).value
    losses = np.linspace(-8, 8, 321)
    for place in range(0, places, 1 + places // 20):
        t, share = float(lines.orders[kind[place]]), float(lines.shares[kind[place]])
        f, _, _ = power(np.full(losses.size, t), np.full(losses.size, share), losses)
        w = np.exp(losses) * np.array([delta(V, place * lattice.step - float(x)) for x in losses])
        factor, tilt = float(tried.factor[place]), float(tried.tilt[place])
        most = float((w - tilt * np.exp(losses) - factor * f).max())
        assert found[place] >= min(most + tilt + factor * float(lines.touched.means[kind[place]]), 1.0) - 1e-9
        assert found[place] == 1 or factor >= 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("part", range(5))
def test_rows_are_below(part: int, share: float) -> None:
    """Straight lines between what is kept of f are below it, but hardly where all differences are kept."""
    kinds = np.array([round(share * (tenth().orders.size - 1))])
    (row,) = tenth().rows(kinds)[part]
    t, kept = float(tenth().orders[kinds[0]]), float(tenth().shares[kinds[0]])
    losses = tenth().parts[part].losses(LATTICE.step)
    inside = losses * t < 500
    row, losses = row[inside], losses[inside]
    ratios = np.exp(losses)
    for weight in (0.0, 0.25, 0.5, 0.75, 1.0):
        r = ratios[:-1] * (1 - weight) + ratios[1:] * weight
        f, _, size = power(np.full(r.size, t), np.full(r.size, kept), np.log(r))
        assert (row[:-1] * (1 - weight) + row[1:] * weight <= f + 1e-13 * size).all()
    if part == 0:
        f, _, size = power(np.full(losses.size, t), np.full(losses.size, kept), losses)
        assert (f - row <= 0.001 * (1 + t * t) * size + 1e-4).all()


def test_rows_beyond_all_floats_are_finite() -> None:
    """Tangents of high orders at very large losses: kept as less than they are, never as infinite."""
    lines = Waves(touching(Concentrated(Fraction(3)), 1e-10), Lattice(1.0, 220))
    kinds = np.arange(0, lines.orders.size, 40)
    assert all(np.isfinite(row).all() for row in lines.rows(kinds))
    assert max(float(row.max()) for row in lines.rows(kinds)) > 1e250


def test_tails() -> None:
    """Those of normal noise are within, and at a loss of 0 there is nothing to say."""
    epsilon = np.array([0.0, 0.3, 1.0, 2.5, 5.0])
    found = tails(0.1, epsilon)
    assert all(delta(0.2, float(x)) <= bound for x, bound in zip(epsilon, found, strict=True))
    assert found[0] <= 1 + 1e-7
    assert found[3] < 2e-6


def test_rows_are_made_anew_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    few = Waves(touching(Concentrated(Fraction(1, 10)), 1e-8), LATTICE)
    kinds = np.array([5, 450, 5, 40])
    before = [part.copy() for part in few.rows(kinds)]
    monkeypatch.setattr(waves, "_MOST_ROWS", 1)
    after = few.rows(kinds[::-1])
    assert all((one[::-1] == two).all() for one, two in zip(before, after, strict=True))


def test_other_lines_are_tried_where_one_is_not_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders that are too low prove little; those beside them are as good as ever."""
    good = raised(normal(), tenth()).upper
    best = Smooth.best

    def low(self: Smooth, touched: Touched, size: int) -> tuple[Whole, Floats, Smooth]:
        kind, factor, smooth = best(self, touched, size)
        return np.maximum(kind - 40, 0), factor, smooth

    monkeypatch.setattr(Smooth, "best", low)
    monkeypatch.setattr(waves, "_SHIFTS", (40,))
    found = raised(normal(), tenth()).upper
    monkeypatch.setattr(waves, "_SHIFTS", ())
    without = raised(normal(), tenth()).upper
    assert (found[20:60] <= good[20:60] * 1.005).all()
    assert (without[20:60] > good[20:60] * 1.02).any()


def test_the_sum_of_all_rho_is_kept() -> None:
    assert raised(normal(), tenth()).total >= 0.2
    assert sliding_window_view(raised(normal(), tenth()).upper, 2).min() >= 0


@pytest.mark.parametrize("shift", [-2, 1, 2])
@pytest.mark.parametrize("rho", [0.1, 0.08])
def test_lines_elsewhere(rho: float, shift: int) -> None:
    """At places beside those that were looked at, and for a lesser rho: no pair is above, nor far below."""
    found, _ = waves.proofs(normal(), tenth(), 4)
    value = found.elsewhere(tenth(), rho, shift * LATTICE.step)
    for k in (1, 5, 12, 20):
        epsilon = (4 * k + shift) * LATTICE.step
        least = max(
            max(
                p * delta(V, epsilon - math.log(p / q)) + (1 - p) * delta(V, epsilon - math.log((1 - p) / (1 - q))),
                (1 - q) * delta(V, epsilon - math.log((1 - q) / (1 - p))) + q * delta(V, epsilon - math.log(q / p)),
            )
            for p, q in pairs(rho, 40)
        )
        assert least <= value[k] <= least * (1.012 if rho == 0.1 else 1.06)
