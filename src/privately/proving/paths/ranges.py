"""Numbers of which only two ends are known: arithmetic that never leaves a value out, and questions left open.

A comparison that the ends do not decide is answered in every way, one after another (`every`): whoever asks learns all
answers, and that there was more than one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, TypeAlias

from privately.errors import NotSupported
from privately.proving.language.meaning import FUNCTIONS, OpenNumber
from privately.proving.language.syntax import Value

Bound: TypeAlias = Any
"""An exact number, or an infinite float."""

LONGEST_END, KEPT_BITS, FARTHEST = 1024, 256, 1000
"""Ends of more bits are rounded outwards to so many leading ones; beyond 2 to this power, or its inverse, to infinity
and to zero. Products would double their length otherwise."""

MOST_WAYS = 64
MOST_PINNED = 32


class Vague(NotSupported):
    """What is known of a number is not enough to go on."""


class _Answers:
    """The answers that are given this time, and others for later."""

    def __init__(self, given: tuple[int, ...]) -> None:
        self.given = given
        self.made: tuple[int, ...] = ()
        self.others: list[tuple[int, ...]] = []

    def chosen(self, count: int) -> int:
        step = len(self.made)
        if step < len(self.given):
            answer = self.given[step]
        else:
            answer = 0
            self.others += [(*self.made, other) for other in range(1, count)]
        self.made = (*self.made, answer)
        return answer


_answers: ContextVar[_Answers | None] = ContextVar("answers", default=None)


def every(read: Callable[[], Value]) -> list[Value]:
    """What `read` can give, for all answers to what it leaves open; one result alone is certain."""
    found: list[Value] = []
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        answers = _Answers(waiting.pop())
        token = _answers.set(answers)
        try:
            found.append(read())
        finally:
            _answers.reset(token)
        waiting += answers.others
        if len(found) + len(waiting) > MOST_WAYS:
            raise Vague("too many questions that are left open at once.")
    return found


def _chosen(count: int) -> int:
    answers = _answers.get()
    if answers is None:
        raise Vague("a number that is not known well enough.")
    return answers.chosen(count)


class Range(OpenNumber):
    """Some number between two ends; `open`: neither end itself; `whole`: a whole number."""

    __slots__ = ("_hash", "high", "low", "open", "whole")

    def __init__(self, low: Bound, high: Bound, *, open: bool, whole: bool) -> None:  # noqa: A002 - the usual word
        self.low, self.high, self.open, self.whole = low, high, open, whole
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Range) and self._key() == other._key())

    def __hash__(self) -> int:
        if self._hash is None:  # of long fractions it takes a while
            self._hash = hash(self._key())
        return self._hash

    def __repr__(self) -> str:
        left, right = "()" if self.open else "[]"
        return f"{left}{self.low}, {self.high}{right}"

    def _key(self) -> tuple[Bound, Bound, bool, bool]:
        return self.low, self.high, self.open, self.whole

    def ordered(self) -> Range:
        """It has a place among others, up to what is left open."""
        return self

    def is_zero(self) -> bool:
        """Whether it is 0: certainly not, or one answer after the other."""
        return self.has(0) and _chosen(2) == 0

    def is_true(self) -> bool:
        """As a condition: 1 or 0."""
        if self.whole and self.low >= 0 and self.high <= 1:
            return _chosen(2) == 0
        raise Vague("a condition that may be neither true nor false.")

    def has(self, value: Bound) -> bool:
        """Whether the value may be it."""
        if self.whole and Fraction(value).denominator != 1:
            return False
        return bool(self.low < value < self.high or (not self.open and value in (self.low, self.high)))

    def meets(self, other: Range) -> bool:
        """Whether some number may be both, as far as the ends tell."""
        return bool(self.low <= other.high and other.low <= self.high)

    def sign(self) -> int | None:
        """1 if it is above zero, -1 if below; None if that is open, or it may be zero."""
        if self.low > 0 or (self.low == 0 and self.open):
            return 1
        return -1 if self.high < 0 or (self.high == 0 and self.open) else None

    def pinned(self) -> int:
        """One whole number after the other."""
        if not self.whole or _plus(self.high, -self.low) >= MOST_PINNED:
            raise Vague("a whole number that is not known well enough.")
        return int(self.low) + _chosen(int(self.high - self.low) + 1)

    def __lt__(self, other: Any) -> bool:
        return _above(other - self)

    def __gt__(self, other: Any) -> bool:
        return _above(self - other)

    def __le__(self, other: Any) -> bool:
        return not _above(self - other)

    def __ge__(self, other: Any) -> bool:
        return not _above(other - self)

    def __add__(self, other: Any) -> Any:
        far = _as_range(other)
        return ranged(
            _plus(self.low, far.low),
            _plus(self.high, far.high),
            open=self.open or far.open,
            whole=self.whole and far.whole,
        )

    __radd__ = __add__

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low, open=self.open, whole=self.whole)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Range):
            if other == 0:
                return 0
            ends = sorted((_times(self.low, other), _times(self.high, other)))
            return ranged(*ends, open=self.open, whole=self.whole and Fraction(other).denominator == 1)
        if self.low >= 0 and other.low >= 0:
            corners = [_times(self.low, other.low), _times(self.high, other.high)]
        else:
            corners = [_times(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return ranged(min(corners), max(corners), open=self.open and other.open, whole=self.whole and other.whole)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (other.reciprocal() if isinstance(other, Range) else 1 / Fraction(other))

    def __rtruediv__(self, other: Any) -> Any:
        return self.reciprocal() * other

    def reciprocal(self) -> Any:
        """1 over it, if it cannot be zero."""
        if self.sign() is None:
            raise Vague("a division by what may be zero.")
        far = math.inf * (self.sign() or 1)
        low, high = (
            far if end == 0 else Fraction(0) if abs(end) == math.inf else 1 / Fraction(end)
            for end in (self.high, self.low)
        )
        return ranged(low, high, open=self.open, whole=False)

    def __pow__(self, exponent: int) -> Any:
        if exponent < 0:
            return 1 / self ** (-exponent)
        result: Any = 1
        for bit in f"{exponent:b}" if exponent else "":
            result = result * result * (self if bit == "1" else 1)
        if exponent % 2 == 0 and isinstance(result, Range) and result.low < 0:
            return Range(0, result.high, open=False, whole=result.whole)
        return result

    def __abs__(self) -> Any:
        if self.low >= 0:
            return self
        if self.high <= 0:
            return -self
        return Range(0, max(-self.low, self.high), open=False, whole=self.whole)

    def __floor__(self) -> Any:
        low = self.low if self.low == -math.inf else math.floor(self.low)
        if self.high == math.inf:
            return Range(low, self.high, open=False, whole=True)
        high = math.ceil(self.high) - 1 if self.open else math.floor(self.high)
        return ranged(low, high, open=False, whole=True)


def ranged(low: Bound, high: Bound, *, open: bool, whole: bool) -> Any:  # noqa: A002 - the usual word
    """A range, or the number itself if the ends meet."""
    if not open and low == high:
        exact = Fraction(low)
        return exact.numerator if exact.denominator == 1 else exact
    return Range(-_rounded_up(-low), _rounded_up(high), open=open, whole=whole)


def _rounded_up(end: Bound) -> Bound:
    """The end itself, or a shorter number that is not below it; whole if the end is."""
    if isinstance(end, float) or end.numerator.bit_length() + end.denominator.bit_length() <= LONGEST_END:
        return end
    size = end.numerator.bit_length() - end.denominator.bit_length()
    if size > FARTHEST:
        return math.inf if end > 0 else -(2**FARTHEST)
    if size < -FARTHEST:
        return Fraction(1, 2**FARTHEST) if end > 0 else 0
    unit = Fraction(2) ** (size - KEPT_BITS)
    return math.ceil(end / unit) * unit


def hull(values: Iterable[Value]) -> Value:
    """One value that stands for any of these; ANYTHING where they are not of one shape."""
    several = list(dict.fromkeys(values))
    if len(several) == 1:
        return several[0]
    if all(isinstance(one, tuple) for one in several):
        if len(set(map(len, several))) == 1:
            return tuple(hull(entries) for entries in zip(*several, strict=True))
        return ANYTHING
    if not all(isinstance(one, (int, Fraction, Range)) for one in several):
        return ANYTHING
    ends = [_as_range(one) for one in several]
    return ranged(
        min(one.low for one in ends),
        max(one.high for one in ends),
        open=all(one.open for one in ends),
        whole=all(one.whole for one in ends),
    )


def alike(one: Value, other: Value) -> bool:
    """Whether two values are equal, or ranges that overlap: one range that stands for both says hardly less."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, Range) or isinstance(other, Range):
        numbers = all(isinstance(side, (int, Fraction, Range)) for side in (one, other))
        return numbers and _as_range(one).meets(_as_range(other))
    return bool(one is other or (type(one) is type(other) and one == other))


