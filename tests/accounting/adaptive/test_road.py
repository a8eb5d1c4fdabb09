"""Mechanisms of bounded range beside others, and alone."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from privately import accounting as acc
from privately.accounting.adaptive import METHOD, Beside, enclosed
from privately.accounting.compositions import Composition, compositions
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.rounding import Interval
from tests.accounting.adaptive.brute import value


def repeated(epsilon: str, times: int) -> acc.Event:
    return acc.Repeat(event=acc.Exponential(epsilon=epsilon), times=times)


@pytest.mark.parametrize("at", [0.0, 0.5, 1.3])
def test_beside_others_against_enumeration(at: float) -> None:
    """One response of epsilon 1 and two steps of range 1/2: the mean over the response of what follows."""
    event = acc.Sequence(events=[acc.RandomizedResponse(epsilon=1), repeated("0.5", 2)])
    found = acc.delta(event, epsilon=str(at))
    more = math.e / (1 + math.e)
    truth = sum(
        share * float(value(math.exp(at - loss), [0.5, 0.5], count=3000)) for share, loss in ((more, 1), (1 - more, -1))
    )
    assert truth * (1 - 1e-12) <= float(found.upper) <= truth * 1.001
    assert truth * 0.999 <= float(found.lower) <= truth * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "times"), [("1", 10), ("0.1", 10)])
def test_widths(epsilon: str, times: int) -> None:
    found = acc.epsilon(repeated(epsilon, times), delta="1e-6")
    assert METHOD in found.method
    assert found.width <= found.lower / 10**4
    back = acc.delta(repeated(epsilon, times), epsilon=found.upper)
    assert back.lower <= Fraction(1, 10**6)
    assert back.upper >= Fraction(1, 10**6) * (1 - Fraction(1, 100))


@pytest.mark.slow
def test_more_costs_more() -> None:
    """In the number of steps, in their range, and beside others; chosen adaptively at least as much as any pair."""
    costs = [acc.epsilon(repeated("0.2", times), delta="1e-6") for times in (5, 6, 12)]
    costs.append(acc.epsilon(repeated("0.21", 12), delta="1e-6"))
    costs.append(acc.epsilon(acc.Sequence(events=[repeated("0.21", 12), acc.Laplace(scale=5)]), delta="1e-6"))
    for less, more in pairwise(costs):
        assert less.lower <= more.upper
        assert less.upper < more.lower
    assert acc.epsilon(acc.Repeat(event=acc.RandomizedResponse(epsilon="0.1"), times=12), "1e-6").upper < costs[2].upper


def test_sequences_have_no_order() -> None:
    parts = [acc.Exponential(epsilon=1), acc.Exponential(epsilon="0.3"), acc.Gaussian(noise_multiplier=2)]
    one = acc.epsilon(acc.Sequence(events=parts), delta="1e-6")
    other = acc.epsilon(acc.Sequence(events=parts[::-1]), delta="1e-6")
    assert (one.lower, one.upper) == (other.lower, other.upper)
    assert one.width <= one.lower / 10**4


def test_infinite_losses_beside() -> None:
    event = acc.Sequence(events=[repeated("0.5", 4), acc.Approx(epsilon=1, delta="1e-7")])
    found = acc.epsilon(event, delta="1e-6")
    assert found.width <= found.lower / 10**3
    assert acc.epsilon(event, delta="1e-8").lower == math.inf


def test_nothing_is_asked_where_it_would_take_too_long() -> None:
    def asked(found: tuple[Composition, ...], question: EpsilonAt | DeltaAt) -> Interval:
        raise AssertionError

    beside, question = Beside((Composition(),), (Composition(),)), EpsilonAt(Fraction(1, 10**6), Fraction(1, 10**6))
    for many in (((Fraction(5), 10**7),), tuple((Fraction(k, 1000), 200) for k in range(1, 250))):
        assert enclosed(many, beside, question, asked) is None
    assert beside.is_nothing
    assert not Beside(compositions(acc.Laplace(scale=1)), ()).is_nothing


@pytest.mark.slow
def test_deltas_far_below() -> None:
    """Relative to itself a tiny delta is known too: the first look says how tiny it is."""
    found = acc.delta(repeated("0.1", 50), epsilon="3.5")
    assert 0 < found.lower <= found.upper < Fraction(1, 10**20)
    assert found.upper < found.lower * 2
    assert np.isfinite(float(acc.epsilon(repeated("0.1", 50), delta="1e-60").upper))
