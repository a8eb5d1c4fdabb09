"""Games of sampled steps."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privately.accounting import closed_forms
from privately.accounting.adaptive import pairs as laws
from privately.accounting.compositions import Composition
from privately.accounting.losses import FiniteLoss, SampledGaussianLoss
from privately.accounting.questions import DeltaAt
from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.games import above, always, below, is_quick
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated

RANGE = Kind(Fraction(1), Fraction(1, 4))


def test_tests_are_below_upper_values() -> None:
    """And near them, where they count; the same with both laws exchanged."""
    played = above(RANGE, 3, 1e-4, 0)
    curve = below([(played, 3)], played.way.lattice)
    for tests, profile in ((curve, played.profile), (curve.mirrored, played.profile.mirrored)):
        upper, lower = profile.values, tests.lower()
        assert (lower <= upper * (1 + 1e-12)).all()
        near = (upper > 1e-3) & (profile.lattice.losses >= 0)
        assert (lower[near] >= upper[near] * 0.97).all()


def test_several_kinds_are_one_game() -> None:
    """Two steps of nearly one kind are worth no more than two of the larger; tests of each by itself would be."""
    twice = above(RANGE, 2, 1e-4, 1)
    lattice, upper = twice.way.lattice, twice.profile.values
    once = [above(Kind(Fraction(1), rate), 1, 1e-4, 1) for rate in (Fraction(1, 4), Fraction(249, 1000))]
    lower = below([(one, 1) for one in once], lattice).lower()
    assert (lower <= upper * (1 + 1e-12)).all()
    near = (upper > 1e-3) & (lattice.losses >= 0)
    assert (lower[near] >= upper[near] * 0.95).all()
    pairs = [laws.below(below([(one, 1)], lattice), None) for one in once]
    place = round(0.2 / lattice.step)
    question = DeltaAt(Fraction(place * lattice.step), Fraction(1, 10**6))
    both = closed_forms.delta(Composition(parts=tuple((law, 1) for law in pairs)), question.epsilon, question.width)
    assert both.lower > upper[place - lattice.first] * 1.01


def test_finer_lattices_are_nearer() -> None:
    """To what some pairs, each step the best after what came out, reach."""
    rough, fine = above(RANGE, 2, 1e-4, 0).profile, above(RANGE, 2, 1e-4, 2).profile
    place = round(0.2 / rough.lattice.step)
    at = fine.values[round(place * rough.lattice.step / fine.lattice.step) - fine.lattice.first]
    assert at < rough.values[place - rough.lattice.first] < at * 1.02


def test_what_is_out_of_reach_is_refused() -> None:
    with pytest.raises(NotApplicable):
        above(Kind(Fraction(1), 1 - Fraction(1, 2**30)), 2, 1e-6, 0)
    with pytest.raises(NotApplicable):
        above(Kind(Fraction(8), Fraction(1, 2)), 10**9, 1e-6, 0)
    assert is_quick(RANGE, 2, 1e-6, 1)
    assert not is_quick(Kind(Concentrated(Fraction(1, 2)), Fraction(1, 100)), 200, 1e-6, 3)


@pytest.mark.slow
def test_jumps_after_many_steps() -> None:
    """More steps than are played one by one: from above by jumps."""
    played = above(RANGE, 45, 1e-3, 0)
    lower = below([(played, 45)], played.way.lattice).lower()
    assert (lower <= played.profile.values * (1 + 1e-12)).all()
    near = (played.profile.values > 3e-3) & (played.way.lattice.losses >= 0)
    assert (lower[near] >= played.profile.values[near] * 0.9).all()


@pytest.mark.slow
def test_listed_orders() -> None:
    kind = Kind(AtOrders(((Fraction(2), Fraction(1, 2)),)), Fraction(1, 4))
    played = above(kind, 3, 1e-3, 0)
    lower = below([(played, 3)], played.way.lattice).lower()
    assert (lower <= played.profile.values * (1 + 1e-12)).all()
    near = (played.profile.values > 3e-3) & (played.way.lattice.losses >= 0)
    assert np.median(lower[near] / played.profile.values[near]) > 0.9


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_choice_for_all_steps_is_allowed(direction: str) -> None:
    """Two outcomes, sampled, whose ratios before are within the range; no other has a larger moment."""
    law = always(RANGE, 1000, "remove" if direction == "remove" else "add", 1e-6)
    assert isinstance(law, FiniteLoss)
    outcomes = [(first, second) for (first, _), (second, _) in law.outcomes]
    assert sum(p for p, _ in outcomes) == sum(q for _, q in outcomes) == 1
    removed = outcomes if direction == "remove" else [(q, p) for p, q in outcomes]
    ratios = [float((p - Fraction(3, 4) * q) / (Fraction(1, 4) * q)) for p, q in removed]
    assert 0.99 < math.log(max(ratios) / min(ratios)) <= 1
    order = RANGE.order(1000, 1e-6)
    found = sum(float(p) * float(p / q) ** (order - 1) for p, q in outcomes)
    for larger, turned in product(np.linspace(0.02, 0.98, 49).tolist(), (False, True)):
        q = -math.expm1(larger - 1) / (math.exp(larger) - math.exp(larger - 1))
        pair = [(q * math.exp(larger), q), (1 - q * math.exp(larger), 1 - q)]
        pair = [(b, a) for a, b in pair] if turned else pair
        sampled = [(0.75 * b + 0.25 * a, b) for a, b in pair]
        sampled = sampled if direction == "remove" else [(b, a) for a, b in sampled]
        assert sum(a * (a / b) ** (order - 1) for a, b in sampled) < found * 1.001


def test_normal_noise_for_all_steps() -> None:
    law = always(Kind(Concentrated(Fraction(1, 2)), Fraction(1, 4)), 1000, "add", 1e-6)
    assert isinstance(law, SampledGaussianLoss)
    assert law == SampledGaussianLoss(mu_squared=Fraction(1), rate=Fraction(1, 4), direction="add")
