"""The functions that a plan may call: all of them give a value (perhaps NULL) for every row, and never an error.

They are deterministic functions of their arguments alone. NULL in gives NULL out, except where the table says other.
Wherever a result would be no number (a division by 0, the logarithm of -1, more than a double holds), it is NULL.
A function has a rule for what is known of its result here, and a text in each engine; the tests hold a third meaning
of each, in Python, against both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from privately.errors import NotSupported, UnknownBounds
from privately.plans import ranges
from privately.plans.types import LARGEST_INTEGER, Known, Range, Type

LONGEST_PATTERN = 200
LONGEST_RESULT = 10_000
_EXACT_DOUBLES = 2**53
_WHOLE = Range(Fraction(1 - LARGEST_INTEGER), Fraction(LARGEST_INTEGER - 1))
TIGHTENING = frozenset({"clamp", "modulo"})
"""Functions whose range does not follow from that of their first argument."""


class Argument(Protocol):
    """What a rule looks at."""

    @property
    def known(self) -> Known: ...


Arguments = Sequence[Argument]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function: how it is told apart in plans, what is known of its result, and what it means."""

    name: str
    meaning: str
    known: Callable[[Arguments], Known]


FUNCTIONS: dict[str, Function] = {}


def _function(name: str, meaning: str) -> Callable[[Callable[[Arguments], Known]], Callable[[Arguments], Known]]:
    def register(rule: Callable[[Arguments], Known]) -> Callable[[Arguments], Known]:
        FUNCTIONS[name] = Function(name=name, meaning=meaning, known=rule)
        return rule

    return register


def _refuse(name: str, arguments: Arguments) -> NotSupported:
    found = ", ".join(argument.known.type.value for argument in arguments) or "nothing"
    return NotSupported(f"{name} of {found} has no meaning here.", hint="Convert with TRY_CAST(... AS ...) first.")


def _no_conversion(name: str, found: Type, wanted: Sequence[Type]) -> NotSupported:
    hint = f"Those of the types {', '.join(one.value for one in wanted)} are."
    if found is Type.REAL and Type.INTEGER in wanted:
        hint += " Make it a whole number first: ROUND(x)."
    if found is Type.TIMESTAMP and Type.DATE in wanted:
        hint += " Make it a day first: TRY_CAST(x AS DATE)."
    return NotSupported(f"a value of the type {found.value} is not converted to {name[3:]}.", hint=hint)


def _types(name: str, arguments: Arguments, *wanted: tuple[Type, ...]) -> None:
    found = [argument.known.type for argument in arguments]
    if len(found) != len(wanted) or not all(one in allowed for one, allowed in zip(found, wanted, strict=True)):
        if name.startswith("to_") and len(found) == len(wanted) == 1:
            raise _no_conversion(name, found[0], wanted[0])
        raise _refuse(name, arguments)


_NUMBERS = (Type.INTEGER, Type.REAL)
_INSTANTS = (Type.DATE, Type.TIMESTAMP)


def _met(found: Range | None, kinds: set[Type]) -> Range | None:
    """The range of whole and real numbers together, which meet as doubles: from 2^53 on, that may round."""
    if found is None or len(kinds) == 1 or found.magnitude < _EXACT_DOUBLES:
        return found
    return ranges.widened(found)


def _nullable(arguments: Arguments) -> bool:
    return any(argument.known.nullable for argument in arguments)


# --- arithmetic -----------------------------------------------------------------------------------------------------


def _whole_result(name: str, found: Range | None, *, nullable: bool) -> Known:
    if found is None:
        hint = "Declare bounds of the columns, or bound the operands: LEAST(GREATEST(x, 0), 100)."
        raise UnknownBounds(
            f"nothing bounds the operands of {name}, so the result might not fit into 64 bits.", hint=hint
        )
    if found.magnitude >= LARGEST_INTEGER:
        raise UnknownBounds(
            f"the result of {name} might not fit into 64 bits.", hint="Bound the operands more tightly."
        )
    return Known(type=Type.INTEGER, nullable=nullable, range=found)


