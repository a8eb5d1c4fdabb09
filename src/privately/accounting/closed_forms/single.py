"""One step: the profiles of sampled, glued and discrete losses, each from that of the pair without sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from privately.accounting.closed_forms import gaussian
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    GluedLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteGaussianLoss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable, nearly_log
from privately.laws.gaussian_sums import half_sum, whole_sum
from privately.rounding import Enclosure, round_down, round_up, solve_decreasing

Base = GaussianLoss | LaplaceLoss | DiscreteGaussianLoss | DiscreteLaplaceLoss
Profile = Callable[[Fraction], Enclosure]

_DIGITS = 50
_MOST_OUTCOMES = 10**12
_HIGHEST = Fraction(10**6)
_LARGEST_GUESS = 600.0
_LEAST_DELTA = Fraction(1, 10**200)
_LEAST_SIZE = 1e-60
_MARGIN = 1e-13
_ROUNDS = 100


def profile(law: Loss, epsilon: Fraction) -> Enclosure:
    """delta at epsilon >= 0 of one step.

    Theorem: with H the profile of the pair without sampling and epsilon >= 0, that of ((1-q)Q + qP, Q) is q H(y) with
        e^y = 1 + (e^epsilon - 1)/q; that of (P, (1-q)P + qQ) is (1 - (1-q) e^epsilon) H(y), e^y = q e^epsilon /
        (1 - (1-q) e^epsilon), and 0 from epsilon = -ln(1-q) on.
    Reference: Balle-Barthe-Gaboardi 2018, Theorem 2; Zhu-Dong-Wang 2022
    Proof: docs/theory/accounting/closed_forms.md#one-step
    Checked-by: tests/accounting/closed_forms/test_single.py::test_profiles_contain_the_truth
    """
    match law:
        case GluedLoss(base=base, rate=rate):
            return _removed(base, rate, epsilon)
        case SampledGaussianLoss() | SampledLaplaceLoss():
            return _sampled(law, epsilon)
        case SampledDiscreteGaussianLoss() | SampledDiscreteLaplaceLoss():
            return _sampled(law, epsilon)
        case FiniteLoss():
            raise NotApplicable("finitely many losses are added up")
    return _plain(law, epsilon)


def inverse(law: Loss, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1 of one step."""
    match law:
        case GaussianLoss(mu_squared=mu_squared):
            return gaussian.inverse(mu_squared, delta)
        case LaplaceLoss(epsilon=scale):
            found = (scale + 2 * Enclosure.of(1 - delta).log()).nonnegative()
            return _ends(found)
        case DiscreteGaussianLoss() | DiscreteLaplaceLoss():
            return _stepped(law, delta)
        case FiniteLoss():
            raise NotApplicable("finitely many losses are added up")
        case GluedLoss():
            return _removed_inverse(base_of(law), law.rate, delta)
    if law.direction == "remove":
        return _removed_inverse(base_of(law), law.rate, delta)
    return _added_inverse(base_of(law), law.rate, delta)


def base_of(law: Loss) -> Base:
    """The pair without sampling."""
    match law:
        case GluedLoss(base=base):
            return base
        case SampledGaussianLoss(mu_squared=mu_squared):
            return GaussianLoss(mu_squared=mu_squared)
        case SampledLaplaceLoss(epsilon=epsilon):
            return LaplaceLoss(epsilon=epsilon)
        case SampledDiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity)
        case FiniteLoss():
            raise NotApplicable("finitely many losses are added up")
    return law


def _sampled(
    law: SampledGaussianLoss | SampledLaplaceLoss | SampledDiscreteGaussianLoss | SampledDiscreteLaplaceLoss,
    epsilon: Fraction,
) -> Enclosure:
    base, rate = base_of(law), law.rate
    if law.direction == "remove":
        return _removed(base, rate, epsilon)
    growth = Enclosure.of(epsilon).exp()
    left = 1 - (1 - rate) * growth
    if left.upper <= 0:
        return Enclosure.of(0)
    if left.lower <= 0:
        return Enclosure(Enclosure.of(0).lower, left.upper)
    return left * _between(base, _at_least_one(rate * growth / left).log())


def _removed(base: Base, rate: Fraction, epsilon: Fraction) -> Enclosure:
    return rate * _between(base, _at_least_one(1 + (Enclosure.of(epsilon).exp() - 1) / rate).log())


def _at_least_one(growth: Enclosure) -> Enclosure:
    """e^y, which is never below 1 for epsilon >= 0."""
    return 1 + (growth - 1).nonnegative()


