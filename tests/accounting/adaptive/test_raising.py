"""The best chord at every place is found without a look at all of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive import raising
from privately.accounting.adaptive.chances import Table, table
from privately.accounting.adaptive.raising import raised
from privately.accounting.elementary import Floats

STEP = Fraction(1, 10)
SIZES = [Fraction(1), Fraction(27, 20), Fraction(1, 10), Fraction(1, 4)]


def profile(seed: int, kinks: int, size: int = 80) -> Floats:
    """That of a pair of few outcomes or many, whose losses are on the lattice, from a loss of -2 on.

    Without any, values that fall but are not convex, as upper values need not be.
    """
    random = np.random.default_rng(seed)
    if not kinks:
        return np.sort(random.random(size) * (random.random(size) < 0.2))[::-1]
    y = np.exp(np.arange(size) * float(STEP) - 2)
    places = random.choice(np.arange(5, size - 10), kinks, replace=False)
    masses = random.dirichlet(np.ones(kinks))
    found = (masses[:, None] * np.maximum(1 - y / y[places, None], 0)).sum(axis=0)
    return np.asarray(np.minimum.accumulate(found))


def searched(upper: Floats, chances: Table, fine: int = 40) -> Floats:
    """All chords, from as many beginnings, of functions that are linear between places, or between ends of chords."""
    y = np.exp(np.arange(upper.size) * float(STEP) - 2)
    far = np.interp(y * chances.grown, y, upper)
    found = []
    for at in y[chances.reach : upper.size - chances.reach]:
        z = at * np.exp(-np.linspace(0, float(np.log(chances.grown)), fine * chances.reach + 1))
        up = (chances.grown - at / z) / chances.growth
        ends = np.interp(z, y, upper), np.interp(z, y, far)
        found.append((up * ends[0] + (1 - up) * ends[1]).max())
    return np.array(found)


def is_above(seed: int, kinks: int, size: Fraction) -> bool:
    upper, chances = profile(seed, kinks), table(size, STEP)
    return bool((raised(upper, chances).values >= searched(upper, chances) * (1 - 1e-13) - 1e-16).all())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kinks", [0, 1, 2, 5, 40])
def test_no_chord_is_above(size: Fraction, kinks: int) -> None:
    assert all(is_above(seed, kinks, size) for seed in range(4))


@pytest.mark.parametrize("size", SIZES[:3])
def test_the_best_chord_is_found(size: Fraction) -> None:
    """Values are hardly above the best chord; those that are said to be nearly best are, where all is smooth."""
    chances = table(size, STEP)
    y = np.exp(np.arange(80) * float(STEP) - 2)
    upper = np.where(y < np.e**3, (np.e**1.5 - np.sqrt(y)) ** 2 / (np.e**3 - 1), 0.0)
    found, best = raised(upper, chances), searched(upper, chances)
    assert found.values == pytest.approx(best, abs=1e-5 if chances.rest == 0 else 2e-3)
    place = np.arange(chances.reach, chances.reach + best.size)
    rise, smooth = place - found.starts, slice(5, 40)
    value = chances.ups[rise] * upper[found.starts] + chances.downs[rise] * upper[found.starts + chances.nearest]
    assert (found.starts <= place).all()
    assert (rise <= chances.cells).all()
    if chances.rest == 0:
        assert value[smooth] == pytest.approx(best[smooth], abs=2e-3)


@pytest.mark.parametrize("missing", ["_in_cells", "_between_cells", "_at_first_ends"])
def test_what_is_left_out_would_be_noticed(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_above(88, 0, Fraction(37, 100))
    monkeypatch.setattr(raising, missing, lambda *_: ())
    cases = [(seed, kinks, size) for size in SIZES for kinks in (0, 2, 5, 40) for seed in range(6)]
    assert not all(is_above(*case) for case in [*cases, (88, 0, Fraction(37, 100))])
