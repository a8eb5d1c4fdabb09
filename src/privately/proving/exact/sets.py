"""Laws whose outputs have tails, as masses of sets that do not overlap; two laws over the same sets.

An output that holds a tail stands for all values of the tail. Such sets may overlap one another and single outputs, so
before laws are compared every tail is unrolled to a start that it shares with all others in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any, TypeAlias

from privately.proving.exact.budgets import spend
from privately.proving.exact.sampling import MOST_OUTCOMES, NotFinite
from privately.proving.exact.spreads import Endless, Falls, falls_of, first_and_rest, law_of_sum, one_sided, with_law
from privately.proving.exact.tails import LONGEST, Geometric, Tail, common_step, put, variables
from privately.proving.exact.weights import ONE, ZERO, Quotient, Weight, cost
from privately.proving.language.meaning import simple
from privately.proving.language.syntax import Value


@dataclass(frozen=True)
class Met:
    """A set of outputs with its masses in two laws, and the variables whose laws differ: on the left, on the right."""

    output: Value
    masses: tuple[Weight, Weight]
    differing: tuple[tuple[Endless, Endless], ...] = ()


def met(left: Mapping[Value, Weight], right: Mapping[Value, Weight]) -> list[Met]:
    """Both laws over the same sets of outputs, which do not overlap. NotFinite where noises are tied to one another.

    Theorem: on a set the two laws are products over its places; where no variables differ, the ratio of the two
        probabilities is the same for all outputs: that of the masses. Then the largest ratio, and every sum of
        max(0, P - e^epsilon Q), are those of the masses.
    Reference: Halmos-Savage 1949 (a sufficient statistic)
    Proof: docs/theory/programs.md#tails
    Checked-by: tests/proving/exact/test_sets.py::test_sets_agree_with_a_long_window
    """
    if not has_tails(left) and not has_tails(right):
        return [Met(one, (left.get(one, ZERO), right.get(one, ZERO))) for one in dict.fromkeys([*left, *right])]
    (ours, theirs), ties = _laid(left, right)
    found = []
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key), theirs.get(key)
        if one is None or other is None:
            masses = one.mass if one else ZERO, other.mass if other else ZERO
            found.append(Met(_shown(key, one or other, ties), masses))
            continue
        differing = tuple(pair for pair in zip(one.noises, other.noises, strict=True) if pair[0] != pair[1])
        found.append(Met(_shown(key, one, ties), (one.mass, other.mass), differing))
    return found


def side_by_side(left: Mapping[Value, Weight], right: Mapping[Value, Weight]) -> tuple[Any, Any]:
    """Both laws as masses of sets that do not overlap; the same set with another law on it is another output."""
    if not has_tails(left) and not has_tails(right):
        return left, right
    laws, ties = _laid(left, right)
    ours, theirs = ({_shown(key, cell, ties): cell.mass for key, cell in law.items()} for law in laws)
    return ours, theirs


def apart(law: Mapping[Value, Weight]) -> Any:
    """One law as masses of sets that do not overlap."""
    return side_by_side(law, {})[0]


def mass_at(law: Mapping[Value, Weight], output: Value) -> Weight:
    """The mass of one output, wherever it lies."""
    return side_by_side(law, {output: ONE})[0].get(output, ZERO)


def includes(output: Value, value: Value) -> bool:
    """Whether a value is the output, or one of those that it stands for."""
    (shape, leaves), (other, values) = _flat(output), _flat(value)
    if shape != other:
        return False
    drawn: dict[Geometric, int] = {}
    for leaf, one in zip(leaves, values, strict=True):
        gap = simple(put(leaf, drawn) - one)
        if isinstance(gap, Tail):
            count = -Fraction(gap.constant) / Fraction(gap.factors[0][1])
            if len(gap.factors) > 1 or count < 0 or count.denominator != 1:
                return False
            drawn[gap.factors[0][0]] = int(count)
        elif gap:
            return False
    return True


def in_words(output: Value) -> str:
    """An output; noise is written with a letter where lists need it: `[3 + i, 5 - i], i from 0 on`."""
    found = list(variables(output))
    letters = {one: f"i{place}" if place else "i" for place, one in enumerate(dict.fromkeys(found))}
    steps = [factor for leaf in _flat(output)[1] if isinstance(leaf, Tail) for _, factor in leaf.factors]
    if len(letters) == len(found) and (not isinstance(output, tuple) or {1, -1}.issuperset(steps)):
        return _written(output, {})
    return f"{_written(output, letters)}, {' and '.join(letters.values())} from 0 on"


def _written(value: Value, letters: Mapping[Geometric, str]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_written(one, letters) for one in value)}]"
    if not isinstance(value, Tail) or not letters:
        return str(int(value)) if isinstance(value, bool) else str(value)
    terms = [
        f"{'-' if factor < 0 else '+'} {_times_letter(abs(factor), letters[one])}" for one, factor in value.factors
    ]
    return " ".join([str(value.constant), *terms])


def _times_letter(factor: Any, letter: str) -> str:
    return letter if factor == 1 else f"{factor}*{letter}"


def has_tails(law: Iterable[Value]) -> bool:
    """Whether some output stands for many."""
    return any(True for output in law for _ in variables(output))


def has_exponentials(law: Mapping[Value, Weight]) -> bool:
    """Whether some weight, or the ratio of some tail, is no rational number."""
    laws = (falls_of(one) for output in law for one in variables(output))
    numbers = (number for falls in laws for (ratio, _), share in falls.items() for number in (ratio, share))
    return any(isinstance(one, Quotient) for one in (*law.values(), *numbers))


@dataclass(frozen=True, slots=True)
class _Output:
    """An output as its shape (None for what is no list) and what stands in its places."""

    shape: Any
    leaves: tuple[Value, ...]


_Ties: TypeAlias = dict[Any, list[tuple[int, int, Any]]]
"""By shape: from one place so many times another one is taken away, in this order."""


def _ties(outputs: Iterable[_Output]) -> _Ties:
    """What makes the places independent, if anything does: one place tells the noise of another."""
    found: _Ties = {}
    for output in outputs:
        steps = found.setdefault(output.shape, [])
        leaves = list(_free(output, found, checked=False).leaves)
        for earlier, later in permutations(range(len(leaves)), 2):
            shared = _times(leaves[later], leaves[earlier])
            if shared:
                steps.append((later, earlier, shared))
                leaves[later] = simple(leaves[later] - shared * leaves[earlier])
    return found


def _times(later: Value, earlier: Value) -> Any:
    """How often the noise of one place is in another, if all of it is."""
    if not isinstance(later, Tail) or not isinstance(earlier, Tail):
        return 0
    held = dict(later.factors)
    times = {Fraction(held.get(one, 0)) / Fraction(factor) for one, factor in earlier.factors}
    return simple(min(times)) if len(times) == 1 else 0


def _free(output: _Output, ties: _Ties, *, checked: bool = True) -> _Output:
    """The output with places that are independent of one another."""
    leaves = list(output.leaves)
    for later, earlier, times in ties[output.shape]:
        leaves[later] = simple(leaves[later] - times * leaves[earlier])
    found = list(variables(tuple(leaves)))
    if checked and len(set(found)) < len(found):
        raise NotFinite("the output ties several noises to one another.")
    return _Output(output.shape, tuple(leaves))


@dataclass(slots=True)
class _Line:
    """Values that lie a step apart: from `above` on, and from `below` downwards, all are in one tail each."""

    above: Any
    below: Any


_Place: TypeAlias = tuple[Any, int]
"""A place in outputs of one shape."""


def _laid(left: Mapping[Value, Weight], right: Mapping[Value, Weight]) -> tuple[list[dict[_Output, _Cell]], _Ties]:
    """Both laws as cells, by what their outputs are without the laws of their noises."""
    shapes = [[(_Output(*_flat(output)), mass) for output, mass in law.items()] for law in (left, right)]
    ties = _ties([output for law in shapes for output, _ in law])
    laws = [[(_free(output, ties), mass) for output, mass in law] for law in shapes]
    steps = _steps([output for law in laws for output, _ in law])
    even = [_evened(law, steps) for law in laws]
    unrolling = _Unrolling(steps, _lines([output for law in even for output in law], steps), {})
    return [_unrolled(law, unrolling) for law in even], ties


def _steps(outputs: list[_Output]) -> dict[_Place, Fraction]:
    """For every place with a tail: the step that all its noises take, some only after several of their own."""
    sizes: dict[_Place, set[Any]] = {}
    for output in outputs:
        for place, leaf in enumerate(output.leaves):
            if isinstance(leaf, Tail):
                sizes.setdefault((output.shape, place), set()).update(abs(factor) for _, factor in leaf.factors)
    return {key: common_step(found) for key, found in sizes.items()}


def _evened(law: Iterable[tuple[_Output, Weight]], steps: Mapping[_Place, Fraction]) -> dict[_Output, Weight]:
    """Outputs in parts whose noises all move them by the step of their place, and in one direction."""
    found: dict[_Output, Weight] = {}
    for output, mass in law:
        choices = [
            list(one_sided(leaf, steps[output.shape, place])) if isinstance(leaf, Tail) else [(leaf, ONE)]
            for place, leaf in enumerate(output.leaves)
        ]
        for leaves, share in _chosen(choices, mass):
            key = _Output(output.shape, leaves)
            found[key] = found[key] + share if key in found else share
    return found


def _chosen(choices: Sequence[Sequence[tuple[Any, Weight]]], mass: Weight) -> Iterator[tuple[tuple[Any, ...], Weight]]:
    """One of each, with the product of their shares."""
    for chosen in product(*choices):
        share = mass
        for _, part in chosen:
            share = share * part
        spend(5 + cost(share) // 2)
        yield tuple(one for one, _ in chosen), share


_Lines: TypeAlias = dict[_Place, dict[Any, _Line]]
"""For every place with a tail, the lines by where they cross zero."""


def _lines(outputs: list[_Output], steps: Mapping[_Place, Fraction]) -> _Lines:
    found: _Lines = {key: {} for key in steps}
    for output in outputs:
        for place, leaf in enumerate(output.leaves):
            if (output.shape, place) in found and isinstance(leaf, (int, Fraction, Tail)):
                step, lines = steps[output.shape, place], found[output.shape, place]
                start = leaf.constant if isinstance(leaf, Tail) else leaf
                line = lines.setdefault(start % step, _Line(start, start))
                line.above = max(line.above, start if _rises(leaf) else start + step)
                line.below = min(line.below, start if _falls(leaf) else start - step)
    return found


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a tail begins, and its step."""

    first: Any
    step: Any


