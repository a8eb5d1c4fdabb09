"""From one kind of guarantee to another. Each edge is proved; there are no others."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice
from typing import TypeVar

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import curves
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import MAX_ORDERS, ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude, conclusions
from privately.rounding import Enclosure, Number, normal_quantile, rational, tidy

Kind = TypeVar("Kind", bound=Guarantee)


def pure_to_zcdp(premise: Derivation) -> Derivation:
    """epsilon tanh(epsilon/2), the best that holds for every epsilon-DP mechanism.

    Theorem: epsilon-DP implies rho-zCDP with rho = epsilon tanh(epsilon/2) <= epsilon^2/2; randomized response
        attains it.
    Reference: Bun-Steinke 2016, Proposition 1.4 (epsilon^2/2); Harrison-Manurangsi 2025 (the tight form)
    Proof: docs/theory/conversions.md#pure-to-zcdp
    Checked-by: tests/guarantees/rules/test_conversions.py::test_pure_to_zcdp_dominates_enumeration
    """
    statement = _only(premise, PureDP, "ZCDP")
    rho = _concentrated(statement.parameters["epsilon"])
    return conclude("pure_to_zcdp", [premise], ZCDP(rho=rho, neighbors=statement.neighbors))


def pure_to_zcdp_simple(premise: Derivation) -> Derivation:
    """The short form, rho = epsilon^2/2: looser, but exact in rationals.

    Theorem: epsilon-DP implies rho-zCDP with rho = epsilon^2/2.
    Reference: Bun-Steinke 2016, Proposition 1.4
    Proof: docs/theory/conversions.md#pure-to-zcdp
    Checked-by: tests/guarantees/rules/test_conversions.py::test_pure_to_zcdp_dominates_enumeration
    """
    statement = _only(premise, PureDP, "ZCDP")
    rho = tidy(statement.parameters["epsilon"] ** 2 / 2)
    return conclude("pure_to_zcdp", [premise], ZCDP(rho=rho, neighbors=statement.neighbors))


def approx_to_zcdp(premise: Derivation) -> Derivation:
    """The same of the part that delta does not leave out.

    Theorem: (epsilon, delta)-DP implies delta-approximate rho-zCDP with rho = epsilon tanh(epsilon/2); randomized
        response that reveals its input with probability delta attains it.
    Reference: Bun-Steinke 2016, section 8; Kairouz-Oh-Viswanath 2015 (the worst case)
    Proof: docs/theory/conversions.md#approx-to-approximate-zcdp
    Checked-by: tests/guarantees/rules/test_conversions.py::test_approx_to_zcdp_dominates_enumeration
    """
    statement = _only(premise, ApproxDP, "ApproxZCDP")
    rho, delta = _concentrated(statement.parameters["epsilon"]), statement.parameters["delta"]
    found = ApproxZCDP(rho=rho, delta=delta, neighbors=statement.neighbors)
    return conclude("approx_to_zcdp", [premise], found)


def pure_to_gaussian(premise: Derivation) -> Derivation:
    """The Gaussian that is as easy to tell apart as the worst epsilon-DP mechanism.

    Theorem: epsilon-DP implies mu-GDP with mu = 2 Phi^-1(e^epsilon/(1 + e^epsilon)), and no smaller mu.
    Reference: Dong-Roth-Su 2022
    Proof: docs/theory/conversions.md#pure-to-gaussian
    Checked-by: tests/guarantees/rules/test_conversions.py::test_pure_to_gaussian_dominates_enumeration
    """
    statement = _only(premise, PureDP, "GaussianDP")
    epsilon = statement.parameters["epsilon"]
    mu = Fraction(0)
    if epsilon > 0:
        lie = (1 / (1 + Enclosure.of(moderate(epsilon)).exp())).interval().lower
        mu = (-2 * normal_quantile(Fraction(lie))).claim()
    return conclude("pure_to_gaussian", [premise], GaussianDP(mu=mu, neighbors=statement.neighbors))


def zcdp_to_renyi(premise: Derivation, *, orders: Iterable[Number]) -> Derivation:
    """The bound at each order asked for.

    Theorem: rho-zCDP bounds the Renyi divergence of every order a > 1 by a rho.
    Reference: Bun-Steinke 2016, Definition 1.1
    Proof: docs/theory/conversions.md#zcdp-to-renyi
    Checked-by: tests/guarantees/rules/test_conversions.py::test_zcdp_to_renyi_dominates_enumeration
    """
    statement = _only(premise, ZCDP, "RenyiDP")
    rho = statement.parameters["rho"]
    if isinstance(orders, str) or not isinstance(orders, Iterable):
        raise InvalidParameter("orders", "give a list of orders, such as [2, 4, 8].")
    exact = [rational(order, "orders", above=1) for order in islice(orders, MAX_ORDERS + 1)]
    found = RenyiDP(bounds=[(order, tidy(order * rho)) for order in exact], neighbors=statement.neighbors)
    return conclude("zcdp_to_renyi", [premise], found)


def zcdp_to_approx(premise: Derivation, *, delta: Number) -> Derivation:
    """epsilon at the best order, which the certificate names.

    Theorem: rho-zCDP implies (epsilon, delta)-DP for every a > 1 with
        epsilon = a rho + ln((a-1)/a) - (ln delta + ln a)/(a-1);
        d0-approximate zCDP implies (epsilon, d0 + (1 - d0) delta)-DP.
    Reference: Canonne-Kamath-Steinke 2020; Bun-Steinke 2016, section 8
    Proof: docs/theory/conversions.md#renyi-to-approx
    Checked-by: tests/guarantees/rules/test_conversions.py::test_zcdp_to_approx_dominates_enumeration
    """
    statement = _only(premise, (ZCDP, ApproxZCDP), "ApproxDP")
    rho, floor = statement.parameters["rho"], statement.parameters.get("delta", Fraction(0))
    target = rational(delta, "delta", minimum=0, maximum=1)
    _above_floor(statement, target, floor, reachable=rho == 0)
    order, epsilon = Fraction(2), Fraction(0)
    if rho > 0 and target < 1:
        inner = (target - floor) / (1 - floor)
        order = curves.best_concentrated_order(rho, inner)
        epsilon = curves.bound_to_epsilon(order, order * rho, inner).claim()
    found = ApproxDP(epsilon=epsilon, delta=target, neighbors=statement.neighbors)
    return conclude("zcdp_to_approx", [premise], found, witness={"order": str(order)})


def renyi_to_approx(premise: Derivation, *, delta: Number) -> Derivation:
    """epsilon at the best real order up to the last listed one; between listed orders the bound is interpolated.

    Theorem: a Renyi divergence of order a of at most t implies (epsilon, delta)-DP with
        epsilon = t + ln((a-1)/a) - (ln delta + ln a)/(a-1), and (a-1) t is convex in a, so chords bound it.
    Reference: Canonne-Kamath-Steinke 2020; van Erven-Harremoes 2014
    Proof: docs/theory/conversions.md#renyi-to-approx
    Checked-by: tests/guarantees/rules/test_conversions.py::test_renyi_to_approx_dominates_enumeration
    """
    statement = _only(premise, RenyiDP, "ApproxDP")
    bounds = statement.parameters["bounds"]
    target = rational(delta, "delta", minimum=0, maximum=1)
    _above_floor(statement, target, Fraction(0), reachable=False)
    order = curves.best_order_for_delta(bounds, target)
    epsilon = (
        Fraction(0) if target == 1 else curves.bound_to_epsilon(order, curves.bound_at(bounds, order), target).claim()
    )
    found = ApproxDP(epsilon=epsilon, delta=target, neighbors=statement.neighbors)
    return conclude("renyi_to_approx", [premise], found, witness={"order": str(order)})


def gaussian_to_approx(premise: Derivation, *, delta: Number) -> Derivation:
    """The exact profile of the Gaussian mechanism.

    Theorem: mu-GDP implies (epsilon, delta)-DP exactly when
        delta >= Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).
    Reference: Balle-Wang 2018, Theorem 8; Dong-Roth-Su 2022
    Proof: docs/theory/conversions.md#gaussian-to-approx
    Checked-by: tests/guarantees/rules/test_conversions.py::test_gaussian_profile_to_twelve_digits
    """
    statement = _only(premise, GaussianDP, "ApproxDP")
    mu = statement.parameters["mu"]
    target = rational(delta, "delta", minimum=0, maximum=1)
    _above_floor(statement, target, Fraction(0), reachable=mu == 0)
    epsilon = Fraction(0)
    if mu > 0 and target < 1:
        upper = Fraction(curves.gaussian_epsilon(mu, target).upper)
        epsilon = Enclosure.of(moderate(upper, "mu")).claim()
    found = ApproxDP(epsilon=epsilon, delta=target, neighbors=statement.neighbors)
    return conclude("gaussian_to_approx", [premise], found)


def gaussian_to_zcdp(premise: Derivation) -> Derivation:
    """A mu-GDP mechanism reveals no more than the Gaussian one, whose divergence is known.

    Theorem: mu-GDP implies rho-zCDP with rho = mu^2/2. The reverse is false.
    Reference: Dong-Roth-Su 2022
    Proof: docs/theory/conversions.md#gaussian-to-zcdp
    Checked-by: tests/guarantees/rules/test_conversions.py::test_gaussian_to_zcdp_dominates_enumeration
    """
    statement = _only(premise, GaussianDP, "ZCDP")
    rho = tidy(statement.parameters["mu"] ** 2 / 2)
    return conclude("gaussian_to_zcdp", [premise], ZCDP(rho=rho, neighbors=statement.neighbors))


def _concentrated(epsilon: Fraction) -> Fraction:
    """epsilon tanh(epsilon/2), rounded up."""
    simple = tidy(epsilon**2 / 2)
    return simple if epsilon > 1000 else min(simple, (epsilon * half_tanh(epsilon)).claim())


def half_tanh(epsilon: Fraction) -> Enclosure:
    """tanh(epsilon/2) = (1 - e^-epsilon)/(1 + e^-epsilon)."""
    shrunk = Enclosure.of(-epsilon).exp()
    return (1 - shrunk) / (1 + shrunk)


def _only(premise: Derivation, kind: type[Guarantee] | tuple[type[Guarantee], ...], wanted: str) -> Guarantee:
    (statement,) = conclusions([premise])
    if not isinstance(statement, kind):
        raise NoSuchRule(premise=statement, wanted=wanted)
    return statement


def _above_floor(statement: Guarantee, delta: Fraction, floor: Fraction, *, reachable: bool) -> None:
    if delta < floor or (delta == floor and not reachable and delta < 1):
        raise InvalidParameter("delta", f"{statement} has no finite epsilon at delta {float(delta):g}; ask for more.")
