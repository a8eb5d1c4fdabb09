"""Two laws on 0, 1, 2, ... that fall in different ways: how much one exceeds e^epsilon times the other.

The gap of the two is a sum of terms c b(k), where b(k) = C(k+m-1, m-1) (1-r)^m r^k. Terms of which fingerprints say
that they cancel are left out. From some value on the gap has the sign of its largest terms (docs/theory/programs.md,
Rays); before it values are looked at one by one, and all of b adds up to 1.
"""

from collections.abc import Callable
from functools import cmp_to_key

from ..intervals import Interval, Undecided, whole
from ..work import Work
from .exact import Beyond, fraction
from .sums import Falls
from .weights import Decay, Field, Weight

LONGEST = 2_048
"""Values that are looked at one by one."""

Key = tuple[Decay, int]
"""The r and the m of a term."""

Same = Callable[[Weight, Weight, Interval], bool]
"""Whether one weight is e^epsilon times another, where the gap between them is hardly to be seen."""


class Gap:
    """P - e^epsilon Q on all values."""

    def __init__(self, ours: Falls, theirs: Falls, growth: Interval, same: Same, field: Field) -> None:
        self.ours, self.theirs = ours, theirs
        self.same, self.field = same, field
        self.none = whole(0, field.bits)
        self.keys = _from_the_largest([*ours, *theirs], field)
        found = {key: self._coefficient(key, growth) for key in self.keys}
        self.coefficients = {key: one for key, one in found.items() if one is not None}

    def _coefficient(self, key: Key, growth: Interval) -> Interval | None:
        """None if it is 0."""
        one, other = self.ours.get(key), self.theirs.get(key)
        if one is None or other is None:
            return one.interval if one else -(growth * other.interval) if other else None
        gap = one.interval - growth * other.interval
        if one.interval.high < 0:
            return None if self.same(self.field.negative(one), self.field.negative(other), -gap) else gap
        return None if self.same(one, other, gap) else gap

    def excess(self, work: Work) -> Interval:
        """The sum of max(0, P - e^epsilon Q)."""
        if not self.coefficients:
            return self.none
        positive = _is_positive(next(iter(self.coefficients.values())))
        if positive is None:
            raise Undecided("the sign of a tail is open")
        total, rest = self.none, self.none
        for one in self.coefficients.values():
            rest += one
        sizes = {key: self._first(key) for key in self.keys}
        for k in range(LONGEST + 1):
            work.spend(40 * len(sizes))
            if not k & (k - 1) and self._is_settled(sizes, k, positive=positive):
                return total + _not_below_zero(rest) if positive else total
            gap = self.none
            for key, one in self.coefficients.items():
                gap += one * sizes[key].interval
            rest -= gap
            if gap.high > 0 and not (gap.low <= 0 and self._cancels(sizes, gap)):
                total += _not_below_zero(gap)
            sizes = {key: self._next(size, key, k) for key, size in sizes.items()}
        raise Beyond("the ratio of two tails is open for too long")

    def _cancels(self, sizes: dict[Key, Weight], gap: Interval) -> bool:
        """Whether one value has exactly the largest ratio that is allowed."""
        one, other = (self._at(falls, sizes) for falls in (self.ours, self.theirs))
        return self.same(one, other, gap)

    def _at(self, falls: Falls, sizes: dict[Key, Weight]) -> Weight:
        found = Weight(self.none, 0)
        for key, share in falls.items():
            found = self.field.plus(found, self.field.times(share, sizes[key]))
        return found

    def _first(self, key: Key) -> Weight:
        """b(0) = (1-r)^m."""
        found, (_, rest) = self.field.one, self.field.shares(key[0])
        for _ in range(key[1]):
            found = self.field.times(found, rest)
        return found

    def _next(self, size: Weight, key: Key, k: int) -> Weight:
        """b(k+1) = b(k) r (k+m)/(k+1)."""
        more, _ = self.field.shares(key[0])
        return self.field.times(size, self.field.times(more, self.field.rational(fraction(k + key[1], k + 1))))

    def _is_settled(self, sizes: dict[Key, Weight], k: int, *, positive: bool) -> bool:
        """Whether the gap certainly has the sign of its first terms from k on.

        Terms of that sign help, wherever they are. The others must together be smaller than the first ones of that
        sign, and fall no slower than each of these, for which it is enough that they do not from k to k+1.
        """
        first: list[Key] = []
        others: list[Key] = []
        for key, one in self.coefficients.items():
            if _is_positive(one) is not positive:
                others.append(key)
            elif not others:
                first.append(key)
        if any(not self._falls_faster(key, lead, k) for key in others for lead in first):
            return False
        gap = self.none
        for key in first:
            gap += _size(self.coefficients[key]) * sizes[key].interval
        for key in others:
            gap -= _size(self.coefficients[key]) * sizes[key].interval
        return gap.low > 0

    def _falls_faster(self, key: Key, lead: Key, k: int) -> bool:
        """A term falls by r (k+m)/(k+1), and of (k+m)/(k+n) for m > n less and less is left as k grows."""
        if key[1] <= lead[1]:
            return True
        fall, slower = (self.field.shares(decay)[0].interval.times(k + order) for decay, order in (key, lead))
        return (slower - fall).low >= 0


def _from_the_largest(keys: list[Key], field: Field) -> list[Key]:
    def compared(one: Decay, other: Decay) -> int:
        return 1 if field.is_less(field.shares(one)[0], field.shares(other)[0]) else -1

    decays = sorted({decay for decay, _ in keys}, key=cmp_to_key(compared))
    return [key for decay in decays for key in sorted(set(keys), key=lambda one: -one[1]) if key[0] == decay]


def _is_positive(one: Interval) -> bool | None:
    """None if it is open."""
    return True if one.low > 0 else False if one.high < 0 else None


def _not_below_zero(one: Interval) -> Interval:
    return Interval(max(one.low, 0), max(one.high, 0), one.exponent, one.bits)


def _size(one: Interval) -> Interval:
    """Its absolute value."""
    if one.low >= 0:
        return one
    return -one if one.high <= 0 else Interval(0, max(-one.low, one.high), one.exponent, one.bits)
