"""Events with open bounds, made from the outputs of paths: which constants are seen, and where sums of entries lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privately.proving.paths.affine import Affine, Constraint, Exact, Symbol, constant_of, terms_of
from privately.proving.paths.events import Condition, Event, Shape, entries_of, shape_of
from privately.proving.paths.exploring import Path
from privately.proving.paths.whole_parts import WholePart

Weights: TypeAlias = tuple[tuple[int, Fraction], ...]
Window: TypeAlias = tuple[Fraction | None, Fraction | None]
"""The ends of an interval, relative to where the first input lies; None: no end."""

OPEN: Window = (None, None)

MOST_CENTRES = 6
"""Different places at which paths have the same entries without noise: windows lie around each of them."""

MOST_ISOLATED = 40
"""Entries among which sums are looked for."""


@dataclass(frozen=True)
class Direction:
    """A sum of output entries that is looked at: its weights, its value without noise, and how wide its noise is."""

    weights: Weights
    centre: Affine | Exact
    width: Fraction
    whole: bool

    def condition(self, window: Window, centre: Fraction) -> list[Condition]:
        """The conditions of a window."""
        low, high = window
        if low is not None and low == high:
            return [Condition(self.weights, "==", centre + low)]
        found = []
        if low is not None:
            found.append(Condition(self.weights, ">=", centre + low))
        if high is not None:
            found.append(Condition(self.weights, "<=", centre + high))
        return found


@dataclass(frozen=True)
class Template:
    """Constants at their places, and directions with open windows."""

    shape: Shape
    fixed: tuple[tuple[int, Fraction], ...]
    directions: tuple[Direction, ...]

    def event(self, windows: Sequence[Window], inputs: dict[str, Fraction]) -> Event:
        """The event with these windows around the values of the first input."""
        conditions = [Condition(((place, Fraction(1)),), "==", value) for place, value in self.fixed]
        for direction, window in zip(self.directions, windows, strict=True):
            conditions += direction.condition(window, centre_at(direction, inputs))
        return Event(self.shape, tuple(conditions))

    def on(self, path: Path) -> list[Constraint]:
        """What the event asks on a path on which it can happen, with symbols low0, high0, ... for the bounds."""
        entries = entries_of(path.output)
        wanted = [
            Constraint(entries[place] - value, "==")
            for place, value in self.fixed
            if isinstance(entries[place], Affine)
        ]
        for number, direction in enumerate(self.directions):
            total: Any = 0
            for place, weight in direction.weights:
                total = total + weight * entries[place]
            wanted.append(Constraint(total - Affine(0, {f"low{number}": 1}), ">="))
            wanted.append(Constraint(-total + Affine(0, {f"high{number}": 1}), ">="))
        return wanted


class Reach:
    """Which paths can end in an event, as far as constants tell."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.outputs: dict[Shape, list[tuple[Path, tuple[Any, ...]]]] = {}
        for path in paths:
            entries = tuple(_constant_in(entry, path) for entry in entries_of(path.output))
            self.outputs.setdefault(shape_of(path.output), []).append((path, entries))
        self.known: dict[object, list[Path]] = {}

    def paths(self, template: Template) -> list[Path]:
        """Those on which the event can happen."""
        key = template.shape, template.fixed
        if key not in self.known:
            self.known[key] = [
                path
                for path, entries in self.outputs.get(template.shape, ())
                if all(entries[place] is OPEN or entries[place] == value for place, value in template.fixed)
            ]
        return self.known[key]


def centre_at(direction: Direction, inputs: dict[str, Fraction]) -> Fraction:
    """The value of the direction at these inputs, without noise."""
    value = direction.centre.substituted(inputs) if isinstance(direction.centre, Affine) else direction.centre
    return Fraction(value)


