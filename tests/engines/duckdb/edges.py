"""Hostile values of every type, and calls of every function on them."""

from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from itertools import product

from privately.plans import Call, Expression, Field, Identity, Known, Range, Type, Value, call, constant
from privately.plans.functions import FUNCTIONS

LARGEST = 2**62 - 1
BOUND = 2**30

WHOLE: tuple[Value, ...] = (None, 0, 1, -1, 2, -7, 2**53 + 1, LARGEST, -LARGEST)
SMALL: tuple[Value, ...] = (None, 0, 1, -1, 3, -7, BOUND, -BOUND)
REALS: tuple[Value, ...] = (
    *(None, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e-320, 5e-324, 0.49999999999999994, 709.0, 710.0, -745.2),
    *(1.7976931348623157e308, -1.7976931348623157e308, 2.0**62, -(2.0**62), 2.0**53 + 2, 4.611686018427387e18, 1e19),
)
SMALL_REALS: tuple[Value, ...] = (None, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-320, float(BOUND), -float(BOUND), 0.1)
TEXTS: tuple[Value, ...] = (
    *(
        None,
        "",
        " ",
        "a",
        "A",
        "a\0b",
        "\0",
        "äß",
        "İı",
        "e\u0301",
        "👨‍👩‍👧",
        "a%b_c\\",
        "\\",
        "%",
        "_",
        "  x  ",
        "\u00a0x",
    ),
    *(
        "12",
        "-007",
        "+5",
        "1_000",
        "0x1f",
        " 1",
        "1 ",
        "1.5",
        ".5",
        "5.",
        "1e3",
        "1e400",
        "1e-400",
        "nan",
        "inf",
        "-",
        "١",
    ),
    *("9" * 18, "9" * 19, "4611686018427387904", "1e1234", "2026-01-31", "2026-02-30", "0000-01-01", "0001-01-01"),
    *(
        "9999-12-31",
        "2024-02-29",
        "2023-02-29",
        "2026-01-31 12:00:00",
        "2026-01-31T23:59:59.999999",
        "2026-01-31 24:00:00",
    ),
    *("2026-01-31 12:00", "2026-01-31 12:00:60", "2026-01-31 12:00:00.1", "12026-01-01", "2026-1-1", "2026-01-31\n"),
    *("true", "z" * 100, "𝒳" * 50),
)
SHORT_TEXTS: tuple[Value, ...] = (
    None,
    "",
    "a",
    "A",
    "ab",
    "a\0b",
    "\0",
    "\\",
    "%",
    "a%",
    "_",
    "é",
    "e\u0301",
    "a\\",
    "\n",
)
TRUTHS: tuple[Value, ...] = (None, True, False)
DATES: tuple[Value, ...] = (
    None,
    date(1, 1, 1),
    date(9999, 12, 31),
    date(1970, 1, 1),
    date(2024, 2, 29),
    date(1900, 3, 1),
)
TIMES: tuple[Value, ...] = (
    *(None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1969, 12, 31, 23, 59, 59, 999999)),
    *(datetime(2024, 2, 29), datetime(2026, 11, 15, 13, 14, 15, 16)),
)

EDGES = {
    "whole": (Known(type=Type.INTEGER), WHOLE),
    "small": (Known(type=Type.INTEGER, range=Range(Fraction(-BOUND), Fraction(BOUND))), SMALL),
    "real": (Known(type=Type.REAL), REALS),
    "small_real": (Known(type=Type.REAL, range=Range(Fraction(-BOUND), Fraction(BOUND))), SMALL_REALS),
    "text": (Known(type=Type.TEXT, length=100), TEXTS),
    "short": (Known(type=Type.TEXT, length=3), SHORT_TEXTS),
    "truth": (Known(type=Type.BOOLEAN), TRUTHS),
    "date": (Known(type=Type.DATE), DATES),
    "time": (Known(type=Type.TIMESTAMP), TIMES),
}


def field(kind: str, number: int) -> Field:
    return Field(Identity(number=number, name=kind), EDGES[kind][0])


def rows(kinds: tuple[str, ...]) -> list[tuple[Value, ...]]:
    return list(product(*(EDGES[kind][1] for kind in kinds)))


_PATTERNS = (
    "",
    "%",
    "_",
    "a%",
    "%b",
    "%a%",
    "a\\%b%",
    "\\",
    "a%\\\\",
    "a\\",
    "\\_",
    "%\0%",
    "a_b",
    "__",
    "é%",
    "\\\\\\",
)
_PLACES = ((1, 0), (1, 1), (2, 3), (1, LARGEST), (LARGEST, LARGEST), (3, 100))
_NUMBER_KINDS = ("whole", "small", "real", "small_real")
_COMPARED = (
    *product(_NUMBER_KINDS, _NUMBER_KINDS),
    *product(("date", "time"), ("date", "time")),
    *(("text", "short"), ("short", "text"), ("truth", "truth")),
)


def _over(function: str, kinds: tuple[str, ...], *rest: Value) -> Call:
    fields = [field(kind, number) for number, kind in enumerate(kinds)]
    return call(function, *fields, *(constant(value) for value in rest))


