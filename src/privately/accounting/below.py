"""Lower ends for compositions that no road takes: noise on a lattice so fine that its outcomes cannot be listed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from privately.accounting.compositions import Composition
from privately.accounting.losses import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteLaplaceLoss,
    SampledGaussianLoss,
    SampledLaplaceLoss,
)
from privately.accounting.questions import EpsilonAt, Question
from privately.rounding import Enclosure, Interval
from privately.rounding.normal import normal_cdf

METHOD = "from below: a test by the sum of all losses"
OVERLAP = "from below: how little two laws overlap"
NOTICED = "from below: whether a row shows"

_DEVIATIONS = tuple(Fraction(one) for one in ("1e-4", "0.001", "0.01", "0.03", "0.1", "0.3", "1", "2", "3", "5"))
_MOST_PARTS, _POWERS, _LARGEST_EPSILON = 64, 24, 1000


def continuous(composition: Composition) -> Composition | None:
    """With Laplace noise in place of discrete Laplace noise, which costs no more; None where there is none of it.

    Theorem: Laplace noise is discrete Laplace noise of the same scale and something independent of the data.
    Reference: Ghosh-Roughgarden-Sundararajan 2009 for discrete Laplace noise; post-processing
    Proof: docs/theory/accounting/events.md#noise-from-below
    Checked-by: tests/accounting/test_below.py::test_laplace_noise_costs_no_more
    """
    parts = tuple((_continuous(law), times) for law, times in composition.parts)
    return None if parts == composition.parts else replace(composition, parts=parts)


def _continuous(law: Loss) -> Loss:
    match law:
        case DiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return LaplaceLoss(epsilon=sensitivity / scale)
        case SampledDiscreteLaplaceLoss(scale=scale, sensitivity=sensitivity):
            return SampledLaplaceLoss(epsilon=sensitivity / scale, rate=law.rate, direction=law.direction)
    return law


def told_apart(composition: Composition, question: Question) -> Interval | None:
    """What one can tell by whether the sum of all losses is near its mean; for normal and discrete normal noise.

    Theorem: with mu^2 the sum of all sensitivity^2/variance and x >= 0, the losses are in sum above mu^2/2 - x mu with
        a probability of at least p = 1 - e^(-x^2/2); so delta is at least p (1 - e^(epsilon - mu^2/2 + x mu)).
    Reference: Canonne-Kamath-Steinke 2020, for shifted sums of the discrete Gaussian; Chernoff 1952
    Proof: docs/theory/accounting/events.md#noise-from-below
    Checked-by: tests/accounting/test_below.py::test_tests_are_below_the_truth
    """
    square = Fraction(0)
    for law, times in composition.parts:
        match law:
            case GaussianLoss(mu_squared=mu_squared):
                square += times * mu_squared
            case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
                square += times * sensitivity**2 / variance
            case _:
                return None
    if not square or composition.infinite or (isinstance(question, EpsilonAt) and not question.delta):
        return None
    return Interval(max(_ends(Enclosure.of(square), question), default=Fraction(0)), math.inf, method=METHOD)


def overlapping(composition: Composition, question: Question) -> Interval | None:
    """What little the two laws overlap, of steps without sampling: where delta is next to 1, or epsilon below the mean.

    Theorem: for 0 < x < 1 delta(epsilon) is at least 1 - e^(x epsilon) times the product of all E[e^(-x L)].
    Reference: Chernoff 1952
    Proof: docs/theory/accounting/events.md#noise-from-below
    Checked-by: tests/accounting/test_below.py::test_overlaps_are_below_the_truth
    """
    if composition.infinite or not 0 < len(composition.parts) <= _MOST_PARTS:
        return None
    found = Fraction(0)
    for power in range(1, _POWERS):
        x = Fraction(1, 1 << power)
        overlaps = [_log_overlap(law, x) for law, _ in composition.parts]
        total = Enclosure.of(0)
        for overlap, (_, times) in zip(overlaps, composition.parts, strict=True):
            if overlap is None:
                return None
            total = total + times * overlap
        if isinstance(question, EpsilonAt):
            end = (Enclosure.of(1 - question.delta).log() - total) / x
            found = max(found, Fraction(end.lower))
        elif (total + x * question.epsilon).upper < 0:
            found = max(found, Fraction((1 - (total + x * question.epsilon).exp()).lower))
    return Interval(found, math.inf, method=OVERLAP)


def noticed(composition: Composition, question: Question) -> Interval | None:
    """What one can tell by whether any step shows the row, of sampled normal noise; for delta.

    Theorem: if a step shows the row with probability p_i where it is sampled, at rate q_i, and f_i where it is not
        there, delta is at least 1 - prod (1 - q_i p_i) - e^epsilon sum f_i.
    Reference: delta is the largest P(S) - e^epsilon Q(S) over all events S
    Proof: docs/theory/accounting/events.md#noise-from-below
    Checked-by: tests/accounting/test_below.py::test_what_shows_is_below_the_truth
    """
    if isinstance(question, EpsilonAt) or composition.infinite or len(composition.parts) > _MOST_PARTS:
        return None
    hidden, wrongly = Enclosure.of(1), Enclosure.of(0)
    for law, times in composition.parts:
        if not isinstance(law, SampledGaussianLoss) or law.direction != "remove":
            return None
        missed = normal_cdf(-law.mu / 2)  # on either side of the middle
        hidden = hidden * (1 - law.rate * (1 - missed)) ** times
        wrongly = wrongly + times * missed
    if question.epsilon > _LARGEST_EPSILON:
        return None
    found = 1 - hidden - Enclosure.of(question.epsilon).exp() * wrongly
    return Interval(max(Fraction(found.interval().lower), Fraction(0)), math.inf, method=NOTICED)


def _log_overlap(law: Loss, x: Fraction) -> Enclosure | None:
    """ln E[e^(-x L)], from above; None where no closed form is known."""
    match law:
        case GaussianLoss(mu_squared=mu_squared):
            return Enclosure.of(-x * (1 - x) * mu_squared / 2)
        case DiscreteGaussianLoss(variance=variance, sensitivity=sensitivity):
            return Enclosure.of(-x * (1 - x) * sensitivity**2 / (2 * variance))
        case LaplaceLoss(epsilon=epsilon) if 2 * x == 1:
            return Enclosure.of(1 + epsilon / 2).log() - epsilon / 2
        case LaplaceLoss(epsilon=epsilon):
            # e^(-x epsilon) is taken out, so that large losses stay in the range of numbers
            shrunk = Enclosure.of(-(1 - 2 * x) * epsilon).exp()
            return ((1 - x - x * shrunk) / (1 - 2 * x)).log() - x * epsilon
        case FiniteLoss() if law.epsilon <= _LARGEST_EPSILON:
            return sum((p * (-x * loss).exp() for p, loss in law.atoms()), Enclosure.of(0)).log()
    return None


def _ends(square: Enclosure, question: Question) -> Iterator[Fraction]:
    """One for each number of deviations below the mean."""
    mu = square.sqrt()
    for x in _DEVIATIONS:
        p = 1 - (-Enclosure.of(x * x / 2)).exp()
        above = square / 2 - x * mu
        if isinstance(question, EpsilonAt):
            left = 1 - question.delta / p
            if left.lower > 0:
                yield max(Fraction((above + left.log()).lower), Fraction(0))
        elif Fraction(above.lower) > question.epsilon:
            yield max(Fraction((p * (1 - (question.epsilon - above).exp())).lower), Fraction(0))
