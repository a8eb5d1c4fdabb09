"""One pair of laws for all parts of a Parallel: at every loss its profile is the largest of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np

from privately.accounting.adaptive.pairs import Above, enclosing
from privately.accounting.adaptive.road import with_law
from privately.accounting.chosen_parts.beforehand import worst_choice
from privately.accounting.chosen_parts.divided import Divided
from privately.accounting.compositions import Composition, compositions
from privately.accounting.elementary import ERROR, UNIT, Floats, exp
from privately.accounting.ends import proved
from privately.accounting.events import Event, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.questions import NO_LOWER, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS
from privately.accounting.spreading import Losses, listed
from privately.accounting.spreading.lists import summed
from privately.errors import NoSuchRule
from privately.rounding import End, Interval

METHOD = "one pair for all parts"

Asked = Callable[[tuple[Composition, ...], Question], Interval]
"""The worst of several compositions."""

_MOST_DIVISIONS, _MOST_PARTS, _MOST_STEPS = 16, 8, 8
_CELLS, _SUMMED, _PLACES, _EVEN = 1 << 13, 1 << 10, 600, 200
_RARE, _UNKNOWN = 1e-8, 1e-30
_NARROW, _ROUGH = Fraction(1, 10**5), Fraction(1, 100)
_SHARES = Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)


def covered(event: Event, question: Question, asked: Asked) -> Interval | None:
    """The answer for compositions in which different parts may be chosen; None for others.

    Theorem: a row meets one part of each run, chosen in the light of all before. The largest of the profiles of all
        parts is convex, so it is that of a pair, which dominates whichever part is chosen; and dominating pairs
        compose. From below the parts are chosen beforehand.
    Reference: Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/events.md#one-pair-for-all-parts
    Checked-by: tests/accounting/chosen_parts/test_pairs.py::test_no_strategy_is_outside,
        tests/accounting/chosen_parts/test_pairs.py::test_a_pair_is_above_all_parts
    """
    try:
        found = Divided.of(event)
        parts = {met: [compositions(part) for part in met] for met in found.runs}
        beside = compositions(Steps(events=found.others)) if found.others else (Composition(),)
        if not 0 < len(parts) <= _MOST_DIVISIONS or not all(map(_are_few, parts.values())):
            return None
        eased = replace(question, width=max(question.width, _NARROW))
        rare = float(question.delta) * _RARE if isinstance(question, EpsilonAt) and question.delta else _UNKNOWN
        top = asked(tuple(_above(found, parts, beside, rare / sum(found.runs.values()))), eased)
    except (*DEAD_ENDS, NoSuchRule):
        return None
    rough = replace(question, width=max(question.width, _ROUGH))
    ways = _beforehand(found, lambda way: _asked(way, rough, asked).lower)
    bottom = max((_asked(way, eased, asked) for way in ways), key=lambda one: one.lower)
    return proved(bottom.lower, top.upper, method=f"{METHOD}, {top.method}")


def _are_few(parts: Sequence[tuple[Composition, ...]]) -> bool:
    longest = max(sum(times for _, times in one.parts) for part in parts for one in part)
    return len(parts) <= _MOST_PARTS and longest <= _MOST_STEPS


def _above(
    found: Divided,
    parts: dict[tuple[Event, ...], list[tuple[Composition, ...]]],
    beside: tuple[Composition, ...],
    rare: float,
) -> Iterator[Composition]:
    """One for each direction: whether the row is in one or in the other data does not change from run to run."""
    for way in range(max(len(one) for one in (beside, *(part for listing in parts.values() for part in listing)))):
        whole = beside[way % len(beside)]
        for met, times in found.runs.items():
            pair = above_all([part[way % len(part)] for part in parts[met]], rare)
            whole = with_law(whole, pair.law, min(times * pair.infinite, Fraction(1)), times)
        yield whole


def above_all(parts: Sequence[Composition], rare: float) -> Above:
    """A pair whose profile is nowhere below that of any of these; about `rare` of each counts as infinite loss."""
    lists = [_summed(part, rare) for part in parts]
    places = np.unique(np.concatenate([_spread(one) for one in lists]))
    values = np.zeros(places.size)
    for part, one in zip(parts, lists, strict=True):
        known = one.profile(places) * (1 + one.error) + one.outside
        values = np.maximum(values, (known + float(part.infinite)) * (1 + 8 * UNIT))
    values = np.minimum.accumulate(np.minimum(values, 1.0))
    y = exp(places) * (1 + 2 * ERROR + 8 * UNIT)
    return enclosing([(Fraction(a), Fraction(b)) for a, b in zip(y.tolist(), values.tolist(), strict=True)])


def _summed(part: Composition, rare: float) -> Losses:
    """The list of all losses of one run."""
    if not part.parts:
        return Losses.of(np.zeros(1), np.ones(1))
    count = _CELLS if sum(times for _, times in part.parts) == 1 else _SUMMED
    single = [listed(law, "upper", count, rare) for law, times in part.parts for _ in range(times)]
    return reduce(lambda one, other: summed(one, other, count, "upper", rare), single)


def _spread(found: Losses) -> Floats:
    """Some of its losses, and others at even distances."""
    some = found.losses[np.linspace(0, found.losses.size - 1, min(_PLACES, found.losses.size)).astype(np.int64)]
    return np.concatenate([some, np.linspace(float(found.losses[-1]), float(found.losses[0]), _EVEN)])


def _beforehand(found: Divided, worth: Callable[[Event], End]) -> Iterator[Event]:
    """Lists of parts that are fixed from the beginning: the same in every run, or two in shares."""
    yield worst_choice(found, worth)
    runs = list(found.runs.items())
    if len(runs) > 1 or len(runs[0][0]) > 2:
        return
    (one, other), times = runs[0]
    for share in _SHARES:
        first = round(share * times)
        divided = [Repeat(event=one, times=first), Repeat(event=other, times=times - first)]
        yield Steps(events=[*found.others, *divided])


def _asked(event: Event, question: Question, asked: Asked) -> Interval:
    with suppress(*DEAD_ENDS, NoSuchRule):
        return asked(compositions(event), question)
    return NO_LOWER
