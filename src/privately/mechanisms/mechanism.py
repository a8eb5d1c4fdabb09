"""What every mechanism can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Any, ClassVar

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

    `derive` proves what `release` keeps to; `program` is the same algorithm in restricted Python, for provers. Those
    that answer with numbers also have `interval(confidence)`; those that choose say with `accuracy` how well.
    """

    justification: ClassVar[Justification]

    def __init_subclass__(cls) -> None:
        """Whatever a mechanism derives, it derives from a Sensitivity; also where a mixin does it."""
        for name in ("derive", "derive_zcdp"):
            owner = next((base for base in cls.__mro__ if name in vars(base)), Mechanism)
            if owner is not Mechanism:
                setattr(cls, name, _from_a_sensitivity(vars(owner)[name]))

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


def _from_a_sensitivity(derive: Callable[..., Derivation]) -> Callable[..., Derivation]:
    @wraps(derive)
    def checked(self: Mechanism, *given: object, **named: object) -> Derivation:
        for value in (*given, *named.values()):
            if not isinstance(value, Sensitivity):
                kind = type(value).__name__
                raise InvalidParameter("sensitivity", f"a {kind} is no Sensitivity, such as Sensitivity(value=1).")
        return derive(self, *given, **named)

    return checked