def _arithmetic(name: str, meaning: str, bound: Callable[[Range, Range], Range]) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, _NUMBERS, _NUMBERS)
        one, other = (argument.known for argument in arguments)
        found = None if one.range is None or other.range is None else bound(one.range, other.range)
        if one.type is other.type is Type.INTEGER:
            return _whole_result(name, found, nullable=_nullable(arguments))
        return Known(type=Type.REAL, nullable=True, range=None if found is None else ranges.widened(found))


_arithmetic("add", "a + b", ranges.added)
_arithmetic("subtract", "a - b", ranges.subtracted)
_arithmetic("multiply", "a * b", ranges.multiplied)


@_function("divide", "a / b as a real number; NULL if b is 0")
def _divide(arguments: Arguments) -> Known:
    _types("divide", arguments, _NUMBERS, _NUMBERS)
    one, other = (argument.known.range for argument in arguments)
    found = None if one is None or other is None else ranges.divided(one, other)
    return Known(type=Type.REAL, nullable=True, range=None if found is None else ranges.widened(ranges.widened(found)))


@_function("modulo", "the remainder of a / b, with the sign of a; NULL if b is 0")
def _modulo(arguments: Arguments) -> Known:
    _types("modulo", arguments, (Type.INTEGER,), (Type.INTEGER,))
    divisor = arguments[1].known.range
    found = None if divisor is None else ranges.remainder(divisor)
    return Known(type=Type.INTEGER, nullable=True, range=found, loose=arguments[1].known.loose)


def _of_one_number(name: str, meaning: str, bound: Callable[[Range], Range]) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, _NUMBERS)
        (one,) = (argument.known for argument in arguments)
        found = None if one.range is None else bound(one.range)
        if one.type is Type.INTEGER:
            return _whole_result(name, found, nullable=one.nullable)
        return Known(type=Type.REAL, nullable=one.nullable, range=found)


_of_one_number("negate", "-a", ranges.negated)
_of_one_number("absolute", "the distance of a from 0", ranges.absolute)


def _to_whole(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, _NUMBERS)
        (one,) = (argument.known for argument in arguments)
        found = None if one.range is None else ranges.whole(one.range)
        return _whole_result(name, found, nullable=one.nullable)


_to_whole("floor", "the largest whole number that is not above a")
_to_whole("ceiling", "the least whole number that is not below a")
_to_whole("round", "the nearest whole number, halves away from 0")


def _as_double(name: str, arguments: Arguments) -> Range | None:
    """Where the only argument lies, as a double."""
    _types(name, arguments, _NUMBERS)
    (one,) = (argument.known for argument in arguments)
    return _met(one.range, {one.type, Type.REAL})


def _real(found: Range | None, *, loose: bool = False) -> Known:
    return Known(type=Type.REAL, nullable=True, range=found, cost=10, loose=loose)


@_function("square_root", "the root of a; NULL if a is negative")
def _square_root(arguments: Arguments) -> Known:
    one = _as_double("square_root", arguments)
    return _real(None if one is None else ranges.square_root(one))


@_function("logarithm", "the natural logarithm; NULL unless a is above 0")
def _logarithm(arguments: Arguments) -> Known:
    one = _as_double("logarithm", arguments)
    return _real(ranges.logarithm(one), loose=one is None or one.lower <= 0 < one.upper)


@_function("exponential", "e to the power a; NULL if that is more than a double holds")
def _exponential(arguments: Arguments) -> Known:
    one = _as_double("exponential", arguments)
    return _real(None if one is None else ranges.exponential(one))


