"""Normal noise on a Poisson sample: M(z) = E[mix(x)^s], x normal, mix = 1 - q + q e^t, t = mu x - mu^2/2.

s = z + 1 where the row is removed, and then the loss is ln mix; s = -z where it is added, and the loss is -ln mix. The
integral over x is a sum over x = k d, k from `first` to `last`. docs/theory/certificates.md proves what is used here.
"""

from typing import NamedTuple

from ..elementary import exponential
from ..intervals import Interval, whole
from ..normal import root_of_two_pi
from ..rationals import ONE, ZERO, Rational
from ..schema import Invalid
from ..work import Work
from .numbers import BITS, ONE_INTERVAL, PLACES, exp_above, fixed_above, log, lower, near, upper
from .points import Points, total_weight
from .terms import Law
from .trigonometry import angle_below, pi_interval, turn

HALF = Rational(1, 2)
_HALF_PI_BELOW = Rational(3, 2)


class Grid(NamedTuple):
    """How the integral over x becomes a sum; the analysis holds for all of them, well chosen or not."""

    spacing: Rational
    first: int
    last: int
    strip: Rational
    """The integrand is followed to Im x = +-strip."""
    height: Rational
    """For frequencies beyond the last one it is moved to Im x = height."""


class SampledNormal:
    """One law on the line Re z = c, for frequencies up to `reach`."""

    def __init__(self, law: Law, c: Rational, grid: Grid, reach: Rational, *, removes: bool, work: Work) -> None:
        work.spend(700 * (grid.last - grid.first + 2))
        self.grid, self.c, self.removes = grid, c, removes
        self.power = c + ONE if removes else -c
        self.mu_squared = near(law.number(0))
        self.mu = self.mu_squared.square_root()
        self.rate, self.stays = near(law.number(1)), near(ONE - law.number(1))
        self.weights: list[Interval] = []
        self.losses: list[Interval] = []
        self.shares: list[Interval] = []
        for k in range(grid.first, grid.last + 1):
            self._add(grid.spacing * Rational(k))
        self.total = total_weight(Points(self.weights, self.losses, 0))
        self.outside = self._outside()
        self.alias = self._alias(reach)
        self.start = self._alias(ZERO)

    def _add(self, x: Rational) -> None:
        place = near(x)
        lifted = self.rate * exponential(self.mu * place - self.mu_squared.scaled(-1))
        mix = self.stays + lifted
        loss = log(mix)
        self.weights.append(exponential(loss * near(self.power) - near(x * x * HALF)))
        self.losses.append(loss if self.removes else -loss)
        self.shares.append(lifted / mix)

    def _outside(self) -> Interval:
        """The sum over all points beyond both ends: by its slope, each is at most 1/(1 + slope d) of the one before.

        The logarithm of a weight has the slope -x + s mu share, 0 <= share <= 1, share rising.
        """
        grid, s = self.grid, near(self.power)
        right, left = near(grid.spacing * Rational(grid.last)), -near(grid.spacing * Rational(grid.first))
        pull = self.mu * s
        falls = lower(right - pull if self.removes else right)
        rises = lower(left if self.removes else left + pull * upper(self.shares[0]))
        if falls.low <= 0 or rises.low <= 0:
            raise Invalid("witness", "the points end too early")
        spacing = near(grid.spacing)
        return upper(self.weights[-1] / (falls * spacing) + self.weights[0] / (rises * spacing))

    def _alias(self, reach: Rational) -> Interval:
        """The error of the sum over all points, over M(c), for frequencies up to this one.

        2 S/(e^(2 pi a/d) - 1), a the strip, S = e^(a^2/2 + w mu a) and cos(mu a/2)^-c more where the row is added.
        """
        a = self.grid.strip
        exponent = near(a * a * HALF) + self.mu * near(reach * a) + self._slant(near(a))
        return self._geometric(exponent, near(a))

    def _geometric(self, exponent: Interval, a: Interval) -> Interval:
        """2 e^exponent/(e^X - 1), X = 2 pi a/d; at most 4 e^(exponent - X) for X >= 1."""
        far = pi_interval(BITS).scaled(1) * a / near(self.grid.spacing)
        if not far.above(ONE):
            raise Invalid("witness", "the points are too far apart")
        return exp_above(exponent - far).scaled(2)

    def _slant(self, y: Interval) -> Interval:
        """ln of cos(mu y/2)^-c, 0 where the row is removed: |u + v e^(ia)| >= (u + v) cos(a/2) for |a| < pi."""
        angle = self.mu * y
        if not (angle - pi_interval(BITS)).at_most(ZERO):
            raise Invalid("witness", "the strip is too wide")
        if self.removes:
            return whole(0, BITS)
        cosine, _, error = turn(angle.scaled(-1), PLACES)
        return -log(Interval(cosine - error, cosine + error, -PLACES, BITS)) * near(self.c)

    def log_mass(self) -> Interval:
        """ln M(c), the high end."""
        found = (self.total + self.outside) * near(self.grid.spacing) / root_of_two_pi(BITS)
        return upper(log(found / (ONE_INTERVAL - self.start)))

    def points(self) -> Points:
        missing = self.alias + self.start + self.outside.scaled(1) * (ONE_INTERVAL + self.start) / self.total
        return Points(self.weights, self.losses, fixed_above(missing) + 1)

    def remains(self, frequency: Rational) -> Interval:
        """A bound on |M(c + iw)|/M(c) for all w at or above this frequency.

        On Im x = y (-y where the row is added) the integrand has the size e^(y^2/2 - x^2/2) |mix|^Re(s)
        e^(-w arg mix), which falls in w. Continued to Im x = +-a from there, mu (a + y) <= pi/2, it grows by at most
        e^(a^2/2), and by cos(mu (a + y)/2)^-c where the row is added; so the sum over x is off by little for all w.
        """
        y = self.grid.height
        if y.is_zero():
            return ONE_INTERVAL
        margin = self._margin()
        cosine, sine, error = turn(self.mu * near(y), PLACES)
        sine_low = Interval(sine - error, sine - error, -PLACES, BITS)
        versed = ONE_INTERVAL - Interval(cosine - error, cosine + error, -PLACES, BITS)
        total = whole(0, BITS)
        for weight, share in zip(self.weights, self.shares, strict=True):
            total += weight * exp_above(self._moved(share, sine_low, versed, frequency))
        total = upper(total) + self.outside * exp_above(self._slant(near(y)))
        a = near(margin)
        alias = self._geometric(near(margin * margin * HALF) + self._slant(a + near(y)), a)
        found = total * (ONE_INTERVAL + self.start) / self.total + alias
        return upper(found * exp_above(near(y * y * HALF)))

    def _moved(self, share: Interval, sine: Interval, versed: Interval, frequency: Rational) -> Interval:
        """ln of |mix(x + iy)/mix(x)|^Re(s) e^(-w arg): |1 - 2 share (1 - share) versed|^(Re(s)/2), and the angle."""
        size = log(ONE_INTERVAL - (share * (ONE_INTERVAL - share) * versed).scaled(1)) * near(self.power * HALF)
        tangent = lower(share) * sine / (ONE_INTERVAL - lower(share) * versed)
        angle = angle_below(max(tangent.fixed(PLACES)[0], 0), PLACES)
        return size - near(frequency) * Interval(angle, angle, -PLACES, BITS)

    def _margin(self) -> Rational:
        """A number a with mu (a + height) <= 3/2, in steps of 1/1024, and not above 6/d."""
        room = near(_HALF_PI_BELOW) / upper(self.mu) - near(self.grid.height)
        steps = room.fixed(10)[0]
        most = self.grid.spacing
        limit = 6 * 1024 * most.denominator // most.numerator
        if min(steps, limit) <= 0:
            raise Invalid("witness", "the height is too large")
        return Rational(min(steps, limit), 1024)
