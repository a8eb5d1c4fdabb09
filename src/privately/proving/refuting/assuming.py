"""Neighbours that meet what a program assumes: a solver finds some, or says that there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import z3

from privately.errors import NotSupported
from privately.proving.exact.states import Excluded
from privately.proving.language.meaning import evaluator, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import Constant, Return, Value
from privately.proving.paths.exploring import explore
from privately.proving.refuting.changes import Pair
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.relating import model_value, stated

SOLVER_STEPS = 300_000


class NoNeighbors(NotSupported):
    """A claim about no inputs says nothing."""

    def __init__(self) -> None:
        super().__init__(
            "no two neighbours meet the assumptions, so every claim would hold.", hint="Check assume(...) and sizes."
        )


def meets(program: Program, public: Mapping[str, Value], inputs: Mapping[str, Value]) -> bool:
    """Whether these inputs are what the program was made for; what cannot be evaluated is left to a run."""
    known = {**public, **inputs}
    try:
        return all(truth(evaluator(one.condition, {}, known)(())) for one in program.assumptions)
    except NotSupported:
        return True


def assumed_pairs(program: Program, public: Mapping[str, Value], near: Layout) -> tuple[Pair, ...]:
    """Neighbours that meet the assumptions: as far apart as may be in some entry, if that is possible, or any.

    Theorem: where there is none, NoNeighbors is raised; it is raised only where no two neighbours meet the assumptions.
    Reference: none, a solver for linear arithmetic is asked
    Proof: docs/theory/refuting.md#assumptions
    Checked-by: tests/proving/refuting/test_assuming.py::test_assumptions_that_no_neighbours_meet_are_noticed
    """
    only_assumptions = replace(program, body=(*program.assumptions, Return(Constant(0), 0)))
    try:
        left, right = (
            explore(only_assumptions, {**public, **near.symbolic(side)}, known=near.known(side)).assumptions
            for side in (0, 1)
        )
    except Excluded:
        raise NoNeighbors from None
    except NotSupported:
        return ()
    xs, ys = ({name: z3.Real(f"{word} {name}") for name in near.names(side)} for side, word in enumerate("xy"))
    solver = z3.Solver()
    solver.set("rlimit", SOLVER_STEPS)
    solver.add(near.formula(xs, ys, farthest=None))
    solver.add([stated(one, xs) for one in left] + [stated(one, ys) for one in right])
    apart = [(xs[name], ys[name]) for name in near.names(0) if near.balanced]
    if near.balanced:
        solver.add(z3.Or([x != y for x, y in apart]))
    if solver.check() == z3.unsat:
        raise NoNeighbors
    if near.whole:
        solver.add([z3.IsInt(one) for one in (*xs.values(), *ys.values())])
    distances = {one.neighborhood.distance for one in near.slices if one.neighborhood.distance}
    farthest = [
        z3.Or([x - y == z3.RealVal(str(far)) for x, y in (*apart, *((y, x) for x, y in apart))]) for far in distances
    ]
    found: list[Pair] = []
    for wanted in (*farthest, z3.BoolVal(val=True)):
        if solver.check(wanted) == z3.sat:
            model = solver.model()
            pair = tuple(tuple(model_value(model, one) for one in side.values()) for side in (xs, ys))
            found.append((pair[0], pair[1]))
    return tuple(dict.fromkeys(found))
