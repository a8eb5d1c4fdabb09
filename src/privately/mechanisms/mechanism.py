"""What every mechanism can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

from privately.accounting.events import Event
from privately.accounting.statements import event_of
from privately.errors import InvalidParameter
from privately.guarantees import Derivation, Guarantee, Sensitivity
from privately.mechanisms.programs import Program
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.rounding import Number, decimal_text


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Justified by shifting noise: each run on one data set is matched with one on its neighbour, at a bounded cost."""

    shifts: str


@dataclass(frozen=True, kw_only=True)
class FiniteExact:
    """Justified by comparing all outcomes for all neighbours within these bounds."""

    bounds: str


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """Justified by a theorem that is proved elsewhere."""

    reference: str


Justification = Alignment | FiniteExact | Theorem


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """That the `measure` is at most `error` with at least this confidence."""

    error: Fraction
    confidence: Fraction
    measure: str

    def __str__(self) -> str:
        error, confidence = (
            decimal_text(self.error, 6, "ROUND_CEILING"),
            decimal_text(100 * self.confidence, 6, "ROUND_FLOOR"),
        )
        return f"With probability at least {confidence} %, {self.measure} is at most {error}."


class Mechanism(ABC):
    """A randomized algorithm with its proof, its error bars and its text.

    `derive` proves what `release` keeps to; `program` is the same algorithm in restricted Python, for provers.

    Each has `interval(confidence)`, from the law of its noise and without a look at the data: how far off numbers are,
    how far below the best a chosen score, how far from the threshold a query with a wrong answer, how far off counts
    that are estimated from answers. Two do not: an `Average` needs its answer for that, and `RandomPoint` is true.
    """

    justification: ClassVar[Justification]

    def __init_subclass__(cls) -> None:
        """Whatever a mechanism makes of a sensitivity, it must be a Sensitivity; also where a mixin does it."""
        for name in _FROM_A_SENSITIVITY:
            owner = next((base for base in cls.__mro__ if name in vars(base)), Mechanism)
            if owner is not Mechanism:
                found = vars(owner)[name]
                method = found.__func__ if isinstance(found, classmethod) else found
                if callable(method) and "sensitivity" in signature(method).parameters:
                    checked = _from_a_sensitivity(method)
                    setattr(cls, name, classmethod(checked) if isinstance(found, classmethod) else checked)

    @property
    @abstractmethod
    def program(self) -> Program:
        """The algorithm as a text; most have one for all their parameters."""

    @abstractmethod
    def derive(self, sensitivity: Sensitivity) -> Derivation:
        """The proof of its guarantee, if its input changes by no more than that between neighbours."""

    def guarantee(self, sensitivity: Sensitivity) -> Guarantee:
        """What `derive` concludes."""
        return self.derive(sensitivity).conclusion

    def event(self, sensitivity: Sensitivity) -> Event:
        """What the accountant is told of one use: at least as costly as the mechanism, and exact where it can be."""
        return event_of(self.guarantee(sensitivity))

    def release(self, value: Any) -> Any:
        """The private answer, with randomness from the operating system."""
        return self.run(value, SYSTEM)

    @abstractmethod
    def run(self, value: Any, randomness: Randomness) -> Any:
        """The same with randomness of the caller's choice: for tests, and for analysis by enumeration."""

    @abstractmethod
    def accuracy(self, *, confidence: Number) -> Accuracy:
        """How far off the answer may be."""

    @abstractmethod
    def program_inputs(self, value: Any) -> dict[str, Any]:
        """What `program` is to be called with to do the same as `run`."""

    @abstractmethod
    def worst_case(self, sensitivity: Sensitivity) -> tuple[Any, Any]:
        """Two inputs of `run` that neighbours may have, as easy to tell apart as any; on a grid, after rounding."""


def set_fields(mechanism: object, **fields: Any) -> None:
    """The checked fields of a frozen mechanism, for its constructor alone."""
    for name, value in fields.items():
        object.__setattr__(mechanism, name, value)


_FROM_A_SENSITIVITY = ("derive", "derive_zcdp", "event", "worst_case", "for_epsilon", "for_mu", "for_rho")


def _from_a_sensitivity(method: Callable[..., Any]) -> Callable[..., Any]:
    place = list(signature(method).parameters).index("sensitivity")

    @wraps(method)
    def checked(*given: object, **named: object) -> Any:
        value = named.get("sensitivity", given[place] if place < len(given) else _ABSENT)
        if value is not _ABSENT and not isinstance(value, Sensitivity):
            kind = type(value).__name__
            raise InvalidParameter("sensitivity", f"a {kind} is no Sensitivity, such as Sensitivity(value=1).")
        return method(*given, **named)

    return checked


_ABSENT = object()
