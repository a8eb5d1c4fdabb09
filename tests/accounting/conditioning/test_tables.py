"""Sums of few losses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privately.accounting.closed_forms.finite import Table, delta_of
from privately.accounting.conditioning.outcomes import outcomes
from privately.accounting.conditioning.tables import combined, one, repeated, tidied
from privately.accounting.losses import DIRECTIONS, Loss, SampledDiscreteGaussianLoss, response
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

RARE = 1e-12
TIMES = 3
LAWS: list[Loss] = [
    response(Fraction(1, 2)),
    *(
        SampledDiscreteGaussianLoss(variance=Fraction(1, 4), sensitivity=2, rate=Fraction(1, 10), direction=direction)
        for direction in DIRECTIONS
    ),
]
EPSILONS = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(20)]


def truth(law: Loss, times: int, epsilon: Fraction) -> Enclosure:
    """By all multisets of outcomes, in 60 digits; of what is not listed, less than 10^-30 is missing."""
    listed, _ = outcomes(law, Fraction(1, 10**32))
    sums: dict[tuple[int, ...], Enclosure] = {(): Enclosure.of(1)}
    for _ in range(times):
        more: dict[tuple[int, ...], Enclosure] = defaultdict(lambda: Enclosure.of(0))
        for chosen, mass in sums.items():
            for place, (p, _) in enumerate(listed):
                key = tuple(sorted((*chosen, place)))
                more[key] = more[key] + mass * p
        sums = more
    found = Enclosure.of(0)
    for chosen, mass in sums.items():
        loss = sum((listed[place][1] for place in chosen), Enclosure.of(0))
        found = found + mass * (1 - (epsilon - loss).exp()).nonnegative()
    return found


@pytest.mark.parametrize("law", LAWS)
def test_tables_hold_all_sums(law: Loss) -> None:
    table = repeated(law, TIMES, RARE)
    assert table.outside < 10 * RARE
    for epsilon in EPSILONS:
        exact = truth(law, TIMES, epsilon)
        lower, upper = (Fraction(delta_of(table, epsilon, sign=sign)) for sign in (-1, 1))
        assert lower <= exact.upper
        assert exact.lower <= upper + Fraction(1, 10**30)


def test_what_is_left_out_is_counted() -> None:
    """A table that forgot what it left out would be refuted by the same comparison."""
    law = LAWS[1]
    table = repeated(law, TIMES, 1e-3)
    forgetful = replace(table, outside=0.0)
    assert table.outside > 1e-6
    exact = truth(law, TIMES, Fraction(0))
    assert Fraction(delta_of(table, Fraction(0), sign=1)) >= exact.lower
    assert Fraction(delta_of(forgetful, Fraction(0), sign=1)) < exact.lower


def test_neighbours_are_counted_as_one() -> None:
    values, masses = np.array([1 + 2.0**-48, 1 + 2.0**-49, 0.0]), np.array([0.25, 0.25, 0.5])
    found = tidied(Table(values, masses, 0.0, 0.0, 0.0), 0.0)
    assert found.masses.tolist() == [0.5, 0.5]
    assert found.slack >= 2.0**-49


def test_equal_losses_of_many_steps_stay_few() -> None:
    assert repeated(response(Fraction(1)), 40, 1e-30).values.size <= 2 * 41


def test_too_many_sums_are_refused() -> None:
    with pytest.raises(NotApplicable, match="too many"):
        repeated(response(Fraction(1)), 10**9, RARE)
    wide = Table(np.arange(2000.0), np.full(2000, 1 / 2000), 0.0, 0.0, 0.0)
    with pytest.raises(NotApplicable, match="too many"):
        combined(wide, wide, RARE)
    with pytest.raises(NotApplicable, match="rare"):
        tidied(one(response(Fraction(1)), RARE), 2.0)


def test_what_is_not_known_adds_up() -> None:
    """Of two sums each value may be off by both, each mass by both parts, and either may be outside."""
    first, second = (
        Table(np.array([1.0, -1.0]), np.array([0.7, 0.3]), slack, error, outside)
        for slack, error, outside in ((0.25, 0.5, 0.125), (0.5, 0.25, 0.0625))
    )
    found = combined(first, second, 0.0)
    assert found.slack >= 0.75
    assert found.error >= 1.5 * 1.25 - 1
    assert found.outside >= 0.1875
