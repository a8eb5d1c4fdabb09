"""What is left, in numbers that hold and in words that never promise too much."""

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from privately import accounting as acc
from privately.errors import BudgetExhausted
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.ledger import Ledger, in_words
from privately.ledger.acts import REUSES, Reuse
from privately.ledger.budgets import _right, _rounded_up
from tests.ledger.examples import charge, founded


@given(st.fractions(min_value=0, max_value=800))
def test_the_chance_in_words_is_rounded_up_and_hardly(epsilon: Fraction) -> None:
    told = Decimal(_rounded_up(100 * _right(PureDP(epsilon=epsilon))))
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
    assert "guesses right at most 73.2 times in 100" in in_words(ApproxDP(epsilon=1, delta="1e-6"))
    assert "guesses right at most 82.1 times in 100" in in_words(ApproxDP(epsilon=1, delta="1/3"))
    assert "guesses right at most 73.2 times" in in_words(ApproxDP(epsilon=1, delta=0))
    assert "guesses right at most 69.2 times" in in_words(GaussianDP(mu=1))
    assert "guesses right at most 89.8 times" in in_words(ZCDP(rho=1))
    assert in_words(RenyiDP(bounds={2: 1, 8: 5})) == in_words(ZCDP(rho=1))
    assert "guesses right at most 90.8 times" in in_words(ApproxZCDP(rho=1, delta="0.02"))
    assert "guesses right at most 100 times" in in_words(ZCDP(rho=10**9))
    person = Neighbors.ADD_REMOVE.of_unit("person")
    assert "that you are in the data" in in_words(PureDP(epsilon=1, neighbors=person))
    assert "the first of two versions of your row" in in_words(PureDP(epsilon=1, neighbors=Neighbors.REPLACE))
    assert in_words(PureDP(epsilon=1, neighbors=Neighbors.ADD_REMOVE.times(2))) == ""


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("1", "0.01"), ("2", "0.3"), ("0", "0.25")])
def test_words_hold_for_the_worst_pair(epsilon: str, delta: str) -> None:
    """The pair that (epsilon, delta) allows: a tell-tale with probability delta, else a response with epsilon."""
    tell, odds = Decimal(delta), Decimal(epsilon).exp()
    best = tell + (1 - tell) * odds / (1 + odds)
    bound = (odds + tell) / (1 + odds)
    told = Decimal(_rounded_up(100 * _right(ApproxDP(epsilon=epsilon, delta=delta)))) / 100
    assert abs(best - bound) < Decimal("1e-20")
    assert best <= told <= best + Decimal("0.001")


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


@pytest.mark.parametrize("mu", ["0.01", "0.3", "1", "2", "5"])
def test_words_of_concentrated_promises_hold_for_normal_noise(mu: str) -> None:
    """Normal noise is mu-GDP and (mu^2/2)-zCDP, and the best guess is right with the probability Phi(mu/2)."""
    rho = Fraction(mu) ** 2 / 2
    with mp.workdps(40):
        best = mp.ncdf(mp.mpf(mu) / 2)
        for promise in (GaussianDP(mu=mu), ZCDP(rho=rho), RenyiDP(bounds={2: 2 * rho, 8: 8 * rho})):
            right = _right(promise)
            assert mp.mpf(right.numerator) / right.denominator >= best * (1 - mp.mpf(10) ** -30)


def test_a_smaller_divergence_would_be_too_little() -> None:
    """The same words for a hundredth of rho would be false, so that the test above could fail."""
    right = _right(ZCDP(rho=Fraction(1, 2) / 100))
    with mp.workdps(40):
        assert mp.mpf(right.numerator) / right.denominator < mp.ncdf(mp.mpf(1) / 2)


def test_how_many_more_goes_by_all_accounts_that_pay() -> None:
    with founded(cap="0.5") as ledger:
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon=100))
        ledger.charge(charge("first", analyst="ann", cost=PureDP(epsilon="0.2")))
        assert ledger.budget("visits", analyst="ann").more_like_last == 1
        ledger.charge(charge("second", analyst="ann", cost=PureDP(epsilon="0.2")))
        assert ledger.budget("visits", analyst="ann").more_like_last == 0


