"""Elementary functions on arrays of floats, with proved error bounds.

No library promises how far its exp or sin is off. These use only additions, multiplications and divisions, which IEEE
754 rounds correctly, and tables that are computed with 70 digits. Relative errors are below `ERROR`; those of cosines
and sines are absolute. Proofs: docs/theory/accounting/elementary.md.

Most arrays are small, and what counts is the number of NumPy calls: tables are large and series short.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

UNIT: Final = 2.0**-53
"""The relative error of one rounded operation is at most this."""

ERROR: Final = 2.0**-46
"""The relative error of the functions here is at most this; the proofs give 2^-49."""

LOWEST: Final = -708.0
"""Below it, exp is 0: an absolute error below 10^-307."""

HIGHEST: Final = 709.0

LARGEST_ANGLE: Final = 2.0**20

_TINY = 2.0**-53
_SMALLEST = 2.0**-1022  # of the floats with all their bits
_FIXED = 256
_ONE = 1 << _FIXED  # the number 1, where integers stand for multiples of 2^-256


def _split(exact: Fraction, bits: int) -> tuple[Floats, Floats]:
    """A float of few bits, so that its products with small integers are exact, and the rest."""
    step = Fraction(2) ** (math.frexp(float(exact))[1] - bits)
    first = exact // step * step
    return _constant(float(first)), _constant(float(exact - first))


def _constant(value: float) -> Floats:
    """An array without dimensions: NumPy is twice as quick with it as with a number of Python."""
    return np.array(value)


def _whole(value: int) -> Integers:
    return np.array(value)


def _inverse_series(n: int, sign: int) -> int:
    """1/n + sign/(3 n^3) + 1/(5 n^5) + sign/(7 n^7) + ...: atanh(1/n) with 1, atan(1/n) with -1."""
    total, power, k = 0, _ONE // n, 0
    while power:
        total += sign**k * (power // (2 * k + 1))
        power //= n * n
        k += 1
    return total


def _cosines_and_sines(angle: Fraction, many: int) -> tuple[list[int], list[int]]:
    """Those of 0, 1, ..., `many` times the angle."""
    fixed, parts, term = int(angle * _ONE), [0, 0, 0, 0], _ONE
    for k in range(1, 100):
        parts[(k - 1) % 4] += term
        term = (term * fixed >> _FIXED) // k
    across, up = parts[0] - parts[2], parts[1] - parts[3]
    cosines, sines = [_ONE], [0]
    for _ in range(many):
        c, s = cosines[-1], sines[-1]
        cosines.append((c * across - s * up) >> _FIXED)
        sines.append((s * across + c * up) >> _FIXED)
    return cosines, sines


def _powers(many: int) -> list[int]:
    """2^(j/many) for j = 0, ..., many - 1; `many` is a power of two."""
    root = 2 * _ONE
    for _ in range(many.bit_length() - 1):
        root = math.isqrt(root * _ONE)
    powers = [_ONE]
    for _ in range(many - 1):
        powers.append(powers[-1] * root >> _FIXED)
    return powers


def _logs(first: int, centre: int, last: int) -> dict[int, int]:
    """ln(n/centre) for n from first to last."""
    logs = {centre: 0}
    for n in range(centre, last):
        logs[n + 1] = logs[n] + 2 * _inverse_series(2 * n + 1, 1)
    for n in range(centre, first, -1):
        logs[n - 1] = logs[n] - 2 * _inverse_series(2 * n - 1, 1)
    return logs


def _two_floats(value: int) -> tuple[float, float]:
    high = value / _ONE
    return high, (value - int(math.ldexp(high, _FIXED))) / _ONE


_LN2 = Fraction(2 * _inverse_series(3, 1), _ONE)
PI_EXACT: Final = Fraction(16 * _inverse_series(5, -1) - 4 * _inverse_series(239, -1), _ONE)
_HALF, _UNITY, _TWO = _constant(0.5), _constant(1.0), _constant(2.0)

_PIECES = 1024
_LN2_HIGH, _LN2_LOW = _split(_LN2 / _PIECES, 33)
_PER_LN2 = _constant(float(_PIECES / _LN2))
_LOWEST = _constant(LOWEST)
_THREE, _TWELVE = _constant(3.0), _constant(12.0)
# Added to a number below 2^31, it leaves the nearest integer plus 1023.5 pieces in the last bits.
_ROUNDER = _constant(1.5 * 2**52 + 1023.5 * _PIECES)
_PIECE_BITS = _whole(_PIECES - 1)
_SHIFT_PIECES, _SHIFT_EXPONENT, _SHIFT_BOTH = _whole(10), _whole(52), _whole(42)
# From 2^(-1/2) to 2^(1/2).
_ALL_POWERS = _powers(_PIECES)
_NEAR_ONE = [(power, 2 * _ONE) for power in _ALL_POWERS[_PIECES // 2 :]]
_NEAR_ONE += [(power, _ONE) for power in _ALL_POWERS[: _PIECES // 2]]
_LESS_ONE: Floats = np.array([(power - one) / one for power, one in _NEAR_ONE])
_POWERS: Floats = np.array([power / one for power, one in _NEAR_ONE])
# So that a shifted k may be added, which brings its place and its exponent with it.
_POWER_BITS: Integers = _POWERS.view(np.int64) - (np.arange(_PIECES) << 42) - (1023 << 52)

_LOG_PIECES = 128
_LOG_FIRST = 90  # about 128 sqrt(1/2)
_ALL_LOGS = _logs(176, 256, 366)
_LOG_PAIRS = [_two_floats(_ALL_LOGS[2 * j]) for j in range(_LOG_FIRST, 2 * _LOG_FIRST + 4)]
_LN2_WHOLE_HIGH, _LN2_WHOLE_LOW = (float(part) for part in _split(_LN2, 40))
# The cells of the arrays: the leading 7 bits of the mantissa, from 176/256 to 352/256.
_LOGS: Floats = np.array([_ALL_LOGS[n] / _ONE for n in [*range(176, 256), *range(256, 352, 2)]])
_HALF_CELL, _CENTRE_BITS = _whole(1 << 44), _whole(-1 << 45)
_FIRST_BITS = _whole(int(np.array(176 / 256).view(np.int64)))
_SHIFT_CELL, _CELL_BITS = _whole(45), _whole(127)
_LN2_NEAREST = _constant(float(_LN2))
_CUBE, _FIFTH = _constant(1 / 12), _constant(1 / 80)

_ANGLES = 4096
_ANGLE_HIGH, _ANGLE_LOW = _split(2 * PI_EXACT / _ANGLES, 23)
_PER_ANGLE = _constant(float(_ANGLES / (2 * PI_EXACT)))
_ANGLE_BITS = _whole(_ANGLES - 1)
_MINUS_SIXTH, _MINUS_24TH, _MINUS_TWO = _constant(-1 / 6), _constant(-1 / 24), _constant(-2.0)


def _circle() -> NDArray[np.complex128]:
    """The cosines of all angles and their sines, from those of an eighth."""
    cosines, sines = _cosines_and_sines(2 * PI_EXACT / _ANGLES, _ANGLES // 8)
    quarter = np.array([value / _ONE for value in cosines + sines[-2::-1]])
    half = np.concatenate([quarter, -quarter[-2::-1]])
    whole = np.concatenate([half, half[-2:0:-1]])
    return whole + 1j * np.roll(whole, _ANGLES // 4)


_CIRCLE = _circle()


def _reduced(x: Floats) -> tuple[Integers, Integers, Floats]:
    """x = k ln2/1024 + r: k with its offset in the last bits, its place in the tables, and e^r - 1."""
    rounded = x * _PER_LN2
    rounded += _ROUNDER
    k = rounded - _ROUNDER
    r = x - k * _LN2_HIGH
    k *= _LN2_LOW
    r -= k
    below = r - _THREE
    below *= below
    below += _THREE
    r *= _TWELVE
    r /= below
    bits = rounded.view(np.int64)
    return bits, bits & _PIECE_BITS, r


def exp(x: Floats) -> Floats:
    """e^x, for x up to `HIGHEST`; 0 below `LOWEST`.

    Theorem: the relative error is at most 2^-51.
    Reference: Tang 1989
    Proof: docs/theory/accounting/elementary.md#exponential
    Checked-by: tests/accounting/test_elementary.py::test_exp
    """
    value = exp_moderate(np.maximum(x, _LOWEST))
    value *= x >= _LOWEST
    return value


def exp_moderate(x: Floats) -> Floats:
    """The same for x from `LOWEST` to `HIGHEST`."""
    bits, place, value = _reduced(x)
    bits <<= _SHIFT_BOTH
    bits += _POWER_BITS[place]
    power = bits.view(np.float64)
    value *= power
    value += power
    return value


def _scaled(x: Floats) -> tuple[Floats, Floats]:
    """s, a power of two, and s A with e^x = s + s A."""
    bits, place, more = _reduced(np.maximum(x, _LOWEST))
    near = _LESS_ONE[place]
    more *= near + _UNITY
    more += near
    bits >>= _SHIFT_PIECES
    bits <<= _SHIFT_EXPONENT
    scale = bits.view(np.float64)
    more *= scale
    return scale, more


def expm1(x: Floats) -> Floats:
    """e^x - 1, exact to relative precision near 0 too, for x up to `HIGHEST`.

    Theorem: the relative error is at most 2^-49.
    Reference: Tang 1992
    Proof: docs/theory/accounting/elementary.md#exponential
    Checked-by: tests/accounting/test_elementary.py::test_expm1
    """
    scale, more = _scaled(x)
    scale -= _UNITY
    more += scale
    return more


_POWER_LIST: list[float] = _POWERS.tolist()
_LESS_ONE_LIST: list[float] = _LESS_ONE.tolist()
_PER_LN2_ONE, _LN2_HIGH_ONE, _LN2_LOW_ONE = float(_PER_LN2), float(_LN2_HIGH), float(_LN2_LOW)


def exp_one(x: float) -> float:
    """As `exp`, for one number; the same operations, and so the same error."""
    if x < LOWEST:
        return 0.0
    shifted, more = _reduced_one(x)
    power = _POWER_LIST[shifted & (_PIECES - 1)]
    return math.ldexp(power * more + power, shifted >> 10)


def expm1_one(x: float) -> float:
    """As `expm1`, for one number."""
    shifted, more = _reduced_one(max(x, LOWEST))
    near, scale = _LESS_ONE_LIST[shifted & (_PIECES - 1)], math.ldexp(1.0, shifted >> 10)
    return (more * (near + 1.0) + near) * scale + (scale - 1.0)


def _reduced_one(x: float) -> tuple[int, float]:
    """As `_reduced`: k, moved by half a turn of the tables, and e^r - 1."""
    k = round(x * _PER_LN2_ONE)
    r = (x - k * _LN2_HIGH_ONE) - k * _LN2_LOW_ONE
    below = r - 3.0
    return k + _PIECES // 2, 12.0 * r / (below * below + 3.0)


def log_one(x: float) -> float:
    """As `log`, for one number above 10^-300."""
    return _log_of(x, 0)


def exp_and_expm1(x: Floats) -> tuple[Floats, Floats]:
    """Both at once, for x up to `HIGHEST`; below `LOWEST` as if it were that."""
    scale, more = _scaled(x)
    both = scale + more
    scale -= _UNITY
    more += scale
    return both, more


def log1p(x: Floats) -> Floats:
    """ln(1 + x) for x > -1, exact to relative precision near 0 too.

    Theorem: the relative error is at most 2^-50, for x at least -1 + 2^-40.
    Reference: Tang 1990
    Proof: docs/theory/accounting/elementary.md#logarithm
    Checked-by: tests/accounting/test_elementary.py::test_log1p
    """
    bits, centre = _centres(x + _UNITY)
    return _log_beside(bits, centre, x - (centre - _UNITY))


def log(x: Floats) -> Floats:
    """ln x for x > 0.

    Theorem: the relative error is at most 2^-50.
    Reference: Tang 1990
    Proof: docs/theory/accounting/elementary.md#logarithm
    Checked-by: tests/accounting/test_elementary.py::test_log
    """
    if x.min(initial=1.0) >= _SMALLEST:
        return log_of_normal(x)
    small = x < _SMALLEST
    return log_of_normal(np.ldexp(x, 53 * small)) - small * float(53 * _LN2)


def log_of_normal(x: Floats) -> Floats:
    """The same for numbers with all their bits."""
    bits, centre = _centres(x * _UNITY)
    return _log_beside(bits, centre, x - centre)


def _centres(x: Floats) -> tuple[Integers, Floats]:
    """Overwrites x by the nearest numbers with 8 bits, and shows it as bits too."""
    bits = x.view(np.int64)
    bits += _HALF_CELL
    bits &= _CENTRE_BITS
    return bits, bits.view(np.float64)


def _log_beside(bits: Integers, centre: Floats, off: Floats) -> Floats:
    """ln(centre + off); overwrites."""
    middle = off * _HALF
    middle += centre
    v = off / middle
    bits -= _FIRST_BITS
    place = bits >> _SHIFT_CELL
    place &= _CELL_BITS
    bits >>= _SHIFT_EXPONENT
    value = bits * _LN2_NEAREST
    value += _LOGS[place]
    square = v * v
    series = square * _FIFTH
    series += _CUBE
    series *= square
    series *= v
    series += v
    value += series
    return value


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

    Theorem: the absolute errors are at most 2^-51; that of the sine is at most 2^-47 |x| too.
    Reference: Gal-Bachelis 1991
    Proof: docs/theory/accounting/elementary.md#cosine-and-sine
    Checked-by: tests/accounting/test_elementary.py::test_cos_sin
    """
    turned = turn(x)
    return turned.real.copy(), turned.imag.copy()


