"""Many sampled Gaussians in one row: the same bounds as for each law alone, and the truth within them."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import bundles, rows, segments
from privately.accounting.contour.bundles import Bundle, Relaid, RelaidView, Rows, grids
from privately.accounting.contour.finite import Finite
from privately.accounting.contour.protocols import Law
from privately.accounting.contour.sampled_gaussian import Grid, Plan, SampledGaussian, aliases
from privately.accounting.contour.shifted import Line
from privately.accounting.losses import response
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

PARAMETERS = [(1.0, 0.01, 100), (0.5, 0.2, 3), (1.6, 0.03, 100), (0.1, 0.9, 7), (0.02, 1e-4, 10**6)]
C, HIGHEST, REACH, QUIET = 5.0, 7.0, 2.0, 40.0

Parts = list[tuple[Law, int]]


def parts_of(removes: bool) -> Parts:
    return [(SampledGaussian(mu=mu, rate=rate, removes=removes), times) for mu, rate, times in PARAMETERS]


def bundle_of(removes: bool) -> Bundle:
    ((found, times),) = grids(parts_of(removes), C, HIGHEST, REACH, [QUIET] * len(PARAMETERS))
    assert isinstance(found, Bundle)
    assert times == 1
    return found


def exact_log_mass(removes: bool, c: float) -> arb:
    whole = (n * exact_transforms.sampled_gaussian(mu, q, removes, c).real.log() for mu, q, n in PARAMETERS)
    return sum(whole, arb(0))


def characteristic(removes: bool, w: float, centre: Fraction) -> acb:
    """The product of all (M(c + iw)/M(c))^times, centred."""
    found = acb(1)
    for mu, rate, times in PARAMETERS:
        at, whole = (exact_transforms.sampled_gaussian(mu, rate, removes, z) for z in (complex(C, w), C))
        found *= (at / whole) ** times
    return found * (acb(0, -1) * arb(w) * arb(centre.numerator) / arb(centre.denominator)).exp()


def is_enclosed(bundle: Bundle) -> bool:
    """Whether the true transform of all laws together is within the bounds, everywhere."""
    step, count = 0.05, 40
    view = bundle.view(C, REACH)
    found, bounds = view.transforms(step, count)
    with precision(260):
        gaps = [
            abs(characteristic(bundle.removes, n * step, Fraction(view.centre)) - 1 - acb(complex(found[n - 1])))
            <= arb(float(bounds[n - 1]))
            for n in (1, 2, 7, 40)
        ]
    return all(gaps)


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("first", "count"), [(-8, 40), (-24, 80)])
def test_what_few_points_miss(first: int, count: int, removes: bool) -> None:
    """So coarse or so short that it is seen: at all frequencies up to the reach, and of the law without a tilt."""
    step = 0.5
    laws = [SampledGaussian(mu=mu, rate=0.2, removes=removes) for mu in (1.0, 1.25)]
    rows = Rows([], [], array("d"))
    for law in laws:
        rows.add(law, 3, Plan(Line(law.mu, removes, 2.0, 0.0), step, first, first + count))
    bundle, c, reach = Bundle.of(rows), 2.0, 2.0
    errors = bundle.view(c, reach).errors
    tilts = bundle._tilted(c)
    for place, law in enumerate(laws):
        parts = [law.aliasing(c, reach, step) / 4, float(tilts.outside[place]), bundle.extents[place].outside_base()]
        assert (min if count == 40 else max)(parts) > 1e-9
        assert errors[place] >= 2 * sum(parts)
        assert count == 40 or bundle._missing(tilts, reach)[place] > 10 * bundle._missing(tilts, 0.0)[place]


@pytest.mark.parametrize("removes", [True, False])
def test_log_masses(removes: bool) -> None:
    bundle = bundle_of(removes)
    low, high = bundle.view(C, REACH).log_mass
    with precision(200):
        assert arb(low) <= exact_log_mass(removes, C) <= arb(high)
        for c in (0.6 * C, HIGHEST):
            assert exact_log_mass(removes, c) <= arb(bundle.log_mass_above(c))
    assert high - low <= 1e-9 * high
    assert bundle.log_mass_above(C) <= high + 1e-12 * abs(high)


@pytest.mark.parametrize("removes", [True, False])
def test_the_transform(removes: bool) -> None:
    bundle = bundle_of(removes)
    assert is_enclosed(bundle)
    _, bounds = bundle.view(C, REACH).transforms(0.05, 40)
    assert bounds.max() <= 1e-8


@pytest.mark.parametrize("block", [1, 2000, 1 << 20])
def test_the_transform_in_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(rows, "points_at_once", lambda _count: block)
    assert is_enclosed(bundle_of(removes=True))


def test_a_wrong_law_is_seen() -> None:
    """Laws that trade places, or a law that counts once more."""
    right = bundle_of(removes=True)
    laws = list(parts_of(removes=True))
    swapped = [(laws[1][0], 100), (laws[0][0], 3), *laws[2:]]
    for wrong in (swapped, [(laws[0][0], 101), *laws[1:]]):
        ((found, _),) = grids(wrong, C, HIGHEST, REACH, [QUIET] * len(PARAMETERS))
        assert isinstance(found, Bundle)
        assert not is_enclosed(found)
    loss = right.points.loss.copy()
    loss[right.segments.starts[2] : right.segments.starts[3]] *= 1 + 1e-6
    assert not is_enclosed(replace(right, points=replace(right.points, loss=loss)))


def dense_falls(removes: bool, w: float) -> float:
    """The sum of all -ln |phi(w)|, by many points; floats do."""
    total = 0.0
    for mu, rate, times in PARAMETERS:
        s = C + 1 if removes else -C
        x = np.arange(-14 + min(s, 0) * mu, 14 + max(s, 0) * mu, 2.0**-7)
        loss = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
        weights = np.exp(s * loss - x * x / 2)
        total -= times * math.log(abs(np.exp(1j * w * loss) @ weights) / weights.sum())
    return total


@pytest.mark.parametrize("removes", [True, False])
def test_how_fast_it_falls(removes: bool) -> None:
    frequencies = np.array([0.25, 1.0, 2.0])
    for some in (frequencies, frequencies * 8):  # one try at each frequency, and two
        found = bundle_of(removes).decay(C, some).tolist()
        for place, fall in zip(some.tolist(), found, strict=True):
            truth = min(dense_falls(removes, w) for w in (place, 1.1 * place, 1.5 * place, 3 * place))
            assert truth / 9 <= fall <= truth * (1 + 1e-9)


@pytest.mark.parametrize("removes", [True, False])
def test_cells_between_laws_count_for_nothing(removes: bool) -> None:
    """The same as of every law alone, also where a law has much mass at its ends."""
    frequencies = np.array([0.5, 1.0, 2.0])
    alone = [law.grid(C, HIGHEST, REACH, QUIET) for law, _ in parts_of(removes)]
    each = [times * grid.decay(C, frequencies) for grid, (_, _, times) in zip(alone, PARAMETERS, strict=True)]
    assert all(isinstance(grid, Grid) and not grid.line.height for grid in alone)
    found = bundle_of(removes).decay(C, frequencies)
    assert np.all(found <= sum(each) * (1 + 1e-4))
    assert np.all(found >= sum(each) * 0.99)


@pytest.mark.parametrize("removes", [True, False])
def test_on_lines_beside_the_real_one(monkeypatch: pytest.MonkeyPatch, removes: bool) -> None:
    """Of many laws those far beside the real line are in rows, too: as each alone, and the truth within the bounds."""
    apart = [grid for grid, _ in grids(parts_of(removes), C, HIGHEST, 400.0, [QUIET] * len(PARAMETERS))]
    monkeypatch.setattr(bundles, "_MANY", 1)
    found = [grid for grid, _ in grids(parts_of(removes), C, HIGHEST, 400.0, [QUIET] * len(PARAMETERS))]
    beside = [grid for grid in found if isinstance(grid, Bundle) and grid.height is not None]
    assert len(beside) == 1
    alone = {grid.law: grid for grid in apart if isinstance(grid, Grid)}
    assert len(beside[0].laws) >= 2
    views = [alone[law].view(C, 400.0) for law in beside[0].laws]
    whole, step, count = beside[0].view(C, 400.0), 0.02, 30
    assert whole.log_mass[0] <= sum(n * v.log_mass[1] for n, v in zip(beside[0].times, views, strict=True))
    assert whole.log_mass[1] >= sum(n * v.log_mass[0] for n, v in zip(beside[0].times, views, strict=True))
    seen, bounds = whole.transforms(step, count)
    kept = [(law.mu, law.rate, times) for law, times in zip(beside[0].laws, beside[0].times, strict=True)]
    monkeypatch.setattr("tests.accounting.contour.test_bundles.PARAMETERS", kept)
    with precision(260):
        for n in (1, 3, 10):
            truth = characteristic(removes, n * step, Fraction(whole.centre)) - 1
            assert abs(truth - acb(complex(seen[n - 1]))) <= arb(float(bounds[n - 1]))
    assert bounds.max() <= 1e-6
    again = beside[0].mirrored()
    assert again.height is None
    far, _ = replace(whole, weights=np.conj(whole.weights)).transforms(step, count)  # on the other side
    assert abs(far - seen).max() > bounds.max()


def test_gains_are_taken_law_by_law_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    frequencies = np.array([0.01, 0.5, 2.0, 40.0])
    whole = bundle_of(removes=True).decay(C, frequencies)
    monkeypatch.setattr(bundles, "_MOST_LIFTED", 1)
    assert np.allclose(bundle_of(removes=True).decay(C, frequencies), whole, rtol=1e-12)


def test_who_stays_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other laws, laws on a line beside the real one, and laws whose weights leave the range of floats."""
    plain = parts_of(removes=True)
    quiets = [QUIET] * (len(plain) + 1)
    other: Parts = [(Finite.of(response(Fraction(1, 2))), 5)]
    untame: Parts = [(SampledGaussian(mu=6.0, rate=0.5, removes=True), 2)]
    for extra in (other, untame):
        found = grids(plain + extra, C, HIGHEST, REACH, quiets)
        assert sorted(times for _, times in found) == sorted([1, extra[0][1]])
    beside = grids(plain, C, HIGHEST, 400.0, quiets[1:])
    assert {True, False} >= {isinstance(grid, Grid) for grid, _ in beside}
    assert any(isinstance(grid, Grid) and grid.line.height for grid, _ in beside)
    both = grids(plain + parts_of(removes=False), C, HIGHEST, REACH, quiets[1:] * 2)
    assert [grid.removes for grid, _ in both if isinstance(grid, Bundle)] == [True, False]
    monkeypatch.setattr(segments, "MOST_TOGETHER", 300)
    few = [grid for grid, _ in grids(plain, C, HIGHEST, REACH, quiets[1:]) if isinstance(grid, Bundle)]
    assert len(few) > 1
    assert all(grid.size <= 300 for grid in few)
    assert [law for grid in few for law in grid.laws] == [law for law, _ in plain]
    assert isinstance(grids(plain[:1], C, HIGHEST, REACH, quiets[:1])[0][0], Grid)