def _extreme(name: str, meaning: str, bound: Callable[..., Range]) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        kinds = {argument.known.type for argument in arguments}
        if len(arguments) < 2 or not (kinds <= set(_NUMBERS) or (len(kinds) == 1 and kinds <= set(_INSTANTS))):
            raise _refuse(name, arguments)
        known = [argument.known.range for argument in arguments]
        found = _bounded_by(bound, known)
        kind = next(iter(kinds)) if len(kinds) == 1 else Type.REAL
        return Known(type=kind, nullable=_nullable(arguments), range=_met(found, kinds), cost=len(arguments))


def _bounded_by(bound: Callable[..., Range], known: list[Range | None]) -> Range | None:
    """One bounded operand bounds one side; both sides are needed."""
    listed = [one for one in known if one is not None]
    if len(listed) == len(known):
        return bound(*listed)
    return None


_extreme("greatest", "the largest of all; NULL if any is", ranges.greatest)
_extreme("least", "the least of all; NULL if any is", ranges.least)


@_function("clamp", "a, but no less than b and no more than c, which are constants")
def _clamp(arguments: Arguments) -> Known:
    _types("clamp", arguments, _NUMBERS, _NUMBERS, _NUMBERS)
    one, low, high = (argument.known for argument in arguments)
    ends = [bound.range for bound in (low, high) if not bound.nullable]
    points = [end.lower for end in ends if end is not None and end.lower == end.upper]
    if len(points) != 2 or points[0] > points[1]:
        raise NotSupported("clamp needs two constant bounds, the lower one first.")
    kind = Type.INTEGER if one.type is low.type is high.type is Type.INTEGER else Type.REAL
    return Known(type=kind, nullable=one.nullable, range=_met(Range(*points), {one.type, low.type, high.type}))


# --- comparison and logic -------------------------------------------------------------------------------------------


def _comparable(one: Type, other: Type) -> bool:
    return one is other or {one, other} <= set(_NUMBERS) or {one, other} <= set(_INSTANTS)


