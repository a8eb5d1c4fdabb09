"""Draws whose values stay open on a path: their laws, and what is certain about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from privately.errors import NotSupported
from privately.proving.language.laws import LAWS
from privately.proving.language.meaning import shown
from privately.proving.language.syntax import Value
from privately.proving.paths.affine import Affine, NotAffine, Symbol

NARROWEST, WIDEST = Fraction(1, 1000), Fraction(10**9)
"""Searches go in floats, and steps of a draw are listed: what is far narrower or wider is not searched."""


@dataclass(frozen=True, slots=True)
class Noise:
    """One draw: its law by name, and the law's one parameter."""

    law: str
    parameter: Fraction

    @property
    def continuous(self) -> bool:
        """Whether single values have probability zero."""
        return LAWS[self.law].continuous

    @property
    def one_sided(self) -> bool:
        """Whether it is never below zero."""
        return LAWS[self.law].support in {"naturals", "positive reals"}

    @property
    def scale(self) -> float:
        """About how far it goes, for searches."""
        size = float(self.parameter)
        if self.law == "discrete_gaussian":
            return sqrt(size)
        return (1 - size) / size + 1 if self.law == "geometric" else size

    def __str__(self) -> str:
        return f"{self.law}({self.parameter})"


def law_of(symbol: Symbol, noises: Sequence[Noise]) -> Noise:
    """The law of the draw with that number; where only draws are left, all symbols are numbers."""
    return noises[int(symbol)]


def noise(law: str, arguments: tuple[Value, ...]) -> Noise:
    """The law at these arguments, checked."""
    (given,) = arguments
    if isinstance(given, Affine):
        raise NotAffine(f"the {LAWS[law].parameters[0]} of {law} depends on noise or on inputs.")
    if not isinstance(given, (int, Fraction)):
        raise NotSupported(f"{law}({shown(given)}): the {LAWS[law].parameters[0]} is no number.")
    parameter = Fraction(given)
    if parameter <= 0 or (law == "geometric" and parameter > 1):
        raise NotSupported(f"{law}({shown(given)}): the {LAWS[law].parameters[0]} is out of range.")
    if not NARROWEST <= parameter <= WIDEST or (law == "geometric" and 1 - parameter < NARROWEST and parameter != 1):
        raise NotSupported(
            f"{law}({shown(given)}): the {LAWS[law].parameters[0]} is beyond what is searched.",
            hint="Rescale the program: searched are parameters from 1/1000 to a billion.",
        )
    return Noise(law, parameter)
