"""Laws, profiles and transforms in the working precision of mpmath, from the definitions: nothing here is on a lattice.

y is the loss of a symmetric pair without sampling, r = 1 - q + q e^y what sampling makes of its ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from mpmath import mp, mpc, mpf

from privately.accounting.lattice.bases import ExponentialBase, NormalBase
from privately.accounting.lattice.smooth import Smooth
from privately.rounding import Interval

Law = list[tuple[mpf, mpf]]
"""Probabilities under P and losses."""


def number(value: Fraction | Decimal | float) -> mpf:
    exact = Fraction(value)
    return mpf(exact.numerator) / exact.denominator


def holds(found: Interval, truth: mpf) -> bool:
    return bool(number(found.lower) <= truth <= number(found.upper))


def density(base: object, y: mpf) -> mpf:
    """Of y under Q, where it has one."""
    match base:
        case NormalBase(mu=mu):
            return mp.npdf((y + number(mu) ** 2 / 2) / number(mu)) / number(mu)
        case ExponentialBase(epsilon=epsilon):
            return mp.exp(-(y + number(epsilon)) / 2) / 4 if abs(y) < number(epsilon) else mpf(0)
    raise AssertionError(base)


def reach(base: object) -> tuple[mpf, mpf]:
    if isinstance(base, NormalBase):
        mu = number(base.mu)
        return -mu * mu / 2 - 14 * mu, mu * mu / 2 + 14 * mu
    assert isinstance(base, ExponentialBase)
    return -number(base.epsilon), number(base.epsilon)


def mixed_transform(base: object, rate: float, s: mpc, left: mpf, right: mpf) -> mpc:
    """The integral of r^s over the law of y under Q."""
    low, high = reach(base)
    low, high = max(low, left), min(high, right)
    if low >= high:
        return mpc(0)
    q = number(rate)
    pieces = max(4, int(abs(mp.im(s)) * (high - low) / 20) + 1)
    edges = [low + (high - low) * k / pieces for k in range(pieces + 1)]
    return sum(
        (mp.quad(lambda y: density(base, y) * (1 + q * mp.expm1(y)) ** s, edge) for edge in pairwise(edges)), mpc(0)
    )


def transform(law: Smooth, z: mpc, left: float, right: float) -> mpc:
    """E[e^(zL)] of the part left < y <= right of a law with a density."""
    low, high = (mpf(end) for end in (left, right))
    if law.form == "remove":
        return mixed_transform(law.base, law.rate, z + 1, low, high)
    if law.form == "add":
        return mixed_transform(law.base, law.rate, -z, low, high)
    above = mixed_transform(law.base, law.rate, z + 1, max(low, mpf(0)), high)
    return above + (mixed_transform(law.base, law.rate, -z, mpf(0), mpf("inf")) if left < 0 else 0)


def gaussian(mu: mpf, epsilon: mpf) -> mpf:
    """The profile, at any real epsilon."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def laplace(size: mpf, epsilon: mpf) -> mpf:
    """The profile of the whole law, atoms included."""
    if epsilon >= size:
        return mpf(0)
    if epsilon <= -size:
        return 1 - mp.exp(epsilon)
    return 1 - mp.exp((epsilon - size) / 2)


def removed(profile: Callable[[mpf], mpf], rate: mpf, epsilon: mpf) -> mpf:
    """The profile of ((1-q)Q + qP, Q) from that of (P, Q), given as a function."""
    ratio = 1 + mp.expm1(epsilon) / rate
    return 1 - mp.exp(epsilon) if ratio <= 0 else rate * profile(mp.log(ratio))


def added(profile: Callable[[mpf], mpf], rate: mpf, epsilon: mpf) -> mpf:
    """The profile of (P, (1-q)P + qQ)."""
    kept = 1 - mp.exp(epsilon) * (1 - rate)
    return mpf(0) if kept <= 0 else kept * profile(mp.log(mp.exp(epsilon) * rate / kept))


def glued(profile: Callable[[mpf], mpf], rate: mpf, epsilon: mpf) -> mpf:
    return removed(profile, rate, epsilon) if epsilon >= 0 else added(profile, rate, epsilon)


