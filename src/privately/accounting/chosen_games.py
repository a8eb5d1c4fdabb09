"""Parts that are chosen in the light of earlier answers, many times: the game itself, played backwards on a lattice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privately.accounting.adaptive.pairs import enclosing, reached
from privately.accounting.adaptive.road import with_law
from privately.accounting.bounding import has_fixed_size
from privately.accounting.compositions import Composition, compositions
from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.ends import both, proved
from privately.accounting.events import Event, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.lattice.frame import short
from privately.accounting.questions import EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.spreading import Losses, listed
from privately.accounting.terms import Terms, alternatives, count, side_by_side
from privately.errors import NoSuchRule
from privately.rounding import Interval

METHOD = "parts that are chosen as it goes"

Asked = Callable[[tuple[Composition, ...], Question], Interval]
"""The worst of several compositions."""
Masses = tuple[Floats, int]
"""At the places first, first + 1, ... of a lattice."""

_MOST_PARTS, _MOST_RUNS, _MOST_STEPS = 8, 2_000, 8
_LEVELS = (4e9, 64), (4e10, 192)
"""So many products are added up, at most, on lattices whose step is such a part of how far losses of one run spread."""
_COARSEST, _MOST_PLACES = 5, 200_000
_SPARSE, _USUAL = 16, 14.0
"""Beyond so many spreads of one run places are so many steps apart."""
_FAR, _SPREADS = 10.0, 9.0
"""What is farther from the answer than this loss, or so many spreads of all runs, hardly matters: e^-10 of it."""
_RARE, _UNKNOWN, _LEAST_DELTA = 1e-8, 1e-30, 1e-100
_CELLS, _FEWER, _LARGEST, _LOST = 1 << 13, 1 << 10, 300.0, 1e-290
_FEW, _MANY, _NEIGHBOURS = 40, 600, 6
_NARROW, _ENOUGH = Fraction(1, 10**5), Fraction(1, 1000)


@dataclass(frozen=True)
class Part:
    """One run of a part, from either side of it: probabilities at the places of a lattice."""

    most: Masses
    """Under P, of the finite losses of a pair that costs at least as much."""
    outside: float
    """What is to be added, at most: infinite losses, and what was left out."""
    powers: Masses
    prices: Masses
    """Under P, from below, and under Q, from above, of outcomes and lots: losses are near these places."""
    infinite: float
    """The mass at infinite loss, from below."""

    @classmethod
    def of(cls, composition: Composition, step: float, rare: float) -> Part:
        """From the lists of all its losses."""
        most = powers = prices = (np.ones(1), 0)
        outside = 0.0
        for law, times in composition.parts:
            above, below = listed(law, "upper", _CELLS, rare), listed(law, "lower", _CELLS, rare)
            one, (power, price) = _split(above, step), _drawn(below, step)
            for _ in range(times):
                most = _added(most, one, 1)
                powers, prices = _added(powers, power, -1), _added(prices, price, 1)
                outside = (outside + above.outside) * (1 + 4 * UNIT)
        least = math.nextafter(float(composition.infinite_lower), 0.0)
        outside = min((outside + float(composition.infinite)) * (1 + 4 * UNIT), 1.0)
        return cls((most[0] * ((1 - least) * (1 + 4 * UNIT)), most[1]), outside, powers, prices, least)


@dataclass(frozen=True)
class Value:
    """The value V(y) of a game at y = e^(j step), j = first, first + 1, ...: values that are not below it, and lines
    powers - y prices that nowhere are above it.
    """

    step: float
    first: int
    upper: Floats
    powers: Floats
    prices: Floats

    @classmethod
    def start(cls, step: float, first: int, last: int) -> Value:
        """Of nothing at all: the larger of 1 - y and 0."""
        losses = np.arange(float(first), last + 1) * step
        upper = np.where(losses < 0, -expm1(np.minimum(losses, 0.0)) * (1 + 4 * ERROR), 0.0)
        rejects = np.where(losses < 0, 1.0, 0.0)
        return cls(step, first, np.minimum(upper, 1.0), rejects, rejects)

    @property
    def losses(self) -> Floats:
        """j step at all places."""
        return np.arange(float(self.first), self.first + self.upper.size) * self.step

    def after(self, parts: Sequence[Part]) -> Value:
        """With one more run before all others, of the part that is worth most at every loss.

        Theorem: V'(y) is the largest of the means of V(y e^-L) under P, over the parts. V is convex, falls, and is
            between 1 - y or 0 and 1: a loss between two places may be divided between them by a chord from above, and
            from below any line that is not above V may follow any outcome, whichever part is chosen.
        Reference: Zhu-Dong-Wang 2022, Theorem 10, for one part; Bellman 1957
        Proof: docs/theory/accounting/events.md#games-of-parts
        Checked-by: tests/accounting/test_chosen_games.py::test_no_strategy_is_outside,
            tests/accounting/test_chosen_games.py::test_the_best_part_is_taken_at_every_loss
        """
        grown = exp(self.losses)
        upper, best = np.zeros_like(self.upper), np.full_like(self.upper, -math.inf)
        powers, prices = self.powers, self.prices
        for part in parts:
            value = _mean(self.upper, part.most, float(self.upper[-1]), 1)
            upper = np.maximum(upper, (value + part.outside) * (1 + 4 * UNIT) + _LOST)
            power = part.infinite + (1 - part.infinite) * _mean(self.powers, part.powers, 0.0, -1)
            price = (1 - part.infinite) * _mean(self.prices, part.prices, 0.0, 1) * (1 + 8 * UNIT) + _LOST
            power, price = power * (1 - 8 * UNIT), np.minimum(price, 1.0)
            found = power - grown * price
            is_more = found > best
            best = np.where(is_more, found, best)
            powers, prices = np.where(is_more, power, powers), np.where(is_more, price, prices)
        upper = np.minimum.accumulate(np.minimum(upper, 1.0))
        return Value(self.step, self.first, upper, powers, prices)


@dataclass(frozen=True)
class Game:
    """So many runs of one Parallel, in one direction, beside others that have a pair."""

    parts: tuple[Composition, ...]
    runs: int
    beside: Composition

    def value(self, rare: float, epsilon: float, work: float, fine: int) -> Value:
        """As it matters for answers around this epsilon."""
        lists = [[(listed(law, "upper", _FEWER, rare), n) for law, n in part.parts] for part in self.parts]
        spread = max(math.sqrt(sum(times * _variance(one) for one, times in found)) for found in lists)
        largest = max(sum(times * float(np.abs(one.losses).max()) for one, times in found) for found in lists)
        if not (spread > 0 and largest < _LARGEST and epsilon < _LARGEST):
            raise NotApplicable("no losses, or too large ones")
        far = min(_FAR, _SPREADS * math.sqrt(self.runs) * spread + largest)
        reach = sum(sum(times * _reach(one, times) for one, times in found) for found in lists)
        wide = epsilon + 2 * far
        step = short(max(spread / fine, math.sqrt(2 * self.runs * reach * wide / work), (wide + reach) / _MOST_PLACES))
        if step > spread / _COARSEST:
            raise NotApplicable("too many runs for a fine lattice")
        laid = [Part.of(part, step, rare) for part in self.parts]
        value = Value.start(step, -math.ceil(far / step), math.ceil((epsilon + far) / step))
        for _ in range(self.runs):
            value = value.after(laid)
        return value


def games(event: Event) -> list[Game]:
    """The games of an event, one for each direction; none where it is not one Parallel, so many times, and others.

    Theorem: in any order the profile is at most that of the others' pair composed with the pair whose profile is the
        value of the game; with the game last it is reached.
    Reference: Zhu-Dong-Wang 2022, Theorem 10
    Proof: docs/theory/accounting/events.md#games-of-parts
    Checked-by: tests/accounting/test_chosen_games.py::test_no_strategy_is_outside,
        tests/accounting/test_chosen_games.py::test_left_to_others
    """
    if has_fixed_size(event):
        return []
    runs, others = dict[tuple[Event, ...], int](), list[Event]()
    try:
        for one, times in _steps(event, 1):
            ways = alternatives(one) if side_by_side(one) else []
            if len(ways) > 1:
                count(runs, tuple(map(_together, ways)), times)
            else:
                others.append(Repeat(event=one, times=times))
        if len(runs) != 1:
            return []
        ((met, total),) = runs.items()
        parts = [compositions(way) for way in met]
        beside = compositions(Steps(events=others)) if others else (Composition(),)
    except (NotApplicable, NoSuchRule):
        return []
    longest = max(sum(times for _, times in one.parts) for part in parts for one in part)
    if len(parts) > _MOST_PARTS or total > _MOST_RUNS or longest > _MOST_STEPS:
        return []
    return [
        Game(tuple(part[way % len(part)] for part in parts), total, beside[way % len(beside)])
        for way in range(max(map(len, (*parts, beside))))
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
    for work, fine in _LEVELS:
        with suppress(*DEAD_ENDS):
            values = [game.value(rare / game.runs, epsilon, work / len(played), fine) for game in played]
            found = _answer(list(zip(played, values, strict=True)), question, asked)
            best = found if best is None else both(best, found)
            if question.is_met(best, max(question.width, _ENOUGH)):
                break
    return best


def _answer(played: Sequence[tuple[Game, Value]], question: Question, asked: Asked) -> Interval:
    """By pairs on either side of the values, beside all others."""
    most, least = list[Composition](), list[Composition]()
    for game, value in played:
        kept = _kept(value, _near(value, question), is_alone=game.beside.is_nothing)
        grown = exp(value.losses[kept]) * (1 + 2 * ERROR + 8 * UNIT)
        points = zip(grown.tolist(), value.upper[kept].tolist(), strict=True)
        pair = enclosing([(Fraction(y), Fraction(worth)) for y, worth in points])
        most.append(with_law(game.beside, pair.law, pair.infinite))
        least.append(with_law(game.beside, reached(value.prices[kept], value.powers[kept])))
    eased = replace(question, width=max(question.width, _NARROW))
    top, bottom = asked(tuple(most), eased), asked(tuple(least), eased)
    return proved(bottom.lower, top.upper, method=f"{METHOD}, {top.method}")


def _steps(event: Event, times: int) -> Iterator[tuple[Event, int]]:
    match event:
        case Steps(events=events):
            for one in events:
                yield from _steps(one, times)
        case Repeat(event=inner, times=more):
            yield from _steps(inner, times * more) if times * more else ()
        case _:
            yield event, times


def _together(terms: Terms) -> Event:
    return Steps(events=[Repeat(event=term, times=times) for term, times in terms.items()])


def _reach(found: Losses, times: int) -> float:
    """About how much of a lattice is added up."""
    wide = float(np.ptp(found.losses))
    return 2 * (wide if times > 1 else min(wide, 2 * _near_by(found) + 4 * wide / _SPARSE))


def _near_by(found: Losses) -> float:
    """Losses beyond this are rare."""
    return _USUAL * math.sqrt(_variance(found))


def _variance(found: Losses) -> float:
    return float((found.losses - found.losses @ found.masses) ** 2 @ found.masses)


def _split(found: Losses, step: float) -> Masses:
    """Each loss divided between the two places around it, by the chord between them."""
    first, at, rest, cells = _between(found, step)
    upward = np.minimum(expm1(-rest) / expm1(-cells * step) * (1 + 4 * ERROR), 1.0)
    return _placed(at, cells, found.masses, upward) * (1 + 4 * (at.size + 4) * UNIT), first


def _drawn(found: Losses, step: float) -> tuple[Masses, Masses]:
    """Under P and under Q, each loss by lots at one of the two places around it, on the mean where it is."""
    first, at, rest, cells = _between(found, step)
    upward, off = rest / (cells * step), 4 * (at.size + 4) * UNIT
    prices = _placed(at, cells, found.masses * exp(-found.losses), upward) * (1 + off + 4 * ERROR)
    return (_placed(at, cells, found.masses, upward) * (1 - off), first), (prices, first)


def _between(found: Losses, step: float) -> tuple[int, Integers, Floats, Floats]:
    """The first place; for each loss how far the last place below it is from that, how far the loss is from there, and
    how many steps there are to the next: more where losses are rare.
    """
    cells = np.where(np.abs(found.losses) > _near_by(found), float(_SPARSE), 1.0)
    place = np.floor(found.losses / (cells * step)) * cells
    first = int(place.min())
    rest = np.clip((found.losses - place * step) * (1 + 4 * UNIT), 0.0, cells * step)
    return first, (place - first).astype(np.int64), rest, cells


def _placed(at: Integers, cells: Floats, masses: Floats, upward: Floats) -> Floats:
    size = int(at.max()) + _SPARSE + 1
    after = at + cells.astype(np.int64)
    found = np.bincount(at, masses * (1 - upward), size) + np.bincount(after, masses * upward, size)
    return found.astype(np.float64, copy=False)


def _added(one: Masses, other: Masses, sign: int) -> Masses:
    """Of the sum of both, rounded up or down."""
    found = np.convolve(one[0], other[0])
    return found * (1 + sign * 2 * (min(one[0].size, other[0].size) + 4) * UNIT), one[1] + other[1]


def _mean(values: Floats, masses: Masses, beyond: float, sign: int) -> Floats:
    """At every place the sum of masses times the values so many places before it, rounded up or down; before the first
    place values are 1.
    """
    weights, first = masses
    last = first + weights.size - 1
    left, right = max(last, 0), max(-first, 0)
    longer = np.concatenate([np.ones(left), values, np.full(right, beyond)])
    found, size = np.zeros_like(values), values.size
    kept = np.flatnonzero(weights)
    gaps = np.flatnonzero(np.diff(kept) >= _SPARSE)  # all between is 0
    ends = zip([0, *(gaps + 1).tolist()], [*gaps.tolist(), kept.size - 1], strict=True)
    for low, high in ((int(kept[begin]), int(kept[end])) for begin, end in ends if kept.size):
        start = left - first - high
        found += np.convolve(longer[start : start + size + high - low], weights[low : high + 1], "valid")
    return found * (1 + sign * 2 * (weights.size + 4) * UNIT)


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
