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
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledDiscreteLaplaceLoss,
    SampledLaplaceLoss,
)
from privately.accounting.questions import EpsilonAt, Question
from privately.rounding import Enclosure, Interval

METHOD = "from below: a test by the sum of all losses"

_DEVIATIONS = tuple(Fraction(one) for one in ("1e-4", "0.001", "0.01", "0.03", "0.1", "0.3", "1", "2", "3", "5"))
_DIGITS = 40


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
