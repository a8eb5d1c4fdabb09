"""One sample, drawn once, against what its base says and against exact enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt, Question
from privately.accounting.shared_samples import once
from privately.guarantees import Neighbors
from privately.rounding import Interval

WIDTH = Fraction(1, 10**6)
BASE = acc.Sequence(events=[acc.RandomizedResponse(epsilon="0.7", categories=3), acc.Pure(epsilon="0.4")])


def asked(event: acc.Event, question: Question) -> Interval:
    if isinstance(question, EpsilonAt):
        return acc.epsilon(event, question.delta, width=question.width)
    return acc.delta(event, question.epsilon, width=question.width)


def response(mp: mpmath.MPContext, epsilon: str, categories: int) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    grown = mp.exp(mp.mpf(epsilon))
    unit = 1 / (grown + categories - 1)
    return [(grown * unit, unit), (unit, grown * unit), *[(unit, unit)] * (categories - 2)]


def exact_delta(rate: str, epsilon: str) -> Fraction:
    """Of BASE on a sample: the larger of both directions, by all outcomes."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    q, ratio = mp.mpf(rate), mp.exp(mp.mpf(epsilon))
    outcomes = [(a * c, b * d) for (a, b), (c, d) in product(response(mp, "0.7", 3), response(mp, "0.4", 2))]
    remove = sum(max((1 - q) * b + q * a - ratio * b, 0) for a, b in outcomes)
    add = sum(max(a - ratio * ((1 - q) * a + q * b), 0) for a, b in outcomes)
    return Fraction(str(max(remove, add)))


@pytest.mark.parametrize("rate", ["0.001", "0.3", "0.9"])
@pytest.mark.parametrize("share", ["0.2", "0.5", "0.9"])
def test_one_sample_is_that_of_its_base(rate: str, share: str) -> None:
    event = acc.PoissonSample(event=BASE, rate=rate)
    epsilon = Fraction(share) * acc.epsilon(event, 0).upper
    text = str(float(epsilon))
    found = acc.delta(event, text)
    assert found.lower <= exact_delta(rate, text) * (1 + Fraction(1, 10**30))
    assert exact_delta(rate, text) * (1 - Fraction(1, 10**30)) <= found.upper
    assert found.width <= Fraction(1, 10**5) * found.upper
    back = acc.epsilon(event, found.upper)
    assert back.lower <= Fraction(text) <= back.upper + Fraction(1, 10**6)


def test_samples_of_fixed_size_cost_as_much() -> None:
    replaced = [
        acc.RandomizedResponse(epsilon="0.7", categories=3, neighbors=Neighbors.REPLACE),
        acc.Laplace(scale=2, neighbors=Neighbors.REPLACE),
    ]
    fixed = acc.FixedSizeSample(event=acc.Sequence(events=replaced), size=3, population=10)
    free = [acc.RandomizedResponse(epsilon="0.7", categories=3), acc.Laplace(scale=2)]
    poisson = acc.PoissonSample(event=acc.Sequence(events=free), rate="0.3")
    for question in (EpsilonAt(Fraction(1, 100), WIDTH), DeltaAt(Fraction(1, 5), WIDTH)):
        one, other = once(fixed, question, asked), once(poisson, question, asked)
        assert one is not None
        assert other is not None
        assert (one.lower, one.upper) == (other.lower, other.upper)


def test_others_are_left_alone() -> None:
    sample = acc.PoissonSample(event=BASE, rate="0.1")
    twice = acc.PoissonSample(event=acc.Sequence(events=[sample, acc.Pure(epsilon=1)]), rate="0.1")
    question = EpsilonAt(Fraction(1, 10**6), WIDTH)
    for event in (acc.Repeat(event=sample, times=2), BASE, twice):
        assert once(event, question, asked) is None


def test_rows_that_are_hardly_ever_seen() -> None:
    sample = acc.PoissonSample(event=BASE, rate="1e-6")
    assert once(sample, EpsilonAt(Fraction(1, 10**6), WIDTH), asked) == Interval(0, 0)


def test_epsilons_beyond_range() -> None:
    sample = acc.PoissonSample(event=acc.Sequence(events=[acc.Pure(epsilon=10**6), acc.Pure(epsilon=1)]), rate="0.1")
    assert once(sample, EpsilonAt(Fraction(0), WIDTH), asked) is None
    assert once(sample, DeltaAt(Fraction(10**6), WIDTH), asked) is None
