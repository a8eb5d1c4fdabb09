"""The sampled Gaussian on the contour: normal x, loss +-ln(1 - q + q e^t) with t = mu x - mu^2/2.

Both directions are integrals over a standard normal x, the noise of the data set without the row: M(z) = E[e^(s L(x))]
with L = ln(1 - q + q e^t), where s = z + 1 for "remove" (the loss is L) and s = -z for "add" (the loss is -L).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from privately.accounting.contour.falling import QUARTER_TURN, fallen, lines
from privately.accounting.contour.points import Look, Points, Tilted
from privately.accounting.contour.rough_samples import RoughSample
from privately.accounting.contour.shifted import Line
from privately.accounting.contour.view import View, enlarged, exp_above
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, exp_and_expm1, expm1, log1p, log_between
from privately.accounting.kept import Kept
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NEAR_ONE, NotApplicable

_PER_ROOT = 0.3989422804014327
_TURN = 6.283185307179586  # below 2 pi
_DYADIC = 1024
_SAFE = 2.0**-20
_LEAST_EXCESS = -0.5
_LARGEST_LOSS = 600.0
_TAME = 500.0
_MOST_POINTS, _AT_ONCE = 1 << 16, 1 << 18
WIDEST = 2.0
_COARSE = 0.6
ROUGH_WIDTH = 9.0
STEEPER = (1.2, 3.2)
"""Heights at which the other direction may be far below, over that of the first."""
_COVERS = 1 + 2.0**-4
"""Above 1 + 4u/ERROR, where errors of losses are at least ERROR of them."""
_SLIGHT = 0.2
"""Of E[pull share], the part that E[(pull share)^2] may be for moments to stand for E[1 - e^(-pull share)]."""
_WORTHWHILE = 2.5
"""So much wider must steps be on a line beside the real one, as points there cost more."""


@dataclass(frozen=True, slots=True)
class SampledGaussian:
    """One law, apart from any contour."""

    mu: float
    rate: float
    removes: bool

    @classmethod
    def of(cls, law: SampledGaussianLoss) -> SampledGaussian:
        """Its floats are within 2 units of rounding of the exact parameters."""
        if law.rate > NEAR_ONE:
            raise NotApplicable("a rate so near 1")
        return cls(mu=math.sqrt(law.mu_squared), rate=float(law.rate), removes=law.direction == "remove")

    @property
    def rough_variance(self) -> float:
        """About the variance of the loss."""
        return self.rate**2 * math.expm1(min(self.mu**2, _LARGEST_LOSS))

    @property
    def rough_skewness(self) -> float:
        """About the third cumulant of the loss, while q e^t is small."""
        grown = math.exp(min(self.mu**2, _TAME / 4))
        return self.rate**3 * (grown**3 - 3 * grown + 2)

    def steep_from(self, times: int) -> float:
        """About where (c + 1) c mu^2/2, less (c + 1) ln 1/q, makes up for the number of steps."""
        rare, half = -math.log(self.rate), self.mu**2 / 2
        return max(rare - math.log(times) / (rare / half + 1), rare / 4) / half

    def power(self, c: float) -> float:
        """The real part of s."""
        return c + 1 if self.removes else -c

    def is_tame(self, highest: float) -> bool:
        """Whether no tilted weight up to this height comes near the end of the range of floats."""
        if self.removes:  # s L - x^2/2 <= s mu x - x^2/2
            return (self.power(highest) * self.mu) ** 2 / 2 < _TAME
        return -highest * math.log1p(-self.rate) < _TAME

    def rough(self, highest: float) -> RoughSample:
        """For contours up to this height."""
        left, right = self.ends(highest, ROUGH_WIDTH)
        if right - left > _MOST_POINTS:
            raise NotApplicable("the losses are spread too widely")
        return RoughSample.over(self, left, right)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Grid:
        """Points for c, frequencies up to `reach`, and ln M up to the highest; with errors of about e^-quiet."""
        plan = self.plan(c, highest, reach, quiet)
        if plan.size > _MOST_POINTS:
            raise NotApplicable("too many points")
        return Grid.over(self, plan.places(), plan.step, plan.line).look_ahead(c, highest)

    def plan(self, c: float, highest: float, reach: float, quiet: float) -> Plan:
        """Where these points lie."""
        line, beside = Line(self.mu, self.removes, c, 0.0), self.widest_step(c, reach, quiet)
        if _WORTHWHILE * beside < Line.widest(self.mu, quiet):
            best = Line.best(self.mu, c, quiet, removes=self.removes)
            if _WORTHWHILE * beside < best.step(quiet):
                line, beside = best, best.step(quiet)
        step = min(beside, self.widest_step(highest, 0.0, quiet), 0.5)
        step = max(math.floor(step * _DYADIC), 1) / _DYADIC
        left, right = self.ends(highest, math.sqrt(2 * (quiet + line.edge)))
        return Plan(line, step, math.floor(left / step), math.ceil(right / step))

    def ends(self, highest: float, width: float) -> tuple[float, float]:
        """Where the tilted laws lie, but for about e^(-width^2/2)."""
        if self.removes:
            return -width, self.power(highest) * self.mu + width
        shallow = math.sqrt(width**2 - 2 * highest * math.log1p(-self.rate))
        return -min(highest * self.mu + width, shallow), width

    def widest_step(self, c: float, reach: float, quiet: float) -> float:
        """Of x, for c, frequencies up to `reach`, and errors of about e^-quiet."""
        cost = self._strip_cost(c, 1.0)
        a = min(WIDEST / self.mu, math.sqrt(quiet / cost))
        return _TURN / (reach * self.mu + quiet / a + cost * a)

    def _strip_cost(self, c: float, a: float) -> float:
        """ln of how much larger the integrand may be on Im x = a than on the real line, at w = 0 and mu a <= 2; a
        multiple of a^2.
        """
        half = self.mu * a / 2
        return a * a / 2 + (0.0 if self.removes else 0.62 * c * half * half)

    def aliasing(self, c: float, reach: float, step: float, widest: float = WIDEST) -> float:
        """The error of the sum over x, relative to M(c), for |w| up to `reach`.

        Theorem: f analytic in |Im x| <= a gives |integral - sum| <= 2 S/(e^(2 pi a/step) - 1), S the integral of |f| on
        the edge; here S <= e^(a^2/2 + w mu a) cos(mu a/2)^(-c) M(c), the cosine for "add" alone.
        Reference: Trefethen-Weideman 2014, Theorem 5.1
        Proof: docs/theory/accounting/contour.md#the-inner-integral
        Checked-by: tests/accounting/contour/test_sampled_gaussian.py::test_the_inner_integral
        """
        pull, cost = _TURN / step - reach * self.mu, self._strip_cost(c, 1.0)
        a = min(widest / self.mu, max(pull, 0.0) / (2 * cost))
        least = (cost * a - pull) * a
        return 2.1 * exp_above(least) if least < -4 else math.inf


def aliases(mu: Floats, step: Floats, c: float | None, reach: float, widest: float = WIDEST) -> Floats:
    """What `aliasing` bounds, for many laws of one direction: c is that of "add", None for "remove"."""
    cost = 0.5 if c is None else 0.5 + 0.155 * c * mu * mu
    pull = _TURN / step - reach * mu
    a = np.minimum(widest / mu, np.maximum(pull, 0.0) / (2 * cost))
    least = (cost * a - pull) * a
    return np.where(least < -4, 2.1 * exp(np.clip(least, -600.0, 0.0)), math.inf)


@dataclass(frozen=True, slots=True)
class Plan:
    """Points first step, ..., last step on a line."""

    line: Line
    step: float
    first: int
    last: int

    @property
    def size(self) -> int:
        """How many points."""
        return self.last - self.first + 1

    def places(self) -> Floats:
        """The real parts of the points."""
        return np.arange(self.first, self.last + 1, dtype=np.float64) * self.step


@dataclass(eq=False)
class Extent:
    """The first and the last x of a law's points, and the row's share at the first: what they miss."""

    law: SampledGaussian
    step: float
    first: float
    last: float
    share: float
    known: float | None = None
    """What they miss of the base weights, if that is known: it is the same in both directions."""

    def missing(self, c: float, reach: float, outside: float, widest: float = WIDEST) -> float:
        """What the sum over the points misses, relative to M(c) and, untilted, to 1."""
        return self.law.aliasing(c, reach, self.step, widest) + outside + self.untilted

    @Kept
    def untilted(self) -> float:
        """The same for the base weights, relative to 1."""
        if self.known is not None:
            return self.known
        return self.law.aliasing(0.0, 0.0, self.step) + self.outside_base()

    def outside_base(self) -> float:
        """What the points beyond both ends add to the base weights."""
        first, last = (exp_above(-x * x / 2) for x in (self.first, self.last))
        return self.outside(0.0, first, last)

    def outside(self, s: float, first: float, last: float) -> float:
        """The sum over the points beyond both ends: geometric, as the logarithmic slope -x + s mu share is bounded."""
        falls = self.last - max(s, 0.0) * self.law.mu
        rises = -self.first + min(s, 0.0) * self.law.mu * self.share
        if min(falls, rises) * self.step < _SAFE:
            raise NotApplicable("the grid ends too early")
        return (last / falls + first / rises) / self.step * (1 + _SAFE)


class Shares(NamedTuple):
    """The row's shares at points of these weights, of sum 1, and the means of their first four powers."""

    values: Floats
    weights: Floats
    moments: tuple[float, float, float, float]


