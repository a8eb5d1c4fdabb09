"""Compositions whose profile has no finite sum: the two tails of the loss by integrals of Gil-Pelaez type.

With M(z) = E_P[e^(zL)], c > 0 and z = c + iw,
    P(L > epsilon)             = 1/(2 pi) * integral over w of M(z) e^(-z epsilon) / z
    e^epsilon * Q(L > epsilon) = 1/(2 pi) * integral over w of M(z) e^(-z epsilon) / (z + 1),
and the profile is their difference. Both integrals and the one inside M are taken by Gauss-Legendre panels in about
fifty digits, twice, with panels of other widths; the two answers' difference is what the error bound is made of.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import acb, arb, ctx
from mpmath import mp, mpf

from tests.accounting.references.exact import Answer, ball, written

BITS = 170
ORDER = 20
Panels = list[tuple[arb, arb]]


@functools.cache
def legendre(order: int) -> Panels:
    """Nodes and weights on [-1, 1]."""
    return [arb.legendre_p_root(order, k, weight=True) for k in range(order)]


def panels(low: arb, high: arb, count: int, order: int) -> Panels:
    """Nodes and weights of `count` equal panels."""
    half = (high - low) / (2 * count)
    return [(low + half * (2 * k + 1 + x), half * weight) for k in range(count) for x, weight in legendre(order)]


@dataclass
class GaussianLoss:
    """L of N(mu, 1) against N(0, 1)."""

    mu: arb

    def moment(self, c: arb, w: arb, fineness: float) -> acb:
        z = acb(c, w)
        return (self.mu**2 * z * (z + 1) / 2).exp()


@dataclass
class LaplaceLoss:
    """L of two Laplace laws `size` scales apart."""

    size: arb

    def moment(self, c: arb, w: arb, fineness: float) -> acb:
        z = acb(c, w)
        up, down, both = (z * self.size).exp(), (-(z + 1) * self.size).exp(), 1 + 2 * z
        return (up + down + (up - down) / both) / 2


@dataclass
class ResponseLoss:
    """L of binary randomized response."""

    size: arb

    def moment(self, c: arb, w: arb, fineness: float) -> acb:
        z = acb(c, w)
        return ((z * self.size).exp() + (-(z + 1) * self.size).exp()) / (1 + (-self.size).exp())


@dataclass
class SampledLoss:
    """L of (1-q)Q + qP against Q ("remove"), or of Q against (1-q)Q + qP ("add"), for a base P, Q.

    Gaussian: P = N(strength, 1), Q = N(0, 1). Laplace: peaks at `strength` and 0, scale 1, two atoms and a density.
    """

    base: str
    strength: arb
    rate: arb
    direction: str
    tables: dict[tuple[int, int, int], Panels] = field(default_factory=dict)
    rows: dict[tuple[int, int, int], Panels] = field(default_factory=dict)

    def loss(self, ratio: arb) -> arb:
        value = (1 + self.rate * ratio.expm1()).log()
        return value if self.direction == "remove" else -value

    def mass(self, ratio: arb, q: arb) -> arb:
        """The weight under the first law of the pair, given the weight q under Q."""
        return q * (1 + self.rate * ratio.expm1()) if self.direction == "remove" else q

    def gaussian_table(self, c: float, count: int) -> Panels:
        """Panels two wide, as far as the tilt by c can move the mass."""
        size = float(self.strength)
        stretch, reach = size * (c + 1), 0.0
        if self.direction == "add":  # the loss is bounded, so that the tilt moves x only until it stops to grow
            stretch, reach = 0.0, min(size * c, math.log(1 + c * float(self.rate)) / size + size + 2)
        low, high = -4 * math.ceil((15 + reach) / 4), 4 * math.ceil((15 + stretch) / 4)
        return self.gaussian_rows(low, high, (high - low) // 2 * count)

    def gaussian_rows(self, low: int, high: int, count: int) -> Panels:
        key = (low, high, count)
        if key not in self.rows:
            if len(self.rows) > 8:
                self.rows.clear()
            mu, root = self.strength, (2 * arb.pi()).sqrt()
            table = []
            for x, weight in panels(arb(low), arb(high), count, 24):
                ratio = mu * x - mu**2 / 2
                table.append((self.loss(ratio), self.mass(ratio, weight * (-(x**2) / 2).exp() / root)))
            self.rows[key] = table
        return self.rows[key]

    def laplace_table(self, count: int) -> Panels:
        size = self.strength
        table = [
            (self.loss(-size), self.mass(-size, arb(1) / 2)),
            (self.loss(size), self.mass(size, (-size).exp() / 2)),
        ]
        for x, weight in panels(arb(0), size, count * max(1, math.ceil(float(size))), 24):
            ratio = 2 * x - size
            table.append((self.loss(ratio), self.mass(ratio, weight * (-x).exp() / 2)))
        return table

    def tilted(self, c: arb, count: int) -> Panels:
        key = (count, round(float(c) * 2**20), ctx.prec)
        if key not in self.tables:
            rows = self.gaussian_table(float(c), count) if self.base == "gaussian" else self.laplace_table(count)
            if len(self.tables) > 3:
                self.tables.clear()
            self.tables[key] = [(loss, mass * (c * loss).exp()) for loss, mass in rows]
        return self.tables[key]

    def moment(self, c: arb, w: arb, fineness: float) -> acb:
        count = max(1, math.ceil(fineness * abs(float(w)) * float(self.strength) / 12))
        table = self.tilted(c, count if w == 0 else math.ceil(count * fineness))
        if w == 0:
            return acb(sum((mass for _, mass in table), arb(0)))
        real, imaginary = arb(0), arb(0)
        for loss, mass in table:
            sine, cosine = (w * loss).sin_cos()
            real += mass * cosine
            imaginary += mass * sine
        return acb(real.mid(), imaginary.mid())


Loss = GaussianLoss | LaplaceLoss | ResponseLoss | SampledLoss
Parts = Sequence[tuple[Loss, int]]


def logarithm(parts: Parts, c: float) -> float:
    """ln M(c) at a real point."""
    return float(sum((times * loss.moment(arb(c), arb(0), 1.0).real.log() for loss, times in parts), arb(0)))


@dataclass
class Line:
    """Values of M on Re z = c, with the weights of the outer panels."""

    nodes: list[tuple[acb, acb]]  # z, weight * M(z)

    def tails(self, epsilon: mpf) -> tuple[mpf, mpf]:
        """P(L > epsilon) and e^epsilon Q(L > epsilon)."""
        point = arb(mp.nstr(epsilon, 50))
        first, second = arb(0), arb(0)
        for z, value in self.nodes:
            term = value * (-z * point).exp()
            first += (term / z).real
            second += (term / (z + 1)).real
        return mpf(first.mid().str(45, radius=False)), mpf(second.mid().str(45, radius=False))


def spread(parts: Parts, c: float) -> tuple[float, float]:
    """Mean and variance of the tilted loss, from differences of ln M."""
    h = 0.02 * c
    below, here, above = (logarithm(parts, c + k * h) for k in (-1, 0, 1))
    return (above - below) / (2 * h), (above - 2 * here + below) / h**2


def guess(parts: Parts, log_delta: float) -> tuple[float, float]:
    """The saddle c and epsilon, by the leading term of the saddle-point expansion; only a place to start from."""

    def at(c: float) -> tuple[float, float]:
        mean, variance = spread(parts, c)
        epsilon = mean - 1 / c - 1 / (c + 1)
        curvature = max(variance, 0) + c**-2 + (c + 1) ** -2
        log_m = logarithm(parts, c)
        return epsilon, log_m - c * epsilon - math.log(c * (c + 1)) - 0.5 * math.log(2 * math.pi * curvature)

    low, high = 1e-3, 1.0
    while at(high)[1] > log_delta and high < 4000:
        low, high = high, 2 * high
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if at(middle)[1] > log_delta else (low, middle)
        if high / low < 1.001:
            break
    c = math.sqrt(low * high)
    return c, at(c)[0]


def reach(parts: Parts, c: float) -> float:
    """How far from its mean the tilted loss, with the two poles, has mass above e^-50, by Chernoff's bound."""
    here, mean = logarithm(parts, c), spread(parts, c)[0]
    shares = (0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.99)
    right = min((logarithm(parts, c * (1 + s)) - here + 50) / (c * s) - mean for s in (*shares, 2.0, 4.0))
    left = min((logarithm(parts, c * (1 - s)) - here + 50) / (c * s) + mean for s in shares)
    return max(right, left, 50 / c)


