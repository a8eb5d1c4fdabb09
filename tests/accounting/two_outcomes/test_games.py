"""All steps of a statement."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.adaptive.curves import Curve
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.games import below

TENTH = Concentrated(Fraction(1, 10))


def epsilon_of(curve: Curve, values: np.ndarray, delta: float) -> float:
    return float(np.interp(-math.log(delta), -np.log(np.maximum(values, 1e-300)), curve.losses))


@pytest.mark.slow
def test_several_statements_from_below() -> None:
    together = below(((TENTH, 1), (Concentrated(Fraction(1, 5)), 1)), 1e-6)
    apart = below(((TENTH, 3),), 1e-6)
    assert epsilon_of(together, together.lower(), 1e-6) > epsilon_of(apart, apart.lower(), 1e-6)


def test_too_many_steps() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        below(((TENTH, 10**6),), 1e-6)
    with pytest.raises(NotApplicable, match="lattice"):
        below(((Concentrated(Fraction(10**8)), 2),), 1e-6)