def falls_of(law: SampledGaussian, c: float, frequencies: list[float], shares: Shares, missing: float) -> list[float]:
    """Lower bounds on -ln |phi(w)| for all w at or above each frequency; `missing` is what the points miss where strips
    are at most as wide as a quarter turn.
    """
    mean, second, third, fourth = shares.moments
    asides = lines(frequencies, law.mu, mean, 0.0 if law.removes else c)
    gains, strong, slight = [], [], 0.0
    for place, (_, pull, _) in enumerate(asides):
        gains.append(pull * (mean - pull / 2 * (second - pull / 3 * (third - pull / 4 * fourth))))
        if pull * second > _SLIGHT * mean:
            strong.append(place)
        else:
            slight = max(slight, pull)
    if strong:
        pulls = np.array([-asides[place].pull for place in strong])
        most = max(_AT_ONCE // shares.values.size, 1)
        for start in range(0, len(strong), most):
            rows = expm1(pulls[start : start + most, None] * shares.values) @ -shares.weights
            for place, gain in zip(strong[start : start + most], rows.tolist(), strict=True):
                gains[place] = gain
    found = fallen(asides, gains, missing * (1 + slight) ** 4)
    return [found[w] for w in frequencies]


def points_at(mu: Floats | float, rate: Floats | float, x: Floats, step: Floats | float) -> tuple[Points, Floats]:
    """The points at x, and the part of the mixture there that comes from the row: dL/dx = mu share."""
    exponents = np.empty((2, x.size))
    t, log_base = exponents
    np.multiply(x, mu, out=t)
    drift = _largest_drift(mu, x, t)
    t -= mu * mu / 2
    np.multiply(x, x, out=log_base)
    log_base *= -0.5
    if isinstance(mu, float):
        largest, least = float(t[-1]), min(float(log_base[0]), float(log_base[-1]), 0.0)
    else:
        largest, least = float(np.maximum.reduce(t)), min(float(np.minimum.reduce(log_base)), 0.0)
    if largest > _LARGEST_LOSS:
        raise NotApplicable("losses beyond the range of floats")
    (grown, base), (lifted, _) = exp_and_expm1(exponents)
    lifted *= rate
    loss, whole = log1p(lifted), lifted + 1
    grown *= rate
    grown /= whole
    share = np.minimum(grown, 1.0, out=grown)
    if isinstance(rate, float) and rate <= 0.5:
        loss_error = np.abs(loss)  # |e^L - 1| e^-L <= |L|/(1 - q)
        loss_error *= ERROR * (1 + 2 / (1 - rate))
    else:
        loss_error = ERROR * np.abs(loss) + 2 * ERROR * np.abs(lifted) / whole
    loss_error += share * (8 * UNIT * (drift + mu * mu))
    factor = step * _PER_ROOT
    known = base * factor if least >= -_LARGEST_LOSS else None
    points = Points(factor, log_base, 4 * UNIT, loss, loss_error, known, least, _COVERS)
    return points, share


def _largest_drift(mu: Floats | float, x: Floats, drift: Floats) -> Floats | float:
    """|mu x|, at most."""
    return mu * max(abs(float(x[0])), abs(float(x[-1]))) if isinstance(mu, float) else np.abs(drift)


@dataclass(frozen=True)
class Grid:
    """Equally spaced x, and the points there."""

    law: SampledGaussian
    x: Floats
    step: float
    points: Points
    share: Floats
    """The part of the mixture at x that comes from the row: dL/dx = mu share."""
    line: Line
    """On which the transform at the line's c is taken."""
    looks: dict[float, Look] = field(default_factory=dict, repr=False, compare=False)
    """What was seen of sums over the points, by the power of e^L."""
    _tilts: dict[float, Tilted] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def over(cls, law: SampledGaussian, x: Floats, step: float, line: Line) -> Grid:
        points, share = points_at(law.mu, law.rate, x, step)
        return cls(law=law, x=x, step=step, points=points, share=share, line=line)

    def look_ahead(self, c: float, highest: float) -> Grid:
        """Takes the sums that will be asked for all at once: at c, at the highest, and some in the other direction."""
        powers = [self.law.power(c), self.law.power(highest)]
        if self.law.removes:
            powers += [-c * factor for factor in STEEPER]
        found = self.points.looks(powers)
        if found is not None:
            tilted, looks = found
            self.looks.update(zip(powers, looks, strict=True))
            if tilted is not None:
                self._tilts[c] = tilted
        return self

    @Kept
    def extent(self) -> Extent:
        """From the first to the last point."""
        return Extent(self.law, self.step, float(self.x[0]), float(self.x[-1]), float(self.share[0]))

    @property
    def size(self) -> int:
        """How many points."""
        return self.x.size

    @property
    def is_endless(self) -> bool:
        """Its points are laid for frequencies up to a reach."""
        return False

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln M(c), enclosed."""
        tilted = self._tilted(c)
        return tilted.log_mass(self._missing(tilted, c, 0.0))

    def log_mass_above(self, c: float) -> float:
        """ln M(c), from above."""
        s = self.law.power(c)
        look = self.looks.get(s)
        if look is None:
            quick = self.points.quickly(s)
            if quick is None:
                return self.log_mass(c)[1]
            weights = quick.weights
            look = Look(quick.above, float(weights.sum()), (float(weights[0]), float(weights[-1])))
        if look.above < _LEAST_EXCESS:
            return self.log_mass(c)[1]
        beyond = self.extent.outside(s, *look.ends) / look.total
        missing = self.extent.missing(c, 0.0, 2 * beyond)
        return log_between(look.above + enlarged(2 * missing * max(look.total, 1.0)), 1)[1]

    def levels(self, heights: Floats) -> Floats:
        """ln M at several places, nearly."""
        every = max(int(_COARSE / self.step), 1)
        loss, base = self.points.loss[::every], self.points.base[::every]
        powers = heights + 1 if self.law.removes else -heights
        excess = np.expm1(np.minimum(powers[:, None] * loss, _LARGEST_LOSS)) @ base
        return np.log1p(np.maximum(excess * every, _LEAST_EXCESS))

    def view(self, c: float, reach: float, centre: float | None = None) -> View:
        """What the integral needs at c."""
        tilted = self._tilted(c)
        if self.line.height:
            gap = self.line.missing(self.step) + self.outside(tilted) * exp_above(self.line.edge)
            gaps = gap, self._missing(tilted, c, 0.0)
            return self.line.view(self.x, self.points, self.share, tilted, gaps)
        losses = self.points.loss if self.law.removes else -self.points.loss
        return tilted.view(losses, self.points.loss_error, self._missing(tilted, c, reach), centre)

    def mirrored(self) -> Grid:
        """The other direction: for a Chernoff bound, not for a view, as points beside the real line serve one only."""
        other = SampledGaussian(self.law.mu, self.law.rate, not self.law.removes)
        line = Line(other.mu, other.removes, self.line.c, 0.0)
        grid, mine = Grid(other, self.x, self.step, self.points, self.share, line, self.looks), self.extent
        grid.__dict__["extent"] = Extent(other, mine.step, mine.first, mine.last, mine.share, mine.untilted)
        return grid

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on -ln |phi(w)| that hold for all w at or above each of these frequencies.

        Theorem: |phi| <= e^b E[e^(-p share)] on a line beside the real one; the share is analytic with a real part of
        at least 0 where |Im mu x| <= pi/2, so that this mean is a sum over the points but for the same aliases.
        Reference: Olver 1974, chapter 4
        Proof: docs/theory/accounting/contour.md#how-fast-the-integrand-falls
        Checked-by: tests/accounting/contour/test_sampled_gaussian.py::test_how_fast_the_integrand_falls
        """
        tilted = self._tilted(c)
        missing = self.extent.missing(c, 0.0, self.outside(tilted), QUARTER_TURN)
        shares = Shares(self.share, tilted.shares, self._moments(tilted.shares))
        return np.array(falls_of(self.law, c, frequencies.tolist(), shares, missing))

    def _moments(self, weights: Floats) -> tuple[float, float, float, float]:
        """The means of the share and of its powers."""
        weighed, square = weights * self.share, self.share * self.share
        first, third = float(np.add.reduce(weighed)), float(weighed @ square)
        return first, float(weighed @ self.share), third, float(weights @ (square * square))

    def _missing(self, tilted: Tilted, c: float, reach: float) -> float:
        return self.extent.missing(c, reach, self.outside(tilted))

    def _tilted(self, c: float) -> Tilted:
        if c not in self._tilts:
            self._tilts[c] = self.points.tilted(self.law.power(c))
        return self._tilts[c]

    def outside(self, tilted: Tilted) -> float:
        """The part of the sum beyond both ends, relative to M."""
        return self.extent.outside(tilted.s, float(tilted.weights[0]), float(tilted.weights[-1])) / tilted.total
