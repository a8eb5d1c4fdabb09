"""Choosing one of several candidates by their scores.

The candidates are the same for all neighbours. `spread` bounds, over all pairs of neighbours, the largest change of a
score minus the smallest, over the candidates: twice the sensitivity of the scores in general, and once if between
neighbours no two scores move in opposite directions, which only one row or unit that comes or goes can promise: of
several changes one may undo in one score what another does in the next.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.derivations import Derivation, Stability
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ZCDP, PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.sealing import conclude, stated
from privately.guarantees.stability import ScoreSpread
from privately.rounding import Number, rational, tidy

Noise = Literal["discrete_laplace", "discrete_exponential"]
_NOISES = ("discrete_laplace", "discrete_exponential")


def exponential_mechanism(
    *,
    scale: Number,
    spread: Number | Stability,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    kind: type[Guarantee] = PureDP,
) -> Derivation:
    """A candidate with probability in proportion to weight exp(score/scale), with fixed weights.

    A `spread` that is derived, by `score_quantile`, brings its neighbours along.

    Theorem: it is epsilon-DP with epsilon = spread/scale, and rho-zCDP with rho = epsilon^2/8.
    Reference: McSherry-Talwar 2007, Theorem 6; Durfee-Rogers 2019; Cesar-Rogers 2021
    Proof: docs/theory/mechanisms.md#exponential-mechanism
    Checked-by: tests/guarantees/rules/test_selection.py::test_exponential_mechanism_dominates_enumeration
    """
    premises, who, number = _given(spread, neighbors, wanted="the exponential mechanism")
    width, range_ = _scale_and_spread(scale, number)
    found: Guarantee
    if kind is PureDP:
        found = PureDP(epsilon=tidy(range_ / width), neighbors=who)
    elif kind is ZCDP:
        found = ZCDP(rho=tidy((range_ / width) ** 2 / 8), neighbors=who)
    else:
        raise NoSuchRule(premise="the exponential mechanism", wanted=_name(kind), hint="Ask for PureDP or ZCDP.")
    return conclude("exponential_mechanism", premises, found, parameters=_parameters(premises, width, range_))


def permute_and_flip(
    *, scale: Number, spread: Number | Stability, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> Derivation:
    """The first candidate, in uniformly random order, that a coin of probability exp((score - best)/scale) accepts.

    A `spread` that is derived, by `score_quantile`, brings its neighbours along, and is one of all groups together: in
    each of them a candidate is chosen like this, independently.

    Theorem: it is (spread/scale)-DP; so are independent choices of one scale, with the sum of their spreads.
    Reference: McKenna-Sheldon 2020; Ding-et-al 2021
    Proof: docs/theory/mechanisms.md#permute-and-flip and docs/theory/stability.md#choices-in-groups
    Checked-by: tests/guarantees/rules/test_selection.py::test_permute_and_flip_dominates_enumeration,
        tests/guarantees/rules/test_selection.py::test_choices_side_by_side_add_up,
        tests/query/test_proving.py::test_choices_in_groups_cost_what_all_small_tables_say
    """
    premises, who, number = _given(spread, neighbors, wanted="permute and flip")
    width, range_ = _scale_and_spread(scale, number)
    found = PureDP(epsilon=tidy(range_ / width), neighbors=who)
    return conclude("permute_and_flip", premises, found, parameters=_parameters(premises, width, range_))


def noisy_max(
    *, noise: Noise, scale: Number, spread: Number, gap: bool, neighbors: Neighbors = Neighbors.ADD_REMOVE
) -> Derivation:
    """The candidate whose integer score is largest once independent noise is added; with `gap`, also by how much.

    A uniform fraction is added to each noise, so that ties are broken uniformly; the gap is the floor of the difference
    to the second largest, fractions included.

    Theorem: with discrete Laplace or discrete exponential noise of this scale it is (spread/scale)-DP; with discrete
        Laplace noise the gap may be released too.
    Reference: Dwork-Roth 2014, Claim 3.9; Ding-Wang-Zhang-Kifer 2019 (the gap)
    Proof: docs/theory/mechanisms.md#noisy-max
    Checked-by: tests/guarantees/rules/test_selection.py::test_noisy_max_dominates_enumeration,
        tests/guarantees/rules/test_selection.py::test_the_gap_dominates_enumeration
    """
    if not isinstance(noise, str) or noise not in _NOISES:
        raise InvalidParameter("noise", f"{noise!r} is not one of {', '.join(_NOISES)}.")
    if not isinstance(gap, bool):
        raise InvalidParameter("gap", f"{gap!r} is neither True nor False.")
    width, range_ = _scale_and_spread(scale, spread)
    if gap and noise != "discrete_laplace":
        raise NoSuchRule(
            premise=f"noisy max with {noise} noise", wanted="the gap", hint='Use noise="discrete_laplace" for a gap.'
        )
    if gap and range_.denominator != 1:
        raise InvalidParameter("spread", "must be whole for a gap; scores are integers, so round it down.")
    found = PureDP(epsilon=tidy(range_ / width), neighbors=neighbors)
    parameters = {"noise": noise, "scale": str(width), "spread": str(range_), "gap": gap}
    return conclude("noisy_max", [], found, parameters=parameters)


def _given(
    spread: Number | Stability, neighbors: Neighbors, *, wanted: str
) -> tuple[list[Stability], Neighbors, Number]:
    """What is derived of the spread, whom it is about, and how large it is."""
    if not isinstance(spread, Stability):
        return [], neighbors, spread
    derived = stated(spread, ScoreSpread, wanted=wanted)
    if neighbors not in {Neighbors.ADD_REMOVE, derived.neighbors}:
        raise InvalidParameter("neighbors", f"the scores are about {derived.neighbors}.")
    return [spread], derived.neighbors, derived.value


def _parameters(premises: list[Stability], scale: Fraction, spread: Fraction) -> dict[str, str]:
    return {"scale": str(scale)} if premises else {"scale": str(scale), "spread": str(spread)}


def _scale_and_spread(scale: Number, spread: Number) -> tuple[Fraction, Fraction]:
    return rational(scale, "scale", above=0), rational(spread, "spread", minimum=0)


def _name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else repr(kind)
