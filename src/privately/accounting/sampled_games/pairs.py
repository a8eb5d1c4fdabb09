"""Pairs of few outcomes that a statement, or a range, allows: what lower values are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import Floats, exp, log
from privately.accounting.sampled_games.trials import Pair
from privately.accounting.two_outcomes.allowed import Statement
from privately.rounding import Enclosure

Law = tuple[Floats, Floats]
"""Ratios dP/dQ, and about their probabilities under Q."""

_ROOM, _MANY = 1e-10, 80
_MARGIN, _ROUNDED = 1e-7, 1e-13
_NEAR_ONE, _APART = 1e-5, 0.02
_LEAST, _LOWEST = 1e-40, 1e-3
_SHARES, _HALVINGS, _TOO_FAR = (1e-4, 1e-3, 1e-2, 0.1), 5, 1.0


def allowed(statement: Statement, laws: Iterable[Law]) -> Iterator[Pair]:
    """Those laws, their ratios moved towards 1 until the statement allows them."""
    for ratios, weights in laws:
        share = _least_share(statement, ratios, weights)
        pair = _exact(_moved(ratios, share), weights)
        if share < _TOO_FAR and pair is not None and is_allowed(statement, pair):
            yield pair


def _least_share(statement: Statement, ratios: Floats, weights: Floats) -> float:
    """By halving."""
    near, far = 0.0, _TOO_FAR
    for share in _SHARES:
        if _are_within(statement, _moved(ratios, share), weights):
            far = share
            break
        near = share
    for _ in range(_HALVINGS if far < _TOO_FAR else 0):
        middle = (near + far) / 2
        near, far = (near, middle) if _are_within(statement, _moved(ratios, middle), weights) else (middle, far)
    return far


def _moved(ratios: Floats, share: float) -> Floats:
    return np.maximum(1 + (1 - share) * (ratios - 1), _LOWEST)


def merged(law: Law, below: float) -> Law:
    """The same with all outcomes of lower ratios taken for one."""
    ratios, weights = law
    is_low = ratios < below
    if is_low.sum() < 2:
        return law
    mass = weights[is_low].sum()
    mean = (weights * ratios)[is_low].sum() / mass
    return np.append(ratios[~is_low], mean), np.append(weights[~is_low], mass)


def _exact(ratios: Floats, weights: Floats) -> Pair | None:
    """With probabilities that add up to 1 exactly, by the largest one."""
    order = np.argsort(-weights)
    q = [Fraction(weight) for weight in weights[order][1:].tolist()]
    p = [Fraction(weight) for weight in (weights * ratios)[order][1:].tolist()]
    pair = ((1 - sum(p, Fraction(0)), 1 - sum(q, Fraction(0))), *zip(p, q, strict=True))
    return pair if all(min(one) > _LEAST for one in pair) else None


def is_allowed(statement: Statement, pair: Pair) -> bool:
    """Whether the statement certainly allows a pair, in both directions.

    Theorem: ln G(t), G(t) the mean of r^t over Q, is convex and 0 at t = 1. If it is at most (1 - x) rho t (t - 1) at
        orders t_0 < t_1 < ..., it is at most rho t (t - 1) between t_i and t_(i+1) if (t_(i+1) - t_i)^2 <= 4 x t_i
        (t_i - 1); up to t_0 if it is at most rho (t_0 - 1) there; and beyond ln(max r)/rho.
    Reference: convexity
    Proof: docs/theory/accounting/sampled_games.md#from-below
    Checked-by: tests/accounting/sampled_games/test_pairs.py::test_no_order_is_above
    """
    first, second = (np.array([float(one[k]) for one in pair]) for k in (0, 1))
    return _are_within(statement, first / second, second)


def _are_within(statement: Statement, ratios: Floats, weights: Floats) -> bool:
    return _is_within(statement, weights * ratios, weights) and _is_within(statement, weights, weights * ratios)


def _is_within(statement: Statement, first: Floats, second: Floats) -> bool:
    losses = log(first / second)
    if statement.last < math.inf:
        excess, moments = statement.tangents()
        return bool((_moments(first, losses, excess) <= moments * (1 - _MARGIN) - _ROUNDED).all())
    rho, top = float(statement.least), float(losses.max())
    last = max(top / rho, 1.0)
    excess = np.exp(np.arange(math.log(_NEAR_ONE), math.log(last) + _APART, _APART))
    room = 1 - _MARGIN - _APART**2 / 4 * 1.1 * excess / (1 + excess)
    found = _moments(first, losses, excess)
    bounds = rho * excess * (1 + excess) * room - _ROUNDED
    return bool((found <= bounds).all() and found[0] <= rho * excess[0] * (1 - _MARGIN) - _ROUNDED)


def _moments(first: Floats, losses: Floats, excess: Floats) -> Floats:
    """ln G(1 + c), about."""
    powers = excess[:, None] * losses[None, :]
    top = powers.max(axis=1)
    found: Floats = log((exp(powers - top[:, None]) * first).sum(axis=1)) + top
    return found


def ranged(size: Fraction) -> list[Pair]:
    """Two outcomes, with larger losses from nearly 0 to nearly all of the range."""
    near = float(size) * (1 - _ROOM) - _ROOM
    most = Fraction(Enclosure.of(size).exp().lower)
    highest = near * (1 - np.geomspace(1e-4, 1.0, _MANY + 1)[:-1])
    found = [(math.expm1(t - near) / math.expm1(-near), t) for t in highest.tolist()]
    chances = [(Fraction(p), Fraction(p * math.exp(-t))) for p, t in found]
    return [((p, q), (1 - p, 1 - q)) for p, q in chances if 0 < q < p < 1 and p * (1 - q) <= most * q * (1 - p)]
