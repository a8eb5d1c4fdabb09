"""Many Laplace mechanisms at once: the closed form against integration, and the claims about how it falls."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from privately.accounting.contour import laplaces
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.laying import lay
from privately.accounting.contour.saddle import Outline, for_delta, shape
from privately.accounting.losses import LaplaceLoss
from privately.accounting.roads import NotApplicable
from tests.accounting.contour import exact_transforms
from tests.accounting.contour.exact_transforms import precision

MIXTURES = [
    [(0.5, 1)],
    [(1e-4, 10**12)],
    [(0.01, 10_000)],
    [(3.0, 2), (0.25, 7)],
    [(1 / 30, 1), (1 / 31, 1), (1 / 32, 1), (0.5, 3), (0.75, 3)],
    [(40.0, 1), (0.001, 1000)],
]


def laws_of(parts: list[tuple[float, int]]) -> Laplaces:
    return Laplaces.of([(LaplaceLoss(epsilon=Fraction(epsilon)), times) for epsilon, times in parts])


def exact_log_mass(parts: list[tuple[float, int]], c: float) -> arb:
    return sum((times * exact_transforms.laplace(e, c).real.log() for e, times in parts), arb(0))


@pytest.mark.parametrize("parts", MIXTURES)
@pytest.mark.parametrize("c", [0.01, 1.0, 7.5, 200.0])
def test_the_transform(parts: list[tuple[float, int]], c: float) -> None:
    """ln M(c) and M(c + iw)/M(c) against integrals under P."""
    laws = laws_of(parts)
    low, high = laws.log_mass(c)
    view = laws.view(c, 50.0)
    found, bounds = view.transforms(0.5, 40)
    with precision(260):
        assert arb(low) <= exact_log_mass(parts, c) <= arb(high)
        for n in (1, 2, 13, 40):
            w = arb(n) / 2
            truth = acb(1)
            for epsilon, times in parts:
                at = exact_transforms.laplace(epsilon, complex(c, n * 0.5))
                truth *= (at / exact_transforms.laplace(epsilon, c)) ** times
            centre = Fraction(view.centre)
            turn = acb(0, -1) * w * (arb(centre.numerator) / arb(centre.denominator))
            truth *= turn.exp()
            assert abs(truth - 1 - acb(complex(found[n - 1]))) <= arb(float(bounds[n - 1]))


def single_fault(epsilon: float, c: float, n: int) -> float:
    """How far a single law's transform is off, over what is stated."""
    view = laws_of([(epsilon, 7)]).view(c, 50.0)
    found, slope, size = view.turned(0.5, 40)
    with precision(260):
        at = exact_transforms.laplace(epsilon, complex(c, n * 0.5)) / exact_transforms.laplace(epsilon, c)
        truth = at * (acb(0, -1) * arb(n) / 2 * arb(float(view.centres[0]))).exp() - 1
        assert abs(truth) <= arb(n * 0.5 * size)
        return float((abs(truth - acb(complex(found[n - 1]))) / arb(n * 0.5 * slope)).upper())


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("c", [0.01, 1.0, 7.5, 200.0])
def test_a_single_law(epsilon: float, c: float) -> None:
    """Its errors grow with the frequency at most as is said."""
    assert max(single_fault(epsilon, c, n) for n in (1, 2, 13, 40)) <= 1


def test_a_single_law_that_is_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: without the small term -iw(1-g)."""
    monkeypatch.setattr(laplaces, "expm1_one", lambda x: 0.0)
    assert single_fault(0.5, 2.0, 1) > 1


def test_only_a_single_law_is_seen_alone() -> None:
    assert laws_of([(0.5, 7)]).view(2.0, 1.0).repeated == 7
    assert laws_of([(0.5, 7), (0.25, 1)]).view(2.0, 1.0).repeated == 0


@pytest.mark.parametrize(("epsilon", "times", "most"), [(0.05, 1000, 30), (0.01, 10_000, 20), (0.1, 1000, 20)])
def test_atoms_that_come_back_late_need_no_long_sum(epsilon: float, times: int, most: int) -> None:
    """The integrand is as large again where w epsilon is a multiple of pi; that is far, and little of it is left."""
    parts = [(laws_of([(epsilon, times)]), 1)]
    outline = Outline(parts, 0.0)
    saddle = for_delta(outline, math.log(1e-6))
    layout = lay(parts, 0.0, shape(outline, saddle, saddle.epsilon, math.log(1e-8)), 1e-8)
    assert layout.count <= most
    assert layout.atoms is None
    assert layout.step * layout.count * epsilon < 1


def test_the_bounds_are_useful() -> None:
    laws = laws_of([(0.01, 10_000)])
    low, high = laws.log_mass(5.0)
    assert high - low <= 1e-9
    _, bounds = laws.view(5.0, 10.0).transforms(0.1, 100)
    assert bounds.max() <= 1e-8


def test_a_wrong_transform_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the small term -iw(1-g) the transform is wrong by more than its bound."""
    monkeypatch.setattr(laplaces, "expm1", np.zeros_like)
    view = laws_of([(0.5, 1)]).view(2.0, 50.0)
    found, bounds = view.transforms(0.5, 4)
    with precision():
        at = exact_transforms.laplace(0.5, complex(2.0, 0.5)) / exact_transforms.laplace(0.5, 2.0)
        truth = at * (acb(0, -1) * arb(0.5) * arb(float(view.centre))).exp() - 1
        assert abs(truth - acb(complex(found[0]))) > arb(float(bounds[0]))


