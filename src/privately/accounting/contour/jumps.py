"""The contour integral for rarely sampled Gaussians: what comes of near losses alone, and what comes of jumps.

D(epsilon) = E[(1 - e^(epsilon - S))+; no step jumps] + E[(1 - e^(epsilon - S))+; some step jumps]. With N the transform
of a near loss and J that of a jump, the first has the transform prod N^T and the second prod (N + J)^T - prod N^T. Each
has a contour of its own: a steep one for the near losses, and a low one for jumps, whose small probability is a factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.contour.changes import change_of
from privately.accounting.contour.integral import Integral
from privately.accounting.contour.laying import Layout, Whole, lay
from privately.accounting.contour.listing import laws_of
from privately.accounting.contour.protocols import Law as AnyLaw
from privately.accounting.contour.saddle import Outline, Saddle, Shape, for_epsilon, shape
from privately.accounting.contour.split import JumpGrid, NearGrid
from privately.accounting.contour.split_rows import MOST_KEPT, jump_grids, near_grids, sketched, split_alike
from privately.accounting.contour.splitting import divided
from privately.accounting.contour.two_integrals import Both
from privately.accounting.contour.view import Complex, enlarged, exp_above, power
from privately.accounting.elementary import (
    ERROR,
    UNIT,
    Floats,
    exp_one,
    expm1,
    expm1_one,
    log1p,
    log_between,
)
from privately.accounting.losses import SampledGaussianLoss
from privately.accounting.roads import NotApplicable, nearly_log
from privately.rounding import Interval

METHOD = "contour integral, jumps apart"

_MOST_LAWS, _MOST_BESIDE, _FEWEST = 2048, 64, 64
_OFTEN, _LESS_LIKELY = (30.0, 1.0), (300.0, 3000.0, 0.01)
"""Jumps should be about so many times as probable as delta."""
_HIGHER = (1.0, 1.6)
_MOST_OFTEN, _LOST, _FEW = 2.7, 4.0, 5
_FAR_BETTER, _SHORTEST = 8.0, 8.0
_TOLERANCES, _PER_WIDTH, _COARSEST, _SPARE = (1e-9, 1e-8), 1e-2, 1e-3, 2.0
"""Of delta, the sums may miss so much at least and at most, and so much for every part that epsilon may be off."""
_MOST_WORK, _MANY = 1 << 28, 16
"""For every law up to so many."""
_MOST_SHORT, _FARTHER = 1 << 16, 1.5
_QUIET = 34.0
_ROUNDS = 7
_TRIES = 40
_CLOSE, _HARDLY = 1e-9, Fraction(3, 4)
_FINEST = 1e-17
_STILL = 0.3
_HEIGHTS = np.exp(np.linspace(math.log(0.05), math.log(3e5), 100))
_STEEP = 2000.0
_LEAST_EPSILON = Fraction(1, 1000)
_LARGEST_SHARE = 50.0
_MOST_JUMPS = 0.05
_ENDLESS, _CERTAIN, _FLOATS, _UNSURE = 500.0, 40.0, 1e200, 0.25
_SMALL_DELTA = math.log(1e-20)


@dataclass(frozen=True)
class JumpWhole:
    """Near losses and jumps of all laws that are split, on the real line, and the laws beside them."""

    grids: Sequence[tuple[NearGrid, JumpGrid, int]]
    beside: Whole

    def log_mass_above(self, b: float) -> float:
        """ln(prod (N + J)^T - prod N^T) at b, and of what is beside, from above."""
        total, often = self.beside.log_mass_above(b), 0.0
        size = abs(total)
        for near, jumps, times in self.grids:
            low, high = near.log_mass(b)
            total, size = total + times * high, size + times * abs(high)
            if not low > -_ENDLESS:
                raise NotApplicable("hardly any near losses")
            ratio = jumps.mass(b)[1] * exp_one(max(-low, -_ENDLESS)) * (1 + 2.0**-20)
            if not ratio < _FLOATS:
                raise NotApplicable("jumps are not rare at all")
            often += times * log_between(ratio, 1)[1]
        often *= 1 + 2.0**-20
        more = often if often > _CERTAIN else log_between(expm1_one(often) * (1 + 2.0**-20))[1]
        return total + more + 8 * len(self.grids) * UNIT * size


class JumpIntegral(Integral):
    """Bounds on what comes of jumps, from the layout of the near losses."""

    def __init__(self, layout: Layout, grids: Sequence[tuple[NearGrid, JumpGrid, int]]) -> None:
        """Relative to prod N^T(c) times `often`, the value of expm1(sum T ln(1 + J/N)) at c."""
        self.grids = grids
        self.beside = Whole(layout.whole.grids[len(grids) :], layout.gaussian, layout.c)
        self.ratios: list[tuple[float, float]] = []
        c, split = layout.c, layout.views[: len(grids)]
        total = off = 0.0
        for (view, times), (_, jumps, _) in zip(split, grids, strict=True):
            low, high = jumps.mass(c)
            middle = (low + high) / 2 * exp_one(-sum(view.log_mass) / 2)
            doubt = (high - low) / low + (view.log_mass[1] - view.log_mass[0]) + 16 * UNIT + 4 * ERROR
            self.ratios.append((middle, enlarged(doubt)))
            total += times * float(log1p(np.array([middle]))[0])
            off += times * middle * doubt
        if total > _LARGEST_SHARE or off > _UNSURE:
            raise NotApplicable("too many jumps")
        self.often = expm1_one(total)
        rounding = (1 + total) * ((64 + 4 * len(grids)) * UNIT + 2 * ERROR)
        self.doubt = enlarged(2 * off * (1 + 1 / total) + rounding)
        jump_views = [jumps.view(c, float(view.centre)) for (view, _), (_, jumps, _) in zip(split, grids, strict=True)]
        self.jump_views = jump_views
        logs = log_between(self.often)
        low, high = layout.log_mass
        slack = 4 * UNIT * (abs(low) + abs(logs[0]))
        super().__init__(
            replace(
                layout,
                log_mass=(low + logs[0] - slack, high + logs[1] + slack),
                truncated=self._truncated(layout),
                whole=JumpWhole(grids, self.beside),  # type: ignore[arg-type]  # stands in where only masses above a place are asked for
            )
        )
        self.rounding += self.doubt * self.first

    def _alone(self, shares: Floats) -> None:
        """Never: there are jumps beside the law."""

    def _truncated(self, layout: Layout) -> float:
        """What lies beyond the last frequency, at most.

        Theorem: where |N| <= N(c) e^-f, the difference of the products is at most prod N(c)^T times
            exp(sum T (J/N(c) e^f - f)) sum T J/N(c) e^f; where |J| <= J(c) B, at most exp(sum T J/N(c)) sum T B J/N(c).
        Reference: mean value inequality
        Proof: docs/theory/accounting/jumps.md#what-comes-of-jumps
        Checked-by: tests/accounting/contour/test_jumps.py::test_jumps_beyond_the_last_frequency
        """
        last = np.array([layout.step * layout.count * (1 - 2.0**-40)])
        falls, often = float(last[0]) ** 2 * (layout.gaussian / 2), 0.0
        for grid, times in self.beside.grids:
            falls += times * float(grid.decay(layout.c, last)[0])
        for (near, _, times), (ratio, doubt) in zip(self.grids, self.ratios, strict=True):
            fall = min(float(near.decay(layout.c, last)[0]), _ENDLESS)
            falls += times * fall
            often += times * ratio * (1 + doubt) * exp_one(fall) * (1 + 2.0**-20)
        left = often * exp_above(often - falls * (1 - 2.0**-20)) if often < _FLOATS else math.inf
        total = rest = 0.0
        for (_, jumps, times), (ratio, doubt) in zip(self.grids, self.ratios, strict=True):
            total += times * ratio * (1 + doubt) * (1 + 2.0**-20)
            rest += times * ratio * (1 + doubt) * (1 + 2.0**-20) * jumps.rest(layout.c, float(last[0]))
        left = min(left, rest * exp_above(total))
        if not left < math.inf:
            raise NotApplicable("too many jumps")
        return enlarged(left / self.often / (3.14159 * float(last[0])))

    def _transform(self) -> tuple[Complex, Floats]:
        """(prod (N + J)^T - prod N^T)/(prod N(c)^T often), centred, with bounds on the errors."""
        layout, change = self.layout, None
        split = layout.views[: len(self.grids)]
        for (view, times), jumps, ratio in zip(split, self.jump_views, self.ratios, strict=True):
            near, jumped = (one.transforms(self.step, layout.count) for one in (view, jumps))
            one = change_of(near, jumped, ratio, times)
            change = one if change is None else change.beside(one)
        if change is None:
            raise NotApplicable("no law that jumps")
        for found, off in self._others():
            change = change.after(found, off)
        return change.value / self.often, change.error * ((1 + 2.0**-20) / self.often)

    def _others(self) -> Iterator[tuple[Complex, Floats]]:
        """The transforms of all that is beside, less 1, with bounds on the errors."""
        gaussian = self.beside.gaussian
        if gaussian:
            fall = expm1(-self.squares * (gaussian / 2))
            off = ERROR + 4 * UNIT * (self.squares + self.places * (self.c + 1)) * gaussian
            yield fall.astype(np.complex128), off
        for view, times in self.layout.views[len(self.grids) :]:
            yield power(*view.transforms(self.step, self.layout.count), times)


@dataclass(frozen=True)
class Jumps:
    """The road: how often jumps may be, compared to delta, and how much higher than guessed epsilon may be, in turn."""

    often: tuple[float, ...]
    higher: tuple[float, ...]
    parts: tuple[float, ...] = ()
    """At small deltas jumps may be more often, too, by these powers of 1/delta: what is beside them is seldom, too."""

    fewest: int = _FEWEST
    """So many steps at least are split, where others are beside them."""

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """The epsilon of the finite losses of a composition, at 0 < delta < 1."""
        log_delta, best = nearly_log(delta), None
        for often in (*self.often, *self._at_small(log_delta)):
            sums = _Sums(composition, log_delta, often, self.fewest)
            guess = sums.first_guess(log_delta)
            for higher in self.higher:
                with suppress(NotApplicable):
                    sums.allow(float(width) * guess)
                    found = _refined(sums, higher * guess, delta, width)
                    best = found if best is None else _common(best, found)
                    break
            if best is not None and best.width <= width * max(best.lower, _LEAST_EPSILON):
                break
        if best is None:
            raise NotApplicable("no epsilon was found")
        return best

    def _at_small(self, log_delta: float) -> list[float]:
        return [math.exp(min(-part * log_delta, _ENDLESS)) for part in self.parts if log_delta < _SMALL_DELTA]

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """The delta of the finite losses of a composition; `width` is relative to delta."""
        log_delta, best = math.log(1e-6), None
        for _ in range(_ROUNDS):
            both = _Sums(composition, log_delta, _OFTEN[0], self.fewest).at(float(epsilon), log_delta)
            before, log_delta = log_delta, min(both.rough(float(epsilon))[0], -1e-3)
            found = Interval(
                max(both.lower(epsilon), Fraction(0)), min(both.upper(epsilon), Fraction(1)), method=METHOD
            )
            best = found if best is None else _common(best, found)
            if best.width <= width * best.upper or abs(before - log_delta) < _STILL:
                break
        if best is None:
            raise NotApplicable("no delta was found")
        return best


JUMPS = Jumps(_OFTEN, _HIGHER[:1], (1 / 4,))
"""What is most likely to fit: each other try takes longer than most lattices."""
MORE_JUMPS = Jumps(_LESS_LIKELY, _HIGHER, (1 / 8, 1 / 2))
FEW_JUMPS = Jumps(_OFTEN[:1], _HIGHER[:1], (1 / 8,), fewest=2)


def _refined(sums: _Sums, guess: float, delta: Fraction, width: Fraction) -> Interval:
    """Laid again where the guess was wrong, until the answer is as narrow as asked or does not move."""
    log_delta, best = nearly_log(delta), None
    for _ in range(_ROUNDS):
        both = sums.at(guess, log_delta)
        root = both.root(guess, log_delta)
        moved, guess = abs(root - guess), root
        if moved > _STILL * max(guess, 1e-9):
            continue
        found = both.ends(root, delta, METHOD)
        before, best = best, found if best is None else _common(best, found)
        if best.width <= width * max(best.upper, _LEAST_EPSILON) or moved < _CLOSE * guess:
            return best
        if before is not None and best.width > _HARDLY * before.width:
            return best
    if best is None:
        raise NotApplicable("no epsilon was found")
    return best


class _Sums:
    """The laws of a composition, split where jumps are about as probable as they should be."""

    def __init__(self, composition: Composition, log_delta: float, often: float, fewest: int = _FEWEST) -> None:
        listed, others = divided(composition.parts, fewest)
        if not listed or len(listed) > _MOST_LAWS or len(others) > _MOST_BESIDE:
            raise NotApplicable("no sampled Gaussians among few laws")
        if sum(times for _, times in listed) < (fewest if others else _FEWEST):
            raise NotApplicable("so few steps are for a lattice")
        wanted = min(math.exp(log_delta) * often, _MOST_JUMPS) / sum(times for _, times in listed)
        self.split = split_alike(
            ((law, times) for law, times in listed if isinstance(law, SampledGaussianLoss)), wanted
        )
        beside, self.gaussian = laws_of(others)
        self.parts: list[tuple[AnyLaw, int]] = [*self.split, *beside]
        self._most_work = _MOST_WORK * min(len(self.split), _MANY)
        looks = sketched(self.split)
        self.outline = Outline([*looks, *beside], self.gaussian)
        self.jumpy = [(law.rough_jumps(), law.rough(0.0), times) for law, times in looks]
        self.tolerance = _TOLERANCES[0]
        self.heights = _HEIGHTS if len(beside) == 0 else _HEIGHTS[_HEIGHTS < _STEEP]
        self._near_levels: Floats = np.array(self.outline.levels(self.heights.tolist()))

    def allow(self, off: float) -> None:
        """Sums are made for an epsilon that may be so far off."""
        self.tolerance = min(max(_PER_WIDTH * off, _TOLERANCES[0]), _TOLERANCES[1])

    def first_guess(self, log_delta: float) -> float:
        """Where near losses, by a Chernoff bound, and one jump alone are about delta together."""
        near = self._near_levels - np.log(5 * (self.heights + 1))
        mean = max(self.outline.cumulants(float(self.heights[0]))[1], 0.0) if len(self.parts) > len(self.split) else 0.0

        def too_small(epsilon: float) -> bool:
            total = math.exp(min(float((near - self.heights * epsilon).min()), 0.0))
            for rough, _, times in self.jumpy:
                gain = -np.expm1(np.minimum(epsilon - mean - rough.losses, 0.0))
                total += times * float((np.exp(rough.base) * gain).sum())
            return total > math.exp(log_delta)

        low, high = 1e-9, 1e3
        for _ in range(_TRIES):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if too_small(middle) else (low, middle)
        return high

    def _often(self, heights: Floats) -> Floats:
        """sum T ln(1 + J/N), nearly."""
        often = np.zeros(heights.shape)
        for rough, near, times in self.jumpy:
            often += times * np.logaddexp(0.0, rough.levels(heights) - near.levels(heights))
        return often

    def _heights(self, epsilon: float) -> tuple[Floats, Floats]:
        """Where jumps may be looked at, and ln of what comes of them there; higher up only if that is far better."""
        often = self._often(self.heights)
        levels = self._near_levels + often + np.log(-np.expm1(-np.maximum(often, 1e-300)))
        costs = levels - self.heights * epsilon - np.log(self.heights * (self.heights + 1))
        kept, more = often < _MOST_OFTEN, often < _LARGEST_SHARE
        if kept.sum() < _FEW or (more.any() and costs[more].min() < costs[kept].min() - _FAR_BETTER):
            kept = more
        if kept.sum() < _FEW:
            raise NotApplicable("jumps are too large")
        return self.heights[kept], levels[kept]

    def at(self, epsilon: float, log_delta: float) -> Both:
        """Integrals that serve about this epsilon."""
        saddle = for_epsilon(self.outline, epsilon)
        enough = log_delta + _SPARE
        if _bound(saddle, epsilon) < enough:  # steeper than anybody needs
            low, high = math.log(1e-3), math.log(saddle.c)
            for _ in range(_TRIES // 2):
                middle = (low + high) / 2
                saddle = _saddle(self.outline, math.exp(middle))
                low, high = (low, middle) if _bound(saddle, epsilon) < enough else (middle, high)
        tolerance = min(self.tolerance * math.exp(min(log_delta - _bound(saddle, epsilon), 30.0)), _COARSEST)
        if tolerance < _FINEST:  # floats would show nothing
            raise NotApplicable("delta is too small")
        laid = shape(self.outline, saddle, epsilon, math.log(tolerance))
        near = lay(self.parts, self.gaussian, laid, tolerance, self._most_work)
        return Both(Integral(near), self._jumps(epsilon, log_delta))

    def _jumps(self, epsilon: float, log_delta: float) -> JumpIntegral:
        heights, levels = self._heights(epsilon)
        falls = levels - heights * epsilon
        goal = log_delta + math.log(self.tolerance)
        costs = falls - np.log(heights * (heights + 1))
        tried = [
            (_needed(heights, falls - goal, place), place)
            for place in range(1, heights.size - 1)
            if costs[place] < costs.min() + _LOST
        ]
        if not tried:
            raise NotApplicable("no contour fits")
        (period, below, above), place = min(tried)
        c = float(heights[place])
        step = 2 * math.pi / max(period, _SHORTEST / c)
        step = math.ldexp(math.floor(math.ldexp(math.frexp(step)[0], 20)), math.frexp(step)[1] - 20)
        laid = Shape(_saddle(self.outline, c), epsilon, step, below, above)
        short = self._short(laid, float(falls[place]) - goal)
        if short is not None:
            return JumpIntegral(*short)
        near = lay(self.parts, self.gaussian, laid, self.tolerance, self._most_work)
        jumped = jump_grids(self.split, c, above, _QUIET)
        grids = [
            (grid, jumps, times)
            for (grid, times), jumps in zip(near.whole.grids, jumped, strict=False)
            if isinstance(grid, NearGrid)
        ]
        if len(grids) < len(self.split):
            raise NotApplicable("laws in another order")
        return JumpIntegral(near, grids)

    def _short(self, laid: Shape, wanted: float) -> tuple[Layout, list[tuple[NearGrid, JumpGrid, int]]] | None:
        """As far as jumps alone have to be followed until they have fallen by so much, where nothing is beside them."""
        c = laid.saddle.c
        if len(self.parts) > len(self.split) or self.gaussian or min(wanted, laid.saddle.variance) <= 0:
            return None
        times = [many for _, many in self.split]
        quiets = [_QUIET + math.log(many) for many in times]
        jumped = jump_grids(self.split, c, laid.above, _QUIET)
        grids = list(zip(near_grids(self.split, c, laid.above, quiets), jumped, times, strict=True))
        frequency = 8 * laid.step
        longest = max(min(math.sqrt(wanted / laid.saddle.variance), _MOST_SHORT * laid.step), frequency)
        some = jumped[:: -(-len(jumped) // MOST_KEPT)]

        def is_enough(frequency: float) -> bool:
            return max(jumps.rest(c, frequency) for jumps in some) / frequency <= math.exp(-wanted)

        if not is_enough(longest):  # near losses fall sooner
            return None
        while frequency < longest and not is_enough(frequency):
            frequency = min(frequency * _FARTHER, longest)
        whole = Whole([(near, times) for near, _, times in grids], 0.0, c)
        views = whole.views(frequency)
        layout = Layout(
            c=c,
            step=laid.step,
            count=math.ceil(frequency / laid.step),
            gaussian=0.0,
            views=views,
            atoms=None,
            log_mass=whole.log_mass([view.log_mass for view, _ in views]),
            truncated=0.0,
            whole=whole,
            _others=(laid.above, laid.below),
        )
        return layout, grids


def _needed(heights: Floats, excess: Floats, place: int) -> tuple[float, float, float]:
    """The shortest period for a contour at one of these heights, and the heights below and above that show it."""
    c = heights[place]
    above, below = excess[place + 1 :] / (heights[place + 1 :] - c), excess[:place] / (c - heights[:place])
    first, last = int(below.argmin()), int(above.argmin())
    return max(float(below[first]), float(above[last])), float(heights[first]), float(heights[place + 1 + last])


def _bound(saddle: Saddle, epsilon: float) -> float:
    """ln of about what is integrated."""
    return saddle.k - saddle.c * epsilon + saddle.log_sum


def _saddle(outline: Outline, c: float) -> Saddle:
    return Saddle(c, *outline.cumulants(c))


def _common(one: Interval, other: Interval) -> Interval:
    return Interval(max(one.lower, other.lower), min(one.upper, other.upper), method=METHOD)
