"""Neighbouring inputs of a program as vectors of entries: with symbols, with numbers, and what to try next.

Private parameters differ all at once, each within its own neighbourhood. Programs with exact noise get whole numbers,
since that is what their noise hides; others get rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import z3

from privately.errors import NotSupported
from privately.proving.language.declarations import ANY_NUMBER, Domain, Neighborhood
from privately.proving.language.program import Parameter, Program
from privately.proving.language.syntax import Value
from privately.proving.paths.affine import Constraint, Exact, symbol_form
from privately.proving.refuting.anchors import anchors
from privately.proving.refuting.changes import Pair, Vector, are_neighbors, ends_of, moves, starts
from privately.proving.refuting.relating import FARTHEST, member, related


@dataclass(frozen=True)
class Slice:
    """Where one private parameter lies in a vector; `added` makes the first input one entry longer."""

    parameter: Parameter
    neighborhood: Neighborhood
    start: tuple[int, int]
    length: tuple[int, int]

    @property
    def domain(self) -> Domain:
        """What its entries can be."""
        return self.neighborhood.domain or ANY_NUMBER

    @property
    def is_list(self) -> bool:
        """Whether it is a list, as the program uses it or as its domain says."""
        return self.parameter.is_list or self.domain.length is not None

    def of(self, vector: Vector, side: int) -> Vector:
        """Its entries in one of the inputs."""
        return vector[self.start[side] : self.start[side] + self.length[side]]


@dataclass(frozen=True)
class Layout:
    """How the private parameters of a program lie in a vector, for lists of one length."""

    slices: tuple[Slice, ...]
    whole: bool
    widths: tuple[Fraction, ...]
    """Typical widths of the noise: steps that are worth trying."""
    turned: bool = False
    """Where an entry is added: whether the shorter input comes first."""
    anchors: tuple[Fraction, ...] = ()
    """Numbers of which the program speaks."""
    models: tuple[Pair, ...] = ()
    """Neighbours that meet the program's assumptions."""
    meets: Callable[[Mapping[str, Value]], bool] | None = None
    """Whether an input is what the program was made for."""

    def names(self, side: int) -> tuple[str, ...]:
        """The symbols of all entries of one input."""
        return tuple(name for one in self.slices for name in _names(one, side))

    def symbolic(self, side: int) -> dict[str, Value]:
        """The private parameters, with symbols for entries."""
        return self._filled(side, [symbol_form(name) for name in self.names(side)])

    def concrete(self, side: int, vector: Vector) -> dict[str, Value]:
        """The private parameters with these entries."""
        return self._filled(side, [_simple(value) for value in vector])

    def _filled(self, side: int, entries: list[Any]) -> dict[str, Value]:
        filled: dict[str, Value] = {}
        for one in self.slices:
            part = tuple(entries[one.start[side] : one.start[side] + one.length[side]])
            filled[one.parameter.name] = part if one.is_list else part[0]
        return filled

    def known(self, side: int) -> tuple[Constraint, ...]:
        """What the domains say of the symbols."""
        found = []
        for one in self.slices:
            lower, upper = ends_of(one.domain)
            for name in _names(one, side):
                if lower is not None:
                    found.append(Constraint(symbol_form(name) - lower, ">="))
                if upper is not None:
                    found.append(Constraint(-symbol_form(name) + upper, ">="))
        return tuple(found)

    def formula(
        self, left: Mapping[str, Any], right: Mapping[str, Any], farthest: int | None = FARTHEST
    ) -> list[z3.BoolRef]:
        """That the two inputs are neighbours; entries are looked for so far from zero, or from an end of what they can
        be."""
        said: list[z3.BoolRef] = []
        for one in self.slices:
            entries = [left[name] for name in _names(one, 0)], [right[name] for name in _names(one, 1)]
            said += [member(value, one.domain, farthest) for value in (*entries[0], *entries[1])]
            said.append(related(one.neighborhood, *(entries[::-1] if self.turned else entries)))
        return said

    def holds(self, pair: Pair) -> bool:
        """Whether the two are neighbours: the last word on every pair that is compared."""
        return self._near(pair) and (
            self.meets is None or all(self.meets(self.concrete(side, pair[side])) for side in (0, 1))
        )

    def _near(self, pair: Pair) -> bool:
        return all(
            (one.domain == ANY_NUMBER or all(v in one.domain for side in (0, 1) for v in one.of(pair[side], side)))
            and are_neighbors(one.neighborhood, *self._turned((one.of(pair[0], 0), one.of(pair[1], 1))))
            for one in self.slices
        )

    def steps(self, one: Slice | None = None) -> list[Fraction]:
        """How far an entry is moved at a time, or the bound of an event."""
        unit = (one.neighborhood.distance if one is not None else None) or Fraction(1)
        steps = {unit / 2, unit, 2 * unit, 4 * unit, *self.widths}
        if self.whole:
            steps = {Fraction(max(1, round(step))) for step in steps}
        return sorted(steps)

    def starts(self) -> Iterator[Pair]:
        """Where a search begins."""
        if not self.slices:
            yield (), ()
            return
        yield from self.models
        parts = [list(starts(one.neighborhood, max(one.length), self.anchors)) or [((), ())] for one in self.slices]
        for number in range(max(map(len, parts))):
            alike = [part[number % len(part)] for part in parts]
            yield self._joined(alike)
            if len(parts) > 1:
                yield from map(self._joined, self._unlike(alike))

    def _unlike(self, parts: list[Pair]) -> Iterator[list[Pair]]:
        """One parameter differs the other way round, or not at all: what all of them do at once may cancel."""
        for place, (left, right) in enumerate(parts):
            if self.slices[place].neighborhood.change != "added":
                yield [*parts[:place], (right, left), *parts[place + 1 :]]
                yield [*parts[:place], (left, left), *parts[place + 1 :]]

    def moves(self, pair: Pair) -> Iterator[Pair]:
        """What is a step away."""
        parts = [self._turned((one.of(pair[0], 0), one.of(pair[1], 1))) for one in self.slices]
        for place, one in enumerate(self.slices):
            for changed in moves(one.neighborhood, parts[place], self.steps(one), self.anchors):
                other = self._joined([*parts[:place], changed, *parts[place + 1 :]])
                if other[0] != other[1]:
                    yield other

    def _joined(self, parts: list[Pair]) -> Pair:
        return self._turned((tuple(v for x, _ in parts for v in x), tuple(v for _, y in parts for v in y)))

    def _turned(self, pair: Pair) -> Pair:
        return (pair[1], pair[0]) if self.turned else pair

    @property
    def balanced(self) -> bool:
        """Whether both inputs have the same entries, so that each pair counts both ways round anyhow."""
        return self.names(0) == self.names(1)

    def with_widths(self, widths: Iterable[float]) -> Layout:
        """With steps as wide as the noise."""
        whole = sorted({Fraction(max(1, round(width))) for width in widths})
        return replace(self, widths=tuple(whole[:3]))

    def backwards(self) -> Layout:
        """The same neighbours, the other one first."""
        slices = tuple(replace(one, start=one.start[::-1], length=one.length[::-1]) for one in self.slices)
        models = tuple(pair[::-1] for pair in self.models)
        return replace(self, slices=slices, turned=not self.turned, models=models)


