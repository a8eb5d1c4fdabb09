"""Sums of normal losses: one normal loss, whose mu^2 is the sum of all."""

from __future__ import annotations

import math
from fractions import Fraction

from privately.accounting.elementary import ERROR, UNIT, exp_one
from privately.accounting.elementary import normal_tail_one as normal_tail
from privately.guarantees.curves import best_concentrated_order, bound_to_epsilon, gaussian_delta
from privately.rounding import Enclosure, round_down, round_up

_DIGITS = 45
_FURTHEST = 36.0
_LARGEST = 600.0
_TOLERATED = 1e-9
_MARGIN = Fraction(1, 10**12)
_LEAST_SQUARE = Fraction(1, 10**78)
_LEAST_DELTA = 1e-290
_NEAR, _SLACK = 2.0**-10, 2.0**-20
_HARDLY = Fraction(1, 2**60)
_ROOT_HALF, _ROOT_HALF_PI, _LOG_ROOT = math.sqrt(0.5), math.sqrt(math.pi / 2), math.log(2 * math.pi) / 2
_CLOSE, _SHORT_TAIL = 1e-7, 12.0


def profile(mu_squared: Fraction, epsilon: Fraction) -> Enclosure:
    """delta at epsilon.

    Theorem: it rises with mu; so the values at two rational numbers on either side of the root enclose it.
    Reference: Dong-Roth-Su 2022
    Proof: docs/theory/accounting/closed_forms.md#normal-losses
    Checked-by: tests/accounting/closed_forms/test_gaussian.py::test_contains_the_truth_down_to_a_googolth
    """
    low, high = _roots(mu_squared)
    upper = gaussian_delta(high, epsilon)
    lower = upper if low == high else gaussian_delta(low, epsilon)
    return Enclosure(lower.lower, upper.upper)


