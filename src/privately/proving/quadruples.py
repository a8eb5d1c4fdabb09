"""Relational statements about two programs, {P} c1 ~ c2 {Q}, over finite memories (seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any, TypeAlias

from privately.errors import InvalidParameter
from privately.guarantees.couplings import Lifted, NotLifted, lifting
from privately.proving.analysis import rational_law
from privately.proving.exact.budgets import Budget
from privately.proving.exact.states import output_law
from privately.proving.language.declarations import exact_value
from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.reading import Source, read_program

Memory: TypeAlias = Mapping[str, Any]

MOST_PAIRS = 10_000
SECONDS = 8.0


@dataclass(frozen=True, kw_only=True)
class Valid:
    """It holds: for every pair of memories inside P, a coupling of the outputs inside Q."""

    couplings: tuple[tuple[dict[str, Value], dict[str, Value], Lifted[Any, Any]], ...]


@dataclass(frozen=True, kw_only=True)
class Invalid:
    """It fails for these two memories, which P relates: a set of outputs has more mass than all it is related to."""

    left: dict[str, Value]
    right: dict[str, Value]
    reason: NotLifted


def quadruple(
    *,
    left: Source,
    right: Source,
    before: Callable[[Memory, Memory], bool],
    after: Callable[[Value, Value], bool],
    memories: Iterable[Memory],
    right_memories: Iterable[Memory] | None = None,
) -> Valid | Invalid:
    """Decides {before} left ~ right {after}, with couplings or with a witness.

    >>> pad = "OneTimePad(m : private msg) : public msg\\n  key := $ Uniform({0,1}n)\\n  return m xor key\\n"
    >>> messages = [{"m": [a, b], "n": 2} for a in (0, 1) for b in (0, 1)]
    >>> found = quadruple(left=pad, right=pad, before=lambda one, other: True,
    ...                   after=lambda one, other: one == other, memories=messages)
    >>> len(found.couplings)
    16

    Theorem: {P} c1 ~ c2 {Q} holds when for all memories inside P the laws of the outputs are in the lifting of Q.
    Reference: Barthe-Gregoire-Zanella 2009; seed 000
    Proof: docs/theory/programs.md#quadruples
    Checked-by: tests/proving/test_quadruples.py::test_validity_agrees_with_all_sets_of_outputs
    """
    first, second = read_program(left), read_program(right)
    for name, relation in (("before", before), ("after", after)):
        if not callable(relation):
            raise InvalidParameter(name, "give a function of two, which says whether they are related.")
    ones = _all_exact(memories, "memories")
    others = ones if right_memories is None else _all_exact(right_memories, "right_memories")
    if len(ones) * len(others) > MOST_PAIRS:
        raise InvalidParameter("memories", f"more than {MOST_PAIRS} pairs of memories.")
    found = []
    budget = Budget(seconds=SECONDS)
    lefts, rights = _Laws(first, budget), _Laws(second, budget)
    for (i, one), (j, other) in product(enumerate(ones), enumerate(others)):
        if not before(one, other):
            continue
        left_law, right_law = lefts.of(i, one), rights.of(j, other)
        result = lifting(left_law, right_law, after, spend=budget.spend)
        if isinstance(result, NotLifted):
            return Invalid(left=one, right=other, reason=result)
        found.append((one, other, result))
    if not found:
        raise InvalidParameter("before", "relates no two memories, so every statement would hold.")
    return Valid(couplings=tuple(found))


class _Laws:
    """The laws of one program, each found once."""

    def __init__(self, program: Program, budget: Budget) -> None:
        self.program, self.budget = program, budget
        self.known: dict[int, dict[Value, Fraction]] = {}

    def of(self, place: int, memory: Mapping[str, Value]) -> dict[Value, Fraction]:
        """The law for the memory in that place."""
        if place not in self.known:
            self.known[place] = rational_law(output_law(self.program, memory, budget=self.budget)[0])
        return self.known[place]


def _all_exact(memories: Iterable[Memory], field: str) -> list[dict[str, Value]]:
    found = list(islice(memories, MOST_PAIRS + 1)) if isinstance(memories, Iterable) else [None]
    if not all(isinstance(one, Mapping) for one in found):
        raise InvalidParameter(field, 'give a list of dictionaries by the names of inputs, such as [{"x": 0}].')
    return [_exact(one) for one in found if one is not None]


def _exact(memory: Memory) -> dict[str, Value]:
    return {name: exact_value(value, name) for name, value in memory.items()}
