"""Columns as their owner declares them. Nothing here is ever measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

from privately.errors import InvalidParameter
from privately.plans.types import LARGEST_INTEGER, Known, Range, Type, Value, type_of
from privately.rounding import Number, rational, whole

LONGEST_TEXT = 1_000
MOST_CATEGORIES = 100_000
MOST_BINS = 2**20
LEFT_OUT_IF_NONE = {"left_out": "if none"}
"""Of members that plans did not have once: without them, their texts are what they were."""
_FINEST = 2**24


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Column:
    """A column: its type, and where they are declared its bounds, its categories, its longest text.

    Values are brought within what is declared before anything else is done: numbers to the nearer bound, texts to
    their first `length` characters; what is not of the type, NaN, infinities, or no category, becomes NULL. `step` is
    how finely real numbers are summed: a 2^24th of the bounds, unless told. `resolution` is how far apart two medians
    or other quantiles must be to make a difference: a 2^16th of the bounds, unless told. Among fewer points the choice
    is sharper.

    >>> Column(name="cost", type=Type.REAL, bounds=(0, 1000), step="0.01").known.range
    Range(lower=Fraction(0, 1), upper=Fraction(1000, 1))
    """

    name: str
    type: Type
    bounds: Range | None
    step: Fraction | None
    resolution: Fraction | None = field(metadata=LEFT_OUT_IF_NONE)
    categories: tuple[Value, ...] | None
    length: int
    nullable: bool

    def __init__(
        self,
        *,
        name: str,
        type: Type | str,  # noqa: A002 - the word for it
        bounds: tuple[Number, Number] | None = None,
        step: Number | None = None,
        resolution: Number | None = None,
        categories: Iterable[Value] | None = None,
        length: int = 100,
        nullable: bool = True,
    ) -> None:
        kind = _type(type)
        limits = None if bounds is None else _bounds(bounds, kind)
        members = {
            "name": _name(name),
            "type": kind,
            "bounds": limits,
            "step": _step(step, kind, limits),
            "resolution": None if resolution is None else _resolution(resolution, limits),
            "categories": None if categories is None else _categories(categories, kind),
            "length": whole(length, "length", minimum=1, maximum=LONGEST_TEXT),
            "nullable": _truth(nullable),
        }
        for member, value in members.items():
            object.__setattr__(self, member, value)

    @property
    def known(self) -> Known:
        """What is known of its values."""
        length = self.length if self.type is Type.TEXT else None
        return Known(type=self.type, nullable=self.nullable, range=self.bounds, length=length)


def _type(type_: object) -> Type:
    try:
        return type_ if isinstance(type_, Type) else Type(type_)
    except ValueError:
        raise InvalidParameter("type", f"must be one of {', '.join(kind.value for kind in Type)}.") from None


def _name(name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= 200 or not name.isprintable():
        raise InvalidParameter("name", "must be a text that can be printed, of at most 200 characters.")
    return name


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter("nullable", "is either True or False.")
    return value


def _bounds(bounds: object, kind: Type) -> Range:
    if not kind.is_number:
        raise InvalidParameter("bounds", f"a column of the type {kind.value} has none.")
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise InvalidParameter("bounds", "give two numbers, such as (0, 100).")
    lower, upper = (rational(end, "bounds", minimum=-LARGEST_INTEGER, maximum=LARGEST_INTEGER) for end in bounds)
    if kind is Type.INTEGER and not (lower.denominator == upper.denominator == 1):
        raise InvalidParameter("bounds", "of whole numbers must be whole.")
    if lower >= upper:
        raise InvalidParameter("bounds", "the first must be below the second.")
    return Range(lower, upper)


def _step(step: Number | None, kind: Type, bounds: Range | None) -> Fraction | None:
    if step is not None and kind is not Type.REAL:
        raise InvalidParameter("step", "is for real numbers; whole ones are summed exactly.")
    if kind is not Type.REAL or bounds is None:
        return Fraction(1) if kind is Type.INTEGER else None
    width = bounds.upper - bounds.lower
    if step is None:
        return _power_of_two_below(width / _FINEST)
    return rational(step, "step", above=0, maximum=width)


def _resolution(resolution: Number, bounds: Range | None) -> Fraction:
    if bounds is None:
        raise InvalidParameter("resolution", "is for numbers within bounds.")
    width = bounds.upper - bounds.lower
    found = rational(resolution, "resolution", above=0)
    if not width / MOST_BINS <= found <= width:
        message = f"must be between a 2^20th of the bounds and all of them, {width / MOST_BINS} and {width}."
        raise InvalidParameter("resolution", message)
    return found


def _power_of_two_below(value: Fraction) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= value else power / 2


def _categories(categories: Iterable[Value], kind: Type) -> tuple[Value, ...]:
    if isinstance(categories, str) or not isinstance(categories, Iterable):
        raise InvalidParameter("categories", 'give a list, such as ["a", "b"].')
    given = tuple(islice(categories, MOST_CATEGORIES + 1))
    if not 0 < len(given) <= MOST_CATEGORIES:
        raise InvalidParameter("categories", f"list between 1 and {MOST_CATEGORIES:,}.")
    for value in given:
        try:
            found = type_of(value)
        except ValueError:
            raise InvalidParameter("categories", f"{value!r} cannot be one.") from None
        if found is not kind:
            raise InvalidParameter("categories", f"{value!r} is not of the type {kind.value}.")
    return tuple(dict.fromkeys(given))
