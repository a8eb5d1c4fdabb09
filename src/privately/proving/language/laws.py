"""The sources of randomness that a program may name, and what each is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Support: TypeAlias = Literal["finite", "integers", "naturals", "reals", "positive reals"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLaw:
    """What is public about a law: its parameters and where its draws lie."""

    parameters: tuple[str, ...]
    support: Support

    @property
    def continuous(self) -> bool:
        """Whether it exists on paper only: our samplers draw whole numbers."""
        return self.support in {"reals", "positive reals"}


LAWS = {
    "flip": NamedLaw(parameters=("probability",), support="finite"),
    "flip_exp": NamedLaw(parameters=("exponent",), support="finite"),
    "uniform": NamedLaw(parameters=("upper",), support="finite"),
    "uniform_bits": NamedLaw(parameters=("length",), support="finite"),
    "discrete_laplace": NamedLaw(parameters=("scale",), support="integers"),
    "discrete_exponential": NamedLaw(parameters=("scale",), support="naturals"),
    "geometric": NamedLaw(parameters=("success",), support="naturals"),
    "rounded_gaussian": NamedLaw(parameters=("standard_deviation",), support="integers"),
    "discrete_gaussian": NamedLaw(parameters=("variance",), support="integers"),
    "laplace": NamedLaw(parameters=("scale",), support="reals"),
    "gaussian": NamedLaw(parameters=("standard_deviation",), support="reals"),
    "exponential": NamedLaw(parameters=("scale",), support="positive reals"),
}
"""`flip` is True with that probability, `flip_exp` with probability exp(-exponent), `uniform` any of 0 ... upper - 1,
`uniform_bits` a list of that many fair bits; `geometric` counts failures before the first success."""
