"""Answers do not depend on what the program around them has set."""

from __future__ import annotations

import decimal
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from privately import accounting as acc
from privately import certify
from privately.accounting.undisturbed import undisturbed
from privately.guarantees import RenyiDP

MIXED = acc.Sequence(
    events=[
        acc.PoissonSample(event=acc.Gaussian(noise_multiplier="0.3"), rate="0.5"),
        acc.Laplace(scale=2),
        acc.RandomizedResponse(epsilon=1, categories=4),
    ]
)
FAILING = acc.Repeat(event=acc.PoissonSample(event=acc.Approx(epsilon="0.1", delta="1e-9"), rate="0.1"), times=10**6)


@contextmanager
def strict() -> Iterator[None]:
    """A program that counts cents, and one that stops at every oddity of a float."""
    cents = decimal.Context(prec=3, rounding=decimal.ROUND_UP, Emin=-5, Emax=5, traps=[*decimal.Context().flags])
    with decimal.localcontext(cents), np.errstate(all="raise"):
        yield


def answers() -> list[object]:
    batch = acc.Batch(events=[acc.PoissonSample(event=acc.Gaussian(noise_multiplier=2), rate="0.1")])
    spent = acc.Filter(cap=RenyiDP(bounds={2: 1, 8: 2})).spend(batch).spent
    certified = [certify(acc.derive(event, delta="1e-6")) for event in (MIXED, acc.Repeat(event=MIXED, times=3))]
    return [acc.epsilon(MIXED, "1e-6", width="1e-4"), acc.delta(FAILING, 1), spent, *certified]


def test_answers_are_the_same_everywhere() -> None:
    usual = answers()
    with strict():
        assert answers() == usual


def test_what_was_set_comes_back() -> None:
    with strict():
        with undisturbed():
            assert decimal.getcontext().prec == 28
            assert np.geterr()["over"] == "warn"
        assert decimal.getcontext().prec == 3
        assert np.geterr()["over"] == "raise"
