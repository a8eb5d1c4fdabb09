"""Two laws over the same sets of outputs: how much likelier one is than the other.

An output that holds a tail stands for all values of the tail. Every tail is followed value by value to a start that it
shares with all tails in its place, so that two sets are the same or have nothing in common. Where both laws fall alike
in a set, their ratio there is that of the masses (docs/theory/programs.md, Tails); where one noise falls in two ways,
it is left to rays.py.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, NamedTuple

from ..work import Work
from .exact import Beyond, Number, floor, less, minus, negative, over, plus, remainder, sign
from .following import Outputs
from .sums import Falls, first_and_rest, law_of_sum
from .tails import Tail, Variable, add, common_step, multiply, residues, split, variables
from .weights import Decay, Field, Weight

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


Ray = tuple[Falls, Falls]
"""The masses of two laws on values of which each has a ratio of its own."""

_Table = dict[tuple[tuple[Decay, int], ...], Weight]
"""In a set of outputs: for the noises in its places, as sums of how many variables of which decay, the weight."""

_Lines = dict[tuple[Any, int], tuple[Number, dict[Number, _Line]]]


def side_by_side(one: Outputs, other: Outputs, field: Field, work: Work) -> tuple[Outputs, Outputs, list[Ray]]:
    """Both laws as masses of sets that do not overlap, and what falls in two ways."""
    laws = [[(*_flat(output), weight) for output, weight in law.items()] for law in (one, other)]
    leaves = [(shape, values) for law in laws for shape, values, _ in law]
    work.spend(10 * sum(2 + len(values) for _, values in leaves))
    if not any(isinstance(leaf, Tail) for _, values in leaves for leaf in values):
        return one, other, []
    shears = _shears(leaves, work)
    laws = [[(shape, _sheared(values, shears[shape]), weight) for shape, values, weight in law] for law in laws]
    steps = _steps([(shape, values) for law in laws for shape, values, _ in law])
    even = [_evened(law, steps, field, work) for law in laws]
    lines = _lines([key for law in even for key in law], steps)
    ours, theirs = (_unrolled(law, lines, field, work) for law in even)
    return _compared(ours, theirs, field)


def _compared(ours: dict[Any, _Table], theirs: dict[Any, _Table], field: Field) -> tuple[Outputs, Outputs, list[Ray]]:
    """Sets in which both laws fall alike as masses; of others the noise that does not."""
    sets: tuple[Outputs, Outputs] = ({}, {})
    rays: list[Ray] = []
    for key, table in ours.items():
        other = theirs.get(key)
        if other is None or (len(table) == len(other) == 1 and table.keys() == other.keys()):
            for side, found in zip(sets, (table, other), strict=True):
                if found is not None:
                    side[key] = _total(found, field)
            continue
        falls = [*table, *other]
        differing = [place for place in range(len(falls[0])) if len({one[place] for one in falls}) > 1]
        if len(differing) > 1:
            raise Beyond("noises of different sizes stand in several places of the output")
        place = differing[0]
        one, two = ({fall[place]: weight for fall, weight in found.items()} for found in (table, other))
        rays.append((one, two))
    for key, table in theirs.items():
        if key not in ours:
            sets[1][key] = _total(table, field)
    return *sets, rays


def _total(table: _Table, field: Field) -> Weight:
    first, *others = table.values()
    for one in others:
        first = field.plus(first, one)
    return first


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


def _flat(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The shape of an output (None for what is no list) and what stands in its places."""
    if not isinstance(value, tuple):
        return None, (value,)
    parts = [_flat(one) for one in value]
    leaves = tuple(leaf for _, found in parts for leaf in found)
    return tuple(shape for shape, _ in parts), leaves


def _steps(outputs: list[tuple[Any, tuple[Any, ...]]]) -> dict[tuple[Any, int], Number]:
    """For every place with a tail the step that all its noises take, some only after several of their own."""
    factors: dict[tuple[Any, int], list[Number]] = {}
    for shape, leaves in outputs:
        names = list(variables(leaves))
        if len(set(names)) < len(names):
            raise Beyond("the output ties several noises to one another")
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, Tail):
                factors.setdefault((shape, place), []).extend(factor for _, factor in leaf.parts)
    return {key: common_step(found) for key, found in factors.items()}


