"""The form in which every computed bound is reported."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.rounding.exact import decimal_text

End: TypeAlias = Fraction | float
"""A Fraction, or `math.inf`."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two ends with the truth between them. Ends are exact Fractions, or `math.inf`; `method` says how they came about.

    >>> Interval(Fraction(1, 3), Fraction(2, 3))
    Interval(0.333333333333, 0.666666666667)
    >>> 0.5 in Interval(0, 1), Interval(1, 1).width
    (True, Fraction(0, 1))
    """

    lower: End
    upper: End
    method: str = field(default="", compare=False, kw_only=True)

    def __post_init__(self) -> None:
        if type(self.lower) is type(self.upper) is Fraction and self.lower <= self.upper:
            return
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _end(getattr(self, name), name))
        if self.lower > self.upper:
            raise InvalidParameter("lower", f"is above the upper end: {self:7}.")

    @property
    def width(self) -> End:
        """upper - lower; 0 when both are infinite."""
        if self.lower == self.upper:
            return Fraction(0)
        infinite = isinstance(self.lower, float) or isinstance(self.upper, float)
        return math.inf if infinite else self.upper - self.lower

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float, Fraction)) and self.lower <= value <= self.upper

    def __iter__(self) -> Iterator[End]:
        return iter((self.lower, self.upper))

    def __repr__(self) -> str:
        return f"Interval({self:12})"

    def __str__(self) -> str:
        return f"[{self:7}]"

    def __format__(self, digits: str) -> str:
        """Both ends rounded outward to that many significant digits; like `str` if none are told."""
        return f"{self._low(int(digits))}, {self._high(int(digits))}" if digits else str(self)

    def in_words(self, digits: int = 7) -> str:
        """One number if it is one and that many digits tell it, else both ends, rounded outward.

        >>> Interval(Fraction(3, 4), Fraction(3, 4)).in_words(), Interval(Fraction(1, 3), Fraction(2, 3)).in_words(2)
        ('0.75', 'between 0.33 and 0.67')
        """
        low, high = self._low(digits), self._high(digits)
        return low if low == high else f"between {low} and {high}"

    def _low(self, digits: int) -> str:
        return decimal_text(self.lower, digits, ROUND_FLOOR)

    def _high(self, digits: int) -> str:
        return decimal_text(self.upper, digits, ROUND_CEILING)


def _end(value: object, name: str) -> End:
    if isinstance(value, float) and not math.isnan(value):
        return value if math.isinf(value) else Fraction(value)
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Fraction(value)
    raise InvalidParameter(name, f"{value!r} is not a number.")
