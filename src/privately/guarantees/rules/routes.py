"""Finding the way from one kind to another along the proved edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.composition import optimal_composition
from privately.guarantees.rules.conversions import (
    approx_to_zcdp,
    gaussian_to_approx,
    gaussian_to_zcdp,
    pure_to_gaussian,
    pure_to_zcdp,
    renyi_to_approx,
    zcdp_to_approx,
    zcdp_to_renyi,
)
from privately.guarantees.rules.neighborhoods import REPLACE_HINT, add_remove_to_replace
from privately.guarantees.rules.sealing import conclusions
from privately.guarantees.rules.structure import weaken
from privately.rounding import Number

ORDERS: tuple[Number, ...] = ("1.25", "1.5", "1.75", 2, "2.5", 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128, 256)

Rule = Callable[..., Derivation]
_VIA_ZCDP: dict[type[Guarantee], Rule] = {PureDP: pure_to_zcdp, GaussianDP: gaussian_to_zcdp}
_TO_APPROX: dict[type[Guarantee], Rule] = {
    ZCDP: zcdp_to_approx,
    ApproxZCDP: zcdp_to_approx,
    RenyiDP: renyi_to_approx,
    GaussianDP: gaussian_to_approx,
}
_FALSE: dict[tuple[type[Guarantee], type[Guarantee]], str] = {
    (ZCDP, GaussianDP): "The discrete Gaussian is zCDP and not Gaussian DP.",
    (ApproxDP, PureDP): "A delta above 0 allows a mechanism to reveal everything once in a while.",
    (RenyiDP, ZCDP): "Finitely many orders say nothing about the others.",
}


def convert(
    premise: Derivation,
    kind: type[Guarantee],
    *,
    delta: Number | None = None,
    orders: Iterable[Number] | None = None,
    neighbors: Neighbors | None = None,
) -> Derivation:
    """A derivation of a guarantee of `kind` along the proved edges; NoSuchRule when there is none."""
    (statement,) = conclusions([premise])
    if not (isinstance(kind, type) and issubclass(kind, Guarantee)):
        raise InvalidParameter("kind", f"{kind!r} is not a kind of guarantee; give the class, privately.ApproxDP.")
    if neighbors is not None and neighbors != statement.neighbors:
        premise = _change_neighbors(premise, neighbors)
    if orders is not None and kind is not RenyiDP:
        raise InvalidParameter("orders", f"{kind.__name__} has none; leave them out.")
    if kind is ApproxDP:
        return _to_approx(premise, delta)
    if delta is not None:
        raise InvalidParameter("delta", f"{kind.__name__} has none to choose; leave it out.")
    return _to_kind(premise, kind, ORDERS if orders is None else orders)


def _to_approx(premise: Derivation, delta: Number | None) -> Derivation:
    statement = premise.conclusion
    if delta is None:
        raise InvalidParameter("delta", "say at which delta: epsilon depends on it.")
    if isinstance(statement, (PureDP, ApproxDP)):
        return optimal_composition(premise, delta=delta)
    return _TO_APPROX[type(statement)](premise, delta=delta)


def _to_kind(premise: Derivation, kind: type[Guarantee], orders: Iterable[Number]) -> Derivation:
    statement = premise.conclusion
    start = type(statement)
    if start is kind:
        return premise
    if start is PureDP and kind is GaussianDP:
        return pure_to_gaussian(premise)
    if start in _VIA_ZCDP and kind in (ZCDP, RenyiDP, ApproxZCDP):
        return _to_kind(_VIA_ZCDP[start](premise), kind, orders)
    if start is ZCDP and kind is RenyiDP:
        return zcdp_to_renyi(premise, orders=orders)
    if start is ZCDP and kind is ApproxZCDP:
        wider = ApproxZCDP(rho=statement.parameters["rho"], delta=0, neighbors=statement.neighbors)
        return weaken(premise, to=wider)
    if start is ApproxDP and kind is ApproxZCDP:
        return approx_to_zcdp(premise)
    raise NoSuchRule(premise=statement, wanted=kind.__name__, hint=_FALSE.get((start, kind), ""))


def _change_neighbors(premise: Derivation, neighbors: Neighbors) -> Derivation:
    have = premise.conclusion.neighbors
    if replace(have, change="replace") == neighbors:
        return add_remove_to_replace(premise)
    hint = REPLACE_HINT if replace(have, change="add_remove") == neighbors else ""
    raise NoSuchRule(premise=premise.conclusion, wanted=f"a statement about {neighbors}", hint=hint)
