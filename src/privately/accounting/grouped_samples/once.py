"""One sample of normal noise, seen by a group: a mixture against another, in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.losses import GaussianLoss
from privately.accounting.questions import EpsilonAt, Question
from privately.accounting.roads import NotApplicable, nearly_log
from privately.rounding import Enclosure, Interval
from privately.rounding.normal import normal_cdf

_LEAST_RATE, _HIGHEST_RATE = Fraction(1, 10**30), 1 - Fraction(1, 10**6)
_LEAST_SQUARE, _LARGEST, _MOST_ROWS = Fraction(1, 10**6), 1e3, 40
_LEAST_DELTA = Fraction(1, 10**250)
_HALVED, _TRIES, _CLOSE = 200, 14, 1e-14
_FAR = 30.0


def once(seen: Seen, question: Question) -> Interval | None:
    """The answer for one sample of normal noise and nothing else; None for all else, and out of range.

    Theorem: P/Q rises with the outcome x, so that at e^epsilon = P(t)/Q(t) the outcomes above t are the best test, and
        delta = P(x > t) - e^epsilon Q(x > t).
    Reference: Neyman-Pearson 1933
    Proof: docs/theory/accounting/group_samples.md#one-sample
    Checked-by: tests/accounting/grouped_samples/test_once.py::test_answers_contain_many_digits
    """
    if seen.steps((seen.size, 0)) != 1 or len(seen.noises) != 1 or any(seen.failures):
        return None
    step = seen.noises[0][0]
    if not isinstance(step.base, GaussianLoss) or not _LEAST_RATE < step.rate < _HIGHEST_RATE:
        return None
    if step.base.mu_squared < _LEAST_SQUARE or math.sqrt(step.base.mu_squared) > _LARGEST or seen.size > _MOST_ROWS:
        return None
    if isinstance(question, EpsilonAt) and question.delta < _LEAST_DELTA:
        return None
    first, *others = [Mixtures.of(step.base, step.rate, split) for split in seen.splits()]
    try:
        worst = first.answer(question)
        for other in others:
            if not other.is_below(question, worst):
                found = other.answer(question)
                worst = Interval(max(worst.lower, found.lower), max(worst.upper, found.upper))
    except NotApplicable:
        return None
    return worst


@dataclass(frozen=True)
class Mixtures:
    """P has normal noise around i mu with these chances, Q around -j mu."""

    mu: Enclosure
    rate: Fraction
    chances: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

    @classmethod
    def of(cls, base: GaussianLoss, rate: Fraction, split: Split) -> Mixtures:
        removed, added = (
            tuple(math.comb(rows, i) * rate**i * (1 - rate) ** (rows - i) for i in range(rows + 1)) for rows in split
        )
        return cls(base.mu, rate, (removed, added))

    @property
    def added(self) -> int:
        return len(self.chances[1]) - 1

    def answer(self, question: Question) -> Interval:
        if isinstance(question, EpsilonAt):
            return self.epsilon(question.delta)
        return self.delta(question.epsilon).clip(0, 1).interval()

    def is_below(self, question: Question, worst: Interval) -> bool:
        """Whether this is no worse than what is known."""
        top = Fraction(worst.upper)
        epsilon, delta = (top, question.delta) if isinstance(question, EpsilonAt) else (question.epsilon, top)
        return Fraction(self.delta(epsilon).upper) <= delta

    def epsilon(self, delta: Fraction) -> Interval:
        """ln(P/Q) at the outcomes between which delta is passed."""
        log_delta = nearly_log(delta)
        near = _root(lambda t: self._rough_delta(t) - log_delta, *self._ends())
        low = _first(lambda t: self._at(t).lower >= delta, near, -1)
        high = _first(lambda t: self._at(t).upper <= delta, near, 1)
        if high is None:
            raise NotApplicable("no upper end was found")
        least = self.loss(low).nonnegative().interval().lower if low is not None else Fraction(0)
        return Interval(least, self.loss(high).nonnegative().interval().upper)

    def delta(self, epsilon: Fraction) -> Enclosure:
        """At epsilon >= 0: between what two outcomes around the right one tell."""
        if len(self.chances[0]) == 1 and epsilon >= (-self.added * Enclosure.of(1 - self.rate).log()).upper:
            return Enclosure.of(0)
        near = _root(lambda t: float(epsilon) - self._rough_loss(t), *self._ends())
        low = _first(lambda t: self.loss(t).upper <= epsilon, near, -1)
        high = _first(lambda t: self.loss(t).lower >= epsilon, near, 1)
        if low is None or high is None:
            raise NotApplicable("no outcome has this loss")
        growth = Enclosure.of(epsilon).exp()
        (first, second), (_, less) = self._beyond(low), self._beyond(high)
        found = first - growth * second
        more = (second - less) * (growth - self._density(low, 1) / self._density(low, -1))
        return Enclosure(found.nonnegative().lower, (found + more.nonnegative()).nonnegative().upper)

    def loss(self, t: Fraction) -> Enclosure:
        """ln(P/Q) at an outcome."""
        return self._density(t, 1).log() - self._density(t, -1).log()

    def _density(self, t: Fraction, sign: int) -> Enclosure:
        """As a multiple of that of noise around 0."""
        chances = self.chances[0 if sign > 0 else 1]
        shifts = [sign * i * self.mu for i in range(len(chances))]
        return sum(
            (chance * (shift * t - shift * shift / 2).exp() for chance, shift in zip(chances, shifts, strict=True)),
            Enclosure.of(0),
        )

    def _beyond(self, t: Fraction) -> tuple[Enclosure, Enclosure]:
        """P(x > t) and Q(x > t)."""
        first, second = (
            sum((chance * normal_cdf(sign * i * self.mu - t) for i, chance in enumerate(chances)), Enclosure.of(0))
            for sign, chances in zip((1, -1), self.chances, strict=True)
        )
        return first, second

    def _at(self, t: Fraction) -> Enclosure:
        """delta where the loss is that of t."""
        first, second = self._beyond(t)
        return first - self._density(t, 1) / self._density(t, -1) * second

    def _ends(self) -> tuple[float, float]:
        """Outcomes between which all is that matters, about: where the loss is 0 or less, and far out."""
        mu = float(self.mu.upper)
        return -self.added * mu - 1.0, len(self.chances[0]) * mu + 2 * _FAR + 1e3 / mu

    def _rough_loss(self, t: float) -> float:
        mu = float(self.mu.upper)
        first, second = (
            _log_sum(nearly_log(c) + sign * i * mu * t - (i * mu) ** 2 / 2 for i, c in enumerate(chances))
            for sign, chances in zip((1, -1), self.chances, strict=True)
        )
        return first - second

    def _rough_delta(self, t: float) -> float:
        """ln delta where the loss is that of t."""
        mu = float(self.mu.upper)
        first = _log_sum(nearly_log(c) + _log_tail(t - i * mu) for i, c in enumerate(self.chances[0]))
        second = _log_sum(nearly_log(c) + _log_tail(t + i * mu) for i, c in enumerate(self.chances[1]))
        left = self._rough_loss(t) + second - first
        return first + (math.log(-math.expm1(left)) if left < -1e-15 else -36.0)


def _log_sum(exponents: Iterable[float]) -> float:
    listed = list(exponents)
    top = max(listed)
    return top + math.log(sum(math.exp(one - top) for one in listed))


def _log_tail(x: float) -> float:
    """ln P(N > x), roughly."""
    if x < _FAR:
        return math.log(math.erfc(x * math.sqrt(0.5)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) - 1 / (x * x)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(_HALVED):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
        if high - low <= _CLOSE * max(abs(low), abs(high)):
            break
    return (low + high) / 2


def _first(holds: Callable[[Fraction], bool], root: float, sign: int) -> Fraction | None:
    margin = 4 * _CLOSE * max(abs(root), 1.0)
    for _ in range(_TRIES):
        place = Fraction(root + sign * margin)
        if holds(place):
            return place
        margin *= 8
    return None
