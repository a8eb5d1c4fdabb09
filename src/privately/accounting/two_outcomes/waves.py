"""One step that zCDP allows before any profile: upper values at all places of a lattice at once.

Names are those of `supports` and `adaptive.curves`: V(y) at places y = e^(j step), w(r) = r V(y/r), f with its mean,
and a + b r + C f(r) >= w. Differences of places are d: from place i a loss of d steps, r = e^(d step), leads to i - d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1
from privately.accounting.two_outcomes.before_normal import mean_of
from privately.accounting.two_outcomes.hulls import convex
from privately.accounting.two_outcomes.smooth import Fit, Smooth, Touched, Whole, fit
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import Touching

_LARGEST_POWER, _LARGEST = 600.0, 1e280
_BETWEEN, _AT_ONCE = 6, 128
_STRIDES, _WIDE, _MOST_ROWS = (4, 16), 6.0, 1000
_MIDDLE = 3
"""Beyond this part of all places the lines are far above."""
_DOUBT, _TAIL_DOUBT, _SLIP = 1e-9, 1e-8, 1e-12
_LEAST_EXCESS, _LEAST_LOG = 1e-4, -700.0
_POOR, _SHIFTS, _PARTS, _LEAST = 0.004, (3, 8, -3), 4, 1e-20
"""Where so much more than expected is proved, other lines are tried too; not where values are so small."""


@dataclass(frozen=True)
class Lattice:
    """Places from 0 on, and how far on either side of each losses are looked at; beyond that no line is exceeded."""

    step: float
    places: int

    @property
    def far(self) -> int:
        return _rounded(2 * self.places)

    @property
    def doubt(self) -> float:
        """Relative to every ratio r."""
        return 8 * ERROR + 64 * UNIT * (1 + self.places * self.step)


def _rounded(places: int) -> int:
    """Up to what all strides divide."""
    return -(-places // _STRIDES[-1]) * _STRIDES[-1]


@dataclass(frozen=True)
class _Part:
    """Differences of places: all of some, or few of those that are far off."""

    first: int
    stride: int
    size: int

    @property
    def last(self) -> int:
        return self.first + (self.size - 1) * self.stride

    def losses(self, step: float) -> Floats:
        return np.arange(self.first, self.last + 1.0, self.stride) * step


@dataclass(frozen=True)
class Wave:
    """Upper values from place 0 on, and a smooth profile next to them; the sum of all rho."""

    upper: Floats
    smooth: Smooth
    total: float


class Waves:
    """All lines that are tried for one statement on one lattice."""

    def __init__(self, touching: Touching, lattice: Lattice, most_rows: int = _MOST_ROWS) -> None:
        self.lattice, self.rho, self.most_rows = lattice, touching.rho, most_rows
        high, low, order, share = touching.at(np.arange(0.0, touching.last, 1 / _BETWEEN))
        kept = high < lattice.far * lattice.step
        high, low, order, share = (one[kept] for one in (high, low, order, share))
        mean = share * mean_of(order * (order - 1), touching.rho) + (1 - share) * touching.rho
        self.touched = Touched(high, low, order, share, mean * (1 + 8 * UNIT), lattice.step)
        self.orders, self.shares = order, share
        wide = min(_rounded(math.ceil(_WIDE * math.sqrt(2 * touching.rho) / lattice.step)), lattice.far)
        middle = max(wide, _rounded(lattice.places // _MIDDLE))
        self.parts = [_Part(-wide, 1, 2 * wide + 1)]
        for stride, first, last in zip(_STRIDES, (wide, middle), (middle, lattice.far), strict=True):
            more = (last - first) // stride + 1
            self.parts += [_Part(first, stride, more), _Part(-last, stride, more)]
        self._slots = np.full(self.orders.size, -1)
        self._rows: list[list[Floats]] = [[] for _ in self.parts]
        self._known = 0

    def rows(self, kind: Whole) -> list[Floats]:
        """f of these lines, from below, also between the differences of each part."""
        if self._known > self.most_rows:
            self._slots[:], self._known, self._rows = -1, 0, [[] for _ in self.parts]
        missing = np.unique(kind[self._slots[kind] < 0])
        if missing.size:
            self._slots[missing] = np.arange(self._known, self._known + missing.size)
            self._known += missing.size
            for part, known in zip(self.parts, self._rows, strict=True):
                known[:] = [np.concatenate([*known, self._below(part, missing[:, None])])]
        return [known[0][self._slots[kind]] for known in self._rows]

    def _below(self, part: _Part, kind: Whole) -> Floats:
        """f at all differences, less by what it may be off, and by what chords beside it, or tangents, are below it."""
        t, share, step = self.orders[kind], self.shares[kind], self.lattice.step
        losses = part.losses(step)
        f, slope, size = power(t, share, losses)
        off = size * (self.lattice.doubt * (1 + t))
        found: Floats = f - off
        if part.stride == 1:
            bend = share * exp(np.minimum(t * losses, _LARGEST_POWER)) + (1 - share)  # r^2 f''
            inner = np.maximum(bend[:, :-1], bend[:, 1:] * math.exp(-2 * step))
            inner *= math.expm1(step) ** 2 / 8 * (1 + _DOUBT)
            found[:, :-1] = np.minimum(found[:, :-1], f[:, :-1] - off[:, :-1] - inner)
            found[:, 1:] = np.minimum(found[:, 1:], f[:, 1:] - off[:, 1:] - inner)
            return found
        apart = np.diff(exp(losses)) * (1 - _DOUBT)
        if part.first > 0:
            with np.errstate(over="ignore"):
                found[:, 1:] = f[:, :-1] + slope[:, :-1] * apart - off[:, 1:]
        else:
            found[:, :-1] = f[:, 1:] - slope[:, 1:] * apart - off[:, :-1]
        return np.minimum(found, _LARGEST)


def power(t: Floats, share: Floats, loss: Floats) -> tuple[Floats, Floats, Floats]:
    """f, its slope in r and the sum of the sizes of its terms; where powers are out of range f and slope are less."""
    loss = np.minimum(loss, _LARGEST_POWER / t)
    ratio, growth, fall = exp(loss), expm1(loss), -expm1(-loss)
    near = np.where(t == 1, loss, expm1((t - 1) * loss) / np.where(t == 1, 1.0, t - 1))
    across, rest = expm1(t * loss) / t, 1 - share
    return (
        share * (ratio * near - across) + rest * (growth - loss),
        share * near + rest * fall,
        share * (ratio * np.abs(near) + np.abs(across)) + rest * (np.abs(growth) + np.abs(loss)),
    )


def tails(rho: float, epsilon: Floats) -> Floats:
    """What a statement of so much reveals at most, by one order each."""
    excess = np.maximum((epsilon - rho) / (2 * rho), _LEAST_EXCESS)
    logs = excess * (excess + 1) * rho - excess * epsilon - excess * np.log1p(1 / excess) - np.log1p(excess)
    found: Floats = np.exp(np.clip(logs, _LEAST_LOG, 0.0)) * (1 + _TAIL_DOUBT)
    return found


def raised(wave: Wave, waves: Waves) -> Wave:
    """Upper values with one more step before it.

    Theorem: every pair that is allowed has E_Q[w(r)] <= a + b + C m, if a + b r + C f(r) >= w(r) for all r > 0 and m
        bounds the mean of f. Between places that are close f is above its chord less what it bends, and far off above
        its tangents, and V is below its chords.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind; duality of linear programs
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_waves.py::test_one_step_of_a_strategy_is_not_above,
        tests/accounting/two_outcomes/test_waves.py::test_rows_are_below
    """
    proved, smooth = proofs(wave, waves)
    epsilon = np.arange(waves.lattice.places + 0.0) * waves.lattice.step
    total = math.nextafter(wave.total + waves.rho, math.inf)
    found = np.minimum.accumulate(np.minimum(proved.value, tails(total, epsilon)))
    upper = convex(found, waves.lattice.step)
    return Wave(upper, smooth.fitted(upper), total)


@dataclass(frozen=True)
class Proofs:
    """Lines at some places: a + b + C m, or 1 if nothing is proved, a, b and C of each, and which f it is."""

    value: Floats
    highest: Floats
    tilt: Floats
    factor: Floats
    kind: Whole

    @classmethod
    def none(cls, kind: Whole) -> Proofs:
        return cls(np.ones(kind.size), np.ones(kind.size), np.zeros(kind.size), np.zeros(kind.size), kind.copy())

    def put(self, places: Whole | slice, others: Proofs) -> None:
        """Those of others in place of what proves less."""
        is_less = others.value < self.value[places]
        for mine, theirs in zip(self._parts, others._parts, strict=True):
            mine[places] = np.where(is_less, theirs, mine[places])

    @property
    def _parts(self) -> tuple[NDArray[Any], ...]:
        return self.value, self.highest, self.tilt, self.factor, self.kind

    def elsewhere(self, waves: Waves, rho: float, shift: float) -> Floats:
        """What they prove for another rho, where epsilon is more by the shift, which is small.

        Theorem: a + b r + C f(r) >= w(r) says nothing of rho. With r e^-s in place of r, and e^s times all of it, it is
            a line for y e^s, and the mean of f_t(r e^-s) is at most m e^(-ts) + f_t(e^-s).
        Reference: as for `raised`
        Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
        Checked-by: tests/accounting/two_outcomes/test_waves.py::test_lines_elsewhere
        """
        t, share = waves.orders, waves.shares
        grown = share * mean_of(t * (t - 1), rho) * np.exp(-t * shift) + (1 - share) * rho
        f, _, size = power(t, share, np.full(t.size, -shift))
        means = (grown * (1 + _SLIP * (1 + t)) + np.maximum(f, 0.0) + _SLIP * size) * math.exp(shift)
        with np.errstate(over="ignore", invalid="ignore"):  # where there is no line, or a mean is out of range
            more = np.where(self.factor > 0, self.factor * means[self.kind], 0.0)
            highest = math.exp(shift) * self.highest
            found = highest + self.tilt + more + _SLIP * (np.abs(highest) + np.abs(self.tilt) + more)
            return np.where((self.value < 1) & (found < 1), found, 1.0)


def proofs(wave: Wave, waves: Waves, stride: int = 1, others: int = 0) -> tuple[Proofs, Smooth]:
    """The lines of one more step, at all places or some, and smooth values next to what they prove."""
    lattice = waves.lattice
    size, far, step = lattice.places, lattice.far, lattice.step
    nothing = np.zeros(size)
    around = Curve(step, 0, NEVER, wave.upper, nothing, nothing).upper_around(far, far)
    around[far + size :] = np.minimum(around[far + size :], tails(wave.total, np.arange(size, size + far + 0.0) * step))
    around *= 1 + 2 * lattice.doubt
    kind, factor, smooth = wave.smooth.best(waves.touched, size)
    places, expected = np.arange(0, size, stride), np.exp(smooth.logs[far : far + size : stride]) * (1 + _POOR)
    kind, factor = kind[::stride], factor[::stride]
    found = Proofs.none(kind)
    for start in range(0, places.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found.put(some, _proved(around, waves, places[some], kind[some], factor[some]))
    for other in (*(kind + shift for shift in _SHIFTS), *(kind * part // _PARTS for part in range(others * _PARTS))):
        poor = np.flatnonzero((found.value > expected) & (expected > _LEAST))
        for few in np.array_split(poor, -(-poor.size // _AT_ONCE) or 1):
            tried = np.clip(other[few], 0, waves.orders.size - 1)
            if few.size:
                found.put(few, _proved(around, waves, places[few], tried, factor[few]))
    return found, smooth


def _proved(around: Floats, waves: Waves, places: Whole, kind: Whole, factor: Floats) -> Proofs:
    """What the best lines of these kinds prove."""
    rows, wide = waves.rows(kind), waves.parts[0].last
    near = around[(places + waves.lattice.far)[:, None] - np.arange(-wide, wide + 1)]
    return _values(around, waves, places, rows, fit(waves.touched, kind, factor, near, rows[0]))


def _values(around: Floats, waves: Waves, places: Whole, rows: list[Floats], lines: Fit) -> Proofs:
    """What these lines prove, by all differences."""
    lattice, kind, factor, tilt = waves.lattice, lines.kind, lines.factor, lines.tilt
    far, step = lattice.far, lattice.step
    less = tilt - 2 * lattice.doubt * np.abs(tilt)
    highest = np.full(kind.size, -math.inf)
    for part, f in zip(waves.parts, rows, strict=True):
        gaps = around[(places + far)[:, None] - np.arange(part.first, part.last + 1, part.stride)]
        gaps -= less[:, None]
        gaps *= exp(part.losses(step))
        gaps -= factor[:, None] * f
        highest = np.maximum(highest, gaps.max(axis=1))
    t, share = waves.orders[kind], waves.shares[kind]
    least, steep, size = power(t, share, np.full(kind.size, -far * step))
    last = around[places + 2 * far]
    beyond = np.maximum(last - less, 0.0) * (math.exp(-far * step) * (1 + _DOUBT))
    beyond -= factor * (least - size * (_DOUBT * (1 + t)))
    is_rising = last - tilt - 4 * UNIT * (1 + np.abs(tilt)) - factor * steep * (1 - _DOUBT) >= 0
    highest = np.maximum(highest, np.where(is_rising, -math.inf, beyond))
    slope = power(t, share, np.full(kind.size, far * step))[1]
    is_falling = 1 - tilt + 4 * UNIT * (1 + np.abs(tilt)) - factor * slope * (1 - _DOUBT) <= 0
    more = factor * waves.touched.means[kind]
    value = highest + tilt + more + 8 * UNIT * (np.abs(highest) + np.abs(tilt) + more)
    known = is_falling & (factor >= 0) & np.isfinite(value)
    return Proofs(np.where(known, value, 1.0), highest, tilt, factor, kind)
