"""Constants, names and types as DuckDB text. Nothing that somebody wrote reaches the engine by any other way."""

from __future__ import annotations

from datetime import date, datetime

from privately.plans import Type, Value

NAMES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
"""What the types of a plan are called in DuckDB."""

WILD = frozenset("[*?")
"""What makes a path a pattern."""
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/+*()[]{}<>=!?@#$%&|~^")


def literal(value: Value, type_: Type) -> str:
    """A constant of a type.

    >>> literal(2, Type.INTEGER), literal("it's", Type.TEXT), literal(None, Type.DATE)
    ('2::BIGINT', "decode('\\\\x69\\\\x74\\\\x27\\\\x73'::BLOB)", 'CAST(NULL AS DATE)')
    """
    match value:
        case None:
            return f"CAST(NULL AS {NAMES[type_]})"
        case bool():
            return "true" if value else "false"
        case int() if type_ is not Type.REAL:
            return f"{value}::BIGINT" if value >= 0 else f"(-{-value}::BIGINT)"
        case int() | float():
            return f"'{float(value)!r}'::DOUBLE"
        case str():
            return text(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"


def whole(value: int) -> str:
    """A whole number of up to 128 bits.

    >>> whole(-(2**100))
    '(-1267650600228229401496703205376::HUGEINT)'
    """
    return f"{value}::HUGEINT" if value >= 0 else f"(-{-value}::HUGEINT)"


def text(value: str) -> str:
    """A text. Anything but plain characters goes in as bytes, so that no quote, backslash or NUL can end it early."""
    if _PLAIN.issuperset(value):
        return f"'{value}'"
    escaped = "".join(f"\\x{byte:02X}" for byte in value.encode())
    return f"decode('{escaped}'::BLOB)"


def name(identifier: str) -> str:
    """The name of a column or table in the source, in double quotes."""
    return '"' + identifier.replace('"', '""') + '"'


def pattern(path: str) -> str:
    """The pattern that matches this path alone: functions that read files take every path for a pattern.

    >>> pattern("/data/visits[1].csv")
    '/data/visits[[]1].csv'
    """
    return "".join(f"[{one}]" if one in WILD else one for one in path)


def quoted(path: str) -> str:
    """A path of the owner's in single quotes, where DuckDB takes no other text."""
    return "'" + path.replace("'", "''") + "'"
