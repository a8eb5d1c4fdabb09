"""Generating functions: the weights of all values of one sum, as the coefficients of one polynomial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flint import fmpq, fmpq_poly


class CannotSum(Exception):
    """The weights are not rational, the sum is not of whole numbers, or the loop comes back."""


class Series:
    """The weights of low, low + 1, low + 2, ...: x^low times a polynomial in x."""

    __slots__ = ("low", "polynomial")

    def __init__(self, low: int, polynomial: fmpq_poly) -> None:
        self.low = low
        self.polynomial = polynomial

    def __mul__(self, other: Series | fmpq) -> Series:
        if isinstance(other, Series):
            return Series(self.low + other.low, self.polynomial * other.polynomial)
        if not isinstance(other, fmpq):
            raise CannotSum
        return Series(self.low, self.polynomial * other)

    def __add__(self, other: Series) -> Series:
        low = min(self.low, other.low)
        return Series(
            low,
            self.polynomial.left_shift(self.low - low) + other.polynomial.left_shift(other.low - low),
        )

    def cost(self, power: int = 1) -> int:
        """What a step with a power of it takes, in microseconds: by the words of its coefficients."""
        degree = power * self.polynomial.degree()
        bits = power * int(self.polynomial.denom()).bit_length()
        return 1 + (1 + degree) * (1 + bits // 64) // 8

    def shifted(self, by: int) -> Series:
        """The weights of every value plus that."""
        return Series(self.low + by, self.polynomial)

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def terms(self) -> Iterator[tuple[int, fmpq]]:
        """Every value with its weight, if it has one."""
        for place, mass in enumerate(self.polynomial.coeffs()):
            if mass != 0:
                yield self.low + place, mass

    def key(self) -> tuple[object, ...]:
        """Equal for equal series."""
        return (self.low, *self.polynomial.coeffs())


UNIT = Series(0, fmpq_poly([1]))


@dataclass(slots=True)
class Product:
    """A product of series that is multiplied out only when somebody looks: equal factors become a power."""

    factors: dict[tuple[object, ...], tuple[Series, int]] = field(default_factory=dict)
    start: Series = UNIT
    """A factor that is multiplied out already."""

    def times(self, factor: Series) -> Product:
        """With one factor more."""
        key = factor.key()
        _, count = self.factors.get(key, (factor, 0))
        return Product({**self.factors, key: (factor, count + 1)}, self.start)

    def cost(self) -> int:
        """What multiplying it out takes."""
        return self.start.cost() + sum(factor.cost(count) for factor, count in self.factors.values())

    def expanded(self) -> Series:
        """Multiplied out."""
        whole = self.start
        for factor, count in self.factors.values():
            whole *= Series(factor.low * count, factor.polynomial**count)
        return whole
