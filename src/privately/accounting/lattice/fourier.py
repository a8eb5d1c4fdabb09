"""Fourier sums of real samples with a proved error: a matrix product, then halves put together.

No library promises how far its fast Fourier transform is off. Here every output is a sum of the samples, each times a
product of few roots of unity, so that its error is a small multiple of the sum of their absolute values.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privately.accounting.elementary import UNIT, Floats, cos_sin

Complex: TypeAlias = NDArray[np.complex128]

FEWEST: Final = 64
"""The least number of samples."""

ROOT_ERROR: Final = 20 * UNIT
"""Of `roots`: 2^-51 each of cosine and sine, and at most 4 pi UNIT of the angle."""

_COLUMNS = 64
_KEPT = 1 << 15
_TURN = 2 * math.pi


def modulus(values: Complex) -> Floats:
    """|z| to 4 UNIT and 10^-150 of the largest, by operations that are correctly rounded.

    All are divided by a power of two first, so that no square leaves the range of floats.
    """
    largest = max(float(np.abs(part).max(initial=0.0)) for part in (values.real, values.imag))
    if not 0 < largest < math.inf:
        return np.full(values.shape, largest)
    unit = 2.0 ** (math.frexp(largest)[1] - 1)
    first, second = values.real / unit, values.imag / unit
    size: Floats = np.sqrt(first * first + second * second) * unit
    return size


@lru_cache(maxsize=32)
def roots(count: int) -> Complex:
    """e^(2 pi i k/count) for k = 0, ..., count - 1; each is off by at most ROOT_ERROR."""
    found = turned(np.arange(float(count)), count)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=32)
def quarter(count: int) -> Complex:
    """The first quarter of the roots, and one more."""
    found = turned(np.arange(count // 4 + 1.0), count)
    found.flags.writeable = False
    return found


def turned(places: Floats, count: int) -> Complex:
    """e^(2 pi i k/count) for integers 0 <= k < count, each off by at most ROOT_ERROR."""
    found = np.empty(places.shape, dtype=np.complex128)
    for start in range(0, places.size, _KEPT):  # what is needed on the way takes little memory
        part = slice(start, start + _KEPT)
        found.real[part], found.imag[part] = cos_sin(places[part] * (_TURN / count))
    return found


def forget(count: int) -> None:
    """Frees the roots, where there are so many that memory matters more than the time to make them again."""
    if count > _KEPT:
        quarter.cache_clear()


def error(count: int) -> float:
    """Of `transform`, as a part of the sum of the absolute values of all samples."""
    stages = (count // FEWEST).bit_length() - 1
    return 2 * (FEWEST + 2) * UNIT + 2 * ROOT_ERROR + stages * (ROOT_ERROR + 12 * UNIT)


def spread_error(count: int) -> float:
    """The root of the mean square of all errors of `transform`, as a part of the root of the sum of the squares of all
    samples.

    Theorem: the first sums are off by sqrt(64) times the part by which each is, as the root of the sum of squares; each
        joining, sqrt(2) times a rotation, by the relative error of what it multiplies and adds.
    Reference: Higham 2002, Theorem 24.2
    Proof: docs/theory/accounting/lattice.md#fourier-sums
    Checked-by: tests/accounting/lattice/test_fourier.py::test_errors_in_the_mean
    """
    stages = (count // FEWEST).bit_length() - 1
    first = math.sqrt(FEWEST) * (2 * (FEWEST + 2) * UNIT + 2 * ROOT_ERROR)
    return (first + stages * (ROOT_ERROR + 12 * UNIT)) * 1.01


def transform(samples: Floats) -> Complex:
    """The sums of samples[j] e^(2 pi i j n/N) over j, for n = 0, ..., N/2, where N = len(samples) is a power of two.

    Theorem: each sum is off by at most error(N) times the sum of all |samples|.
    Reference: Cooley-Tukey 1965; Higham 2002, Theorem 24.2
    Proof: docs/theory/accounting/lattice.md#fourier-sums
    Checked-by: tests/accounting/lattice/test_fourier.py::test_transform_is_within_its_error
    """
    table = samples.reshape(FEWEST, -1)
    first = roots(FEWEST)
    place = np.arange(FEWEST // 2 + 1)[:, None] * np.arange(FEWEST)[None, :] % FEWEST
    sums = np.empty((place.shape[0], table.shape[1]), dtype=np.complex128)
    cosine, sine = first.real[place], first.imag[place]
    # In blocks so small that the matrix product stays on one processor.
    for start in range(0, table.shape[1], _COLUMNS):
        block = table[:, start : start + _COLUMNS]
        sums.real[:, start : start + _COLUMNS] = cosine @ block
        sums.imag[:, start : start + _COLUMNS] = sine @ block
    length = FEWEST
    while length < samples.size:
        sums, length = _joined(sums, length), 2 * length
    return sums[:, 0]


def _joined(sums: Complex, length: int) -> Complex:
    """From the sums of every second sample to those of all: the rows 0, ..., length/2 of both halves.

    What is not kept follows by conjugation, as the samples are real.
    """
    half = sums.shape[1] // 2
    even, odd = sums[:, :half], sums[:, half:]
    aside = quarter(2 * length)[:, None] * odd
    joined = np.empty((length + 1, half), dtype=np.complex128)
    np.add(even, aside, out=joined[: length // 2 + 1])
    np.subtract(even, aside, out=aside)
    np.conjugate(aside[-2::-1], out=joined[length // 2 + 1 :])
    return joined
