"""From noisy numbers to estimates with error bars: nothing here has seen the data.

An interval holds with the stated confidence over the noise alone: it says where the number is that the exact tallies
would give, of the rows that count, with values brought within their bounds and rounded to steps; not of a population.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from privately.plans import Identity, Mean, Number, Quantile, Question, Spread, StepSum
from privately.query.drawing import ChosenPoints, Noise, NoisyNumber, NoisyPair, ShownKeys
from privately.query.weighing import error_of_sum, share_between
from privately.query.widths import error_of_count, shown_interval, width_of
from privately.rounding import Enclosure, Interval

Cell: TypeAlias = tuple[Fraction | None, Interval | None]
"""An estimate, None if there is none (the average of nothing), and where the exact answer is, None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """Every estimate of every group, at one confidence for all noise that an estimate rests on.

    In the groups that are `absent`, by their places, there may be nothing to make the estimate of.
    """

    cells: Mapping[Identity, tuple[Cell, ...]]
    absent: Mapping[Identity, frozenset[int]] = field(default_factory=dict)


def estimated(question: Question, noise: Sequence[Noise], groups: int, confidence: Fraction) -> Estimated:
    """All estimates with intervals of this confidence each."""
    numbers = {one.tally: one for one in noise if isinstance(one, NoisyNumber)}
    units = {one.tally: one for one in noise if isinstance(one, ShownKeys)}
    pairs = {name: one for one in noise if isinstance(one, NoisyPair) for name in (one.use.total, one.use.count)}
    points = {(one.bins, one.mechanism.probability): one for one in noise if isinstance(one, ChosenPoints)}
    tallies = dict(question.aggregation.tallies)
    cells: dict[Identity, tuple[Cell, ...]] = {}
    cell: Callable[[int], Cell]
    for estimate in question.estimates:
        match estimate:
            case Number(tally=tally) if tally in units:
                cell = partial(_units, units[tally], confidence)
            case Number(tally=tally) if tally in numbers:
                cell = partial(_number, numbers[tally], estimate.step, _width(numbers[tally], confidence))
            case Number(tally=tally):
                cell = partial(_from_pair, pairs[tally], tally, estimate.step, confidence)
            case Mean(total=total):
                cell = partial(_mean, pairs[total], _step(tallies[total]), confidence)
            case Spread():
                steps = _step(tallies[estimate.total]), _step(tallies[estimate.squares])
                cell = _spread(estimate, pairs[estimate.total], numbers[estimate.squares], steps, confidence)
            case Quantile():
                cell = partial(_point, points[estimate.bins, estimate.probability])
        cells[estimate.identity] = tuple(cell(group) for group in range(groups))
    means = {one.identity: pairs[one.total] for one in question.estimates if isinstance(one, Mean)}
    absent = {name: _absent(cells[name], _step(tallies[pair.use.total]), pair) for name, pair in means.items()}
    return Estimated(cells=cells, absent=absent)


def _absent(cells: Sequence[Cell], step: Fraction, pair: NoisyPair) -> frozenset[int]:
    """The groups of which even that they have a value is not known: where an average may be anywhere."""
    anywhere = Interval(pair.use.low * step, pair.use.high * step)
    return frozenset(group for group, (_, limits) in enumerate(cells) if limits == anywhere)


def _width(noisy: NoisyNumber | NoisyPair, confidence: Fraction) -> int:
    """How far off a number is, or both of a pair at once; the same for all groups."""
    return width_of(noisy.mechanism.law, confidence, 2 if isinstance(noisy, NoisyPair) else 1)


def _point(chosen: ChosenPoints, group: int) -> Cell:
    return chosen.points[group], None


def _step(tally: object) -> Fraction:
    assert isinstance(tally, StepSum)  # noqa: S101 - binding makes no other
    return tally.step


def _number(noisy: NoisyNumber, step: Fraction, width: int, group: int) -> Cell:
    found = noisy.numbers[group]
    return _times(found, step), Interval(_times(found - width, step), _times(found + width, step))


def _times(number: int, step: Fraction) -> Fraction:
    """The product, made at once: there may be many groups."""
    return Fraction(number * step.numerator, step.denominator)


def _units(shown: ShownKeys, confidence: Fraction, group: int) -> Cell:
    """A number that is seen only because it is large enough."""
    found = shown.numbers[group]
    return Fraction(found), shown_interval(shown.mechanism.law, shown.mechanism.threshold, found, confidence)


