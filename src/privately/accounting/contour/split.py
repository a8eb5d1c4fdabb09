"""A rarely sampled Gaussian in two parts: steps that move little, and jumps.

Where few take part, a tilt that suits the many small losses is swamped by jumps that hardly ever occur. So the law of
one step is split by a weight g(x) = exp(-E), E = e^(k (x - at)), which is analytic and at most 1 in size for
|Im x| <= pi/(2k): near losses have the weight g, jumps the weight 1 - g.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privately.accounting.contour.split_points import LOWEST, SAFE, STEEPEST, NearFalls, Split, Steps, Weights, step_exp
from privately.accounting.contour.view import Complex, Rough, View, enlarged, exp_above, size_of
from privately.accounting.elementary import (
    ERROR,
    UNIT,
    Floats,
    atan,
    cos_sin,
    exp_one,
    expm1,
    log1p,
    log_between,
    turn_minus_one,
)
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable

_PER_ROOT = 0.3989422804014327
_TURN = 6.283185307179586  # below 2 pi
_DYADIC = 4096
_COARSE = 1 / 64
_STRIPS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.125, 0.0625)
_PATHS = (1.0, 0.6, 0.3, 0.1)
_WIDEST = 1.5
_ALL = 50.0
_NOTHING = 1e-200
_FEW, _HALF = 2.0**-10, 0.5
_NO_POINTS: Floats = np.empty(0)


@dataclass(frozen=True)
class Law:
    """One step of a sampled Gaussian, "remove", that is split; floats are within 2 units of the exact parameters."""

    mu: float
    rate: float
    split: Split

    @classmethod
    def of(cls, law: SampledGaussianLoss, split: Split) -> Law:
        if law.direction != "remove":
            raise NotApplicable("only losses of the direction remove jump")
        mu = math.sqrt(law.mu_squared)
        if mu > _WIDEST * split.steepness:
            raise NotApplicable("too little noise")
        return cls(mu, float(law.rate), split)

    def rough(self, highest: float) -> Rough:
        """Near losses, for contours up to this height."""
        del highest
        return self._rough(jumps=False)

    def rough_jumps(self) -> Rough:
        """Jumps."""
        return self._rough(jumps=True)

    def _rough(self, *, jumps: bool) -> Rough:
        right = self.split.at + (14.0 if jumps else 7.0 / self.split.steepness)
        x = np.arange(-9.0, right, 1 / 16)
        loss = np.log1p(self.rate * np.expm1(np.minimum(self.mu * x - self.mu**2 / 2, STEEPEST)))
        growth = np.exp(np.maximum(self.split.steepness * (x - self.split.at), LOWEST))
        kept = np.log(-np.expm1(-growth)) if jumps else -growth
        return Rough(loss, -x * x / 2 + math.log(_PER_ROOT / 16) + loss + kept)

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> NearGrid:
        """Points of the near losses for c and all frequencies, and other heights."""
        del reach
        return NearGrid(self, self.near_points(c, highest, quiet))

    def near_points(self, c: float, highest: float, quiet: float) -> Spaced:
        """Which points: those of a law with a higher rate serve this one, too."""
        width = math.sqrt(2 * quiet) + 1
        farther = self.mu * (self.split.at + 12 / self.split.steepness) - self.mu**2 / 2
        largest = math.log1p(self.rate * math.exp(min(farther, STEEPEST)))
        beyond = math.log(2 * STEEPEST + (highest + 1) * (4 * self.mu + 2 * largest)) / self.split.steepness
        right = max(width, self.split.at + beyond)
        coarse = NearGrid(self, _spaced(-width, right, _COARSE))
        step = min(coarse.widest_aside(c, quiet), coarse.widest(highest, quiet), _COARSE)
        return _spaced(-width, right, math.floor(step * _DYADIC * 16) / (_DYADIC * 16))

    def jumps(self, c: float, highest: float, quiet: float) -> JumpGrid:
        """Points of the jumps for c and all frequencies, and other heights."""
        return JumpGrid(self, self.jump_points(c, highest, quiet))

    def jump_points(self, c: float, highest: float, quiet: float) -> Spaced:
        """Which points, likewise."""
        width = math.sqrt(2 * quiet) + 1
        left = self.split.steepness - width
        falling = max(self.split.at - (highest + 1) * self.mu, width / 2)
        right = max((highest + 1) * self.mu + width, self.split.at + max(5 / self.split.steepness, quiet / falling))
        coarse = JumpGrid(self, _spaced(left, right, _COARSE))
        step = min(coarse.widest_aside(c, quiet), coarse.widest(highest, quiet), _COARSE)
        return _spaced(left, right, math.floor(step * _DYADIC * 16) / (_DYADIC * 16))


@dataclass(frozen=True)
class Spaced:
    """Equally spaced x, between two multiples of their distance."""

    ends: tuple[int, int]
    step: float

    def of(self, law: Law) -> Steps:
        """A law there."""
        return Steps(law.mu, law.rate, law.split, self.ends, self.step)


_laid_last = lru_cache(maxsize=4)(Spaced.of)


def _spaced(left: float, right: float, step: float) -> Spaced:
    if step <= 0:
        raise NotApplicable("too many points")
    return Spaced((math.floor(left / step), math.ceil(right / step)), step)


Known = dict[tuple[object, ...], float]
"""What was best for the first of many laws that are alike."""


class _Grid(ABC):
    """What near losses and jumps have in common: the error of the sum over equally spaced x."""

    is_jumpy = False

    def __init__(self, law: Law, spaced: Spaced, known: Known | None = None) -> None:
        """Those of many laws, which share what is known, are not kept but laid whenever something is asked of them."""
        self.law, self.spaced, self.is_kept, self.known = law, spaced, known is None, known
        self._steps = spaced.of(law) if known is None else None
        self._weights: dict[tuple[bool, float], Weights] = {}
        self._aliasing: dict[float, float] = {}
        self._masses: dict[float, tuple[float, float]] = {}
        self._centres: dict[float, float] = {}
        self._falls: dict[float, NearFalls] = {}

    @property
    def steps(self) -> Steps:
        return self._steps or _laid_last(self.spaced, self.law)

    @property
    def size(self) -> int:
        return self.spaced.ends[1] - self.spaced.ends[0] + 1

    def weights(self, c: float) -> Weights:
        """Tilted to c."""
        known, key = self._weights if self.is_kept else self.steps.tilted, (self.is_jumpy, c)
        if key not in known:
            known[key] = self.steps.jumps(c + 1) if self.is_jumpy else self.steps.near(c + 1)
        return known[key]

    def edge(self, c: float, a: float) -> float:
        """ln of the integral of the integrand's size on Im x = a, w = 0, over the mass, from above.

        Theorem: for k a <= 1 the weight g is at most e^(-E cos ka), and 1 - g at most 2 min(E, 1) in size;
            |u + v e^(i mu a)| is at most u + v.
        Reference: Trefethen-Weideman 2014, Theorem 5.1
        Proof: docs/theory/accounting/jumps.md#sums-over-points
        Checked-by: tests/accounting/contour/test_split.py::test_masses
        """
        steps, k = self.steps, self.law.split.steepness
        if self.is_jumpy:
            softer = 0.0
            weight = np.minimum(k * (steps.x - self.law.split.at), 0.0)
            low, high = steps.slopes(c + 1, 0.0)
            slopes = low, high + k
        else:
            softer = 1 - (k * a) ** 2 / 2
            weight, slopes = -np.minimum(softer * steps.growth, -2 * LOWEST), steps.slopes(c + 1, softer)
        total = steps.upper_sum((c + 1) * steps.loss + weight, slopes)
        least = self.weights(c).total / 2
        if not (total < math.inf and least > 0):
            return math.inf
        # 1 more for what lies beyond the ends
        return a * a / 2 + log_between(total / least + 1)[1] + (1.0 if self.is_jumpy else 0.0)

    def widest(self, c: float, quiet: float) -> float:
        """The widest step with errors of about e^-quiet."""
        strips = [part / self.law.split.steepness for part in _STRIPS]
        return max(_TURN * a / (quiet + 2 + max(self.edge(c, a), 0.0)) for a in strips)

    def aliasing(self, c: float) -> float:
        """The error of the sum over real x, w = 0, relative to the mass."""
        if c not in self._aliasing:
            strips = [part / self.law.split.steepness for part in _STRIPS]
            least = self._least(("strip", c), strips, lambda a: self.edge(c, a) - _TURN * a / self.spaced.step)
            self._aliasing[c] = 2.1 * exp_above(least) if least < -4 else math.inf
        return self._aliasing[c]

    def _least(self, key: tuple[object, ...], tried: Sequence[float], value: Callable[[float], float]) -> float:
        """The least value or, of many laws, that with which the first of them was best: each of them is a bound."""
        if self.known is None:
            return min(map(value, tried))
        if key in self.known:
            return value(self.known[key])
        best, self.known[key] = min((value(one), one) for one in tried)
        return best

    @property
    def aside(self) -> float:
        """The height of a line beside the real one, on which fast oscillation dies out."""
        return 0.5 / self.law.split.steepness

    def widest_aside(self, c: float, quiet: float) -> float:
        """The widest step on that line with errors of about e^-quiet, whatever the frequency."""
        return _TURN * self.aside / (quiet + 2 + max(self.edge(c, 2 * self.aside), 1.0))

    def missing_aside(self, c: float) -> float:
        """What the points on that line miss, relative to the mass, for all w >= 0.

        Theorem: on 0 <= Im x <= 2y the factor e^(iwL) is at most 1, so that the edges contribute the mass and what
            `edge` says of 2y; at the ends the integrand is at most 4 e^(y^2/2) times what bounds it on the real line.
        Reference: Trefethen-Weideman 2014, Theorem 5.1
        Proof: docs/theory/accounting/jumps.md#sums-over-points
        Checked-by: tests/accounting/contour/test_split.py::test_transforms_on_a_line
        """
        exponent = max(self.edge(c, 2 * self.aside), 1.0) - _TURN * self.aside / self.steps.step
        return (4.2 * exp_above(exponent) if exponent < -4 else math.inf) + 5 * self.outside(c)

    @abstractmethod
    def outside(self, c: float) -> float:
        """The part of the sum beyond both ends, relative to the mass."""

    def seen(self, c: float, middle: float, log_mass: tuple[float, float]) -> View:
        """The tilted law on that line, seen from a centre, now or when its transforms are asked for."""
        if self.is_kept:
            return self.aside_view(c, middle, log_mass)
        return UnlaidView(log_mass, middle, _NO_POINTS, _NO_POINTS, 0.0, 0.0, of=(self, c))

    def aside_view(self, c: float, middle: float, log_mass: tuple[float, float]) -> View:
        """The tilted law on that line, seen from a centre."""
        steps, real, y, s = self.steps, self.weights(c), self.aside, c + 1
        total = real.total
        turn = turn_minus_one(np.array([self.law.mu * y]))[0]
        versed, sine = -turn.real, turn.imag
        mixed = -2 * steps.share * (1 - steps.share) * versed
        wane, slant = log1p(mixed) / 2, steps.share * sine / (1 - steps.share * versed)
        angle = atan(slant)
        cosine, turned = cos_sin(np.array([self.law.split.steepness * y]))
        fall, swing = steps.growth * cosine[0], steps.growth * turned[0]
        exponent = s * (steps.loss + wane) + steps.log_base + y * y / 2
        if self.is_jumpy:
            around = turn_minus_one(-np.minimum(swing, _ALL))
            kept = -(expm1(-np.minimum(fall, _ALL)) * (1 + around) + around)
            kept[steps.growth > _ALL] = 1.0
            phase = s * angle - steps.x * y
        else:
            kept = np.ones(1, dtype=np.complex128)
            exponent = np.maximum(exponent - fall, 2 * LOWEST)
            phase = s * angle - steps.x * y - np.minimum(swing, -LOWEST)
        cosines, sines = cos_sin(phase)
        weights = step_exp(steps.step, exponent) / total * (cosines + 1j * sines) * kept
        losses = (steps.loss + wane - middle) + 1j * angle
        off = steps.loss_error + 8 * ERROR * (np.abs(mixed) + slant) + 4 * UNIT * (np.abs(steps.loss) + abs(middle))
        missing = self.missing_aside(c)
        carried = size_of(weights) * (1 + 8 * UNIT)
        errors = real.error + s * off + (32 if self.is_jumpy else 8) * ERROR
        whole = missing + float((carried * errors).sum()) + 2 * carried.size * UNIT
        slope = float((carried * ((errors + whole) * (np.abs(losses.real) + angle) + off)).sum())
        return View(
            log_mass=log_mass,
            centre=middle,
            weights=weights,
            losses=losses,
            error=enlarged(2 * missing),
            slope=enlarged(slope) * (1 + 2 * whole),
        )


class NearGrid(_Grid):
    """Points of the near losses."""

    is_endless = True

    def missing(self, c: float) -> float:
        """What the points miss, relative to the mass and, for the base weights, to 1.

        Theorem: beyond the last point E is so large that next to nothing is left of either part; before the first the
            terms fall at least like those of the normal law.
        Reference: comparison with a geometric series
        Proof: docs/theory/accounting/jumps.md#sums-over-points
        Checked-by: tests/accounting/contour/test_split.py::test_masses
        """
        steps, s = self.steps, c + 1
        last = float(steps.x[-1])
        grown = exp_one(min(self.law.split.steepness * (last - self.law.split.at), 100.0)) * (1 - SAFE)
        far = grown / 2 - s * float(steps.loss[-1])
        if far < -LOWEST or self.law.split.steepness * grown / 2 < s * self.law.mu + 1:
            raise NotApplicable("the grid ends too early")
        untilted = 2.1 * exp_above(-((_TURN / steps.step) ** 2) * 0.49)
        # before the first point e^(sL) is at most 1, and all masses here are at least 1/2
        least = self.weights(c).total
        if least < _HALF:
            raise NotApplicable("hardly any near losses")
        return self.aliasing(c) + 2 * self.outside(c) + untilted

    def outside(self, c: float) -> float:  # noqa: ARG002 - e^(sL) is below 1 on one side, and e^-E next to 0 on the other
        first, last = -float(self.steps.x[0]), float(self.steps.x[-1])
        return exp_above(-first * first / 2) / first + exp_above(-last * last / 2) / last + _NOTHING

    def log_mass(self, c: float) -> tuple[float, float]:
        """ln of the mass, enclosed."""
        if c not in self._masses:
            self._masses[c] = self.weights(c).log_mass(self.missing(c))
        return self._masses[c]

    def log_mass_above(self, c: float) -> float:
        """ln of the mass, from above."""
        return self.log_mass(c)[1]

    def view(self, c: float, reach: float) -> View:
        """What the integral needs at c, for all frequencies."""
        del reach
        if c not in self._centres:
            real = self.weights(c)
            self._centres[c] = float((real.weights * self.steps.loss).sum()) / real.total
        return self.seen(c, self._centres[c], self.log_mass(c))

    def atoms(self, c: float, view: View, times: int) -> None:
        """None that could be taken out."""

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on -ln |phi(w)| that hold for all w at or above each of these frequencies.

        Theorem: on a path x + i h(x), h = min(w mu r/(1 + mu^2), y), the integrand is at most
            e^((1 + mu^2) h^2/2 - w arg + E (1 - cos kh)) times its size on the real line, arg the angle of
            u + v e^(i mu h) and r = v/(u + v).
        Reference: Olver 1974, chapter 4
        Proof: docs/theory/accounting/jumps.md#how-fast-near-losses-fall
        Checked-by: tests/accounting/contour/test_split.py::test_how_fast_near_losses_fall
        """
        falls = self._falls.get(c)
        if falls is None:
            falls = NearFalls(self.steps, self.weights(c), self.missing(c))
            if self.is_kept:
                self._falls[c] = falls
        paths = [part / self.law.split.steepness for part in _PATHS]

        def fallen(frequency: float) -> float:
            return -self._least(("path", c, frequency), paths, lambda y: -falls.along(y)(frequency))

        return np.array([fallen(frequency) for frequency in frequencies.tolist()])


