"""A small interpreter of the While language, of its own: words by one pattern, expressions by how tightly they bind."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, truediv, xor
from typing import Any, TypeAlias

from tests.proving.differential.choices import CUT, Law, Ways
from tests.proving.differential.running_python import given

WORD = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-z_][\w']*|:=|\+\+|\*\*|<>|[<>!]=|[-+*/^<>=()\[\],$])")
LAWS = {"Uniform": "uniform", "Bernoulli": "flip", "flip": "flip"}
OPERATORS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "or": (1, or_),
    "and": (2, and_),
    "=": (3, eq),
    "!=": (3, ne),
    "<>": (3, ne),
    "<": (3, lt),
    "<=": (3, le),
    ">": (3, gt),
    ">=": (3, ge),
    "++": (4, add),
    "+": (5, add),
    "-": (5, sub),
    "xor": (5, lambda left, right: xor(int(left), int(right))),
    "*": (6, mul),
    "/": (6, lambda left, right: truediv(Fraction(left), right)),
}
NOT, NEGATIVE = 3, 7
Value: TypeAlias = Callable[[Mapping[str, Any]], Any]
"""An expression: the memory in, its value out."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


@cache
def _lines(text: str) -> list[tuple[int, list[str]]]:
    """Indents and words; the header is known by its end."""
    lines = text.splitlines()
    body = lines[1:] if lines[0].endswith(": public real") else lines
    return [(len(line) - len(line.lstrip()), WORD.findall(line.strip().rstrip(";"))) for line in body]


class _Machine:
    """Runs lines; names live in one memory."""

    def __init__(self, text: str, memory: dict[str, Any], ways: Ways) -> None:
        self.lines = _lines(text)
        self.memory, self.ways = memory, ways
        self.last: Any = None

    def output(self) -> Any:
        try:
            self.block(0, len(self.lines))
        except _Returned as returned:
            return returned.value
        return self.last

    def block(self, start: int, end: int) -> None:
        line = start
        while line < end:
            below = self.below(line, end)
            words = self.lines[line][1]
            if words[0] == "if":
                line = self.branch(line, below, end, words)
                continue
            if words[0] == "while":
                while self.value(words[1:]):
                    self.ways.tick()
                    self.block(line + 1, below)
            elif words[0] == "return":
                raise _Returned(self.value(words[1:]))
            else:
                self.last = self.memory[words[0]] = self.drawn_or_value(words[2:])
            line = below

    def below(self, line: int, end: int) -> int:
        """The first line that is not indented further than this one."""
        indent = self.lines[line][0]
        return next((one for one in range(line + 1, end) if self.lines[one][0] <= indent), end)

    def branch(self, line: int, below: int, end: int, words: list[str]) -> int:
        has_else = below < end and self.lines[below][1] == ["else"]
        after = self.below(below, end) if has_else else below
        if self.value(words[1:]):
            self.block(line + 1, below)
        elif has_else:
            self.block(below + 1, after)
        return after

    def drawn_or_value(self, words: list[str]) -> Any:
        if words[0] == "$" or words[0] == "flip":
            name, *arguments = words[words[0] == "$" :]
            inside = arguments[1:-1]
            return self.ways.drawn(LAWS[name], *([self.value(inside)] if inside else []))
        return self.value(words)

    def value(self, words: list[str]) -> Any:
        return _read(tuple(words))(self.memory)


class _Expression:
    """Reads words into a function of the memory."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words, self.place = words, 0

    def all(self) -> Value:
        value = self.at_least(0)
        if self.place < len(self.words):
            raise SyntaxError(self.words)
        return value

    def look(self) -> str:
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        self.place += 1
        return self.words[self.place - 1]

    def at_least(self, binding: int) -> Value:
        """As much as binds this tightly."""
        left = self.first()
        while self.look() in OPERATORS and OPERATORS[self.look()][0] >= binding:
            symbol = self.take()
            left = _combined(symbol, left, self.at_least(OPERATORS[symbol][0] + 1))
        return left

    def first(self) -> Value:
        word = self.take()
        if word == "not":
            denied = self.at_least(NOT)
            return lambda memory: not denied(memory)
        if word == "-":
            negated = self.at_least(NEGATIVE)
            return lambda memory: -negated(memory)
        value = self.named(word)
        while self.look() == "[":
            self.take()
            value = _item(value, self.at_least(0))
            self.take()
        if self.look() in {"^", "**"}:
            self.take()
            return _power(value, self.at_least(NEGATIVE))
        return value

    def named(self, word: str) -> Value:
        if word == "(":
            value = self.at_least(0)
            self.take()
            return value
        if word == "[":
            return self.entries()
        if word[0].isdigit():
            number = Fraction(word)
            return lambda _: number
        if word in {"size", "Mem"}:
            inside = self.named(self.take())
            return (
                (lambda memory: len(inside(memory))) if word == "size" else _item(lambda memory: memory["Mem"], inside)
            )
        return lambda memory: memory[word]

    def entries(self) -> Value:
        found: list[Value] = []
        while self.look() != "]":
            found.append(self.at_least(0))
            if self.look() == ",":
                self.take()
        self.take()
        return lambda memory: [one(memory) for one in found]


def _combined(symbol: str, left: Value, right: Value) -> Value:
    if symbol == "and":
        return lambda memory: left(memory) and right(memory)
    if symbol == "or":
        return lambda memory: left(memory) or right(memory)
    operation = OPERATORS[symbol][1]
    return lambda memory: operation(left(memory), right(memory))


def _item(entries: Value, place: Value) -> Value:
    return lambda memory: entries(memory)[int(place(memory))]


def _power(base: Value, exponent: Value) -> Value:
    return lambda memory: Fraction(base(memory)) ** int(exponent(memory))


@cache
def _read(words: tuple[str, ...]) -> Value:
    return _Expression(words[:-1] if words[-1] in {"then", "do"} else words).all()


def law_of_while(text: str, inputs: Mapping[str, Any], cut: Fraction = CUT) -> Law:
    """The law of what a text in the While language gives."""
    ways = Ways(cut)
    return ways.all(lambda: _Machine(text, {name: given(one) for name, one in inputs.items()}, ways).output())
