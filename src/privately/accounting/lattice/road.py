"""The road of loss distributions: epsilon and delta of a composition from curves and atoms on a lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from privately.accounting.compositions import Composition
from privately.accounting.lattice.fourier import forget
from privately.accounting.lattice.laying import MOST, Laid, lay, lay_chords
from privately.accounting.lattice.places import Guess, checked, root_of
from privately.accounting.lattice.planning import Outline, View, contour, contour_for_chords, in_steps
from privately.accounting.lattice.top import near_the_top
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.rounding import Enclosure, Interval

METHOD = "lattice"

_FIRST = 1 << 12
_MOST_WORK = 1 << 20
_MOST_NODES = 1 << 19
"""Of one sum: more take more than 100 megabytes."""
_COMFORTABLE = 1 << 15
_FINE = 3e-9
"""Narrow answers are made narrower while that costs little, but not beyond this much for every step."""
_VERY_FEW, _AMPLE, _FINEST = 5, 1 << 18, 1e-9
"""For very few steps more nodes are comfortable, and the width is this for every step."""
_FEW, _MORE = 10, 1 << 17
"""For few steps, somewhat more nodes; as many for very few of a law with atoms, whose width falls slowly."""
_MOST_CHORDED, _CHORDED, _CHORD, _LONGEST_CHORD = 50, 5e-10, 5e-5, 2.5e-4
"""Up to so many steps chords are tried where the width is more than this for every step, or with atoms than what is
fine: so long ones, about.
"""
_MOST_CHORDS = (1 << 20, 1.0), (1 << 20, 1.3), (1 << 19, 1.0)
"""Nodes of a sum over chords, which is of one law alone, and how many times longer than needed its period is: where
steps are too short for the window of losses, longer ones are tried.
"""
_CHORD_TOLERANCE = 1e-12
"""What part of delta may be neglected for an upper end by chords."""
_NARROW = Fraction(1, 10**6)
"""To whom such a width is enough, less is not worth its time."""
_NARROWEST = 1e-9
_SMALL = Fraction(1, 1000)
_LEAST = Fraction(1, 10**300)
_NONE, _ALL = Fraction(0), Fraction(1)
_FAR = Fraction(64)
_FARTHEST = Fraction(10**9)
_SCOUTS = 10
_DOUBTFUL = 0.1
_LOWER = (0.5, 0.25, 0.125)
_STEP = 2.0**-32


class Query(Protocol):
    """Asks for delta or for epsilon, so many times finer than the width where that costs little."""

    @property
    def finer(self) -> int: ...

    def plain(self) -> Query:
        """The same, no finer than asked."""

    def guess(self, views: Sequence[View], width: Fraction) -> Guess:
        """Without any sum."""

    def scale(self, found: Interval) -> Fraction:
        """What the width is relative to."""

    def answer(self, lower: Laid, upper: Laid, guess: Guess) -> tuple[Interval | None, Guess]:
        """From the sums; nothing if they were laid for too small an epsilon."""

    def between(self, best: Interval | None, guess: Guess) -> Guess:
        """Another guess, if one has led nowhere."""


def delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    """delta at epsilon, within about `width` relative, or as near as this road comes."""
    finite = delta_of(_views(composition), epsilon, width)
    least, most = composition.infinite_lower, composition.infinite
    upper = min(most + (1 - most) * finite.upper, Fraction(1))
    return Interval(least + (1 - least) * finite.lower, upper, method=METHOD)


def epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Interval:
    """epsilon at delta, within about `width` relative, or as near as this road comes."""
    least, most = composition.infinite_lower, composition.infinite
    if delta <= most or delta >= 1:
        raise NotApplicable("delta is not above the mass at infinite loss for certain, or 1")
    easier, harder = ((delta - mass) / (1 - mass) for mass in (least, most))
    edge = near_the_top(composition, easier, harder, METHOD)
    if edge is not None and edge.width <= width * max(edge.upper, _SMALL) and not _is_worth_more(composition, edge):
        return edge
    found = _with_chords(_views(composition), _Epsilon(easier, harder), width)
    return found if edge is None else _common(found, edge)


def delta_of(views: Sequence[View], epsilon: Fraction, width: Fraction) -> Interval:
    """The same of finite losses that are known by their atoms and densities."""
    return _refined(views, _Delta(epsilon), width)


def epsilon_of(views: Sequence[View], delta: Fraction, width: Fraction) -> Interval:
    """The same of finite losses that are known by their atoms and densities, no finer than asked."""
    return _refined(views, _Epsilon(delta, delta, finer=1), width)


class Plain:
    """The same road, which goes no further than it is asked to."""

    def epsilon(self, composition: Composition, delta: Fraction, width: Fraction) -> Interval:
        """Of finite losses alone."""
        return epsilon_of(_views(composition), delta, width)

    def delta(self, composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
        """Of finite losses alone."""
        return delta_of(_views(composition), epsilon, width)


def _views(composition: Composition) -> list[View]:
    return [View.of(*in_steps(law, times)) for law, times in composition.parts]


def _with_chords(views: Sequence[View], query: _Epsilon, width: Fraction) -> Interval:
    """Few steps of a density whose transform falls slowly: the upper end by chords, if that is lower."""
    found = _refined(views, query, width)
    steps = sum(view.times for view in views)
    worth = _FINE if any(view.atoms.losses.size for view in views) else _CHORDED
    if len(views) > 1 or steps > _MOST_CHORDED or width > _NARROW or found.width <= worth * steps or not found.upper:
        return found
    try:
        upper = _by_chords(views[0], query, Guess(float(found.upper), query.log_delta), width)
    except DEAD_ENDS:
        return found
    return found if upper is None else Interval(found.lower, min(found.upper, upper), method=METHOD)


def _by_chords(view: View, query: _Epsilon, guess: Guess, width: Fraction) -> Fraction | None:
    goal = width / query.finer
    (cut,) = _trimmed([view], guess, goal, _CHORD_TOLERANCE)
    outline, log_tolerance = Outline.of([cut]), math.log(_CHORD_TOLERANCE)
    for most, longer in _MOST_CHORDS:
        chosen = contour_for_chords(
            outline, guess.epsilon, guess.log_delta, log_tolerance, count=most, steps=view.times
        )
        chosen = replace(chosen, period=longer * chosen.period)
        count = min(1 << max(math.ceil(math.log2(chosen.period / _CHORD)), 6), most)
        if chosen.period / count > _LONGEST_CHORD:
            return None
        try:
            return query.high(lay_chords(cut, chosen, count), guess)
        except NotApplicable:
            continue
        finally:
            forget(count)
    return None


def _is_worth_more(composition: Composition, edge: Interval) -> bool:
    """Whether a sum of very few steps is likely to be narrower still, and hardly costs anything."""
    steps = sum(times for _, times in composition.parts)
    return steps <= _FEW and edge.width > _FINEST * steps


def _refined(views: Sequence[View], query: Query, width: Fraction) -> Interval:
    """Finer than asked where that costs little; where even what was asked is not reached so, only that is tried for."""
    if not views:
        raise NotApplicable("nothing to add up")
    goal = width / query.finer
    search = _Search(query, views, goal, query.guess(views, goal))
    try:
        return _searched(search, width).found()
    finally:
        forget(search.count)


def _searched(search: _Search, width: Fraction) -> _Search:
    query, views = search.query, search.views
    search.refine(MOST)
    if query.finer > 1 and not search.is_narrow:
        plain = query.plain()
        guess = plain.guess(views, width) if search.best is None else search.guess
        search = _Search(plain, views, width, guess, search.best)
        search.refine(MOST if any(view.atoms.losses.size for view in views) else _MOST_NODES)
        search.look_higher()
    return search


class _Search:
    """Attempts so far: the best interval, the best guess, and how wide they are in units of what is wanted."""

    def __init__(
        self, query: Query, views: Sequence[View], width: Fraction, guess: Guess, best: Interval | None = None
    ) -> None:
        self.query, self.views, self.width, self.guess = query, views, width, guess
        self.best = best
        self.reason: Exception = NotApplicable("no attempt was made")
        self.wide = _FAR * query.finer
        self.count = 0
        self.outlined: tuple[list[tuple[float, float]], Outline] | None = None
        self.may_blur, self.is_blurred = True, False

    def refine(self, highest: int) -> None:
        """With more and more nodes, up to so many for one law, until the interval is narrow enough."""
        halvings = (len(self.views) - 1).bit_length()
        most = min(max(_MOST_WORK >> halvings, _FIRST), highest)
        has_both = any(view.dense is not None and view.atoms.losses.size for view in self.views)
        comfortable = max(self.comfortable(has_both=has_both) >> halvings, _FIRST)
        self.scout()
        if self.best is None and self.count > _FIRST:  # so many nodes for a law that hardly matters beside the others
            self.count = _FIRST
            self.scout()
        while not self.is_enough:
            enough = min(comfortable, most) if self.is_narrow else most
            if self.count >= enough:
                break
            self.count = min(self.count * _more(self.lacking, has_both=has_both), enough)
            self.scout()
        if self.best is None:
            self.lower()
        if self.is_blurred and not self.is_narrow:  # an atom at epsilon: a blur moves it, a lattice perhaps not
            self.may_blur = False
            self.attempt()

    def attempt(self) -> bool:
        """Whether the guess has moved so far that the same should be tried again."""
        before = self.guess
        try:
            cut = _trimmed(self.views, before, self.width)
            chosen = contour(self._outline(cut), before.epsilon, before.log_delta, math.log(_tolerance(self.width)))
            self.count = self.count or _first_count(chosen.period / chosen.deviation)
            lower, upper = lay(cut, chosen, self.count, may_blur=self.may_blur)
            self.is_blurred = upper.blur > 0
            found, self.guess = self.query.answer(lower, upper, before)
        except DEAD_ENDS as refused:
            self.reason = refused.with_traceback(None)  # which would keep all that was laid
            self.guess = self.query.between(self.best, before)
            self.count = self.count or _FIRST
            return self.guess.is_far_from(before)
        if found is not None:
            self.best = found if self.best is None else _common(self.best, found)
            self.wide = Fraction(self.best.width) / (self.width * self.query.scale(self.best))
        return not self.is_enough and self.guess.is_far_from(before)

    @property
    def is_narrow(self) -> bool:
        """As narrow as asked, if not as fine as it could be."""
        return self.wide <= self.query.finer

    @property
    def is_enough(self) -> bool:
        """Whether more nodes are not worth their cost."""
        if self.best is None:
            return False
        is_fine = self.best.width <= self.fine
        if self.query.finer > 1 and self.steps <= _FEW:
            return self.is_narrow and is_fine
        return self.wide <= 1 or (self.is_narrow and is_fine)

    @property
    def fine(self) -> float:
        """So narrow that nothing narrower is worth its cost."""
        return (_FINEST if self.are_few else _FINE) * self.steps

    @property
    def lacking(self) -> Fraction:
        """How many times narrower the answer should become; where it is narrow already, as far as that is worth it."""
        if self.best is None or not self.is_narrow:
            return self.wide
        return min(self.wide, Fraction(self.best.width) / Fraction(self.fine))

    def comfortable(self, *, has_both: bool) -> int:
        """So many nodes cost little."""
        if self.steps > _FEW:
            return _COMFORTABLE
        return _AMPLE if self.are_few and not has_both else _MORE

    @property
    def steps(self) -> int:
        return sum(view.times for view in self.views)

    @property
    def are_few(self) -> bool:
        """So few that an answer is made as narrow as floats allow."""
        return self.steps <= _VERY_FEW

    def scout(self) -> None:
        """With few nodes, until the guess stays."""
        for _ in range(_SCOUTS):
            if not self.attempt():
                break

    def lower(self) -> None:
        """Where there is no answer yet, with the most nodes: the first guess was too high, if that is why."""
        start = self.guess
        for part in _LOWER:
            self.guess = Guess(start.epsilon * part, start.log_delta)
            self.scout()
            if self.best is not None:
                break

    def look_higher(self) -> None:
        """Where the answer is wide for all that: a contour for a larger epsilon may lose less."""
        if self.best is not None and not self.is_narrow and self.best.lower:
            self.guess = Guess(2 * self.guess.epsilon, self.guess.log_delta)
            self.count = max(self.count // 2, _FIRST)
            self.attempt()

    def _outline(self, cut: Sequence[View]) -> Outline:
        """The last one, where it was of the same losses."""
        kept = [(view.cut, view.highest) for view in cut]
        if self.outlined is None or self.outlined[0] != kept:
            self.outlined = kept, Outline.of(cut)
        return self.outlined[1]

    def found(self) -> Interval:
        """The best interval, or the reason why there is none."""
        if self.best is None:
            raise self.reason
        return self.best


def _more(wide: Fraction, *, has_both: bool) -> int:
    """How many times more nodes: atoms beside a density let the width fall like the square of the step, all else
    like a higher power.
    """
    halvings = math.log2(min(wide, _FARTHEST))
    return 1 << max(math.ceil(halvings / 5), min(math.ceil(halvings / 2), 3 if has_both else 2), 1)


def _first_count(deviations: float) -> int:
    count = _FIRST
    while count < MOST and deviations > count / 4:
        count *= 2
    return count


def _tolerance(width: Fraction) -> float:
    """What part of delta may be neglected."""
    return max(min(float(width), 1e-4), _NARROWEST) / 8


def _trimmed(views: Sequence[View], guess: Guess, width: Fraction, tolerance: float = 0.0) -> list[View]:
    """Without losses that are far, or together rarer than can matter."""
    mass = math.exp(max(guess.log_delta, -600.0)) * (tolerance or _tolerance(width))
    least = sum(view.times * view.lowest for view in views)
    several = sum(view.times for view in views) > 1
    reach = 1.02 * guess.epsilon - least if several and least > -math.inf else math.inf
    return [view.trimmed(mass / (len(views) * view.times), reach + max(view.lowest, -1e300)) for view in views]


def _common(first: Interval, second: Interval) -> Interval:
    return Interval(max(first.lower, second.lower), min(first.upper, second.upper), method=METHOD)


@dataclass(frozen=True)
class _Delta:
    epsilon: Fraction
    finer: int = 1

    def plain(self) -> _Delta:
        return self

    def guess(self, views: Sequence[View], width: Fraction) -> Guess:
        guess = Guess(float(self.epsilon), -80.0)
        for _ in range(2):
            guess = Guess(guess.epsilon, Outline.of(_trimmed(views, guess, width)).log_delta(guess.epsilon))
        return guess

    def scale(self, found: Interval) -> Fraction:
        return max(Fraction(found.upper), _LEAST)

    def answer(self, lower: Laid, upper: Laid, guess: Guess) -> tuple[Interval | None, Guess]:
        value, _ = upper.rough(guess.epsilon)
        better = Guess(guess.epsilon, min(value, 0.0)) if math.isfinite(value) else guess
        least, most = (min(max(end, _NONE), _ALL) for end in (lower.lower(self.epsilon), upper.upper(self.epsilon)))
        return Interval(least, most, method=METHOD), better

    def between(self, best: Interval | None, guess: Guess) -> Guess:  # noqa: ARG002 - epsilon is known
        return guess


@dataclass(frozen=True)
class _Epsilon:
    easier: Fraction
    harder: Fraction
    finer: int = 400

    def plain(self) -> _Epsilon:
        return replace(self, finer=1)

    @property
    def log_delta(self) -> float:
        return float(Enclosure.of(self.harder).log().lower)

    def guess(self, views: Sequence[View], width: Fraction) -> Guess:
        outline = Outline.of(_trimmed(views, Guess(math.inf, self.log_delta), width))
        return Guess(outline.epsilon(self.log_delta), self.log_delta)

    def scale(self, found: Interval) -> Fraction:
        return max(Fraction(found.upper), _SMALL)

    def answer(self, lower: Laid, upper: Laid, guess: Guess) -> tuple[Interval | None, Guess]:
        """Guessed by secant steps, then checked on either side."""
        root = root_of(upper, guess)
        if upper.far.doubtful(Fraction(root.epsilon / 0.99)) > self.harder / 100:
            return None, Guess(1.15 * root.epsilon, guess.log_delta)
        other = root if lower is upper else root_of(lower, Guess(root.epsilon, guess.log_delta))
        other = other._replace(doubt=other.doubt + lower.lowered(other.epsilon))
        step = _STEP * upper.sum.frame.period
        high = checked(lambda place: upper.upper(place) <= self.harder, root, step, 1)
        low = checked(lambda place: lower.lower(place) >= self.easier, other, step, -1)
        if high is None:  # the sum was laid for the guess, and may serve there alone
            high = Fraction(guess.epsilon)
            if upper.upper(high) > self.harder:
                raise NotApplicable("no upper end was found")
        found = Interval(low or 0, high, method=METHOD)
        if root.doubt < _DOUBTFUL:
            return found, Guess(root.epsilon, guess.log_delta)
        better = self.between(found, guess)
        if not found.lower and root.epsilon < guess.epsilon:  # the sum tells nothing further down
            better = Guess(root.epsilon, guess.log_delta)
        return found, better

    def high(self, upper: Laid, guess: Guess) -> Fraction | None:
        """The upper end alone."""
        root = root_of(upper, guess)
        return checked(lambda place: upper.upper(place) <= self.harder, root, 1e-13 * guess.epsilon, 1)

    def between(self, best: Interval | None, guess: Guess) -> Guess:
        if best is None or best.lower < guess.epsilon < best.upper:
            return guess
        middle = float(best.lower + best.upper) / 2
        return Guess(middle if best.lower else float(best.upper), guess.log_delta)
