"""From noisy numbers to estimates with error bars: nothing here has seen the data.

An interval holds with the stated confidence over the noise alone: it says where the number is that the exact tallies
would give, of the rows that count, with values brought within their bounds and rounded to steps; not of a population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from privately.plans import Call, Expression, Identity, Mean, Number, Quantile, Question, Spread, StepSum, Type
from privately.plans.expressions import parts
from privately.query.drawing import ChosenPoints, Noise, NoisyNumber, NoisyPair, ShownKeys
from privately.query.spreads import OF_THE_MEAN, Scale, Variances
from privately.query.weighing import Shares, error_of_sum, shares_of
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
                shares = shares_of(pairs[total].mechanism.law, confidence)
                cell = partial(_mean, pairs[total], _summed(tallies[total]).step, shares)
            case Spread():
                sums = _summed(tallies[estimate.total]), _summed(tallies[estimate.squares])
                cell = _spread(estimate, pairs[estimate.total], numbers[estimate.squares], sums, confidence)
            case Quantile():
                cell = partial(_point, points[estimate.bins, estimate.probability])
        cells[estimate.identity] = tuple(cell(group) for group in range(groups))
    return Estimated(cells=cells, absent=_absent(question, pairs, groups, confidence))


def _absent(
    question: Question, pairs: Mapping[Identity, NoisyPair], groups: int, confidence: Fraction
) -> dict[Identity, frozenset[int]]:
    """The groups in which there may be nobody, for estimates that have no value then; if it matters to any column."""
    if not any(isinstance(one, Call) and one.function == "coalesce" for one in _computed(question)):
        return {}
    found = {}
    for estimate in question.estimates:
        if isinstance(estimate, (Mean, Spread)):
            pair, part = pairs[estimate.total], OF_THE_MEAN if isinstance(estimate, Spread) else Fraction(1)
            shares = shares_of(pair.mechanism.law, 1 - (1 - confidence) * part)
            empty = partial(_may_be_empty, pair, shares)
            found[estimate.identity] = frozenset(filter(empty, range(groups)))
    return found


def _computed(question: Question) -> Iterator[Expression]:
    return (part for output in question.outputs for part in parts(output.expression))


def _may_be_empty(pair: NoisyPair, shares: Shares, group: int) -> bool:
    """Whether nothing is known of the average: then not even that there is one."""
    low, high, whole = shares.between(pair.above[group], pair.below[group])
    return low == 0 and high == whole


def _width(noisy: NoisyNumber, confidence: Fraction) -> int:
    """How far off a number is; the same for all groups."""
    return width_of(noisy.mechanism.law, confidence)


def _point(chosen: ChosenPoints, group: int) -> Cell:
    return chosen.points[group], None


def _summed(tally: object) -> StepSum:
    assert isinstance(tally, StepSum)  # noqa: S101 - binding makes no other
    return tally


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


def _mean(pair: NoisyPair, step: Fraction, shares: Shares, group: int) -> Cell:
    """As far from low to high as what is above low is of both."""
    above, below = pair.above[group], pair.below[group]
    low, high, whole = shares.between(above, below)
    limits = Interval(_at(pair, step, low, whole), _at(pair, step, high, whole))
    above, below = max(above, 0), max(below, 0)
    return None if above + below == 0 else _at(pair, step, above, above + below), limits


def _at(pair: NoisyPair, step: Fraction, part: int, whole: int) -> Fraction:
    """The number that is such a part of the way from low to high, made at once: there may be many groups."""
    steps = pair.use.low * whole + (pair.use.high - pair.use.low) * part
    return Fraction(steps * step.numerator, whole * step.denominator)


def _spread(
    estimate: Spread, pair: NoisyPair, squares: NoisyNumber, tallies: tuple[StepSum, StepSum], confidence: Fraction
) -> Callable[[int], Cell]:
    """The mean of (x - centre)^2 less the square of (mean - centre); not below 0, nor above the largest square."""
    steps, of_squares = tallies
    scale = Scale(
        law=pair.mechanism.law,
        law_of_squares=squares.mechanism.law,
        low=pair.use.low * steps.step - estimate.centre,
        high=pair.use.high * steps.step - estimate.centre,
        steps=pair.use.high - pair.use.low,
        unit=of_squares.step,
        most=of_squares.high,
        rounded=steps.argument.known.type is not Type.INTEGER or of_squares.step != 1,
    )
    variances = Variances(scale, confidence)

    def of(group: int) -> Cell:
        above, below, total = pair.above[group], pair.below[group], squares.numbers[group]
        limits = variances.between(above, below, total)
        if limits is None:
            return None, None
        count, whole = Fraction(above + below, scale.steps), max(above, 0) + max(below, 0)
        mean = _at(pair, steps.step, max(above, 0), whole) - estimate.centre
        value = variances.within(total * scale.unit / count - mean**2)
        return _rooted(value, limits) if estimate.root else (value, limits)

    return of


def _rooted(found: Fraction, limits: Interval) -> Cell:
    value = Fraction(Enclosure.of(found).sqrt().lower)
    low, high = (Enclosure.of(Fraction(end)).sqrt() for end in limits)
    return value, Interval(Fraction(low.lower), Fraction(high.upper))