def _evened(law: list[Any], steps: dict[tuple[Any, int], Number], field: Field, work: Work) -> Outputs:
    """Outputs in parts whose noises all move them by the step of their place, and in one direction."""
    found: Outputs = {}
    for shape, leaves, weight in law:
        choices = [
            list(_one_sided(leaf, steps[shape, place], field, work)) if isinstance(leaf, Tail) else [(leaf, field.one)]
            for place, leaf in enumerate(leaves)
        ]
        for chosen, share in _chosen(choices, weight, field, work):
            key = shape, chosen
            found[key] = field.plus(found[key], share) if key in found else share
    return found


def _one_sided(tail: Tail, step: Number, field: Field, work: Work) -> Iterator[tuple[Any, Weight]]:
    waiting: list[tuple[Any, Weight]] = [(tail, field.one)]
    while waiting:
        leaf, share = waiting.pop()
        work.spend(300)
        parts = leaf.parts if isinstance(leaf, Tail) else ()
        periods = [(one, abs(floor(over(step, factor)))) for one, factor in parts]
        uneven = [found for found in periods if found[1] > 1]
        if uneven:
            smaller = residues((leaf,), *uneven[0], field)
        elif len({sign(factor) for _, factor in parts}) > 1:
            smaller = split((leaf,), leaf, field)
        else:
            yield _in_order(leaf), share
            continue
        waiting += [(one, field.times(share, chance)) for (one,), chance in smaller]


def _in_order(leaf: Any) -> Any:
    """The same sum for the same noises."""
    if not isinstance(leaf, Tail):
        return leaf
    decays = sorted(variable.decay for variable, _ in leaf.parts)
    factor = leaf.parts[0][1]
    return Tail(leaf.constant, tuple((Variable(place, decay), factor) for place, decay in enumerate(decays)))


def _chosen(
    choices: list[list[tuple[Any, Weight]]], weight: Weight, field: Field, work: Work
) -> Iterator[tuple[tuple[Any, ...], Weight]]:
    """One of each, with the product of their shares."""
    for chosen in product(*choices):
        work.spend(20 + 10 * len(chosen))
        share = weight
        for _, part in chosen:
            share = field.times(share, part)
        yield tuple(one for one, _ in chosen), share


def _lines(outputs: list[tuple[Any, tuple[Any, ...]]], steps: dict[tuple[Any, int], Number]) -> _Lines:
    """For every place with a tail: the step, and the lines by what is left of them after whole steps."""
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


def _unrolled(law: Outputs, lines: _Lines, field: Field, work: Work) -> dict[Any, _Table]:
    found: dict[Any, _Table] = {}
    for (shape, leaves), weight in law.items():
        choices = [
            list(_parts(leaf, lines[shape, place], field, work))
            if isinstance(leaf, Tail)
            else [((leaf, ()), field.one)]
            for place, leaf in enumerate(leaves)
        ]
        for chosen, share in _chosen(choices, weight, field, work):
            table = found.setdefault((shape, tuple(leaf for leaf, _ in chosen)), {})
            falls = tuple(fall for _, fall in chosen if fall)
            table[falls] = field.plus(table[falls], share) if falls in table else share
    return found


def _parts(
    tail: Tail, known: tuple[Number, dict[Number, _Line]], field: Field, work: Work
) -> Iterator[tuple[Any, Weight]]:
    """The first values of a tail one by one, and the tail from the start that all have in common."""
    step, lines = known
    factor = tail.parts[0][1]
    line = lines[remainder(tail.constant, step)]
    end = line.above if sign(factor) > 0 else line.below
    count = floor(over(minus(end, tail.constant), factor))
    if count > LONGEST:
        raise Beyond("tails begin too far from one another")
    work.spend(200)
    rest, value = law_of_sum([variable.decay for variable, _ in tail.parts], field, work), tail.constant
    for _ in range(count):
        first, rest = first_and_rest(rest, field, work)
        yield (value, ()), first
        value = plus(value, factor)
    for fall, share in rest.items():
        yield (("tail", value, factor), fall), share
