"""Many steps at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.losses import Direction
from privately.accounting.sampled_games import jumps as module
from privately.accounting.sampled_games.jumps import Jumps, applied, fitted
from privately.accounting.sampled_games.profiles import Lattice, Profile, convex
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.steps import raised
from tests.accounting.sampled_games.examples import way

WIDE = Lattice(0.02, -130, 130)
PLACES = np.array([-36, -24, -16, *range(-12, 0), *range(1, 13), 16, 24, 36])
SPARE = 1e-9


def _played(direction: Direction, times: int) -> tuple[Profile, Profile, Jumps | None]:
    one = way("0.25", direction, WIDE)
    rule = Ranged(Fraction(1), one.ratios, one.doubt)
    known = Profile.start(WIDE)
    for _ in range(times):
        known = convex(raised(known, one, rule))
    after = raised(known, one, rule)
    return known, after, fitted(known, after, 8.0, SPARE, PLACES)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_jumps_are_enough_for_every_step(direction: Direction) -> None:
    """Three steps by jumps are above three that are played, and hardly more."""
    known, after, jumps = _played(direction, 4)
    assert jumps is not None
    one = way("0.25", direction, WIDE)
    rule = Ranged(Fraction(1), one.ratios, one.doubt)
    played = raised(raised(after, one, rule), one, rule)
    found = applied(known, jumps, 3, SPARE)
    inside = slice(5, -5)
    assert (found.excess[inside] >= played.excess[inside] * (1 - 1e-6)).all()
    near = found.values > 1e-4
    assert (found.values[near] <= played.values[near] * 1.15).all()


def test_jumps_are_a_pair_of_laws() -> None:
    """P and Q have no more than 1."""
    _, _, jumps = _played("remove", 4)
    assert jumps is not None
    assert sum(jumps.exact) + Fraction(jumps.infinite) == 1
    second = sum(
        float(mass) * np.exp(-place * WIDE.step) for mass, place in zip(jumps.exact, jumps.places, strict=True)
    )
    assert 1 - 1e-9 <= second + jumps.hidden <= 1 + 1e-9
    assert second <= 1 + 1e-12


def test_too_few_jumps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the search says is checked at all places, and at both ends."""
    known, after, _ = _played("remove", 4)
    searched = module._searched(known, after, 8.0, SPARE, PLACES)
    monkeypatch.setattr(module, "_searched", lambda *_: searched * 0.99)
    assert fitted(known, after, 8.0, SPARE, PLACES) is None
    monkeypatch.setattr(module, "_searched", lambda *_: searched)
    assert fitted(known, after, 8.0, SPARE, PLACES) is not None
    for end in (0, -1):
        more = after.excess.copy()
        more[end] += 2 * SPARE
        assert fitted(known, replace(after, excess=more), 8.0, SPARE, PLACES) is None


def test_what_is_not_convex_is_refused() -> None:
    known, after, _ = _played("remove", 4)
    bent = known.excess.copy()
    bent[-WIDE.first] *= 1.5
    assert fitted(replace(known, excess=bent), after, 8.0, SPARE, PLACES) is None


def test_infinite_losses_hidden_masses_and_what_is_spared_count() -> None:
    jumps = Jumps(np.array([0]), np.array([0.99]), 0.01, 0.01, (Fraction(99, 100),))
    found = applied(Profile.start(WIDE), jumps, 3, 1e-3).excess
    assert np.allclose(found, (1 - 0.99**3) * np.minimum(np.exp(WIDE.losses), 1.0) + 3e-3, rtol=1e-9)


def test_losses_that_are_too_low_are_balanced() -> None:
    jumps = module._exact(np.array([-1, 1]), np.array([0.1, 0.01, 0.0]), 0.5)
    assert jumps is not None
    assert sum(jumps.exact) == 1
    assert 1 - 1e-9 <= jumps.masses @ np.exp(-0.5 * jumps.places) <= 1 + 1e-15


@pytest.mark.parametrize("lost", ["infinite", "hidden"])
def test_hardly_any_mass_is_lost(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond both ends of the lattice steps with jumps are above the steps only up to the mass that is lost."""
    known, after, jumps = _played("remove", 4)
    assert jumps is not None
    for mass, is_enough in ((9e-7, True), (2e-6, False)):
        more = replace(jumps, infinite=mass) if lost == "infinite" else replace(jumps, hidden=mass)
        monkeypatch.setattr(module, "_exact", lambda *_, more=more: more)
        assert (fitted(known, after, 8.0, SPARE, PLACES) is not None) == is_enough
