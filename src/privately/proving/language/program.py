"""A whole program: its parameters, what is known of them, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from privately.errors import NotSupported
from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.language.laws import LAWS
from privately.proving.language.syntax import Assume, Block, Sample, free_variables, statements


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
        """Assumptions speak of inputs, and stand before everything else: after a draw they could hide an outcome."""
        inputs = {one.name for one in self.parameters}
        leading = True
        for statement in statements(self.body):
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
