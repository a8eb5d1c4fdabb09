"""What a value can be, and what is known of it before any data is seen: range, length, whether it may be missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from typing import TypeAlias


class Type(Enum):
    """The six types of a plan. Whole numbers are of 64 bits, real ones are doubles without infinities and NaN."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def is_number(self) -> bool:
        return self in (Type.INTEGER, Type.REAL)


Value: TypeAlias = int | float | str | bool | date | datetime | None

LARGEST_INTEGER = 2**62
"""Whole numbers in a plan stay below it, so that no sum or product of two can overflow unnoticed."""


@dataclass(frozen=True, slots=True)
class Range:
    """Both ends of what a number can be, exactly."""

    lower: Fraction
    upper: Fraction

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float, Fraction)) and self.lower <= value <= self.upper

    @property
    def magnitude(self) -> Fraction:
        """The largest distance from 0."""
        return max(abs(self.lower), abs(self.upper))

    def union(self, other: Range) -> Range:
        """The least range that holds both."""
        return Range(min(self.lower, other.lower), max(self.upper, other.upper))


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of an expression's value whatever the data: its type, and more where it could be worked out.

    `range` is of numbers, None where nothing bounds them; `length` is of texts, in characters. `cost` bounds the
    elementary steps that one evaluation takes. A range is `loose` where no declaration and nothing in the question is
    behind it, but what the type holds: years of dates, logarithms of what may be next to 0.
    """

    type: Type
    nullable: bool = True
    range: Range | None = None
    length: int | None = None
    cost: int = 1
    loose: bool = False


def type_of(value: Value) -> Type:
    """The type of a constant that is not NULL; infinities, NaN, zoned timestamps and half characters are no values."""
    match value:
        case bool():
            return Type.BOOLEAN
        case int() if abs(value) < LARGEST_INTEGER:
            return Type.INTEGER
        case float() if math.isfinite(value):
            return Type.REAL
        case str() if not any("\ud800" <= letter <= "\udfff" for letter in value):
            return Type.TEXT
        case datetime() if value.tzinfo is None:
            return Type.TIMESTAMP
        case datetime():
            pass
        case date():
            return Type.DATE
    raise ValueError(f"{value!r} is no constant of a plan")
