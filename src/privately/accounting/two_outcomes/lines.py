"""One step that a statement allows, chosen in the light of all before it: upper values of the profile.

Names are those of `adaptive.curves` (V(y) at places y) and of `supports` (f of an order t, r = dP/dQ).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1
from privately.accounting.two_outcomes.allowed import Statement
from privately.accounting.two_outcomes.choices import Table
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.supports import Limit

_LARGEST_POWER = 600.0
_TAIL_DOUBT, _CHORD_DOUBT = 1e-8, 1e-9
_MOST_TANGENTS, _CLOSE = 24, 1e-5
_BETWEEN, _STRIDE = 4, 8
_HALF = 0.5


@dataclass(frozen=True)
class Line:
    """f of an order t at all differences of places, from below also between them; its slope, and its mean from above.

    About where it touches: so many places up, and down.
    """

    t: float
    up: int
    down: int
    f: Floats
    slope: Floats
    mean: float
    share: float = 1.0
    """How much the order counts; the rest is the same order of the other direction."""


@dataclass(frozen=True)
class Lines:
    """All that are tried, on the lattice of some choices."""

    chances: Table

    @cached_property
    def ratios(self) -> Floats:
        """e^(d step) for d = 1 - 2 places, ..., 2 places - 1."""
        return exp(self.losses)

    @cached_property
    def losses(self) -> Floats:
        return np.arange(1.0 - 2 * self.chances.places, 2 * self.chances.places) * self.chances.step

    @property
    def doubt(self) -> float:
        """Relative to every ratio and every value of f."""
        return 8 * ERROR + 16 * UNIT * self.chances.places * self.chances.step

    @cached_property
    def all(self) -> tuple[Line, ...]:
        """For upper values: the orders of all choices, and some between them, which need no pair."""
        found = [self._line(choice.up, choice.down, choice.limit) for choice in self.chances.choices]
        for one, two in pairwise(self.chances.choices):
            if one.limit.t < two.limit.t:
                for part in range(1, _BETWEEN):
                    share = Fraction(part, _BETWEEN)
                    limit = replace(one.limit, t=one.limit.t + share * (two.limit.t - one.limit.t))
                    up, down = (round(a + share * (b - a)) for a, b in ((one.up, two.up), (one.down, two.down)))
                    found.append(self._line(up, down, limit))
        return tuple(sorted(found, key=lambda line: (line.t, line.up)))

    @cached_property
    def even(self) -> Line:
        """Of the first choice, which is nearly even, and of the same order of the other direction, half of each."""
        first = self.chances.choices[0]
        one = self._line(first.up, first.down, first.limit)
        turned = one.f[::-1] * self.ratios
        turned = turned - self.doubt * np.abs(turned)
        t = float(1 - first.limit.t)
        slope = -expm1(-self.losses) if t == 0 else _steep(t, self.losses)
        off = 4 * UNIT * (np.abs(one.f) + np.abs(turned))
        return replace(one, f=_HALF * (one.f + turned) - off, slope=_HALF * (one.slope + slope), share=_HALF)

    def _line(self, up: int, down: int, limit: Limit) -> Line:
        t, losses = float(limit.t), self.losses
        with np.errstate(over="ignore"):
            if limit.t == 1:
                grown = self.ratios
                f, size, slope = grown * (losses - 1) + 1, grown * (np.abs(losses) + 1) + 1, losses
            else:
                kept = np.minimum(t * losses, _LARGEST_POWER)  # from below
                grown = exp(kept)
                f = (expm1(kept) - t * expm1(losses)) / (t * (t - 1))
                size = (grown + 1 + t * (self.ratios + 1)) / (t * (t - 1))
                slope = expm1(np.minimum((t - 1) * losses, _LARGEST_POWER)) / (t - 1)
        off = self.doubt * (1 + t) * size
        bulge = grown * math.expm1(self.chances.step) ** 2 * math.exp((t + 2) * self.chances.step) / 8 * (1 + 1e-9)
        return Line(t, up, down, f - off - bulge, slope, float(limit.most.upper) * (1 + 4 * UNIT))


def _steep(t: float, losses: Floats) -> Floats:
    """The slope of f for t < 0; less steep than it is where it is out of all range."""
    return expm1(np.clip((t - 1) * losses, -_LARGEST_POWER, _LARGEST_POWER)) / (t - 1)


def tails(statement: Statement, chances: Table, times: int) -> Floats:
    """What so many steps of the statement reveal at most, at all places from 0 to twice as many, by single orders."""
    excess, moments = statement.tangents()
    logs = times * moments - excess * np.log1p(1 / excess) - np.log1p(excess)
    places = np.arange(2.0 * chances.places)[:, None] * chances.step
    found: Floats = np.exp(np.minimum((logs - excess * places).min(axis=1), 0.0)) * (1 + _TAIL_DOUBT)
    return found


def raised(curve: Curve, lines: Lines, before_it: Floats, after_it: Floats) -> Curve:
    """Upper values of the profile with one more step before it; both tails bound it, before and after.

    Theorem: with w(r) = r V(y/r), every pair that is allowed has E_Q[w(r)] <= a + b + C m, if a + b r + C f(r) >= w(r)
        for all r > 0 and m bounds the mean of f. A convex function that is not above some values is not above the
        largest such function.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind; duality of linear programs
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_lines.py::test_one_step_is_the_statement,
        tests/accounting/two_outcomes/test_lines.py::test_no_strategy_is_above
    """
    size = lines.chances.places
    before = curve.widened(size - 1, size)
    before.upper[size - 1 :] = np.minimum(before.upper[size - 1 :], before_it)
    upper = _above(replace(before, upper=convex(before.upper, lines.chances.step)), lines)
    nothing = np.zeros(size)
    found = np.minimum.accumulate(np.minimum(upper, after_it[:size]))
    return replace(curve, first=0, top=NEVER, upper=found, powers=nothing, prices=nothing)


def convex(upper: Floats, step: float) -> Floats:
    """The largest convex function of y not above these values, rounded up: no profile below them is above it."""
    y = exp(np.arange(float(upper.size)) * step)
    hull: list[int] = []
    at, values = y.tolist(), upper.tolist()
    for k, value in enumerate(values):
        while len(hull) > 1 and (
            (values[hull[-1]] - values[hull[-2]]) * (at[k] - at[hull[-2]])
            >= (value - values[hull[-2]]) * (at[hull[-1]] - at[hull[-2]])
        ):
            hull.pop()
        hull.append(k)
    return np.minimum(np.interp(y, y[hull], upper[hull]) * (1 + _CHORD_DOUBT), upper)


def _above(before: Curve, lines: Lines) -> Floats:
    """At all places, by the best order, which changes little from one to the next; near 0 by both directions of one."""
    found, kind = np.ones(lines.chances.places), 0
    before = replace(before, upper=before.upper * (1 + 2 * lines.doubt))
    for place in range(lines.chances.places):
        known: dict[int, tuple[float, float]] = {}

        def at(k: int, place: int = place, known: dict[int, tuple[float, float]] = known) -> float:
            if k not in known:
                inside = 0 <= k < len(lines.all)
                known[k] = _touching(before, lines, lines.all[k], place) if inside else (math.inf, 0.0)
            return known[k][0]

        for stride in (_STRIDE, 1) if place % _STRIDE == 0 else (1,):
            while min(at(kind - stride), at(kind + stride)) < at(kind):
                kind = kind - stride if at(kind - stride) < at(kind + stride) else kind + stride
        if at(kind) < math.inf:
            found[place] = _enough(before, lines, lines.all[kind], place, known[kind][1])
        if place < 2 * lines.even.up:
            factor = _touching(before, lines, lines.even, place)[1]
            found[place] = min(found[place], _enough(before, lines, lines.even, place, factor))
    return found


class _At:
    """One line at one place: place i of the curve has the ratio r = e^((place - i) step)."""

    def __init__(self, before: Curve, lines: Lines, line: Line, place: int) -> None:
        start = 2 * lines.chances.places - 1 + place - before.last
        window = slice(start, start + before.upper.size)
        self.ratios, self.f, self.slope = (part[window][::-1] for part in (lines.ratios, line.f, line.slope))
        zero = place - before.first
        self.risen, self.fallen = max(zero - line.up, 0), min(zero + line.down, before.upper.size - 1)
        self.flat, self.power = float(self.slope[self.fallen]), _power(before.upper, self.ratios, self.fallen)
        self.values, self.doubt, self.mean = before.upper, 1 - 2 * lines.doubt, line.mean

    def value(self, factor: float, part: slice) -> tuple[float, float]:
        """a + b + C m, with b by the line after the smaller loss, by some places; and how it changes with C."""
        b = self.power - factor * self.flat
        gaps = self.ratios[part] * (self.values[part] - b * self.doubt) - factor * self.f[part]
        k = int(gaps.argmax())
        slope = self.mean - float(self.f[part][k]) - self.flat * (1 - float(self.ratios[part][k]))
        beyond = -math.inf  # where the largest value for smaller r is that of the last place
        if float(self.values[-1]) - b - factor * float(self.slope[-1]) * (1 - _CHORD_DOUBT) < 0:
            beyond = max(float(self.values[-1]) - b, 0.0) * float(self.ratios[-1]) - factor * float(self.f[-1])
        if b < 0 or 1 - b + 4 * UNIT * (1 + b) - factor * float(self.slope[0]) * (1 - _CHORD_DOUBT) > 0:
            return math.inf, -1.0
        a, more = max(float(gaps[k]), beyond), factor * self.mean
        return a + b + more + 8 * UNIT * (abs(a) + b + more), slope


def _touching(before: Curve, lines: Lines, line: Line, place: int) -> tuple[float, float]:
    """The least value by the places near which the line touches, and the C that it has there."""
    here = _At(before, lines, line, place)
    more = line.up + line.down + 8
    near = slice(max(here.risen - more, 0), here.fallen + more)
    rise = max(float(here.slope[here.risen]) - here.flat, 1e-300)
    guess = (_power(before.upper, here.ratios, here.risen) - here.power) / rise
    return _least(lambda factor: here.value(factor, near), guess if guess > 0 else 1 / max(rise, 1.0))


def _enough(before: Curve, lines: Lines, line: Line, place: int, factor: float) -> float:
    """The value that holds, by all places."""
    return _At(before, lines, line, place).value(factor, slice(None))[0]


def _power(upper: Floats, ratios: Floats, place: int) -> float:
    """Of the line through the values beside a place: its value at y = 0. `ratios` are multiples of 1/y."""
    left, right = max(place - 1, 0), min(place + 1, upper.size - 1)
    near, far = 1 / float(ratios[left]), 1 / float(ratios[right])
    return float(upper[left]) + near * float(upper[left] - upper[right]) / (far - near)


def _least(at: Callable[[float], tuple[float, float]], guess: float) -> tuple[float, float]:
    """Nearly the least value of a convex function, and where, by its tangents on either side."""
    best, place, x = math.inf, guess, guess
    left: tuple[float, float, float] | None = None
    right: tuple[float, float, float] | None = None
    for _ in range(_MOST_TANGENTS):
        value, slope = at(x)
        if value < best:
            best, place = value, x
        if slope < 0:
            left = x, value, slope
        else:
            right = x, value, slope
        if left is None or right is None or math.isinf(left[1]):
            x = x / 2 if left is None else 2 * x if right is None else (left[0] + right[0]) / 2
            continue
        x = (right[1] - left[1] + left[2] * left[0] - right[2] * right[0]) / (left[2] - right[2])
        if best <= (left[1] + left[2] * (x - left[0])) * (1 + _CLOSE):
            break
    return best, place
