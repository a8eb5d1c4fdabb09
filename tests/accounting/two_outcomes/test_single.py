"""The profile of one statement, from above."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.questions import DeltaAt
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.road import answer
from privately.accounting.two_outcomes.single import between, profile
from privately.accounting.two_outcomes.touching import touching

TENTH = Concentrated(Fraction(1, 10))


@pytest.mark.slow
def test_values_are_next_to_the_statement() -> None:
    places, values = profile(TENTH, touching(TENTH, 1e-8), 2)
    epsilon = np.array([0.0, 0.1, 0.5, 1.2])
    found = between(np.exp(epsilon), places, values)
    for x, most in zip(epsilon, found, strict=True):
        least = float(answer(TENTH, DeltaAt(Fraction(float(x)), Fraction(1, 1000))).lower)
        assert least <= most <= least * 1.06


def test_before_the_first_place_that_is_known() -> None:
    """A profile may be larger there, but not by more than y."""
    found = between(np.array([1.0, 2.0]), np.array([1.5, 3.0]), np.array([0.3, 0.1]))
    assert found[0] >= 0.3 + 0.5
    assert math.isclose(float(found[1]), 0.3 - 0.2 / 3 + 0.5, rel_tol=1e-6)
