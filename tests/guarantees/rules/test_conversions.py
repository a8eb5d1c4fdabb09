"""Every conversion against enumeration, each with a false twin, and the Gaussian profile against mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    rules,
)
from privately.guarantees.curves import bound_at, bound_to_epsilon
from tests.guarantees.enumeration import response, revealing
from tests.guarantees.rules.knowns import FAST, REPLACE, THOROUGH, Known, Rule, claim, fault, know, knowns, renyi
from tests.rounding.truth import real

DELTAS = st.sampled_from([Fraction(1, 10**k) for k in (1, 2, 3, 6, 12)] + [Fraction(1, 2), Fraction(1, 5)])
EPSILONS = st.fractions(min_value=0, max_value=4, max_denominator=40)
RATIOS = [Fraction(101, 100), Fraction(3, 2), Fraction(3), Fraction(50), Fraction(10**6)]


def conversion_fault(rule: Rule, known: Known, **choice: Any) -> str:
    return fault(rule(known.derivation, **choice), known.table)


def random_known(kind: type[Guarantee]) -> st.SearchStrategy[Known]:
    """Randomized response is the worst case of many conversions, so it comes up often."""
    worst = st.sampled_from(RATIOS).map(lambda ratio: know(kind, [response(ratio)], REPLACE, share=Fraction(1, 10)))
    return st.one_of(knowns(kind, ["0", "1"], [1, 2], REPLACE, outcomes=3), worst)


@pytest.mark.parametrize("rule", [rules.pure_to_zcdp, rules.pure_to_zcdp_simple])
@FAST
@given(known=random_known(PureDP))
def test_pure_to_zcdp_dominates_enumeration(rule: Rule, known: Known) -> None:
    assert not conversion_fault(rule, known)


def random_approx() -> st.SearchStrategy[Known]:
    """The worst case reveals its input once in a while, and otherwise answers by randomized response."""
    told = st.builds(
        revealing, st.sampled_from(RATIOS).map(response), st.sampled_from([Fraction(1, 10), Fraction(2, 3)])
    )
    worst = told.map(lambda table: know(ApproxDP, [table], REPLACE))
    return st.one_of(knowns(ApproxDP, ["0", "1"], [1, 2], REPLACE, outcomes=3), worst)


@FAST
@given(known=random_approx())
def test_approx_to_zcdp_dominates_enumeration(known: Known) -> None:
    assert not conversion_fault(rules.approx_to_zcdp, known)


@FAST
@given(known=random_known(PureDP))
def test_pure_to_gaussian_dominates_enumeration(known: Known) -> None:
    assert not conversion_fault(rules.pure_to_gaussian, known)


@FAST
@given(known=random_known(ZCDP), orders=st.sets(st.fractions(min_value="1.01", max_value=40), min_size=1, max_size=4))
def test_zcdp_to_renyi_dominates_enumeration(known: Known, orders: set[Fraction]) -> None:
    assert not conversion_fault(rules.zcdp_to_renyi, known, orders=orders)


@pytest.mark.parametrize("kind", [ZCDP, ApproxZCDP])
@FAST
@given(data=st.data(), delta=DELTAS)
def test_zcdp_to_approx_dominates_enumeration(kind: type[Guarantee], data: st.DataObject, delta: Fraction) -> None:
    known = data.draw(random_known(kind))
    floor = known.statement.parameters.get("delta", Fraction(0))
    assert not conversion_fault(rules.zcdp_to_approx, known, delta=floor + (1 - floor) * delta)


@FAST
@given(known=random_known(RenyiDP), delta=DELTAS)
def test_renyi_to_approx_dominates_enumeration(known: Known, delta: Fraction) -> None:
    assert not conversion_fault(rules.renyi_to_approx, known, delta=delta)


@FAST
@given(known=random_known(GaussianDP), delta=DELTAS)
def test_gaussian_to_approx_dominates_enumeration(known: Known, delta: Fraction) -> None:
    assert not conversion_fault(rules.gaussian_to_approx, known, delta=delta)


@FAST
@given(known=random_known(GaussianDP))
def test_gaussian_to_zcdp_dominates_enumeration(known: Known) -> None:
    assert not conversion_fault(rules.gaussian_to_zcdp, known)


@pytest.mark.slow
@THOROUGH
@given(data=st.data(), delta=DELTAS)
def test_all_conversions_dominate_enumeration_of_larger_mechanisms(data: st.DataObject, delta: Fraction) -> None:
    edges: dict[type[Guarantee], list[tuple[Rule, dict[str, Any]]]] = {
        ApproxDP: [(rules.approx_to_zcdp, {})],
        PureDP: [(rules.pure_to_zcdp, {}), (rules.pure_to_zcdp_simple, {}), (rules.pure_to_gaussian, {})],
        ZCDP: [(rules.zcdp_to_renyi, {"orders": ["1.01", 2, 30]}), (rules.zcdp_to_approx, {"delta": delta})],
        RenyiDP: [(rules.renyi_to_approx, {"delta": delta})],
        GaussianDP: [(rules.gaussian_to_zcdp, {}), (rules.gaussian_to_approx, {"delta": delta})],
    }
    for kind, listed in edges.items():
        known = data.draw(knowns(kind, ["0", "1", "2"], [1, 2], REPLACE, outcomes=3))
        for rule, choice in listed:
            assert not conversion_fault(rule, known, **choice)


# False twins


def number(premise: Derivation) -> Fraction:
    (first, *_) = premise.conclusion.parameters.values()
    assert isinstance(first, Fraction)
    return first


def eighth_of_the_square(premise: Derivation) -> Derivation:
    return claim(ZCDP, REPLACE, rho=number(premise) ** 2 / 8)


def slightly_less_rho(premise: Derivation) -> Derivation:
    return claim(ZCDP, REPLACE, rho=number(rules.pure_to_zcdp(premise)) * (1 - Fraction(1, 10**10)))


def slightly_less_mu(premise: Derivation) -> Derivation:
    return claim(GaussianDP, REPLACE, mu=number(rules.pure_to_gaussian(premise)) * (1 - Fraction(1, 10**6)))


def mu_is_epsilon(premise: Derivation) -> Derivation:
    return claim(GaussianDP, REPLACE, mu=number(premise))


def quarter_of_the_square(premise: Derivation) -> Derivation:
    return claim(ZCDP, REPLACE, rho=number(premise) ** 2 / 4)


def without_the_order(premise: Derivation) -> Derivation:
    return claim(RenyiDP, REPLACE, bounds={4: number(premise)})


def as_the_seed_says(premise: Derivation) -> Derivation:
    rho, delta = number(premise), Fraction(1, 10**4)
    return claim(ApproxDP, REPLACE, epsilon=rho + 4 * rho * Fraction(math.log(1 / delta)), delta=delta)


def mean_loss_only(premise: Derivation) -> Derivation:
    return claim(ApproxDP, REPLACE, epsilon=number(premise), delta=Fraction(1, 10**4))


def smaller_mu_profile(premise: Derivation) -> Derivation:
    smaller = rules.suppose(GaussianDP(mu=number(premise) * Fraction(4, 5), neighbors=REPLACE))
    return rules.gaussian_to_approx(smaller, delta=Fraction(1, 5))


@pytest.mark.parametrize(
    ("kind", "twin", "ratio"),
    [
        (PureDP, eighth_of_the_square, 3),
        (PureDP, slightly_less_rho, 3),
        (PureDP, slightly_less_rho, Fraction(101, 100)),
        (PureDP, slightly_less_mu, 3),
        (PureDP, mu_is_epsilon, 2),
        (ZCDP, without_the_order, Fraction(3, 2)),
        (ZCDP, as_the_seed_says, Fraction(101, 100)),
        (ZCDP, mean_loss_only, 2),
        (GaussianDP, quarter_of_the_square, Fraction(11, 10)),
        (GaussianDP, smaller_mu_profile, 2),
    ],
)
def test_twins_are_refuted(kind: type[Guarantee], twin: Rule, ratio: Fraction) -> None:
    assert conversion_fault(twin, know(kind, [response(ratio)], REPLACE))


@pytest.mark.parametrize(
    ("rho", "delta"), [(1 - Fraction(1, 10**10), 1), (Fraction(1, 2), 1), (1, Fraction(99, 100)), (2, 0)]
)
@pytest.mark.parametrize("ratio", [Fraction(101, 100), Fraction(3)])
def test_twins_of_approximate_zcdp_are_refuted(rho: Fraction, delta: Fraction, ratio: Fraction) -> None:
    """With less rho, or with a part of delta, or by forgetting it."""

    def twin(premise: Derivation) -> Derivation:
        found = rules.approx_to_zcdp(premise).conclusion.parameters
        return claim(ApproxZCDP, REPLACE, rho=found["rho"] * rho, delta=found["delta"] * delta)

    known = know(ApproxDP, [revealing(response(ratio), Fraction(1, 10))], REPLACE)
    assert known.statement.parameters["delta"] == Fraction(1, 10)
    assert conversion_fault(twin, known)
    assert not conversion_fault(rules.approx_to_zcdp, known)


def renyi_twin(bound: Callable[[Any, Fraction], Fraction], order: int, delta: Fraction) -> Rule:
    """The conversion at a fixed order with another way to find the bound there."""

    def rule(premise: Derivation) -> Derivation:
        found = bound_to_epsilon(
            Fraction(order), bound(premise.conclusion.parameters["bounds"], Fraction(order)), delta
        )
        return claim(ApproxDP, REPLACE, epsilon=found.claim(), delta=delta)

    return rule


def chord_of_the_bound(bounds: Any, order: Fraction) -> Fraction:
    """Interpolates the divergence itself, which is not convex, between 2 and 1000."""
    low, high = dict(bounds)[Fraction(2)], dict(bounds)[Fraction(1000)]
    found: Fraction = low + (high - low) * (order - 2) / 998
    return found


def chord_prolonged(bounds: Any, order: Fraction) -> Fraction:
    """Goes on along the chord from 2 to 3, below a convex curve."""
    low, high = dict(bounds)[Fraction(2)], 2 * dict(bounds)[Fraction(3)]
    found: Fraction = (low + (high - low) * (order - 2)) / (order - 1)
    return found


def last_bound_for_all_orders(bounds: Any, order: Fraction) -> Fraction:
    found: Fraction = dict(bounds)[Fraction(2)]
    return found


@pytest.mark.parametrize(
    ("bound", "order"), [(chord_of_the_bound, 300), (chord_prolonged, 900), (last_bound_for_all_orders, 10**6)]
)
def test_wrongly_interpolated_renyi_bounds_are_refuted(bound: Callable[[Any, Fraction], Fraction], order: int) -> None:
    known = know(RenyiDP, [response(3)], REPLACE)
    delta = Fraction(1, 10**3)
    assert conversion_fault(renyi_twin(bound, order, delta), known)
    if order <= 1000:
        assert not conversion_fault(renyi_twin(bound_at, order, delta), known)


def test_floor_ignoring_twin_of_approximate_zcdp_is_refuted() -> None:
    """What is left out of approximate zCDP stays left out."""
    known = Known(
        (revealing(response(2), Fraction(1, 10)),),
        rules.suppose(ApproxZCDP(rho=1, delta=Fraction(1, 10), neighbors=REPLACE)),
    )
    pretended = rules.suppose(ZCDP(rho=1, neighbors=REPLACE))
    assert fault(rules.zcdp_to_approx(pretended, delta=Fraction(1, 20)), known.table)
    with pytest.raises(InvalidParameter, match="no finite epsilon"):
        rules.zcdp_to_approx(known.derivation, delta=Fraction(1, 20))


# Known values


def gaussian_delta(mu: Any, epsilon: Any) -> Any:
    return mpmath.ncdf(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("mu", ["1/100", "1/3", "1", "3", "10"])
@pytest.mark.parametrize("exponent", [1, 2, 5, 10, 30, 100])
def test_gaussian_profile_to_twelve_digits(mu: str, exponent: int) -> None:
    """The truth at both ends of the interval lies on both sides of delta, and so it does at the rule's epsilon."""
    delta, exact = Fraction(1, 10**exponent), Fraction(mu)
    statement = GaussianDP(mu=exact)
    found = statement.epsilon(delta=delta)
    concluded = rules.gaussian_to_approx(rules.suppose(statement), delta=delta).conclusion.parameters["epsilon"]
    assert found.width <= Fraction(found.upper) / 10**12
    assert found.lower <= concluded <= Fraction(found.upper) * (1 + Fraction(1, 10**12))
    with mpmath.workdps(400):
        for epsilon in (Fraction(found.upper), concluded):
            assert gaussian_delta(real(exact), real(epsilon)) <= real(delta)
        if found.lower > 0:
            assert gaussian_delta(real(exact), real(Fraction(found.lower))) >= real(delta)
        epsilon = Fraction(found.upper).limit_denominator(10**6)
        truth = gaussian_delta(real(exact), real(epsilon))
        ends = statement.delta(epsilon=epsilon)
        assert real(Fraction(ends.lower)) <= truth <= real(Fraction(ends.upper)) <= truth * (1 + mpmath.mpf(10) ** -12)


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [
        ("1e-5", "4.37717809568122"),
        ("1e-6", "4.88655411746221"),
        ("1e-8", "5.77609838289027"),
        ("1e-10", "6.54792406686495"),
    ],
)
def test_known_values_of_the_gaussian(delta: str, epsilon: str) -> None:
    found = rules.gaussian_to_approx(rules.suppose(GaussianDP(mu=1)), delta=delta).conclusion.parameters["epsilon"]
    assert abs(found / Fraction(epsilon) - 1) < Fraction(1, 10**12)