@dataclass(frozen=True, slots=True)
class _Cell:
    """The mass of a set of outputs, and the noises in its places."""

    mass: Weight
    noises: tuple[Endless, ...]


@dataclass(frozen=True, slots=True)
class _Unrolling:
    """What is known of all tails; and of sums of noise, by their ratios, the masses one by one with what is left."""

    steps: Mapping[_Place, Fraction]
    lines: _Lines
    known: dict[tuple[Weight, ...], list[tuple[Weight, Falls]]]

    def masses(self, ratios: tuple[Weight, ...], count: int) -> tuple[list[Weight], Falls]:
        """The first masses, and the law of the rest."""
        found = self.known.setdefault(ratios, [(ZERO, law_of_sum(ratios))])
        while len(found) <= count:
            found.append(first_and_rest(found[-1][1]))
        return [mass for mass, _ in found[1 : count + 1]], found[count][1]


_Fall: TypeAlias = tuple[Weight, int]
_Table: TypeAlias = dict[tuple[_Fall, ...], Weight]
"""The law on a set: for sums of noise in its places, their shares."""


def _unrolled(law: Mapping[_Output, Weight], unrolling: _Unrolling) -> dict[_Output, _Cell]:
    found: dict[_Output, _Table] = {}
    for output, mass in law.items():
        choices = [
            list(_parts(leaf, (output.shape, place), unrolling)) if isinstance(leaf, Tail) else [((leaf, ()), ONE)]
            for place, leaf in enumerate(output.leaves)
        ]
        for chosen, share in _chosen(choices, mass):
            table = found.setdefault(_Output(output.shape, tuple(leaf for leaf, _ in chosen)), {})
            falls = tuple(fall for _, fall in chosen if fall)
            table[falls] = table[falls] + share if falls in table else share
            if len(found) > MOST_OUTCOMES:
                raise NotFinite(f"more than {MOST_OUTCOMES} outputs to compare.")
    return {key: _cell(key, table) for key, table in found.items()}


