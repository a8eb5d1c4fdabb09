"""Parts that are chosen in the light of earlier answers, many times: the game itself, played backwards on a lattice."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.pairs import enclosing, reached
from privately.accounting.adaptive.road import with_law
from privately.accounting.bounding import has_fixed_size
from privately.accounting.chosen_parts.divided import Divided
from privately.accounting.chosen_parts.values import Part, Value, variance, width, worst
from privately.accounting.compositions import Composition, compositions
from privately.accounting.elementary import ERROR, UNIT, Integers, exp
from privately.accounting.ends import both, proved
from privately.accounting.events import Event
from privately.accounting.events import Sequence as Steps
from privately.accounting.lattice.frame import short
from privately.accounting.questions import EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.spreading import Losses, listed
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "parts that are chosen as it goes"

Asked = Callable[[tuple[Composition, ...], Question], Interval]
"""The worst of several compositions."""

_MOST_GAMES, _MOST_PARTS, _MOST_RUNS, _MOST_STEPS = 12, 8, 2_000, 8
_LEVELS = (4e9, 64), (4e10, 192)
"""So many products are added up, at most, on lattices whose step is such a part of how far losses of one run spread."""
_SOME_GAMES, _MOST_STATES, _EACH = 4, 4096, 1e5
"""More games may leave no more states than these; every way to go on from one takes as long as so many products."""
_COARSEST, _MOST_PLACES = 5, 200_000
_FAR, _SPREADS = 10.0, 9.0
"""What is farther from the answer than this loss, or so many spreads of all runs, hardly matters: e^-10 of it."""
_RARE, _UNKNOWN, _LEAST_DELTA = 1e-8, 1e-30, 1e-100
_FEWER, _LARGEST = 1 << 10, 300.0
_FEW, _MANY, _NEIGHBOURS = 40, 600, 6
_NOTHING = Composition()
_NARROW, _ENOUGH = Fraction(1, 10**5), Fraction(1, 1000)


@dataclass(frozen=True)
class Game:
    """So many runs of one Parallel, in one direction."""

    parts: tuple[Composition, ...]
    runs: int


@dataclass(frozen=True)
class Games:
    """One game for each different Parallel, in one direction and played together, beside others that have a pair."""

    games: tuple[Game, ...]
    beside: Composition

    @property
    def runs(self) -> int:
        """In all."""
        return sum(game.runs for game in self.games)

    @property
    def states(self) -> int:
        """How many different runs may be left."""
        return math.prod(game.runs + 1 for game in self.games)

    def is_quick(self, work: float) -> bool:
        """Whether so many products are what takes long, and not that there are many states."""
        return self.states * sum(len(game.parts) for game in self.games) * _EACH <= work

    def value(self, rare: float, epsilon: float, work: float, fine: int) -> Value:
        """As it matters for answers around this epsilon: of all that may be left, from nothing on.

        Theorem: with runs left of several Parallels, the next one may be of any of them: the value is the largest, over
            these and their parts, of one run before the value of what is left then.
        Reference: Bellman 1957
        Proof: docs/theory/accounting/events.md#games-of-parts
        Checked-by: tests/accounting/chosen_parts/test_games.py::test_no_order_of_two_parallels_is_outside
        """
        listed_by_game = [[_listed(part, rare) for part in game.parts] for game in self.games]
        lists = [found for each in listed_by_game for found in each]
        spreads = [max(map(_variance, each)) for each in listed_by_game]
        spread = math.sqrt(max(spreads))
        largest = max(sum(times * float(np.abs(one.losses).max()) for one, times in found) for found in lists)
        if len(self.games) > _SOME_GAMES and self.states > _MOST_STATES:
            raise NotApplicable("too many different divisions")
        if not (spread > 0 and largest < _LARGEST and epsilon < _LARGEST):
            raise NotApplicable("no losses, or too large ones")
        whole = math.sqrt(sum(game.runs * each for game, each in zip(self.games, spreads, strict=True)))
        far = min(_FAR, _SPREADS * whole + largest)
        reach = sum(sum(times * width(one, times) for one, times in found) for found in lists)
        wide = epsilon + 2 * far
        step = short(
            max(spread / fine, math.sqrt(2 * self.states * reach * wide / work), (wide + reach) / _MOST_PLACES)
        )
        if step > spread / _COARSEST:
            raise NotApplicable("too many runs for a fine lattice")
        laid = [[Part.of(part, step, rare) for part in game.parts] for game in self.games]
        nothing = Value.start(step, -math.ceil(far / step), math.ceil((epsilon + far) / step))
        known = {(0,) * len(laid): nothing}
        for _ in range(self.runs):
            known = self._one_more(known, laid)
        ((_, value),) = known.items()
        return value

    def values(self, rare: float, epsilon: float, work: float, fine: int) -> list[Value]:
        """The same of each of several games by itself."""
        if len(self.games) == 1:
            raise NotApplicable("a single game")
        return [Games((game,), _NOTHING).value(rare, epsilon, work / len(self.games), fine) for game in self.games]

    def _one_more(self, known: dict[tuple[int, ...], Value], laid: list[list[Part]]) -> dict[tuple[int, ...], Value]:
        """All that may be left with one run more."""
        ways: dict[tuple[int, ...], list[tuple[Value, Part]]] = {}
        for left, value in known.items():
            for which, game in enumerate(self.games):
                if left[which] < game.runs:
                    more = (*left[:which], left[which] + 1, *left[which + 1 :])
                    ways.setdefault(more, []).extend((value, part) for part in laid[which])
        return {more: worst(found) for more, found in ways.items()}


def games(event: Event) -> list[Games]:
    """The games of an event, for each direction; none where it is not few Parallels, so many times each, and others.

    Theorem: in any order the profile is at most that of the others' pair composed with the pairs whose profiles are the
        values of the games; with a single game, and that last, it is reached.
    Reference: Zhu-Dong-Wang 2022, Theorem 10; Dong-Durfee-Rogers 2020, section 5
    Proof: docs/theory/accounting/events.md#games-of-parts
    Checked-by: tests/accounting/chosen_parts/test_games.py::test_no_strategy_is_outside,
        tests/accounting/chosen_parts/test_games.py::test_left_to_others
    """
    if has_fixed_size(event):
        return []
    try:
        found = Divided.of(event)
        if not 0 < len(found.runs) <= _MOST_GAMES:
            return []
        parts = [[compositions(way) for way in met] for met in found.runs]
        beside = compositions(Steps(events=found.others)) if found.others else (Composition(),)
    except (NotApplicable, NoSuchRule):
        return []
    every = [part for listing in parts for part in listing]
    longest = max(sum(times for _, times in one.parts) for part in every for one in part)
    if max(map(len, parts)) > _MOST_PARTS or sum(found.runs.values()) > _MOST_RUNS or longest > _MOST_STEPS:
        return []
    return [
        Games(
            tuple(
                Game(tuple(part[way % len(part)] for part in listing), total)
                for listing, total in zip(parts, found.runs.values(), strict=True)
            ),
            beside[way % len(beside)],
        )
        for way in range(max(map(len, (*every, beside))))
    ]


def chosen_as_it_goes(
    event: Event, question: Question, asked: Asked, known: Interval | None, above: Callable[..., Interval | None]
) -> Interval | None:
    """The answer, where an upper end is known, or others have one; None for other events."""
    played = games(event)
    if not played:
        return None
    if isinstance(question, EpsilonAt):
        known = known or above(event, question)
        if known is None or question.delta < _LEAST_DELTA:
            return None
        rare, epsilon = float(question.delta) * _RARE, float(known.upper)
    else:
        rare, epsilon = _UNKNOWN, float(min(question.epsilon, Fraction(_LARGEST)))
    best: Interval | None = None
    for work, fine in _LEVELS if played[0].is_quick(_LEVELS[0][0]) else _LEVELS[1:]:
        asked_for = rare / played[0].runs, epsilon, work / len(played), fine
        with suppress(*DEAD_ENDS):
            try:
                found = _answer(played, [one.value(*asked_for) for one in played], question, asked)
            except DEAD_ENDS:
                found = _apart(played, [one.values(*asked_for) for one in played], question, asked)
            best = found if best is None else both(best, found)
            if question.is_met(best, max(question.width, _ENOUGH)):
                break
    return best


def _answer(played: Sequence[Games], values: Sequence[Value], question: Question, asked: Asked) -> Interval:
    """By pairs on either side of the values, beside all others."""
    most, least = list[Composition](), list[Composition]()
    for one, value in zip(played, values, strict=True):
        kept = _kept(value, _near(value, question), is_alone=one.beside.is_nothing)
        most.append(_with_pair(one.beside, value, kept))
        least.append(with_law(one.beside, reached(value.prices[kept], value.powers[kept])))
    eased = replace(question, width=max(question.width, _NARROW))
    top, bottom = asked(tuple(most), eased), asked(tuple(least), eased)
    return proved(bottom.lower, top.upper, method=f"{METHOD}, {top.method}")


def _apart(played: Sequence[Games], values: list[list[Value]], question: Question, asked: Asked) -> Interval:
    """From above alone: by a pair for each game, one after the other."""
    most = list[Composition]()
    for one, apart in zip(played, values, strict=True):
        above = one.beside
        for value in apart:
            above = _with_pair(above, value, _kept(value, _near(value, question), is_alone=False))
        most.append(above)
    top = asked(tuple(most), replace(question, width=max(question.width, _NARROW)))
    return Interval(0, top.upper, method=f"{METHOD}, {top.method}")


def _with_pair(beside: Composition, value: Value, kept: Integers) -> Composition:
    """With a pair that is above the value."""
    grown = exp(value.losses[kept]) * (1 + 2 * ERROR + 8 * UNIT)
    points = zip(grown.tolist(), value.upper[kept].tolist(), strict=True)
    pair = enclosing([(Fraction(y), Fraction(worth)) for y, worth in points])
    return with_law(beside, pair.law, pair.infinite)


def _listed(part: Composition, rare: float) -> list[tuple[Losses, int]]:
    return [(listed(law, "upper", _FEWER, rare), times) for law, times in part.parts]


def _variance(found: list[tuple[Losses, int]]) -> float:
    return sum(times * variance(one) for one, times in found)


def _near(value: Value, question: Question) -> float:
    """The loss around which the answer of the game alone lies."""
    if not isinstance(question, EpsilonAt):
        return float(question.epsilon)
    return float(value.losses[max(int(np.searchsorted(-value.upper, -float(question.delta))) - 1, 0)])


def _kept(value: Value, around: float, *, is_alone: bool) -> Integers:
    """Few places, and those near the loss if that is all that counts; more, most of them not far from it, if not."""
    size, middle = value.upper.size, int(around / value.step) - value.first
    many, wide = (_FEW, _NEIGHBOURS) if is_alone else (_MANY, 2 * abs(int(around / value.step)))
    low, high = (min(max(middle + end, 0), size - 1) for end in (-wide, wide))
    near = np.linspace(low, high, min(many, high - low + 1))
    return np.unique(np.concatenate([np.linspace(0, size - 1, min(many, size)), near]).astype(np.int64))
