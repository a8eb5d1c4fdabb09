"""What a prover answers: proved, refuted, or unknown with what is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any, TypeAlias

from privately.certificates import Certificate
from privately.errors import NotPrivate, NotSupported, Unproved
from privately.proving.language.syntax import Value
from privately.rounding import Interval, decimal_text, whole

_DIGITS, _MANY_DIGITS = 10, 60


@dataclass(frozen=True, kw_only=True)
class Witness:
    """Two neighbouring inputs and an event that is too much likelier for the first."""

    inputs: Mapping[str, Value]
    neighbor: Mapping[str, Value]
    event: str
    probability: Interval
    neighbor_probability: Interval
    epsilon: Interval
    """At least this much is lost; infinite if the event is impossible for the neighbour."""
    replayed: Callable[[int], tuple[int, int]] | None = field(default=None, repr=False, compare=False)

    def replay(self, samples: int = 1000) -> tuple[int, int]:
        """How often the event happens in so many runs for each of the two inputs, with real draws."""
        if self.replayed is None:
            raise NotSupported("this witness has no program to run.")
        return self.replayed(whole(samples, "samples", minimum=1))

    @property
    def is_out_of_sight(self) -> bool:
        """Whether the event is so unlikely that only the logarithms of its probabilities can be told apart."""
        return self.probability.lower == 0 < self.probability.upper

    def against(self, claim: str) -> str:
        """This in words, with as many digits as show that the claim is false."""
        one = f"{self.probability.in_words()} for {_inputs(self.inputs)}"
        other = f"{self.neighbor_probability.in_words()} for {_inputs(self.neighbor)}"
        sight = " (by their logarithms)" if self.is_out_of_sight else ""
        return f"{self.event} has probability {one} and {other}: epsilon >= {lowest(self.epsilon, claim)}{sight}"

    def __str__(self) -> str:
        return self.against("0")

    def as_data(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "inputs": {name: _plain(value) for name, value in self.inputs.items()},
            "neighbor": {name: _plain(value) for name, value in self.neighbor.items()},
            "event": self.event,
            "probability": _ends(self.probability),
            "neighbor_probability": _ends(self.neighbor_probability),
            "epsilon": _ends(self.epsilon),
        }


@dataclass(frozen=True, kw_only=True)
class Proved:
    """The claim holds for all neighbours in `scope`."""

    claim: str
    epsilon: Interval | None
    """The tight epsilon, if it is one number."""
    scope: str
    method: str
    model: str
    certificate: Certificate | None = None
    uncertified: str = ""
    """Why there is no certificate, where there is none."""
    word = "proved"

    def require(self) -> None:
        """Nothing to complain about."""

    def __str__(self) -> str:
        tight = "" if self.epsilon is None else f"; tight epsilon {self.epsilon.in_words()}"
        missing = "" if self.certificate is not None else f"; no certificate: {self.uncertified}"
        return f"proved: epsilon <= {self.claim} for {self.scope}, by {self.method}{tight}{missing}"


@dataclass(frozen=True, kw_only=True)
class Refuted:
    """The claim is false, as `witness` shows."""

    claim: str
    witness: Witness
    model: str
    word = "refuted"

    def require(self) -> None:
        """Raises NotPrivate."""
        shown_by = self.witness.against(self.claim)
        raise NotPrivate(f"epsilon <= {self.claim} does not hold: {shown_by}.", witness=self.witness)

    def __str__(self) -> str:
        return f"refuted: epsilon <= {self.claim} does not hold; {self.witness.against(self.claim)}"


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Neither proved nor refuted: `lower` is certain to be lost by somebody, `upper` is proved to be enough."""

    claim: str
    lower: Interval | None
    upper: Interval | None
    why: str
    model: str
    word = "unknown"

    def require(self) -> None:
        """Raises Unproved."""
        raise Unproved(f"epsilon <= {self.claim} is neither proved nor refuted: {self.why}")

    def __str__(self) -> str:
        known = "" if self.lower is None else f"; epsilon is at least {lowest(self.lower)}"
        return f"unknown: {self.why}{known}"


Verdict: TypeAlias = Proved | Refuted | Unknown


def lowest(interval: Interval, claim: str = "0") -> str:
    """The lower end in words, with enough digits to be above a claim that is a number, if it is above it."""
    text = decimal_text(interval.lower, _DIGITS, ROUND_FLOOR)
    try:
        claimed = Fraction(claim)
        close = math.isfinite(interval.lower) and Fraction(text) <= claimed < interval.lower
    except (ValueError, ZeroDivisionError):
        return text
    return decimal_text(interval.lower, _MANY_DIGITS, ROUND_FLOOR) if close else text


def _inputs(inputs: Mapping[str, Value]) -> str:
    return ", ".join(f"{name} = {shown(value)}" for name, value in inputs.items())


def shown(value: Value) -> str:
    """A value in words."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    return str(int(value)) if isinstance(value, bool) else str(value)


def _plain(value: Value) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, int) else str(value)


def _ends(interval: Interval) -> list[str]:
    return [str(end) for end in interval]
