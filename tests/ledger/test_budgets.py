"""What is left, in numbers that hold and in words that never promise too much."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from privately import accounting as acc
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from privately.ledger import Ledger, in_words
from privately.ledger.budgets import _posterior
from tests.ledger.examples import charge, founded


@given(st.fractions(min_value=0, max_value=800))
def test_the_chance_in_words_is_rounded_up_and_hardly(epsilon: Fraction) -> None:
    told = Decimal(_posterior(epsilon))
    with mp.workdps(400):
        exact = 100 / (1 + mp.exp(-mp.mpf(epsilon.numerator) / epsilon.denominator))
        assert mp.mpf(str(told)) >= exact
        assert mp.mpf(str(told)) - exact <= 0.1
    assert told == 100 or told < 100


@pytest.mark.parametrize(
    ("promise", "chance"),
    [(0, "50.0"), (1, "73.2"), ("0.1", "52.5"), (5, "99.4"), (10, "99.996"), (27, "99.9999999999"), (1000, "100")],
)
def test_words(promise: int | str, chance: str) -> None:
    assert f"can come to at most {chance} in 100" in in_words(PureDP(epsilon=promise))


def test_words_of_other_kinds() -> None:
    assert "but for a chance of 1e-6 that more comes out." in in_words(ApproxDP(epsilon=1, delta="1e-6"))
    assert in_words(ApproxDP(epsilon=1, delta=0)) == in_words(PureDP(epsilon=1))
    assert in_words(ZCDP(rho=1)) == ""
    assert "a chance of 1e-400 " in in_words(ApproxDP(epsilon=1, delta="1e-400"))
    assert "a chance of 0.333 " not in in_words(ApproxDP(epsilon=1, delta="1/3"))


def test_how_many_more_like_the_last_is_exact() -> None:
    with founded(cap="0.35") as ledger:
        assert ledger.budget("visits").more_like_last is None
        ledger.charge(charge("first"))
        assert ledger.budget("visits").more_like_last == 2
        ledger.charge(charge("second"))
        ledger.charge(charge("third"))
        budget = ledger.budget("visits")
        assert (budget.more_like_last, budget.remaining) == (0, PureDP(epsilon="0.05"))
        ledger.charge(charge("fourth", cost=PureDP(epsilon="0.01")))
        assert ledger.budget("visits").more_like_last == 4
        assert ledger.budget("visits").last == PureDP(epsilon="0.01")


@pytest.mark.parametrize(
    ("cap", "by"),
    [
        (ApproxDP(epsilon=1, delta="1e-6"), None),
        (ApproxDP(epsilon=1, delta="1e-6"), GaussianDP),
        (ZCDP(rho="0.05"), None),
        (GaussianDP(mu="0.3"), None),
    ],
)
def test_so_many_more_do_fit_and_no_more(cap: Guarantee, by: type[Guarantee] | None) -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=cap, by=by)
        ledger.charge(charge("0", cost=acc.Gaussian(noise_multiplier=12)))
        more = ledger.budget("visits").more_like_last
        assert more is not None
        assert 3 <= more <= 30
        for at in range(more):
            ledger.charge(charge(f"more {at}", cost=acc.Gaussian(noise_multiplier=12)))
        budget = ledger.budget("visits")
        assert (budget.more_like_last, budget.entries) == (0, more + 1)
        assert budget.promise == cap
        assert budget.words == in_words(cap)
