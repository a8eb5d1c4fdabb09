"""A profile that is known everywhere, for tests of functions above it, and one step by plain search."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.sketches import Found, Lattice

FOUR = AtOrders(((Fraction(4), Fraction(1, 10)),))
COARSE = Lattice(0.12, 60, 6, 4.0)
TIMES = 2


def profile(y: np.ndarray) -> np.ndarray:
    """0.14 y^-3 from 1 on, and before it as for every profile."""
    high = np.maximum(y, 1 / y)
    tail = 0.14 * high**-3.0
    found: np.ndarray = np.where(y >= 1, tail, 1 - y + y * tail)
    return found


def found(lattice: Lattice = COARSE) -> Found:
    """Its values, slopes and bends, at all places."""
    y = np.exp(np.arange(lattice.places) * lattice.step)
    near = np.exp(np.array([-1.0, 0.0, 1.0]) * lattice.step)
    values = 0.14 * (y[:, None] * near) ** -3.0
    bends = np.zeros((lattice.places, 2))
    bends[:, 0] = 12 * values[:, 1] * math.expm1(lattice.step) ** 2
    return Found(values, -3 * values[:, 1], bends)


def held(p: float, q: float, order: float) -> float:
    """The larger moment of both directions."""
    forward = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
    backward = q**order * p ** (1 - order) + (1 - q) ** order * (1 - p) ** (1 - order)
    return float(max(forward, backward))


def pairs(order: float, bound: float, count: int) -> list[tuple[float, float]]:
    """Some pairs that are just allowed, from even to rare ones, and their images."""
    most, known = math.exp((order - 1) * bound), []
    for x in np.linspace(0.02, 16, count):
        q = 1 / (1 + math.exp(x))
        low, high = q, 1 - q
        for _ in range(60):
            p = (low + high) / 2
            low, high = (p, high) if held(p, q, order) <= most else (low, p)
        if low > q * 1.0001:
            known += [(low, q), (1 - q, 1 - low)]
    return known


def raised(known: list[tuple[float, float]], y: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The best of these choices before a profile, by its values at all y; linear between them, from below."""
    p, q = (np.array(part)[:, None] for part in zip(*known, strict=True))
    up, down = (np.interp(y * ratio, y, after, right=0.0) for ratio in (q / p, (1 - q) / (1 - p)))
    best: np.ndarray = (p * up + (1 - p) * down).max(axis=0)
    return best