def turn(x: Floats) -> NDArray[np.complex128]:
    """Both as one number, e^(ix)."""
    n = np.rint(x * _PER_ANGLE)
    r = x - n * _ANGLE_HIGH
    place = n.astype(np.int64)
    n *= _ANGLE_LOW
    r -= n
    square = r * r
    sine = square * _MINUS_SIXTH
    sine *= r
    sine += r
    versed = square * _MINUS_24TH
    versed += _HALF
    versed *= square
    place &= _ANGLE_BITS
    there, lost = _CIRCLE[place], np.empty(x.shape, dtype=np.complex128)
    lost.real, lost.imag = versed, -sine
    lost *= there
    there -= lost
    return there


def turn_minus_one(x: Floats) -> NDArray[np.complex128]:
    """e^(ix) - 1, to relative precision for small |x| too, for |x| up to twice `LARGEST_ANGLE`.

    Theorem: the absolute error is at most ERROR |x|.
    Reference: Kahan 1987
    Proof: docs/theory/accounting/elementary.md#cosine-and-sine
    Checked-by: tests/accounting/test_elementary.py::test_turn_minus_one
    """
    cosine, sine = cos_sin(x * _HALF)
    turned = np.empty(x.shape, dtype=np.complex128)
    cosine *= sine
    cosine *= _TWO
    turned.imag = cosine
    sine *= sine
    sine *= _MINUS_TWO
    turned.real = sine
    return turned


