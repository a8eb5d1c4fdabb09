"""Noise rounded down: the whole part of a form is a symbol of its own, and is taken out again before measuring.

A `WholePart` stands among the draws of a path. Where its symbol is compared with numbers alone, each comparison says
something of the form: k >= 3 of the whole part k of f is f >= 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from privately.proving.paths.affine import Affine, Constraint, constant_of, symbol_form
from privately.proving.paths.noise import Noise
from privately.proving.paths.systems import Entangled


@dataclass(frozen=True, slots=True)
class WholePart(Noise):
    """The largest whole number that is not above the form."""

    form: Affine = field(default_factory=lambda: symbol_form(0))
    width: float = 1.0

    @property
    def continuous(self) -> bool:
        """Single values have probability above zero."""
        return False

    @property
    def one_sided(self) -> bool:
        """Nothing is known of its sign by itself."""
        return False

    @property
    def scale(self) -> float:
        """About as wide as the form."""
        return self.width


def whole_part(form: Affine, noises: Sequence[Noise]) -> WholePart:
    """The whole part of a form over these draws."""
    width = sum(
        abs(float(factor)) * noises[symbol].scale for symbol, factor in form.terms.items() if isinstance(symbol, int)
    )
    return WholePart("whole part", Fraction(1), form, 1 + width)


def defining(number: int, part: WholePart) -> tuple[Constraint, Constraint]:
    """What holds of the symbol in any case: it is at most the form, and more than the form less one."""
    symbol = symbol_form(number)
    return Constraint(part.form - symbol, ">="), Constraint(symbol + 1 - part.form, ">")


def without_whole_parts(constraints: Iterable[Constraint], noises: Sequence[Noise]) -> list[Constraint] | None:
    """The same said of the forms; None if it can never hold.

    Theorem: a point of the draws meets the result exactly if the point and the whole parts that belong to it meet all
    constraints. (Constraints with inputs or bounds left open are read as if these were whole.)
    Reference: none, floor(f) >= n if and only if f >= n for whole n
    Proof: docs/theory/refuting.md#whole-parts
    Checked-by: tests/proving/paths/test_whole_parts.py::test_whole_parts_are_as_likely_as_their_cells_say
    """
    rest = list(constraints)
    for number in reversed(range(len(noises))):  # later ones may be made of earlier ones
        part = noises[number]
        if not isinstance(part, WholePart):
            continue
        known = defining(number, part)
        about = [one for one in rest if number in one.form.terms and one not in known]
        rest = [one for one in rest if number not in one.form.terms]
        for one in about:
            said = _said(one, number, part.form)
            if said is None:
                return None
            rest += said
    return rest


def _said(constraint: Constraint, number: int, form: Affine) -> list[Constraint] | None:
    """What a comparison of the whole part says of the form; None if it never holds."""
    factor = constraint.form.terms[number]
    others = constraint.form - factor * symbol_form(number)
    if isinstance(others, Affine) and any(isinstance(symbol, int) for symbol in others.terms):
        raise Entangled("noise rounded down that is compared with other noise.")
    edge = -others / factor if isinstance(others, Affine) else Fraction(-others) / factor
    exact = None if isinstance(edge, Affine) else constant_of(edge)
    if constraint.relation == "==":
        if exact is not None and exact.denominator != 1:
            return None
        return [Constraint(form - edge, ">="), Constraint(edge + 1 - form, ">")]
    strict = constraint.relation == ">"
    if factor > 0:
        least = edge + 1 if strict else edge
        if exact is not None:
            least = floor(exact) + 1 if strict else ceil(exact)
        return [Constraint(form - least, ">=")]
    beyond = edge if strict else edge + 1
    if exact is not None:
        beyond = ceil(exact) if strict else floor(exact) + 1
    return [Constraint(beyond - form, ">")]
