"""What the best pair of bounded range gains."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.sampled_games.ranges import Ranged
from tests.accounting.sampled_games.examples import RATES, payoff, profile, way


@pytest.mark.parametrize("rate", RATES)
def test_no_pair_of_bounded_range_gains_more(rate: str) -> None:
    """Two outcomes at the ends of a range, on a fine grid: some come near."""
    one, known = way(rate), profile()
    rule = Ranged(Fraction(1), one.ratios, one.doubt)
    for place in (0, 8, 20):
        y = math.exp(place * known.lattice.step)
        most, values = rule.most(*one.payoffs(known, place)), []
        for z in np.linspace(math.exp(-1), 1, 400).tolist():
            weight = (math.e * z - 1) / ((math.e - 1) * z)
            values.append(weight * payoff(one, y, z) + (1 - weight) * payoff(one, y, math.e * z))
        assert max(values) <= most <= max(values) * 1.02


def test_between_columns() -> None:
    """A payoff of two slopes on few columns: the best chord begins between them, and is found without a grid."""
    ratios = np.array([0.0, 0.5, 1.0, 1.5, 3.0])
    payoffs = np.array([0.0, 0.0, 0.1, 0.6, 2.4])
    most = Ranged(Fraction(1), ratios, 1e-13).most(payoffs, 1.2)
    z = np.linspace(math.exp(-1), 1, 20_001)
    weight = (math.e * z - 1) / ((math.e - 1) * z)
    values = weight * np.interp(z, ratios, payoffs) + (1 - weight) * np.interp(math.e * z, ratios, payoffs)
    assert values.max() <= most <= values.max() * 1.001
