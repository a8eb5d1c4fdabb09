"""The largest value of the kernel of Chernoff bounds; the bounds themselves are tested with the road."""

from __future__ import annotations

import math

from mpmath import mp, mpf

from privately.accounting.contour.chernoff import log_chernoff


def test_the_largest_value_of_the_kernel() -> None:
    """b^b/(b + 1)^(b + 1) is the largest e^(-bx) (1 - e^-x)."""
    for b in (1e-6, 1e-3, 0.3, 1.0, 7.0, 300.0, 1e4):
        peak = math.log1p(1 / b)
        value = mp.log(mp.exp(-b * mpf(peak)) * -mp.expm1(-mpf(peak)))
        assert value <= log_chernoff(b) <= value + 1e-9
        for x in (peak / 3, peak * 0.9, peak * 1.1, peak * 4):
            assert -b * x + math.log(-math.expm1(-x)) <= log_chernoff(b)