@pytest.mark.parametrize("removes", [True, False])
def test_points_that_are_not_kept(monkeypatch: pytest.MonkeyPatch, removes: bool) -> None:
    """Laid again whenever they are needed, they tell the same; and only a few of them are there at a time."""
    kept, frequencies = bundle_of(removes), np.array([0.5, 2.0])
    monkeypatch.setattr(bundles, "MOST_KEPT", 1)
    monkeypatch.setattr(segments, "MOST_TOGETHER", 200)
    found = [grid for grid, _ in grids(parts_of(removes), C, HIGHEST, REACH, [QUIET] * len(PARAMETERS))]
    assert all(isinstance(grid, Relaid) and not grid.is_endless for grid in found)
    assert len(found) > 1
    assert sum(grid.size for grid in found) == kept.size
    views, whole = [grid.view(C, REACH) for grid in found], kept.view(C, REACH)
    assert float(sum(Fraction(view.centre) for view in views)) == pytest.approx(float(whole.centre), rel=1e-13)
    assert all(isinstance(view, RelaidView) and not view.weights.size for view in views)
    again = [Bundle.of(view.of[0]).view(*view.of[1:]) for view in views if isinstance(view, RelaidView)]
    assert np.concatenate([view.weights for view in again]) == pytest.approx(whole.weights, rel=1e-13)
    together = np.prod([1 + view.transforms(0.05, 9)[0] for view in views], axis=0)
    assert together == pytest.approx(1 + whole.transforms(0.05, 9)[0], rel=1e-12)
    assert sum(grid.log_mass_above(HIGHEST) for grid in found) == pytest.approx(kept.log_mass_above(HIGHEST))
    assert sum(grid.decay(C, frequencies) for grid in found) == pytest.approx(kept.decay(C, frequencies))
    assert all(grid.atoms(C, view, 1) is None for grid, view in zip(found, views, strict=True))