def _parts(tail: Tail, place: _Place, unrolling: _Unrolling) -> Iterator[tuple[tuple[Any, Any], Weight]]:
    """The first values of a tail one by one, and the tail from the start that all have in common."""
    factor = tail.factors[0][1]
    line = unrolling.lines[place][tail.constant % unrolling.steps[place]]
    end = line.above if factor > 0 else line.below
    count = int((end - tail.constant) / Fraction(factor))
    if count > LONGEST:
        raise NotFinite(f"tails whose starts lie {count} values apart.")
    masses, rest = unrolling.masses(tuple(one.ratio for one, _ in tail.factors), count)
    for k, mass in enumerate(masses):
        yield (tail.constant + k * factor, ()), mass
    for fall, share in rest.items():
        yield (_Start(end, factor), fall), share


def _cell(key: _Output, table: _Table) -> _Cell:
    """The law on a set of outputs as a product of laws of its places."""
    mass = sum(table.values(), ZERO)
    places = [place for place, leaf in enumerate(key.leaves) if isinstance(leaf, _Start)]
    laws: list[Falls] = [{} for _ in places]
    for falls, share in table.items():
        for law, fall in zip(laws, falls, strict=True):
            law[fall] = law.get(fall, ZERO) + share / mass
    if len(laws) > 1:
        _check_product(table, mass, laws)
    kept = ({fall: share for fall, share in law.items() if share} for law in laws)
    return _Cell(mass, tuple(with_law(place, law) for place, law in zip(places, kept, strict=True)))


