"""A whole program: its parameters, what is known of them, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from privately.proving.language.declarations import Domain, Neighborhood
from privately.proving.language.laws import LAWS
from privately.proving.language.syntax import Block, Sample, statements


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
