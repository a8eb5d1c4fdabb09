"""Two laws on the same values 0, 1, 2, ... that fall in different ways: how far they are apart.

Each is an exponential polynomial, a sum of c k^j r^k. From some k on the sign of such a sum is that of its largest
term; what comes before is looked at value by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from math import comb, factorial
from typing import TypeAlias

from flint import arb, ctx

from privately.proving.exact.budgets import NotFinite, spend
from privately.proving.exact.places import Exponential, Place, ball
from privately.proving.exact.spreads import Falls
from privately.proving.exact.tails import LONGEST, writable
from privately.proving.exact.weights import ZERO, Quotient, Weight, weight

BITS = 192
CANDIDATES = 50

Terms: TypeAlias = dict[tuple[Weight, int], Weight]
"""(r, j) -> c, for a sum of c k^j r^k."""

Term: TypeAlias = tuple[arb, int, arb]
"""(r, j, c) in balls."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The largest ratio, None if there is none; and the value that has it, None if far values only come near to it."""

    ratio: Weight | None
    at: int | None


def peak(left: Falls, right: Falls, place: Place | None) -> Peak:
    """The largest ratio of left to right, both positive everywhere.

    Theorem: the ratio has a limit L: that of the coefficients of the largest terms, if these fall alike. If
        L right - left is positive from K on, the largest ratio is L or that of a value below K. If it is negative from
        K on, the largest ratio R up to K is above L, R right - left is positive from some larger K on, and the largest
        ratio is that of a value below it.
    Reference: Polya-Szego 1925, part V, chapter 1 (zeros of exponential polynomials)
    Proof: docs/theory/programs.md#rays
    Checked-by: tests/proving/exact/test_rays.py::test_peaks_agree_with_long_windows
    """
    ours, theirs = terms_of(left), terms_of(right)
    order = _from_the_largest([*ours, *theirs], place)
    if order[0] not in theirs:
        return Peak(None, None)
    limit = ours.get(order[0], ZERO) / theirs[order[0]]
    gap = {key: limit * theirs.get(key, ZERO) - ours.get(key, ZERO) for key in order}
    gap = {key: coefficient for key, coefficient in gap.items() if coefficient}
    if not gap:
        return Peak(limit, 0)
    with ctx.workprec(BITS):
        beside = Beside(left, right, place)
        below = [(_ball(ratio, place), degree, _ball(one, place)) for (ratio, degree), one in gap.items()]
        enough = settled(below)
        above = _sign(next(iter(gap.values())), place) < 0
        if above:
            most = max(arb((one / other).lower()) for one, other in beside.first(enough + 1))
            higher = beside.combined(arb(-1), most)
            if not higher[0][2] > 0:
                raise NotFinite("ratios of probabilities, far out, that are too close to one another.")
            enough = max(enough + 1, settled(higher))
        best = _best(left, right, _highest(beside, below, enough), place)
    return best if above or _sign(best.ratio - limit, place) >= 0 else Peak(limit, None)


def _highest(beside: Beside, below: Sequence[Term], count: int) -> list[int]:
    """The values under `count` of which balls do not say that another has a larger ratio, or that the limit is."""
    ratios = {
        k: one / other
        for k, ((one, other), gap) in enumerate(zip(beside.first(count), values(below, count), strict=True))
        if not gap > 0
    }
    most = max((arb(one.lower()) for one in ratios.values()), default=arb(0))
    return [k for k, one in ratios.items() if not one < most]


def _best(left: Falls, right: Falls, candidates: Sequence[int], place: Place | None) -> Peak:
    if len(candidates) > CANDIDATES:
        raise NotFinite("ratios of probabilities, far out, that are too close to one another.")
    best, most = None, ZERO
    for k in candidates:
        ratio = mass_at(left, k) / mass_at(right, k)
        if _sign(ratio - most, place) > 0:
            best, most = k, ratio
    return Peak(most, best)


def mass_at(falls: Falls, k: int) -> Weight:
    """The mass of one value, exactly."""
    parts = (
        share * (1 - ratio) ** order * comb(k + order - 1, order - 1) * writable(ratio**k)
        for (ratio, order), share in falls.items()
    )
    return writable(sum(parts, ZERO))


def terms_of(falls: Falls) -> Terms:
    """A law as an exponential polynomial."""
    found: Terms = {}
    for (ratio, order), share in falls.items():
        scale = share * (1 - ratio) ** order * weight(Fraction(1, factorial(order - 1)))
        for degree, coefficient in enumerate(_rising(order - 1)):
            found[ratio, degree] = found.get((ratio, degree), ZERO) + scale * coefficient
    return {key: coefficient for key, coefficient in found.items() if coefficient}


def _rising(count: int) -> list[int]:
    """The coefficients of (k+1) (k+2) ... (k+count)."""
    found = [1]
    for one in range(1, count + 1):
        found = [one * same + lower for same, lower in zip([*found, 0], [0, *found], strict=True)]
    return found


def _from_the_largest(keys: Sequence[tuple[Weight, int]], place: Place | None) -> list[tuple[Weight, int]]:
    """Ratios and degrees by how large k^degree ratio^k is in the end."""

    def descending(one: Weight, other: Weight) -> int:
        return _sign(other - one, place)

    ratios = sorted(dict.fromkeys(key[0] for key in keys), key=cmp_to_key(descending))
    most = max(degree for _, degree in keys)
    wanted = set(keys)
    return [(ratio, degree) for ratio in ratios for degree in range(most, -1, -1) if (ratio, degree) in wanted]


