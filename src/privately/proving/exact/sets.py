"""Laws whose outputs have tails, as masses of sets that do not overlap; two laws over the same sets.

An output that holds a tail stands for all values of the tail. Such sets may overlap one another and single outputs, so
before laws are compared every tail is unrolled to a start that it shares with all others in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, TypeAlias

from privately.proving.exact.sampling import MOST_OUTCOMES, NotFinite
from privately.proving.exact.tails import LONGEST, Geometric, Tail, put, variables, writable
from privately.proving.exact.weights import ONE, ZERO, Quotient, Weight
from privately.proving.language.meaning import simple
from privately.proving.language.syntax import Value


def side_by_side(left: Mapping[Value, Weight], right: Mapping[Value, Weight]) -> tuple[Any, Any]:
    """Both laws over the same sets of outputs, which do not overlap. NotFinite where noises are tied to one another.

    Theorem: on each of these sets the ratio of the two probabilities is the same for all outputs: that of the masses.
        So the largest ratio, and every sum of max(0, P - e^epsilon Q), are those of the masses.
    Reference: Halmos-Savage 1949 (a sufficient statistic)
    Proof: docs/theory/programs.md#tails
    Checked-by: tests/proving/exact/test_sets.py::test_sets_agree_with_a_long_window
    """
    if not has_tails(left) and not has_tails(right):
        return left, right
    shapes = [[(_Output(*_flat(output)), mass) for output, mass in law.items()] for law in (left, right)]
    ties = _ties([output for law in shapes for output, _ in law])
    laws = [[(_free(output, ties), mass) for output, mass in law] for law in shapes]
    lines = _lines([output for law in laws for output, _ in law])
    found = [_unrolled(law, lines) for law in laws]
    _one_ratio_each([output for law in found for output in law])
    tied = [{_tied(output, ties): mass for output, mass in law.items()} for law in found]
    return tied[0], tied[1]


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
    ratios = (one.ratio for output in law for one in variables(output))
    return any(isinstance(one, Quotient) for one in (*law.values(), *ratios))


@dataclass(frozen=True, slots=True)
class _Output:
    """An output as its shape (None for what is no list) and what stands in its places."""

    shape: Any
    leaves: tuple[Value, ...]


_Ties: TypeAlias = dict[Any, list[tuple[int, int, Any]]]
"""By shape: from one place so many times an earlier one is taken away, in this order."""


def _ties(outputs: Iterable[_Output]) -> _Ties:
    """What makes the places independent, if anything does: an earlier place tells the noise of a later one."""
    found: _Ties = {}
    for output in outputs:
        steps = found.setdefault(output.shape, [])
        leaves = list(_free(output, found, checked=False).leaves)
        for earlier, later in combinations(range(len(leaves)), 2):
            shared = _times(leaves[later], leaves[earlier])
            if shared:
                steps.append((later, earlier, shared))
                leaves[later] = simple(leaves[later] - shared * leaves[earlier])
    return found


def _times(tail: Value, one: Value) -> Any:
    """How often the only variable of one place is in another."""
    if not isinstance(tail, Tail) or not isinstance(one, Tail) or len(one.factors) > 1:
        return 0
    ((variable, factor),) = one.factors
    return simple(Fraction(dict(tail.factors).get(variable, 0)) / Fraction(factor))


def _free(output: _Output, ties: _Ties, *, checked: bool = True) -> _Output:
    """The output with places that are independent of one another."""
    leaves = list(output.leaves)
    for later, earlier, times in ties[output.shape]:
        leaves[later] = simple(leaves[later] - times * leaves[earlier])
    tails = [one for one in leaves if isinstance(one, Tail)]
    if checked and (
        any(len(one.factors) > 1 for one in tails) or len({one.factors[0][0] for one in tails}) < len(tails)
    ):
        raise NotFinite("the output ties several noises to one another.")
    return _Output(output.shape, tuple(leaves))


def _tied(value: Value, ties: _Ties) -> Value:
    """And back."""
    shape, leaves = _flat(value)
    found = list(leaves)
    for later, earlier, times in reversed(ties[shape]):
        found[later] = simple(found[later] + times * found[earlier])
    return _built(shape, iter(found)) if ties[shape] else value


@dataclass(slots=True)
class _Line:
    """Values that lie a step apart: from `above` on, and from `below` downwards, all are in one tail each."""

    above: Any
    below: Any


def _lines(outputs: list[_Output]) -> dict[tuple[Any, int], tuple[Any, dict[Any, _Line]]]:
    """For every place with a tail: the step, and the lines by where they cross zero."""
    steps: dict[tuple[Any, int], set[Any]] = {}
    for output in outputs:
        for place, leaf in enumerate(output.leaves):
            if isinstance(leaf, Tail):
                steps.setdefault((output.shape, place), set()).add(abs(leaf.factors[0][1]))
    if any(len(sizes) > 1 for sizes in steps.values()):
        raise NotFinite("noises of different steps in one place of the output.")
    found: dict[tuple[Any, int], tuple[Any, dict[Any, _Line]]] = {key: (min(one), {}) for key, one in steps.items()}
    for output in outputs:
        for place, leaf in enumerate(output.leaves):
            if (output.shape, place) in found and isinstance(leaf, (int, Fraction, Tail)):
                step, lines = found[output.shape, place]
                start = leaf.constant if isinstance(leaf, Tail) else leaf
                line = lines.setdefault(start % step, _Line(start, start))
                line.above = max(line.above, start if _rises(leaf) else start + step)
                line.below = min(line.below, start if _falls(leaf) else start - step)
    return found


def _unrolled(law: list[tuple[_Output, Weight]], lines: Mapping[tuple[Any, int], Any]) -> dict[Value, Weight]:
    found: dict[Value, Weight] = {}
    for output, mass in law:
        choices = [
            list(_parts(leaf, place, *lines[output.shape, place])) if isinstance(leaf, Tail) else [(leaf, ONE)]
            for place, leaf in enumerate(output.leaves)
        ]
        for chosen in product(*choices):
            share = mass
            for _, part in chosen:
                share = share * part
            key = _built(output.shape, iter([leaf for leaf, _ in chosen]))
            found[key] = found.get(key, ZERO) + share
            if len(found) > MOST_OUTCOMES:
                raise NotFinite(f"more than {MOST_OUTCOMES} outputs to compare.")
    return found


def _parts(tail: Tail, place: int, step: Any, lines: Mapping[Any, _Line]) -> Iterable[tuple[Value, Weight]]:
    """The first values of a tail one by one, and the tail from the start that all have in common."""
    line = lines[tail.constant % step]
    ((one, factor),) = tail.factors
    end = line.above if factor > 0 else line.below
    count = int((end - tail.constant) / Fraction(factor))
    if count > LONGEST:
        raise NotFinite(f"tails whose starts lie {count} values apart.")
    share = ONE
    for k in range(count):
        yield tail.constant + k * factor, share * (1 - one.ratio)
        share = writable(share * one.ratio)
    yield Tail(end, ((Geometric(place, one.ratio), factor),)), share


def _one_ratio_each(outputs: list[Value]) -> None:
    """The same set with two ratios: there the ratio of probabilities is not constant."""
    known: dict[Any, list[Weight]] = {}
    for output in outputs:
        bare, ratios = _without_ratios(output), [one.ratio for one in variables(output)]
        if known.setdefault(bare, ratios) != ratios:
            raise NotFinite("noises of different sizes in one place of the output.")


def _without_ratios(value: Value) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_without_ratios, value))
    return ("tail", value.constant, value.factors[0][1]) if isinstance(value, Tail) else value


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
