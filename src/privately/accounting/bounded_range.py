"""Mechanisms of bounded range: one alone exactly, and pairs of two outcomes for the lower end of compositions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist

from privately.accounting import adaptive
from privately.accounting.bounding import bounding, within
from privately.accounting.compositions import Composition, compositions
from privately.accounting.ends import between, proved
from privately.accounting.events import Event, Exponential, Repeat
from privately.accounting.events import Sequence as Steps
from privately.accounting.golden import highest
from privately.accounting.losses import FiniteLoss, GaussianLoss, Loss, response
from privately.accounting.merged_ranges import merged
from privately.accounting.questions import NO_LOWER, DeltaAt, EpsilonAt, Question
from privately.accounting.roads import DEAD_ENDS, NotApplicable
from privately.accounting.terms import flatten
from privately.accounting.two_outcomes import mixed_games
from privately.accounting.two_outcomes.normal_games import Normal
from privately.errors import NoSuchRule
from privately.rounding import Enclosure, End, Interval

METHOD = "closed form: two outcomes of bounded range"

_DEPTHS = (0.69, 0.85, 1.05, 1.3, 1.7, 2.3, 3.2, 4.6, 6.9, 9.2, 11.5, 14.0)
"""Where larger losses are tried: at 1 - e^-depth of the range."""
_FEW, _SOME = 4, (0.69, 0.9, 1.4, 3.0)
"""For more different laws than these, only some are."""
_NEARER = 12
_LARGEST, _LARGEST_ALONE = Fraction(300), Fraction(10**5)
_LEAST_SHARE = 1e-12
_MANY, _ENOUGH = 100, Fraction(1, 10**3)
_VERY_MANY, _CLEARLY_ENOUGH = 10**7, Fraction(1, 2000)
"""From so many steps on a quick answer is tried first, and is as good as others if it is as narrow as this."""
_FINE, _PLACES, _TINY = 0.002, 3000, 1e-300
_MOST_OTHERS = 256
_FEW_KINDS, _LONG, _SMALL, _SMALLER = 4, 400, Fraction(1, 2), Fraction(2, 5)
"""More different ranges than these, none of them large, that cost as much as so many of the largest, are like noise.

