"""Outputs that one input can give and its neighbour cannot: no epsilon covers them.

For every path, what inputs and output must satisfy for some noise to exist is linear (eliminating.py). A solver then
looks for neighbours x, y and an output that some path reaches from x and no path reaches from y.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from privately.errors import NotSupported
from privately.proving.paths.affine import Affine, Constraint, Symbol, holds, terms_of
from privately.proving.paths.events import Condition, Event, entries_of, shape_of
from privately.proving.paths.exploring import Exploration, Path
from privately.proving.refuting.changes import Vector
from privately.proving.refuting.deadlines import Deadline
from privately.proving.refuting.eliminating import Contradiction, eliminated
from privately.proving.refuting.float_laws import Floats
from privately.proving.refuting.neighbors import Layout
from privately.proving.refuting.relating import linear, model_value, stated

SOLVER_STEPS = 300_000
MOST_QUESTIONS = 48


@dataclass
class _Question:
    """A path that is reached from the first input, its constants, and what each rival path needs."""

    layout: Layout
    reached: Path
    own: list[Constraint]
    fixed: dict[int, Fraction]
    rivals: list[list[Constraint]]


def mismatches(
    layout: Layout, left: Exploration, right: Exploration, deadline: Deadline
) -> Iterator[tuple[Vector, Vector, Event]]:
    """Neighbours and events with probability above zero at the first and, as far as linear arithmetic sees, zero at the
    second. Whoever takes them measures both."""
    shadows: dict[int, list[Constraint] | None] = {}
    shapes = {shape_of(path.output) for path in (*left.paths, *right.paths)}
    if len(shapes) == 1 and all(map(_reaches_all, right.paths)):
        return
    for reached in left.paths[:MOST_QUESTIONS]:
        if deadline.passed():
            return
        if left is right and _makes_up(reached):
            continue
        try:
            own = _shadow(reached)
        except (Contradiction, NotSupported):
            continue
        fixed = {
            place: Fraction(entry)
            for place, entry in enumerate(entries_of(reached.output))
            if not isinstance(entry, Affine)
        }
        rivals = _rivals(right.paths, reached, fixed, (shadows, deadline))
        if rivals is None:
            continue
        question = _Question(layout, reached, own, fixed, rivals)
        found = _asked(question, (left.assumptions, right.assumptions))
        if found is not None:
            x, y, seen = found
            yield x, y, _event(question, y, seen)


def _makes_up(path: Path) -> bool:
    """Whether other noise makes up for other inputs: every neighbour reaches the same outputs by the same path. Floats
    are enough, since nothing is claimed of paths that are left out."""
    forms = _forms(path)
    draws = _any_number(path, forms)
    inputs = list({symbol for form in forms for symbol in form.terms if isinstance(symbol, str)})
    if not inputs or not draws:
        return not inputs
    wanted, given = _factors(forms, inputs), _factors(forms, draws)
    moved = np.linalg.lstsq(given, wanted, rcond=None)[0]
    return bool(np.allclose(given @ moved, wanted, atol=1e-9))


def _reaches_all(path: Path) -> bool:
    """Whether every list of numbers is an output of the path, for all inputs that may lead onto it."""
    forms = [form for form in _forms(path) if _is_noisy(form)]
    draws = _any_number(path, forms)
    if not all(map(_is_noisy, entries_of(path.output))) or not 0 < len(forms) <= len(draws):
        return False
    return int(np.linalg.matrix_rank(_factors(forms, draws))) == len(forms)


def _is_noisy(entry: Any) -> bool:
    return isinstance(entry, Affine) and any(isinstance(symbol, int) for symbol in entry.terms)


def _forms(path: Path) -> list[Affine]:
    """What guards and outputs are made of."""
    shown = [entry for entry in entries_of(path.output) if isinstance(entry, Affine)]
    return [*(one.form for one in path.constraints), *shown]


def _any_number(path: Path, forms: Sequence[Affine]) -> list[Symbol]:
    """The draws that can be any number."""
    draws = dict.fromkeys(symbol for form in forms for symbol in form.terms if isinstance(symbol, int))
    return [draw for draw in draws if path.noises[draw].continuous and not path.noises[draw].one_sided]


def _factors(forms: Sequence[Affine], symbols: Sequence[Symbol]) -> Floats:
    return np.array([[float(form.terms.get(symbol, 0)) for symbol in symbols] for form in forms])


def _rivals(
    paths: Sequence[Path],
    reached: Path,
    fixed: dict[int, Fraction],
    known: tuple[dict[int, list[Constraint] | None], Deadline],
) -> list[list[Constraint]] | None:
    """What every path needs that could give such an output; None if one of them needs nothing, or there is no time."""
    shadows, deadline = known
    rivals: list[list[Constraint]] = []
    for number, path in enumerate(paths):
        if shape_of(path.output) != shape_of(reached.output) or _differs(path, fixed):
            continue
        if number not in shadows:
            if deadline.passed():
                return None
            shadows[number] = _shadow_or_none(path)
        shadow = shadows[number]
        rival = None if shadow is None else _specialised(shadow, fixed)
        if rival is None:
            continue
        if not rival:
            return None
        rivals.append(rival)
    return rivals


def _shadow_or_none(path: Path) -> list[Constraint] | None:
    """None if the path can never be taken. What cannot be eliminated counts as reaching everything."""
    try:
        return _shadow(path)
    except Contradiction:
        return None
    except NotSupported:
        return []


def _shadow(path: Path) -> list[Constraint]:
    """What inputs and outputs (o0, o1, ...) satisfy if the path is taken."""
    said = list(path.constraints)
    for place, entry in enumerate(entries_of(path.output)):
        if isinstance(entry, Affine):
            said.append(Constraint(entry - Affine(0, {f"o{place}": 1}), "=="))
    noise = {symbol for one in said for symbol in terms_of(one.form) if isinstance(symbol, int)}
    return eliminated(said, sorted(noise))


def _differs(path: Path, fixed: dict[int, Fraction]) -> bool:
    """Whether a constant of the path is another one."""
    entries = entries_of(path.output)
    return any(
        not isinstance(entries[place], Affine) and entries[place] != value for place, value in fixed.items()
    ) or any(not isinstance(entry, Affine) and place not in fixed for place, entry in enumerate(entries))


def _specialised(shadow: Sequence[Constraint], fixed: dict[int, Fraction]) -> list[Constraint] | None:
    """With the constants of the output put in; None if that is impossible."""
    values = {f"o{place}": value for place, value in fixed.items()}
    result = []
    for one in shadow:
        form = one.form.substituted(values)
        if isinstance(form, Affine):
            result.append(Constraint(form, one.relation))
        elif not holds(form, one.relation):
            return None
    return result


def _asked(
    question: _Question, assumptions: tuple[Sequence[Constraint], Sequence[Constraint]]
) -> tuple[Vector, Vector, dict[str, Fraction]] | None:
    """A model: x, y and the output."""
    layout, own, rivals = question.layout, question.own, question.rivals
    make = z3.Int if layout.whole else z3.Real
    xs = {name: make(f"x {name}") for name in layout.names(0)}
    ys = {name: make(f"y {name}") for name in layout.names(1)}
    outputs = {
        str(symbol): z3.Real(str(symbol))
        for one in (*own, *(one for rival in rivals for one in rival))
        for symbol in one.form.terms
        if str(symbol).startswith("o") and str(symbol)[1:].isdigit()
    }
    for place, constant in question.fixed.items():
        outputs[f"o{place}"] = z3.RealVal(str(constant))
    solver = z3.Solver()
    solver.set("rlimit", SOLVER_STEPS)
    solver.add(layout.formula(xs, ys))
    solver.add([stated(one, {**xs, **outputs}) for one in (*assumptions[0], *own)])
    solver.add([stated(one, {**ys, **outputs}) for one in assumptions[1]])
    for rival in rivals:
        solver.add(z3.Or([_broken(one, {**ys, **outputs}) for one in rival]))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    return (
        tuple(model_value(model, xs[name]) for name in layout.names(0)),
        tuple(model_value(model, ys[name]) for name in layout.names(1)),
        {name: model_value(model, symbol) for name, symbol in outputs.items()},
    )


def _event(question: _Question, y: Vector, seen: dict[str, Fraction]) -> Event:
    """The constants of the path, and for every rival one of its needs that the output does not meet."""
    conditions = [Condition(((place, Fraction(1)),), "==", value) for place, value in question.fixed.items()]
    inputs = dict(zip(question.layout.names(1), y, strict=True))
    for rival in question.rivals:
        lacks = [(_lack(one, {**inputs, **seen}), one) for one in rival]
        worst = max(lacks, key=lambda each: each[0])
        form = worst[1].form.substituted(inputs)
        if not isinstance(form, Affine):
            continue
        form = form if min(form.terms.items(), key=lambda item: str(item[0]))[1] > 0 else -form
        weights = tuple((int(str(symbol)[1:]), factor) for symbol, factor in form.terms.items())
        condition = Condition(weights, ">" if _value(form, seen) > 0 else "<", -form.constant)
        if condition not in conditions:
            conditions.append(condition)
    return Event(shape_of(question.reached.output), tuple(conditions))


def _lack(constraint: Constraint, values: dict[str, Fraction]) -> Fraction:
    """How far a constraint is from holding."""
    value = _value(constraint.form, values)
    return abs(value) if constraint.relation == "==" else -value


def _value(form: Affine, values: dict[str, Fraction]) -> Fraction:
    return form.constant + sum((factor * values[str(symbol)] for symbol, factor in form.terms.items()), Fraction(0))


def _broken(constraint: Constraint, names: dict[str, Any]) -> z3.BoolRef:
    total = linear(constraint.form, names)
    return total != 0 if constraint.relation == "==" else total < 0
