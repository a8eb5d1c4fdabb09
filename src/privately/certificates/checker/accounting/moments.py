"""Bounds of ln E[e^(c loss)] for every law, c > 0: of those without a pair, and of samples and groups of anything.

Finite losses only, and without dividing by their probability. docs/theory/certificates.md#moments says why they hold.
"""

from math import comb

from ..elementary import OutOfReach, exponential, exponential_minus_one
from ..intervals import Interval, whole
from ..rationals import ONE, Rational
from ..schema import Invalid
from ..work import Work
from . import finite
from .laplace import Laplace
from .numbers import BITS, ONE_INTERVAL, log, near, upper
from .points import total_weight
from .terms import Law, Terms

HALF = Rational(1, 2)
MOST_ORDERS = 300
THREE = Rational(3)
FAR = Rational(5_000)
_NOISE = ("normal", "laplace", "discrete normal", "discrete laplace", "response")


class Moments:
    """Bounds at any c, each computed once."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._known: dict[tuple[Law, bool, tuple[int, int]], Interval] = {}

    def total(self, terms: Terms, c: Rational, *, removes: bool) -> Interval:
        found = whole(0, BITS)
        for law, times in terms.items():
            found += self.of(law, c, removes=removes).times(times)
        return upper(found)

    def of(self, law: Law, c: Rational, *, removes: bool) -> Interval:
        key = law, removes and law.is_directed, (c.numerator, c.denominator)
        if key not in self._known:
            self.work.spend(200)
            self._known[key] = upper(self._found(law, c, removes=removes))
        return self._known[key]

    def _found(self, law: Law, c: Rational, *, removes: bool) -> Interval:
        if (simple := _closed_form(law, c)) is not None:
            return simple
        if law.name.endswith("response") or law.name == "discrete laplace":
            self.work.spend(100 * law.number(1).numerator if law.name == "discrete laplace" else 200)
            return log(total_weight(finite.points(law, c, removes=removes)))
        if law.name == "worst":
            return _largest([self.total(dict(terms), c, removes=removes) for terms in law.inner])
        if law.name == "group":
            return self._group(law, c)
        if law.is_sampled:
            return self._removed(law, c, base=True) if removes else self._added(law, c)
        if law.name.startswith("glued"):
            return self._glued(law, c)
        raise Invalid("witness.method", f"does not know what to do with a {law.name} law")

    def _both(self, law: Law, c: Rational) -> Interval:
        """Of what is inside, the larger of both directions."""
        return _largest([self.total(law.base(), c, removes=way) for way in (True, False)])

    def _removed(self, law: Law, c: Rational, *, base: bool) -> Interval:
        """By whole orders, with the chord between; `base` is the direction of what is sampled."""
        below = c.numerator // c.denominator
        low = self._whole(law, below, base=base)
        share = c - Rational(below)
        if share.is_zero():
            return low
        high = self._whole(law, below + 1, base=base)
        return low * near(ONE - share) + high * near(share)

    def _whole(self, law: Law, c: int, *, base: bool) -> Interval:
        """ln of the sum over i of binomial(n, i) (1-q)^(n-i) q^i e^K(i-1), n = c + 1, K = 0 for i < 2."""
        if c > MOST_ORDERS:
            raise Invalid("witness.order", f"is above {MOST_ORDERS}, for a sample")
        self.work.spend(50 * c)
        taken, stays, terms = near(law.rate), near(ONE - law.rate), law.base()
        powers = [ONE_INTERVAL]
        for _ in range(c + 1):
            powers.append(powers[-1] * stays)
        total, lifted = ONE_INTERVAL, taken
        for i in range(2, c + 2):
            lifted *= taken
            more = exponential_minus_one(self.total(terms, Rational(i - 1), removes=base))
            total += (lifted * powers[c + 1 - i] * more).times(comb(c + 1, i))
        return upper(log(total))

    def _added(self, law: Law, c: Rational) -> Interval:
        """-c ln(1 - q + q e^(-K/c)); or t e^K1 + (1-t) e^K2, t = 3 (1-q)/(3 + 2 (c-1) q), as if removed, of both."""
        if not finite.base_infinite(law, removes=False).is_zero():
            return self._mixed(law, self.total(law.base(), c, removes=False))
        drop = exponential_minus_one(-self.total(law.base(), c, removes=False) / near(c))
        simple = upper(-log(ONE_INTERVAL + near(law.rate) * drop) * near(c))
        place = max(c, ONE)
        share = near(THREE * (ONE - law.rate) / (THREE + Rational(2) * (place - ONE) * law.rate))
        try:
            one, other = (exponential(self._removed(law, place, base=way)) for way in (True, False))
        except (Invalid, OutOfReach):
            return simple
        return _least(simple, log(share * one + (ONE_INTERVAL - share) * other) * near(c / place))

    def _glued(self, law: Law, c: Rational) -> Interval:
        """ln(1 - q + q e^K); of noise, which is alike both ways, also ln(e^K1 + e^K2 - 1) of its Poisson sample.

        Not of what has no worst pair: there a moment may be reached by one pair and another moment by another one.
        """
        simple = self._mixed(law, self._both(law, c))
        if (
            any(inside.name not in _NOISE for inside in law.base())
            or not finite.base_infinite(law, removes=True).is_zero()
        ):
            return simple
        try:
            one, other = exponential(self._removed(law, c, base=True)), exponential_minus_one(self._added(law, c))
        except (Invalid, OutOfReach):
            return simple
        return _least(simple, log(one + other))

    def _mixed(self, law: Law, inside: Interval) -> Interval:
        return log(ONE_INTERVAL + near(law.rate) * exponential_minus_one(inside))

    def _group(self, law: Law, c: Rational) -> Interval:
        """c k a times the sum of K(o - 1)/(o (o - 1)) over the orders o = ka, ka - 1, ..., ka - k + 1, a = c + 1."""
        size = law.number(0).numerator
        if size > MOST_ORDERS:
            raise Invalid("witness.method", f"does not know groups of more than {MOST_ORDERS}")
        top = law.number(0) * (c + ONE)
        total = whole(0, BITS)
        for step in range(size):
            order = top - Rational(step)
            total += self._both(law, order - ONE) / near(order * (order - ONE))
        return total * near(c * top)


def _closed_form(law: Law, c: Rational) -> Interval | None:
    square = c * c + c
    if law.name in {"normal", "concentrated"}:
        return near(square * law.number(0) * (HALF if law.name == "normal" else ONE))
    if law.name == "discrete normal":
        return near(square * law.number(1) * law.number(1) * HALF / law.number(0))
    if law.name == "laplace":
        return Laplace(law.number(0), c).log_mass()
    if law.name == "range":
        simple = near(min(c * law.number(0), square * law.number(0) * law.number(0) * Rational(1, 8)))
        return _least(simple, _skewed(near(law.number(0)), c)) if law.number(0) * (c + ONE) < FAR else simple
    return near(_interpolated(law, c + ONE)) if law.name == "renyi" else None


def _skewed(width: Interval, c: Rational) -> Interval:
    """c w + c ln(c/(c+1)) - ln(c+1) + (c+1) g((c+1) w) - c g(c w) - g(w), g(x) = ln(1 - e^-x)."""

    def g(factor: Rational) -> Interval:
        return log(-exponential_minus_one(-width * near(factor)))

    order = c + ONE
    ends = log(near(c / order)) * near(c) - log(near(order))
    return width * near(c) + ends + g(order) * near(order) - g(c) * near(c) - g(ONE)


def _interpolated(law: Law, order: Rational) -> Rational:
    """(o-1) bound(o) is convex in o and 0 at 1, so that chords between listed orders bound it."""
    left, left_value = ONE, Rational(0)
    for place in range(0, len(law.numbers), 2):
        right, value = law.number(place), (law.number(place) - ONE) * law.number(place + 1)
        if order <= right:
            return left_value + (value - left_value) * (order - left) / (right - left)
        left, left_value = right, value
    raise Invalid("witness.order", "is above the last order that is listed")


def _largest(listed: list[Interval]) -> Interval:
    return max((upper(one) for one in listed), key=Interval.upper_end)


def _least(one: Interval, other: Interval) -> Interval:
    return min(upper(one), upper(other), key=Interval.upper_end)
