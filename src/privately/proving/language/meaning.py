"""What expressions mean: exact values, computed from a state that holds every variable in its slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, TypeAlias

from privately.errors import NotSupported
from privately.proving.language.syntax import Apply, Constant, Each, Expression, Value, Variable

State: TypeAlias = tuple[Value, ...]
Evaluator: TypeAlias = Callable[[State], Value]

LONGEST_LIST = 100_000
DEEPEST_LIST = 6
MOST_BITS = 14_000
"""Numbers longer than this are a fault of the program, not a value; Python writes out no much longer ones."""


class _Unset:
    """What a variable holds before it gets a value, and after its last use."""

    def __repr__(self) -> str:
        return "no value"


UNSET = _Unset()

_divisors: ContextVar[list[Any] | None] = ContextVar("divisors", default=None)


@contextmanager
def noting_divisors() -> Iterator[list[Any]]:
    """Everything with an open parameter in it that is divided by in the meantime."""
    noted: list[Any] = []
    token = _divisors.set(noted)
    try:
        yield noted
    finally:
        _divisors.reset(token)


def note_divisor(value: Any) -> None:
    """Whoever runs the program sees to it that this is never zero."""
    noted = _divisors.get()
    if noted is not None:
        noted.append(value)


_work: ContextVar[Callable[[int], None] | None] = ContextVar("work", default=None)

LARGE = 2048
"""Bits from which on a number counts as work, and entries of a list, times 32."""


@contextmanager
def spending(spend: Callable[[int], None]) -> Iterator[None]:
    """Long numbers and long lists in the meantime cost, in units of some microseconds."""
    token = _work.set(spend)
    try:
        yield
    finally:
        _work.reset(token)


def _note_bits(bits: int) -> None:
    """Fractions are brought to lowest terms, which takes the square of their length."""
    spend = _work.get()
    if spend is not None:
        spend(bits // 1024 + (bits * bits >> 22))


def _note_entries(entries: int) -> None:
    spend = _work.get()
    if spend is not None:
        spend(entries // 32)


class OpenNumber:
    """A parameter without a value, or what arithmetic makes of it: one can compute with it, but not compare it.

    Noise whose value is not known yet is another such number, and may know better about comparisons."""

    __slots__ = ()

    def ordered(self) -> Any:
        """Itself, if it has a place among other numbers."""
        raise NotSupported("the program compares a parameter that was left open.", hint="Give it a value.")

    def is_zero(self) -> bool:
        """Whether it is 0, if it has a place among other numbers."""
        return bool(self.ordered() == 0)

    def is_true(self) -> bool:
        """As a condition, if it is known to be 1 or 0."""
        raise NotSupported(f"{shown(self)} is neither true nor false.")


def evaluator(
    expression: Expression,
    slots: Mapping[str, int],
    known: Mapping[str, Value],
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Evaluator:
    """The expression as a function of the state; `known` has the values of inputs that never change, `functions` what
    the operators do, if not what they always do."""

    def compiled(part: Expression) -> Evaluator:
        return evaluator(part, slots, known, functions)

    match expression:
        case Constant(value):
            return lambda _: value
        case Variable(name) if name in slots:
            return _variable(name, slots[name])
        case Variable(name):
            given = known.get(name, UNSET)
            return _unset(name) if given is UNSET else lambda _: given
        case Each():
            return _each(expression, slots, known, functions)
        case Apply("and", (left, right)):
            first, second = compiled(left), compiled(right)
            return lambda state: truth(first(state)) and truth(second(state))
        case Apply("or", (left, right)):
            first, second = compiled(left), compiled(right)
            return lambda state: truth(first(state)) or truth(second(state))
        case Apply("if", (condition, then, otherwise)):
            test, yes, no = map(compiled, (condition, then, otherwise))
            return lambda state: yes(state) if truth(test(state)) else no(state)
        case Apply(operator, operands):
            return _applied((functions or FUNCTIONS)[operator], tuple(map(compiled, operands)))


def _variable(name: str, slot: int) -> Evaluator:
    def read(state: State) -> Value:
        value = state[slot]
        if value is UNSET:
            raise NotSupported(f"{name!r} is used before it has a value.")
        return value

    return read


def _unset(name: str) -> Evaluator:
    def read(_: State) -> Value:
        raise NotSupported(f"{name!r} has no value.", hint="Give one: public={...}.")

    return read


def _each(
    each: Each,
    slots: Mapping[str, int],
    known: Mapping[str, Value],
    functions: Mapping[str, Callable[..., Any]] | None,
) -> Evaluator:
    """The name inside the brackets gets a slot behind all others."""
    inner = {**slots, each.variable: max(slots.values(), default=-1) + 1}
    width = inner[each.variable]
    source = evaluator(each.source, slots, known, functions)
    element, condition = (evaluator(one, inner, known, functions) for one in (each.element, each.condition))

    def read(state: State) -> Value:
        padded = state + (UNSET,) * (width - len(state))
        inside = ((*padded[:width], one) for one in _entire(source(state)))
        return _listed(*(element(one) for one in inside if truth(condition(one))))

    return read


def _applied(function: Callable[..., Value], operands: tuple[Evaluator, ...]) -> Evaluator:
    if len(operands) == 1:
        (only,) = operands
        return lambda state: function(only(state))
    if len(operands) == 2:
        left, right = operands
        return lambda state: function(left(state), right(state))
    return lambda state: function(*(one(state) for one in operands))


def truth(value: Value) -> bool:
    """Conditions are true or false, or 1 or 0."""
    if value is True or value is False:
        return value
    if isinstance(value, (int, Fraction)) and value in {0, 1}:
        return bool(value)
    if isinstance(value, OpenNumber):
        return value.is_true()
    raise NotSupported(f"{shown(value)} is neither true nor false.")


def number(value: Value) -> Any:
    """Arithmetic is for numbers; True and False count as 1 and 0."""
    if isinstance(value, (int, Fraction, OpenNumber)):
        return value
    raise NotSupported(f"{shown(value)} is no number.")


def ordered(value: Value) -> int | Fraction:
    """A number whose place among others is known."""
    exact = number(value)
    known: int | Fraction = exact.ordered() if isinstance(exact, OpenNumber) else exact
    return known


WRITTEN = 10_000
"""Bits of a number that is written out; Python refuses to write much longer ones."""


def shown(value: Value) -> str:
    """A value in an error message, cut where it is long; of what is open only that it is."""
    text = _words(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _words(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_words, value))}]"
    if isinstance(value, OpenNumber):
        return "a number that is still open"
    length = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if length < WRITTEN else f"a number of {length} bits"


def _list(value: Value) -> tuple[Value, ...]:
    if isinstance(value, tuple):
        return value
    raise NotSupported(f"{shown(value)} is no list.")


def _entire(value: Value) -> tuple[Value, ...]:
    """A list of which all entries are looked at, or copied."""
    entries = _list(value)
    if len(entries) >= LARGE // 32:
        _note_entries(len(entries))
    return entries


def _whole(value: Value) -> int:
    exact = ordered(value)
    if exact != int(exact):
        raise NotSupported(f"{shown(value)} is not whole.")
    return int(exact)


def _place(items: tuple[Value, ...], place: Value) -> int:
    where = _whole(place)
    if not -len(items) <= where < len(items):
        raise NotSupported(f"there is no entry {where} in a list of {len(items)}.")
    return where % len(items)


def canonical(value: Value) -> Value:
    """An output as everybody sees it: True and False are 1 and 0, so that their kind tells nothing."""
    if isinstance(value, tuple):
        return tuple(canonical(one) for one in value)
    return int(value) if isinstance(value, bool) else value


def simple(value: Any) -> Any:
    """Whole numbers as int, so that equal values look alike; none without bounds."""
    if isinstance(value, OpenNumber):
        return value
    if isinstance(value, int):
        if value.bit_length() >= LARGE:
            _check_bits(value.bit_length())
        return value
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits >= LARGE:
        _check_bits(bits)
    return value.numerator if value.denominator == 1 else value


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise NotSupported("a number grows without bounds.")
    _note_bits(bits)


def _plus(left: Value, right: Value) -> Value:
    return simple(number(left) + number(right))


def _over(left: Value, right: Value) -> Value:
    if number(right) == 0:
        raise NotSupported("a division by zero.", hint="Guard it with an if, or assume that it is not zero.")
    below = number(right)
    if isinstance(below, OpenNumber):
        note_divisor(below)
    if isinstance(below, OpenNumber) or isinstance(left, OpenNumber):
        return number(left) / below
    return simple(Fraction(number(left)) / below)


def _floor(left: Value, right: Value) -> Value:
    return _over(ordered(left), ordered(right)).__floor__()


def _remainder(left: Value, right: Value) -> Value:
    return simple(number(left) - _floor(left, right) * number(right))


def _power(left: Value, right: Value) -> Value:
    base, exponent = number(left), _whole(right)
    if isinstance(base, OpenNumber):
        if exponent < 0:
            _over(1, base)
        return base**exponent  # type: ignore[operator]  # forms and fractions of forms have powers
    if abs(exponent) * max(1, Fraction(base).numerator.bit_length()) > MOST_BITS:
        raise NotSupported("a number grows without bounds.")
    if base == 0 and exponent < 0:
        raise NotSupported("a division by zero.")
    return simple(Fraction(base) ** exponent)


def _xor(left: Value, right: Value) -> Value:
    if isinstance(left, tuple) or isinstance(right, tuple):
        first, second = _entire(left), _entire(right)
        if len(first) != len(second):
            raise NotSupported("xor of two lists of different lengths.")
        return tuple(_xor(a, b) for a, b in zip(first, second, strict=True))
    return _whole(left) ^ _whole(right)


def _joined(left: Value, right: Value) -> Value:
    whole = _entire(left) + _entire(right)
    if len(whole) > LONGEST_LIST:
        raise NotSupported(f"a list of more than {LONGEST_LIST} entries.")
    return _listed(*whole)


def _least(*values: Value) -> Value:
    return min(_several(values), key=ordered)


def _largest(*values: Value) -> Value:
    return max(_several(values), key=ordered)


def _several(values: tuple[Value, ...]) -> tuple[Value, ...]:
    several = _entire(values[0]) if len(values) == 1 else values
    if not several:
        raise NotSupported("the least or largest of nothing.")
    return several


def _replaced(items: Value, place: Value, value: Value) -> Value:
    where = _place(_entire(items), place)
    return _listed(*items[:where], value, *items[where + 1 :])


def _without(items: Value, place: Value) -> Value:
    where = _place(_entire(items), place)
    return items[:where] + items[where + 1 :]


def _repeated(items: Value, times: Value) -> Value:
    if len(_list(items)) * max(_whole(times), 0) > LONGEST_LIST:
        raise NotSupported(f"a list of more than {LONGEST_LIST} entries.")
    return _listed(*_entire(items * max(_whole(times), 0)))


def _numbers(first: Value, end: Value) -> Value:
    if _whole(end) - _whole(first) > LONGEST_LIST:
        raise NotSupported(f"a list of more than {LONGEST_LIST} entries.")
    return _entire(tuple(range(_whole(first), _whole(end))))


def _part(items: Value, first: Value, end: Value) -> Value:
    return _entire(items)[_whole(first) : _whole(end)]


def _unknown(name: Value, *_: Value) -> Value:
    raise NotSupported(f"nothing is known of the function {name!r}.", hint="Write it out, or make its value an input.")


def closed(value: Value) -> Value:
    """The value, if no open parameter is anywhere in it."""
    if isinstance(value, tuple):
        for one in value:
            closed(one)
    elif isinstance(value, OpenNumber):
        ordered(value)
    return value


def _listed(*items: Value) -> Value:
    """A list; lists inside lists are few and not deep."""
    if tuple in map(type, items) and _entries(items, DEEPEST_LIST, LONGEST_LIST) > LONGEST_LIST:
        raise NotSupported(f"a list of more than {LONGEST_LIST} entries in all.")
    return items


def _entries(value: Value, depth: int, most: int) -> int:
    if not isinstance(value, tuple):
        return 1
    if depth == 0:
        raise NotSupported(f"lists inside lists, more than {DEEPEST_LIST} deep.")
    total = 0
    for one in value:
        total += _entries(one, depth - 1, most - total)
        if total > most:
            break
    return total


def _same(left: Value, right: Value) -> bool:
    closed(left), closed(right)
    if isinstance(left, tuple) is not isinstance(right, tuple):
        raise NotSupported(f"{shown(left)} is compared with {shown(right)}: a list with a number.")
    if isinstance(left, tuple):
        return len(_entire(left)) == len(_entire(right)) and all(
            _same(one, other) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, OpenNumber) or isinstance(right, OpenNumber):
        gap: Any = ordered(left) - ordered(right)
        return gap.is_zero() if isinstance(gap, OpenNumber) else bool(gap == 0)
    return bool(left == right)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "+": _plus,
    "-": lambda left, right: simple(number(left) - number(right)),
    "*": lambda left, right: simple(number(left) * number(right)),
    "/": _over,
    "//": _floor,
    "%": _remainder,
    "**": _power,
    "negative": lambda value: -number(value),
    "==": _same,
    "!=": lambda left, right: not _same(left, right),
    "<": lambda left, right: ordered(left) < ordered(right),
    "<=": lambda left, right: ordered(left) <= ordered(right),
    ">": lambda left, right: ordered(left) > ordered(right),
    ">=": lambda left, right: ordered(left) >= ordered(right),
    "in": lambda value, items: any(_same(value, one) for one in _entire(items)),
    "not": lambda value: not truth(value),
    "xor": _xor,
    "absolute": lambda value: abs(ordered(value)),
    "least": _least,
    "largest": _largest,
    "total": lambda items: simple(sum(map(number, _entire(items)))),
    "list": _listed,
    "length": lambda items: len(_list(items)),
    "item": lambda items, place: _list(items)[_place(items, place)],
    "part": _part,
    "joined": _joined,
    "replaced": _replaced,
    "without": _without,
    "repeated": _repeated,
    "numbers": _numbers,
    "function": _unknown,
}
