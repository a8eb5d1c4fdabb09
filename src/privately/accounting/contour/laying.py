"""Laying the sum along a contour: how far it goes, and what is known of every law from there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privately.accounting.contour.atoms import MOST_STEPS, Atoms
from privately.accounting.contour.bundles import grids
from privately.accounting.contour.laplaces import Laplaces
from privately.accounting.contour.protocols import Gridded, Law, Scattered
from privately.accounting.contour.saddle import Shape, wanted_fall
from privately.accounting.contour.sampled_gaussian import Grid
from privately.accounting.contour.scattering import Scattering
from privately.accounting.contour.split import NearGrid
from privately.accounting.contour.view import View, enlarged, exp_above
from privately.accounting.elementary import UNIT, Floats
from privately.accounting.kept import Kept
from privately.accounting.roads import NotApplicable

MOST_WORK = 1 << 24
MOST_NODES = 1 << 19
"""Some fifty megabytes, however little work each of them is."""
_REACHES, _LATER_REACHES = np.array([1.0, 1.25, 1.6]), np.array([2.4, 4.0, 8.0])
_FAR_REACHES = np.array([1.6, 2.4, 4.0])
"""Where frequencies are few, going further costs less than trying twice."""
_LONG_REACHES = 4.0 * 1.25 ** np.arange(32.0)
_GUESSED = np.array([0.98, 1.15])
_NOT_FAR, _NEARLY_SQUARE = 100.0, 1.5
_AGAIN = np.array([1.0, 1.02, 1.1])
"""Once a reach is known: other points may need a little more."""
_ENDLESS_REACHES = np.concatenate([_REACHES, _LATER_REACHES[:1], _LONG_REACHES])
"""Where no points have to be laid again, all are tried at once."""
_SOON_REACHED = (1.0, 1.25, 1.6)
_LONGEST_REACH = 1e9
_NEGLIGIBLE = 5.0
_NEAR, _ALMOST = 4.0, 2.0
"""So much less will do where going further would not help, as atoms do not fall; and so far it is worth going."""
_FEW = 64
_THINNED = 64
"""Of more laws whose falls take long, some are asked first."""


@dataclass(frozen=True)
class Layout:
    """A finite sum along Re z = c: `count` steps, and bounds on what is beyond."""

    c: float
    step: float
    count: int
    gaussian: float
    views: tuple[tuple[View, int], ...]
    atoms: Atoms | None
    log_mass: tuple[float, float]
    truncated: float
    whole: Whole
    _others: tuple[float, float]

    @Kept
    def heights(self) -> tuple[tuple[float, float], ...]:
        """Other places on the real line, with ln M there from above."""
        return tuple((b, self.whole.log_mass_above(b) if b else 0.0) for b in self._others)


def lay(
    parts: Sequence[tuple[Law, int]], gaussian: float, shape: Shape, tolerance: float, most_work: int = MOST_WORK
) -> Layout:
    """A sum long enough for errors of about `tolerance`, relative to delta; NotApplicable if it is too much work."""
    saddle, c = shape.saddle, shape.saddle.c
    wanted = wanted_fall(saddle, math.log(tolerance))
    calm = wanted - math.log(2 * c + 1)
    if not saddle.variance > 0:
        raise NotApplicable("the losses do not vary")
    base = math.sqrt(2 * wanted / saddle.variance)
    beyond = 2 * shape.step
    ratios = _first_ratios(shape, base)
    reach = base * float(ratios[-1]) * (1 + 2.0**-40) + beyond
    may_guess = True
    while True:
        quiets = [calm + math.log(times * len(parts)) for _, times in parts]
        whole = Whole(grids(parts, c, shape.above, reach, quiets), gaussian, c, shape.epsilon)
        views = whole.views(reach)
        tries = (_ENDLESS_REACHES, _LONG_REACHES) if whole.is_endless else (ratios, _LATER_REACHES, _LONG_REACHES)
        found = _soon(whole, base, wanted) or _farther(
            whole, views, (base * tried for tried in tries), wanted, may_guess=may_guess
        )
        if found.is_enough and (whole.is_endless or found.reach + beyond <= reach):
            views = whole.views(max(reach, found.reach + beyond)) if whole.is_endless else views
            break
        if found.is_enough:
            ratios = _AGAIN * (found.reach / base)
        elif found.guess:
            ratios, may_guess = _GUESSED * (found.guess / base), False
        else:
            base, ratios = found.reach, _REACHES
        reach = base * float(ratios[-1]) * (1 + 2.0**-40) + beyond
        if base > _LONGEST_REACH:
            raise NotApplicable("the integrand falls too slowly")
        if reach / shape.step * len(parts) > most_work:
            raise NotApplicable("the sum is too long")
        del whole, views  # before others are laid
    count = max(math.ceil(found.reach / shape.step), 2)
    if count > MOST_NODES or count * sum(grid.size for grid, _ in whole.grids) > most_work:
        raise NotApplicable("the sum is too long")
    return Layout(
        c=c,
        step=shape.step,
        count=count,
        gaussian=gaussian,
        views=views,
        atoms=found.atoms,
        log_mass=whole.log_mass([view.log_mass for view, _ in views]),
        truncated=enlarged(exp_above(-found.falls) / (3.14159 * shape.step * count)),
        whole=whole,
        _others=(shape.above, shape.below),
    )


def _first_ratios(shape: Shape, base: float) -> Floats:
    """How far to go at first, over the frequency at which normal losses of the same variance would have fallen."""
    if shape.reach:
        return _GUESSED * (shape.reach / base)
    return _FAR_REACHES if 4 * base < _FEW * shape.step else _REACHES


@dataclass(frozen=True)
class _Found:
    """A frequency and how much the integrand has fallen there; where that is not enough, perhaps a guess of what is."""

    reach: float
    falls: float
    atoms: Atoms | None
    is_enough: bool
    guess: float | None = None


def _soon(whole: Whole, base: float, wanted: float) -> _Found | None:
    """The first frequency that is enough, of a single Laplace law; None for all else, and where that is far away."""
    if len(whole.grids) != 1 or whole.gaussian:
        return None
    grid, times = whole.grids[0]
    if not isinstance(grid, Laplaces) or len(grid.times) > 1:
        return None
    for reach in (base * ratio for ratio in _SOON_REACHED):
        fall = grid.fallen(whole.c, reach) * (times * (1 - 2.0**-20))
        if fall + math.log(reach) > wanted - _ALMOST:
            return _Found(reach, fall, None, is_enough=True)
    return None


def _farther(
    whole: Whole, views: Sequence[tuple[View, int]], tries: Iterable[Floats], wanted: float, *, may_guess: bool
) -> _Found:
    """The first frequency that is enough, or the last."""
    found: _Found | None = None
    for reaches in tries:
        if whole.is_dear:
            found = _bisected(whole, views, reaches, wanted)
            if found.is_enough:
                return found
            continue
        falls, atoms = whole.falls(views, reaches, wanted)
        needed = wanted - _ALMOST if whole.is_endless and atoms is None else wanted
        for reach, fall in zip(reaches.tolist(), falls.tolist(), strict=True):
            if fall + math.log(reach) > needed:
                return _Found(reach, fall, atoms, is_enough=True)
        guess = _guessed(reaches, falls, wanted) if may_guess and not whole.is_endless else None
        found = _Found(float(reaches[-1]), float(falls[-1]), atoms, is_enough=False, guess=guess)
        if guess:
            break
    if found is None:
        raise NotApplicable("no frequencies to try")
    return found


def _bisected(whole: Whole, views: Sequence[tuple[View, int]], reaches: Floats, wanted: float) -> _Found:
    """The first frequency that is enough, or the last, as if falls rose with every frequency."""

    def tried(place: int) -> _Found:
        fall = float(whole.falls(views, reaches[place : place + 1], wanted)[0][0])
        reach = float(reaches[place])
        return _Found(reach, fall, None, is_enough=fall + math.log(reach) > wanted - _ALMOST)

    if len(whole.grids) > _THINNED:
        return _verified(whole, views, reaches, wanted, tried)
    low, high = 0, len(reaches) - 1
    found = tried(high)
    while found.is_enough and low < high:
        middle = (low + high) // 2
        nearer = tried(middle)
        low, high, found = (low, middle, nearer) if nearer.is_enough else (middle + 1, high, found)
    return found


def _verified(
    whole: Whole, views: Sequence[tuple[View, int]], reaches: Floats, wanted: float, tried: Callable[[int], _Found]
) -> _Found:
    """The same for many laws: some of them tell where to look first."""
    thin = whole.thinned(_THINNED // 4)
    ahead = _bisected(thin, views, reaches, wanted)
    place = int(np.searchsorted(reaches, ahead.reach))
    found = tried(place)
    while not found.is_enough and place < len(reaches) - 1:
        place += 1
        found = tried(place)
    return found


def _guessed(reaches: Floats, falls: Floats, wanted: float) -> float | None:
    """How far to go, where falls grow nearly like the square of the frequency and not too much was missed."""
    first, last, ratio = float(falls[0]), float(falls[-1]), float(reaches[-1] / reaches[0])
    if last < 1 or last * _NOT_FAR < wanted or last < first * ratio**_NEARLY_SQUARE:
        return None
    return float(reaches[-1]) * math.sqrt(wanted / last)


@dataclass(frozen=True)
class Whole:
    """The grids of all parts, each so many times, and what is Gaussian."""

    grids: Sequence[tuple[Gridded, int]]
    gaussian: float
    c: float
    aim: float | None = None
    """The epsilon that is asked about: a law alone is seen from there, if it can."""

    @Kept
    def is_endless(self) -> bool:
        """Whether the views serve all frequencies."""
        return all(grid.is_endless for grid, _ in self.grids)

    @Kept
    def is_dear(self) -> bool:
        """Whether it takes long to ask how fast the losses fall, and no atoms can be taken out."""
        return self.is_endless and any(isinstance(grid, NearGrid) for grid, _ in self.grids)

    def thinned(self, most: int) -> Whole:
        """Some of the laws, each in place of several: about as fast a fall, which bounds nothing."""
        stride = -(-len(self.grids) // most)
        return Whole([(grid, times * stride) for grid, times in self.grids[::stride]], self.gaussian, self.c)

    def views(self, reach: float) -> tuple[tuple[View, int], ...]:
        if self.aim is not None and len(self.grids) == 1 and not self.gaussian:
            grid, times = self.grids[0]
            if isinstance(grid, (Grid, Laplaces)):
                return ((grid.view(self.c, reach, self.aim / times), times),)
        return tuple((grid.view(self.c, reach), times) for grid, times in self.grids)

    def falls(self, views: Sequence[tuple[View, int]], reaches: Floats, wanted: float) -> tuple[Floats, Atoms | None]:
        """Lower bounds on -ln |M(c + iw)/M(c)| for all w at or above each reach; for a law alone, without its atoms."""
        alone = len(self.grids) == 1 and not self.gaussian
        if alone and not self.is_endless:
            atoms = self._atoms(views, wanted + _NEGLIGIBLE)
            if atoms:
                return atoms.falls(reaches), atoms
        if alone:
            falls = self.grids[0][0].decay(self.c, reaches) * (self.grids[0][1] * (1 - 2.0**-20))
        else:
            falls = self._together(reaches)
            scattering = [grid for grid, _ in self.grids if isinstance(grid, Scattered)]
            if self.gaussian and scattering:
                falls = self._scattered(scattering, falls, reaches, wanted)
        if alone and self.is_endless:
            is_near = reaches <= _NEAR * reaches[0]
            if not (is_near & (falls + np.log(reaches) > wanted - _ALMOST)).any():
                atoms = self._atoms(views, wanted + _NEGLIGIBLE)
                if atoms:
                    return atoms.falls(reaches), atoms
        return falls, None

    def _together(self, reaches: Floats) -> Floats:
        falls = reaches * reaches * (self.gaussian / 2)
        for grid, times in self.grids:
            falls = falls + times * grid.decay(self.c, reaches)
        return falls * (1 - 2.0**-20)

    def _scattered(self, grids: Sequence[Scattered], falls: Floats, reaches: Floats, wanted: float) -> Floats:
        """The same where atoms scatter, up to a frequency from which what is Gaussian falls far enough by itself."""
        last = max(math.sqrt(2 * (wanted + _NEGLIGIBLE) / self.gaussian), float(reaches[0]))
        pairs = Scattering(last)
        try:
            for grid in grids:
                grid.scatter(self.c, pairs)
            before = falls + pairs.fallen(np.minimum(reaches, last)) * (1 - 2.0**-20)
        except NotApplicable:
            return falls
        return np.maximum(falls, np.minimum(before, self._together(np.maximum(reaches, last))))

    def _atoms(self, views: Sequence[tuple[View, int]], least: float) -> Atoms | None:
        """What can be taken out of a law alone, if it does not die out by itself so far."""
        atoms = self.grids[0][0].atoms(self.c, *views[0])
        dies_out = atoms is None or atoms.times * (1 - atoms.mass) >= least
        return None if atoms is None or dies_out or atoms.times > MOST_STEPS else atoms

    def log_mass(self, masses: Sequence[tuple[float, float]]) -> tuple[float, float]:
        """ln M(c) of all parts together, from those of the parts."""
        low = high = size = (self.c * self.c + self.c) * self.gaussian / 2
        for (least, most), (_, times) in zip(masses, self.grids, strict=True):
            low, high, size = low + times * least, high + times * most, size + times * max(abs(least), abs(most))
        slack = 4 * (len(masses) + 4) * UNIT * size
        return low - slack, high + slack

    def log_mass_above(self, c: float) -> float:
        """ln M at any c, from above."""
        total = (c * c + c) * self.gaussian / 2
        size = total
        for grid, times in self.grids:
            one = times * grid.log_mass_above(c)
            total, size = total + one, size + abs(one)
        return total + 4 * (len(self.grids) + 4) * UNIT * size
