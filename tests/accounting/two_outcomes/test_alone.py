"""Which events are one statement."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately import accounting as acc
from privately.accounting.questions import DeltaAt, EpsilonAt
from privately.accounting.two_outcomes import alone
from privately.guarantees import Neighbors

WIDTH = Fraction(1, 10**6)
HALF = acc.ZCDP(rho="0.5")
AT = EpsilonAt(Fraction(1, 10**6), WIDTH)


def test_the_same_statement_in_other_words() -> None:
    plain = acc.epsilon(HALF, "1e-6")
    assert plain.method == "two outcomes"
    assert plain.width < Fraction(1, 10**7)
    silent = acc.Sequence(events=[HALF, acc.Pure(epsilon=0)])
    for event in (acc.Repeat(event=HALF, times=1), silent, acc.Parallel(events=[HALF, HALF])):
        assert acc.epsilon(event, "1e-6") == plain
    replaced = acc.ZCDP(rho="0.5", neighbors=Neighbors.REPLACE)
    assert acc.epsilon(replaced, "1e-6") == plain


@pytest.mark.parametrize(
    "event",
    [
        acc.Group(event=acc.Repeat(event=HALF, times=2), size=2),
        acc.PoissonSample(event=acc.Repeat(event=HALF, times=2), rate="0.1"),
        acc.Repeat(event=HALF, times=2),
        acc.Sequence(events=[HALF, acc.Laplace(scale=1)]),
        acc.Repeat(event=HALF, times=0),
        acc.Pure(epsilon=1),
        acc.ZCDP(rho="1e-30"),
    ],
)
def test_what_is_more_than_one_statement(event: acc.Event) -> None:
    """Several changes see less of a statement than all that a larger one allows; so do several steps."""
    assert alone(event, AT) is None


def test_groups_stay_below_a_single_statement() -> None:
    group = acc.epsilon(acc.Group(event=acc.ZCDP(rho="0.125"), size=2), "1e-6")
    assert group.lower < acc.epsilon(HALF, "1e-6").lower <= group.upper * (1 + WIDTH)


@pytest.mark.parametrize("rate", ["0.01", "0.9"])
def test_a_sample_against_its_pairs(rate: str) -> None:
    """q D(y), and no pair of two outcomes, sampled in either direction, reveals more than the upper end."""
    event, epsilon, q = acc.PoissonSample(event=HALF, rate=rate), 0.2, float(rate)
    found = acc.delta(event, Fraction(epsilon))
    y = math.log1p(math.expm1(epsilon) / q)
    assert float(found.upper) == pytest.approx(q * float(acc.delta(HALF, Fraction(y)).upper), rel=1e-6)
    assert found.width <= WIDTH * found.upper
    e = 1.04  # e tanh(e/2) is just below 0.5
    high = math.exp(e) / (1 + math.exp(e))
    first, second = (high, 1 - high), (1 - high, high)
    mixed = [(1 - q) * b + q * a for a, b in zip(first, second, strict=True)]
    for p, other in (
        (mixed, second),
        (second, mixed),
        (first, [(1 - q) * a + q * b for a, b in zip(first, second, strict=True)]),
    ):
        revealed = sum(max(a - math.exp(epsilon) * b, 0) for a, b in zip(p, other, strict=True))
        assert revealed <= float(found.upper)
    back = acc.epsilon(event, Fraction(found.upper))
    assert float(back.upper) == pytest.approx(epsilon, rel=1e-5)


def test_rare_samples_need_nothing() -> None:
    assert acc.epsilon(acc.PoissonSample(event=HALF, rate="0.01"), "0.01").upper == 0


def test_samples_that_are_not_so_rare() -> None:
    """Half of all rows, and what nearly everybody can tell apart: below a delta of 1/2 epsilon is above 0."""
    found = alone(acc.PoissonSample(event=acc.ZCDP(rho=8), rate="0.5"), EpsilonAt(Fraction(2, 5), WIDTH))
    assert found is not None
    assert found.lower > 0


def test_the_worst_of_several_parts_counts() -> None:
    assert alone(acc.Parallel(events=[HALF, acc.ZCDP(rho="0.1")]), AT) == alone(HALF, AT)


def test_samples_of_fixed_size() -> None:
    base = acc.ZCDP(rho="0.5", neighbors=Neighbors.REPLACE)
    fixed = acc.FixedSizeSample(event=base, size=10, population=100)
    poisson = acc.PoissonSample(event=HALF, rate="0.1")
    assert acc.delta(fixed, 1) == acc.delta(poisson, 1)


def test_low_orders() -> None:
    """A single low order: the usual conversion says 22.7."""
    found = acc.epsilon(acc.Renyi(bounds={"1.331": "0.1748"}), "0.000273")
    assert float(found.upper) == pytest.approx(14.03901, rel=1e-5)
    assert found.width < Fraction(1, 10**4)


def test_deltas_next_to_one() -> None:
    found = alone(acc.ZCDP(rho=1000), DeltaAt(Fraction(500), WIDTH))
    assert found is not None
    assert 1 - WIDTH < found.lower <= found.upper == 1
