"""Laplace mechanisms on the contour, any number of them at once, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.contour.atoms import Atoms
from privately.accounting.contour.one_off import OneOff
from privately.accounting.contour.view import Complex, View, enlarged, raised, size_of
from privately.accounting.elementary import (
    ERROR,
    LARGEST_ANGLE,
    UNIT,
    Floats,
    cos_sin,
    exp,
    exp_one,
    expm1,
    expm1_one,
    log1p,
    log_between,
    turn_minus_one,
)
from privately.accounting.kept import Kept
from privately.accounting.losses import LaplaceLoss
from privately.accounting.roads import NotApplicable

_LARGEST_EPSILON, _BEYOND = 500.0, Fraction(501)
_MOST_CELLS = 1 << 24
_CELLS_AT_ONCE = 1 << 17
_SMALL = 1e-3
_FEW_LAWS = 4
_FEW_STEPS = 400
"""So many at most, one step off the atoms is worth a sum of its own."""
_FIRST_TURN = 2.2
_LEAST_SQUARE = 0.65  # below sin^2(2.2)


@dataclass(frozen=True)
class Laplaces:
    """Laws with these epsilons, each so many times."""

    epsilon: Floats
    times: tuple[int, ...]

    @classmethod
    def of(cls, laws: list[tuple[LaplaceLoss, int]]) -> Laplaces:
        epsilon = [float(min(law.epsilon, _BEYOND)) for law, _ in laws]
        if max(epsilon) > _LARGEST_EPSILON:
            raise NotApplicable("losses beyond the range of floats")
        return cls(np.array(epsilon), tuple([times for _, times in laws]))

    @Kept
    def counts(self) -> Floats:
        return np.array(self.times, dtype=np.float64)

    @property
    def rough_variance(self) -> float:
        """About the variance of all losses, if they are small."""
        return float(self.counts @ (self.epsilon * self.epsilon))

    def steep_from(self, times: int) -> float:  # noqa: ARG002 - nowhere, as losses are bounded
        return math.inf

    @property
    def size(self) -> int:
        """What a frequency costs, in points of other laws."""
        return 16 * self.epsilon.size

    @property
    def is_endless(self) -> bool:
        """It is exact, whatever the frequency."""
        return True

    def rough(self, highest: float) -> Laplaces:  # noqa: ARG002 - the same at all heights
        return self

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """K(c) and its first two derivatives, nearly."""
        if len(self.times) == 1:
            level, slope, bend = _cumulants(self.epsilon.item(), c)
            times = self.times[0]
            return times * level, times * slope, times * bend
        if len(self.times) <= _FEW_LAWS:
            each = [(times, *_cumulants(e, c)) for e, times in zip(self.epsilon.tolist(), self.times, strict=True)]
            level, slope, bend = (sum(row[0] * row[place] for row in each) for place in (1, 2, 3))
            return level, slope, bend
        e, s = self.epsilon, 2 * c + 1
        g = np.exp(-s * e)
        whole = (c + 1) + c * g
        first = ((c + 1) * e + 1 + g * (1 - c * e)) / whole
        second = (e * e * ((c + 1) + c * g) + 2 * e * (1 - g)) / whole
        near = s * e < _SMALL
        k = np.where(near, c * (c + 1) * e * e / 2, c * e + np.log(whole / s))
        mean = np.where(near, (c + 0.5) * e * e, first - 2 / s)
        variance = np.where(near, e * e, np.maximum(second - first * first + 4 / (s * s), 0))
        return float(self.counts @ k), float(self.counts @ mean), float(self.counts @ variance)

    def levels(self, heights: Floats) -> Floats:
        """K alone, at several places."""
        return np.array([self.cumulants(c)[0] for c in heights.tolist()])

    def grid(self, c: float, highest: float, reach: float, quiet: float) -> Laplaces:  # noqa: ARG002 - exact for all
        return self

    def log_mass(self, c: float) -> tuple[float, float]:
        """The sum of all ln M(c), enclosed.

        Theorem: M(z) = ((z+1) e^(z epsilon) + z e^(-(z+1) epsilon))/(2z+1).
        Reference: Sommer-Meiser-Mohammadi 2019
        Proof: docs/theory/accounting/contour.md#the-laplace-transform
        Checked-by: tests/accounting/contour/test_laplaces.py::test_the_transform
        """
        e, s = self.epsilon, 2 * c + 1
        if e.size == 1:
            return self._log_mass_of_one(c)
        fallen = -expm1(-s * e)  # 1 - g; M(c) = e^(c epsilon) (1 - c (1 - g)/(2c + 1))
        size = c * e
        k = size + log1p(-(c / s) * fallen)
        off = 4 * ERROR * size + 4 * UNIT * size
        slack = enlarged(float(self.counts @ off) + 4 * e.size * UNIT * float(self.counts @ size))
        total = float(self.counts @ k)
        return total - slack, total + slack

    def _log_mass_of_one(self, c: float) -> tuple[float, float]:
        """The same for one law, without arrays."""
        (times,), (e,) = self.times, self.epsilon.tolist()
        size, s = c * e, 2 * c + 1
        low, high = log_between((c / s) * expm1_one(-s * e), 1)
        total = times * (size + (low + high) / 2)
        slack = enlarged(times * size * (4 * ERROR + 16 * UNIT))
        return total - slack, total + slack

    def log_mass_above(self, c: float) -> float:
        """ln M(c), from above."""
        return self.log_mass(c)[1]

    def view(self, c: float, reach: float, centre: float | None = None) -> LaplacesView:
        """What the integral needs at c."""
        if reach * 2 * float(np.maximum.reduce(self.epsilon)) > LARGEST_ANGLE:
            raise NotApplicable("the sum turns too often")
        if c not in self._views:
            self._views[c] = self._view(c, centre)
        return self._views[c]

    @Kept
    def _views(self) -> dict[float, LaplacesView]:
        return {}

    def _shrunk(self, c: float) -> Floats:
        """g = e^(-(2c+1) epsilon); of a single law, without arrays."""
        if self.epsilon.size == 1:
            return np.array([exp_one(-min((2 * c + 1) * float(self.epsilon[0]), 700.0))])
        return exp(-np.minimum((2 * c + 1) * self.epsilon, 700.0))

    def _view(self, c: float, centre: float | None) -> LaplacesView:
        """Of a single law, with any centre that is wanted."""
        e, s = self.epsilon, 2 * c + 1
        g = self._shrunk(c)
        if centre is not None and len(self.times) == 1:
            return self._view_of_one(c, float(g[0]), centre / self.times[0])
        whole = (c + 1) + c * g
        centres = np.where(s * e < _SMALL, (c + 0.5) * e * e, ((c + 1) * e + 1 + g * (1 - c * e)) / whole - 2 / s)
        exact = sum((n * Fraction(m) for n, m in zip(self.times, centres.tolist(), strict=True)), Fraction(0))
        atoms = np.array([s / (2 * whole[0]), s * g[0] / (2 * whole[0])])
        losses = np.array([e[0] - centres[0], -e[0] - centres[0]])
        return LaplacesView(self.log_mass(c), exact, atoms, losses, 0.0, 0.0, self, c, centres, g)

    def _view_of_one(self, c: float, g: float, centre: float) -> LaplacesView:
        """The same for one law, without arrays."""
        (times,), (e,) = self.times, self.epsilon.tolist()
        first = (2 * c + 1) / (2 * ((c + 1) + c * g))
        atoms, losses = np.array([first, first * g]), np.array([e - centre, -e - centre])
        mass, exact = self._log_mass_of_one(c), times * Fraction(centre)
        return LaplacesView(mass, exact, atoms, losses, 0.0, 0.0, self, c, np.array([centre]), np.array([g]))

    def fallen(self, c: float, frequency: float) -> float:
        """As `decay`, at one frequency and of a single law, without arrays.

        Theorem: sin x >= x - x^3/6 + x^5/120 - x^7/5040 for x >= 0.
        Reference: Taylor's theorem with alternating signs
        Proof: docs/theory/accounting/contour.md#the-laplace-transform-falls
        Checked-by: tests/accounting/contour/test_laplaces.py::test_how_fast_a_single_law_falls
        """
        (times,), e, s = self.times, self.epsilon.item(), 2 * c + 1
        g = exp_one(-min(s * e, 700.0))
        first = s / (2 * ((c + 1) + c * g))
        mass = first * (1 + g)
        far = [first * (math.sqrt(1 + (2 * s + 1) / (4 * w * w + s * s)) + g) for w in (frequency, _FIRST_TURN / e)]
        x = min(frequency * e, _FIRST_TURN)
        sine = x * (1 - x * x / 6 * (1 - x * x / 20 * (1 - x * x / 42)))
        turned = min(sine * sine, _LEAST_SQUARE) * (1 - 2.0**-20)
        near = 1 - mass + mass * math.sqrt(max(1 - turned * 4 * g / (1 + g) ** 2, 0.0))
        return times * _fall(min(far[0], max(near, far[1]))) * (1 - 2.0**-20)

    def decay(self, c: float, frequencies: Floats) -> Floats:
        """Lower bounds on -ln |phi(w)| for all w at or above each of these frequencies.

        Theorem: |phi(w)| <= a1 |1 + 1/(2z+1)| + a2, a1 and a2 the masses of the atoms, which falls with w; and it is at
        most 1 - a + a sqrt(1 - 4 p q sin^2(w epsilon)), a their sum, p and q their shares of it, where the sine is at
        least the smaller one of both ends for w epsilon up to 2.2.
        Reference: Katznelson 2004, section I.4
        Proof: docs/theory/accounting/contour.md#the-laplace-transform-falls
        Checked-by: tests/accounting/contour/test_laplaces.py::test_how_fast_it_falls
        """
        g, most = self._shrunk(c), max(_CELLS_AT_ONCE // (2 * frequencies.size + 1), 1)
        blocks = [slice(at, at + most) for at in range(0, g.size, most)]
        total = np.zeros_like(frequencies)
        for some in blocks:
            total += self.counts[some] @ _slowest(self.epsilon[some, None], g[some, None], c, frequencies)
        return total * (1 - 2.0**-20)

    def atoms(self, c: float, view: View, times: int) -> Atoms | None:
        """What can be taken out of the integral, of a single law."""
        if len(self.times) > 1:
            return None
        epsilon, mass = float(self.epsilon[0]), float(view.weights.sum())
        errors = 8 * ERROR + 8 * UNIT * (2 * c + 1) * epsilon, 8 * UNIT * (epsilon + float(np.abs(view.losses).max()))
        steps = times * self.times[0]
        kind = OneOff if 1 < steps <= _FEW_STEPS else Atoms
        return kind.of(view, c, steps, mass / 2, errors)


def _slowest(e: Floats, g: Floats, c: float, frequencies: Floats) -> Floats:
    """How far each law has fallen at each frequency, and beyond it, at least."""
    s, many = 2 * c + 1, frequencies.size
    first = s / (2 * ((c + 1) + c * g))
    mass = first * (1 + g)
    sizes = np.empty((e.size, 2 * many + 1))
    squares = sizes[:, : many + 1]
    squares[:, :many] = frequencies
    squares[:, many:] = _FIRST_TURN / e
    squares *= squares
    squares *= 4
    squares += s * s
    np.divide(2 * s + 1, squares, out=squares)
    squares += 1
    np.sqrt(squares, out=squares)
    squares *= first
    squares += first * g
    _, sine = cos_sin(np.minimum(frequencies * e, _FIRST_TURN))
    turned = np.minimum(sine * sine, _LEAST_SQUARE) * (1 - 2.0**-20)
    near = sizes[:, many + 1 :]
    np.multiply(turned, -4 * g / (1 + g) ** 2, out=near)
    near += 1
    np.sqrt(np.maximum(near, 0, out=near), out=near)
    near *= mass
    near += 1 - mass
    found = _falls(sizes)
    best: Floats = np.maximum(found[:, :many], np.minimum(found[:, many + 1 :], found[:, many : many + 1]))
    return best


def _cumulants(e: float, c: float) -> tuple[float, float, float]:
    """K(c) of one law and its first two derivatives, nearly."""
    s = 2 * c + 1
    if s * e < _SMALL:
        return c * (c + 1) * e * e / 2, (c + 0.5) * e * e, e * e
    g = math.exp(-s * e)
    whole = (c + 1) + c * g
    first = ((c + 1) * e + 1 + g * (1 - c * e)) / whole
    second = (e * e * whole + 2 * e * (1 - g)) / whole
    return c * e + math.log(whole / s), first - 2 / s, max(second - first * first + 4 / (s * s), 0.0)


@dataclass(frozen=True)
class LaplacesView(View):
    """The laws seen from c; weights and losses are the atoms of the first."""

    laws: Laplaces
    c: float
    centres: Floats
    g: Floats

    @property
    def repeated(self) -> int:
        """How often a single law is in it."""
        return self.laws.times[0] if len(self.laws.times) == 1 else 0

    def turned(self, step: float, count: int) -> tuple[Complex, float, float]:
        """phi - 1 of a single law, once, how the bounds on the errors grow with w, and how phi - 1 itself does.

        Theorem: |1 + z| <= (c + 1)/(2c + 1) |2z + 1| and |z| <= |2z + 1|/2.
        Reference: Sommer-Meiser-Mohammadi 2019
        Proof: docs/theory/accounting/contour.md#the-laplace-transform
        Checked-by: tests/accounting/contour/test_laplaces.py::test_a_single_law
        """
        c, g, e, m = self.c, float(self.g[0]), float(self.laws.epsilon[0]), float(self.centres[0])
        s, whole = 2 * c + 1, (c + 1) + c * g
        fallen = -expm1_one(-s * e)
        w = np.arange(1.0, count + 1)
        w *= step
        up, down = turn_minus_one(np.multiply.outer([e - m, -e - m], w))
        z = np.empty(count, dtype=np.complex128)
        z.real, z.imag = c, w
        down *= z
        down *= g
        z += 1
        up *= z
        up += down
        up *= s
        up.imag -= w * fallen
        z *= 2
        z -= 1
        z *= whole
        up /= z
        off = s * (e + abs(m)) * ((c + 1) / s + g / 2) + fallen / s
        return up, off / whole * enlarged(16 * ERROR), e + abs(m)

    def transforms(self, step: float, count: int) -> tuple[Complex, Floats]:
        """phi - 1 of all the laws together at step, 2 step, ..., count step, and bounds on the errors."""
        if count * self.laws.epsilon.size > _MOST_CELLS:
            raise NotApplicable("the sum is too long")
        w = step * np.arange(1, count + 1, dtype=np.float64)
        block = max(_CELLS_AT_ONCE // self.laws.epsilon.size, 1)
        if count <= block:
            return raised(*self._each(w), self.laws.times)
        parts = [raised(*self._each(w[at : at + block]), self.laws.times) for at in range(0, count, block)]
        return np.concatenate([part for part, _ in parts]), np.concatenate([error for _, error in parts])

    def _each(self, w: Floats) -> tuple[Complex, Floats]:
        """phi - 1 of every law: ((2c+1)((z+1) a + z g b) - i w (1-g))/((2z+1)(c+1+cg)), a and b the turns less 1."""
        c, g = self.c, self.g[:, None]
        e, m = self.laws.epsilon[:, None], self.centres[:, None]
        s = 2 * c + 1
        z = np.asarray(c + 1j * w, dtype=np.complex128)
        up, down = turn_minus_one(np.array([e - m, -e - m]) * w)
        fallen = -expm1(-s * e)
        below = np.asarray((2 * z + 1) * ((c + 1) + c * g), dtype=np.complex128)
        above = s * ((z + 1) * up + (g * z) * down) - 1j * w * fallen
        found = np.asarray(above / below, dtype=np.complex128)
        sizes: Floats = size_of(1 + z) + g * size_of(z)
        error: Floats = (s * w * (e + np.abs(m)) * sizes + w * fallen) / size_of(below)
        return found, error * enlarged(16 * ERROR)


def _falls(size: Floats) -> Floats:
    """-ln of sizes at most 1, from below."""
    return np.maximum(-log1p(np.minimum(size * (1 + 8 * ERROR), 1.0) - 1) * (1 - 2.0**-20), 0)


def _fall(size: float) -> float:
    """The same for one."""
    return max(-log_between(min(size * (1 + 8 * ERROR), 1.0))[1] * (1 - 2.0**-20), 0.0)
