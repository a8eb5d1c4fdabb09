"""Released values as data: exact, canonical, and the same again after reading them back.

Integers, texts, booleans and None stand for themselves; a Fraction becomes {"rational": "1/3"}, a float {"float": hex},
a list or tuple {"list": [...]}, a mapping {"map": [[key, value], ...]} in its own order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from privately.errors import InvalidParameter
from privately.rounding import Interval, rational
from privately.rounding.exact import MAX_BITS

_DEEPEST = 8
_LONGEST = 10**6
_PLAIN = frozenset({int, str, bool, type(None)})
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_RATIONAL = re.compile(r"-?[0-9]{1,1300}(/[0-9]{1,1300})?")


def freeze(value: Any, *, depth: int = 0) -> Any:
    """The value with its lists and mappings made unchangeable; InvalidParameter when it cannot be written exactly."""
    if depth > _DEEPEST:
        raise InvalidParameter("value", f"is nested more than {_DEEPEST} deep.")
    kind = type(value)
    if value is None or (kind is int and value.bit_length() <= MAX_BITS) or (kind is str and len(value) <= _LONGEST):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(freeze(one, depth=depth + 1) for one in value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise InvalidParameter("value", "the keys of a mapping must be texts.")
        return MappingProxyType({key: freeze(one, depth=depth + 1) for key, one in value.items()})
    if type(value) in (int, Fraction):
        rational(value, "value")
    if isinstance(value, str) and len(value) > _LONGEST:
        raise InvalidParameter("value", f"a text of more than {_LONGEST} characters.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameter("value", f"{value} cannot be released; use None for a missing number.")
    if value is None or type(value) in (bool, int, str, float, Fraction):
        return value
    raise InvalidParameter("value", f"a {type(value).__name__} cannot be written exactly.")


def encode_value(value: Any) -> Any:
    """A frozen value as JSON data."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Fraction):
        return {"rational": str(value)}
    if isinstance(value, tuple):
        return {"list": [encode_value(one) for one in value]}
    if isinstance(value, Mapping):
        return {"map": [[key, encode_value(one)] for key, one in value.items()]}
    return value


def decode_value(data: Any) -> Any:
    """The value that `encode_value` wrote."""
    match data:
        case {"rational": str(text), **rest} if not rest:
            return _exact(text)
        case {"float": str(text), **rest} if not rest:
            return float.fromhex(text)
        case {"list": list(items), **rest} if not rest:
            return tuple(decode_value(one) for one in items)
        case {"map": list(items), **rest} if not rest:
            return MappingProxyType({key: decode_value(one) for key, one in items})
        case None | bool() | int() | str():
            return data
    raise InvalidParameter("value", "is not in the form of a released value.")


def encode_interval(interval: Interval) -> list[str]:
    """Both ends, exactly."""
    return [str(end) for end in interval]


def decode_interval(data: Any) -> Interval:
    """The interval that `encode_interval` wrote."""
    lower, upper = (_INFINITE[end] if end in _INFINITE else _exact(end) for end in data)
    return Interval(lower, upper)


def _exact(text: str) -> Fraction:
    if _RATIONAL.fullmatch(text) is None:
        raise InvalidParameter("value", f"{text[:20]!r} is not a rational.")
    return Fraction(text)