def negligible(parts: Parts) -> float:
    """Where the integrand may be cut off, relative to its peak; with few steps it falls slowly, and less must do."""
    return 1e-26 if sum(times for _, times in parts) > 100 else 1e-19


def line(parts: Parts, c: float, fineness: float, limit: int = 6000) -> Line:
    """Panels along Re z = c until the integrand stays negligible."""
    cut = negligible(parts)
    place = arb(c)
    width = 16.0 / (reach(parts, c) * fineness)
    peak = logarithm(parts, c)
    nodes: list[tuple[acb, acb]] = []
    quiet = 0
    for k in range(limit):
        largest = 0.0
        for w, weight in panels(arb(k * width), arb((k + 1) * width), 1, ORDER):
            value = acb(1)
            for loss, times in parts:
                value *= loss.moment(place, w, fineness) ** times
            z = acb(place, w)
            value = acb(value.real.mid(), value.imag.mid()) * weight / arb.pi()
            nodes.append((z, value))
            size = value.abs_upper() / (weight * abs(z) ** 2)
            largest = max(largest, float((size.log() - peak).exp().mid()) / float(arb(c) ** -2))
        quiet = quiet + 1 if largest < cut else 0
        if quiet == 2:
            return Line(nodes)
    raise ArithmeticError(f"no decay within {limit} panels")


