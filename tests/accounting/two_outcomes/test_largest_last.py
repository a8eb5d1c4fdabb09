"""Different steps, from above: by the largest one and normal noise."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import largest_last
from privately.accounting.two_outcomes.after_largest import Largest
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.blurred import Blurred
from privately.accounting.two_outcomes.largest_last import Path, Tries
from privately.accounting.two_outcomes.leading import Rule
from privately.accounting.two_outcomes.sorted_games import Kinds

from . import brute
from .test_before_normal import delta, pairs

TENTH, TWENTIETH = Concentrated(Fraction(1, 10)), Concentrated(Fraction(1, 20))


def bound(found: largest_last.Above, epsilon: float) -> float:
    """delta, from above."""
    v = float(found.normal.variance)
    if found.curve is None:
        value = delta(v, epsilon)
    else:
        place = round(epsilon / found.curve.step)
        value = float(Blurred.of(found.curve.upper, found.curve.step).upper(v, place + 1)[place])
    return float(found.normal.rest) + float(found.normal.factor) * value


@pytest.mark.slow
def test_no_order_is_above() -> None:
    """Also orders that are chosen in the light of what came out."""
    left = (0.05, 0.05, 0.1)
    found = largest_last.above(((TWENTIETH, 2), (TENTH, 1)), 1e-4)
    assert found.curve is not None
    known = {rho: pairs(rho, 8) for rho in left}
    for place in (0, 60, 150):
        epsilon = place * found.curve.step
        least = brute.in_any_order(known, left, epsilon)
        assert least <= bound(found, epsilon) <= 1.4 * least


def test_from_less_to_more_than_the_largest() -> None:
    """A step before a lesser one is not above what the largest and noise for the rest reveal."""
    rarest, rho = 1e-8, 0.1
    largest = Largest.of(TENTH, rarest)
    kinds = Kinds.of(((TENTH, 1), (Concentrated(Fraction(8, 100)), 1)), rarest)
    tries = Tries(largest.instead(TWENTIETH), kinds)
    beyond = kinds.rho + 0.05 - rho
    assert np.isfinite(tries.excess(beyond + Rule(rho).more(beyond, rho) + 0.03 * rho - kinds.size)).all()
    assert not np.isfinite(tries.excess(beyond / 2 - kinds.size)).any()
    known = {0.1: pairs(0.1, 10), 0.05: pairs(0.05, 10)}
    for place in (0, 40, 120):
        epsilon = place * largest.base.step
        best = max(
            p * brute.one_step(known[0.05], epsilon - math.log(p / q))
            + (1 - p) * brute.one_step(known[0.05], epsilon - math.log((1 - p) / (1 - q)))
            for p, q in known[0.1]
        )
        upper = tries.upper[0]
        assert upper is not None
        assert best <= upper[place] * (1 + 1e-9)


def test_what_is_met_is_not_exceeded() -> None:
    tries = Tries(Largest.of(TENTH, 1e-6).before(0.0), Kinds.of(((TENTH, 1),), 1e-6))
    upper = tries.upper[0]
    assert upper is not None
    tries.meet(0, upper / 2)
    lesser = tries.upper[0]
    assert lesser is not None
    assert (lesser == (upper / 2)[: lesser.size]).all()


def test_how_much_a_factor_grows() -> None:
    """The largest slope counts wherever a step may lead."""
    path = Path(Rule(1.0), 1.0, 1.0)
    assert path.height() == 0
    path.slopes += [(1.0, 3.0, 0.5), (2.0, 5.0, 0.25), (2.0, 2.5, 1.0)]
    assert path.height() == pytest.approx(0.5 + 0.5 + 0.25 + 0.5)


def test_too_many() -> None:
    for parts in (((TENTH, 5),), ((TENTH, 5000), (TWENTIETH, 1)), ((TENTH, 900), (TWENTIETH, 1))):
        with pytest.raises(NotApplicable, match="too many"):
            largest_last.above(parts, 1e-6)


@pytest.mark.slow
def test_a_composition_of_two_kinds() -> None:
    """Narrower than by normal noise alone; the lower end is played."""
    known = [(Fraction(1, 50), 30), (Fraction(1, 100), 40)]
    event = acc.Sequence(events=[acc.Repeat(event=acc.ZCDP(rho=rho), times=times) for rho, times in known])
    found = acc.epsilon(event, "1e-6")
    assert found.width < Fraction(15, 10_000) * found.lower


@pytest.mark.slow
def test_lines_of_small_steps_are_out_of_range_for_large_ones() -> None:
    """Nothing is multiplied by what is no number, which would be a warning."""
    parts = (Concentrated(Fraction(1)), 1), (Concentrated(Fraction(1, 20)), 4)
    with suppress(NotApplicable):
        assert largest_last.above(parts, 1e-3).normal.variance > 0
