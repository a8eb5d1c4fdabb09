"""Neighbouring entries to try: where a search starts, and what it changes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from privately.proving.language.declarations import ANY_NUMBER, Domain, Neighborhood

Vector: TypeAlias = tuple[Fraction, ...]
Pair: TypeAlias = tuple[Vector, Vector]
"""Entries of both inputs; where one is added, the first has it."""

MOST_VALUES = 7
_ZERO = Fraction(0)


def starts(near: Neighborhood, count: int, anchors: Sequence[Fraction] = ()) -> Iterator[Pair]:
    """Neighbours with nothing special about the rest: all up, all down, one entry, halves, alternating. Entries are
    zero, or what is in the middle of a domain, or near numbers that the program speaks of (`anchors`)."""
    domain = near.domain or ANY_NUMBER
    if near.distance is not None:
        all_gaps = [_times(near.distance, gaps) for gaps in _first_gaps(near.change, count)]
        for base in _bases(domain, near.distance, anchors):
            same = (base,) * count
            yield from ((same, moved(same, gaps)) for gaps in all_gaps)
        yield from ((base, moved(base, gaps)) for gaps in all_gaps for base in _at_both_ends(domain, gaps))
        return
    values = [*worth_trying(domain), *anchors]
    for base in dict.fromkeys((*values[:3], *anchors)):
        same = (base,) * count
        for other in values:
            if near.change == "added":
                yield from ((_with(same, place, other), same[1:]) for place in range(count))
            elif other != base:
                yield from ((same, _with(same, place, other)) for place in range(count))
                yield from [(same, (other,) * count)] if near.change == "anything" else []
    yield from _among_halves(near.change, count, values)
    if len(values) == 1 and near.change != "added":  # it cannot change, but what stands beside it may
        yield (values[0],) * count, (values[0],) * count


def _at_both_ends(domain: Domain, gaps: Vector) -> Iterator[Vector]:
    """Entries that go up at one end of what they can be, those that go down at the other."""
    if min(gaps, default=_ZERO) < 0 < max(gaps, default=_ZERO):
        low, high = ends_of(domain)
        if low is not None and high is not None:
            yield tuple(low if gap > 0 else high for gap in gaps)
            yield tuple(high - gap if gap > 0 else low - gap for gap in gaps)


def _among_halves(change: str, count: int, values: Sequence[Fraction]) -> Iterator[Pair]:
    """One half is small, the other large: an entry that goes over changes what most of them are."""
    for low, high in ((low, high) for low in values[:2] for high in values[:2] if low != high and count > 1):
        halves = (low,) * (count // 2) + (high,) * (count - count // 2)
        for place in range(count):
            if change == "added":
                yield halves, halves[:place] + halves[place + 1 :]
            else:
                other = low if halves[place] == high else high
                yield halves, _with(halves, place, other)


def _bases(domain: Domain, distance: Fraction, anchors: Sequence[Fraction]) -> list[Fraction]:
    """Where entries that move by a distance lie: at zero if they can, at the ends and the middle of what is bounded."""
    bounded = domain.values is not None or domain.lower is not None or domain.upper is not None
    ends = worth_trying(domain)[:3] if bounded else []
    found = [_ZERO, *ends, *_around(anchors, distance)]
    return list(dict.fromkeys(one for one in found if one in domain))


def _around(anchors: Sequence[Fraction], distance: Fraction) -> Iterator[Fraction]:
    for anchor in anchors:
        yield from (anchor, anchor + distance, anchor - distance)


def _times(distance: Fraction, gaps: Sequence[int]) -> Vector:
    return tuple(distance * gap for gap in gaps)


def _first_gaps(change: str, count: int) -> Iterator[tuple[int, ...]]:
    for sign in (1, -1):
        if change != "one":
            yield (sign,) * count
        if change == "each":
            yield tuple(sign * (-1) ** k for k in range(count))
            yield tuple(-sign if k == count - 1 else sign for k in range(count))
            yield tuple(-sign if 2 * k >= count else sign for k in range(count))
        for place in range(count):
            yield tuple(sign * (k == place) for k in range(count))


def moves(
    near: Neighborhood, pair: Pair, steps: Sequence[Fraction], anchors: Sequence[Fraction] = ()
) -> Iterator[Pair]:
    """Neighbours that are a step away from these."""
    left, right = pair
    if near.distance is not None:
        gaps = tuple(b - a for a, b in zip(left, right, strict=True))
        yield from ((base, moved(base, gaps)) for base in _shifted(left, gaps, steps))
        yield from ((left, moved(left, other)) for other in _other_gaps(near, gaps))
        yield from ((left, moved(left, other)) for other in _half_gaps(gaps, steps))
        return
    for place in range(len(left)):
        for value in (*worth_trying(near.domain or ANY_NUMBER), *anchors):
            changed = _with(left, place, value)
            if near.change == "added":
                yield from ((changed, changed[:gone] + changed[gone + 1 :]) for gone in range(len(left)))
            elif near.change == "anything":
                yield changed, right
                yield left, _with(right, place, value)
            else:
                yield changed, _with(right, place, value)
                yield left, changed


def moved(base: Vector, gap: Vector, sign: int = 1) -> Vector:
    """base + gap, or base - gap."""
    return tuple(a + b if sign > 0 else a - b for a, b in zip(base, gap, strict=True))


def are_neighbors(near: Neighborhood, left: Vector, right: Vector) -> bool:
    """Whether two lists of entries are neighbours; domains are looked at elsewhere."""
    if near.change == "added":
        return any(left[:gone] + left[gone + 1 :] == right for gone in range(len(left)))
    if len(left) != len(right):
        return False
    gaps = [b - a for a, b in zip(left, right, strict=True)]
    if near.distance is not None and any(abs(gap) > near.distance for gap in gaps):
        return False
    if near.change in {"one", "replaced"}:
        return sum(map(bool, gaps)) <= 1
    return near.change != "monotone" or all(gap >= 0 for gap in gaps) or all(gap <= 0 for gap in gaps)


def worth_trying(domain: Domain) -> list[Fraction]:
    """Values of a domain: its ends, then some between."""
    if domain.values is not None:
        values = list(domain.values)
    elif domain.lower is None and domain.upper is None:
        values = [Fraction(v) for v in (0, 1, -1, 4, -4, 16, -16)]
    else:
        low = domain.lower if domain.lower is not None else (domain.upper or _ZERO) - 16
        high = domain.upper if domain.upper is not None else low + 16
        between = [low + (high - low) * Fraction(k, 4) for k in (0, 4, 2, 1, 3)]
        if domain.whole:
            between = [Fraction(round(value)) for value in between]
        values = [value for value in between if value in domain]
    if len(values) > MOST_VALUES:
        values = [*values[:3], *values[-3:], values[len(values) // 2]]
    return list(dict.fromkeys(values))


def ends_of(domain: Domain) -> tuple[Fraction | None, Fraction | None]:
    """The least and the largest number in it, if there are."""
    if domain.values is not None:
        return domain.values[0], domain.values[-1]
    return domain.lower, domain.upper


def _with(vector: Vector, place: int, value: Fraction) -> Vector:
    return (*vector[:place], value, *vector[place + 1 :])


def _shifted(base: Vector, gaps: Vector, steps: Sequence[Fraction]) -> Iterator[Vector]:
    """One entry moved, all moved, or all that differ alike."""
    kinds = set(gaps)
    for step in (*steps, *(-one for one in steps)):
        yield from (_with(base, place, base[place] + step) for place in range(len(base)))
        if len(base) > 1:
            yield tuple(value + step for value in base)
        if len(kinds) > 1:
            for kind in kinds:
                yield tuple(v + step if gap == kind else v for v, gap in zip(base, gaps, strict=True))


def _half_gaps(gaps: Vector, steps: Sequence[Fraction]) -> Iterator[Vector]:
    """Half as far apart, if entries move in steps as fine: a remainder may be the same for the farthest neighbours."""
    halves = tuple(gap / 2 for gap in gaps)
    finest = max((step.denominator for step in steps), default=1)
    if all(finest % half.denominator == 0 for half in halves):
        yield halves


def _other_gaps(near: Neighborhood, gaps: Vector) -> Iterator[Vector]:
    """Other ways in which neighbours can differ, close to this one."""
    step = near.distance or _ZERO
    yield tuple(-gap for gap in gaps)
    if near.change == "one":
        for place in range(len(gaps)):
            for sign in (1, -1):
                yield tuple(sign * step * (k == place) for k in range(len(gaps)))
        return
    for place, gap in enumerate(gaps):
        for other in (-step, _ZERO, step):
            changed = _with(gaps, place, other)
            if other != gap and (near.change == "each" or min(changed) >= 0 or max(changed) <= 0):
                yield changed
