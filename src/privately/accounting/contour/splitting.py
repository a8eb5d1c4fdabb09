"""Where a rarely sampled Gaussian is split, and how probable its jumps are then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from privately.accounting.contour.split import Law
from privately.accounting.contour.split_points import Split
from privately.accounting.elementary import ERROR, UNIT, exp_one, normal_tail_one
from privately.accounting.losses import Loss, SampledGaussianLoss

_STEEPER = 1.4
_MANY, _RARE, _SELDOM = 64, 1e-4, Fraction(1, 50)
_FARTHEST_TAIL = 37.0
_NOTHING = 1e-290


def may_jump(law: object) -> bool:
    """Whether losses of this law are large though rarely so."""
    return isinstance(law, SampledGaussianLoss) and law.direction == "remove"


def is_split(law: object, times: int) -> bool:
    """Few steps that are not rare do better beside the others."""
    return may_jump(law) and (times >= _MANY or getattr(law, "rate", 1) < _RARE)


Parts = list[tuple[Loss, int]]


def divided(parts: Sequence[tuple[Loss, int]], fewest: int = _MANY) -> tuple[Parts, Parts]:
    """Those that are split, and those beside them: seldom sampled steps count together."""
    seldom = [(law, times) for law, times in parts if may_jump(law) and getattr(law, "rate", 1) <= _SELDOM]
    together = {law for law, _ in seldom} if sum(times for _, times in seldom) >= fewest else set()
    found: tuple[Parts, Parts] = [], []
    for law, times in parts:
        found[not (law in together or is_split(law, times))].append((law, times))
    return found


def split_where(law: SampledGaussianLoss, wanted: float) -> Law:
    """Split where jumps have about this probability."""
    mu, rate = math.sqrt(law.mu_squared), float(law.rate)
    low, high = 0.0, 40.0
    for _ in range(60):
        x = (low + high) / 2
        chance = (rate * math.erfc((x - mu) / math.sqrt(2)) + (1 - rate) * math.erfc(x / math.sqrt(2))) / 2
        low, high = (x, high) if chance > wanted else (low, x)
    return Law.of(law, Split.near(high, min(max(_STEEPER * high, 2.0), 16.0)))


def jump_mass(law: Law) -> float:
    """The probability 1 - g of one step under the mixture, from above.

    Theorem: 1 - e^-E <= min(E, 1), and for a normal x of mean m the mean of min(e^(k (x - a)), 1) is
        tail(a - m) + e^(k (m - a) + k^2/2) tail(k + m - a).
    Reference: the moments of a normal law
    Proof: docs/theory/accounting/jumps.md#cut-off
    Checked-by: tests/accounting/contour/test_splitting.py::test_what_is_left_out
    """
    at, k, found = law.split.at, law.split.steepness, 0.0
    for share, mean in ((1 - law.rate, 0.0), (law.rate, law.mu)):
        exponent = k * (mean - at) + k * k / 2
        tails = _tail(at - mean), _tail(k + mean - at)
        found += share * (tails[0] + exp_one(max(exponent, -690.0)) * tails[1])
    moved = 64 * UNIT * (1 + law.mu) * (1 + at + k) ** 2
    return found * (1 + 16 * ERROR + moved) + _NOTHING


def _tail(x: float) -> float:
    return normal_tail_one(min(x, _FARTHEST_TAIL))
