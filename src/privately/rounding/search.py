"""Solving for the argument of a decreasing function: guessed fast, then checked rigorously."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from privately.rounding.enclosure import Enclosure
from privately.rounding.exact import round_down

Curve = Callable[[Fraction], Enclosure]
_FAR = 1e9


def solve_decreasing(curve: Curve, target: Fraction, ceiling: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions a <= b with curve(a) >= target >= curve(b) for certain, about 1e-13 apart (relative).

    `curve` is positive and decreasing on [0, ceiling], with curve(0) > target > curve(ceiling).
    """
    root = _false_position(curve, target, ceiling) or ceiling
    margin = Fraction(1, 10**14)
    while True:
        lower, upper = max(root * (1 - margin), Fraction(0)), min(root * (1 + margin), ceiling)
        lower_holds = lower == 0 or curve(lower).lower >= target
        upper_holds = upper == ceiling or curve(upper).upper <= target
        if lower_holds and upper_holds:
            return lower, upper
        margin *= 8


def _false_position(curve: Curve, target: Fraction, ceiling: Fraction) -> Fraction:
    """The Illinois variant on ln(curve) - ln(target): an end that stays is believed half as much."""
    goal = Enclosure.of(target).log()

    def excess(x: Fraction) -> float:
        found = curve(x)
        if found.upper <= 0:
            return -_FAR
        return float((Enclosure(found.upper, found.upper).log() - goal).lower)

    left, right = Fraction(0), ceiling
    high, low = excess(left), excess(right)
    moved_left = moved_right = False
    middle = ceiling
    for _ in range(200):
        previous, middle = middle, _crossing(left, high, right, low)
        value = excess(middle)
        if value == 0 or abs(middle - previous) * 10**17 <= middle:
            break
        if value > 0:
            left, high = middle, value
            low = low / 2 if moved_left else low
        else:
            right, low = middle, value
            high = high / 2 if moved_right else high
        moved_left, moved_right = value > 0, value <= 0
    return middle


def _crossing(left: Fraction, high: float, right: Fraction, low: float) -> Fraction:
    return round_down(left + (right - left) * Fraction(high) / (Fraction(high) - Fraction(low)), 25)