_ODD = [_constant(1 / odd) for odd in range(21, 1, -2)]
_LAST_ODD, _EIGHT = _constant(1 / 23), _constant(8.0)


def atan(x: Floats) -> Floats:
    """For x >= 0.

    Theorem: the relative error is at most 2^-48.
    Reference: Muller 2016
    Proof: docs/theory/accounting/elementary.md#arctangent
    Checked-by: tests/accounting/test_elementary.py::test_atan
    """
    for _ in range(3):
        x = x / (np.sqrt(x * x + _UNITY) + _UNITY)
    minus = x * -x
    tail = minus * _LAST_ODD
    for coefficient in _ODD:
        tail += coefficient
        tail *= minus
    tail *= x
    tail += x
    tail *= _EIGHT
    return tail


_NORMAL_STEP = 0.5
_NORMAL_PLACES = (np.arange(13) + 0.5) * _NORMAL_STEP
_NORMAL_SPLIT, _NORMAL_HIGHEST = _constant(2.0**27), _constant(100.0)
_NORMAL_TURN = _constant(float(2 * PI_EXACT / Fraction(_NORMAL_STEP)))
_NORMAL_TURNING = _constant(float(PI_EXACT / Fraction(_NORMAL_STEP)))
_NORMAL_FACTOR = _constant(float(Fraction(_NORMAL_STEP) / PI_EXACT))
_ROOT_HALF, _MINUS_HALF = _constant(math.sqrt(0.5)), _constant(-0.5)


