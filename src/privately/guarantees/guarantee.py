"""What all kinds of guarantee have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from privately.errors import InvalidParameter
from privately.guarantees.neighbors import Neighbors
from privately.rounding import LARGEST, Interval, Number, decimal_text, rational

Parameter = Fraction | tuple[tuple[Fraction, Fraction], ...]
Kind = TypeVar("Kind", bound="Guarantee")


class Guarantee(ABC):
    """A statement about a mechanism; that a mechanism satisfies it is a Derivation.

    `parameters` holds the exact numbers it was made with. `epsilon` and `delta` are functions, the privacy curve: the
    truth they enclose is the supremum over all mechanisms of which the statement is true, so charge the upper end.
    """

    __slots__ = ("neighbors", "parameters")
    neighbors: Neighbors
    parameters: Mapping[str, Any]
    _rules: ClassVar[Any]

    def _freeze(self, neighbors: Neighbors, **parameters: Parameter) -> None:
        if not isinstance(neighbors, Neighbors):
            raise InvalidParameter("neighbors", f"{neighbors!r} is not a Neighbors, such as Neighbors.REPLACE.")
        if hasattr(self, "neighbors"):
            raise AttributeError(f"{type(self).__name__} cannot be changed")
        object.__setattr__(self, "neighbors", neighbors)
        object.__setattr__(self, "parameters", MappingProxyType(parameters))

    @abstractmethod
    def _epsilon(self, delta: Fraction) -> Interval: ...

    @abstractmethod
    def _delta(self, epsilon: Fraction) -> Interval: ...

    def epsilon(self, *, delta: Number) -> Interval:
        """The least epsilon for which (epsilon, delta) holds."""
        exact = rational(delta, "delta", minimum=0, maximum=1)
        return Interval(0, 0, method="delta = 1 allows anything") if exact == 1 else self._epsilon(exact)

    def delta(self, *, epsilon: Number) -> Interval:
        """The least delta for which (epsilon, delta) holds."""
        return self._delta(rational(epsilon, "epsilon", minimum=0, maximum=LARGEST))

    def compose(self, *others: Guarantee) -> Guarantee:
        """What holds for all of them together, each chosen in the light of the answers before it."""
        return cast(Guarantee, self._rules.sequential(*map(self._rules.suppose, (self, *others))).conclusion)

    def repeat(self, times: int) -> Guarantee:
        """What holds for `times` mechanisms with this guarantee together."""
        return cast(Guarantee, self._rules.sequential(self._rules.suppose(self), counts=[times]).conclusion)

    def group(self, size: int) -> Guarantee:
        """What holds for `size` changes at once."""
        return cast(Guarantee, self._rules.group(self._rules.suppose(self), size=size).conclusion)

    def to(
        self,
        kind: type[Kind],
        *,
        delta: Number | None = None,
        orders: Iterable[Number] | None = None,
        neighbors: Neighbors | None = None,
    ) -> Kind:
        """A statement of another kind that follows by the proved conversions, or NoSuchRule."""
        premise = self._rules.suppose(self)
        found = self._rules.convert(premise, kind, delta=delta, orders=orders, neighbors=neighbors)
        return cast(Kind, found.conclusion)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Guarantee) or type(other) is not type(self):
            return NotImplemented
        return self.neighbors == other.neighbors and dict(self.parameters) == dict(other.parameters)

    def __hash__(self) -> int:
        return hash((type(self), self.neighbors, tuple(self.parameters.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.neighbors, dict(self.parameters))

    def __repr__(self) -> str:
        shown = [f"{name}={_text(value)}" for name, value in self.parameters.items()]
        if self.neighbors != Neighbors.ADD_REMOVE:
            shown.append(f"neighbors=<{self.neighbors}>")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {_text(value)}" for name, value in self.parameters.items())
        return f"{type(self).__name__} with {shown}, {self.neighbors}"


def use_rules(rules: ModuleType) -> None:
    """Hands the rules to the statements: they import this module, so it cannot import them. Done by the package."""
    Guarantee._rules = rules  # noqa: SLF001 - its own module


def _rebuild(kind: Any, neighbors: Neighbors, parameters: dict[str, Parameter]) -> Guarantee:
    made: Guarantee = kind(neighbors=neighbors, **parameters)
    return made


def _text(value: Parameter, rounding: str = ROUND_CEILING) -> str:
    """Exact while short, otherwise rounded so that a shown guarantee is never better than the real one."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{_text(order, ROUND_FLOOR)}: {_text(bound)}" for order, bound in value) + "}"
    if value.denominator == 1 and value.numerator.bit_length() < 60:
        return str(value)
    return decimal_text(value, 10, rounding)