def lineage(reuse: Reuse, cap: Guarantee | None = None) -> Ledger:
    ledger = Ledger.open(":memory:")
    ledger.account("visits", cap=PureDP(epsilon=10) if cap is None else cap, reuse=reuse)
    return ledger


def test_words_of_an_analyst_take_the_cap_of_the_lineage_into_account() -> None:
    """Whatever an analyst may spend, all answers together keep to the cap of the people."""
    with lineage("never", PureDP(epsilon=1)) as ledger:
        large = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=5))
        small = ledger.account("visits", analyst="bob", cap=PureDP(epsilon="0.1"))
        token = ledger.account("visits", analyst="bob", token="t", cap=PureDP(epsilon="0.5"))
        whole = ledger.budget("visits")
    assert whole.above == ()
    assert large.words == whole.words == in_words(PureDP(epsilon=1))
    assert small.words == token.words == in_words(PureDP(epsilon="0.1"))
    assert large.promise == PureDP(epsilon=5)


@pytest.mark.parametrize("token", [None, "t"])
@pytest.mark.parametrize("other", ["bob", "ann"])
@pytest.mark.parametrize("reuse", REUSES)
def test_words_hold_for_all_that_a_holder_is_given(reuse: Reuse, other: str, token: str | None) -> None:
    """Somebody else, or another token of the same analyst, pays; ann asks the same and tries to be served."""
    given: set[int] = set()  # the charges whose answers the holder has
    with lineage(reuse) as ledger:
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon="1.5"))
        if token is not None:
            ledger.account("visits", analyst="ann", token=token, cap=PureDP(epsilon="0.1"))
        for at in range(4):
            for who, which in ((other, "u"), ("ann", token)):
                asked = charge(f"count {at}", cost=PureDP(epsilon=1), analyst=who, token=which)
                with suppress(BudgetExhausted):
                    answer = ledger.answer(asked, lambda receipt: b"noisy")
                    if who == "ann" and token in (None, which):
                        given.add(answer.receipt.number)
        budget = ledger.budget("visits", analyst="ann", token=token)
    together = PureDP(epsilon=len(given))
    told = Fraction(budget.words.split("at most ")[1].split(" in 100")[0]) / 100
    assert told >= _right(together)
    assert budget.served or _right(budget.promise) >= _right(together)
    assert len(given) == {"everyone": 4 if other == "bob" else 1, "own": 1, "never": 1}[reuse] or token is not None


@pytest.mark.parametrize(
    ("reuse", "analyst", "token"),
    [("everyone", True, True), ("own", False, True), ("never", False, False)],
)
def test_who_may_be_given_what_others_paid_for(reuse: Reuse, analyst: bool, token: bool) -> None:
    with lineage(reuse) as ledger:
        ann = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=2))
        own = ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon="0.1"))
        assert not ledger.budget("visits").served
    assert (ann.served, own.served) == (analyst, token)
    words = [in_words(PureDP(epsilon=epsilon)) for epsilon in (10, 2, "0.1")]
    assert ann.words == words[0 if analyst else 1]
    assert own.words == words[0 if analyst else 1 if token else 2]


def test_nothing_is_told_before_the_lineage_decides_whom_answers_serve() -> None:
    with Ledger.open(":memory:") as ledger:
        early = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=1))
        assert (early.served, early.words) == (True, "")
        ledger.account("visits", cap=PureDP(epsilon=2), reuse="own")
        assert ledger.budget("visits", analyst="ann").words == in_words(PureDP(epsilon=1))


def test_words_of_other_neighbours_are_not_mixed() -> None:
    other = PureDP(epsilon=5, neighbors=Neighbors.REPLACE)
    with lineage("own", PureDP(epsilon=1)) as ledger:
        assert ledger.account("visits", analyst="ann", cap=other).words == in_words(other)
    with lineage("everyone", PureDP(epsilon=1)) as ledger:
        assert ledger.account("visits", analyst="ann", cap=other).words == in_words(PureDP(epsilon=1))