def normal_tail(x: Floats) -> Floats:
    """P(N > x) of a standard normal N, for x up to 37.

    Theorem: the relative error is at most `ERROR`.
    Reference: Hunter-Regan 1972
    Proof: docs/theory/accounting/elementary.md#normal-tail
    Checked-by: tests/accounting/test_elementary.py::test_normal_tail
    """
    size = np.abs(x)
    large = size * _NORMAL_SPLIT
    short = (large + size) - large  # the leading bits: its square is exact
    y, y_square = size * _ROOT_HALF, size * size * _HALF
    exponents = [short * short * _MINUS_HALF, (size - short) * (size + short) * _MINUS_HALF]
    main, correction, turned = exp(np.array([*exponents, np.minimum(y * _NORMAL_TURN, _NORMAL_HIGHEST)]))
    total = np.zeros_like(size)
    for square, weight in _NORMAL_TERMS:
        total += weight / (square + y_square)
    pole = np.where(y < _NORMAL_TURNING, _UNITY / (_UNITY + turned), 0.0)
    tail: Floats = main * correction * y * total * _NORMAL_FACTOR + pole
    return np.where(x < 0, _UNITY - tail, tail)


_NORMAL_WEIGHTS = exp(-_NORMAL_PLACES * _NORMAL_PLACES)
_NORMAL_TERMS = [
    (_constant(place * place), _constant(weight)) for place, weight in zip(_NORMAL_PLACES, _NORMAL_WEIGHTS, strict=True)
]
_NORMAL_PAIRS = [(float(square), float(weight)) for square, weight in _NORMAL_TERMS]
_TURN_ONE, _TURNING_ONE, _FACTOR_ONE = float(_NORMAL_TURN), float(_NORMAL_TURNING), float(_NORMAL_FACTOR)


def normal_tail_one(x: float) -> float:
    """As `normal_tail`, for one number; the same operations, and so the same error."""
    size = abs(x)
    large = size * 2.0**27
    short = (large + size) - large
    y, y_square, total = size * math.sqrt(0.5), size * size * 0.5, 0.0
    for square, weight in _NORMAL_PAIRS:
        total += weight / (square + y_square)
    main = exp_one(short * short * -0.5) * exp_one((size - short) * (size + short) * -0.5)
    tail = main * y * total * _FACTOR_ONE
    if y < _TURNING_ONE:
        tail += 1.0 / (1.0 + exp_one(y * _TURN_ONE))
    return 1.0 - tail if x < 0 else tail
