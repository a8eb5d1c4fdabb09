"""Filters let every strategy through that stays within the cap, and no strategy that does not."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting.filters import Currency, Filter
from privately.errors import BudgetExhausted, InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.rounding import Enclosure
from tests.accounting.filters.false_filters import (
    AnyOrder,
    Averaged,
    FalseFilter,
    Largest,
    LastForgotten,
    Late,
    Natural,
    Unsquared,
)
from tests.accounting.filters.interactions import (
    Dish,
    dish,
    interactions,
    lopsided,
    one_after_another,
    response,
    revealing,
)
from tests.accounting.filters.sessions import FIRST, SECOND, largest_moment, session_cost
from tests.guarantees.enumeration import Pair, normalised
from tests.guarantees.rules.refutation import hockey_stick, refutation

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP]
TENTH = Fraction(1, 10)


def menu(kind: type[Guarantee]) -> list[Dish]:
    """Mechanisms of several strengths, symmetric and not."""
    weak, strong, bell = response(2), response(3), lopsided(Fraction(1, 2), Fraction(1, 5))
    if kind is ApproxDP:
        return [dish(kind, weak), dish(kind, strong, TENTH), dish(kind, revealing(weak, TENTH), TENTH)]
    if kind is ApproxZCDP:
        return [dish(kind, weak), dish(kind, weak, TENTH)]
    return [dish(kind, weak), dish(kind, strong), dish(kind, bell)]


def sums(kind: type[Guarantee], *costs: Guarantee) -> Guarantee:
    """The least cap under which these fit together."""
    first, *rest = costs
    return first.compose(*rest)


@lru_cache
def caps(kind: type[Guarantee]) -> list[Guarantee]:
    """Caps that some orders of the menu meet exactly."""
    costs = [one.cost for one in menu(kind)]
    return [sums(kind, *chosen) for chosen in ([costs[0]], [costs[0], costs[-1]], [costs[-1], costs[-1]], costs)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_strategy_stays_within_the_cap(kind: type[Guarantee]) -> None:
    steps = 2 if kind in (ApproxDP, ApproxZCDP) else 3
    for cap in caps(kind):
        assert refutation(cap, interactions(Filter(cap=cap), menu(kind), steps)) == ""


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """A random mechanism of two or three answers."""
    count = draw(st.integers(2, 3))
    first, second = (draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)) for _ in range(2))
    return normalised(first), normalised(second)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(data=st.data())
def test_every_strategy_on_random_mechanisms(kind: type[Guarantee], data: st.DataObject) -> None:
    share = data.draw(st.sampled_from([Fraction(0), Fraction(1, 20)]))
    drawn = [data.draw(pairs()) for _ in range(1 if kind is ApproxZCDP else 2)]
    dishes = [dish(kind, pair, share) if kind in (ApproxDP, ApproxZCDP) else dish(kind, pair) for pair in drawn]
    cap = dishes[0].cost.compose(dishes[-1].cost)
    assert refutation(cap, interactions(Filter(cap=cap), dishes, 2)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ApproxDP, ApproxZCDP])
def test_every_strategy_of_three_steps_stays_within_the_cap(kind: type[Guarantee]) -> None:
    for cap in caps(kind)[:3]:
        assert refutation(cap, interactions(Filter(cap=cap), menu(kind)[:2], 3)) == ""


@pytest.mark.parametrize("kind", [PureDP, ZCDP, RenyiDP, GaussianDP])
def test_the_cap_is_reached(kind: type[Guarantee]) -> None:
    """So that less would be refuted, and the test above has power."""
    cap = caps(kind)[1]
    found = interactions(Filter(cap=cap), menu(kind), 2)
    assert refutation(_scaled(cap, Fraction(8 if kind is GaussianDP else 9, 10)), found)


def _scaled(cap: Guarantee, factor: Fraction) -> Guarantee:
    numbers = {
        name: [(order, factor * bound) for order, bound in value] if name == "bounds" else factor * value
        for name, value in cap.parameters.items()
    }
    return type(cap)(**numbers)


# What filters are not


FAULTS: list[tuple[type[FalseFilter], type[Guarantee]]] = [
    *((fault, kind) for fault in (Late, Largest, Averaged) for kind in KINDS),
    (LastForgotten, ApproxDP),
    (LastForgotten, ApproxZCDP),
    (LastForgotten, RenyiDP),
    (AnyOrder, RenyiDP),
]


@pytest.mark.parametrize(("fault", "kind"), FAULTS, ids=lambda one: one.__name__)
def test_false_filters_are_refuted(fault: type[FalseFilter], kind: type[Guarantee]) -> None:
    cap = caps(kind)[1]
    if fault is Late:
        cap = _scaled(cap, Fraction(9, 10))
    if fault in (LastForgotten, AnyOrder):
        cap = _stingy(cap)
    assert refutation(cap, one_after_another(fault(cap), menu(kind), 3))
    assert refutation(cap, one_after_another(Filter(cap=cap), menu(kind), 3)) == ""


def _stingy(cap: Guarantee) -> Guarantee:
    """Little of the last amount, and plenty of the others."""
    if isinstance(cap, RenyiDP):
        *others, (order, bound) = cap.parameters["bounds"]
        return RenyiDP(bounds=[*((one, 2 * limit) for one, limit in others), (order, bound / 2)])
    first, second = cap.parameters
    return type(cap)(**{first: 3 * cap.parameters[first], second: cap.parameters[second]})


def test_adding_mu_is_refuted() -> None:
    strong = dish(GaussianDP, response(30))
    cap = _scaled(sums(GaussianDP, strong.cost, strong.cost), 1 + Fraction(1, 10**6))
    assert refutation(cap, interactions(Unsquared(cap), [strong], 3))
    assert refutation(cap, interactions(Filter(cap=cap), [strong], 3)) == ""
    assert Filter(cap=GaussianDP(mu=5)).spend(GaussianDP(mu=3)).remaining == GaussianDP(mu=4), "nor is it wasteful"


# Recomposing what was chosen as one went along


def test_recomposing_adaptive_entries_exactly_is_no_filter() -> None:
    """The counterexample of docs/theory: both orders fit, but not the choice between them."""
    ninth = Fraction(1, 9)
    answer, leak = response(2), revealing(({"": Fraction(1)}, {"": Fraction(1)}), ninth)
    dishes = (dish(PureDP, answer), Dish(leak, ApproxDP(epsilon=0, delta=ninth)))
    natural = Natural(Fraction(3), ninth, dishes)

    def worst(pairs: list[Pair]) -> Fraction:
        return max(hockey_stick(*pair, Fraction(3)) for one in pairs for pair in (one, one[::-1]))

    assert worst(one_after_another(natural, dishes, 2)) == ninth
    assert worst(interactions(natural, dishes, 2)) == Fraction(4, 27)


# Interleaved interactive mechanisms


@pytest.mark.parametrize("order", [2, 5])
def test_interleaving(order: int) -> None:
    costs = [session_cost(session, order) for session in (FIRST, SECOND)]
    for cap in (costs[0], costs[1], costs[0].compose(costs[1])):
        budget = Filter(cap=cap)
        assert budget.interleaves(costs[0])
        bound = (order - 1) * cap.parameters["bounds"][0][1]
        assert Enclosure.of(largest_moment(budget, order)).log().lower <= bound
    both = largest_moment(Filter(cap=costs[0].compose(costs[1])), order)
    assert both >= FIRST.moment(order) * SECOND.moment(order)


def test_approximate_zcdp_interleaves_only_without_delta() -> None:
    budget = Filter(cap=ApproxZCDP(rho=1, delta="0.1"))
    assert budget.interleaves(PureDP(epsilon="0.1"))
    assert not budget.interleaves(ApproxZCDP(rho="0.1", delta="0.01"))
    assert Filter(cap=ApproxDP(epsilon=1, delta="0.1")).interleaves(ApproxDP(epsilon=1, delta="0.1"))


# Arithmetic and bookkeeping


def test_ten_tenths_are_one() -> None:
    budget = Filter(cap=PureDP(epsilon=1))
    for _ in range(10):
        budget = budget.spend(PureDP(epsilon="0.1"))
    assert budget.spent == PureDP(epsilon=1)
    assert budget.remaining == PureDP(epsilon=0)
    assert not budget.fits(PureDP(epsilon="1e-1000"))
    assert budget.fits(PureDP(epsilon=0))


def test_ten_float_tenths_are_more_than_one_and_the_error_says_so() -> None:
    budget = Filter(cap=PureDP(epsilon=1))
    for _ in range(9):
        budget = budget.spend(PureDP(epsilon=0.1))
    with pytest.raises(BudgetExhausted, match="Floats are taken exactly"):
        budget.spend(PureDP(epsilon=0.1))


def test_a_refused_cost_changes_nothing_and_says_what_is_left() -> None:
    budget = Filter(cap=ApproxDP(epsilon=1, delta="1e-6")).spend(ApproxDP(epsilon="0.25", delta="1e-7"))
    before = budget.to_state()
    for cost in (ApproxDP(epsilon="0.75", delta="1e-6"), ApproxDP(epsilon="0.76", delta=0)):
        assert not budget.fits(cost)
        with pytest.raises(BudgetExhausted) as caught:
            budget.spend(cost)
        assert caught.value.asked == cost
        assert caught.value.left == budget.remaining == ApproxDP(epsilon="0.75", delta="9e-7")
        assert caught.value.hint == ""
    assert budget.to_state() == before
    assert budget.spend(budget.remaining).remaining == ApproxDP(epsilon=0, delta=0)


NUMBERS = st.one_of(
    st.fractions(0, 1, max_denominator=10**6),
    st.floats(0, 1, allow_subnormal=False).map(Fraction),
    st.integers(1, 10**400).map(lambda n: Fraction(1, n)),
)


@st.composite
def statements(draw: st.DrawFn, kind: type[Guarantee]) -> Guarantee:
    if kind is RenyiDP:
        return RenyiDP(bounds=[(order, draw(NUMBERS)) for order in (2, "7/2", 8)])
    names = {PureDP: ["epsilon"], ApproxDP: ["epsilon", "delta"], ZCDP: ["rho"], ApproxZCDP: ["rho", "delta"]}
    return kind(**{name: draw(NUMBERS) for name in names.get(kind, ["mu"])})


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_what_remains_always_fits_and_states_come_back(kind: type[Guarantee], data: st.DataObject) -> None:
    budget = Filter(cap=data.draw(statements(kind)))
    assert budget.fits(budget.cap)
    costs = Currency.of(budget.cap)
    exact = [Fraction(0)] * len(costs.names)
    for cost in data.draw(st.lists(statements(kind), max_size=6)):
        if not budget.fits(cost):
            continue
        budget = budget.spend(cost)
        exact = [total + amount for total, amount in zip(exact, costs.price(cost), strict=True)]
    assert all(total >= truth for total, truth in zip(budget.tally.amounts, exact, strict=True))
    assert all(
        total <= limit for total, limit in zip(costs.price(budget.spent), costs.price(budget.cap), strict=True)
    ) or (kind is GaussianDP)
    assert budget.fits(budget.remaining)
    state = json.loads(json.dumps(budget.to_state()))
    restored = Filter.from_state(state)
    assert restored == budget
    assert hash(restored) == hash(budget)
    assert restored.to_state() == state
    assert pickle.loads(pickle.dumps(budget)) == copy.deepcopy(budget) == budget


def test_a_filter_cannot_be_changed() -> None:
    budget = Filter(cap=PureDP(epsilon=1))
    with pytest.raises(AttributeError):
        budget.cap = PureDP(epsilon=2)  # type: ignore[misc]
    assert budget.spend(PureDP(epsilon=1)) != budget


def test_a_promise_must_follow_from_the_cap() -> None:
    assert Filter(cap=PureDP(epsilon=1), promise=ApproxDP(epsilon=1, delta="1e-9")).promise.parameters["epsilon"] == 1
    assert Filter(cap=ZCDP(rho="0.02"), promise=ApproxDP(epsilon=1, delta="1e-6")).cap == ZCDP(rho="0.02")
    for cap, promise in (
        (ZCDP(rho="0.03"), ApproxDP(epsilon=1, delta="1e-6")),
        (ApproxZCDP(rho="0.01", delta="1e-5"), ApproxDP(epsilon=1, delta="1e-6")),
        (PureDP(epsilon=1), PureDP(epsilon="0.5")),
        (ZCDP(rho=1), GaussianDP(mu=2)),
        (ZCDP(rho="0.001", neighbors=Neighbors.REPLACE), ApproxDP(epsilon=1, delta="1e-6")),
    ):
        with pytest.raises(NoSuchRule):
            Filter(cap=cap, promise=promise)


@pytest.mark.parametrize(
    ("spent", "error"),
    [
        (GaussianDP(mu=1), NoSuchRule),
        (ZCDP(rho="0.001"), NoSuchRule),
        (PureDP(epsilon="0.1", neighbors=Neighbors.REPLACE), MixedNeighbors),
        ("0.1", InvalidParameter),
        (None, InvalidParameter),
        (0.1, InvalidParameter),
    ],
)
def test_costs_that_say_nothing_here(spent: Any, error: type[Exception]) -> None:
    for kind in (PureDP(epsilon=1), ApproxDP(epsilon=1, delta="1e-6")):
        budget = Filter(cap=kind)
        for ask in (budget.fits, budget.spend, budget.interleaves):
            with pytest.raises(error):
                ask(spent)


@pytest.mark.parametrize("cap", ["1", PureDP, 1, Neighbors.REPLACE])
def test_what_is_no_cap_and_no_promise(cap: Any) -> None:
    with pytest.raises(InvalidParameter):
        Filter(cap=cap)
    with pytest.raises(InvalidParameter):
        Filter(cap=PureDP(epsilon=1), promise=cap)


def test_a_cap_that_is_too_long_to_square() -> None:
    with pytest.raises(InvalidParameter, match="too long"):
        Filter(cap=GaussianDP(mu=Fraction(1, 3**2000)))


def test_a_wider_neighbourhood_covers_the_filter() -> None:
    pair = Neighbors.ADD_REMOVE.times(2)
    assert Filter(cap=PureDP(epsilon=1)).spend(PureDP(epsilon=1, neighbors=pair)).remaining == PureDP(epsilon=0)
    with pytest.raises(MixedNeighbors):
        Filter(cap=PureDP(epsilon=1, neighbors=pair)).spend(PureDP(epsilon=1))


def test_amounts_that_were_priced_before_are_spent_as_the_cost_itself() -> None:
    budget = Filter(cap=ApproxZCDP(rho=1, delta="1e-6"))
    cost = ApproxDP(epsilon="0.3", delta="1e-7")
    assert budget.spend_amounts(budget.price(cost)) == budget.spend(cost)
    with pytest.raises(BudgetExhausted):
        budget.spend_amounts((Fraction(2), Fraction(0)))
    exact = Fraction(1, 8)
    for wrong in ((), (exact,), (Fraction(-1), Fraction(0)), (0.1, 0.0), (exact, "0"), [exact, exact], None):
        with pytest.raises(InvalidParameter):
            budget.spend_amounts(wrong)  # type: ignore[arg-type]
