"""Profiles of mixtures of noises with many digits, by half-lines; nothing here knows the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath

Function = Callable[[mpmath.mpf], mpmath.mpf]


def shares(rows: int, rate: str) -> list[mpmath.mpf]:
    """How likely it is that so many are kept."""
    q = mpmath.mpf(rate)
    return [mpmath.binomial(rows, i) * q**i * (1 - q) ** (rows - i) for i in range(rows + 1)]


def laplace(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.exp(-x) / 2 if x > 0 else 1 - mpmath.exp(x) / 2


def normal_profile(noise: str, rate: str, split: tuple[int, int], epsilon: mpmath.mpf) -> mpmath.mpf:
    return half_line(lambda x: mpmath.ncdf(-x), lambda x: -x * x / 2, 1 / mpmath.mpf(noise), rate, split, epsilon)


def laplace_profile(scale: str, rate: str, split: tuple[int, int], epsilon: mpmath.mpf) -> mpmath.mpf:
    return half_line(laplace, lambda x: -abs(x), 1 / mpmath.mpf(scale), rate, split, epsilon)


def half_line(  # noqa: PLR0917
    tail: Function, log_density: Function, shift: mpmath.mpf, rate: str, split: Sequence[int], epsilon: mpmath.mpf
) -> mpmath.mpf:
    """P(x > t) - e^epsilon Q(x > t), t where the densities of P and e^epsilon Q cross."""
    removed, added = (shares(rows, rate) for rows in split)

    def excess(x: mpmath.mpf) -> mpmath.mpf:
        p = mpmath.fsum(w * mpmath.exp(log_density(x - i * shift)) for i, w in enumerate(removed))
        q = mpmath.fsum(w * mpmath.exp(log_density(x + j * shift)) for j, w in enumerate(added))
        return p - mpmath.exp(epsilon) * q

    low, high = mpmath.mpf(-40), 40 + 2 * split[0] * shift
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    above = mpmath.fsum(w * tail(low - i * shift) for i, w in enumerate(removed))
    below = mpmath.fsum(w * tail(low + j * shift) for j, w in enumerate(added))
    return max(above - mpmath.exp(epsilon) * below, mpmath.mpf(0))
