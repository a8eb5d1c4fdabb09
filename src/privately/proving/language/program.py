"""A whole program: its parameters, what is known of them, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from privately.errors import NotSupported
from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.language.laws import LAWS
from privately.proving.language.syntax import (
    Apply,
    Assume,
    Block,
    Constant,
    Expression,
    Hint,
    Sample,
    expressions_of,
    free_variables,
    statements,
    subexpressions,
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input. Private ones have a neighbourhood, public ones may have a domain; `is_list` as the text uses it."""

    name: str
    neighborhood: Neighborhood | None = None
    domain: Domain | None = None
    is_list: bool = False
    private: bool = False


@dataclass(frozen=True)
class Program:
    """What both front ends give."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Block
    source: str

    def __post_init__(self) -> None:
        """Assumptions speak of inputs, and stand before everything else: after a draw they could hide an outcome. Hints
        divide by what is public only: one that fails for some inputs would tell of them."""
        inputs = {one.name for one in self.parameters}
        leading = True
        for statement in statements(self.body):
            if isinstance(statement, Hint) and _can_fail(statement, {one.name for one in self.public}):
                raise NotSupported(
                    f"line {statement.line}: {statement.kind} divides by what is not public.",
                    hint="Multiply instead: x*y > 1 for 1/x < y.",
                )
            if not isinstance(statement, Assume):
                leading = False
            elif not leading or not free_variables(statement.condition) <= inputs:
                raise NotSupported(
                    f"line {statement.line}: an assumption that is not about inputs alone.",
                    hint="Put assume(...) first, and let it speak of parameters only.",
                )

    @property
    def assumptions(self) -> tuple[Assume, ...]:
        """What the program asks of its inputs."""
        return tuple(one for one in self.body if isinstance(one, Assume))

    @property
    def private(self) -> tuple[Parameter, ...]:
        """The parameters in which neighbours differ."""
        return tuple(one for one in self.parameters if one.private)

    @property
    def public(self) -> tuple[Parameter, ...]:
        """The parameters that everybody knows."""
        return tuple(one for one in self.parameters if not one.private)

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """Every place in the text where randomness enters."""
        return tuple(one for one in statements(self.body) if isinstance(one, Sample))

    @property
    def model(self) -> str:
        """`exact` if our samplers draw what it names; `real` if some noise is continuous and exists on paper only."""
        return "real" if any(LAWS[one.law].continuous for one in self.samples) else "exact"


def _can_fail(hint: Hint, public: set[str]) -> bool:
    """Whether a divisor in it is neither public nor a number."""
    parts = [part for whole in expressions_of(hint) for part in subexpressions(whole) if isinstance(part, Apply)]
    return any(not free_variables(divisor) <= public for part in parts for divisor in _divisors(part))


def _divisors(part: Apply) -> tuple[Expression, ...]:
    """What is divided by; a power may be one with an exponent below 0."""
    match part:
        case Apply("**", (_, Constant(int() as exponent))) if exponent >= 0:
            return ()
        case Apply("**", operands):
            return operands
        case Apply("/" | "//" | "%", (_, below)):
            return (below,)
        case _:
            return ()