@pytest.mark.parametrize("removes", [True, False])
def test_aliases_of_many_laws(removes: bool) -> None:
    """As for one, but for the powers of two that stand there for exponentials."""
    laws = [SampledGaussian(mu=mu, rate=0.01, removes=removes) for mu in (0.1, 0.5, 1.0, 3.0)]
    mu, steps = np.array([law.mu for law in laws]), np.array([0.5, 0.3, 0.2, 1.5])
    for c, reach, widest in ((3.0, 0.0, 2.0), (20.0, 5.0, 2.0), (20.0, 5.0, 1.57)):
        found = aliases(mu, steps, None if removes else c, reach, widest)
        for one, law, step in zip(found.tolist(), laws, steps.tolist(), strict=True):
            alone = law.aliasing(c, reach, step, widest)
            assert one <= alone
            assert alone <= 4 * one or one < 1e-200


def test_sums_of_centres_are_exact() -> None:
    values, times = [0.1, -3e-9, 5.0, 0.0, 1e300, 2.0**-1074], [3, 10**12, 1, 7, 1, 2]
    assert rows.total_of(times, values) == sum(n * Fraction(x) for n, x in zip(times, values, strict=True))


def test_the_other_direction_by_the_same_points() -> None:
    """As if the points had been laid for it; and about as much without bounds."""
    mirrored, direct = bundle_of(True).mirrored(), bundle_of(False)
    assert not mirrored.removes
    for height in (0.5 * C, C):
        low, high = direct._tilted(height).row.log_mass(direct._missing(direct._tilted(height), 0.0))
        found = mirrored.log_mass_above(height)
        assert low <= found <= high + 1e-9 * (1 + abs(high))
        assert mirrored.levels(np.array([height])).item() == pytest.approx(high, rel=1e-6)


def test_points_that_end_too_early_for_the_other_direction() -> None:
    """A bound that is a little too large, or none."""
    mirrored, direct = bundle_of(False).mirrored(), bundle_of(True)
    low, _ = direct._tilted(C / 2).row.log_mass(direct._missing(direct._tilted(C / 2), 0.0))
    assert low <= mirrored.log_mass_above(C / 2)
    with pytest.raises(NotApplicable):
        mirrored.log_mass_above(C)
