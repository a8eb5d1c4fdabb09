"""Steps that zCDP allows, of different rho, in any order: from above, by the largest one and normal noise beside it.

phi      up to the largest rho one statement of so much; then the largest one, with normal noise for the rest beside it,
         and later normal noise alone
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import UNIT, Floats, normal_tail_one
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.after_largest import Before, Largest
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.leading import Rule, reached
from privately.accounting.two_outcomes.normal_games import SPARE, Normal, nearest
from privately.accounting.two_outcomes.sorted_games import Before as BeforeNormal
from privately.accounting.two_outcomes.sorted_games import Kinds, edge
from privately.accounting.two_outcomes.steps import NEVER

_MOST_STEPS, _MOST_KINDS, _MOST_TOTAL, _MOST_OF_MANY = 1000, 24, 100, 30
_LEAST_PART = 128
_FEW, _PLAYED_FEW, _PLAYED = 4, 9.0, 14.0
"""Up to so many times the largest rho the largest is told apart from noise, if few lines are looked for, or more."""
_SMALL, _LARGER = 0.7, 0.0002
"""Lesser ones than this count as more by so much of the largest; than half of this, by twice as much."""
_CALLS, _SLOWEST, _FASTEST, _LATER = 220, 0.012, 0.1, 0.03
_NORMAL_FROM, _NORMAL_BELOW = 3.0, 0.16
"""With so much noise, steps that small are looked at before noise alone."""
_CELLS, _MOST_LAST, _MORE = 40, 8000, 400
_EXTRAS = 0.001, 0.002, 0.004, 0.008, 0.016, 0.03, 0.06
_DOUBT, _UP = 1e-9, 1 + 8 * UNIT


@dataclass(frozen=True)
class Above:
    """A profile, if any, with normal noise beside it."""

    curve: Curve | None
    normal: Normal


@lru_cache(maxsize=8)
def above(parts: tuple[tuple[Concentrated, int], ...], rare: float) -> Above:
    """All of these steps; values far below `rare` need not be told apart.

    Theorem: V <= rest + A W_phi for all that is left, in whatever order, if every step of c before W_phi is at most a
        factor times W at f_c(phi), and phi is that of the worst choice of steps which exceed the largest rho, followed
        by all others, the largest first.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
    Checked-by: tests/accounting/two_outcomes/test_largest_last.py::test_no_order_is_above,
        tests/accounting/two_outcomes/test_largest_last.py::test_from_less_to_more_than_the_largest
    """
    ordered = sorted(parts, key=lambda part: part[0].rho, reverse=True)
    statement, steps = ordered[0][0], sum(times for _, times in parts)
    total = sum((one.rho * times for one, times in parts), Fraction(0))
    if not 1 < len(parts) <= _MOST_KINDS or steps > (_MOST_STEPS if len(parts) <= _FEW else _MOST_OF_MANY):
        raise NotApplicable("too many different steps, or too few")
    if total > _MOST_TOTAL * statement.rho or min(part[0].rho for part in parts) * _LEAST_PART < statement.rho:
        raise NotApplicable("too many steps, or such as are too different")
    rarest = rare * SPARE / steps
    kinds = Kinds.of(parts, rarest)
    part = kinds.rho / kinds.rho[0]
    larger = np.where(part > _SMALL, 0, np.where(part > _SMALL / 2, 1, 2)) * (_LARGER * kinds.rho[0])
    kinds = replace(kinds, size=(kinds.rho + larger) * _UP)
    exact = tuple(one.rho for one, _ in ordered)
    return _Game(kinds, exact, Largest.of(statement, rarest), rare, steps).above()


@dataclass
class Path:
    """How far the premises are shown, with which rule, and what they cost."""

    rule: Rule
    last: float
    phi: float
    slopes: list[tuple[float, float, float]] = field(default_factory=list)
    """From where to where the logarithm of the factor has to grow how fast."""
    rest: float = 0.0

    def height(self) -> float:
        """How much it grows in all."""
        if not self.slopes:
            return 0.0
        ends = np.unique([end for one in self.slopes for end in one[:2]])
        steep = np.zeros(ends.size - 1)
        for first, last, slope in self.slopes:
            some = slice(*np.searchsorted(ends, [first, last]))
            steep[some] = np.maximum(steep[some], slope)
        return float((steep * np.diff(ends)).sum()) * (1 + _DOUBT)


@dataclass(frozen=True)
class _Game:
    kinds: Kinds
    exact: tuple[Fraction, ...]
    """All rho, from the largest on."""
    largest: Largest
    rare: float
    steps: int

    @property
    def rho(self) -> float:
        return self.largest.rho

    def above(self) -> Above:
        is_few = len(self.kinds.lines) <= _FEW
        played, later = (_PLAYED_FEW, _LATER / 2) if is_few else (_PLAYED, _LATER)
        growth = _SLOWEST if is_few else min(len(self.kinds.lines) * math.log(played) / _CALLS, _FASTEST)
        normal = NormalTries(self.kinds, edge(self.largest.rarest))
        path = Path(Rule(self.rho), self._last(Rule(self.rho)), self.rho)
        while path.phi < min(path.last, played * self.rho):
            self._go_on(path, Tries(self.largest.before(path.phi - self.rho), self.kinds, normal), growth)
        extra, factor = self._crossing(path)
        shift, curve = -self.rho, None
        if path.last + extra > path.phi:
            v, more = self._as_normal(path)
            shift, factor = v / 2 - path.phi, factor * more
            while path.phi < path.last + extra:
                self._go_on(path, normal.at(path.phi + shift), later)
        else:
            upper = self.largest.base.upper_alone()
            curve = Curve(self.largest.base.step, 0, NEVER, upper, np.zeros(upper.size), np.zeros(upper.size))
        factor *= math.exp(path.height()) * (1 + _DOUBT)
        rest = factor * (self.steps + 2) * path.rest * (1 + _DOUBT)
        variance = 2 * (min(path.last, self._last_of_choices(path.rule)) + extra + shift) * (1 + _DOUBT)
        return Above(curve, Normal(Fraction(variance), Fraction(factor), Fraction(min(rest, 1.0))))

    def _go_on(self, path: Path, tries: Tries | NormalTries, growth: float) -> None:
        """Show the premises from phi to somewhat more, with a lesser rule if need be."""
        after, sizes = path.phi * (1 + growth), self.kinds.size
        while not np.isfinite(excess := tries.excess(path.rule.more(sizes, after))).all():
            path.rule = path.rule.lesser(after)
            path.last = self._last(path.rule)
        for size, one in zip(sizes.tolist(), excess.tolist(), strict=True):
            if one:
                path.slopes.append((path.phi, after + size, math.log1p(one) / size * (1 + _DOUBT)))
        path.rest = max(path.rest, tries.rest)
        path.phi = after

    def _as_normal(self, path: Path) -> tuple[float, float]:
        """mu^2 of normal noise, and a factor, for the largest and the noise beside it."""
        before = self.largest.before(path.phi - self.rho)
        price = -math.log(self.rare) / (2 * float((self.kinds.rho * np.array(self.kinds.times)).sum()))
        kept = cut(before.upper, self.largest.rarest)
        nothing = np.zeros(kept.size)
        v, factor, rest = nearest(Curve(before.lattice.step, 0, NEVER, kept, nothing, nothing), price)
        path.rest = max(path.rest, rest)
        return v, factor

    @cached_property
    def cells(self) -> int:
        """All rho are multiples of such a part of the largest; 0 if that is too small."""
        found = math.lcm(*((one / self.exact[0]).denominator for one in self.exact))
        return found if found <= _CELLS else 0

    def _last(self, rule: Rule) -> float:
        """phi after all steps, in the worst order, with one more for all choices that may come last."""
        others = np.linspace(0.0, self.rho, _MORE + 1)
        found = rule.last(self._sizes(self.kinds.times), others[1:] * _UP, self.rho) - self.rho - others[:-1]
        return (float(found.max()) + (0.0 if self.cells else self.rho / _CELLS)) * (1 + _DOUBT)

    def _last_of_choices(self, rule: Rule) -> float:
        """The same, by each of these choices; infinite if they are too many."""
        tries = (rule.last_one(self._sizes(left), one, self.rho) for left, one in self._choices())
        return max(tries, default=math.inf) * (1 + _DOUBT)

    def _sizes(self, times: Sequence[int]) -> list[float]:
        """From the largest on."""
        sizes = [size for size, n in zip(self.kinds.size.tolist(), times, strict=True) for _ in range(n)]
        return sorted(sizes, reverse=True)

    def _choices(self) -> list[tuple[list[int], float]]:
        """What is left after steps that exceed the largest, and by how much; none if these are too many."""
        if not self.cells:
            return []
        units, found = [int(one / self.exact[0] * self.cells) for one in self.exact], []
        for done in reached(units, self.kinds.times, self.cells):
            total = sum(n * unit for n, unit in zip(done, units, strict=True))
            left = [n - m for n, m in zip(self.kinds.times, done, strict=True)]
            found.append((left, (total - self.cells) / self.cells * self.rho * _UP))
            if len(found) > _MOST_LAST:
                return []
        return found

    def _crossing(self, path: Path) -> tuple[float, float]:
        """How much farther than f_d one step leads to d beyond the largest, from less than it; and a factor."""
        cells, extras, merged, factor = self.cells or _CELLS, list(_EXTRAS), list[Floats](), 0.0
        for j in range(1, cells):
            kept = np.array([one * cells > (cells - j) * self.exact[0] for one in self.exact])
            more = [math.ceil(one / self.exact[0] * cells) + j - cells for one in self.exact]
            merged.append(self.largest.alone(Concentrated(self.exact[0] * Fraction(cells + j, cells))))
            tries = Tries(
                self.largest.instead(Concentrated(self.exact[0] * Fraction(j, cells))), self.kinds.of_those(kept)
            )
            for k, one in enumerate(one for one, is_kept in zip(more, kept, strict=True) if is_kept):
                tries.meet(k, merged[one - 1])
            beyond = np.maximum(self.kinds.rho[kept] - self.rho * (cells - j) / cells, 0.0) * (1 - _DOUBT)
            least = beyond + path.rule.more(beyond, self.rho) - tries.size
            while not np.isfinite(excess := tries.excess(least + extras[0] * self.rho)).all():
                extras.pop(0)
                if not extras:
                    raise NotApplicable("steps unlike normal noise")
            factor, path.rest = max(factor, float(excess.max())), max(path.rest, tries.rest)
        return extras[0] * self.rho, 1 + factor


def cut(upper: Floats, rarest: float) -> Floats:
    """Up to values so small."""
    return upper[: int((upper > rarest).sum()) + 1]


class Tries:
    """One step of each kind before the largest and some noise."""

    def __init__(self, before: Before, kinds: Kinds, normal: NormalTries | None = None) -> None:
        self.before, self.size = before, kinds.size
        rho, is_late = before.largest.rho, before.x > _NORMAL_FROM * before.largest.rho
        self.normal = normal if is_late else None
        is_small = (kinds.rho < _NORMAL_BELOW * rho) & (self.normal is not None)
        used = {k for which in kinds.which[~is_small].tolist() for k in range(max(which - 1, 0), which + 2)}
        lines = [before.lines(one) if k in used else None for k, one in enumerate(kinds.lines)]
        self.upper: list[Floats | None] = [None] * kinds.rho.size
        for k, (one, which) in enumerate(zip(kinds.rho.tolist(), kinds.which.tolist(), strict=True)):
            near = [line for line in lines[max(which - 1, 0) : which + 2] if line]
            if near and not is_small[k]:
                tries = [before.step(line, one) for line in near]
                size = min(found.size for found in tries)
                self.upper[k] = np.min([found[:size] for found in tries], axis=0)
        self._beside = 0.0

    @property
    def rest(self) -> float:
        """What is beyond the last places."""
        return max((float(one[-1]) for one in self.upper if one is not None), default=0.0) + self._beside

    def meet(self, k: int, upper: Floats) -> None:
        """This is not exceeded either."""
        mine = self.upper[k]
        if mine is not None:
            self.upper[k] = cut(np.minimum(mine, upper[: mine.size]), self.before.largest.rarest)

    def excess(self, more: Floats) -> Floats:
        """For each kind, what part of W_(x + size + more) is missing; infinite if it is not enough."""
        found = np.full(self.size.size, math.inf)
        for k, upper in enumerate(self.upper):
            if upper is not None:
                found[k] = self.before.excess(upper, float(self.size[k] + more[k]) * (1 - 4 * UNIT))
        if self.normal is not None and not np.isfinite(found).all():
            found = np.minimum(found, self.normal.at(self.before.x).excess(more))
            self._beside = max(self._beside, self.normal.rest)
        return found


class NormalTries:
    """One step of each kind before normal noise."""

    def __init__(self, kinds: Kinds, far: float) -> None:
        self.kinds, self.far, self.s = kinds, far, 0.0
        self.rest = normal_tail_one(far) * (1 + _DOUBT)
        self.known: list[tuple[Floats, Floats] | None] = [None] * len(kinds.lines)

    def at(self, s: float) -> NormalTries:
        """Where s is half of mu^2."""
        if s != self.s:
            self.s = s
            self.before, self.known = BeforeNormal.of(self.kinds, s, self.far, self.known)
        return self

    def excess(self, more: Floats) -> Floats:
        return self.before.excess(self.kinds, more)
