"""Many steps at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.sampled_games import jumps as module
from privately.accounting.sampled_games.jumps import Jumps, applied, fitted
from privately.accounting.sampled_games.profiles import Lattice, Profile, convex
from privately.accounting.sampled_games.ranges import Ranged
from privately.accounting.sampled_games.steps import raised
from tests.accounting.sampled_games.examples import way

WIDE = Lattice(0.02, -130, 130)
PLACES = np.array([-36, -24, -16, *range(-12, 0), *range(1, 13), 16, 24, 36])
SPARE = 1e-9


def _played(times: int) -> tuple[Profile, Profile, Jumps | None]:
    one = way("0.25", WIDE)
    rule = (Ranged(Fraction(1), one.ratios, one.doubt),) * 2
    known = Profile.start(WIDE)
    for _ in range(times):
        known = convex(raised(known, one, rule))
    after = raised(known, one, rule)
    return known, after, fitted(known, after, 8.0, SPARE, PLACES)


def _found(times: int = 4) -> tuple[Profile, Profile, Jumps]:
    known, after, jumps = _played(times)
    assert jumps is not None
    return known, after, jumps


def test_jumps_are_enough_for_every_step() -> None:
    """Three steps by jumps are above three that are played, and hardly more."""
    known, after, jumps = _found()
    one = way("0.25", WIDE)
    rule = (Ranged(Fraction(1), one.ratios, one.doubt),) * 2
    played = raised(raised(after, one, rule), one, rule)
    found = applied(known, jumps, 3)
    inside = slice(5, -5)
    assert (found.excess[inside] >= played.excess[inside] * (1 - 1e-6)).all()
    near = found.values > 1e-4
    assert (found.values[near] <= played.values[near] * 1.15).all()


def test_any_profile_will_do_to_begin_with() -> None:
    """Noise before nothing at all, and then jumps: above as many steps that are played."""
    one = way("0.25", WIDE)
    rule = (Ranged(Fraction(1), one.ratios, one.doubt),) * 2
    smooth = convex(Profile.smooth(WIDE, 0.25))
    jumps = fitted(smooth, raised(smooth, one, rule), 8.0, SPARE, PLACES)
    assert jumps is not None
    found, played = applied(smooth, jumps, 4), Profile.start(WIDE)
    for _ in range(4):
        played = raised(convex(played), one, rule)
    inside = slice(5, -5)
    assert (found.excess[inside] >= played.excess[inside] * (1 - 1e-6)).all()


def test_jumps_are_a_pair_of_laws() -> None:
    """P and Q have no more than 1, and either reveals everything with the probability that is spared."""
    _, _, jumps = _found()
    assert sum(jumps.exact) + Fraction(jumps.infinite) == 1
    second = sum(
        float(mass) * np.exp(-place * WIDE.step) for mass, place in zip(jumps.exact, jumps.places, strict=True)
    )
    assert 1 - 1e-9 <= second + jumps.hidden[0] <= second + jumps.hidden[1] <= 1 + 1e-9
    assert SPARE * (1 - 1e-9) <= jumps.infinite <= 2 * SPARE
    assert SPARE * (1 - 1e-9) <= jumps.hidden[0] <= jumps.hidden[1] <= 2 * SPARE


@pytest.mark.parametrize("is_removed", [True, False])
def test_the_law_of_jumps_is_above_them(is_removed: bool) -> None:
    """Its profile, by plain sums, is that of the masses, with both laws exchanged where rows are added."""
    _, _, jumps = _found()
    law, infinite = jumps.law(WIDE.step, is_removed=is_removed)
    outcomes = [(float(first), float(second)) for (first, _), (second, _) in law.outcomes]
    assert float(infinite) == pytest.approx(SPARE, rel=1e-3)
    masses = [(m, m * np.exp(-place * WIDE.step)) for m, place in zip(jumps.masses, jumps.places, strict=True)]
    masses = masses if is_removed else [(b, a) for a, b in masses]
    for y in (0.7, 1.0, 1.2, 2.0):
        exact = sum(max(a - y * b, 0.0) for a, b in masses) + SPARE
        found = sum(max(a - y * b, 0.0) for a, b in outcomes) + float(infinite)
        assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-9)
    losses = [a / b for a, b in outcomes]
    assert losses == sorted(losses, reverse=True)


def test_too_few_jumps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the search says is checked at all places, and at both ends; a little that is missing is added to all."""
    known, after, whole = _found()
    searched = module._searched(known, after, 8.0, SPARE, PLACES)
    monkeypatch.setattr(module, "_searched", lambda *_: searched * 0.9)
    assert fitted(known, after, 8.0, SPARE, PLACES) is None
    monkeypatch.setattr(module, "_searched", lambda *_: searched * 0.99)
    mended = fitted(known, after, 8.0, SPARE, PLACES)
    assert mended is not None
    assert not (after.excess > mended.before(known, upward=False)).any()
    assert mended.exact[int(np.argmax(mended.places > 0))] >= whole.exact[int(np.argmax(whole.places > 0))] * 99 / 100
    for end, size in ((0, np.exp(WIDE.losses[0])), (-1, 1.0)):
        for share, is_enough in ((0.4, True), (0.6, False)):
            more = after.excess.copy()
            more[end] = known.excess[end] + share * SPARE * size
            assert (fitted(known, replace(after, excess=more), 8.0, SPARE, PLACES) is not None) == is_enough


def test_what_is_not_convex_is_refused() -> None:
    known, after, _ = _played(4)
    bent = known.excess.copy()
    bent[-WIDE.first] *= 1.5
    assert fitted(replace(known, excess=bent), after, 8.0, SPARE, PLACES) is None


def test_infinite_losses_and_hidden_masses_count() -> None:
    jumps = Jumps(np.array([0]), np.array([0.99]), 0.01, (0.01, 0.01), (Fraction(99, 100),))
    found = applied(Profile.start(WIDE), jumps, 3).excess
    assert np.allclose(found, (1 - 0.99**3) * np.minimum(np.exp(WIDE.losses), 1.0), rtol=1e-9)
    least = jumps.before(Profile.start(WIDE), upward=False)
    assert (least <= 0.01 * np.minimum(np.exp(WIDE.losses), 1.0)).all()


@pytest.mark.parametrize("masses", [[0.1, 0.01, 0.0], [0.01, 0.1, 0.0]])
def test_losses_are_balanced(masses: list[float]) -> None:
    """Whether those found are too low or too high."""
    jumps = module._exact(np.array([-1, 1]), np.array(masses), 0.5, Fraction(1, 10**9))
    assert jumps is not None
    assert sum(jumps.exact) + Fraction(1, 10**9) == 1
    assert 1 - 2e-9 <= jumps.masses @ np.exp(-0.5 * jumps.places) <= 1 - 0.9e-9
