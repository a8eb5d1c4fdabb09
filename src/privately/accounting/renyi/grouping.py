"""Several changes of the data at once, from the divergences for single changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.numbers import short
from privately.rounding import End

LARGEST_GROUP = 64


@dataclass(frozen=True)
class Grouped:
    """A path of `size` single changes, of which each is within `base`.

    Theorem: if D_b <= B(b) for every single change and every order b, then for k changes
        D_a <= k a (B(ka)/(ka) + B(ka-1)/(ka-1) + ... + B(ka-k+1)/(ka-k+1)).
    Reference: Bun-Steinke 2016, Lemma 5.2 and Proposition 1.9, step by step; compare Mironov 2017, Proposition 2
    Proof: docs/theory/accounting/renyi.md#groups
    Checked-by: tests/accounting/renyi/test_grouping.py::test_groups_dominate_enumeration
    """

    base: Moments
    size: int

    @property
    def largest(self) -> End:
        return self.size * self.base.largest

    def above(self, c: Fraction) -> End:
        top = self.size * (1 + c)
        total: End = Fraction(0)
        for step in range(self.size):
            order = top - step
            total += self.base.above(order - 1) / (order * (order - 1))
        return short(min(c * top * total, c * self.largest))

    def rough(self, c: float) -> float:
        top = self.size * (1 + c)
        orders = [top - step for step in range(self.size)]
        return c * top * math.fsum(self.base.rough(order - 1) / (order * (order - 1)) for order in orders)