def widened(before: Value, after: Value) -> Value:
    """A value that stands for both; ends that have moved go to infinity, so that nothing is widened without end."""
    joined = hull((before, after))
    if isinstance(joined, tuple):
        return tuple(widened(one, other) for one, other in zip(before, after, strict=True))
    if not isinstance(joined, Range):
        return joined
    old = _as_range(before)
    low = joined.low if joined.low == old.low else -math.inf
    high = joined.high if joined.high == old.high else math.inf
    return Range(low, high, open=joined.open, whole=joined.whole)


class _Anything(OpenNumber):
    """A value of which nothing is known."""

    def ordered(self, *_: object) -> Any:
        raise Vague("a value of which nothing is known.")

    is_true = __neg__ = __abs__ = __floor__ = ordered
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = ordered

    def __repr__(self) -> str:
        return "anything"


ANYTHING = _Anything()


def is_vague(value: Value) -> bool:
    """Whether some number in it is not known exactly."""
    return any(map(is_vague, value)) if isinstance(value, tuple) else isinstance(value, (Range, _Anything))


def _as_range(value: Any) -> Range:
    if isinstance(value, Range):
        return value
    if not isinstance(value, (int, Fraction)):
        raise Vague("what is no number, or one of which nothing is known.")
    return Range(value, value, open=False, whole=Fraction(value).denominator == 1)


