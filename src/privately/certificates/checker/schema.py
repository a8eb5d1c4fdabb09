"""Reading: from bytes to plain values, refusing everything that the format does not name.

Every refusal is an `Invalid` that says which field is wrong. All limits are checked before any arithmetic.
"""

import json
from math import gcd
from typing import Any

from .rationals import Rational

FILE_BYTES = 16 * 2**20
NESTING = 16
NODES = 100_000
TEXT_LENGTH = 20_000
NUMBER_BITS = 4_096
LARGEST_INTEGER = 10**9

_NUMBER_DIGITS = len(str(2**NUMBER_BITS))


class Invalid(Exception):
    """The certificate is refused: `field` says where, `reason` why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason

    def within(self, place: str) -> "Invalid":
        """The same, with the field seen from further out."""
        return Invalid(f"{place}.{self.field}", self.reason)


def read_json(data: bytes | str) -> object:
    """Parse, knowing that a hostile file may be huge, deep, repetitive or no text at all."""
    if len(data) > FILE_BYTES:
        raise Invalid("file", "is larger than 16 MiB")
    try:
        text = data.encode("ascii") if isinstance(data, str) else data
        text.decode("ascii")
    except UnicodeError:
        raise Invalid("file", "holds characters outside of ASCII; write them as \\uXXXX") from None
    _check_nesting(text)
    try:
        return json.loads(
            text.decode("ascii"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_Foreign,
            parse_constant=_Foreign,
        )
    except (ValueError, RecursionError) as error:
        raise Invalid("file", f"is not JSON: {error}") from None


def _check_nesting(text: bytes) -> None:
    """Refuse deep files without recursion: what remains after removing `()` NESTING times is deeper.

    Outside of strings no backslash can stand in JSON, so that the parser stops before any place
    where taking strings apart in this crude way could go wrong.
    """
    outside = b"".join(text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    brackets = outside.translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(NESTING):
        brackets = brackets.replace(b"()", b"")
    if brackets:
        raise Invalid("file", f"is nested deeper than {NESTING}, or its brackets do not match")


_BRACKETS = bytes.maketrans(b"[]{}", b"()()")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1) if len(names) < 1000 else "a name"
        raise Invalid("file", f"has the member {show(repeated)} twice in one object")
    return result


def _integer(digits: str) -> "int | _Foreign":
    return _Foreign(digits) if len(digits) > 20 or digits == "-0" else int(digits)


class _Foreign:
    """A number that no field allows. The reader of its field refuses it, and so can say where it stands."""

    def __init__(self, text: str) -> None:
        self.text = text[:20]

    def __repr__(self) -> str:
        return self.text


def show(value: object) -> str:
    """Anything from the file, safe to print: ASCII without control characters, and short."""
    return shown if len(shown := ascii(value)) <= 80 else shown[:77] + "..."


def members(value: object, names: frozenset[str], field: str) -> dict[str, Any]:
    """Check that a value is an object with exactly these members."""
    if not isinstance(value, dict):
        raise Invalid(field, "must be an object")
    if value.keys() != names:
        for name in value:
            if name not in names:
                raise Invalid(field, f"has the unknown member {show(name)}")
        raise Invalid(field, f"lacks the member {show(min(names - value.keys()))}")
    return value


def array(value: object, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise Invalid(field, "must be a list")
    return value


def text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise Invalid(field, "must be a text")
    if len(value) > TEXT_LENGTH:
        raise Invalid(field, f"is longer than {TEXT_LENGTH} characters")
    return value


def integer(value: object, field: str, least: int) -> int:
    if type(value) is not int:  # True and False are instances of int
        raise Invalid(field, f"must be an integer, not {show(value)}")
    if not least <= value <= LARGEST_INTEGER:
        raise Invalid(field, f"must be from {least} to 10^9, not {show(value)}")
    return value


def integers(value: object, field: str, least: int) -> list[int]:
    return [integer(item, f"{field}[{i}]", least) for i, item in enumerate(array(value, field))]


def boolean(value: object, field: str) -> bool:
    if type(value) is not bool:  # 0 and 1 are equal to them
        raise Invalid(field, f"must be true or false, not {show(value)}")
    return value


def choice(value: object, field: str, names: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in names:
        raise Invalid(field, f"must be {' or '.join(names)}, not {show(value)}")
    return value


def rational(value: object, field: str) -> Rational:
    """Read a rational in its one canonical form."""
    if not isinstance(value, str):
        raise Invalid(field, f'must be a rational in a string, such as "3/7", not {show(value)}')
    numerator, slash, denominator = value.partition("/")
    digits = numerator[1:] if numerator[:1] == "-" else numerator
    if not _is_natural(digits) or (slash and not _is_natural(denominator)):
        raise Invalid(field, f"is not a rational of at most {NUMBER_BITS} bits: {show(value)}")
    top = int(numerator)
    bottom = int(denominator) if slash else 1
    if (slash and (bottom < 2 or gcd(top, bottom) != 1)) or numerator == "-0":
        raise Invalid(field, f"is not in lowest terms: {show(value)}")
    if max(top.bit_length(), bottom.bit_length()) > NUMBER_BITS:
        raise Invalid(field, f"has more than {NUMBER_BITS} bits")
    return Rational(top, bottom)


def _is_natural(digits: str) -> bool:
    return (
        0 < len(digits) <= _NUMBER_DIGITS
        and digits.isascii()
        and digits.isdigit()
        and (digits[0] != "0" or len(digits) == 1)
    )
