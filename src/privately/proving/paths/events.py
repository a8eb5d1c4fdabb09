"""Events: what an observer of the output looks for, as linear conditions on its entries; and how likely they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from flint import arb, ctx

from privately.errors import NotSupported
from privately.proving.language.syntax import Value
from privately.proving.paths.affine import Affine, Constraint, Exact, holds
from privately.proving.paths.exploring import Path
from privately.proving.paths.measuring import BITS, SPARE_BITS, coins_probability, probability

Shape: TypeAlias = Any
"""None for a number, a tuple of shapes for a list."""

Comparison: TypeAlias = Literal[">", ">=", "==", "<", "<="]


@dataclass(frozen=True, slots=True)
class Condition:
    """The sum of weight * entry, compared with a bound."""

    weights: tuple[tuple[int, Fraction], ...]
    comparison: Comparison
    bound: Fraction

    def on(self, entries: tuple[Any, ...]) -> Constraint | bool:
        """What it asks of a path with this output."""
        total: Any = -self.bound
        for place, weight in self.weights:
            total = total + weight * entries[place]
        if self.comparison in {"<", "<="}:
            total = -total
        relation: Any = {"<": ">", "<=": ">="}.get(self.comparison, self.comparison)
        return Constraint(total, relation) if isinstance(total, Affine) else holds(total, relation)

    def stretched(self, step: Fraction) -> Condition:
        """A half line that begins so much farther out; an equality stays."""
        if self.comparison == "==":
            return self
        outwards = step if self.comparison in {">", ">="} else -step
        return Condition(self.weights, self.comparison, self.bound + outwards)

    def words(self, shape: Shape) -> str:
        """As a person would say it."""
        names = [_name(place, shape) for place, _ in self.weights]
        parts = [
            name if weight == 1 else f"-{name}" if weight == -1 else f"{weight}*{name}"
            for name, (_, weight) in zip(names, self.weights, strict=True)
        ]
        return f"{' + '.join(parts)} {self.comparison} {self.bound}".replace("+ -", "- ")

    def as_data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "weights": {str(place): str(weight) for place, weight in self.weights},
            "comparison": self.comparison,
            "bound": str(self.bound),
        }


@dataclass(frozen=True, slots=True)
class Event:
    """An output of this shape that meets all conditions."""

    shape: Shape
    conditions: tuple[Condition, ...]

    def on(self, output: Value) -> list[Constraint] | None:
        """What it asks of the noise on a path with this output; None if it cannot happen there."""
        if shape_of(output) != self.shape:
            return None
        entries = entries_of(output)
        wanted: list[Constraint] = []
        for condition in self.conditions:
            asked = condition.on(entries)
            if asked is False:
                return None
            if isinstance(asked, Constraint):
                wanted.append(asked)
        return wanted

    @property
    def constants(self) -> dict[int, Fraction]:
        """The entries that have to be one number, with that number."""
        alone = [one for one in self.conditions if one.comparison == "==" and len(one.weights) == 1]
        return {place: one.bound / weight for one in alone for place, weight in one.weights}

    def happened(self, output: Value) -> bool:
        """Whether a concrete output is in it; entries may be floats."""
        if shape_of(output) != self.shape:
            return False
        return all(condition.on(entries_of(output)) is True for condition in self.conditions)

    def stretched(self, step: Fraction) -> Iterator[Event]:
        """The event with half lines that begin farther out: all of them, then each alone."""
        moved = [condition.stretched(step) for condition in self.conditions]
        changed = [place for place, one in enumerate(moved) if one != self.conditions[place]]
        if changed:
            yield Event(self.shape, tuple(moved))
        for place in changed if len(changed) > 1 else []:
            yield Event(self.shape, (*self.conditions[:place], moved[place], *self.conditions[place + 1 :]))

    def __str__(self) -> str:
        length = "" if self.shape is None else f"a list of {len(self.shape)}"
        said = [condition.words(self.shape) for condition in self.conditions]
        if not length:
            return ", ".join(said) or "output is a number"
        return f"output is {' with '.join(filter(None, [length, ', '.join(said)]))}"

    def as_data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"shape": self.shape, "conditions": [condition.as_data() for condition in self.conditions]}


def shape_of(output: Value) -> Shape:
    """How lists lie in lists."""
    return tuple(map(shape_of, output)) if isinstance(output, tuple) else None


def entries_of(output: Value) -> tuple[Any, ...]:
    """All numbers of an output, in order; True and False count as 1 and 0."""
    if isinstance(output, tuple):
        return tuple(entry for one in output for entry in entries_of(one))
    if isinstance(output, str):
        raise NotSupported("an output that is no number.")
    return (int(output) if isinstance(output, bool) else output,)


def exactly(output: Value) -> Event:
    """The event of one concrete output."""
    return Event(
        shape_of(output),
        tuple(
            Condition(((place, Fraction(1)),), "==", Fraction(entry)) for place, entry in enumerate(entries_of(output))
        ),
    )


def event_probability(
    paths: Iterable[Path], event: Event, *, bits: int = BITS, too_late: Callable[[], bool] = lambda: False
) -> arb:
    """How likely the event is; exactly 0 if it cannot happen. Refused when it is too late.

    Theorem: the ball contains the probability, and is the exact number 0 if and only if the probability is 0.
    Reference: none, a sum over disjoint ways
    Proof: docs/theory/refuting.md#events
    Checked-by: tests/proving/paths/test_events.py::test_events_are_as_likely_as_sampling_says
    """
    total = arb(0)
    for path in paths:
        wanted = event.on(path.output)
        if wanted is None:
            continue
        if too_late():
            raise NotSupported("an event that takes too long to measure.", hint="Take smaller inputs.")
        chance = probability(path.noises, (*path.constraints, *wanted), bits=bits)
        if not chance.is_zero():
            with ctx.workprec(bits + SPARE_BITS):
                total += chance * coins_probability(path.weight, path.coins)
    return total


def substituted_output(output: Value, values: Mapping[str, Exact]) -> Value:
    """The output at these inputs."""
    if isinstance(output, tuple):
        return tuple(substituted_output(one, values) for one in output)
    return output.substituted(values) if isinstance(output, Affine) else output


def _name(place: int, shape: Shape) -> str:
    if shape is None:
        return "output"
    if all(one is None for one in shape):
        return f"output[{place}]"
    for outer, one in enumerate(shape):
        width = _width(one)
        if place < width:
            return f"output[{outer}]" + _name(place, one).removeprefix("output")
        place -= width
    raise IndexError(place)


def _width(shape: Shape) -> int:
    return 1 if shape is None else sum(map(_width, shape))