def templates(paths: Sequence[Path]) -> list[Template]:
    """The events that the outputs of paths suggest."""
    found: dict[object, Template] = {}
    alike: Counter[object] = Counter()
    for path in paths:
        entries = entries_of(path.output)
        noisy = [place for place, entry in enumerate(entries) if _noise(entry)]
        fixed = tuple((place, Fraction(entry)) for place, entry in enumerate(entries) if not isinstance(entry, Affine))
        shape = shape_of(path.output)
        if not noisy:
            found.setdefault((shape, fixed), Template(shape, fixed, ()))
            continue
        plain: list[Weights] = [((place, Fraction(1)),) for place in noisy]
        for choice in (_isolating(entries, noisy), plain) if len(noisy) <= MOST_ISOLATED else (plain,):
            plainly = (shape, fixed, *choice)
            if alike[plainly] == MOST_CENTRES:
                continue
            directions = tuple(_direction(path, entries, weights) for weights in choice)
            key = (*plainly, *(one.centre for one in directions))
            if key not in found:
                alike[plainly] += 1
                found[key] = Template(shape, fixed, directions)
    return list(found.values())


def _constant_in(entry: Any, path: Path) -> Fraction | Window | None:
    """The number that an entry is; OPEN if it may be any number, and None if every number has probability zero."""
    if not isinstance(entry, Affine):
        return Fraction(entry)
    continuous = any(isinstance(symbol, int) and path.noises[symbol].continuous for symbol in entry.terms)
    return None if continuous else OPEN


def _noise(entry: Any) -> dict[int, Fraction]:
    return {symbol: factor for symbol, factor in terms_of(entry).items() if isinstance(symbol, int)}


def _direction(path: Path, entries: tuple[Any, ...], weights: Weights) -> Direction:
    total: Any = 0
    for place, weight in weights:
        total = total + weight * entries[place]
    noise = _noise(total)
    width = sum((abs(f) * Fraction(path.noises[s].scale).limit_denominator(100) for s, f in noise.items()), Fraction(0))
    whole = bool(noise) and all(not path.noises[s].continuous for s in noise)
    return Direction(weights, _centre(path, total), width, whole)


def _centre(path: Path, form: Any) -> Affine | Exact:
    """What a form is without noise; noise that is rounded down lies where the form does of which it is the whole
    part."""
    inputs: dict[Symbol, Fraction] = {s: f for s, f in terms_of(form).items() if isinstance(s, str)}
    centre: Any = Affine(constant_of(form), inputs) if inputs else constant_of(form)
    for symbol, factor in _noise(form).items():
        noise = path.noises[symbol]
        if isinstance(noise, WholePart):
            centre = centre + factor * _centre(path, noise.form)
    return centre if terms_of(centre) else constant_of(centre)


def _isolating(entries: tuple[Any, ...], places: list[int]) -> list[Weights]:
    """Sums of entries that hold as few draws as can be: Gauss-Jordan elimination on the draws; entries for the rest."""
    columns = sorted({symbol for place in places for symbol in _noise(entries[place])}, reverse=True)
    rows = [
        ([_noise(entries[place]).get(symbol, Fraction(0)) for symbol in columns], {place: Fraction(1)})
        for place in places
    ]
    done = 0
    for column in range(len(columns)):
        pivot = next((row for row in range(done, len(rows)) if rows[row][0][column]), None)
        if pivot is None:
            continue
        rows[done], rows[pivot] = rows[pivot], rows[done]
        head = rows[done][0][column]
        rows[done] = _scaled(rows[done], 1 / head)
        for other in range(len(rows)):
            factor = rows[other][0][column]
            if other != done and factor:
                rows[other] = _minus(rows[other], rows[done], factor)
        done += 1
    chosen: list[Weights] = []
    for coefficients, weights in rows:
        if sum(map(bool, coefficients)) == 1:
            chosen.append(tuple(sorted((place, weight) for place, weight in weights.items() if weight)))
    if len(chosen) < len(places):
        chosen += [((place, Fraction(1)),) for place in places if len(_noise(entries[place])) > 1]
    return chosen[: len(places)]


_Row = tuple[list[Fraction], dict[int, Fraction]]


def _scaled(row: _Row, factor: Fraction) -> _Row:
    return [entry * factor for entry in row[0]], {place: weight * factor for place, weight in row[1].items()}


def _minus(row: _Row, other: _Row, factor: Fraction) -> _Row:
    weights = dict(row[1])
    for place, weight in other[1].items():
        weights[place] = weights.get(place, Fraction(0)) - factor * weight
    return [a - factor * b for a, b in zip(row[0], other[0], strict=True)], weights
