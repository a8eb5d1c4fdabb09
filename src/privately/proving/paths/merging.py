"""Fewer paths: those that give the same output become one, if what is certain on all of them happens on no other path.

A running maximum has as many histories as there are ways to overtake; all that end with the same winner become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from privately.proving.paths.affine import Constraint, Symbol, holds
from privately.proving.paths.exploring import Path
from privately.proving.paths.linear import excluded, point

MOST_GUARDS = 60
MOST_PATHS = 300


def merged(paths: Iterable[Path], known: Sequence[Constraint] = ()) -> tuple[Path, ...]:
    """The same ways, in fewer paths; `known` is what is certain of inputs that are open.

    Theorem: the merged path of an output is the union of the paths it stands for, up to probability zero.
    Reference: King 1976 (the ways are disjoint, and one of them is taken)
    Proof: docs/theory/refuting.md#merging
    Checked-by: tests/proving/paths/test_merging.py::test_merging_changes_no_probability
    """
    given = tuple(paths)
    if len(given) > MOST_PATHS or not _one_tape(given):
        return given
    groups: dict[object, list[Path]] = {}
    for path in given:
        groups.setdefault((path.output, path.noises), []).append(path)
    result: list[Path] = []
    points: dict[int, Mapping[Symbol, Fraction] | None] = {}
    for group in groups.values():
        common = _common(group, known) if len(group) > 1 else None
        if common is None or any(
            _meet(common, other, known, points) for other in given if not any(other is one for one in group)
        ):
            result += group
        else:
            result.append(replace(group[0], constraints=_needed(common, known)))
    return tuple(result)


def _meet(
    common: Sequence[Constraint],
    other: Path,
    known: Sequence[Constraint],
    points: dict[int, Mapping[Symbol, Fraction] | None],
) -> bool:
    """Whether noise that meets the constraints can lead onto another path; `points` are some that do lead there."""
    if any(excluded(one, other.constraints) for one in common):
        return False
    if id(other) not in points:
        points[id(other)] = point((*known, *other.constraints))
    inside = points[id(other)]
    if inside is not None and all(_holds_at(one, inside) for one in common):
        return True
    return point((*known, *common, *other.constraints)) is not None


def _holds_at(constraint: Constraint, values: Mapping[Symbol, Fraction]) -> bool:
    terms = constraint.form.terms
    total = constraint.form.constant + sum(factor * values.get(symbol, 0) for symbol, factor in terms.items())
    return holds(total, constraint.relation)


def _one_tape(paths: Sequence[Path]) -> bool:
    """Whether the draw of each number has one law on all paths, so that all paths speak of the same draws."""
    longest = max((path.noises for path in paths), key=len, default=())
    return all(path.weight == 1 and not path.coins and path.noises == longest[: len(path.noises)] for path in paths)


def _common(group: Sequence[Path], known: Sequence[Constraint]) -> tuple[Constraint, ...] | None:
    """All guards of the group that are certain on each of its paths."""
    guards = dict.fromkeys(one for path in group for one in path.constraints)
    if len(guards) > MOST_GUARDS or any(one.relation == "==" for one in guards):
        return None
    return tuple(one for one in guards if all(_certain(one, path.constraints, known) for path in group))


def _certain(guard: Constraint, constraints: Sequence[Constraint], known: Sequence[Constraint]) -> bool:
    if guard in constraints:
        return True
    return not excluded(guard, constraints) and point((*known, *constraints, guard.negated())) is None


def _needed(constraints: Sequence[Constraint], known: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Without those that follow from the others."""
    kept = list(constraints)
    for one in constraints:
        others = [other for other in kept if other != one]
        if point((*known, *others, one.negated())) is None:
            kept = others
    return tuple(kept)
