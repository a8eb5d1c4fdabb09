"""Chernoff bounds: quick, and enough to tell that one direction is far below the other."""

from __future__ import annotations

from privately.accounting.contour.laying import Whole
from privately.accounting.elementary import UNIT, log_between


def chernoff(whole: Whole, b: float, epsilon: float) -> float:
    """ln D at epsilon, a float within a unit of rounding of the true one, from above."""
    mass = whole.log_mass_above(b)
    slack = 8 * UNIT * ((b + 1) * (abs(epsilon) + 1) + abs(mass))
    return mass - b * epsilon + log_chernoff(b) + slack


def log_chernoff(height: float) -> float:
    """ln of the largest value of e^(-bx) (1 - e^-x), from above: b ln b - (b + 1) ln(b + 1)."""
    small, large = log_between(height)[1], log_between(height, 1)[0]
    return height * small - (height + 1) * large + 16 * UNIT * (height + 1) * (abs(small) + abs(large) + 1)
