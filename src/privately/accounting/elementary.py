"""Elementary functions on arrays of floats, with proved error bounds.

No library promises how far its exp or sin is off. These use only additions, multiplications and divisions, which IEEE
754 rounds correctly, and tables that are computed with 60 digits. Relative errors are below `ERROR`; those of cosines
and sines are absolute. Proofs: docs/theory/accounting/elementary.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privately.rounding import Enclosure

Floats: TypeAlias = NDArray[np.float64]

UNIT: Final = 2.0**-53
"""The relative error of one rounded operation is at most this."""

ERROR: Final = 2.0**-46
"""The relative error of the functions here is at most this; the proofs give 2^-49."""

LOWEST: Final = -708.0
"""Below it, exp is 0: an absolute error below 10^-307."""

HIGHEST: Final = 709.0

LARGEST_ANGLE: Final = 2.0**20

_TINY = 2.0**-53


def _split(exact: Fraction, bits: tuple[int, ...]) -> tuple[float, ...]:
    """Floats of few bits, so that their products with small integers are exact; the last one is the rest."""
    parts = []
    for many in bits:
        exponent = math.frexp(float(exact))[1]
        step = Fraction(2) ** (exponent - many)
        parts.append(float((exact // step) * step))
        exact -= Fraction(parts[-1])
    return (*parts, float(exact))


def _fraction(value: Enclosure) -> Fraction:
    return Fraction(value.lower)


def _pi() -> Fraction:
    """Machin: 16 atan(1/5) - 4 atan(1/239)."""

    def atan_inverse(n: int) -> Fraction:
        return sum((Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(60)), Fraction(0))

    return 16 * atan_inverse(5) - 4 * atan_inverse(239)


def _two_floats(values: list[Fraction]) -> tuple[Floats, Floats]:
    high = [float(value) for value in values]
    return np.array(high), np.array([float(value - Fraction(near)) for value, near in zip(values, high, strict=True)])


_LN2 = _fraction(Enclosure.of(2).log())
PI_EXACT: Final = _pi()

_PIECES = 64
_POWERS, _POWERS_REST = _two_floats([_fraction((_LN2 * j / _PIECES * Enclosure.of(1)).exp()) for j in range(_PIECES)])
_LN2_HIGH, _LN2_LOW = _split(_LN2 / _PIECES, (35,))
_PER_LN2 = float(_PIECES / _LN2)

_LOG_PIECES = 128
_LOG_FIRST = 90  # about 128 sqrt(1/2)
_CENTRES = [Fraction(j, _LOG_PIECES) for j in range(_LOG_FIRST, 2 * _LOG_FIRST + 4)]
_LOGS, _LOGS_REST = _two_floats([_fraction(Enclosure.of(centre).log()) for centre in _CENTRES])
_LOG_PAIRS: list[tuple[float, float]] = list(zip(_LOGS.tolist(), _LOGS_REST.tolist(), strict=True))
_LN2_WHOLE_HIGH, _LN2_WHOLE_LOW = _split(_LN2, (40,))

_ANGLES = 64
_ANGLE_HIGH, _ANGLE_MIDDLE, _ANGLE_LOW = _split(PI_EXACT / 32, (28, 28))
_PER_ANGLE = float(32 / PI_EXACT)


def _cosine(angle: Fraction) -> Fraction:
    term, total = Fraction(1), Fraction(1)
    square = Fraction(int(angle**2 * 2**300), 2**300)
    for k in range(1, 40):
        term = Fraction(int(term * square * 2**300), 2**300) / ((2 * k - 1) * 2 * k)
        total += -term if k % 2 else term
    return total


_COSINES, _ = _two_floats([_cosine(PI_EXACT / 32 * (j if j <= 32 else 64 - j)) for j in range(_ANGLES)])
_SINES = _COSINES[(np.arange(_ANGLES) - 16) % _ANGLES]


def _reduced(x: Floats) -> tuple[NDArray[np.int64], Floats]:
    """x = k ln2/64 + r with |r| < 0.0055."""
    k = np.rint(x * _PER_LN2)
    r = x - k * _LN2_HIGH
    r -= k * _LN2_LOW
    return k.astype(np.int64), r


def _power_of_two(exponent: NDArray[np.int64]) -> Floats:
    """2^exponent, for normal numbers."""
    exponent += 1023
    exponent <<= 52
    return exponent.view(np.float64)


def _small_expm1(r: Floats) -> Floats:
    found = r * (1 / 720)
    for coefficient in (1 / 120, 1 / 24, 1 / 6, 0.5):
        found += coefficient
        found *= r
    found *= r
    found += r
    return found


def exp(x: Floats) -> Floats:
    """e^x, for x up to `HIGHEST`; 0 below `LOWEST`.

    Theorem: the relative error is at most 2^-49.
    Reference: Tang 1989
    Proof: docs/theory/accounting/elementary.md#exponential
    Checked-by: tests/accounting/test_elementary.py::test_exp
    """
    k, r = _reduced(np.maximum(x, LOWEST))
    piece = _POWERS[k & (_PIECES - 1)]
    value = _small_expm1(r)
    value *= piece
    value += piece
    k >>= 6
    value *= _power_of_two(k)
    value *= x >= LOWEST
    return value


def expm1(x: Floats) -> Floats:
    """e^x - 1, exact to relative precision near 0 too, for x up to `HIGHEST`.

    Theorem: the relative error is at most 2^-49.
    Reference: Tang 1992
    Proof: docs/theory/accounting/elementary.md#exponential
    Checked-by: tests/accounting/test_elementary.py::test_expm1
    """
    return exp_and_expm1(x)[1]


def exp_and_expm1(x: Floats) -> tuple[Floats, Floats]:
    """Both at once, for x up to `HIGHEST`; below `LOWEST` as if it were that."""
    k, r = _reduced(np.maximum(x, LOWEST))
    j = k & (_PIECES - 1)
    k >>= 6
    scale = _power_of_two(k)
    piece = _POWERS[j]
    piece *= scale
    more = _small_expm1(r)
    more *= piece
    rest = _POWERS_REST[j]
    rest *= scale
    rest += more
    more += piece
    piece -= 1
    piece += rest
    return more, piece


def log1p(x: Floats) -> Floats:
    """ln(1 + x) for x > -1, exact to relative precision near 0 too.

    Theorem: the relative error is at most 2^-49, for x at least -1 + 2^-40.
    Reference: Tang 1990
    Proof: docs/theory/accounting/elementary.md#logarithm
    Checked-by: tests/accounting/test_elementary.py::test_log1p
    """
    whole = 1 + x
    lost = np.where(np.abs(x) < 1, x - (whole - 1), 1 - (whole - x))
    mantissa, exponent = np.frexp(whole)
    low = mantissa * _LOG_PIECES < _LOG_FIRST + 0.5
    mantissa, exponent = np.where(low, 2 * mantissa, mantissa), exponent - low
    j = np.rint(mantissa * _LOG_PIECES).astype(np.int64)
    centre = j / _LOG_PIECES
    near = (exponent == 0) & (j == _LOG_PIECES)
    shift = np.where(near, x, (mantissa - centre) + lost * _power_of_two(-exponent.astype(np.int64)))
    s = shift / (2 * centre + shift)
    square = s * s
    small = 2 * s + 2 * s * square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square / 9)))
    place = j - _LOG_FIRST
    high = exponent * _LN2_WHOLE_HIGH + _LOGS[place]
    low_part = exponent * _LN2_WHOLE_LOW + _LOGS_REST[place]
    value: Floats = high + (small + low_part)
    return value


def log(x: Floats) -> Floats:
    """ln x for x > 0: the error is at most `ERROR` relative to max(|ln x|, 1/8)."""
    mantissa, exponent = np.frexp(x)
    return exponent * float(_LN2) + log1p(mantissa - 1)


def log_between(x: float, plus: int = 0) -> tuple[float, float]:
    """Floats below and above ln(x + plus), a sum above 10^-300, plus 0 or 1.

    Theorem: the relative error of the float between them is at most 5.2 u.
    Reference: Tang 1990
    Proof: docs/theory/accounting/elementary.md#logarithm
    Checked-by: tests/accounting/test_elementary.py::test_log_between
    """
    if plus and abs(x) < _TINY:
        return (math.nextafter(x, -math.inf) if x else x), x
    near = _log_of(x, plus)
    off = abs(near) * (6.5 * UNIT)
    return near - off, near + off


def _log_of(x: float, plus: int) -> float:
    """As `log1p`, for one number."""
    whole = x + plus
    lost = (x - (whole - plus) if abs(x) < 1 else plus - (whole - x)) if plus else 0.0
    mantissa, exponent = math.frexp(whole)
    if mantissa * _LOG_PIECES < _LOG_FIRST + 0.5:
        mantissa, exponent = 2 * mantissa, exponent - 1
    j = round(mantissa * _LOG_PIECES)
    if exponent == 0 and j == _LOG_PIECES:
        return _small_log(x if plus else x - 1)
    centre = j / _LOG_PIECES
    small = _small_log(((mantissa - centre) + math.ldexp(lost, -exponent)) / centre)
    high, rest = _LOG_PAIRS[j - _LOG_FIRST]
    return (exponent * _LN2_WHOLE_HIGH + high) + (small + (exponent * _LN2_WHOLE_LOW + rest))


def _small_log(t: float) -> float:
    """ln(1 + t) for |t| < 0.0056."""
    tail = t * (1 / 5 - t * (1 / 6 - t * (1 / 7 - t * (1 / 8 - t / 9))))
    return t - t * t * (0.5 - t * (1 / 3 - t * (0.25 - tail)))


def cos_sin(x: Floats) -> tuple[Floats, Floats]:
    """Both, for |x| up to `LARGEST_ANGLE`.

    Theorem: the absolute errors are at most 2^-49.
    Reference: Gal-Bachelis 1991
    Proof: docs/theory/accounting/elementary.md#cosine-and-sine
    Checked-by: tests/accounting/test_elementary.py::test_cos_sin
    """
    n = np.rint(x * _PER_ANGLE)
    r = x - n * _ANGLE_HIGH
    r -= n * _ANGLE_MIDDLE
    r -= n * _ANGLE_LOW
    square = r * r
    odd = square * (1 / 5040)
    even = square * (1 / 40320)
    for first, second in ((1 / 120, 1 / 720), (1 / 6, 1 / 24)):
        np.subtract(first, odd, out=odd)
        np.subtract(second, even, out=even)
        odd *= square
        even *= square
    odd *= r
    sine = np.subtract(r, odd, out=odd)
    np.subtract(0.5, even, out=even)
    even *= square
    versed = even
    j = n.astype(np.int64)
    j &= _ANGLES - 1
    c, s = _COSINES[j], _SINES[j]
    lost, gained = c * versed, c * sine
    sine *= s
    versed *= s
    lost += sine
    gained -= versed
    c -= lost
    s += gained
    return c, s


def turn_minus_one(x: Floats) -> NDArray[np.complex128]:
    """e^(ix) - 1, to relative precision for small |x| too.

    Theorem: the absolute error is at most ERROR |x|.
    Reference: Kahan 1987
    Proof: docs/theory/accounting/elementary.md#cosine-and-sine
    Checked-by: tests/accounting/test_elementary.py::test_turn_minus_one
    """
    half = x / 2
    cosine, sine = cos_sin(half)
    square = half * half
    series = half - half * square * (1 / 6 - square * (1 / 120 - square * (1 / 5040 - square / 362880)))
    sine = np.where(np.abs(half) < 0.125, series, sine)
    turned = np.empty(x.shape, dtype=np.complex128)
    turned.real = -2 * sine * sine
    turned.imag = 2 * sine * cosine
    return turned


def atan(x: Floats) -> Floats:
    """For x >= 0.

    Theorem: the relative error is at most 2^-48.
    Reference: Muller 2016
    Proof: docs/theory/accounting/elementary.md#arctangent
    Checked-by: tests/accounting/test_elementary.py::test_atan
    """
    for _ in range(3):
        x = x / (1 + np.sqrt(1 + x * x))
    square = x * x
    tail = np.full_like(square, 1 / 23)
    for odd in range(21, 1, -2):
        tail = 1 / odd - square * tail
    return 8 * (x - x * square * tail)


_NORMAL_STEP = 0.5
_NORMAL_PLACES = (np.arange(13) + 0.5) * _NORMAL_STEP


def normal_tail(x: Floats) -> Floats:
    """P(N > x) of a standard normal N, for x up to 37.

    Theorem: the relative error is at most `ERROR`.
    Reference: Hunter-Regan 1972
    Proof: docs/theory/accounting/elementary.md#normal-tail
    Checked-by: tests/accounting/test_elementary.py::test_normal_tail
    """
    size = np.abs(x)
    short = (size * 2.0**27 + size) - size * 2.0**27  # the leading bits: its square is exact
    density = exp(-short * short / 2) * exp(-(size - short) * (size + short) / 2)
    y_square = size * size / 2
    y = size * math.sqrt(0.5)
    total = np.zeros_like(size)
    for place, weight in zip(_NORMAL_PLACES, _NORMAL_WEIGHTS, strict=True):
        total += weight / (place * place + y_square)
    tail = density * y * total * float(1 / PI_EXACT) * _NORMAL_STEP
    angle = y * float(2 * PI_EXACT / _NORMAL_STEP)
    pole = np.where(y < float(PI_EXACT) / _NORMAL_STEP, 1 / (1 + exp(np.minimum(angle, 100.0))), 0.0)
    tail = tail + pole
    return np.where(x < 0, 1 - tail, tail)


_NORMAL_WEIGHTS = exp(-_NORMAL_PLACES * _NORMAL_PLACES)