class JumpGrid(_Grid):
    """Points of the jumps."""

    is_jumpy = True

    def missing(self, c: float) -> float:
        """What the points miss, relative to the mass.

        Theorem: before the first point the integrand rises at least like e^((k/2 - x) x), beyond the last one it falls
            at least like that of the normal law around (c + 1) mu.
        Reference: comparison with a geometric series
        Proof: docs/theory/accounting/jumps.md#sums-over-points
        Checked-by: tests/accounting/contour/test_split.py::test_masses
        """
        return self.aliasing(c) + self.outside(c)

    def outside(self, c: float) -> float:
        steps, weights = self.steps, self.weights(c)
        rises = self.law.split.steepness / 2 - float(steps.x[0])
        falls = float(steps.x[-1]) - (c + 1) * self.law.mu - 1  # k E/(e^E - 1) is below 1 from there on
        if min(rises, falls) * steps.step < SAFE or steps.growth[0] > 1 or steps.growth[-1] < _ALL:
            raise NotApplicable("the grid ends too early")
        found = float(weights.weights[0]) / (rises * steps.step) + float(weights.weights[-1]) / (falls * steps.step)
        outside = enlarged(found / weights.total) * (1 + SAFE)
        if not outside < _FEW:
            raise NotApplicable("the grid ends too early")
        return outside

    def mass(self, c: float) -> tuple[float, float]:
        """The mass, enclosed."""
        if c not in self._masses:
            low, high = self.weights(c).mass(self.missing(c))
            if not low > 0:
                raise NotApplicable("the points do not tell the jumps from 0")
            self._masses[c] = low, high
        return self._masses[c]

    def rest(self, c: float, frequency: float) -> float:
        """|J(c + iw)| for all w at or above this frequency, relative to the mass, from above.

        Theorem: on Im x = y the integrand is at most 2 e^(y^2/2) min(E, 1) e^(-w arg) times its size without 1 - g on
            the real line, arg the angle of u + v e^(i mu y), which rises with x.
        Reference: Olver 1974, chapter 4
        Proof: docs/theory/accounting/jumps.md#how-fast-jumps-fall
        Checked-by: tests/accounting/contour/test_split.py::test_how_fast_jumps_fall
        """
        steps, k, mu, least = self.steps, self.law.split.steepness, self.law.mu, self.mass(c)[0]
        exponent = (c + 1) * steps.loss + np.minimum(k * (steps.x - self.law.split.at), 0.0)
        low, high = steps.slopes(c + 1, 0.0)

        def at_height(y: float) -> float:
            theta = mu * y
            tangent = steps.share[:-1] * (theta * (1 - theta * theta / 6) * (1 - SAFE))
            angle = 3 * tangent / (1 + 2 * np.sqrt(1 + tangent * tangent)) * (1 - SAFE)
            return 2 * steps.upper_sum(exponent, (low, high + k), y * y / 2 - frequency * angle)

        best = self._least(("rest", c, frequency), [part / k for part in _PATHS], at_height)
        return enlarged(best / least + 5 * self.outside(c))

    def view(self, c: float, centre: float) -> View:
        """What the integral needs at c, for all frequencies; the mass is not asked for."""
        return self.seen(c, centre, (0.0, 0.0))


@dataclass(frozen=True)
class UnlaidView(View):
    """A view whose points are laid for its transforms alone."""

    of: tuple[_Grid, float]

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """As those of the view itself."""
        (grid, c), centre = self.of, float(self.centre)
        return grid.aside_view(c, centre, self.log_mass).transforms(step, count)