def _ends(pair: NoisyPair, width: int, group: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where both sums are, together; neither is below 0."""
    above, below = pair.above[group], pair.below[group]
    return (max(above - width, 0), max(above + width, 0)), (max(below - width, 0), max(below + width, 0))


def _from_pair(pair: NoisyPair, tally: Identity, step: Fraction, confidence: Fraction, group: int) -> Cell:
    """A count is (above + below)/(high - low), a sum is what the mean and the count give."""
    low, high, law = pair.use.low, pair.use.high, pair.mechanism.law
    above, below = pair.above[group], pair.below[group]
    if tally == pair.use.count:
        found, error = Fraction(above + below, high - low), error_of_count(pair.use, law, confidence)
        return found, Interval(max(found - error, Fraction(0)), max(found + error, Fraction(0)))
    found, error = _total(above, below, low, high) * step, error_of_sum(pair.use, law, confidence) * step
    return found, Interval(found - error, found + error)


def _total(above: int, below: int, low: int, high: int) -> Fraction:
    """The sum: high times what is above low and low times what is below high, over the width; linear in both."""
    return Fraction(high * above + low * below, high - low)


def _mean(pair: NoisyPair, step: Fraction, confidence: Fraction, group: int) -> Cell:
    """An average, where it is asked for alone."""
    ends = share_between(pair.mechanism.law, confidence, pair.above[group], pair.below[group])
    return _mean_between(pair, step, ends, group)


def _mean_between(pair: NoisyPair, step: Fraction, ends: tuple[Fraction, Fraction], group: int) -> Cell:
    """As far from low to high as what is above low is of both; `ends` are where this share is."""
    above, below = max(pair.above[group], 0), max(pair.below[group], 0)
    limits = Interval(*(_at(pair, step, share) for share in ends))
    return None if above + below == 0 else _at(pair, step, Fraction(above, above + below)), limits


def _at(pair: NoisyPair, step: Fraction, share: Fraction) -> Fraction:
    return (pair.use.low + (pair.use.high - pair.use.low) * share) * step


def _count_and_mean(pair: NoisyPair, step: Fraction, width: int, group: int) -> tuple[Fraction, Interval, Cell]:
    """Both, with intervals that hold whenever neither sum is off by more than the width."""
    span = pair.use.high - pair.use.low
    (a0, a1), (b0, b1) = _ends(pair, width, group)
    found = Fraction(pair.above[group] + pair.below[group], span)
    lowest = Fraction(a0, a0 + b1) if a0 + b1 else Fraction(0)
    highest = Fraction(a1, a1 + b0) if a1 + b0 else Fraction(1)
    mean = _mean_between(pair, step, (lowest, highest), group)
    return found, Interval(Fraction(a0 + b0, span), Fraction(a1 + b1, span)), mean


def _spread(
    estimate: Spread, pair: NoisyPair, squares: NoisyNumber, steps: tuple[Fraction, Fraction], confidence: Fraction
) -> Callable[[int], Cell]:
    """The mean of (x - centre)^2 less the square of (mean - centre), never below 0; half the doubt is for each."""
    half = (1 + confidence) / 2
    width, farther = _width(pair, half), _width(squares, half)

    def of(group: int) -> Cell:
        count, counts, (mean, means) = _count_and_mean(pair, steps[0], width, group)
        total, totals = _number(squares, steps[1], farther, group)
        if mean is None or total is None or means is None or totals is None or count <= 0:
            return None, None
        centre = estimate.centre
        found = max(total / count - (mean - centre) ** 2, Fraction(0))
        lowest, highest = _quotient(totals, counts), _square(Interval(means.lower - centre, means.upper - centre))
        if lowest is None:
            return _rooted(found, None, root=estimate.root)
        ends = lowest.lower - highest.upper, lowest.upper - highest.lower
        return _rooted(found, Interval(*(max(end, Fraction(0)) for end in ends)), root=estimate.root)

    return of


def _quotient(one: Interval, other: Interval) -> Interval | None:
    if other.lower <= 0:
        return None
    ends = [Fraction(a) / Fraction(b) for a in one for b in other]
    return Interval(min(ends), max(ends))


def _square(one: Interval) -> Interval:
    ends = [Fraction(end) ** 2 for end in one]
    return Interval(Fraction(0) if one.lower <= 0 <= one.upper else min(ends), max(ends))


def _rooted(found: Fraction, limits: Interval | None, *, root: bool) -> Cell:
    if not root:
        return found, limits
    value = Fraction(Enclosure.of(found).sqrt().lower)
    if limits is None:
        return value, None
    low, high = (Enclosure.of(Fraction(end)).sqrt() for end in limits)
    return value, Interval(Fraction(low.lower), Fraction(high.upper))