def layout(
    program: Program,
    neighborhoods: Mapping[str, Neighborhood],
    length: int,
    public: Mapping[str, Any] | None = None,
) -> Layout:
    """The layout for lists of so many entries; public values may be worth trying, too."""
    slices: list[Slice] = []
    left = right = 0
    for parameter in program.private:
        near = neighborhoods.get(parameter.name, parameter.neighborhood)
        if near is None:
            raise NotSupported(f"how neighbours differ in {parameter.name!r} is not said.", hint="Say each(1), say.")
        fixed = None if near.domain is None else near.domain.length
        count = (fixed if fixed is not None else length) if parameter.is_list or fixed is not None else 1
        longer = count + 1 if near.change == "added" else count
        if longer != count and (fixed is not None or not parameter.is_list):
            raise NotSupported(f"{parameter.name!r} is no list to which an entry can be added.")
        slices.append(Slice(parameter, near, (left, right), (longer, count)))
        left, right = left + longer, right + count
    if not slices:
        raise NotSupported("no parameter is private.", hint="Annotate one: q: each(1).")
    spoken_of = anchors(program, public or {}, small=_small(slices))
    return Layout(tuple(slices), program.model == "exact", (), anchors=spoken_of)


def _small(slices: Iterable[Slice]) -> bool:
    """Whether small numbers are not tried anyhow: entries take any value between two ends."""
    return any(one.neighborhood.distance is None and one.domain.lower is not None for one in slices)


def _names(one: Slice, side: int) -> tuple[str, ...]:
    name = one.parameter.name
    return tuple(f"{name}[{place}]" for place in range(one.length[side]))


def _simple(value: Exact) -> Exact:
    exact = Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact
