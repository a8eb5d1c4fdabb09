"""Claims in words: epsilon as a formula in public parameters, such as `epsilon`, `2*size*epsilon`, `ln(3)`.

A claim is kept as what e^claim is: factor * e^exponent, so that comparing it with a ratio of probabilities is exact.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privately.errors import InvalidParameter
from privately.proving.exact.weights import ONE, Quotient, Weight, fraction, weight
from privately.rounding import Enclosure, Interval, rational

MOST_CHARACTERS = 1000
MOST_BITS = 100_000


@dataclass(frozen=True)
class Claim:
    """e^epsilon = factor e^exponent."""

    factor: Weight
    exponent: Fraction
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def epsilon(self) -> Interval:
        """The claim as a number, between two ends; no parameter may be open in it."""
        if isinstance(self.factor, Quotient):
            raise InvalidParameter("claim", f"{self.text!r} has an open parameter.", hint="Give it a value.")
        if self.factor == ONE:
            return Interval(self.exponent, self.exponent)
        logarithm = Enclosure.of(fraction(self.factor)).log()
        return Interval(self.exponent + Fraction(logarithm.lower), self.exponent + Fraction(logarithm.upper))


@dataclass(frozen=True)
class _Amount:
    """A number, and the logarithms added to it: number + ln(factor)."""

    number: Weight
    factor: Weight = ONE


def read_claim(text: str | int | Fraction, known: Mapping[str, Any]) -> Claim:
    """The claim with the values of its parameters put in.

    >>> read_claim("ln(3)", {}).factor, read_claim("2*size*epsilon", {"size": 3, "epsilon": Fraction(1, 2)}).exponent
    (3, Fraction(3, 1))
    """
    words = str(text).strip()
    if len(words) > MOST_CHARACTERS:
        raise InvalidParameter("claim", f"has more than {MOST_CHARACTERS} characters.")
    source = words.replace("^", "**")
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidParameter("claim", f"{words!r} is not a formula.", hint="Such as 2*epsilon or ln(3).") from None
    _keep_all_digits(tree, source)
    amount = _read(tree, known, words)
    if isinstance(amount.number, Quotient):
        raise InvalidParameter("claim", f"{words!r} has an open parameter outside ln(...).", hint="Give it a value.")
    exponent = fraction(amount.number)
    if not isinstance(amount.factor, Quotient):
        lowest = fraction(amount.factor)
        if lowest <= 0:
            raise InvalidParameter("claim", f"{words!r} has the logarithm of {lowest}.")
    return Claim(amount.factor, exponent, words)


def _keep_all_digits(tree: ast.expr, source: str) -> None:
    """Decimals as they are written: as floats 0.49999999999999999999 and 0.5 would be one number."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            text = ast.get_source_segment(source, node) or repr(node.value)
            node.value = rational(text.replace("_", ""), "claim")  # type: ignore[assignment]


def _read(node: ast.expr, known: Mapping[str, Any], words: str) -> _Amount:  # noqa: C901, PLR0912 - a case a form
    match node:
        case ast.Constant(value=bool() | complex()):
            pass
        case ast.Constant(value=int() as value):
            return _Amount(weight(value))
        case ast.Constant(value=Fraction() as value):
            return _Amount(weight(value))
        case ast.Name(id=name):
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise InvalidParameter("claim", f"{name!r} has no value.", hint=f"Known: {listed}.")
            return _Amount(_as_weight(known[name]))
        case ast.Call(func=ast.Name(id="ln" | "log"), args=[inside], keywords=[]):
            return _Amount(weight(0), _plain(_read(inside, known, words), words))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _times(_read(operand, known, words), weight(-1), words)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            a, b = _read(left, known, words), _read(right, known, words)
            return _Amount(a.number + b.number, a.factor * b.factor)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            a, b = _read(left, known, words), _times(_read(right, known, words), weight(-1), words)
            return _Amount(a.number + b.number, a.factor * b.factor)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _read(left, known, words), _read(right, known, words)
            return _times(b, _plain(a, words), words) if a.factor == ONE else _times(a, _plain(b, words), words)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            below = _plain(_read(right, known, words), words)
            if not below:
                raise InvalidParameter("claim", f"{words!r} divides by zero.")
            return _times(_read(left, known, words), ONE / below, words)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)) if abs(power) <= 1000:
            base = _plain(_read(left, known, words), words)
            if _bits(base) * abs(power) > MOST_BITS:
                raise InvalidParameter("claim", f"{words!r} has a number that is too long.")
            if power < 0 and not base:
                raise InvalidParameter("claim", f"{words!r} divides by zero.")
            return _Amount(base**power)
    part = ast.get_source_segment(words.replace("^", "**"), node)
    raise InvalidParameter("claim", f"cannot read {part!r}.", hint="Use + - * / ^, numbers and ln(...).")


def _as_weight(value: Any) -> Weight:
    if isinstance(value, tuple):
        raise InvalidParameter("claim", "a list is no number.")
    return value if isinstance(value, Quotient) else weight(value)


def _plain(amount: _Amount, words: str) -> Weight:
    if amount.factor != ONE:
        raise InvalidParameter("claim", f"{words!r} multiplies or nests logarithms.")
    return amount.number


def _times(amount: _Amount, by: Weight, words: str) -> _Amount:
    if amount.factor == ONE:
        return _Amount(amount.number * by)
    if isinstance(by, Quotient) or by.q != 1 or abs(int(by.p)) > 10_000:
        raise InvalidParameter("claim", f"{words!r} takes a logarithm times something that is not whole.")
    if _bits(amount.factor) * abs(int(by.p)) > MOST_BITS:
        raise InvalidParameter("claim", f"{words!r} has a number that is too long.")
    return _Amount(amount.number * by, amount.factor ** int(by.p))


def _bits(value: Weight) -> int:
    """The length of a number, or of a polynomial."""
    if isinstance(value, Quotient):
        return 64 * (1 + value.numerator.degree() + value.denominator.degree())
    return max(int(value.p).bit_length(), int(value.q).bit_length())
