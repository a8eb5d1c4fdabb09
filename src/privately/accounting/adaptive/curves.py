"""A profile on a lattice, from both sides: values that are not below it, and tests that reach what is not above it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1


@dataclass(frozen=True)
class Curve:
    """V(y), the largest P(E) - y Q(E), at y = e^(j step) for j = first, first + 1, ...

    Theorem: a profile is convex, falls from 1 at y = 0, is at least 1 - y and at least 0, and is 0 from e^(largest
        loss) on. So it is at most `upper` at its places, at most the chord between two of them, and at most the last
        value beyond the last. For every j and every y it is at least powers_j - y prices_j, as it is for the line of
        every test. Where P and Q may change places, V(y) = 1 - y + y V(1/y), and what rejects with the probabilities
        a and b becomes what accepts with b and a.
    Reference: Zhu-Dong-Wang 2022, section 3, for profiles
    Proof: docs/theory/accounting/adaptive.md#curves
    Checked-by: tests/accounting/adaptive/test_curves.py::test_a_wider_window_encloses_the_same_profile
    """

    step: float
    first: int
    top: int
    """The place of the largest loss."""
    upper: Floats
    powers: Floats
    """P(E) of a test E, rounded down."""
    prices: Floats
    """Q(E) of the same test, rounded up."""

    @classmethod
    def start(cls, step: float) -> Curve:
        """Of nothing at all: the larger of 1 - y and 0."""
        nothing = np.zeros(1)
        return cls(step, 0, 0, nothing, nothing, nothing)

    @property
    def last(self) -> int:
        return self.first + self.upper.size - 1

    @property
    def losses(self) -> Floats:
        """j step at all places."""
        return np.arange(float(self.first), self.last + 1) * self.step

    def values(self, *, upward: bool) -> Floats:
        """e^(j step) at all places, on one side of it."""
        powers = exp(self.losses)
        off = 2 * ERROR + 8 * UNIT * self.step * max(abs(self.first), abs(self.last))
        return powers * (1 + off) if upward else powers * (1 - off)

    def lower(self) -> Floats:
        """What the tests reach, roughly."""
        return self.powers - self.prices * exp(self.losses)

    def widened(self, left: int, right: int) -> Curve:
        """The same, from 0 on as all curves are, with so many places more on either side."""
        longer = max(right, left - self.last)
        powers, prices = (np.concatenate([part, np.zeros(longer)]) for part in (self.powers, self.prices))
        mirrored, end = slice(left, 0, -1), self.last + 1 + right
        return replace(
            self,
            first=-left,
            upper=self.upper_around(left, right),
            powers=np.concatenate([(1 - prices[mirrored]) * (1 - 2 * UNIT), powers[:end]]),
            prices=np.concatenate([np.minimum((1 - powers[mirrored]) * (1 + 2 * UNIT), 1.0), prices[:end]]),
        )

    def upper_around(self, left: int, right: int) -> Floats:
        """Upper values, with so many places more on either side."""
        longer = max(right, left - self.last)
        after = np.where(np.arange(self.last + 1, self.last + 1 + longer) >= self.top, 0.0, self.upper[-1])
        upper = np.concatenate([self.upper, after])
        losses = np.arange(float(-left), 0) * self.step
        before = np.minimum((exp(losses) * upper[left:0:-1] - expm1(losses)) * (1 + 4 * ERROR), 1.0)
        return np.asarray(np.minimum.accumulate(np.concatenate([before, upper[: self.last + 1 + right]])))

    def whole(self) -> Curve:
        """The same, with as many places on the left as on the right."""
        return self.widened(self.last, 0)

    def trimmed(self, rare: float) -> Curve:
        """Without places whose values are hardly above the last."""
        kept = slice(max(int(np.argmax(self.upper <= self.upper[-1] + rare)), 1) + 1)
        return replace(self, upper=self.upper[kept], powers=self.powers[kept], prices=self.prices[kept])

    def joined(self, other: Curve) -> Curve:
        """Of whichever game is worth more, at every place."""
        last = max(self.last, other.last)
        one, two = (part.widened(0, last - part.last) for part in (self, other))
        is_more = two.lower() > one.lower()
        return replace(
            one,
            top=max(self.top, other.top),
            upper=np.maximum(one.upper, two.upper),
            powers=np.where(is_more, two.powers, one.powers),
            prices=np.where(is_more, two.prices, one.prices),
        )
