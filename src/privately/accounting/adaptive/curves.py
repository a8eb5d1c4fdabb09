"""A profile on a lattice, from both sides: values that are not below it, and tests that reach what is not above it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1

NEAR = 1e-8
"""So near 1 - y a profile is taken for the chord to its end at y = 0."""


@dataclass(frozen=True)
class Curve:
    """V(y), the largest P(E) - y Q(E), at y = e^(j step) for j = first, first + 1, ...

    Theorem: a profile is convex, falls from 1 at y = 0, is at least 1 - y and at least 0, and is 0 from e^(largest
        loss) on. So it is at most `upper` at its places, at most the chord between two of them, at most the chord to
        (0, 1) before the first and at most the last value beyond the last. For every j and every y it is at least
        powers_j - y prices_j, as it is for the line of every test.
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
        first = np.array([1.0, 0.0])
        upper = np.array([-expm1(np.array([-step]))[0] * (1 + 2 * ERROR), 0.0])
        return cls(step, -1, 0, upper, first, first.copy())

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
        """The same on a wider window."""
        ratios = exp(np.arange(float(-left), 0) * self.step)
        below = ratios * (1 - self.upper[0])
        before = np.minimum(1 - below + (4 * ERROR * below + 4 * UNIT), 1.0)
        after = np.where(np.arange(self.last + 1, self.last + 1 + right) >= self.top, 0.0, self.upper[-1])
        ones, zeros = np.ones(left), np.zeros(right)
        return replace(
            self,
            first=self.first - left,
            upper=np.minimum.accumulate(np.concatenate([before, self.upper, after])),
            powers=np.concatenate([ones, self.powers, zeros]),
            prices=np.concatenate([ones, self.prices, zeros]),
        )

    def trimmed(self, rare: float) -> Curve:
        """Without places on the right whose values are hardly above the last, and those on the left near 1 - y."""
        end = int(np.argmax(self.upper <= self.upper[-1] + rare))
        is_curved = self.upper + expm1(self.losses) > NEAR
        start = max(int(np.argmax(is_curved)) - 1, 0)
        end = max(end, start + 1)
        kept = slice(start, end + 1)
        return replace(
            self,
            first=self.first + start,
            upper=self.upper[kept],
            powers=self.powers[kept],
            prices=self.prices[kept],
        )

    def joined(self, other: Curve) -> Curve:
        """Of whichever game is worth more, at every place."""
        left, right = min(self.first, other.first), max(self.last, other.last)
        one, two = (part.widened(part.first - left, right - part.last) for part in (self, other))
        is_more = two.lower() > one.lower()
        return replace(
            one,
            top=max(self.top, other.top),
            upper=np.maximum(one.upper, two.upper),
            powers=np.where(is_more, two.powers, one.powers),
            prices=np.where(is_more, two.prices, one.prices),
        )
