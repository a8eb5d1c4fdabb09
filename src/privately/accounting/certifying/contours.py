"""Witnesses for the checker's own contour sum: where to lay it, how far to go, which points to take.

Everything here is a choice in floating point. A poor one makes the checker's bound large, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.accounting.certifying.laws import Law
from privately.accounting.certifying.pairs import Pair
from privately.accounting.losses import (
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.roads import NotApplicable

Floats = NDArray[np.float64]
Parts = Sequence[tuple[Loss | Pair, int]]

MOST_WORK = 4_000_000
CELLS = 64
"""So many cells on either side of 0 the checker takes Laplace noise on a sample for."""
MOST_COUNT = 100_000
_FINE = 32
_NEGLIGIBLE = 60.0
_WIDTH = 10.0
_ABOVE = (1.05, 1.15, 1.4, 2.0, 3.5)
_BELOW = (0.0, 0.4, 0.7)
_ANGLES = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5)
_LARGEST = 600.0
_DOUBLE, _HUGE = 2.0, 1e7
_LOWEST, _HIGHEST = -7.0, 8.0
"""Contours and orders are looked for between e to these powers."""


@dataclass(frozen=True)
class Sketch:
    """A law as points: ln M(c) = ln of the sum of e^(base + c loss)."""

    loss: Floats
    base: Floats

    def cumulants(self, c: float) -> tuple[float, float, float]:
        exponents = self.base + c * self.loss
        top = float(exponents.max())
        kept = exponents > top - _NEGLIGIBLE
        weights, loss = np.exp(exponents[kept] - top), self.loss[kept]
        total = float(weights.sum())
        mean = float(weights @ loss) / total
        return top + math.log(total), mean, float(weights @ (loss - mean) ** 2) / total


def sketch(law: Loss | Pair, highest: float) -> Sketch:
    """For contours up to this height."""
    match law:
        case Pair():
            return Sketch(law.losses, law.log_p)
        case SampledGaussianLoss():
            return _sampled_sketch(law, highest)
        case LaplaceLoss(epsilon=epsilon):
            nodes, weights = np.polynomial.legendre.leggauss(64)
            inside = float(epsilon) * nodes
            density = np.log(weights * float(epsilon) / 4) + (inside - float(epsilon)) / 2
            ends = [float(epsilon), -float(epsilon)]
            return Sketch(
                np.concatenate([ends, inside]),
                np.concatenate([[math.log(0.5), math.log(0.5) - float(epsilon)], density]),
            )
        case SampledLaplaceLoss():
            return laplace_sketch(law, CELLS)
        case FiniteLoss():
            atoms = law.atoms()
            return Sketch(
                np.array([float(loss.upper) for _, loss in atoms]),
                np.array([float(weight.log().upper) if weight.lower > 0 else -math.inf for weight, _ in atoms]),
            )
    raise NotApplicable(f"no checkable transform of a {type(law).__name__}")


def laplace_sketch(law: SampledLaplaceLoss, cells: int) -> Sketch:
    """Laplace noise on a sample as the checker takes it for so many cells on either side of 0."""
    named = Law("sampled laplace", (law.epsilon, law.rate))
    named.require_within_floats()
    losses: Floats = np.arange(-cells, cells + 1.0) * (named.anchor("remove") / cells)
    inner, left, _ = named.masses(losses, law.direction)
    masses = np.append(inner, left[-1])
    kept = masses > 0
    return Sketch(losses[kept], np.log(masses[kept]))


def _sampled_sketch(law: SampledGaussianLoss, highest: float) -> Sketch:
    mu, removes = math.sqrt(law.mu_squared), law.direction == "remove"
    reach = (highest + 1) * mu + _WIDTH
    fine = _FINE // 4 if removes else _FINE  # what is integrated gets narrower only where the row is added
    x = np.arange(-math.ceil((_WIDTH if removes else reach) * fine), math.ceil(reach * fine)) / fine
    mixed = _log_mix(law, x)
    base = -x * x / 2 - math.log(fine * math.sqrt(2 * math.pi))
    return Sketch(mixed, base + mixed) if removes else Sketch(-mixed, base)


def _log_mix(law: SampledGaussianLoss, x: Floats) -> Floats:
    t = math.sqrt(law.mu_squared) * x - float(law.mu_squared) / 2
    near: Floats = np.log1p(float(law.rate) * np.expm1(np.minimum(t, _LARGEST)))
    return near + np.maximum(t - _LARGEST, 0)


class Outline:
    """K(c) of a composition."""

    def __init__(self, parts: Parts) -> None:
        self.normal = float(sum(times * law.mu_squared for law, times in parts if isinstance(law, GaussianLoss)))
        self.parts = [(law, times) for law, times in parts if not isinstance(law, GaussianLoss)]
        self._highest = 0.0
        self._sketches: list[Sketch] = []

    def cumulants(self, c: float) -> tuple[float, float, float]:
        if c > self._highest:
            self._highest = max(4 * c, 16.0)
            self._sketches = [sketch(law, self._highest) for law, _ in self.parts]
        k, mean, variance = (c * c + c) * self.normal / 2, (c + 0.5) * self.normal, self.normal
        for (_, times), one in zip(self.parts, self._sketches, strict=True):
            more = one.cumulants(c)
            k, mean, variance = k + times * more[0], mean + times * more[1], variance + times * more[2]
        return k, mean, variance

    def saddle(self, epsilon: float) -> float:
        """Where K(c) - c epsilon - ln(c (c+1)) is least."""
        return _root(lambda c: self.cumulants(c)[1] - 1 / c - 1 / (c + 1) - epsilon)

    def guess(self, log_delta: float) -> float:
        """The epsilon that belongs to this delta, about."""

        def log_profile(c: float) -> float:
            k, mean, variance = self.cumulants(c)
            epsilon = mean - 1 / c - 1 / (c + 1)
            spread = 2 * math.pi * (variance + 1 / c**2 + 1 / (1 + c) ** 2)
            return k - c * epsilon - math.log(c * (c + 1)) - math.log(spread) / 2

        c = _root(lambda c: log_delta - log_profile(c))
        return max(self.cumulants(c)[1] - 1 / c - 1 / (c + 1), 0.0)

    def best_order(self, epsilon_at: Callable[[float], float]) -> float:
        """Where a function of c with one minimum is least."""
        x, stride = 1.0, 0.5
        here = epsilon_at(math.exp(x))
        if epsilon_at(math.exp(x + stride)) > here:
            stride = -stride
        while _LOWEST < x < _HIGHEST and (there := epsilon_at(math.exp(x + stride))) < here:
            x, here = x + stride, there
        low, high = x - abs(stride), x + abs(stride)
        for _ in range(24):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, b) if epsilon_at(math.exp(a)) < epsilon_at(math.exp(b)) else (a, high)
        return math.exp(low)


def _root(excess: Callable[[float], float]) -> float:
    """Of a rising function, on a logarithmic scale."""
    low, high = math.log(2.0**-20), 0.0
    while excess(math.exp(high)) < 0:
        low, high = high, high + 1
        if high > _HIGHEST:
            raise NotApplicable("the best contour is out of range")
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(math.exp(middle)) > 0 else (middle, high)
    return math.exp(high)


def contour_witness(parts: Parts, epsilon: float, log_delta: float, tolerance: float, blur: Fraction) -> dict[str, Any]:
    """For a bound within `tolerance` of delta, relative; `blur` is among the parts, as a normal loss."""
    outline = Outline(parts)
    c = _dyadic(outline.saddle(epsilon))
    k = outline.cumulants(c)[0]
    step = _step(outline, c, epsilon, log_delta + math.log(tolerance))
    wanted = k - c * epsilon - log_delta - math.log(tolerance)
    laws = [(_Decay.of(law, c), times) for law, times in outline.parts]
    count = _count(laws, outline.normal, step, wanted)
    grids = []
    for (law, times), (decay, _) in zip(outline.parts, laws, strict=True):
        if isinstance(law, SampledGaussianLoss) and isinstance(decay, _SampledDecay):
            quiet = max(wanted, 0.0) + math.log(times) + math.log(count) + 12
            grids.append((law, decay.grid(step * count, quiet)))
    work = sum((grid["last"] - grid["first"]) * (count + 1000) for _, grid in grids) + 40 * count * len(laws)
    work += sum(law.losses.size * (count + 30) for law, _ in outline.parts if isinstance(law, Pair))
    if work > MOST_WORK or count > MOST_COUNT:
        raise NotApplicable("the sum is too long to be checked")
    grids.sort(key=lambda pair: (pair[0].mu_squared, pair[0].rate))
    return {
        "method": "contour",
        "c": str(Fraction(c)),
        "step": str(Fraction(step)),
        "count": count,
        "blur": str(blur),
        "grids": [grid for _, grid in grids],
    }


class Line:
    """The checker's sum along its line, for every epsilon."""

    def __init__(self, parts: Parts, witness: Mapping[str, Any]) -> None:
        self.c, self.step, count = float(Fraction(witness["c"])), float(Fraction(witness["step"])), witness["count"]
        outline = Outline(parts)
        self.w = self.step * np.arange(1, count + 1.0)
        self.log_mass = (self.c * self.c + self.c) * outline.normal / 2
        values = -outline.normal * self.w * self.w / 2 + 1j * self.w * outline.normal * (self.c + 0.5)
        falls = -outline.normal * self.w[-1] ** 2 / 2
        grids = {id(law): grid for law, grid in zip(_in_order(parts), witness["grids"], strict=True)}
        for law, times in outline.parts:
            log_mass, turns = self._turned(law, grids.get(id(law)))
            self.log_mass += times * log_mass
            values = values + times * (np.log(np.maximum(np.abs(turns), 1e-300)) + 1j * np.angle(turns))
            falls -= times * _Decay.of(law, self.c).fall(float(self.w[-1]))
        z = self.c + 1j * self.w
        self.terms = np.exp(values) / (z * (z + 1))
        self.beyond = _DOUBLE * math.exp(min(falls, 0.0)) / (math.pi * self.w[-1])

    def _turned(self, law: Loss | Pair, grid: Mapping[str, Any] | None) -> tuple[float, NDArray[np.complex128]]:
        """ln M(c), and M(z)/M(c) along the line."""
        if isinstance(law, LaplaceLoss):
            epsilon, z = float(law.epsilon), self.c + 1j * self.w
            g = math.exp(-(2 * self.c + 1) * epsilon)
            mass = (self.c + 1 + self.c * g) / (2 * self.c + 1)
            turn = np.exp(1j * self.w * epsilon)
            along: NDArray[np.complex128] = ((z + 1) * turn + z * g / turn) / (2 * z + 1) / mass
            return self.c * epsilon + math.log(mass), along
        points = sketch(law, 2 * self.c)
        if isinstance(law, SampledGaussianLoss) and grid is not None:
            x = float(Fraction(grid["spacing"])) * np.arange(grid["first"], grid["last"] + 1.0)
            mixed = _log_mix(law, x)
            base = math.log(float(Fraction(grid["spacing"])) / math.sqrt(2 * math.pi)) - x * x / 2
            points = Sketch(mixed, base + mixed) if law.direction == "remove" else Sketch(-mixed, base)
        exponents = points.base + self.c * points.loss
        top = float(exponents.max())
        kept = exponents > top - _NEGLIGIBLE
        weights, losses = np.exp(exponents[kept] - top), points.loss[kept]
        total = float(weights.sum())
        turns: NDArray[np.complex128] = np.array([np.exp(1j * w * losses) @ weights / total for w in self.w])
        return top + math.log(total), turns

    def log_delta(self, epsilon: float) -> float:
        """Of the bound."""
        along = float((self.terms * np.exp(-1j * self.w * epsilon)).real.sum())
        found = self.step / (2 * math.pi) * (1 / (self.c * (self.c + 1)) + 2 * along) + self.beyond
        return self.log_mass - self.c * epsilon + math.log(max(found, 1e-300))

    def epsilon(self, log_delta: float, near: float) -> float:
        """The least that this bound shows."""
        low, high = 0.0, near + 1e-9
        while self.log_delta(high) > log_delta:
            low, high = high, 2 * high + 1e-9
            if high > _HUGE:
                raise NotApplicable("the sum shows no epsilon")
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.log_delta(middle) > log_delta else (low, middle)
        return high


