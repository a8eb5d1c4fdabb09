"""The exact law of a program's output: all states at once, each with its weight.

How states are carried through statements is in following.py, sums in loops in summing.py; lists that are only added up
are held as their sums (folding.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from privately.errors import NotSupported
from privately.proving.exact.budgets import Budget
from privately.proving.exact.folding import folded
from privately.proving.exact.following import Excluded, Outputs
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import Finer, NotFinite
from privately.proving.exact.summing import SumFollower
from privately.proving.language.meaning import noting_divisors
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value

FINEST = 10**6


def output_law(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    least_unit: int = 1,
    place: Between | None = None,
    budget: Budget | None = None,
) -> tuple[Outputs, int]:
    """Every output with its exact weight, and d: weights that are quotients are in t = exp(-1/d), or, with a `place`,
    in the parameter that was left open and lies there.

    Theorem: the weights are the probabilities of the outputs.
    Reference: Kozen 1981 (programs as linear maps on measures)
    Proof: docs/theory/programs.md#states
    Checked-by: tests/proving/exact/test_states.py::test_laws_agree_with_all_ways_one_by_one
    """
    unit, allowed = least_unit, budget or Budget()
    while True:
        try:
            return _law(program, inputs, unit, place, allowed), unit
        except Finer as finer:
            unit = finer.denominator
            if unit > FINEST:
                raise NotFinite("exponents with denominators that fit no common grid.") from None


def _law(program: Program, inputs: Mapping[str, Value], unit: int, place: Between | None, budget: Budget) -> Outputs:
    with noting_divisors() as divisors:
        law = _folded_law(program, inputs, unit, place, budget)
    if place is not None and any(place.has_zero(one) for one in dict.fromkeys(divisors)):
        raise NotSupported("a division that fails, or a loop that never ends, for some value of the open parameter.")
    return law


def _folded_law(
    program: Program, inputs: Mapping[str, Value], unit: int, place: Between | None, budget: Budget
) -> Outputs:
    """Lists of something else than numbers have no sum: where folding them fails, they are followed as they are."""
    shorter = folded(program)
    if shorter is not program:
        try:
            return SumFollower(shorter, inputs, unit, place, budget).law()
        except (Excluded, NotFinite):
            raise
        except NotSupported:
            pass
    return SumFollower(program, inputs, unit, place, budget).law()


__all__ = ["Budget", "Excluded", "Outputs", "output_law"]