@pytest.mark.parametrize(("delta", "digits"), [("1e-5", "4.728386"), ("1e-6", "5.221534")])
def test_known_values_of_zcdp(delta: str, digits: str) -> None:
    found = rules.zcdp_to_approx(rules.suppose(ZCDP(rho="0.5")), delta=delta).conclusion.parameters["epsilon"]
    assert Fraction(digits) <= found < Fraction(digits) + Fraction(1, 10**6)


@given(EPSILONS.filter(bool), DELTAS)
def test_zcdp_to_approx_is_near_the_best_order(rho: Fraction, delta: Fraction) -> None:
    """No order on a fine grid does better by more than a billionth."""
    found = rules.zcdp_to_approx(rules.suppose(ZCDP(rho=rho)), delta=delta).conclusion.parameters["epsilon"]
    orders = [1 + math.exp(i / 20 - 8) for i in range(320)]
    best = min(a * float(rho) + math.log1p(-1 / a) - (math.log(float(delta)) + math.log(a)) / (a - 1) for a in orders)
    assert float(found) <= max(best, 0.0) * (1 + 1e-9) + 1e-12


# No conversion gains privacy


EDGES: list[tuple[Rule, Callable[[Fraction], Guarantee], dict[str, Any]]] = [
    (rules.pure_to_zcdp, lambda n: PureDP(epsilon=n), {}),
    (rules.pure_to_zcdp_simple, lambda n: PureDP(epsilon=n), {}),
    (rules.approx_to_zcdp, lambda n: ApproxDP(epsilon=n, delta="1e-4"), {}),
    (rules.pure_to_gaussian, lambda n: PureDP(epsilon=n), {}),
    (rules.zcdp_to_renyi, lambda n: ZCDP(rho=n), {"orders": ["1.5", 2, 8]}),
    (rules.zcdp_to_approx, lambda n: ZCDP(rho=n), {"delta": "1e-3"}),
    (rules.zcdp_to_approx, lambda n: ApproxZCDP(rho=n, delta="1e-4"), {"delta": "1e-3"}),
    (rules.renyi_to_approx, lambda n: renyi({2: n, 8: 2 * n}), {"delta": "1e-3"}),
    (rules.gaussian_to_approx, lambda n: GaussianDP(mu=n), {"delta": "1e-3"}),
    (rules.gaussian_to_zcdp, lambda n: GaussianDP(mu=n), {}),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("rule", "make", "choice"), EDGES)
