"""Sums of geometric variables of one direction, by their laws: sums of m variables of one decay, with shares.

Shares add up to 1, and some may be below 0 (docs/theory/programs.md, Sums of tails).
"""

from collections.abc import Sequence

from ..work import Work
from .weights import Decay, Field, Weight

Falls = dict[tuple[Decay, int], Weight]
"""(decay, m) -> the share of the sum of m variables."""


STEP, PAIR = 20, 300
"""Units of work for one part of one share, beside its bits; and for two decays."""


def law_of_sum(decays: Sequence[Decay], field: Field, work: Work) -> Falls:
    """The law of a sum of variables, one after the other."""
    found: Falls = {(decays[0], 1): field.one}
    for decay in decays[1:]:
        before, found = found, {}
        others = dict.fromkeys(one for one, _ in before if one != decay)
        work.spend(_steps(before, field) + PAIR * len(others))
        parts = {one: _apart(one, decay, field) for one in others}
        for (one, order), share in before.items():
            if one == decay:
                add(found, (one, order + 1), share, field)
                continue
            kept, moved = parts[one]
            left = share
            for fewer in range(order, 0, -1):
                add(found, (one, fewer), field.times(left, kept), field)
                left = field.times(left, moved)
            add(found, (decay, 1), left, field)
    return found


def _apart(one: Decay, other: Decay, field: Field) -> tuple[Weight, Weight]:
    """The sum of two variables with decays r and q has the share (1-q) r / (r-q) of the first, and the rest of 1 of the
    other: (1-r) q / (q-r)."""
    (r, r_rest), (q, q_rest) = field.shares(one), field.shares(other)
    first, second = field.times(q_rest, r), field.times(r_rest, q)
    if field.is_less(q, r):
        gap = field.minus(r, q)
        return field.over(first, gap), field.negative(field.over(second, gap))
    gap = field.minus(q, r)
    return field.negative(field.over(first, gap)), field.over(second, gap)


def _steps(falls: Falls, field: Field) -> int:
    """What it takes to go through all shares, which have as many parts as variables."""
    return sum(order for _, order in falls) * (STEP + field.bits // 12)


def first_and_rest(falls: Falls, field: Field, work: Work) -> tuple[Weight, Falls]:
    """The weight of 0; and what is left, moved down by 1: of a sum of m variables r (1-r)^(m-j) of a sum of j."""
    work.spend(_steps(falls, field))
    first, rest = None, Falls()
    for (decay, order), share in falls.items():
        more, less = field.shares(decay)
        left = share
        for fewer in range(order, 0, -1):
            add(rest, (decay, fewer), field.times(left, more), field)
            left = field.times(left, less)
        first = left if first is None else field.plus(first, left)
    return first or field.one, rest


def add(falls: Falls, key: tuple[Decay, int], share: Weight, field: Field) -> None:
    falls[key] = field.plus(falls[key], share) if key in falls else share
