"""How seldom the ratio of an allowed pair is large, and how far one sampled step leads at most."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import UNIT, Floats, exp, log, log1p
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Statement

_LEAST_EXCESS = 0.01


def seldom(base: Statement | Fraction, alpha: Floats) -> Floats:
    """The largest mean of (r - alpha)+ over Q, from above, for alpha > 1.

    Theorem: (r - alpha)+ <= r^t ((t-1)/t)^t alpha^(1-t)/(t-1), and the mean of r^t is at most e^(t(t-1) F(t)).
    Reference: Canonne-Kamath-Steinke 2020, Proposition 12
    Proof: docs/theory/accounting/sampled_games.md#before-normal-noise
    Checked-by: tests/accounting/sampled_games/test_large_jumps.py::test_large_ratios_are_seldom
    """
    if isinstance(base, Fraction):
        return np.where(alpha > math.exp(float(base)) * (1 + 8 * UNIT), 0.0, 1.0)
    t, powers = _powers(base)
    logs = log(alpha)
    found: Floats = np.min(powers[:, None] - (t - 1)[:, None] * logs, axis=0)
    return exp(np.minimum(found, 0.0)) * (1 + 1e-9)


def _powers(statement: Statement) -> tuple[Floats, Floats]:
    """Orders above 1, and the logarithm of what a mean is at most, without alpha."""
    excess, _ = statement.tangents()
    orders = [statement.order(1 + c) for c in excess.tolist() if c > _LEAST_EXCESS]
    if not orders:
        raise NotApplicable("orders next to 1")
    t, bounds = (np.array(list(map(float, part))) for part in (orders, map(statement.bound, orders)))
    products = t * (t - 1) * bounds
    return t, products + t * log1p(-1 / t) - log(t - 1) + 1e-9 * (1 + products)


def last_jump(base: Statement | Fraction, rate: Fraction, rare: float) -> float:
    """The loss of one sampled step beyond which even one that is seldom does not lead, but for what is rarer."""
    losses = np.concatenate([[0.0], np.geomspace(1e-3 * min(float(rate), 0.1), 60.0, 600)])
    alpha = 1 + np.expm1(losses) / float(rate)
    held = float(rate) * seldom(base, np.maximum(alpha, 1 + 1e-12)) <= rare
    if not held[-1]:
        raise NotApplicable("too large losses")
    return float(losses[int(np.argmax(held))])
