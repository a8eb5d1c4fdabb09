"""Games of two outcomes by plain search in floats, with other code than the library's."""

from __future__ import annotations

import math

import numpy as np

ORDERS = np.concatenate([1 + np.geomspace(1e-4, 200, 2000), -np.geomspace(1e-4, 200, 500)])


def apart(p: float, q: float) -> float:
    """The rho that a pair needs, nearly."""
    logs = np.logaddexp(
        ORDERS * math.log(p) + (1 - ORDERS) * math.log(q), ORDERS * math.log1p(-p) + (1 - ORDERS) * math.log1p(-q)
    )
    return float((logs / (ORDERS * (ORDERS - 1))).max())


def pairs(rho: float, count: int, farthest: float = 12) -> list[tuple[float, float]]:
    """Some pairs that are just rho-zCDP, from even to rare ones."""
    found = []
    for x in np.linspace(0.02, farthest, count):
        q = 1 / (1 + math.exp(x))
        low, high = q, 1 - q
        for _ in range(50):
            p = (low + high) / 2
            low, high = (p, high) if apart(p, q) <= rho else (low, p)
        if low > q * 1.0001:
            found.append((low, q))
    return found


def one_step(known: list[tuple[float, float]], epsilon: float) -> float:
    """The largest delta of these pairs."""
    if epsilon < 0:
        return 1 - math.exp(epsilon) + math.exp(epsilon) * one_step(known, -epsilon)
    return max(0.0, *(p - math.exp(epsilon) * q for p, q in known))


def two_steps(known: list[tuple[float, float]], epsilon: float) -> float:
    """With the second pair chosen in the light of the first outcome."""

    def value(p: float, q: float) -> float:
        first, second = math.log(p / q), math.log((1 - p) / (1 - q))
        return p * one_step(known, epsilon - first) + (1 - p) * one_step(known, epsilon - second)

    return max(value(p, q) for p, q in known)


def in_any_order(known: dict[float, list[tuple[float, float]]], left: tuple[float, ...], epsilon: float) -> float:
    """Of whichever step is next, by plain search."""
    if not left:
        return max(1 - math.exp(epsilon), 0.0)
    best = 0.0
    for k, rho in enumerate(left):
        rest = left[:k] + left[k + 1 :]
        for p, q in known[rho]:
            for one, two in ((p, q), (1 - q, 1 - p)):
                up, down = math.log(one / two), math.log((1 - one) / (1 - two))
                best = max(
                    best,
                    one * in_any_order(known, rest, epsilon - up)
                    + (1 - one) * in_any_order(known, rest, epsilon - down),
                )
    return best
