"""Fourier-Motzkin elimination: what constraints say of some symbols, whatever the others are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, Relation, Symbol, holds
from privately.proving.paths.linear import point

MOST_CONSTRAINTS = 400
TIDY_ABOVE = 12


class Contradiction(Exception):
    """The constraints can never all hold."""


def eliminated(constraints: Sequence[Constraint], symbols: Sequence[Symbol]) -> list[Constraint]:
    """Constraints without these symbols that hold exactly where values for the symbols exist.

    Theorem: a point of the other symbols meets the result exactly if it can be completed to one that meets all.
    Reference: Motzkin 1936; Schrijver 1986, section 12.2
    Proof: docs/theory/refuting.md#supports
    Checked-by: tests/proving/refuting/test_eliminating.py::test_what_is_left_is_the_shadow
    """
    rest = list(constraints)
    waiting = set(symbols)
    while waiting:
        symbol = min(waiting, key=lambda one: _cost(rest, one))
        waiting.discard(symbol)
        rest = _without(rest, symbol)
        if len(rest) > TIDY_ABOVE:
            rest = _tidied(rest)
        if len(rest) > MOST_CONSTRAINTS:
            raise NotSupported("too many constraints to see what they leave possible.")
    return _tidied(rest)


def _cost(constraints: list[Constraint], symbol: Symbol) -> int:
    here = [one for one in constraints if symbol in one.form.terms]
    if any(one.relation == "==" for one in here):
        return -1
    ups = sum(one.form.terms[symbol] > 0 for one in here)
    return ups * (len(here) - ups)


def _without(constraints: list[Constraint], symbol: Symbol) -> list[Constraint]:
    here = [one for one in constraints if symbol in one.form.terms]
    rest = [one for one in constraints if symbol not in one.form.terms]
    equal = next((one for one in here if one.relation == "=="), None)
    if equal is not None:
        factor = equal.form.terms[symbol]
        for one in here:
            if one is not equal:
                _keep(rest, one.form - equal.form * (one.form.terms[symbol] / factor), one.relation)
        return rest
    for up in here:
        for down in here:
            if up.form.terms[symbol] > 0 > down.form.terms[symbol]:
                combined = up.form * -down.form.terms[symbol] + down.form * up.form.terms[symbol]
                _keep(rest, combined, ">" if ">" in {up.relation, down.relation} else ">=")
    return rest


def _keep(constraints: list[Constraint], form: Affine | Fraction | int, relation: Relation) -> None:
    if isinstance(form, Affine):
        one = Constraint(_scaled(form), relation)
        if one not in constraints:
            constraints.append(one)
    elif not holds(form, relation):
        raise Contradiction


def _scaled(form: Affine) -> Affine:
    ordered = sorted(form.terms.items(), key=lambda item: str(item[0]))
    size = abs(ordered[0][1])
    return Affine(form.constant / size, {symbol: factor / size for symbol, factor in ordered})


def _tidied(constraints: list[Constraint]) -> list[Constraint]:
    """Without what follows from the rest."""
    kept = list(constraints)
    for one in constraints:
        if one.relation == "==":
            continue
        others = [other for other in kept if other is not one]
        if point((*others, one.negated())) is None:
            kept = others
    return kept