class Beside:
    """Two laws in balls: terms from the largest on, each with both coefficients."""

    def __init__(self, left: Falls, right: Falls, place: Place | None) -> None:
        ours, theirs = terms_of(left), terms_of(right)
        self.terms = [
            (_ball(key[0], place), key[1], _ball(ours.get(key, ZERO), place), _ball(theirs.get(key, ZERO), place))
            for key in _from_the_largest([*ours, *theirs], place)
        ]

    def combined(self, left: arb, right: arb) -> list[Term]:
        """So many times one law and so many times the other."""
        return [(ratio, degree, left * one + right * other) for ratio, degree, one, other in self.terms]

    def first(self, count: int) -> Iterator[tuple[arb, arb]]:
        """The masses of 0, 1, ... in both."""
        return zip(*(values(self.combined(*one), count) for one in ((arb(1), arb(0)), (arb(0), arb(1)))), strict=True)


def values(terms: Sequence[Term], count: int) -> Iterator[arb]:
    """A sum of c k^j r^k for k = 0, 1, ..."""
    spend(count * len(terms))
    sizes = [one for _, _, one in terms]
    for k in range(count):
        yield sum((size * k**degree for size, (_, degree, _) in zip(sizes, terms, strict=True)), arb(0))
        sizes = [size * ratio for size, (ratio, _, _) in zip(sizes, terms, strict=True)]


class Rest:
    """All values from a first one on, as what they add to the sum of max(0, P - e^epsilon Q)."""

    def __init__(self, beside: Beside, start: int) -> None:
        self.beside, self.start = beside, start
        self.sums = [_sum_from(start, ratio, degree) for ratio, degree, _, _ in beside.terms]
        self.mass = self._total([one for _, _, one, _ in beside.terms])

    def excess(self, growth: arb) -> tuple[arb, arb]:
        """Both ends of it.

        Theorem: terms whose sign is open move the sum of max(0, ...) by no more than the sum of their sizes; the others
            have the sign of their first one, if it is settled. In any case it is at most the mass of P.
        Reference: Polya-Szego 1925, part V, chapter 1 (zeros of exponential polynomials)
        Proof: docs/theory/programs.md#rays
        Checked-by: tests/proving/exact/test_rays.py::test_sums_agree_with_long_windows
        """
        terms = self.beside.combined(arb(1), -growth)
        certain = next((place for place, (_, _, one) in enumerate(terms) if not one.contains(0)), len(terms))
        doubt = sum((abs(terms[place][2]) * self.sums[place] for place in range(certain)), arb(0))
        if certain < len(terms) and not is_settled(terms[certain:], self.start):
            return arb(0), self.mass
        whole = arb(0)
        if certain < len(terms) and terms[certain][2] > 0:
            whole = self._total([arb(0)] * certain + [one for _, _, one in terms[certain:]])
        return whole - doubt, whole + doubt

    def _total(self, coefficients: list[arb]) -> arb:
        return sum((one * size for one, size in zip(coefficients, self.sums, strict=True)), arb(0))


def cut(left: Falls, right: Falls, place: Place | None) -> tuple[list[tuple[arb, arb]], Rest]:
    """The first masses of two laws, and the rest, of which little is left or not much is open."""
    beside = Beside(left, right, place)
    fall = float(-beside.terms[0][0].log().mid())
    count = min(LONGEST, 16 + int(BITS / fall)) if fall > 0 else LONGEST
    return list(beside.first(count)), Rest(beside, count)


def _sum_from(start: int, ratio: arb, degree: int) -> arb:
    """The sum of k^degree ratio^k over all k from a start on."""
    sums: list[arb] = []
    for power in range(degree + 1):
        lower = sum((comb(power, one) * sums[one] for one in range(power)), arb(0))
        sums.append(ratio / (1 - ratio) * lower if power else 1 / (1 - ratio))
    shifted = (comb(degree, one) * arb(start) ** (degree - one) * sums[one] for one in range(degree + 1))
    return ratio**start * sum(shifted, arb(0))


def settled(terms: Sequence[Term]) -> int:
    """From here on a sum of c k^j r^k has the sign of its first, largest term.

    Theorem: k^(j-m) (r/q)^k falls from k on if k ln(q/r) >= j - m. So if the sizes of all other terms, divided by that
        of the first, add up to less than 1 at such a k, they do so from there on.
    Reference: Polya-Szego 1925, part V, chapter 1 (zeros of exponential polynomials)
    Proof: docs/theory/programs.md#rays
    Checked-by: tests/proving/exact/test_rays.py::test_signs_are_settled_where_it_is_said
    """
    k = 1
    while not is_settled(terms, k):
        k *= 2
        if k > LONGEST:
            raise NotFinite(f"tails whose ratio is open for more than {LONGEST} values.")
    return k


def is_settled(terms: Sequence[Term], k: int) -> bool:
    """Whether it has that sign from k on, for all that is known."""
    (ratio, degree, coefficient), *others = terms
    total = arb(0)
    for smaller, higher, one in others:
        faster = smaller / ratio
        if higher > degree and not -k * faster.log() >= higher - degree:
            return False
        total += abs(one) * arb(k) ** (higher - degree) * faster**k
    return bool(total < abs(coefficient))


def _ball(value: Weight, place: Place | None) -> arb:
    return ball(value, place, BITS)


def _sign(value: Weight, place: Place | None) -> int:
    if isinstance(value, Quotient) and isinstance(place, Exponential):
        return place.sign(value)
    return int(value > 0) - int(value < 0)