@pytest.mark.parametrize(("epsilon", "c"), [(0.5, 3.0), (2.0, 0.5), (4.0, 6.0)])
def test_how_fast_it_falls(epsilon: float, c: float) -> None:
    laws = laws_of([(epsilon, 1)])
    frequencies = np.array([1.0, 5.0, 40.0])
    falls = laws.decay(c, frequencies).tolist()
    w = np.concatenate([frequencies, np.linspace(1, 200, 4000)])

    def transform(z: np.ndarray) -> np.ndarray:
        return np.asarray(((z + 1) * np.exp(z * epsilon) + z * np.exp(-(z + 1) * epsilon)) / (2 * z + 1))

    sizes = np.abs(transform(c + 1j * w)) / transform(np.array([c + 0j])).real
    for place, fall in zip(frequencies.tolist(), falls, strict=True):
        assert fall <= -math.log(sizes[w >= place].max()) + 1e-12
    assert falls[-1] >= 0.5 * -math.log(sizes[w >= 40].max())


@pytest.mark.parametrize("epsilon", [1e-4, 0.05, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("c", [0.01, 0.5, 3.0, 200.0])
def test_how_fast_a_single_law_falls(epsilon: float, c: float) -> None:
    """As arrays say, or a little less; and never more than the transform shows in exact arithmetic."""
    laws = laws_of([(epsilon, 7)])
    places = np.array([1e-3, 0.3, 1.0, 1.5, 2.0, 2.2, 3.0, 10.0]) / epsilon
    listed = laws.decay(c, places).tolist()
    for at, fall in zip(places.tolist(), listed, strict=True):
        found = laws.fallen(c, at)
        assert 0.97 * fall - 1e-12 <= found <= fall * (1 + 1e-5) + 1e-12
        with precision():
            whole = exact_transforms.laplace(epsilon, c).real
            for factor in (1, 1.01, 1.3, 2):
                size = abs(exact_transforms.laplace(epsilon, complex(c, factor * at)) / whole)
                assert arb(found) <= -7 * size.log()


def test_the_atoms() -> None:
    """Their tilted masses, and what is left falls as V/w."""
    epsilon, c = 1.5, 2.0
    laws = laws_of([(epsilon, 1)])
    view = laws.view(c, 50.0)
    atoms = laws.atoms(c, view, 1)
    assert atoms is not None
    with precision():
        whole = exact_transforms.laplace(epsilon, c).real
        masses = [(arb(c) * arb(epsilon)).exp() / 2 / whole, (-arb(c + 1) * arb(epsilon)).exp() / 2 / whole]
        for weight, mass in zip(atoms.weights.tolist(), masses, strict=True):
            assert abs(arb(weight) - mass) <= mass * arb(atoms.weight_error)
        for w in (3.0, 10.0, 77.0):
            at = exact_transforms.laplace(epsilon, complex(c, w)) / whole
            parts = zip(masses, (epsilon, -epsilon), strict=True)
            rest = at - sum((mass * (acb(0, 1) * arb(w) * arb(loss)).exp() for mass, loss in parts), acb(0))
            assert abs(rest) <= arb(atoms.variation) / arb(w)
    assert laws_of([(1.0, 1), (2.0, 1)]).atoms(1.0, view, 1) is None


def test_refusals() -> None:
    with pytest.raises(NotApplicable):
        laws_of([(501.0, 1)])
    with pytest.raises(NotApplicable):
        laws_of([(400.0, 1)]).view(1.0, 1e6)


def test_the_rough_cumulants() -> None:
    """K and its derivatives, by differences."""
    laws = laws_of([(0.7, 5), (0.1, 30)])
    for c in (0.5, 4.0):
        k, mean, variance = laws.cumulants(c)
        low, high = laws.log_mass(c)
        assert low - 1e-9 <= k <= high + 1e-9
        h = 1e-4
        up, down = (laws.cumulants(c + shift)[0] for shift in (h, -h))
        assert mean == pytest.approx((up - down) / (2 * h), rel=1e-6)
        assert variance == pytest.approx((up - 2 * k + down) / h**2, rel=1e-3)
        assert laws.levels(np.array([c])).item() == k
