"""Many finite laws in one row: the truth of each within its bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import finites
from privately.accounting.contour.finites import Finites, is_plain
from privately.accounting.contour.scattering import Scattering
from privately.accounting.finite_pairs import response_pair
from privately.accounting.losses import DIRECTIONS, FiniteLoss
from tests.accounting.contour.exact_transforms import precision
from tests.accounting.contour.test_finite import exact_atoms

EPSILONS = [Fraction(1, 10**9), Fraction(1, 7), Fraction(1), Fraction(29, 3)]
RATES = [Fraction(1, 10**9), Fraction(1, 50), Fraction(999, 1000)]
C, STEP, COUNT = 0.7, 0.05, 200


def laws() -> list[tuple[FiniteLoss, int]]:
    found: dict[FiniteLoss, int] = {}
    for place, epsilon in enumerate(EPSILONS):
        for categories, lost in ((2, Fraction(0)), (5, Fraction(0)), (2, Fraction(1, 9))):
            base = response_pair(epsilon, categories=categories, delta=lost)
            pairs = [base, *(base.sampled(rate, way) for rate in RATES for way in DIRECTIONS), base.glued(RATES[1])]
            for pair in pairs:
                law, _ = pair.loss()
                assert law is not None
                found[law] = 1 + place
    return list(found.items())


PLAIN = [(law, times) for law, times in laws() if is_plain(law)]
ROW = Finites.of(PLAIN)


def test_most_laws_are_plain() -> None:
    assert len(PLAIN) >= 80
    assert not is_plain(response_pair(Fraction(11)).loss()[0])  # type: ignore[arg-type]
    halves = replace(PLAIN[0][0], outcomes=((((Fraction(1, 2),) * 2),) * 2,) * 2)
    assert not is_plain(halves)
    one, two, three = Fraction(1), Fraction(2), Fraction(3)
    assert not is_plain(replace(PLAIN[0][0], outcomes=(((three, one), (one, two)),)))  # p - q = 2 - e^epsilon


def test_rows_of_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finites, "_AT_ONCE", 30)
    rows = list(Finites.some(PLAIN))
    assert max(row.number for row in rows) == 30
    assert [times for row in rows for times in row.times] == [times for _, times in PLAIN]
    assert sum(row.log_mass_above(C) for row in rows) == pytest.approx(ROW.log_mass_above(C), rel=1e-12)


def test_outcomes_are_within_their_errors() -> None:
    points = ROW.points
    with precision(300):
        place = 0
        for law, _ in PLAIN:
            for p, loss in exact_atoms(law):
                near, known = float(points.base[place]), float(points.loss[place])
                assert abs(arb(near) / p - 1) <= arb(float(points.weight_error[place]))  # type: ignore[index]
                assert abs(arb(known) - loss) <= arb(float(points.loss_error[place])) + arb(1e-80)
                place += 1
    assert place == ROW.size
    assert (points.loss_error <= 1e-12 * np.abs(points.loss)).all()


def truth(w: float, row: list[tuple[FiniteLoss, int]]) -> tuple[acb, arb]:
    """The product of all M(c + iw)/M(c), each so many times, and the sum of all ln M(c)."""
    turned, level = acb(1), arb(0)
    for law, times in row:
        atoms = exact_atoms(law)
        whole = sum((p * (arb(C) * loss).exp() for p, loss in atoms), arb(0))
        at = sum((p * (acb(C, w) * loss).exp() for p, loss in atoms), acb(0))
        turned, level = turned * (at / whole) ** times, level + times * whole.log()
    return turned, level


def is_enclosed(found: Finites) -> bool:
    view = found.view(C, 0.0)
    transforms, bounds = view.transforms(STEP, COUNT)
    assert bounds.max() <= 1e-8
    centre, level = Fraction(view.centre), arb(0)
    with precision(300):
        near = []
        for n in (1, 33, COUNT):
            whole, level = truth(n * STEP, PLAIN)
            whole *= (acb(0, -1) * arb(n * STEP) * arb(centre.numerator) / arb(centre.denominator)).exp()
            near.append(abs(whole - 1 - acb(complex(transforms[n - 1]))) <= arb(float(bounds[n - 1])))
        low, high = view.log_mass
        near += [arb(low) <= level <= arb(high), level <= arb(found.log_mass_above(C))]
    return all(near)


def test_the_transform() -> None:
    assert is_enclosed(ROW)
    assert ROW.is_endless
    ROW.atoms(C, ROW.view(C, 0.0), 1)
    assert not ROW.decay(C, np.array([1.0, 9.0])).any()
    level = ROW.grid(C, C, 0.0, 0.0).rough(1.0).cumulants(C)[0]
    assert level == pytest.approx(ROW.log_mass_above(C), rel=1e-9)


def test_a_wrong_law_is_seen() -> None:
    loss = ROW.points.loss.copy()
    loss[np.argmax(np.abs(loss) * ROW.points.base)] *= 1 + 1e-6
    assert not is_enclosed(replace(ROW, points=replace(ROW.points, loss=loss)))
    assert not is_enclosed(replace(ROW, times=(2, *ROW.times[1:-1], 5)))


def test_how_far_they_fall() -> None:
    row = [(law, 1) for law, _ in PLAIN if law.epsilon >= Fraction(1, 7)]
    found = Finites.of(row)
    frequencies = np.array([0.5, 3.0, 11.0, 59.0])
    pairs = Scattering(60.0)
    found.scatter(C, pairs)
    bounds = pairs.fallen(frequencies) * (1 - 2.0**-20)
    with precision(100):
        for w in np.linspace(0.5, 60.0, 50).tolist():
            fallen = -float(abs(truth(w, row)[0]).log())
            assert all(fallen >= bound for bound, start in zip(bounds, frequencies, strict=True) if w >= start)
    assert bounds[-1] > 1
    assert math.isfinite(bounds.max())
