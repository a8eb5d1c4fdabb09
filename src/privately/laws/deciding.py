"""From enclosed probabilities to certain integers: quantiles and half-widths, decided or refused.

A probability that is only enclosed can be compared with a rational unless the rational lies inside the enclosure.
Then no answer is certain, and `Unproved` is raised: we never guess (docs/theory/laws.md#quantiles).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from privately.errors import InvalidParameter, Unproved
from privately.rounding import Enclosure, Interval, Number, rational, whole

FARTHEST = 10**100
"""No outcome asked for may be larger in absolute value."""

NEVER = Interval(0, 0, method="impossible")
ALWAYS = Interval(1, 1, method="certain")

_HALF = Fraction(1, 2)


class Tails(Protocol):
    """What deciding needs to know of a law."""

    def cdf(self, k: int) -> Interval:
        """P(X <= k)."""

    def tail(self, k: int) -> Interval:
        """P(X > k)."""


def outcome(k: int) -> int:
    """An outcome asked for, or InvalidParameter naming `k`."""
    return whole(k, "k", minimum=-FARTHEST, maximum=FARTHEST)


def level(probability: Number) -> Fraction:
    """A probability strictly between 0 and 1, or InvalidParameter naming it."""
    exact = rational(probability, "probability", above=0)
    if exact >= 1:
        raise InvalidParameter("probability", "must be below 1: no outcome of this law is the largest.")
    return exact


def certainty(confidence: Number) -> Fraction:
    """A confidence of at least 0 and below 1, or InvalidParameter naming it."""
    exact = rational(confidence, "confidence", minimum=0)
    if exact >= 1:
        raise InvalidParameter("confidence", "must be below 1: no bound on this law is certain.")
    return exact


def least_reaching(law: Tails, probability: Fraction, guess: int) -> int:
    """The least k with P(X <= k) >= probability.

    The smaller of the two tails is compared, so that probabilities close to 0 and to 1 are told apart alike.

    Theorem: if P(X <= a - 1) < p <= P(X <= a), then a is the least k with P(X <= k) >= p; each of the two comparisons
        is decided by enclosures that exclude p, or exactly, or not at all.
    Reference: monotony of cumulative distribution functions
    Proof: docs/theory/laws.md#quantiles
    Checked-by: tests/laws/test_deciding.py::test_quantile_is_the_least
    """

    def reached(k: int) -> bool:
        _refuse_beyond(k)
        if probability <= _HALF:
            return not _below(law.cdf(k), probability)
        return not _below(1 - probability, law.tail(k))

    return least(reached, guess)


def least_within(law: Tails, confidence: Fraction, guess: int) -> int:
    """The least w >= 0 with P(|X| <= w) >= confidence."""

    def covered(w: int) -> bool:
        _refuse_beyond(w)
        if w < 0:
            return False
        above, below = law.tail(w), law.cdf(-w - 1)
        outside = Interval(above.lower + below.lower, above.upper + below.upper)
        return not _below(1 - confidence, outside)

    return least(covered, max(guess, 0))


def least(holds: Callable[[int], bool], guess: int) -> int:
    """The least k for which `holds` is true, if it is false up to some point and true from there on.

    Strides double away from the guess; then the gap is halved.
    """
    step = 1
    false, true = guess - 1, guess
    while holds(false):
        false, true, step = false - step, false, 2 * step
    step = 1
    while not holds(true):
        false, true, step = true, true + step, 2 * step
    while true - false > 1:
        middle = (false + true) // 2
        if holds(middle):
            true = middle
        else:
            false = middle
    return true


def rough_normal_quantile(probability: Fraction) -> Fraction:
    """Phi^-1(probability) to a few digits at least. A place to start from: nothing rests on it."""
    if probability > _HALF:
        return -rough_normal_quantile(1 - probability)
    if _HALF - probability < Fraction(1, 10**8):
        return (probability - _HALF) * Fraction(250662827463, 10**11)
    if probability > Fraction(1, 10**300):
        from statistics import NormalDist  # few need it, and it loads much

        return Fraction(NormalDist().inv_cdf(float(probability)))
    return -Fraction(_far_quantile(-float(Enclosure.of(probability).log().lower)))


def _far_quantile(log: float) -> float:
    """An x with -ln Phi(-x) close to `log`, from Phi(-x) = phi(x)/x (1 - 1/x^2 + 3/x^4 - ...)."""
    x = math.sqrt(2 * log)
    for _ in range(20):
        asymptotic = 1 - 1 / x**2 + 3 / x**4
        x = math.sqrt(2 * (log - math.log(x * math.sqrt(2 * math.pi) / asymptotic)))
    return x


def _refuse_beyond(k: int) -> None:
    if abs(k) >= FARTHEST:
        raise Unproved("the answer lies where outcomes are not told apart.", hint="Choose a narrower law.")


def _below(left: Interval | Fraction, right: Interval | Fraction) -> bool:
    """Whether left < right, which is certain either way; otherwise Unproved."""
    lowest, highest = (left.lower, left.upper) if isinstance(left, Interval) else (left, left)
    least_right, most_right = (right.lower, right.upper) if isinstance(right, Interval) else (right, right)
    if highest < least_right:
        return True
    if lowest >= most_right:
        return False
    raise Unproved(
        "the probability asked for cannot be told from one of the law with the digits we compute.",
        hint="Ask for a slightly different one.",
    )