def _above(gap: Any) -> bool:
    """Whether it is above zero: certain, or one answer after the other."""
    if not isinstance(gap, Range):
        return bool(gap > 0)
    sign = gap.sign()
    if sign is not None:
        return sign > 0
    return gap.high > 0 and _chosen(2) == 0


def _plus(left: Bound, right: Bound) -> Bound:
    """Ends added; the number may be too long for a float, so that only one infinite end is looked at."""
    if isinstance(left, float) or isinstance(right, float):
        return left if isinstance(left, float) else right
    return left + right


def _times(left: Bound, right: Bound) -> Bound:
    """Ends multiplied; nothing times infinity is nothing, as the infinite end itself is never reached."""
    if not left or not right:
        return 0
    if isinstance(left, float) or isinstance(right, float):
        return math.inf if (left > 0) == (right > 0) else -math.inf
    return left * right


def _least(*values: Value) -> Value:
    several = values[0] if len(values) == 1 else values
    if not any(map(is_vague, several)):
        return FUNCTIONS["least"](*values)
    ends = [_as_range(one) for one in several]
    high = min(one.high for one in ends)
    near = [one for one in ends if one.low <= high]
    if len(near) == 1:
        return ranged(near[0].low, near[0].high, open=near[0].open, whole=near[0].whole)
    return ranged(
        min(one.low for one in near), high, open=all(one.open for one in near), whole=all(one.whole for one in near)
    )


def _largest(*values: Value) -> Value:
    several = values[0] if len(values) == 1 else values
    if not any(map(is_vague, several)):
        return FUNCTIONS["largest"](*values)
    return -_least(tuple(-one for one in several))


def _placed(operator: str) -> Callable[..., Value]:
    """The operator with whole numbers pinned down that say where, or how many."""

    def apply(first: Value, second: Value, *others: Value) -> Value:
        if operator in {"replaced", "**"}:
            return FUNCTIONS[operator](first, _pinned(second), *others)
        return FUNCTIONS[operator](*map(_pinned, (first, second, *others)))

    return apply


def _pinned(value: Value) -> Value:
    return value.pinned() if isinstance(value, Range) else value


RANGED: Mapping[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "least": _least,
    "largest": _largest,
    **{one: _placed(one) for one in ("item", "part", "without", "repeated", "replaced", "numbers", "xor", "**")},
}
"""The operators on values of which some are ranges."""
