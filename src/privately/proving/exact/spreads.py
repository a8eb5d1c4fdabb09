"""Sums of several geometric variables as one: signed mixtures of negative binomial laws.

The sum of m geometric variables with ratio r is k with probability C(k+m-1, m-1) (1-r)^m r^k. Sums of variables with
different ratios are mixtures of such laws in which some shares are negative, and so is what is left of one after its
first values: an exponential polynomial in k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from privately.proving.exact.budgets import spend
from privately.proving.exact.tails import Geometric, Tail, residues, split, summed, writable
from privately.proving.exact.weights import ONE, ZERO, Weight, cost

Falls: TypeAlias = dict[tuple[Weight, int], Weight]
"""(r, m) -> the share of the law of a sum of m variables with ratio r."""

PART = 100
"""Steps of work to split a sum."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A variable with such a law; its shares add up to 1."""

    number: int
    falls: Falls = field(hash=False)


Endless: TypeAlias = Geometric | Spread


def falls_of(one: Endless) -> Falls:
    """The law of any variable."""
    return one.falls if isinstance(one, Spread) else {(one.ratio, 1): ONE}


def with_law(number: int, falls: Falls) -> Endless:
    """A variable with a law; a geometric one where that is all it is."""
    ((ratio, order), share), *more = falls.items()
    return Geometric(number, ratio) if not more and order == 1 and share == 1 else Spread(number, falls)


def law_of_sum(ratios: Iterable[Weight]) -> Falls:
    """The law of a sum of independent geometric variables, at least one.

    Theorem: let A and B be geometric with ratios r and q. If r = q, sums of m variables become sums of m + 1. Else
        A + B has the law of A with the share a = (1-q) r / (r-q), and that of B with 1 - a.
    Reference: Feller 1968, section XI.4 (partial fractions)
    Proof: docs/theory/programs.md#sums-of-tails
    Checked-by: tests/proving/exact/test_spreads.py::test_sums_have_the_laws_of_sums
    """
    first, *others = ratios
    found: Falls = {(first, 1): ONE}
    for one in others:
        found = _with_another(found, one)
    return found


def _with_another(falls: Falls, ratio: Weight) -> Falls:
    found: Falls = {}
    for (one, order), share in falls.items():
        spend(order * (PART + cost(share) // 2))
        if one == ratio:
            _add(found, (one, order + 1), share)
            continue
        kept = (1 - ratio) * one / (one - ratio)
        for fewer in range(order, 0, -1):
            _add(found, (one, fewer), share * kept)
            share = share * (1 - kept)  # noqa: PLW2901 - what is left of it
        _add(found, (ratio, 1), share)
    return {key: share for key, share in found.items() if share}


def first_and_rest(falls: Falls) -> tuple[Weight, Falls]:
    """The mass of 0, and the masses of 1, 2, ... as those of 0, 1, ...

    Theorem: what is left of a sum of m variables with ratio r is, for j = 1 ... m, a sum of j with r (1-r)^(m-j).
    Reference: Feller 1968, section XI.1 (generating functions)
    Proof: docs/theory/programs.md#sums-of-tails
    Checked-by: tests/proving/exact/test_spreads.py::test_the_rest_has_the_masses_that_are_left
    """
    first: Weight = ZERO
    rest: Falls = {}
    for (ratio, order), share in falls.items():
        spend(order * (PART // 2 + cost(share) // 2))
        for fewer in range(order, 0, -1):
            _add(rest, (ratio, fewer), writable(share * ratio))
            share = share * (1 - ratio)  # noqa: PLW2901 - times (1-r) for every variable that is 0
        first = first + share
    return first, {key: share for key, share in rest.items() if share}


def one_sided(tail: Tail, step: Any) -> Iterator[tuple[Any, Weight]]:
    """A sum of any variables as sums, with shares, whose variables all move it by one step and in one direction."""
    waiting = list(_of_geometric(tail))
    while waiting:
        leaf, share = waiting.pop()
        spend(PART + cost(share) // 4)
        periods = [(one, int(step / abs(factor))) for one, factor in leaf.factors] if isinstance(leaf, Tail) else []
        uneven = next((found for found in periods if found[1] > 1), None)
        if uneven is not None:
            parts = residues((leaf,), *uneven)
        elif periods and leaf.rising and leaf.falling:
            parts = split((leaf,), leaf)
        else:
            yield _in_order(leaf), share
            continue
        waiting += [(one, writable(share * chance)) for (one,), chance in parts]


def _in_order(leaf: Any) -> Any:
    """The same sum for the same noises."""
    if not isinstance(leaf, Tail):
        return leaf
    ratios = sorted((one.ratio for one, _ in leaf.factors), key=hash)
    return Tail(leaf.constant, tuple((Geometric(k, one), leaf.factors[0][1]) for k, one in enumerate(ratios)))


def _of_geometric(tail: Tail) -> Iterator[tuple[Tail, Weight]]:
    """The sum with geometric variables only, one for each of the sums that a law is made of."""
    for chosen in product(*(falls_of(one).items() for one, _ in tail.factors)):
        share: Weight = ONE
        factors: list[tuple[Geometric, Any]] = []
        for ((ratio, order), part), (_, factor) in zip(chosen, tail.factors, strict=True):
            share = share * part
            factors += [(Geometric(len(factors) + k, ratio), factor) for k in range(order)]
        yield summed(tail.constant, tuple(factors)), share


def scaled(falls: Mapping[tuple[Weight, int], Weight], by: Weight) -> Falls:
    """All shares times a number."""
    return {key: share * by for key, share in falls.items()}


def _add(falls: Falls, key: tuple[Weight, int], share: Weight) -> None:
    falls[key] = falls[key] + share if key in falls else share
