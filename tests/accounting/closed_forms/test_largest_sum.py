"""Where only the largest sum of losses is above epsilon."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting.closed_forms.largest_sum import of_largest_sum
from privately.accounting.compositions import compositions

EVENTS: list[acc.Event] = [
    acc.Repeat(event=acc.RandomizedResponse(epsilon=30), times=3),
    acc.Sequence(events=[acc.RandomizedResponse(epsilon=2, categories=5), acc.Pure(epsilon=1)]),
]


def by_all_sums(losses: list[tuple[int, int]], epsilon: Fraction) -> Fraction:
    """delta of responses of these epsilons and categories, by all outcomes, in 80 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 80
    laws = []
    for loss, categories in losses:
        unit = 1 / (mp.exp(loss) + categories - 1)
        laws.append([(mp.exp(loss) * unit, loss), (unit, -loss), ((categories - 2) * unit, 0)])
    at = mp.mpf(epsilon.numerator) / epsilon.denominator
    total = mp.mpf(0)
    for chosen in product(*laws):
        mass, value = mp.fprod(p for p, _ in chosen), sum(loss for _, loss in chosen)
        total += mass * max(1 - mp.exp(at - value), 0)
    return Fraction(mp.nstr(total, 70))


@pytest.mark.parametrize(
    ("event", "losses"), [(EVENTS[0], [(30, 2)] * 3), (EVENTS[1], [(2, 5), (1, 2)])], ids=["alike", "different"]
)
@pytest.mark.parametrize("below", ["1e-30", "1e-15", "1e-3", "1"])
def test_against_all_sums(event: acc.Event, losses: list[tuple[int, int]], below: str) -> None:
    epsilon = sum(loss for loss, _ in losses) - Fraction(below)
    found = of_largest_sum(compositions(event)[0], epsilon)
    true = by_all_sums(losses, epsilon)
    assert found is not None
    assert Fraction(found.lower) <= true * (1 + Fraction(1, 10**60))
    assert (
        true * (1 - Fraction(1, 10**60)) <= Fraction(found.upper) <= Fraction(found.lower) * (1 + Fraction(1, 10**25))
    )
    answer = acc.delta(event, epsilon)
    assert answer.width <= Fraction(1, 10**6) * answer.upper


def test_where_others_count() -> None:
    """A second sum above epsilon, and laws without a largest loss."""
    (one,) = compositions(EVENTS[1])
    assert of_largest_sum(one, Fraction(2) - Fraction(1, 100)) is not None  # 3 - 1 is the next one
    assert of_largest_sum(one, Fraction(99, 100)) is None
    (noise,) = compositions(acc.Gaussian(noise_multiplier=1))
    assert of_largest_sum(noise, Fraction(1)) is None
