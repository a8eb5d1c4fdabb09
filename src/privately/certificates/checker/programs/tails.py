"""Numbers with noise that has no end: a constant and independent geometric variables, each with a factor.

A variable G with decay r is k with probability (1 - r) r^k. Comparisons are answered where all values of the variables
have the same answer; elsewhere the state is split into parts that know more (docs/theory/programs.md, Tails).
"""

from collections.abc import Callable, Iterator
from math import gcd, lcm
from typing import Any, NamedTuple

from .exact import Beyond, Fractional, Number, floor, fraction, over, plus, sign, terms, times
from .weights import Decay, Field, Weight

LONGEST_PERIOD = 200
LONGEST_DECAY, HIGHEST_POWER = 4_096, 1 << 34
"""Bits of the rational part of a decay, and the power of t in it."""


class Variable(NamedTuple):
    """Variables of one state with different numbers are independent."""

    number: int
    decay: Decay


Parts = tuple[tuple[Variable, Number], ...]


class Tail:
    """constant + sum of factor * G over `parts`, of which there is at least one, by rising number."""

    __slots__ = ("constant", "parts")

    def __init__(self, constant: Number, parts: Parts) -> None:
        self.constant = constant
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tail) and (self.constant, self.parts) == (other.constant, other.parts)

    def __hash__(self) -> int:
        return hash((self.constant, self.parts))


class Undecided(Exception):
    """The sign of this sum is not the same for all its values."""

    def __init__(self, gap: Tail) -> None:
        super().__init__()
        self.gap = gap


class Uneven(Undecided):
    """A whole part depends on what is left of one variable after steps of this length."""

    def __init__(self, gap: Tail, one: Variable, period: int) -> None:
        super().__init__(gap)
        self.one = one
        self.period = period


def is_plain(value: object) -> bool:
    """Whether it is a number without noise."""
    return isinstance(value, (int, Fractional))


def gathered(constant: Number, parts: Parts) -> Any:
    """A sum with every variable once; a plain number if none is left."""
    found: dict[Variable, Number] = {}
    for one, factor in parts:
        found[one] = plus(found.get(one, 0), factor)
    left = [(one, factor) for one, factor in found.items() if factor != 0]
    left.sort(key=lambda part: part[0].number)
    return Tail(constant, tuple(left)) if left else constant


def add(one: Any, other: Any) -> Any:
    """The sum of two numbers, with or without noise."""
    (c, a), (d, b) = _terms(one), _terms(other)
    return gathered(plus(c, d), a + b)


def multiply(one: Any, by: Number) -> Any:
    """A number, with or without noise, times a plain one."""
    constant, parts = _terms(one)
    return gathered(times(constant, by), tuple((part, times(factor, by)) for part, factor in parts))


def subtract(one: Any, other: Any) -> Any:
    return add(one, multiply(other, -1))


def _terms(value: Any) -> tuple[Number, Parts]:
    if isinstance(value, Tail):
        return value.constant, value.parts
    if not is_plain(value):
        raise Beyond("a list is used as a number")
    return value, ()


def is_negative(value: Any) -> bool:
    """Whether a number is below 0."""
    if not isinstance(value, Tail):
        return sign(value) < 0
    signs = {sign(factor) for _, factor in value.parts}
    if -1 not in signs and sign(value.constant) >= 0:
        return False
    if 1 not in signs and sign(value.constant) < 0:
        return True
    raise Undecided(value)


def is_zero(value: Any) -> bool:
    """Whether a number is 0."""
    if not isinstance(value, Tail):
        return sign(value) == 0
    signs = {sign(factor) for _, factor in value.parts}
    if (-1 not in signs and sign(value.constant) > 0) or (1 not in signs and sign(value.constant) < 0):
        return False
    raise Undecided(value)


def whole_part(value: Any) -> Any:
    """The largest whole number that is not above a number, with or without noise."""
    if not isinstance(value, Tail):
        return floor(value)
    for one, factor in value.parts:
        if terms(factor)[1] != 1:
            raise Uneven(value, one, terms(factor)[1])
    return Tail(floor(value.constant), value.parts)


def variables(value: Any) -> Iterator[Variable]:
    """All variables of a value as they come, in lists too."""
    if isinstance(value, Tail):
        for one, _ in value.parts:
            yield one
    elif isinstance(value, tuple):
        for one in value:
            yield from variables(one)