def _removed_inverse(base: Base, rate: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon = ln(1 - q + q e^y), where y belongs to delta/q."""
    if delta >= rate:
        return Fraction(0), Fraction(0)
    low, high = inverse(base, delta / rate)
    lower, upper = ((1 - rate + rate * Enclosure.of(y).exp()).log() for y in (low, high))
    return _ends(Enclosure(lower.lower, upper.upper).nonnegative())


def _added_inverse(base: Base, rate: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon = -ln(1 - q + q e^-y), where q e^-y/(1 - q + q e^-y) times the profile without sampling at y is delta."""

    def left(y: Fraction) -> Enclosure:
        return rate * Enclosure.of(-y).exp()

    def curve(y: Fraction) -> Enclosure:
        return left(y) / (1 - rate + left(y)) * _plain(base, y)

    low, high = _added_quickly(base, rate, delta) or _solved(curve, delta)
    lower, upper = (-(1 - rate + left(y)).log() for y in (low, high))
    return _ends(Enclosure(lower.lower, upper.upper).nonnegative())


def _added_quickly(base: Base, rate: Fraction, delta: Fraction) -> tuple[Fraction, Fraction] | None:
    """The same y, found in floats and then checked on either side."""
    if not isinstance(base, GaussianLoss | LaplaceLoss) or not _LEAST_DELTA < delta < rate:
        return None
    if not _LEAST_SIZE < (base.mu_squared if isinstance(base, GaussianLoss) else base.epsilon) < _HIGHEST:
        return None
    y = _added_guess(base, float(rate), nearly_log(delta))
    margin = y * _MARGIN
    if isinstance(base, GaussianLoss):
        log_base = nearly_log(delta) - math.log(rate) + y + math.log1p(-float(rate) * -math.expm1(-y))
        margin += gaussian.margin_of(base.mu_squared, y, log_base)
    left, right = y - margin, y + margin
    if not 0 < left < right < _LARGEST_GUESS:
        return None
    holds = _added_at(base, rate, left).lower >= delta >= _added_at(base, rate, right).upper
    return (Fraction(left), Fraction(right)) if holds else None


def _added_at(base: GaussianLoss | LaplaceLoss, rate: Fraction, y: float) -> Enclosure:
    """q e^-y/(1 - q + q e^-y) times the profile without sampling at y > 0."""
    left = rate * Enclosure.of(-Fraction(y)).exp()
    if isinstance(base, GaussianLoss):
        low, high = gaussian.between(base.mu_squared, y)[0]
        plain = Enclosure(Enclosure.of(Fraction(low)).lower, Enclosure.of(Fraction(high)).upper)
    else:
        plain = _plain(base, Fraction(y))
    return left / (1 - rate + left) * plain


def _added_guess(base: GaussianLoss | LaplaceLoss, rate: float, log_delta: float) -> float:
    """y, roughly: Newton's method, kept between the last points on either side."""
    low, high = 0.0, float(base.epsilon) if isinstance(base, LaplaceLoss) else _LARGEST_GUESS
    y = min(high / 2, 1.0)
    for _ in range(_ROUNDS):
        value, slope = _rough(base, y)
        left = rate * math.exp(-y)
        excess = math.log(rate) - y - math.log(1 - rate + left) + value - log_delta
        low, high = (y, high) if excess > 0 else (low, y)
        stride = excess / ((1 - rate) / (1 - rate + left) - slope)
        y, last = (y + stride if low < y + stride < high else (low + high) / 2), y
        if abs(y - last) <= _MARGIN * y / 4:
            break
    return y


def _rough(base: GaussianLoss | LaplaceLoss, y: float) -> tuple[float, float]:
    """ln of the profile without sampling and its derivative, roughly."""
    if isinstance(base, LaplaceLoss):
        inside = max(-math.expm1((y - float(base.epsilon)) / 2), 1e-300)
        return math.log(inside), -(1 - inside) / (2 * inside)
    mu = math.sqrt(base.mu_squared)
    a = y / mu - mu / 2
    return gaussian.rough_log_delta(a, mu), gaussian.rough_log_slope(a, mu)


def _between(base: Base, y: Enclosure) -> Enclosure:
    """The profile falls."""
    low, high = round_down(Fraction(y.lower), _DIGITS), round_up(Fraction(y.upper), _DIGITS)
    return Enclosure(_plain(base, high).lower, _plain(base, low).upper)


def _plain(law: Base, y: Fraction) -> Enclosure:
    """Without sampling, at any y."""
    if y < 0:  # the pair is symmetric
        growth = Enclosure.of(y).exp()
        return (1 - growth + growth * _plain(law, -y)).clip(0, 1)
    match law:
        case GaussianLoss(mu_squared=mu_squared):
            return gaussian.profile(mu_squared, y)
        case LaplaceLoss(epsilon=epsilon):
            return (1 - Enclosure.of((y - epsilon) / 2).exp()).nonnegative()
        case DiscreteGaussianLoss() | DiscreteLaplaceLoss():
            return _discrete(law, y)


def _discrete(law: DiscreteGaussianLoss | DiscreteLaplaceLoss, y: Fraction) -> Enclosure:
    """P(K >= k) - e^y Q(K >= k), k the least whole number with a loss above y; 0 if there is none."""
    k = _least_above(law, y)
    if isinstance(law, DiscreteLaplaceLoss) and k > law.sensitivity:
        return Enclosure.of(0)
    first, second = _masses(law, k)
    return (first - Enclosure.of(y).exp() * second).clip(0, 1)


def _loss(law: DiscreteGaussianLoss | DiscreteLaplaceLoss, k: int) -> Fraction:
    """Of the outcome k, for discrete Laplace noise between 0 and the sensitivity."""
    if isinstance(law, DiscreteLaplaceLoss):
        return (2 * k - law.sensitivity) / law.scale
    return law.sensitivity * (2 * k - law.sensitivity) / (2 * law.variance)


def _least_above(law: DiscreteGaussianLoss | DiscreteLaplaceLoss, y: Fraction) -> int:
    wide = law.scale if isinstance(law, DiscreteLaplaceLoss) else 2 * law.variance / law.sensitivity
    k = math.floor((wide * y + law.sensitivity) / 2) + 1
    if k > _MOST_OUTCOMES:
        raise NotApplicable("the noise is too wide")
    return k


def _masses(law: DiscreteGaussianLoss | DiscreteLaplaceLoss, k: int) -> tuple[Enclosure, Enclosure]:
    """P(K >= k) and Q(K >= k); for discrete Laplace noise 1 <= k <= sensitivity, and with r = e^(-1/scale) they are
    1 - r^(s-k+1)/(1+r) and r^k/(1+r).
    """
    if isinstance(law, DiscreteLaplaceLoss):
        ratio = Enclosure.of(-1 / law.scale).exp()
        below = Enclosure.of(-(law.sensitivity - k + 1) / law.scale).exp() / (1 + ratio)
        return 1 - below, Enclosure.of(-k / law.scale).exp() / (1 + ratio)
    total = whole_sum(law.variance)
    first, second = (_from(k - shift, law.variance, total) / total for shift in (law.sensitivity, 0))
    return first, second


def _from(k: int, variance: Fraction, total: Enclosure) -> Enclosure:
    """The sum of exp(-j^2/(2 variance)) over all j >= k."""
    return half_sum(k, variance) if k >= 1 else total - half_sum(1 - k, variance)


def _stepped(law: DiscreteGaussianLoss | DiscreteLaplaceLoss, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Between two neighbouring losses the profile is A - e^y B, so that y = ln((A - delta)/B) there."""
    start = _least_above(law, Fraction(0))

    def reached(k: int) -> bool:
        return _discrete(law, _loss(law, k)).lower <= delta

    if _discrete(law, Fraction(0)).upper <= delta:
        return Fraction(0), Fraction(0)
    high, step = start, 1
    while not reached(high):
        high, step = high + step, 2 * step
    low = max(start - 1, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    first, second = _masses(law, high)
    inside = (first - delta) / second
    guess = Fraction(inside.log().lower) if inside.lower > 0 else Fraction(0)
    guess = max(min(guess, _loss(law, high)), Fraction(0))
    margin = Fraction(1, 10**45)
    while True:
        lower, upper = max(guess - margin, Fraction(0)), guess + margin
        if (lower == 0 or _plain(law, lower).lower >= delta) and _plain(law, upper).upper <= delta:
            return lower, upper
        margin *= 10**6


def _solved(curve: Profile, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Where a falling profile passes delta."""
    at_zero = curve(Fraction(0))
    if at_zero.upper <= delta:
        return Fraction(0), Fraction(0)
    ceiling = Fraction(1, 64)
    while curve(ceiling).upper >= delta:
        ceiling *= 2
        if ceiling > _HIGHEST:
            raise NotApplicable("epsilon is out of range")
    if at_zero.lower <= delta:
        return Fraction(0), ceiling
    return solve_decreasing(curve, delta, ceiling)


def _ends(value: Enclosure) -> tuple[Fraction, Fraction]:
    return Fraction(value.lower), Fraction(value.upper)
