"""The law of a program whose outputs are whole lists of constants, however wide its noise."""

from __future__ import annotations

from collections.abc import Mapping

from flint import arb, ctx

from privately.errors import NotSupported
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.paths.affine import Affine
from privately.proving.paths.events import entries_of
from privately.proving.paths.exploring import explore
from privately.proving.paths.measuring import BITS, SPARE_BITS, coins_probability, interval, probability
from privately.proving.paths.merging import merged
from privately.rounding import Interval


class OpenOutput(NotSupported):
    """Noise reaches the output itself: there are outcomes without end."""


def output_laws(program: Program, inputs: Mapping[str, Value], *, bits: int = BITS) -> dict[Value, Interval]:
    """Every outcome that can happen, with its probability.

    Theorem: outcomes that are listed have a probability in their interval, above 0; others never happen.
    Reference: none, a sum over disjoint ways
    Proof: docs/theory/refuting.md#events
    Checked-by: tests/proving/paths/test_outputs.py::test_laws_of_finite_programs_are_those_of_the_exact_engine
    """
    return {output: interval(chance) for output, chance in output_balls(program, inputs, bits=bits).items()}


def output_balls(program: Program, inputs: Mapping[str, Value], *, bits: int = BITS) -> dict[Value, arb]:
    """The same as balls."""
    law: dict[Value, arb] = {}
    for path in merged(explore(program, inputs).paths):
        if any(isinstance(entry, Affine) for entry in entries_of(path.output)):
            raise OpenOutput("noise reaches the output: there are outcomes without end.")
        chance = probability(path.noises, path.constraints, bits=bits)
        if not chance.is_zero():
            with ctx.workprec(bits + SPARE_BITS):
                chance *= coins_probability(path.weight, path.coins)
                law[path.output] = law.get(path.output, arb(0)) + chance
    return law