@FAST
@given(numbers=st.lists(EPSILONS, min_size=2, max_size=2), epsilon=EPSILONS)
def test_conversions_never_gain(
    rule: Rule, make: Callable[[Fraction], Guarantee], choice: Any, numbers: list[Fraction], epsilon: Fraction
) -> None:
    """The conclusion's curve is nowhere below the premise's, and larger premises give larger conclusions."""
    low, high = sorted(numbers)
    small, large = (rule(rules.suppose(make(one)), **choice).conclusion for one in (low, high))
    assert small.delta(epsilon=epsilon).upper >= make(low).delta(epsilon=epsilon).lower
    assert rules.weaken(rules.suppose(small), to=large).conclusion == large


@given(EPSILONS, DELTAS)
def test_round_trips_lose(epsilon: Fraction, delta: Fraction) -> None:
    """By way of any other kind a pure guarantee comes back no better than its own curve."""
    pure = rules.suppose(PureDP(epsilon=epsilon))
    own = pure.conclusion.epsilon(delta=delta).lower
    concentrated, gaussian = rules.pure_to_zcdp(pure), rules.pure_to_gaussian(pure)
    listed = rules.zcdp_to_renyi(concentrated, orders=[2, 5, 50])
    for back in (
        rules.zcdp_to_approx(concentrated, delta=delta),
        rules.renyi_to_approx(listed, delta=delta),
        rules.gaussian_to_approx(gaussian, delta=delta),
    ):
        assert back.conclusion.parameters["epsilon"] >= own
    through = rules.gaussian_to_zcdp(gaussian).conclusion.parameters["rho"]
    assert through >= concentrated.conclusion.parameters["rho"] * (1 - Fraction(1, 10**12))


