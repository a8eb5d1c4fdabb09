"""What a refutation consists of: two neighbours, an event, how likely it is for each; and its replay by sampling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from privately.proving.language.program import Program
from privately.proving.language.syntax import Value
from privately.proving.paths.events import Event
from privately.proving.running import run
from privately.proving.verdicts import shown as value_text
from privately.rounding import Interval


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An event, and how likely it is for two neighbouring inputs. `epsilon` encloses the logarithm of the quotient of
    the probabilities; it is infinite if the event is impossible for the neighbour."""

    program: Program = field(repr=False)
    public: Mapping[str, Value]
    inputs: Mapping[str, Value]
    neighbor: Mapping[str, Value]
    event: Event
    probability: Interval
    neighbor_probability: Interval
    epsilon: Interval

    @property
    def infinite(self) -> bool:
        """Whether the event never happens for the neighbour."""
        return self.epsilon.lower == math.inf

    def replay(self, samples: int = 1_000) -> Replay:
        """Runs the program on both inputs and counts the event."""
        counts = [
            sum(self.event.happened(run(self.program, {**self.public, **given})) for _ in range(samples))
            for given in (self.inputs, self.neighbor)
        ]
        noise = "floating point" if self.program.model == "real" else "exact"
        return Replay(samples=samples, count=counts[0], neighbor_count=counts[1], noise=noise)

    def __str__(self) -> str:
        bound = "infinity" if self.infinite else f"{float(self.epsilon.lower):.9g}"
        return (
            f"{shown(self.inputs)}: P({self.event}) in {self.probability}\n"
            f"{shown(self.neighbor)}: P({self.event}) in {self.neighbor_probability}\n"
            f"epsilon >= {bound}"
        )

    def as_data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "public": {name: _plain(value) for name, value in self.public.items()},
            "inputs": {name: _plain(value) for name, value in self.inputs.items()},
            "neighbor": {name: _plain(value) for name, value in self.neighbor.items()},
            "event": {**self.event.as_data(), "words": str(self.event)},
            "probability": [str(end) for end in self.probability],
            "neighbor_probability": [str(end) for end in self.neighbor_probability],
            "epsilon": [str(end) for end in self.epsilon],
        }


@dataclass(frozen=True, kw_only=True)
class Counterexample(Comparison):
    """A comparison that breaks a claim."""


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """No comparison broke the claim; the best one, if any, bounds epsilon from below all the same. `notes` say what
    could not be looked at."""

    best: Comparison | None
    notes: tuple[str, ...] = ()

    @property
    def epsilon(self) -> Interval:
        """From the best bound on."""
        return Interval(0 if self.best is None else max(self.best.epsilon.lower, 0), math.inf)


@dataclass(frozen=True, kw_only=True)
class Replay:
    """How often the event happened for each input; `noise` says whether exact samplers or floats drew."""

    samples: int
    count: int
    neighbor_count: int
    noise: str


def shown(inputs: Mapping[str, Value]) -> str:
    """Inputs in one line."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in inputs.items())


def _plain(value: Value) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else str(value)