def _in_order(parts: Parts) -> list[SampledGaussianLoss]:
    """Those that have a grid, as the checker lists them."""
    found = [law for law, _ in parts if isinstance(law, SampledGaussianLoss)]
    return sorted(found, key=lambda law: (law.mu_squared, law.rate))


def order_witness(parts: Parts, c: float) -> list[dict[str, Any]]:
    """The points for M(c) alone."""
    grids = []
    for law, times in parts:
        if isinstance(law, SampledGaussianLoss):
            grids.append((law, {**_SampledDecay(law, c).grid(0.0, math.log(times) + 45), "height": "0"}))
    grids.sort(key=lambda pair: (pair[0].mu_squared, pair[0].rate))
    return [grid for _, grid in grids]


def _step(outline: Outline, c: float, epsilon: float, level: float) -> float:
    """The widest step with which the aliases stay below e^level."""

    def period(other: float) -> float:
        k = outline.cumulants(other)[0] if other else 0.0
        return (k - other * epsilon - level) / abs(other - c)

    longest = max(min(period(c * factor) for factor in _ABOVE), min(period(c * factor) for factor in _BELOW), 2.0**-20)
    return _dyadic(2 * math.pi / longest)


def _count(laws: Sequence[tuple[_Decay, int]], normal: float, step: float, wanted: float) -> int:
    """The fewest steps after which what is left out is small enough."""

    def enough(count: int) -> bool:
        w = step * count
        falls = normal * w * w / 2 + math.log(w) + 1
        return falls + sum(times * decay.fall(w) for decay, times in laws) > wanted

    high = 2
    while not enough(high):
        high *= 2
        if high > 2 * MOST_COUNT:
            raise NotApplicable("the integrand falls too slowly")
    low = high // 2
    while high - low > max(1, high // 64):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class _Decay:
    """How a law falls along Re z = c; nothing is known of most."""

    def __init__(self, c: float) -> None:
        self.c = c

    @classmethod
    def of(cls, law: Loss | Pair, c: float) -> _Decay:
        if isinstance(law, SampledGaussianLoss):
            return _SampledDecay(law, c)
        return _LaplaceDecay(float(law.epsilon), c) if isinstance(law, LaplaceLoss) else cls(c)

    def fall(self, w: float) -> float:  # noqa: ARG002 - the same everywhere
        return 0.0


class _LaplaceDecay(_Decay):
    def __init__(self, epsilon: float, c: float) -> None:
        super().__init__(c)
        self.g = math.exp(-(2 * c + 1) * epsilon)

    def fall(self, w: float) -> float:
        c = self.c
        falling = math.sqrt(((c + 1) ** 2 + w * w) / ((2 * c + 1) ** 2 + 4 * w * w))
        return max(-math.log((falling + self.g / 2) * (2 * c + 1) / (c + 1 + c * self.g)), 0.0)


class _SampledDecay(_Decay):
    """Moved to Im x = y, the integrand is e^(y^2/2) |mix|^s e^(-w arg) in size; the best y is looked for."""

    def __init__(self, law: SampledGaussianLoss, c: float) -> None:
        super().__init__(c)
        self.mu, self.removes = math.sqrt(law.mu_squared), law.direction == "remove"
        self.power = c + 1 if self.removes else -c
        self.law = law
        left, right = self._ends(60.0)
        x = np.linspace(left, right, 400)
        mixed = _log_mix(law, x)
        exponents = self.power * mixed - x * x / 2
        weights = np.exp(exponents - exponents.max())
        self.weights = weights / weights.sum()
        lift = np.minimum(self.mu * x - self.mu**2 / 2 + math.log(law.rate) - mixed, 0.0)
        self.shares = np.exp(lift)

    def _ends(self, quiet: float) -> tuple[float, float]:
        """Where the weights have fallen by e^-quiet, and go on falling by themselves."""
        far = math.sqrt(2 * quiet) + 2
        right = far + (self.power * self.mu if self.removes else 0.0)
        if self.removes:
            return -far, right
        x = np.linspace(-far - self.c * self.mu, 0.0, 4000)
        mixed = _log_mix(self.law, x)
        exponents = self.power * mixed - x * x / 2
        share = np.exp(np.minimum(self.mu * x - self.mu**2 / 2 + math.log(self.law.rate) - mixed, 0.0))
        beyond = (exponents < exponents.max() - quiet - 4) & (-x > self.c * self.mu * share + 0.5)
        inside = np.flatnonzero(~beyond)
        return float(x[max(inside[0] - 1, 0)]), right

    def best(self, w: float) -> tuple[float, float]:
        """How far it has fallen at w, and the y that shows it."""
        y = 1.3 / self.mu * np.exp2(-np.arange(0, 24, 0.5))
        falls = self._falls(w, y)
        place = int(falls.argmax())
        y = y[place] * np.linspace(0.75, 1.35, 13)
        falls = self._falls(w, y[y * self.mu < 1.4])
        place = int(falls.argmax())
        return float(falls[place]), float(y[place])

    def _falls(self, w: float, y: Floats) -> Floats:
        theta = self.mu * y[:, None]
        versed = 2 * np.sin(theta / 2) ** 2
        s = self.shares
        angle = np.arctan2(s * np.sin(theta), 1 - s * versed)
        exponent = self.power / 2 * np.log1p(-2 * s * (1 - s) * versed) - w * angle
        gain = -np.expm1(np.minimum(exponent, 50.0)) @ self.weights
        found: Floats = -np.log1p(-np.minimum(gain, 1 - 1e-15)) - y * y / 2
        return found

    def fall(self, w: float) -> float:
        return max(self.best(w)[0], 0.0)

    def grid(self, reach: float, quiet: float) -> dict[str, Any]:
        _, height = self.best(reach) if reach else (0.0, 0.0)
        height = _dyadic(height) if height else 0.0
        if height and self._margin(height) <= 0:
            raise NotApplicable("the noise is so little that no strip is left beside the line")
        spacing, strip = max(self._spacings(reach, quiet))
        while height and self._margin_cost(spacing, height) > -quiet:
            spacing *= 0.85
        spacing = _dyadic(spacing, 10)
        left, right = self._ends(quiet + 8)
        return {
            "spacing": str(Fraction(spacing)),
            "first": math.floor(left / spacing),
            "last": math.ceil(right / spacing),
            "strip": str(Fraction(_dyadic(strip))),
            "height": str(Fraction(height)),
        }

    def _slant(self, y: float) -> float:
        return 0.0 if self.removes else -self.c * math.log(math.cos(self.mu * y / 2))

    def _spacings(self, reach: float, quiet: float) -> Iterator[tuple[float, float]]:
        for angle in _ANGLES:
            a = min(angle / self.mu, math.sqrt(2 * quiet))
            yield 2 * math.pi * a / (quiet + a * a / 2 + reach * self.mu * a + self._slant(a)), a

    def _margin(self, height: float) -> float:
        return 1.5 / self.mu - height - 2 / 1024

    def _margin_cost(self, spacing: float, height: float) -> float:
        a = min(self._margin(height), 6 / spacing)
        return a * a / 2 + self._slant(a + height) - 2 * math.pi * a / spacing


def _dyadic(value: float, bits: int = 24) -> float:
    """Rounded down to few bits."""
    fraction, exponent = math.frexp(value)
    return math.ldexp(math.floor(fraction * 2**bits), exponent - bits)
