"""Neighbouring inputs as a formula for the solver."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import eq
from typing import Any

import z3

from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.paths.affine import Affine, Constraint

FARTHEST = 64
"""How far from zero, or from an end of its domain, an entry is looked for."""


def member(value: Any, domain: Domain, farthest: int | None = FARTHEST) -> z3.BoolRef:
    """That an entry lies in its domain, and not too far out."""
    if domain.values is not None:
        return z3.Or([value == _number(one) for one in domain.values])
    said = [] if farthest is None else [value <= farthest, value >= -farthest]
    if domain.lower is not None:
        bound = _number(domain.lower)
        said = [] if farthest is None else [value <= bound + 2 * farthest]
        said.append(value > bound if domain.open else value >= bound)
    if domain.upper is not None:
        bound = _number(domain.upper)
        said.append(value < bound if domain.open else value <= bound)
    if domain.whole:
        said.append(z3.IsInt(value) if value.is_real() else z3.BoolVal(val=True))
    return z3.And(said)


def _number(value: Fraction) -> Any:
    return z3.RealVal(str(value)) if value.denominator != 1 else int(value)


def related(near: Neighborhood, xs: list[Any], ys: list[Any]) -> z3.BoolRef:
    """That two lists of entries are neighbours."""
    match near.change:
        case "each" | "monotone" | "one":
            limit = _number(near.distance or Fraction(0))
            within = [z3.And(x - y <= limit, y - x <= limit) for x, y in zip(xs, ys, strict=True)]
            if near.change == "each":
                return z3.And(within)
            if near.change == "monotone":
                up = z3.And([x <= y for x, y in zip(xs, ys, strict=True)])
                down = z3.And([x >= y for x, y in zip(xs, ys, strict=True)])
                return z3.And(*within, z3.Or(up, down))
            return z3.And(*within, _one_differs(xs, ys))
        case "replaced":
            return _one_differs(xs, ys)
        case "added":
            return _but_one(list(map(eq, xs[:-1], ys)), list(map(eq, xs[1:], ys)))
        case "anything":
            return z3.BoolVal(val=True)


def _one_differs(xs: list[Any], ys: list[Any]) -> z3.BoolRef:
    same = [x == y for x, y in zip(xs, ys, strict=True)]
    return _but_one(same[:-1], same[1:])


def _but_one(before: list[Any], behind: list[Any]) -> z3.BoolRef:
    """Some place has all of the first before it, and all of the second from it on; formulas that grow by one share
    what they have in common."""
    starts, ends = [z3.BoolVal(val=True)], [z3.BoolVal(val=True)]
    for one in before:
        starts.append(z3.And(starts[-1], one))
    for one in reversed(behind):
        ends.append(z3.And(ends[-1], one))
    return z3.Or([z3.And(start, end) for start, end in zip(starts, reversed(ends), strict=True)])


def stated(constraint: Constraint, names: Mapping[str, Any]) -> z3.BoolRef:
    """That a constraint holds."""
    total = linear(constraint.form, names)
    if constraint.relation == ">":
        return total > 0
    return total >= 0 if constraint.relation == ">=" else total == 0


def linear(form: Affine, names: Mapping[str, Any]) -> Any:
    """An affine form for the solver."""
    total: Any = z3.RealVal(str(form.constant))
    for symbol, factor in form.terms.items():
        total = total + z3.RealVal(str(factor)) * names[str(symbol)]
    return total


def model_value(model: z3.ModelRef, symbol: Any) -> Fraction:
    """What a model gives a symbol."""
    found = model.eval(symbol, model_completion=True)
    return Fraction(str(found)) if z3.is_int_value(found) else Fraction(str(found.as_fraction()))
