"""What the operators of programs mean. Truth values are 1 and 0; a list is a tuple."""

from collections.abc import Callable, Mapping
from typing import Any

from .exact import LONGEST, Beyond, Fractional, Number, fraction, over, terms
from .tails import add, is_negative, is_plain, is_zero, multiply, subtract, whole_part

LONGEST_LIST = 100_000
DEEPEST_LIST = 6


def truth(value: Any) -> bool:
    if isinstance(value, int) and value in {0, 1}:
        return bool(value)
    raise Beyond("a condition is neither true nor false")


def plain(value: Any) -> Number:
    """A number without noise."""
    if isinstance(value, (int, Fractional)):
        return value
    raise Beyond("noise or a list stands where a plain number must")


def integer(value: Any) -> int:
    if isinstance(value, int):
        return value
    raise Beyond("something stands where a whole number must")


def items(value: Any) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    raise Beyond("something stands where a list must")


def short(found: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(found) > LONGEST_LIST or (tuple in map(type, found) and _size(found, DEEPEST_LIST) > LONGEST_LIST):
        raise Beyond("a list is too long")
    return found


def _size(found: tuple[Any, ...], depth: int) -> int:
    """All entries, of lists inside too; counted no further than it takes."""
    if not depth:
        raise Beyond("lists inside lists, too deep")
    total = 0
    for one in found:
        total += _size(one, depth - 1) if isinstance(one, tuple) else 1
        if total > LONGEST_LIST:
            break
    return total


def _times(one: Any, other: Any) -> Any:
    return multiply(one, other) if is_plain(other) else multiply(other, plain(one))


def _power(base: Any, exponent: Any) -> Number:
    (top, bottom), count = terms(plain(base)), integer(exponent)
    if abs(count) * max(1, top.bit_length(), bottom.bit_length()) > LONGEST:
        raise Beyond("a number grows without bounds")
    if count >= 0:
        return fraction(top**count, bottom**count)
    if not top:
        raise Beyond("a division by zero")
    return fraction(bottom**-count, top**-count)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) is not isinstance(other, tuple):
        raise Beyond("a list is compared with a number")
    if isinstance(one, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return is_zero(subtract(one, other))


def below(one: Any, other: Any) -> bool:
    return is_negative(subtract(one, other))


def _xor(one: Any, other: Any) -> Any:
    if not isinstance(one, tuple) and not isinstance(other, tuple):
        return integer(one) ^ integer(other)
    if len(items(one)) != len(items(other)):
        raise Beyond("lists of different lengths are combined")
    return tuple(_xor(a, b) for a, b in zip(one, other, strict=True))


def _several(values: tuple[Any, ...]) -> tuple[Any, ...]:
    found = items(values[0]) if len(values) == 1 else values
    if not found:
        raise Beyond("the least or largest of nothing")
    return tuple(add(one, 0) for one in found)


def _least(*values: Any) -> Any:
    best, *others = _several(values)
    for one in others:
        if below(one, best):
            best = one
    return best


def _largest(*values: Any) -> Any:
    best, *others = _several(values)
    for one in others:
        if below(best, one):
            best = one
    return best


def _place(found: tuple[Any, ...], place: Any) -> int:
    where = integer(place)
    if not -len(found) <= where < len(found):
        raise Beyond("a list has no such entry")
    return where % len(found)


def _item(found: Any, place: Any) -> Any:
    return items(found)[_place(found, place)]


def _replaced(found: Any, place: Any, value: Any) -> Any:
    where = _place(items(found), place)
    return short((*found[:where], value, *found[where + 1 :]))


def _without(found: Any, place: Any) -> Any:
    where = _place(items(found), place)
    return found[:where] + found[where + 1 :]


def _repeated(found: Any, times_: Any) -> Any:
    count = max(integer(times_), 0)
    if len(items(found)) * count > LONGEST_LIST:
        raise Beyond("a list is too long")
    return short(items(found) * count)


def _numbers(first: Any, end: Any) -> Any:
    if integer(end) - integer(first) > LONGEST_LIST:
        raise Beyond("a list is too long")
    return tuple(range(first, end))


def _listed(*values: Any) -> Any:
    return short(values)


def _total(found: Any) -> Any:
    whole: Any = 0
    for one in items(found):
        whole = add(whole, one)
    return whole


def _absolute(value: Any) -> Any:
    return multiply(value, -1) if below(value, 0) else value


def _divided(one: Any, other: Any) -> Any:
    divisor = plain(other)
    return over(one, divisor) if is_plain(one) else multiply(one, over(1, divisor))


def _modulo(one: Any, step: Any) -> Any:
    return subtract(one, multiply(whole_part(_divided(one, step)), plain(step)))


OPERATORS: Mapping[str, tuple[int | None, Callable[..., Any]]] = {
    "+": (2, add),
    "-": (2, subtract),
    "*": (2, _times),
    "/": (2, _divided),
    "//": (2, lambda one, other: whole_part(_divided(one, other))),
    "%": (2, _modulo),
    "**": (2, _power),
    "negative": (1, lambda value: multiply(value, -1)),
    "==": (2, lambda one, other: int(same(one, other))),
    "!=": (2, lambda one, other: int(not same(one, other))),
    "<": (2, lambda one, other: int(below(one, other))),
    "<=": (2, lambda one, other: int(not below(other, one))),
    ">": (2, lambda one, other: int(below(other, one))),
    ">=": (2, lambda one, other: int(not below(one, other))),
    "in": (2, lambda value, found: int(any(same(value, one) for one in items(found)))),
    "not": (1, lambda value: int(not truth(value))),
    "xor": (2, _xor),
    "absolute": (1, _absolute),
    "least": (None, _least),
    "largest": (None, _largest),
    "total": (1, _total),
    "list": (None, _listed),
    "length": (1, lambda found: len(items(found))),
    "item": (2, _item),
    "part": (3, lambda found, first, end: items(found)[integer(first) : integer(end)]),
    "joined": (2, lambda one, other: short(items(one) + items(other))),
    "replaced": (3, _replaced),
    "without": (2, _without),
    "repeated": (2, _repeated),
    "numbers": (2, _numbers),
}
"""Each with how many operands it takes (None: any number from 1; a list may be empty)."""
