"""Two laws over the same sets of outputs: how much likelier one is than the other.

An output that holds a tail stands for all values of the tail. Every tail is followed value by value to a start that it
shares with all tails in its place, so that two sets are the same or have nothing in common. In one set both laws fall
alike, so their ratio there is that of the masses (docs/theory/programs.md, Tails).
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, NamedTuple

from ..work import Work
from .exact import Beyond, Number, floor, less, minus, negative, over, plus, remainder, sign, times
from .following import Outputs
from .tails import Tail, add, multiply, noise
from .weights import Field, Weight

LONGEST = 2_000
"""Values of a tail that are looked at one by one."""


class _Line(NamedTuple):
    """Of the values a step apart: from `above` on all are in rising tails, from `below` downwards in falling ones."""

    above: Number
    below: Number


class _Shear(NamedTuple):
    """To one place, a multiple of an earlier one is added."""

    later: int
    earlier: int
    factor: Number


_Lines = dict[tuple[Any, int], tuple[Number, dict[Number, _Line]]]


def side_by_side(one: Outputs, other: Outputs, field: Field, work: Work) -> tuple[Outputs, Outputs]:
    """Both laws as masses of sets that do not overlap."""
    laws = [[(*_flat(output), weight) for output, weight in law.items()] for law in (one, other)]
    leaves = [(shape, values) for law in laws for shape, values, _ in law]
    work.spend(10 * sum(2 + len(values) for _, values in leaves))
    if not any(isinstance(leaf, Tail) for _, values in leaves for leaf in values):
        return one, other
    shears = _shears(leaves, work)
    laws = [[(shape, _sheared(values, shears[shape]), weight) for shape, values, weight in law] for law in laws]
    lines = _lines([(shape, values) for law in laws for shape, values, _ in law])
    found = [_unrolled(law, lines, field, work) for law in laws]
    decays: dict[Any, Any] = {}
    for law in found:
        for shape, values in law:
            bare = shape, tuple(_bare(leaf) for leaf in values)
            falls = [leaf.parts[0][0].decay for leaf in values if isinstance(leaf, Tail)]
            if decays.setdefault(bare, falls) != falls:
                raise Beyond("noises of different sizes stand in one place of the output")
    return found[0], found[1]


def _shears(outputs: list[tuple[Any, tuple[Any, ...]]], work: Work) -> dict[Any, list[_Shear]]:
    """By shape, how often an earlier place is taken from a later one, so that no noise stands in two of them.

    Outputs of one shape are all changed in the same way, which can be undone; so nothing is lost and nothing gained.
    """
    found: dict[Any, list[_Shear]] = {}
    for shape, given in outputs:
        known = found.setdefault(shape, [])
        values = _sheared(given, known)
        work.spend(3 * len(values) ** 2)
        for earlier, later in combinations(range(len(values)), 2):
            one, other = values[earlier], values[later]
            if isinstance(one, Tail) and isinstance(other, Tail) and len(one.parts) == 1:
                ((variable, factor),) = one.parts
                shared = dict(other.parts).get(variable)
                if shared is not None:
                    known.append(_Shear(later, earlier, over(negative(shared), factor)))
                    values = _sheared(values, known[-1:])
    return found


def _sheared(values: tuple[Any, ...], shears: list[_Shear]) -> tuple[Any, ...]:
    changed = list(values)
    for later, earlier, factor in shears:
        changed[later] = add(changed[later], multiply(changed[earlier], factor))
    return tuple(changed)


def _bare(leaf: Any) -> Any:
    return ("tail", leaf.constant, leaf.parts[0][1]) if isinstance(leaf, Tail) else leaf


def _flat(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The shape of an output (None for what is no list) and what stands in its places."""
    if not isinstance(value, tuple):
        return None, (value,)
    parts = [_flat(one) for one in value]
    leaves = tuple(leaf for _, found in parts for leaf in found)
    return tuple(shape for shape, _ in parts), leaves


def _lines(outputs: list[tuple[Any, tuple[Any, ...]]]) -> _Lines:
    """For every place with a tail: the step, and the lines by what is left of them after whole steps."""
    steps: dict[tuple[Any, int], Number] = {}
    for shape, leaves in outputs:
        tails = [(place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, Tail)]
        names = {leaf.parts[0][0] for _, leaf in tails}
        if any(len(leaf.parts) > 1 for _, leaf in tails) or len(names) < len(tails):
            raise Beyond("the output ties several noises to one another")
        for place, leaf in tails:
            if steps.setdefault((shape, place), _size(leaf)) != _size(leaf):
                raise Beyond("noises of different steps stand in one place of the output")
    found: _Lines = {key: (step, {}) for key, step in steps.items()}
    for shape, leaves in outputs:
        for place, leaf in enumerate(leaves):
            if (shape, place) in found:
                step, lines = found[shape, place]
                start, way = (leaf.constant, sign(leaf.parts[0][1])) if isinstance(leaf, Tail) else (leaf, 0)
                above = start if way > 0 else plus(start, step)
                below = start if way < 0 else minus(start, step)
                old = lines.get(remainder(start, step), _Line(above, below))
                lines[remainder(start, step)] = _Line(
                    above if less(old.above, above) else old.above, below if less(below, old.below) else old.below
                )
    return found


def _size(tail: Tail) -> Number:
    factor = tail.parts[0][1]
    return factor if sign(factor) > 0 else times(factor, -1)


def _unrolled(law: list[Any], lines: _Lines, field: Field, work: Work) -> Outputs:
    found: Outputs = {}
    for shape, leaves, weight in law:
        choices = [
            list(_parts(leaf, place, lines[shape, place], field)) if isinstance(leaf, Tail) else [(leaf, field.one)]
            for place, leaf in enumerate(leaves)
        ]
        for chosen in product(*choices):
            work.spend(20 + 10 * len(chosen))
            share = weight
            for _, part in chosen:
                share = field.times(share, part)
            key = shape, tuple(leaf for leaf, _ in chosen)
            found[key] = field.plus(found[key], share) if key in found else share
    return found


def _parts(
    tail: Tail, place: int, known: tuple[Number, dict[Number, _Line]], field: Field
) -> Iterator[tuple[Any, Weight]]:
    """The first values of a tail one by one, and the tail from the start that all have in common."""
    step, lines = known
    ((variable, factor),) = tail.parts
    line = lines[remainder(tail.constant, step)]
    end = line.above if sign(factor) > 0 else line.below
    count = floor(over(minus(end, tail.constant), factor))
    if count > LONGEST:
        raise Beyond("tails begin too far from one another")
    more, rest = field.shares(variable.decay)
    share, value = field.one, tail.constant
    for _ in range(count):
        yield value, field.times(share, rest)
        share, value = field.times(share, more), plus(value, factor)
    yield noise(place, variable.decay, value, factor), share
