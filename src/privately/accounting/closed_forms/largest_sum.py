"""Where no sum of losses but the largest is above epsilon: delta in as many digits as there are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.losses import FiniteLoss
from privately.rounding import Enclosure

_MOST_STEPS = 10**6


def of_largest_sum(composition: Composition, epsilon: Fraction) -> Enclosure | None:
    """delta at epsilon; None where other sums may count, too, or there are laws without a largest loss.

    Theorem: if all sums but the largest, s, are at most epsilon, E[(1 - e^(epsilon - S))+] is the probability of s
        times 1 - e^(epsilon - s), or 0 if that is negative; all others have a smaller loss in some step.
    Reference: none; by the definition of delta
    Proof: docs/theory/accounting/closed_forms.md#the-largest-sum
    Checked-by: tests/accounting/closed_forms/test_largest_sum.py::test_against_all_sums
    """
    total, mass, gap = Enclosure.of(0), Enclosure.of(1), Decimal("Infinity")
    for law, times in composition.parts:
        if not isinstance(law, FiniteLoss) or times > _MOST_STEPS:
            return None
        (first, largest), *others = sorted(law.atoms(), key=lambda atom: atom[1].lower, reverse=True)
        gap = min([gap, *((largest - loss).lower for _, loss in others)])
        total, mass = total + times * largest, mass * first**times
    if gap.is_infinite() or (total - Enclosure(gap, gap)).upper > epsilon:
        return None
    return (mass * (1 - (epsilon - total).exp())).clip(0, 1)