# What is refused


@pytest.mark.parametrize(
    ("rule", "choice", "wanted", "accepted"),
    [
        (rules.pure_to_zcdp, {}, "ZCDP", {PureDP}),
        (rules.pure_to_zcdp_simple, {}, "ZCDP", {PureDP}),
        (rules.approx_to_zcdp, {}, "ApproxZCDP", {ApproxDP}),
        (rules.pure_to_gaussian, {}, "GaussianDP", {PureDP}),
        (rules.zcdp_to_renyi, {"orders": [2]}, "RenyiDP", {ZCDP}),
        (rules.zcdp_to_approx, {"delta": "0.1"}, "ApproxDP", {ZCDP, ApproxZCDP}),
        (rules.renyi_to_approx, {"delta": "0.1"}, "ApproxDP", {RenyiDP}),
        (rules.gaussian_to_approx, {"delta": "0.1"}, "ApproxDP", {GaussianDP}),
        (rules.gaussian_to_zcdp, {}, "ZCDP", {GaussianDP}),
    ],
)
def test_other_kinds_are_refused_by_name(rule: Rule, choice: Any, wanted: str, accepted: set[Any]) -> None:
    for statement in (
        PureDP(epsilon=1),
        ApproxDP(epsilon=1, delta="0.01"),
        ZCDP(rho=1),
        ApproxZCDP(rho=1, delta="0.01"),
        renyi({2: 1}),
        GaussianDP(mu=1),
    ):
        if type(statement) in accepted:
            assert type(rule(rules.suppose(statement), **choice).conclusion).__name__ == wanted
        else:
            with pytest.raises(NoSuchRule) as caught:
                rule(rules.suppose(statement), **choice)
            assert (caught.value.premise, caught.value.wanted) == (statement, wanted)