def put(value: Any, place: Callable[[Variable], Any]) -> Any:
    """The value with other sums in the places of its variables."""
    if isinstance(value, Tail):
        found: Any = value.constant
        for one, factor in value.parts:
            found = add(found, multiply(place(one), factor))
        return found
    return tuple(put(one, place) for one in value) if isinstance(value, tuple) else value


def noise(number: int, decay: Decay, start: Number = 0, factor: Number = 1) -> Tail:
    return Tail(start, ((Variable(number, decay), factor),))


def unused(state: tuple[Any, ...]) -> int:
    return max((one.number for one in variables(state)), default=-1) + 1


def renamed(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The state with its variables numbered as they come."""
    order = {one: place for place, one in enumerate(dict.fromkeys(variables(state)))}
    if all(one.number == place for one, place in order.items()):
        return state
    return tuple(put(value, lambda one: noise(order[one], one.decay)) for value in state)


def split(state: tuple[Any, ...], gap: Tail, field: Field) -> list[tuple[tuple[Any, ...], Weight]]:
    """The state in parts that know more about the sign of the gap, with their shares of it."""
    rising = [one for one, factor in gap.parts if sign(factor) > 0]
    falling = [one for one, factor in gap.parts if sign(factor) < 0]
    if not (rising and falling):
        one = (rising or falling)[0]
        more, first = field.shares(one.decay)
        return [(_placed(state, {one: 0}), first), (_placed(state, {one: noise(one.number, one.decay, 1)}), more)]
    step = common_step([factor for _, factor in gap.parts])
    for one, factor in gap.parts:
        period = abs(floor(over(step, factor)))
        if period > 1:
            return residues(state, one, period, field)
    one, other = rising[0], falling[0]
    (r, r_rest), (q, q_rest) = field.shares(one.decay), field.shares(other.decay)
    both = product(one.decay, other.decay)
    _, rest = field.shares(both)
    least = noise(unused(state), both)
    later = {one: add(least, noise(one.number, one.decay, 1)), other: add(least, noise(other.number, other.decay, 1))}
    return [
        (_placed(state, {one: least, other: least}), field.over(field.times(r_rest, q_rest), rest)),
        (_placed(state, {one: least, other: later[other]}), field.over(field.times(r_rest, q), rest)),
        (_placed(state, {one: later[one], other: least}), field.over(field.times(r, q_rest), rest)),
    ]


def residues(state: tuple[Any, ...], one: Variable, period: int, field: Field) -> list[tuple[tuple[Any, ...], Weight]]:
    """The state in parts that know what is left of a variable after whole periods, with their shares of it."""
    if period > LONGEST_PERIOD:
        raise Beyond("too many steps of a noise have to be taken together")
    longer = raised(one.decay, period)
    more, rest = field.shares(one.decay)
    share = field.over(rest, field.shares(longer)[1])
    found = []
    for left in range(period):
        found.append((_placed(state, {one: noise(one.number, longer, left, period)}), share))
        share = field.times(share, more)
    return found


def raised(decay: Decay, count: int) -> Decay:
    """The decay of so many steps at once."""
    if decay.bottom.bit_length() * count > LONGEST_DECAY or decay.power * count > HIGHEST_POWER:
        raise Beyond("a noise falls by too long a number")
    return Decay(decay.top**count, decay.bottom**count, decay.power * count)


def common_step(factors: list[Number]) -> Number:
    """The least number above 0 of which all of these are divisors."""
    sizes = [terms(factor) for factor in factors]
    bottom = lcm(*(below for _, below in sizes))
    return fraction(lcm(*(top * bottom // below for top, below in sizes)), bottom)


def product(one: Decay, other: Decay) -> Decay:
    """The decay of the smaller of two variables."""
    top, bottom = one.top * other.top, one.bottom * other.bottom
    common = gcd(top, bottom)
    return Decay(top // common, bottom // common, one.power + other.power)


def _placed(state: tuple[Any, ...], places: dict[Variable, Any]) -> tuple[Any, ...]:
    return tuple(put(value, lambda one: places.get(one, noise(one.number, one.decay))) for value in state)
