"""A priced question costs what its proof concludes, and is recorded with all that decides on its answer."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from privately.mechanisms import PermutedQuantile, Quantile
from privately.plans import Unit
from privately.query.pricing import Priced
from privately.query.proving import derivation_of
from tests.query.desks import Desk
from tests.query.test_explaining import told

MEDIAN = "SELECT part, MEDIAN(amount) AS m FROM t GROUP BY part"
APPROX = ApproxDP(epsilon=9, delta="1e-6")


def test_the_cost_is_the_conclusion_of_the_proof() -> None:
    for text in ("SELECT COUNT(*) AS n FROM visits", "SELECT AVG(cost) AS a, MEDIAN(age) AS m FROM visits"):
        assert told(text, epsilon="0.7").cost.parameters["epsilon"] * 10 == 7


def choosers(*priced: Priced) -> list[type]:
    return [type(each) for part in priced for one in part.plan for each in one.mechanisms]


@pytest.mark.parametrize(
    ("cap", "options", "budget", "chooser"),
    [
        (PureDP(epsilon=9), {}, {"epsilon": 1}, PermutedQuantile),
        (APPROX, {"by": ApproxDP}, {"epsilon": 1}, PermutedQuantile),
        (APPROX, {"by": ZCDP}, {"epsilon": 1}, Quantile),
        (ZCDP(rho=9), {}, {"epsilon": 1}, Quantile),
        (ZCDP(rho=9), {}, {"rho": 1}, Quantile),
        (GaussianDP(mu=9), {}, {"mu": 1}, Quantile),
        (GaussianDP(mu=9), {}, {"epsilon": 1}, PermutedQuantile),
    ],
)
def test_quantiles_are_chosen_by_what_costs_the_account_least(
    cap: Guarantee, options: dict[str, Any], budget: dict[str, Any], chooser: type
) -> None:
    """Permute and flip where epsilons add up, as it is never worse; where squares do, it would cost four times more."""
    desk = Desk(cap, Unit(), **options)
    assert choosers(desk.session.price(MEDIAN, **budget)) == [chooser]
    if isinstance(cap, ZCDP) and "epsilon" in budget:
        desk.session.sql(MEDIAN, **budget)
        assert desk.ledger.budget("people").spent == ZCDP(rho="1/8")


def test_in_terms_of_mu_the_exponential_mechanism_costs_no_less() -> None:
    session = Desk(GaussianDP(mu=9), Unit()).session
    ways = [session._priced_by(choose, MEDIAN, epsilon=1) for choose in (PermutedQuantile, Quantile)]
    assert len({session._priced(one) for one in ways}) == 1


def test_where_a_slack_makes_squares_add_up_it_is_the_same() -> None:
    desk = Desk(APPROX, Unit(), by=ApproxDP)
    asked = [(MEDIAN, {"epsilon": "1/10"})] * 40
    assert choosers(*desk.session.price_batch(asked).parts) == [PermutedQuantile] * 40
    assert choosers(*desk.session.price_batch(asked, slack="1e-7").parts) == [Quantile] * 40
    assert choosers(*desk.session.price_batch(asked[:5], slack="1e-7").parts) == [PermutedQuantile] * 5  # for 1e-7 less


def test_how_it_was_chosen_is_part_of_what_is_recorded() -> None:
    """An answer that was drawn in one way is not given again as one that was drawn in the other."""
    priced = Desk(PureDP(epsilon=9), Unit()).session.price(MEDIAN, epsilon=1)
    other = Desk(ZCDP(rho=9), Unit()).session.price(MEDIAN, epsilon=1)
    assert priced.asked[:2] == other.asked == (other.question, other.budget)
    assert priced.asked[2:] == ("permute and flip",)
    count = Desk(PureDP(epsilon=9), Unit()).session.price("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert count.asked == (count.question, count.budget)


def test_permute_and_flip_is_never_priced_as_one_of_bounded_range() -> None:
    priced = Desk(PureDP(epsilon=9), Unit()).session.price(MEDIAN, epsilon=1)
    (drawn,) = priced.plan
    in_rho = derivation_of(replace(drawn, currency="mu squared"), priced.question.aggregation)
    assert in_rho.conclusion == PureDP(epsilon=1)
    exponential = replace(drawn, currency="mu squared", mechanisms=(_exponential(drawn.mechanisms[0]),))
    assert derivation_of(exponential, priced.question.aggregation).conclusion == ZCDP(rho=Fraction(1, 8))


def _exponential(chosen: Any) -> Quantile:
    points = chosen.points
    return Quantile(
        probability=chosen.probability, epsilon=chosen.epsilon, lower=points.lower, upper=points.upper, step=points.step
    )