def _check_product(table: _Table, mass: Weight, laws: Sequence[Falls]) -> None:
    for falls, share in _chosen([list(law.items()) for law in laws], mass):
        if table.get(falls, ZERO) != share:
            raise NotFinite("noises whose sizes depend on one another in several places of the output.")


def _shown(key: _Output, cell: _Cell | None, ties: _Ties) -> Value:
    """A set of outputs as an output with tails, as the program gives it."""
    noises: Iterator[Any] = iter(cell.noises if cell else ())
    leaves: list[Any] = [
        Tail(leaf.first, ((next(noises), leaf.step),)) if isinstance(leaf, _Start) else leaf for leaf in key.leaves
    ]
    for later, earlier, times in reversed(ties[key.shape]):
        leaves[later] = simple(leaves[later] + times * leaves[earlier])
    return _built(key.shape, iter(leaves))


def _rises(leaf: Value) -> bool:
    return isinstance(leaf, Tail) and leaf.factors[0][1] > 0


def _falls(leaf: Value) -> bool:
    return isinstance(leaf, Tail) and leaf.factors[0][1] < 0


def _flat(value: Value) -> tuple[Any, tuple[Value, ...]]:
    if not isinstance(value, tuple):
        return None, (value,)
    parts = [_flat(one) for one in value]
    return tuple(shape for shape, _ in parts), tuple(leaf for _, leaves in parts for leaf in leaves)


def _built(shape: Any, leaves: Any) -> Value:
    return next(leaves) if shape is None else tuple(_built(one, leaves) for one in shape)