@pytest.mark.parametrize("delta", [-1, 2, math.nan, math.inf, "tiny", True, None, Fraction(1, 2**5000)])
def test_bad_delta(delta: Any) -> None:
    for rule, statement in (
        (rules.zcdp_to_approx, ZCDP(rho=1)),
        (rules.renyi_to_approx, renyi({2: 1})),
        (rules.gaussian_to_approx, GaussianDP(mu=1)),
    ):
        with pytest.raises(InvalidParameter) as caught:
            rule(rules.suppose(statement), delta=delta)
        assert caught.value.field == "delta"


@pytest.mark.parametrize(
    "orders", [[], [1], [Fraction(1, 2)], [2, 2], [math.inf], [math.nan], ["many"], [10**10], 3, None, "23"]
)
def test_bad_orders(orders: Any) -> None:
    with pytest.raises(InvalidParameter):
        rules.zcdp_to_renyi(rules.suppose(ZCDP(rho=1)), orders=orders)


def test_no_epsilon_at_delta_zero_but_for_nothing_revealed() -> None:
    for rule, nothing, something in (
        (rules.zcdp_to_approx, ZCDP(rho=0), ZCDP(rho=1)),
        (rules.gaussian_to_approx, GaussianDP(mu=0), GaussianDP(mu=1)),
        (rules.renyi_to_approx, None, renyi({2: 0})),
    ):
        with pytest.raises(InvalidParameter, match="no finite epsilon"):
            rule(rules.suppose(something), delta=0)
        assert rule(rules.suppose(something), delta=1).conclusion == ApproxDP(epsilon=0, delta=1)
        if nothing is not None:
            assert rule(rules.suppose(nothing), delta=0).conclusion == ApproxDP(epsilon=0, delta=0)