Without responses beside it, if they are still smaller.
"""
_UNKNOWN, _LEAST = 1e-40, 1e-250
_FAIRLY = Fraction(1, 10**5)
_MOST_PLAYED, _SOME_PLAYED, _MOST_PAIRS, _SAMPLED = 2_000, 1_000, 5_000, 100
"""So many of them are played in one order, for the lower end, or if there are more so many; and the others are not."""


def skewed(epsilon: Fraction, share: Fraction) -> FiniteLoss:
    """Two outcomes of range epsilon; that of the larger loss has this probability under Q.

    Theorem: with r = 1 - s + s e^epsilon, Q = (s, 1 - s) and P = (s e^epsilon/r, (1 - s)/r) are two laws with losses
        epsilon - ln r and -ln r: all losses of the pair lie in one interval of length epsilon.
    Reference: Dong-Durfee-Rogers 2020, section 4
    Proof: docs/theory/accounting/events.md#bounded-range-from-below
    Checked-by: tests/accounting/test_bounded_range.py::test_two_laws_of_bounded_range
    """
    rest, none = 1 - share, Fraction(0)
    return FiniteLoss(
        epsilon=epsilon,
        outcomes=(((none, share), (share * rest, share * share)), ((rest, none), (rest * rest, rest * share))),
    )


def alone(event: Event, question: Question) -> Interval | None:
    """The answer for a single mechanism of bounded range; None for other events.

    Theorem: over all pairs of range epsilon the largest D(x) is (e^(epsilon/2) - e^(x/2))^2/(e^epsilon - 1), for x
        from 0 to epsilon, and some pair of two outcomes reaches it.
    Reference: Dong-Durfee-Rogers 2020, section 4
    Proof: docs/theory/accounting/events.md#bounded-range-from-below
    Checked-by: tests/accounting/test_bounded_range.py::test_one_mechanism_is_known_exactly,
        tests/accounting/test_bounded_range.py::test_no_law_of_bounded_range_costs_more
    """
    epsilon = _range_alone(event)
    if epsilon is None:
        return None
    half = Enclosure.of(epsilon / 2).exp()
    gap = half * half - 1
    if isinstance(question, DeltaAt):
        if question.epsilon >= epsilon:
            return Interval(0, 0, method=METHOD)
        missing = (half - Enclosure.of(question.epsilon / 2).exp()).nonnegative()
        return (missing * missing / gap).clip(0, 1).interval(METHOD)
    if not question.delta:
        return Interval(epsilon, epsilon, method=METHOD)
    left = half - (question.delta * gap).sqrt()
    if left.upper <= 1:
        return Interval(0, 0, method=METHOD)
    return (2 * Enclosure(max(left.lower, Decimal(1)), left.upper).log()).nonnegative().interval(METHOD)


def _range_alone(event: Event) -> Fraction | None:
    try:
        terms = flatten(event)
    except (NotApplicable, NoSuchRule):
        return None
    (term, times) = next(iter(terms.items())) if len(terms) == 1 else (event, 0)
    if not isinstance(term, Exponential) or times != 1:
        return None
    return term.epsilon if 0 < term.epsilon <= _LARGEST_ALONE else None


@dataclass(frozen=True)
class Ranges:
    """What an event composes: mechanisms of bounded range, and all that is beside them."""

    ranges: Sequence[tuple[Fraction, int]]
    beside: Sequence[Composition]

    @classmethod
    def of(cls, event: Event) -> Ranges | None:
        """None where no mechanism of bounded range is composed, or nothing is known of what is beside."""
        try:
            terms = flatten(event)
            ranges = [(term.epsilon, times) for term, times in terms.items() if isinstance(term, Exponential)]
            if not ranges or max(epsilon for epsilon, _ in ranges) > _LARGEST:
                return None
            others = [Repeat(event=one, times=n) for one, n in terms.items() if not isinstance(one, Exponential)]
            beside = compositions(within(Steps(events=others))) if others else (Composition(),)
        except (NotApplicable, NoSuchRule):
            return None
        return cls(ranges, beside)

    def is_enough(self, chosen: Interval | None, question: Question) -> bool:
        """Whether so many steps, chosen adaptively, are known so well that no pairs are tried for all of them."""
        is_long = sum(times for _, times in self.ranges) > _MANY
        return chosen is not None and is_long and question.is_met(chosen, _ENOUGH)

    def at(self, depth: float) -> list[Composition]:
        """With pairs whose larger loss is about 1 - e^-depth of their range."""
        pairs: list[tuple[Loss, int]] = []
        for epsilon, times in self.ranges:
            near = float(epsilon)
            share = math.expm1(math.exp(-depth) * near) / math.expm1(near)
            pairs.append((skewed(epsilon, Fraction(max(share, _LEAST_SHARE))), times))
        return [replace(one, parts=(*one.parts, *pairs)) for one in self.beside]

    def likely(self, question: Question) -> float:
        """About the depth at which the answer is largest, if losses add up to a normal one."""

        def height(depth: float) -> float:
            mean = variance = 0.0
            for epsilon, times in self.ranges:
                size = float(epsilon)
                grown = math.expm1(math.exp(-depth) * size)
                p = grown / (1 + grown) / -math.expm1(-size)
                mean += times * (p * size - math.log1p(grown))
                variance += times * p * (1 - p) * size * size
            if isinstance(question, DeltaAt):
                return (mean - float(question.epsilon)) / math.sqrt(variance)
            return mean - NormalDist().inv_cdf(max(float(question.delta), _TINY)) * math.sqrt(variance)

        return max((0.3 + k * _FINE for k in range(_PLACES)), key=height)

    def largest(self, lower: Callable[[list[Composition]], End]) -> End:
        """The largest lower end that any of several depths gives."""
        is_few = len(self.ranges) <= _FEW
        return highest(lambda depth: lower(self.at(depth)), _DEPTHS if is_few else _SOME, _NEARER if is_few else 0)


def in_the_long_run(
    event: Event,
    question: Question,
    upper: Callable[[Event, Question], Interval | None],
    lower: Callable[[list[Composition], Question, None], Interval],
) -> Interval | None:
    """Of very many steps the mean loss is nearly all there is, and one pair and a Renyi divergence tell it; None where
    that is not so.
    """
    ranges = Ranges.of(event)
    if ranges is None or len(ranges.ranges) > _FEW or sum(times for _, times in ranges.ranges) < _VERY_MANY:
        return None
    above = upper(event, question)
    if above is None or above.upper == math.inf:
        return None
    found = between(lower(ranges.at(ranges.likely(question)), question, None), above)
    return found if question.is_met(found, max(question.width, _CLEARLY_ENOUGH)) else None


def chosen_adaptively(event: Event, question: Question, asked: adaptive.Asked) -> Interval | None:
    """The answer where steps of bounded range are chosen in the light of all before; None where it is unknown.

    `asked` answers for the worst of several compositions.
    """
    try:
        terms = flatten(event)
        ranges = sorted((term.epsilon, times) for term, times in terms.items() if isinstance(term, Exponential))
        others = [Repeat(event=one, times=n) for one, n in terms.items() if not isinstance(one, Exponential)]
        if not ranges or len(others) > _MOST_OTHERS:
            return None
        beside = adaptive.Beside((Composition(),), (Composition(),))
        if others:
            both = Steps(events=others)
            beside = adaptive.Beside(compositions(bounding(both)), compositions(within(both)))
    except (NotApplicable, NoSuchRule):
        return None
    if len(ranges) > _FEW_KINDS and ranges[-1][0] < _SMALL and _length(ranges) >= _LONG:
        noisy = _like_noise(ranges, beside, question, asked)
        if noisy is not None:
            return noisy
    return adaptive.enclosed(tuple(ranges), beside, question, asked)


def _length(ranges: Sequence[tuple[Fraction, int]]) -> float:
    """About how many steps of the largest range cost as much."""
    largest, _ = max(ranges)
    return sum(times * float(size / largest) ** 2 for size, times in ranges)


def _like_noise(
    ranges: Sequence[tuple[Fraction, int]], beside: adaptive.Beside, question: Question, asked: adaptive.Asked
) -> Interval | None:
    """An upper end by normal noise for all of them, and a lower one."""
    rare = float(question.delta) if isinstance(question, EpsilonAt) else _UNKNOWN
    if not rare:
        return None
    try:
        noise, responses = _noise_beside_responses(ranges, max(rare, _LEAST))
        law = GaussianLoss(mu_squared=noise.variance)
        above = tuple(adaptive.with_law(replace(one, parts=(*one.parts, *responses)), law) for one in beside.above)
        found = noise.put_back(asked(above, noise.taken_from(question)), question)
    except DEAD_ENDS:
        return None
    least = NO_LOWER
    with suppress(*DEAD_ENDS):
        about = question.delta if isinstance(question, EpsilonAt) else found.upper
        if len(ranges) > _MOST_PAIRS:
            least = _of_classes(ranges, beside, question, asked)
        else:
            played, beside = _played(ranges, beside, question)
            least = adaptive.in_order(played, beside, question, asked, float(about))
    method = f"{adaptive.METHOD} like normal noise, {found.method}"
    return proved(least.lower, found.upper, method=method)


def _noise_beside_responses(
    ranges: Sequence[tuple[Fraction, int]], rare: float
) -> tuple[Normal, tuple[tuple[Loss, int], ...]]:
    """What is at least as much as all steps: responses for all but the smallest ranges, or noise alone."""
    least = adaptive.SMALLEST * max(ranges)[0]
    small = [one for one in ranges if one[0] < least]
    with suppress(*DEAD_ENDS):
        found = adaptive.as_thin_noise(tuple(one for one in ranges if one[0] >= least), rare)
        noise = Normal(found.variance, Fraction(1), found.rest)
        responses = tuple((response(loss), times) for loss, times in found.responses)
        return noise.beside(_by_statements(small, rare)) if small else noise, responses
    if max(ranges)[0] >= _SMALLER:
        raise NotApplicable("ranges that are unlike noise")
    return _noise(ranges, rare), ()


def _noise(ranges: Sequence[tuple[Fraction, int]], rare: float) -> Normal:
    """As is known for these ranges, or if they are too many for zCDP."""
    with suppress(*DEAD_ENDS):
        variance, rest = adaptive.as_noise(tuple(ranges), rare)
        return Normal(variance, Fraction(1), rest)
    return _by_statements(ranges, rare)


def _by_statements(ranges: Sequence[tuple[Fraction, int]], rare: float) -> Normal:
    """By zCDP.

    Theorem: a step of range e is e^2/8-zCDP, and ln E_Q[(dP/dQ)^t] >= t(t-1) e^2/8 for 0 < t < 1 too; so in any order
        all steps together cost at most as much as normal noise that is known for zCDP.
    Reference: Dong-Durfee-Rogers 2020, Lemma 3.2; Hoeffding 1963
    Proof: docs/theory/accounting/two_outcomes.md#many-different-steps
    Checked-by: tests/accounting/test_bounded_range.py::test_very_many_ranges_are_like_noise
    """
    total = sum((size**2 / 8 * times for size, times in ranges), Fraction(0))
    steps = sum(times for _, times in ranges)
    return mixed_games.above(max(ranges)[0] ** 2 / 8, total, steps, rare, of_ranges=True)


def _of_classes(
    ranges: Sequence[tuple[Fraction, int]], beside: adaptive.Beside, question: Question, asked: adaptive.Asked
) -> Interval:
    """A lower end by pairs of two outcomes, of which only numbers are told."""
    parts = tuple((law, 1) for law in merged(ranges, _likely_depth(ranges, question)))
    below = tuple(replace(one, parts=(*one.parts, *parts)) for one in beside.below)
    return asked(below, replace(question, width=max(question.width, _FAIRLY)))


def _likely_depth(ranges: Sequence[tuple[Fraction, int]], question: Question) -> float:
    apart = -(-len(ranges) // _SAMPLED)
    return Ranges([(size, times * apart) for size, times in ranges[::apart]], ()).likely(question)


def _played(
    ranges: Sequence[tuple[Fraction, int]], beside: adaptive.Beside, question: Question
) -> tuple[adaptive.Ranges, adaptive.Beside]:
    """All steps, or if they are many the largest of them, and beside them pairs of two outcomes for the others."""
    if sum(times for _, times in ranges) <= _MOST_PLAYED:
        return tuple(ranges), beside
    if len(ranges) > _MOST_PAIRS:
        raise NotApplicable("too many different pairs")
    largest, others, left = list[tuple[Fraction, int]](), list[tuple[Fraction, int]](), _SOME_PLAYED
    for size, times in sorted(ranges, reverse=True):
        now = min(times, left)
        largest += [(size, now)] if now else []
        others += [(size, times - now)] if times > now else []
        left -= now
    pairs = Ranges(others, beside.below).at(_likely_depth(ranges, question))
    return tuple(largest), replace(beside, below=tuple(pairs))