def discrete_gaussian(variance: Fraction, sensitivity: int) -> list[tuple[mpf, mpf]]:
    """The masses of P and Q at each outcome that has any."""
    v, last = number(variance), int(mp.ceil(60 * mp.sqrt(number(variance)))) + 8
    weights = {k: mp.exp(-(mpf(k) ** 2) / (2 * v)) for k in range(-last - sensitivity, last + 2 * sensitivity + 1)}
    total = sum(weights.values())
    return [
        (weights[k - sensitivity] / total, weights[k] / total)
        for k in range(-last, last + sensitivity + 1)
        if k - sensitivity in weights
    ]


def discrete_laplace(scale: Fraction, sensitivity: int) -> list[tuple[mpf, mpf]]:
    """With what lies beyond on either side as one outcome."""
    r = mp.exp(-1 / number(scale))
    unit = (1 - r) / (1 + r)
    inside = [(unit * r ** (sensitivity - k), unit * r**k) for k in range(1, sensitivity)]
    end = (r**sensitivity / (1 + r), 1 / (1 + r))
    return [end, *inside, (end[1], end[0])]


Pair = Sequence[tuple[mpf, mpf]]


def poisson(pair: Pair, rate: Fraction, *, removes: bool) -> Pair:
    q = number(rate)
    if removes:
        return [((1 - q) * b + q * a, b) for a, b in pair]
    return [(a, (1 - q) * a + q * b) for a, b in pair]


def fixed_size(pair: Pair, rate: Fraction) -> Pair:
    """Above 0 the first pair, below 0 the second, and what is left at 0."""
    q = number(rate)
    high = [((1 - q) * b + q * a, b) for a, b in pair if a > b]
    low = [(a, (1 - q) * a + q * b) for a, b in pair if a < b]
    rest = 1 - sum((a for a, _ in high + low), mpf(0))
    return [*high, *low, (rest, rest)]


def law_of(pair: Pair) -> Law:
    return [(a, mp.log(a / b)) for a, b in pair if a > 0 and b > 0]


def finite_profile(law: Law, epsilon: mpf) -> mpf:
    return sum((p * (1 - mp.exp(epsilon - loss)) for p, loss in law if loss > epsilon), mpf(0))


def power(law: Law, times: int, digits: int = 25) -> Law:
    """The law of a sum of independent losses; losses that agree to so many digits are one."""
    sums: dict[str, tuple[mpf, mpf]] = {"": (mpf(1), mpf(0))}
    for _ in range(times):
        after: dict[str, tuple[mpf, mpf]] = {}
        for mass, total in sums.values():
            for p, loss in law:
                here = total + loss
                name = mp.nstr(here + mpf(10) ** -30, digits)
                before = after.get(name, (mpf(0), here))[0]
                after[name] = (before + mass * p, here)
        sums = after
    return list(sums.values())


Outcomes = Sequence[tuple[Fraction, Fraction]]
"""The probability of each outcome under P and under Q."""


def composed(parts: Sequence[tuple[Outcomes, int]]) -> list[tuple[Fraction, Fraction]]:
    """All combinations of outcomes, those of the same pair joined."""
    found: dict[tuple[Fraction, Fraction], int] = {(Fraction(1), Fraction(1)): 1}
    for outcomes, times in parts:
        for _ in range(times):
            grown: dict[tuple[Fraction, Fraction], int] = {}
            for (p, q), count in found.items():
                for first, second in outcomes:
                    key = p * first, q * second
                    grown[key] = grown.get(key, 0) + count
            found = grown
    return [(count * p, count * q) for (p, q), count in found.items()]


def enumerated_profile(parts: Sequence[tuple[Outcomes, int]], epsilon: Fraction) -> mpf:
    """sum (P - e^epsilon Q)+, in the working precision of mp."""
    growth = mp.exp(number(epsilon))
    pairs = ((number(p), number(q)) for p, q in composed(parts))
    return mp.fsum(max(p - growth * q, 0) for p, q in pairs)
