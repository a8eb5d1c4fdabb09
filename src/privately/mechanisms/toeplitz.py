"""Lower triangular matrices with equal entries along their diagonals, given by their first columns."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

DIGITS = 19
"""Of one entry in a product; numbers below 2^63 have no more."""

_PLACES = np.array([10**place for place in reversed(range(DIGITS))], np.uint64)


@lru_cache(maxsize=8)
def rounded_root(length: int, bits: int) -> NDArray[np.int64]:
    """The square root of the matrix of partial sums, times 2^bits and rounded: C(2j, j)/4^j along the j-th diagonal."""
    j = np.arange(1, length)
    column = np.cumprod(np.concatenate([[1.0], (2 * j - 1) / (2 * j)]))
    root: NDArray[np.int64] = np.rint(np.ldexp(column, bits)).astype(np.int64)
    root.flags.writeable = False
    return root


@lru_cache(maxsize=8)
def sums_after_inverse(length: int, bits: int) -> NDArray[np.float64]:
    """Partial sums times the inverse of the rounded root: what turns it back into partial sums."""
    column = np.ldexp(rounded_root(length, bits).astype(np.float64), -bits)
    inverse = 1 / column[:1]
    while inverse.size < length:  # Newton's step doubles the entries that are right
        size = min(2 * inverse.size, length)
        product = multiply(column[:size], inverse, size)
        inverse = 2 * np.pad(inverse, (0, size - inverse.size)) - multiply(product, inverse, size)
    sums: NDArray[np.float64] = np.cumsum(inverse)
    sums.flags.writeable = False
    return sums


def multiply(left: NDArray[np.float64], right: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The first entries of the convolution, by the fast Fourier transform in floating point."""
    size = 1 << (left.size + right.size - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)
    return product[:length]


def multiply_exactly(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first entries of the convolution of two vectors of one length; none is negative, and no result reaches 2^63.

    Theorem: writing each vector as one long number with so many digits for each entry that no sum overflows, the
        digits of the product are the sums.
    Reference: Kronecker substitution; libmpdec multiplies long decimals by number-theoretic transforms
    Proof: docs/theory/mechanisms.md#exact-convolution
    Checked-by: tests/mechanisms/test_toeplitz.py::test_exact_products
    """
    length = left.size
    places = 2 * length * DIGITS
    exact = Context(prec=places + 1, Emax=MAX_EMAX, Emin=MIN_EMIN)
    product = f"{exact.multiply(_written(left), _written(right)):f}".zfill(places)
    digits = np.frombuffer(product.encode(), np.uint8).reshape(-1, DIGITS) - ord("0")
    return (digits[::-1][:length] @ _PLACES).astype(np.int64)


def _written(vector: NDArray[np.int64]) -> Decimal:
    """The entries as one number, the first in the lowest places."""
    left = vector[::-1].astype(np.uint64)
    digits = np.empty((left.size, DIGITS), np.uint8)
    for place in reversed(range(DIGITS)):
        left, digits[:, place] = np.divmod(left, np.uint64(10))
    return Decimal((digits + ord("0")).tobytes().decode())