def _comparison(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        if len(arguments) != 2 or not _comparable(*(argument.known.type for argument in arguments)):
            raise _refuse(name, arguments)
        cost = 1 + max(argument.known.length or 0 for argument in arguments)
        return Known(type=Type.BOOLEAN, nullable=_nullable(arguments), cost=cost)


for _name, _sign in {
    "equal": "a = b",
    "not_equal": "a <> b",
    "less": "a < b (texts by their code points)",
    "less_or_equal": "a <= b",
    "greater": "a > b",
    "greater_or_equal": "a >= b",
}.items():
    _comparison(_name, _sign)


def _logical(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        if not arguments or any(argument.known.type is not Type.BOOLEAN for argument in arguments):
            raise _refuse(name, arguments)
        return Known(type=Type.BOOLEAN, nullable=_nullable(arguments), cost=len(arguments))


_logical("and", "all are true; unknown (NULL) if none is false and one is unknown")
_logical("or", "one is true; unknown (NULL) if none is true and one is unknown")


@_function("not", "a is false; unknown if a is")
def _not(arguments: Arguments) -> Known:
    _types("not", arguments, (Type.BOOLEAN,))
    return Known(type=Type.BOOLEAN, nullable=_nullable(arguments))


@_function("is_null", "whether a is NULL; never NULL itself")
def _is_null(arguments: Arguments) -> Known:
    _types("is_null", arguments, tuple(Type))
    return Known(type=Type.BOOLEAN, nullable=False)


@_function("in", "a is one of the others, which are constants; unknown if a is NULL")
def _in(arguments: Arguments) -> Known:
    if len(arguments) < 2 or not all(_comparable(arguments[0].known.type, one.known.type) for one in arguments[1:]):
        raise _refuse("in", arguments)
    if any(one.known.nullable for one in arguments[1:]):
        raise NotSupported("NULL in a list to compare with.", hint="Leave it out; x = NULL is never true.")
    cost = len(arguments) * (1 + (arguments[0].known.length or 0))
    return Known(type=Type.BOOLEAN, nullable=arguments[0].known.nullable, cost=cost)


def _common(name: str, arguments: Arguments) -> Known:
    """What is known of a value that is one of several."""
    kinds = {argument.known.type for argument in arguments}
    if len(kinds) != 1 and kinds != set(_NUMBERS):
        raise _refuse(name, arguments)
    known = [argument.known.range for argument in arguments]
    found = None
    if all(one is not None for one in known):
        found = known[0]
        for one in known[1:]:
            found = found.union(one) if found is not None and one is not None else None
    lengths = [argument.known.length for argument in arguments]
    length = max((one or 0 for one in lengths), default=0) if kinds == {Type.TEXT} else None
    kind = next(iter(kinds)) if len(kinds) == 1 else Type.REAL
    return Known(type=kind, nullable=_nullable(arguments), range=_met(found, kinds), length=length, cost=len(arguments))


@_function("case", "the value after the first condition that is true, or else the last argument")
def _case(arguments: Arguments) -> Known:
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        raise _refuse("case", arguments)
    if any(one.known.type is not Type.BOOLEAN for one in arguments[:-1:2]):
        raise _refuse("case", arguments)
    return _common("case", [*arguments[1::2], arguments[-1]])


@_function("coalesce", "the first that is not NULL")
def _coalesce(arguments: Arguments) -> Known:
    found = _common("coalesce", arguments)
    nullable = all(argument.known.nullable for argument in arguments)
    return Known(type=found.type, nullable=nullable, range=found.range, length=found.length, cost=found.cost)


@_function("null_if", "a, or NULL if a = b")
def _null_if(arguments: Arguments) -> Known:
    if len(arguments) != 2 or not _comparable(*(argument.known.type for argument in arguments)):
        raise _refuse("null_if", arguments)
    one = arguments[0].known
    return Known(type=one.type, nullable=True, range=one.range, length=one.length, cost=1 + (one.length or 0))


# --- conversions: what cannot be converted is NULL ------------------------------------------------------------------


@_function("to_integer", "a as a whole number: reals are rounded, texts are read; NULL if it cannot be")
def _to_integer(arguments: Arguments) -> Known:
    _types("to_integer", arguments, (Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN))
    (one,) = (argument.known for argument in arguments)
    found = {Type.BOOLEAN: Range(Fraction(0), Fraction(1))}.get(one.type)
    if one.type.is_number and one.range is not None:
        found = ranges.clamped(ranges.whole(one.range), _WHOLE)  # what is beyond becomes NULL, which lies in any range
    return Known(type=Type.INTEGER, nullable=True, range=found, cost=1 + (one.length or 0))


@_function("to_real", "a as a real number; NULL if it cannot be")
def _to_real(arguments: Arguments) -> Known:
    _types("to_real", arguments, (Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN))
    (one,) = (argument.known for argument in arguments)
    found = None if one.range is None else ranges.widened(one.range)
    return Known(type=Type.REAL, nullable=True, range=found, cost=1 + (one.length or 0))


@_function("to_text", "a as a text")
def _to_text(arguments: Arguments) -> Known:
    _types("to_text", arguments, (Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE))
    (one,) = (argument.known for argument in arguments)
    return Known(type=Type.TEXT, nullable=one.nullable, length=one.length or 20, cost=20)


def _to_instant(name: str, kind: Type, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, (Type.TEXT, *_INSTANTS))
        return Known(type=kind, nullable=True, cost=1 + (arguments[0].known.length or 0))


_to_instant("to_date", Type.DATE, "a as a date, texts as 2026-01-31; NULL if it cannot be")
_to_instant("to_timestamp", Type.TIMESTAMP, "a as a timestamp, texts as 2026-01-31 12:00:00; NULL if it cannot be")


# --- dates ----------------------------------------------------------------------------------------------------------

_PARTS: Mapping[str, tuple[str, int, int]] = {
    "year": ("the year", -300_000, 300_000),
    "quarter": ("1 to 4", 1, 4),
    "month": ("1 to 12", 1, 12),
    "day": ("the day of the month", 1, 31),
    "weekday": ("the day of the week, 0 is Sunday", 0, 6),
    "day_of_year": ("the day of the year", 1, 366),
    "hour": ("0 to 23; 0 for a date", 0, 23),
    "minute": ("0 to 59; 0 for a date", 0, 59),
}


def _date_part(name: str, meaning: str, low: int, high: int) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, _INSTANTS)
        return _days(arguments, low, high, loose=name == "year")


def _days(arguments: Arguments, low: int, high: int, *, loose: bool) -> Known:
    found = Range(Fraction(low), Fraction(high))
    return Known(type=Type.INTEGER, nullable=_nullable(arguments), range=found, cost=5, loose=loose)


for _name, (_text, _low, _high) in _PARTS.items():
    _date_part(_name, _text, _low, _high)


@_function("days_between", "how many days b is after a")
def _days_between(arguments: Arguments) -> Known:
    _types("days_between", arguments, (Type.DATE,), (Type.DATE,))
    return _days(arguments, -(10**10), 10**10, loose=True)


# --- texts ----------------------------------------------------------------------------------------------------------


def _text_result(length: int, arguments: Arguments, *, cost: int) -> Known:
    if length > LONGEST_RESULT:
        hint = "Declare shorter texts, or take a part with SUBSTRING."
        raise NotSupported(f"a text of up to {length:,} characters.", hint=hint)
    return Known(type=Type.TEXT, nullable=_nullable(arguments), length=length, cost=cost)


def _length(argument: Argument) -> int:
    return argument.known.length or 0


def _same_length(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, (Type.TEXT,))
        return _text_result(_length(arguments[0]), arguments, cost=1 + _length(arguments[0]))


_same_length("trim", "without spaces at both ends")


def _changed_case(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, (Type.TEXT,))
        return _text_result(3 * _length(arguments[0]), arguments, cost=1 + _length(arguments[0]))


_changed_case("lower", "in small letters")
_changed_case("upper", "in capitals")


@_function("length", "how many characters")
def _text_length(arguments: Arguments) -> Known:
    _types("length", arguments, (Type.TEXT,))
    found = Range(Fraction(0), Fraction(_length(arguments[0])))
    return Known(type=Type.INTEGER, nullable=_nullable(arguments), range=found, cost=1 + _length(arguments[0]))


@_function("substring", "so many characters from a place on, which begins at 1; both are constants")
def _substring(arguments: Arguments) -> Known:
    _types("substring", arguments, (Type.TEXT,), (Type.INTEGER,), (Type.INTEGER,))
    start, count = (argument.known.range for argument in arguments[1:])
    if start is None or count is None or start.lower < 1 or count.lower < 0:
        raise NotSupported("SUBSTRING needs a place from 1 on and a length from 0 on, both constants.")
    length = min(_length(arguments[0]), int(count.upper))
    return _text_result(length, arguments, cost=1 + _length(arguments[0]))


@_function("concatenate", "one text after the other")
def _concatenate(arguments: Arguments) -> Known:
    if len(arguments) < 2 or any(argument.known.type is not Type.TEXT for argument in arguments):
        raise _refuse("concatenate", arguments)
    total = sum(_length(argument) for argument in arguments)
    return _text_result(total, arguments, cost=1 + total)


def _search(name: str, meaning: str) -> None:
    @_function(name, meaning)
    def rule(arguments: Arguments) -> Known:
        _types(name, arguments, (Type.TEXT,), (Type.TEXT,))
        if _length(arguments[1]) > LONGEST_PATTERN:
            raise NotSupported(f"a pattern of more than {LONGEST_PATTERN} characters.")
        cost = (1 + _length(arguments[0])) * (1 + _length(arguments[1]))
        return Known(type=Type.BOOLEAN, nullable=_nullable(arguments), cost=cost)


_search("like", "a matches the constant pattern b: % is any text, _ any character, \\ takes the next one as it is")
_search("starts_with", "a begins with b")
_search("ends_with", "a ends with b")
_search("contains", "b occurs in a")
