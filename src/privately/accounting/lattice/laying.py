"""Sums for both sides of the truth, with all that has to be allowed for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from privately.accounting.elementary import ERROR, UNIT, exp
from privately.accounting.lattice.blurring import atoms_piece, normal_piece
from privately.accounting.lattice.composing import Sum, exactly
from privately.accounting.lattice.frame import Frame, short
from privately.accounting.lattice.multiplying import Part
from privately.accounting.lattice.one_off import OneOff
from privately.accounting.lattice.pieces import Piece, chord_piece, smooth_piece, together
from privately.accounting.lattice.placing import Side, atom_piece, is_on_lattice, nearest, settled
from privately.accounting.lattice.planning import Contour, View, grid
from privately.accounting.lattice.smooth import NOTHING, Masses, Smooth
from privately.accounting.roads import NotApplicable
from privately.laws.series import minus_log_complement, one_minus_exp
from privately.rounding import Enclosure

_ONE = Enclosure.of(1)
_QUIET = 20.0
_MANY = 64
"""So many atoms are a list, the last of which may lie where it likes."""
_LEAST_FALL, _LARGEST_FALL = 4.0, 80.0

_Gone: TypeAlias = tuple[View, tuple[Masses, Masses], float]
"""A law, its far atoms and what of its density is far, and what is below all of these losses."""

MOST = 1 << 18
"""The most nodes that are tried; fewer with several laws."""


@dataclass(frozen=True)
class FarPart:
    """The far losses of one law, which comes so many times: their masses under P and under Q (this one as a share of
    all), and up to which epsilon one of them is enough, whatever all other losses are.
    """

    first: Enclosure
    share: Enclosure
    times: int
    enough: Fraction | None


@dataclass(frozen=True)
class Far:
    """Losses that are left out of the sum: what all combinations with one of them add.

    Theorem: if S >= epsilon whenever a loss of some laws is far, these combinations add P - e^epsilon Q,
        P = 1 - prod (1 - p)^T and Q = K (1 - prod (1 - q/k)^T), where p and q are the masses of their far losses under
        P and under Q, k = E[e^-L] of a law (that is, its mass under Q), and K the product of k^T over all laws. All
        other combinations with a far loss add between 0 and 1 - prod (1 - p)^T over the other laws.
    Reference: the definition of the profile
    Proof: docs/theory/accounting/lattice.md#far-losses
    Checked-by: tests/accounting/lattice/test_laying.py::test_far_losses_are_added_exactly
    """

    parts: tuple[FarPart, ...] = ()
    whole: Enclosure = _ONE
    """K, the product of k^T over all laws."""

    def at(self, epsilon: Fraction) -> Enclosure:
        """What they add at epsilon."""
        first, second, rest = self._masses(epsilon)
        added = (first - Enclosure.of(epsilon).exp() * second).nonnegative() if first.upper else first
        return added + Enclosure(Decimal(0), rest.upper) if rest.upper else added

    def rough(self, epsilon: float) -> float:
        """The same as a float. What is not enough counts as if it were, so that nothing jumps where it ceases to be."""
        place, grown, whole = Fraction(epsilon), math.exp(min(epsilon, 700.0)), float(self.whole.upper)
        others = self._ordered[: self._left(place)]
        added = (part.times * (float(part.first.upper) - grown * whole * float(part.share.upper)) for part in others)
        return float(self.at(place).lower) + sum(max(one, 0.0) for one in added)

    def doubtful(self, epsilon: Fraction) -> Fraction:
        """The mass of those that are not enough at epsilon, at most."""
        return Fraction(self._masses(epsilon)[2].upper)

    def _left(self, epsilon: Fraction) -> int:
        return sum(part.enough is None or epsilon > part.enough for part in self.parts)

    def _masses(self, epsilon: Fraction) -> tuple[Enclosure, Enclosure, Enclosure]:
        """P and Q of those that are enough at epsilon, and P of all others."""
        left = self._left(epsilon)
        if left not in self._known:
            others, enough = self._ordered[:left], self._ordered[left:]
            first = _at_least_one([(part.first, part.times) for part in enough])
            second = self.whole * _at_least_one([(part.share, part.times) for part in enough])
            self._known[left] = first, second, _at_least_one([(part.first, part.times) for part in others])
        return self._known[left]

    @cached_property
    def _ordered(self) -> list[FarPart]:
        """Those first that are enough for the smallest epsilons only, or for none."""
        return sorted(self.parts, key=lambda part: -math.inf if part.enough is None else part.enough)

    @cached_property
    def _known(self) -> dict[int, tuple[Enclosure, Enclosure, Enclosure]]:
        return {}


@dataclass(frozen=True)
class Laid:
    """A sum for one side, with all that has to be allowed for.

    Losses are less `shift`, may be `slack` off, and `dropped` is the mass that was left out beside those `far` ones.
    """

    sum: Sum
    shift: Fraction
    slack: Fraction
    dropped: Fraction
    far: Far
    carried: Fraction = Fraction(0)
    """What P has at least of the losses of the sum, less what Q has of them below 0: aliases from the left are as much.
    """

    @property
    def blur(self) -> float:
        """The variance of what was added to the losses."""
        return self.sum.softness

    def upper(self, epsilon: Fraction) -> Fraction:
        """delta at epsilon, from above."""
        share = self.sum.share(epsilon - self.shift - self.slack, up=False)
        found = (self.sum.above(share, self.carried) + self.far.at(epsilon)).interval().upper
        return (found if isinstance(found, Fraction) else Fraction(1)) + self.dropped

    def lower(self, epsilon: Fraction) -> Fraction:
        """delta at epsilon, from below."""
        share = self.sum.share(epsilon - self.shift + self.slack, up=True)
        found = (self.sum.below(share) + self.far.at(epsilon)).interval().lower
        return found if isinstance(found, Fraction) else Fraction(0)

    def rough(self, epsilon: float) -> tuple[float, float]:
        """ln delta at epsilon, and how far it may be off, roughly."""
        share = self.sum.share(Fraction(epsilon) - self.shift, up=False)
        value = self.sum.at(share)
        exponent = float(self.sum.log_unit.lower) - self.sum.frame.tilt * (epsilon - float(self.shift))
        scale = math.exp(min(exponent, 700.0))
        found = scale * max(value.total, 0.0) + self.far.rough(epsilon) - self._from_the_left(share)
        if self.sum.once is not None:
            found += self.sum.once.at(self.sum.epsilon(share))[0]
        if found <= scale * value.error:
            return -math.inf, math.inf
        return math.log(found), scale * value.error / found

    def _from_the_left(self, share: Fraction) -> float:
        return float(self.sum.from_the_left(share, self.carried).lower) if self.carried else 0.0

    def lowered(self, epsilon: float) -> float:
        """What part of delta the blur costs on the lower side, roughly."""
        if not self.blur:
            return 0.0
        share = self.sum.share(Fraction(epsilon) - self.shift, up=False)
        return self.sum.change(share) / max(self.sum.at(share).total, 1e-300)


def lay(views: Sequence[View], chosen: Contour, count: int, *, may_blur: bool = True) -> tuple[Laid, Laid]:
    """For the lower and the upper side: one and the same where all atoms lie on the lattice, or stay where they are."""
    ruled = grid(views, chosen.period, count, MOST)
    frame = Frame(ruled.step, ruled.count, chosen.tilt)
    placed = list(zip(views, ruled.offsets, strict=True))
    are_moved = _are_moved(placed, frame)
    blurred = _blurred_or_none(views, chosen, count) if are_moved and may_blur else None
    if blurred is not None:
        return blurred, blurred
    upper = _lay(placed, frame, chosen.height, "upper")
    if not are_moved:
        return upper, upper
    return _lay(
        [(view, _settled(view, frame, offset)) for view, offset in placed], frame, chosen.height, "lower"
    ), upper


def lay_chords(view: View, chosen: Contour, count: int) -> Laid:
    """For the upper side of a law that has a density alone: with chords in place of its curve, which cost what the
    square of the step is, however slowly its transform falls.
    """
    if view.dense is None or view.atoms.losses.size or view.dense.base.mass != 1:
        raise NotApplicable("atoms, or no density")
    frame = Frame(short(chosen.period / count), count, chosen.tilt)
    cut, lost = _cut(view.dense, view.cut, frame, 0.0)
    dense = view.dense

    def parts() -> Iterator[Part]:
        yield Part(view.times, chord_piece(dense, frame, 0.0, cut), None)  # which nothing else keeps

    whole = Sum(frame, parts(), height=chosen.height)
    far = _far([(view, (NOTHING, lost), _least(view, cut, NOTHING))])
    none, kept = Fraction(0), 1 - Fraction(lost.first + 2 * lost.first_error)
    return Laid(whole, none, none, none, far, max(kept, none) ** view.times)


def _are_moved(views: Sequence[tuple[View, float]], frame: Frame) -> bool:
    """Whether there are atoms that do not lie on the lattice."""
    return any(not is_on_lattice(view.atoms.up_to(view.highest)[0], frame, offset) for view, offset in views)


def _settled(view: View, frame: Frame, offset: float) -> float:
    """The offset for the lower side; as it was, where a density or atoms on the lattice ask for it."""
    kept = view.atoms.up_to(view.highest)[0]
    if view.dense is not None or kept.losses.size < _MANY or is_on_lattice(kept, frame, offset):
        return offset
    return settled(kept, frame, offset, view.times)


def _lay(views: Sequence[tuple[View, float]], frame: Frame, height: float, side: Side) -> Laid:
    gone: list[_Gone] = []
    shift = slack = dropped = Fraction(0)

    def parts() -> Iterator[Part]:
        nonlocal shift, slack, dropped
        for view, offset in views:
            base = extra = once = None
            kept, far = view.atoms.up_to(view.highest)
            cut, lost = math.inf, NOTHING
            is_exact = False
            if kept.losses.size:
                base, off, is_exact = atom_piece(kept, frame, offset, side)
                slack += view.times * Fraction(off)
            if view.dense is not None:
                cut, lost = _cut(view.dense, view.cut, frame, offset)
                extra = smooth_piece(view.dense, frame, offset, cut)
                if len(views) == 1 and is_exact and cut == math.inf:
                    points = nearest(kept, frame, offset)[0]
                    once = OneOff.of(view.dense, kept, points, view.times, step=frame.step, offset=offset)
            gone.append((view, (far, lost), _least(view, cut, far)))
            shift += view.times * Fraction(offset)
            dropped += view.times * Fraction(kept.outside)
            part = Part(view.times, base, extra, once)
            del base, extra
            yield part
            del part

    whole = Sum(frame, parts(), height=height)
    return Laid(whole, shift, slack, dropped, _far(gone))


def _blurred_or_none(views: Sequence[View], chosen: Contour, count: int) -> Laid | None:
    try:
        return _blurred(views, Frame(short(chosen.period / count), count, chosen.tilt), chosen)
    except NotApplicable:
        return None


def _blurred(views: Sequence[View], frame: Frame, chosen: Contour) -> Laid:
    """Atoms where they are, and a normal loss added to their sum."""
    gone: list[_Gone] = []
    slack = dropped = Fraction(0)
    fall = min(max(_QUIET + math.log(frame.step) - chosen.log_share, _LEAST_FALL), _LARGEST_FALL)
    softness = short(2 * fall * (frame.step / math.pi) ** 2)

    def parts() -> Iterator[Part]:
        nonlocal slack, dropped
        for view in views:
            kept, far = view.atoms.up_to(view.highest)
            cut, lost = math.inf, NOTHING
            piece: Piece | None = None
            if kept.losses.size:
                piece, moved = atoms_piece(kept, frame)
                slack += view.times * Fraction(moved)
            if view.dense is not None:
                cut, lost = _cut(view.dense, view.cut, frame, 0.0)
                dense = smooth_piece(view.dense, frame, 0.0, cut)
                piece = dense if piece is None else together(piece, dense)
                del dense
            gone.append((view, (far, lost), _least(view, cut, far)))
            dropped += view.times * Fraction(kept.outside)
            part = Part(view.times, None, piece)
            del piece
            yield part
            del part
        yield Part(1, None, normal_piece(frame, softness, chosen.height))

    whole = Sum(frame, parts(), height=chosen.height, softness=softness)
    return Laid(whole, Fraction(0), slack, dropped, _far(gone))


def _cut(dense: Smooth, y: float, frame: Frame, offset: float) -> tuple[float, Masses]:
    """A y near the given one whose loss lies midway between two lattice points, and what lies above."""
    if y == math.inf or dense.form == "add":
        return math.inf, NOTHING
    loss = (max(math.floor((dense.loss(y) - offset) / frame.step), 0) + 0.5) * frame.step + offset
    cut = dense.plain(loss)
    if not cut > 0:
        raise NotApplicable("the cut is too low")
    return cut, dense.above(cut)


def _least(view: View, cut: float, far: Masses) -> float:
    """Below all losses of a law that are far."""
    gone = view.atoms.losses > view.highest
    least = math.inf if far is NOTHING else math.nextafter(view.atoms.below()[gone].min(), -math.inf)
    if view.dense is not None and cut < math.inf:
        least = min(least, view.dense.loss_between(cut)[0])
    return least


def _far(gone: Sequence[_Gone]) -> Far:
    """The far losses of all laws, and up to which epsilon one of them is enough."""
    parts, whole = [], _ONE
    bounded = all(view.lowest > -math.inf for view, _, _ in gone)
    least = sum((view.times * Fraction(view.lowest) for view, _, _ in gone), Fraction(0)) if bounded else None
    for view, masses, start in gone:
        p = sum((_enclosed(one.first, one.first_error) for one in masses), Enclosure.of(0))
        q = sum((_enclosed(one.second, one.second_error) for one in masses), Enclosure.of(0))
        other = _second_mass(view)
        whole = whole * other**view.times
        if p.upper or q.upper:
            enough = least - Fraction(view.lowest) + Fraction(start) if least is not None and start < math.inf else None
            parts.append(FarPart(p, q / other, view.times, enough))
    return Far(tuple(parts), whole)


def _at_least_one(shares: Sequence[tuple[Enclosure, int]]) -> Enclosure:
    """1 - prod (1 - share)^times, to full relative precision however small."""
    ends = []
    for pick in (0, 1):
        exponent = Enclosure.of(0)
        for share, times in shares:
            end = Fraction((share.lower, share.upper)[pick])
            if end >= 1:
                return Enclosure(Decimal(0), Decimal(1))
            if end > 0:
                exponent = exponent + times * minus_log_complement(end)
        ends.append(one_minus_exp(exponent) if exponent.lower > 0 else Enclosure.of(0))
    return Enclosure(ends[0].lower, ends[1].upper)


def _second_mass(view: View) -> Enclosure:
    """E[e^-L]: 1, but for laws of finitely many losses, which may leave something of Q out."""
    if view.dense is not None:
        return Enclosure.of(1)
    falls = exp(-view.atoms.losses)
    total = float((view.atoms.masses * falls).sum())
    off = float(((view.atoms.mass_errors + view.atoms.masses * (2 * view.atoms.loss_errors + 4 * ERROR)) * falls).sum())
    return _enclosed(total, off + 2 * (falls.size + 8) * UNIT * total)


def _enclosed(value: float, error: float) -> Enclosure:
    return Enclosure(exactly(max(value - error, 0.0)).lower, exactly(value + error).upper)