def inverse(mu_squared: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1: guessed with floats, then checked on either side."""
    log_delta = _log(delta)
    guess = _guess(float(max(mu_squared, _LEAST_SQUARE)), log_delta)
    quick = _quickly(mu_squared, delta, guess)
    if quick is not None:
        return quick
    low, high = _roots(max(mu_squared, _LEAST_SQUARE))
    if gaussian_delta(high, Fraction(0)).upper <= delta:
        return Fraction(0), Fraction(0)
    return _slowly(low, high, delta, Fraction(guess), certain=mu_squared >= _LEAST_SQUARE)


def inverse_between(low: Fraction, high: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The same for a mu^2 between two numbers; once for both, where floats do not tell them apart.

    Theorem: what `_quickly` allows for the rounding of mu^2 has room for a part in 2^60 more.
    Reference: Higham 2002, section 3.3
    Proof: docs/theory/accounting/closed_forms.md#normal-losses-by-floats
    Checked-by: tests/accounting/closed_forms/test_gaussian.py::test_a_square_between_two_numbers
    """
    if low != high and high - low <= low * _HARDLY:
        quick = _quickly(high, delta, _guess(float(max(high, _LEAST_SQUARE)), _log(delta)))
        if quick is not None:
            return quick
    lower, upper = inverse(high, delta)
    return (lower if low == high else inverse(low, delta)[0]), upper


def _slowly(
    low: Fraction, high: Fraction, delta: Fraction, guess: Fraction, *, certain: bool
) -> tuple[Fraction, Fraction]:
    """By 60 digits, mu between `low` and `high`."""
    margin = _MARGIN
    lower = upper = None
    while lower is None or upper is None:
        left, right = guess * (1 - margin), guess * (1 + margin)
        if upper is None and gaussian_delta(high, right).upper <= delta:
            upper = right
        if lower is None and (left <= 0 or gaussian_delta(low, left).lower >= delta):
            lower = left
        margin *= 100
        if margin > 1:
            lower, upper = lower or Fraction(0), upper or _ceiling(high, delta)
    return (lower if certain else Fraction(0)), upper


def _quickly(mu_squared: Fraction, delta: Fraction, guess: float) -> tuple[Fraction, Fraction] | None:
    """The same by floats, where these tell the profile within a part in 10^9: from one place near the crossing.

    Theorem: delta falls in epsilon like S = e^epsilon P(N > a + mu), and |(ln S)'| <= 1 + (a + mu + 1)/mu.
    Reference: Balle-Wang 2018, Theorem 8
    Proof: docs/theory/accounting/closed_forms.md#normal-losses-by-floats
    Checked-by: tests/accounting/closed_forms/test_gaussian.py::test_one_place_is_enough
    """
    mu, near = math.sqrt(mu_squared), float(delta)
    known = _terms(mu, guess)
    if known is None or not near > _LEAST_DELTA:
        return None
    first, second, off = known
    off += 4 * UNIT * near
    if not (off < _TOLERATED * near and second > 0):
        return None
    bend = 1 + (guess / mu + mu + 1) / mu
    left, right = ((first - second + end - near) / second for end in (-off, off))
    if max(abs(left), abs(right)) * bend > _NEAR:
        return None
    left -= abs(left) * (4 * abs(left) * bend + _SLACK)
    right += abs(right) * (4 * abs(right) * bend + _SLACK)
    lower, upper = math.nextafter(guess + left, -math.inf), math.nextafter(guess + right, math.inf)
    return (Fraction(lower), Fraction(upper)) if lower > 0 else None


def between(mu_squared: Fraction, *epsilons: float) -> list[tuple[float, float]]:
    """Floats below and above delta at each epsilon >= 0; 0 and 1 where floats do not reach.

    Theorem: delta = P(N > a) - e^epsilon P(N > a + mu), a = epsilon/mu - mu/2, and an error e of an argument x changes
        the tail by at most (|x| + 1) e relative to it, while that is small.
    Reference: Balle-Wang 2018, Theorem 8
    Proof: docs/theory/accounting/closed_forms.md#normal-losses-by-floats
    Checked-by: tests/accounting/closed_forms/test_gaussian.py::test_floats_contain_the_truth
    """
    found, mu = [], math.sqrt(mu_squared)
    for epsilon in epsilons:
        first, second, off = _terms(mu, epsilon) or (1.0, 0.0, 1.0)
        found.append((max(first - second - off, 0.0), min(first - second + off, 1.0)))
    return found


def _terms(mu: float, epsilon: float) -> tuple[float, float, float] | None:
    """Both terms of delta and how far their difference may be off; None where floats do not reach."""
    if not 0 < mu < _FURTHEST or epsilon > _LARGEST:
        return None
    shift = epsilon / mu
    left, right = shift - mu / 2, shift + mu / 2
    if max(-left, right) > _FURTHEST:
        return None
    first, second = normal_tail(left), normal_tail(right) * exp_one(epsilon)
    return first, second, (_tail_error(shift, mu) + 2 * ERROR) * (first + second) * (1 + _SLACK)


def margin_of(mu_squared: Fraction, epsilon: float, log_delta: float) -> float:
    """About how far from epsilon `between` tells its delta from another one; infinite where it hardly can."""
    mu = math.sqrt(mu_squared) if mu_squared >= _LEAST_SQUARE else 0.0
    if not 0 < mu < _FURTHEST:
        return math.inf
    shift = epsilon / mu
    near = shift - mu / 2
    if max(-near, shift + mu / 2) > _FURTHEST:
        return math.inf
    off = 2 * (_tail_error(shift, mu) + 2 * ERROR) * math.erfc(near / math.sqrt(2)) / 2 / math.exp(log_delta)
    slope = -rough_log_slope(near, mu)
    return 4 * off / slope + 16 * UNIT * epsilon if off < _TOLERATED and slope > _TOLERATED else math.inf


def _tail_error(shift: float, mu: float) -> float:
    """Relative, of a tail at shift +- mu/2, both off by at most 4 units of rounding of shift + mu."""
    size = shift + mu
    return ERROR + 16 * UNIT * size * (size + 1)


def _log(delta: Fraction) -> float:
    """ln delta, roughly."""
    near = float(delta)
    return math.log(near) if near > 1e-300 else float(Enclosure.of(delta).log().lower)


def _ceiling(mu: Fraction, delta: Fraction) -> Fraction:
    order = best_concentrated_order(mu**2 / 2, delta)
    return bound_to_epsilon(order, order * mu**2 / 2, delta).claim()


def _roots(square: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals of few digits on either side of the square root; equal where it is one."""
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        exact = Fraction(numerator, denominator)
        return exact, exact
    root = Enclosure.of(square).sqrt()
    return round_down(Fraction(root.lower), _DIGITS), round_up(Fraction(root.upper), _DIGITS)


def _guess(mu_squared: float, log_delta: float) -> float:
    """epsilon, roughly: Newton's method from the right, where it cannot overshoot, as ln delta is concave."""
    mu = math.sqrt(mu_squared)
    low, high = -mu / 2, math.sqrt(2 * max(-log_delta, 0.5))
    while rough_log_delta(high, mu) > log_delta:
        low, high = high, 2 * high + 1
    for _ in range(200):
        last = mills(high + mu)
        fall = _mills_fall(high, mu, last)
        stride = (log_delta + high * high / 2 + _LOG_ROOT - math.log(fall)) * fall / (mu * last)
        step = high - stride if high - stride > low else (low + high) / 2
        is_close = abs(step - high) <= _CLOSE * max(abs(high), 1e-3 * mu)
        high = step
        if is_close:
            break
    return max(mu * (high + mu / 2), 1e-300)


def rough_log_delta(a: float, mu: float) -> float:
    """ln(Phi(-a) - e^epsilon Phi(-a - mu)), with e^epsilon phi(a + mu) = phi(a)."""
    return -a * a / 2 - _LOG_ROOT + math.log(_mills_fall(a, mu, mills(a + mu)))


def rough_log_slope(a: float, mu: float) -> float:
    """Its derivative in epsilon = mu (a + mu/2)."""
    last = mills(a + mu)
    return -last / _mills_fall(a, mu, last)


def _mills_fall(a: float, mu: float, last: float) -> float:
    """R(a) - R(a + mu), the latter known; for small mu as an integral of -R' = 1 - x R."""
    middle = a + mu / 2
    fall = mu * (1 - middle * mills(middle)) if mu < 1e-4 else mills(a) - last
    return max(fall, 1e-300)


def mills(x: float) -> float:
    """R(x) = Phi(-x)/phi(x), nearly."""
    if x < _SHORT_TAIL:
        return _ROOT_HALF_PI * math.exp(x * x / 2) * math.erfc(x * _ROOT_HALF) if x > -37 else math.inf
    tail = 0.0
    for k in range(int(20 + 300 / (x * x)), 0, -1):
        tail = k / (x + tail)
    return 1 / (x + tail)