def newton(values: Line, delta: mpf, epsilon: mpf) -> mpf:
    for _ in range(40):
        first, second = values.tails(epsilon)
        step = (first - second) / second * mp.log((first - second) / delta)
        epsilon += step
        if abs(step) < mpf(10) ** -28 * (1 + abs(epsilon)):
            return epsilon
    raise ArithmeticError("Newton's steps do not settle")


def inverted(parts: Parts, delta: Fraction) -> tuple[mpf, float]:
    """Epsilon in one direction, and the error bound."""
    prepare()
    with mp.workdps(45):
        wanted = mpf(delta.numerator) / delta.denominator
        c, start = guess(parts, float(mp.log(wanted)))
        first = newton(line(parts, c, 1.0), wanted, mpf(start))
        second = newton(line(parts, c * 0.96, 1.45), wanted, first)
        return second, float(10 * abs(first - second)) + 1e4 * negligible(parts) * float(abs(second))


def largest(parts: Parts) -> float:
    """A bound on the loss, where there is one: -ln(1-q) for what is sampled, in the direction "add"."""
    total = 0.0
    for loss, times in parts:
        if isinstance(loss, GaussianLoss):
            return math.inf
        if isinstance(loss, SampledLoss):
            total -= times * math.log1p(-float(loss.rate)) if loss.direction == "add" else -math.inf
        else:
            total += times * float(loss.size)
    return total


def both(remove: Parts, add: Parts | None, delta: Fraction) -> Answer:
    """The larger of two directions; the second is solved only if a first estimate does not put it well below."""
    epsilon, error = inverted(remove, delta)
    if (
        add is not None
        and largest(add) > float(epsilon)
        and guess(add, math.log(float(delta)))[1] > float(epsilon) * 0.97
    ):
        epsilon, error = max((epsilon, error), inverted(add, delta))
    return written(epsilon, error)


def prepare() -> None:
    ctx.prec = BITS


def sampled(base: str, strength: Fraction, rate: Fraction) -> tuple[SampledLoss, SampledLoss]:
    """Both directions of a sampled mechanism."""
    prepare()
    remove, add = (SampledLoss(base, ball(strength), ball(rate), way) for way in ("remove", "add"))
    return remove, add