def _nested(function: str, deep: int) -> Call:
    """Deep enough that a text which repeats its argument would never end."""
    expression: Expression = _over(function, ("real", "real"))
    for _ in range(deep):
        expression = call(function, expression, field("real", 1))
    assert isinstance(expression, Call)
    return expression


def calls(function: str) -> Iterator[tuple[tuple[str, ...], Call]]:
    """Calls of a function on fields of the listed kinds."""
    yield from _calls(function)


def _calls(function: str) -> Iterator[tuple[tuple[str, ...], Call]]:  # noqa: C901, PLR0912, PLR0915 - a table
    kinds: tuple[str, ...]
    match function:
        case "add" | "subtract" | "multiply":
            for kinds in (("small", "small"), ("real", "real"), ("small", "real"), ("small_real", "small_real")):
                yield kinds, _over(function, kinds)
            yield ("real", "real"), _nested(function, 40)
        case "divide":
            for kinds in product(_NUMBER_KINDS, _NUMBER_KINDS):
                yield kinds, _over(function, kinds)
            yield ("real", "real"), _nested(function, 60)
        case "modulo":
            for kinds in product(("whole", "small"), ("whole", "small")):
                yield kinds, _over(function, kinds)
        case "negate" | "absolute" | "floor" | "ceiling" | "round":
            for kind in ("small", "small_real"):
                yield (kind,), _over(function, (kind,))
            if function in ("negate", "absolute"):
                yield ("real",), _over(function, ("real",))
        case "square_root" | "logarithm" | "exponential":
            for kind in _NUMBER_KINDS:
                yield (kind,), _over(function, (kind,))
                yield (kind,), call(function, call(function, _over(function, (kind,))))
        case "greatest" | "least":
            for kinds in (("small", "whole"), ("real", "small"), ("real", "real", "small"), ("date", "date")):
                yield kinds, _over(function, kinds)
            yield ("real", "real"), _nested(function, 40)
        case "clamp":
            yield ("whole",), _over(function, ("whole",), -5, 7)
            yield ("real",), _over(function, ("real",), -5, 7)
            yield ("real",), _over(function, ("real",), -0.5, 1e300)
            yield ("whole",), _over(function, ("whole",), 0.25, 2.5)
        case "equal" | "not_equal" | "less" | "less_or_equal" | "greater" | "greater_or_equal" | "null_if":
            for kinds in _COMPARED:
                yield kinds, _over(function, kinds)
        case "and" | "or":
            yield ("truth", "truth", "truth"), _over(function, ("truth", "truth", "truth"))
        case "not":
            yield ("truth",), _over(function, ("truth",))
        case "is_null":
            for kind in EDGES:
                yield (kind,), _over(function, (kind,))
        case "in":
            yield ("whole",), _over(function, ("whole",), 1, 2**53 + 1, 2.0**53, 0.5)
            yield ("real",), _over(function, ("real",), 1, 2**53 + 1, 0.5, 0)
            yield ("text",), _over(function, ("text",), "a", "a\0b", "", "it's", "\\")
            yield ("date",), _over(function, ("date",), date(1, 1, 1), datetime(1970, 1, 1), datetime(2024, 2, 29, 1))
            yield ("time",), _over(function, ("time",), date(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999))
        case "case":
            for kinds in (("truth", "small", "whole"), ("truth", "small", "real"), ("truth", "text", "short")):
                yield kinds, _over(function, kinds)
            five = ("truth", "small", "truth", "real", "small_real")
            yield five, _over(function, five)
        case "coalesce":
            for kinds in (("small", "whole"), ("whole", "real"), ("text", "short"), ("date", "date")):
                yield kinds, _over(function, kinds)
        case "to_integer" | "to_real":
            for kind in ("whole", "real", "text", "truth"):
                yield (kind,), _over(function, (kind,))
        case "to_text":
            for kind in ("whole", "text", "truth", "date"):
                yield (kind,), _over(function, (kind,))
        case "to_date" | "to_timestamp":
            for kind in ("text", "date", "time"):
                yield (kind,), _over(function, (kind,))
        case "year" | "quarter" | "month" | "day" | "weekday" | "day_of_year" | "hour" | "minute":
            for kind in ("date", "time"):
                yield (kind,), _over(function, (kind,))
        case "days_between":
            yield ("date", "date"), _over(function, ("date", "date"))
        case "trim" | "lower" | "upper" | "length":
            yield ("text",), _over(function, ("text",))
        case "substring":
            for place in _PLACES:
                yield ("text",), _over(function, ("text",), *place)
        case "like":
            for pattern in _PATTERNS:
                yield ("text",), _over(function, ("text",), pattern)
                yield ("short",), _over(function, ("short",), pattern)
        case "starts_with" | "ends_with" | "contains" | "concatenate":
            yield ("text", "short"), _over(function, ("text", "short"))


assert all(any(True for _ in calls(function)) for function in FUNCTIONS), "every function is tried"
