"""Many discrete noises in one row: the same as each law alone, and the truth within the bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.contour import discrete_rows
from privately.accounting.contour.discrete import Discrete
from privately.accounting.contour.discrete_rows import DiscreteLoss, DiscreteNoises, is_in_row, outcomes_of
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.view import power, product
from privately.accounting.losses import (
    DIRECTIONS,
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    GaussianLoss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
)
from privately.accounting.roads import NotApplicable

C, HIGHEST, QUIET, STEP, COUNT = 3.0, 5.0, 45.0, 0.05, 200
NORMAL = [(Fraction(3), 1), (Fraction(61, 2), 3), (Fraction(40), 12), (Fraction(2500), 2)]
LAPLACE = [(Fraction(1, 2), 2), (Fraction(7), 1), (Fraction(30), 63)]
RATES = [Fraction(1, 10**6), Fraction(1, 50), Fraction(9, 10)]


def rows() -> dict[str, list[tuple[DiscreteLoss, int]]]:
    found: dict[str, list[tuple[DiscreteLoss, int]]] = {
        "normal": [(DiscreteGaussianLoss(variance=v, sensitivity=s), 1 + s) for v, s in NORMAL],
        "laplace": [(DiscreteLaplaceLoss(scale=t, sensitivity=s), s) for t, s in LAPLACE],
    }
    for way in DIRECTIONS:
        found[f"normal, {way}"] = [
            (SampledDiscreteGaussianLoss(variance=v, sensitivity=s, rate=rate, direction=way), 1 + s)
            for v, s in NORMAL
            for rate in RATES
        ]
        found[f"laplace, {way}"] = [
            (SampledDiscreteLaplaceLoss(scale=t, sensitivity=s, rate=rate, direction=way), s)
            for t, s in LAPLACE
            for rate in RATES
        ]
    return found


ROWS = rows()


@pytest.mark.parametrize("name", ROWS)
def test_they_tell_the_same(name: str) -> None:
    """As one law after the other, whose bounds are held against the truth elsewhere."""
    (noises,) = DiscreteNoises.some(ROWS[name])
    row = noises.grid(C, HIGHEST, 1.0, QUIET)
    alone = [(Discrete.over(law), times) for law, times in ROWS[name]]
    assert row.is_endless
    assert not row.decay(C, np.array([1.0])).any()
    for c in (C, HIGHEST):
        low, high = (sum(times * law.log_mass(c)[end] for law, times in alone) for end in (0, 1))
        assert low <= row.log_mass_above(c) <= high + 1e-9 * (1 + abs(high))
    seen = row.view(C, 1.0)
    found, bounds = seen.transforms(STEP, COUNT)
    known: tuple[np.ndarray, np.ndarray] | None = None
    centre = Fraction(0)
    for law, times in alone:
        view = law.view(C, 1.0)
        one = power(*view.transforms(STEP, COUNT), times)
        known = one if known is None else product(*known, *one)
        centre += times * Fraction(view.centre)
    assert known is not None
    turned = np.exp(1j * float(centre - Fraction(seen.centre)) * STEP * np.arange(1, COUNT + 1))
    assert (np.abs((1 + known[0]) * turned - 1 - found) <= bounds + known[1] + 1e-13).all()
    assert bounds.max() <= 1e-7
    row.atoms(C, seen, 1)


def test_the_transform() -> None:
    """By sums over many outcomes, in floats that are good enough to see a wrong one."""
    (noises,) = DiscreteNoises.some(ROWS["normal, remove"])
    found, bounds = noises.grid(C, HIGHEST, 1.0, QUIET).view(C, 1.0).transforms(STEP, COUNT)
    w, total = STEP * COUNT, 0.0
    for law, times in ROWS["normal, remove"]:
        assert isinstance(law, SampledDiscreteGaussianLoss)
        v, s, q = float(law.variance), law.sensitivity, float(law.rate)
        k = np.arange(-1000.0, 1000.0)
        loss = np.log1p(q * np.expm1(s * (2 * k - s) / (2 * v)))
        weights = np.exp(-k * k / (2 * v) + (C + 1) * loss)
        total += times * math.log(abs(np.exp(1j * w * loss) @ weights) / weights.sum())
    assert abs(1 + found[-1]) == pytest.approx(math.exp(total), abs=float(bounds[-1]) + 1e-10)


WIDE = [law for row in ROWS.values() for law, _ in row if getattr(law, "variance", 0) == 2500]


@pytest.mark.parametrize("law", WIDE, ids=str)
def test_what_is_left_out(law: DiscreteLoss) -> None:
    """Of so few outcomes that it is seen, at a tilt and without it: at most what is said, which is hardly more."""
    row = DiscreteNoises((law,), (1,)).grid(C, C, 1.0, -1.0)
    tilted = row._row(C)
    whole = Discrete.over(law).points.tilted(C).total
    truth = (1 - float(tilted.total[0]) / whole) + (1 - float(row.points.base.sum()))
    assert 1e-3 < truth <= row._missing(tilted)[0] < 1.4 * truth


def test_terms_that_do_not_fall() -> None:
    row = DiscreteNoises((WIDE[0],), (1,)).grid(C, C, 1.0, -1.0)
    with pytest.raises(NotApplicable, match="too many outcomes"):
        row._missing(row._row(40 * C))


@pytest.mark.parametrize("name", ROWS)
def test_a_first_look(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (noises,) = DiscreteNoises.some(ROWS[name])
    kept = noises.rough(HIGHEST)
    monkeypatch.setattr(discrete_rows, "_AT_ONCE", noises.number)
    unlaid = noises.rough(HIGHEST)
    assert unlaid.cumulants(C) == kept.cumulants(C)
    assert unlaid.levels(np.array([C])).item() == kept.cumulants(C)[0]
    known = sum(times * sum(Discrete.over(law).log_mass(C)) / 2 for law, times in ROWS[name])
    assert kept.cumulants(C)[0] == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("name", ROWS)
def test_how_far_they_fall(name: str) -> None:
    (noises,) = DiscreteNoises.some(ROWS[name])
    row, last = noises.grid(C, HIGHEST, 1.0, QUIET), STEP * COUNT
    pairs = Scattering(last)
    row.scatter(C, pairs)
    places = STEP * np.arange(1.0, COUNT + 1)
    bounds = pairs.fallen(places) * (1 - 2.0**-20)
    found, off = row.view(C, 1.0).transforms(STEP, COUNT)
    sizes = np.abs(1 + found) + off
    assert (np.exp(-bounds) >= np.maximum.accumulate(sizes[::-1])[::-1] * (1 - 1e-9)).all()
    assert bounds[-1] > 0


def test_which_laws_are_laid_so() -> None:
    assert all(is_in_row(law) and outcomes_of(law) > 1 for row in ROWS.values() for law, _ in row)
    for law in (
        GaussianLoss(mu_squared=Fraction(1)),
        DiscreteGaussianLoss(variance=Fraction(2), sensitivity=1),
        DiscreteGaussianLoss(variance=Fraction(10), sensitivity=7),
        DiscreteLaplaceLoss(scale=Fraction(100), sensitivity=64),
        DiscreteLaplaceLoss(scale=Fraction(1), sensitivity=11),
        SampledDiscreteLaplaceLoss(scale=Fraction(9), sensitivity=1, rate=Fraction(1, 10**9), direction="add"),
    ):
        assert not is_in_row(law)


def test_rows_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrete_rows, "_AT_ONCE", 5)
    everything = [part for row in ROWS.values() for part in row]
    found = list(DiscreteNoises.some(everything))
    assert [row.number for row in found] == [4, 3, 5, 5, 2, 5, 4, 5, 5, 2, 5, 4]
    assert all(len({(type(law), getattr(law, "direction", None)) for law in row.laws}) == 1 for row in found)


def test_where_too_much_is_left_out() -> None:
    (noises,) = DiscreteNoises.some(ROWS["normal"])
    row = noises.grid(C, C, 1.0, QUIET)
    with pytest.raises(NotApplicable):
        row.log_mass_above(100 * C)
    with pytest.raises(NotApplicable):
        noises.grid(1e4, 1e4, 1.0, QUIET)


def test_planted_ends_are_seen() -> None:
    """Without what is left out, short lists would be wrong."""
    (noises,) = DiscreteNoises.some(ROWS["normal, remove"][:1])
    short = discrete_rows.DiscreteRow.over(noises, 0.0, np.full(1, 6.0))
    low, high = short.view(1.0, 1.0).log_mass
    (law, times), *_ = ROWS["normal, remove"]
    least, most = (times * end for end in Discrete.over(law).log_mass(1.0))
    assert low <= least <= most <= high
    assert high - low > 100 * (most - least)
