"""Profiles on a lattice, from both sides."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive.chances import table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.steps import play
from tests.accounting.adaptive.brute import value


def one_step() -> Curve:
    return play(Curve.start(1 / 16), table(Fraction(1), Fraction(1, 16)))


def test_nothing_at_all() -> None:
    start = Curve.start(0.25).widened(2, 1)
    assert start.losses.tolist() == [-0.5, -0.25, 0.0, 0.25]
    assert start.lower().tolist() == pytest.approx([-math.expm1(-0.5), -math.expm1(-0.25), 0.0, 0.0])
    assert (start.upper >= start.lower()).all()
    assert (start.values(upward=False) < np.exp(start.losses)).all()
    assert (start.values(upward=True) > np.exp(start.losses)).all()


def test_a_wider_window_encloses_the_same_profile() -> None:
    """Cut at both ends and widened again: still on both sides, whatever was cut off."""
    for rare in (1e-9, 1e-3, 0.05):
        cut = one_step().trimmed(rare)
        wide = cut.widened(30, 40)
        truth = value(np.exp(wide.losses), [1.0])
        assert (wide.upper >= truth).all()
        assert (wide.lower() <= truth + 1e-13).all()
        assert wide.upper.size == cut.upper.size + 70
        assert (np.diff(wide.upper) <= 0).all()


def test_a_forgotten_tail_would_be_noticed() -> None:
    """Nothing in place of the last value, beyond the window: too little."""
    cut = one_step().trimmed(0.05)
    assert cut.upper[-1] > 0
    wrong = replace(cut, top=cut.last).widened(0, 10)
    assert (wrong.upper < value(np.exp(wrong.losses), [1.0])).any()


def test_the_better_of_two_games() -> None:
    small = play(Curve.start(1 / 16), table(Fraction(1, 2), Fraction(1, 16)))
    both = one_step().joined(small)
    truth = value(np.exp(both.losses), [1.0])
    assert (both.upper >= truth).all()
    assert (both.lower() <= truth + 1e-13).all()
    assert both.lower().sum() >= one_step().lower().sum() - 1e-12
