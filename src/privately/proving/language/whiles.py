"""The While language of the lecture texts, read into the same statements as Python.

    Name (d : private data) (e : real) : public real     the header may be missing; blocks are what is indented further
      x := expression;                                   a semicolon at the end of a line says nothing
      x := $ Laplace (scale, centre)                     sampling; also x := flip(p)
      while (condition) ... / if condition then ... else ... / return expression

Names that are never assigned are inputs, and so are private ones of a header that nothing uses. Where no parameter of a
header is marked private, the first one not marked public is, and the memory `Mem` must not be read beside it; without a
header `Mem` is, what an unknown function is applied to, and what the caller says. What an unknown function gives for a
private input is itself a private number, of which only the declared neighbours are known. Without any `return` the
output is what every way assigns last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from privately.errors import NotSupported
from privately.proving.language.declarations import BIT, Domain
from privately.proving.language.program import Parameter, Program
from privately.proving.language.refusals import check_length, refusal
from privately.proving.language.syntax import (
    Apply,
    Assign,
    Block,
    Constant,
    Expression,
    If,
    Return,
    Sample,
    Statement,
    Variable,
    While,
    expressions_of,
    free_variables,
    statements,
    subexpressions,
)

_TOKEN = re.compile(
    r"""\s*(?: (?P<number>\d+(?:\.\d+)?) | (?P<name>[A-Za-z_][A-Za-z_0-9']*)
             | (?P<symbol>:=|\+\+|<=|>=|!=|<>|\*\*|[-+*/^<>=()\[\]{},$]) )""",
    re.VERBOSE,
)
_HEADER = re.compile(r"(?!(?:while|if|return)\b)[A-Za-z_]\w*\s*\(")
_PARAMETER = re.compile(r"\(\s*(\w+)\s*:([^()]*)\)")
_LEVELS: tuple[dict[str, str], ...] = (
    {"or": "or"},
    {"and": "and"},
    {"=": "==", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="},
    {"++": "joined"},
    {"+": "+", "-": "-", "xor": "xor"},
    {"*": "*", "/": "/"},
    {"^": "**", "**": "**"},
)
_COMPARISONS, _POWERS = 2, 6
_SAMPLERS = {
    "Laplace": "laplace",
    "Lap": "laplace",
    "Gaussian": "gaussian",
    "Normal": "gaussian",
    "Exponential": "exponential",
    "flip": "flip",
    "Bernoulli": "flip",
    "DiscreteLaplace": "discrete_laplace",
    "Geometric": "geometric",
    "Uniform": "uniform",
}
_MEMORY = "Mem"
_WORDS = {"while", "do", "if", "then", "else", "return", "size", "true", "false", "not", "and", "or", "xor"}
"""Words of the language, which nothing else is called."""


@dataclass(slots=True)
class _Line:
    lineno: int
    indent: int
    text: str


def read_while(source: str) -> Program:
    """The program that a text in the While language is.

    >>> read_while("b := flip()\\nif b = 1 then\\n  o := Mem(0)\\nelse\\n  o := flip()\\n").private[0].name
    'Mem'
    """
    check_length(source)
    lines = [
        _Line(number, len(text) - len(text.lstrip()), text.strip().rstrip(";").rstrip())
        for number, text in enumerate(re.split(r"\r\n|\r|\n", source.expandtabs(8)), start=1)
        if text.strip() and not text.lstrip().startswith(("#", "//"))
    ]
    if not lines:
        raise NotSupported("there is no program in this text.")
    name, declared, lines = _header(lines)
    reader = _Reader(lines, {one for one, _ in declared})
    body = reader.block(lines[0].indent if lines else 0)
    if reader.place < len(lines):
        raise refusal(lines[reader.place], "this line is indented like no other before it.")
    if not any(isinstance(one, Return) for one in statements(body)):
        body = (*body, Return(Variable(_last_name(body, lines[-1])), lines[-1].lineno))
    return _assembled(name, declared, body, source)


def _header(lines: list[_Line]) -> tuple[str, list[tuple[str, str]], list[_Line]]:
    """Name, parameters with the words of their types, and the lines of the body."""
    first = lines[0]
    if ":=" in first.text or not _HEADER.match(first.text):
        return "program", [], lines
    whole, used = first.text, 1
    while used < len(lines) and ":=" not in lines[used].text and lines[used].text.startswith("("):
        whole, used = f"{whole} {lines[used].text}", used + 1
    parameters = _PARAMETER.findall(whole)
    rest = _PARAMETER.sub("", whole.split("(", 1)[0] + "(" + whole.split("(", 1)[1])
    if not parameters or used == len(lines) or "(" in rest or ")" in rest:
        raise refusal(first, "a header is Name (input : type) : type, and a body follows.")
    if any(set(",:;") & set(words.replace(" ", "").replace("{0,1}", "")) for _, words in parameters):
        raise refusal(first, "a type is made of words, and every input has brackets of its own.")
    names = [name for name, _ in parameters]
    if len(set(names)) < len(names) or not _WORDS.isdisjoint(names):
        raise refusal(first, "inputs have different names, which are no words of the language.")
    return whole.split("(")[0].strip(), parameters, lines[used:]


def _last_name(body: Block, line: _Line) -> str:
    """Without a return, the output is what every way assigns last."""
    last = body[-1]
    match last:
        case Assign(name) | Sample(name):
            return name
        case If(_, then, otherwise) if then and otherwise:
            names = {_last_name(then, line), _last_name(otherwise, line)}
            if len(names) == 1:
                return names.pop()
    raise refusal(line, "the program does not say what it returns.")


def _assembled(name: str, declared: list[tuple[str, str]], body: Block, source: str) -> Program:
    mentioned = _names(body)
    private = _private_names(body, declared)
    given = {one.name for one in statements(body) if isinstance(one, (Assign, Sample))}
    body = tuple(_with_inputs(statement, private - given) for statement in body)
    used = _names(body)
    lists = {
        part.operands[0].name
        for statement in statements(body)
        for whole in expressions_of(statement)
        for part in subexpressions(whole)
        if isinstance(part, Apply) and part.operator in {"item", "length"} and isinstance(part.operands[0], Variable)
    }
    types = dict(declared)
    applied = {one for one in used if one == _MEMORY or "(" in one}
    if declared and not private and _MEMORY in used - set(types):
        raise NotSupported(
            f"the header marks nothing private, and the program reads {_MEMORY}.", hint="Mark it: (x : private data)."
        )
    if declared and not private:
        private = set([name for name, words in declared if not _is_marked(words, "public", "pub")][:1])
    inputs = [one for one in types if one in used or one in private - mentioned] + sorted(used - given - set(types))
    marked = {one for one in inputs if one in private | applied}
    parameters = tuple(
        Parameter(
            one,
            domain=None if one in marked else _domain(types.get(one, "")),
            is_list=one in lists or "list" in types.get(one, ""),
            private=one in marked,
        )
        for one in inputs
    )
    return Program(name, parameters, body, source)


def _names(body: Block) -> set[str]:
    """All names that are read."""
    return {one for statement in statements(body) for part in expressions_of(statement) for one in free_variables(part)}


def _is_marked(words: str, *marks: str) -> bool:
    return not set(words.lower().split()).isdisjoint(marks)


def _domain(words: str) -> Domain | None:
    return BIT if "{0,1}" in words.replace(" ", "") else None


def _private_names(body: Block, declared: list[tuple[str, str]]) -> set[str]:
    """Inputs that a header marks; without a header, those that an unknown function is applied to."""
    if declared:
        return {name for name, words in declared if _is_marked(words, "private", "priv")}
    return {
        one.name
        for statement in statements(body)
        for whole in expressions_of(statement)
        for part in subexpressions(whole)
        if isinstance(part, Apply) and part.operator == "function"
        for one in part.operands[1:]
        if isinstance(one, Variable)
    }


def _with_inputs(statement: Statement, private: set[str]) -> Statement:
    """f(d), for a function of which nothing is known and a private d, becomes an input of that name."""

    def change(value: Expression) -> Expression:
        match value:
            case Apply("function", (Constant(str() as name), Variable(argument))) if argument in private:
                return Variable(f"{name}({argument})")
            case Apply(operator, operands):
                return Apply(operator, tuple(change(one) for one in operands))
            case _:
                return value

    match statement:
        case Assign(name, value, line):
            return Assign(name, change(value), line)
        case Sample(name, law, arguments, line):
            return Sample(name, law, tuple(change(one) for one in arguments), line)
        case Return(value, line):
            return Return(change(value), line)
        case If(condition, then, otherwise, line):
            first, second = (tuple(_with_inputs(one, private) for one in side) for side in (then, otherwise))
            return If(change(condition), first, second, line)
        case While(condition, inner, line):
            return While(change(condition), tuple(_with_inputs(one, private) for one in inner), line)
        case _:
            return statement


@dataclass(slots=True)
class _Reader:
    """Reads lines into statements."""

    lines: list[_Line]
    inputs: set[str]
    place: int = 0
    fresh: int = 0
    depth: int = 0
    inside: int = 0

    def block(self, indent: int) -> Block:
        """Lines with this indent, and what belongs to them."""
        self.depth += 1
        if self.depth > 50:
            raise refusal(self.lines[self.place], "too many blocks inside one another.")
        found: list[Statement] = []
        while self.place < len(self.lines) and self.lines[self.place].indent == indent:
            found += self.statement(self.lines[self.place])
        self.depth -= 1
        return tuple(found)

    def inner(self, line: _Line) -> Block:
        """The block under a line."""
        if self.place == len(self.lines) or self.lines[self.place].indent <= line.indent:
            raise refusal(line, "an indented block should follow.")
        block = self.block(self.lines[self.place].indent)
        if self.place < len(self.lines) and self.lines[self.place].indent > line.indent:
            raise refusal(self.lines[self.place], "this line is indented like no other before it.")
        return block

    def statement(self, line: _Line) -> list[Statement]:
        self.place += 1
        tokens = _Tokens(line)
        if tokens.take("while"):
            condition = self.expression(tokens)
            tokens.take("do")
            tokens.end()
            return [While(condition, self.inner(line), line.lineno)]
        if tokens.take("if"):
            return self.branch(line, tokens)
        if tokens.take("return"):
            before, value = self.value(tokens)
            return [*before, Return(value, line.lineno)]
        name = tokens.own_name()
        tokens.need(":=")
        before, value = self.value(tokens, into=name)
        return before if value == Variable(name) and before else [*before, Assign(name, value, line.lineno)]

    def branch(self, line: _Line, tokens: _Tokens) -> list[Statement]:
        condition = self.expression(tokens)
        tokens.need("then")
        tokens.end()
        then = self.inner(line)
        otherwise: Block = ()
        if self.place < len(self.lines):
            following = self.lines[self.place]
            if following.indent == line.indent and following.text == "else":
                self.place += 1
                otherwise = self.inner(following)
        return [If(condition, then, otherwise, line.lineno)]

    def value(self, tokens: _Tokens, *, into: str = "") -> tuple[list[Statement], Expression]:
        """The rest of a line: a sample, or an expression without noise."""
        marked = tokens.take("$")
        if marked or tokens.look() == "flip":
            found = self.sample(tokens, into)
            tokens.end()
            return found
        value = self.expression(tokens)
        tokens.end()
        return [], value

    def sample(self, tokens: _Tokens, into: str) -> tuple[list[Statement], Expression]:
        word, line = tokens.name(), tokens.line
        if word not in _SAMPLERS:
            raise refusal(line, f"the law {word!r} is unknown.", f"Known are {', '.join(_SAMPLERS)}.")
        law, arguments = _SAMPLERS[word], self.arguments(tokens)
        centre: Expression = Constant(0)
        if law == "uniform":
            law, arguments = _uniform(arguments, line)
        if law == "flip" and not arguments:
            arguments = [Apply("/", (Constant(1), Constant(2)))]
        if law in {"laplace", "gaussian", "discrete_laplace"} and len(arguments) == 2:
            centre = arguments.pop()
        if len(arguments) != 1:
            raise refusal(line, f"{word} with {len(arguments)} arguments.")
        if not into:
            self.fresh += 1
            into = f"#{self.fresh}"
        drawn = Sample(into, law, tuple(arguments), line.lineno)
        if centre == Constant(0):
            return [drawn], Variable(into)
        self.fresh += 1
        held = f"#{self.fresh}"
        return [Sample(held, law, tuple(arguments), line.lineno)], Apply("+", (centre, Variable(held)))

    def arguments(self, tokens: _Tokens) -> list[Expression]:
        tokens.need("(")
        found: list[Expression] = []
        while not tokens.take(")"):
            if found:
                tokens.need(",")
            found.append(self.nested(tokens))
        return found

    def nested(self, tokens: _Tokens) -> Expression:
        """An expression inside another one."""
        self.inside += 1
        if self.inside > 20:
            raise refusal(tokens.line, "too many brackets inside one another.")
        found = self.expression(tokens)
        self.inside -= 1
        return found

    def expression(self, tokens: _Tokens, level: int = 0) -> Expression:
        if level == len(_LEVELS):
            return self.factor(tokens)
        if level == _COMPARISONS and tokens.take("not"):
            tokens.count()
            return Apply("not", (self.expression(tokens, level),))
        if level == _POWERS:
            return self.power(tokens)
        left = self.expression(tokens, level + 1)
        while (symbol := tokens.look()) in _LEVELS[level]:
            tokens.take(symbol)
            left = Apply(_LEVELS[level][symbol], (left, self.expression(tokens, level + 1)))
            if level == _COMPARISONS and tokens.look() in _LEVELS[level]:
                raise refusal(tokens.line, "compare two at a time.", "Write a < b and b < c.")
        return left

    def power(self, tokens: _Tokens) -> Expression:
        """Powers bind tighter than a sign before them, and to the right."""
        if tokens.take("-"):
            tokens.count()
            return Apply("negative", (self.power(tokens),))
        base = self.factor(tokens)
        if tokens.take("^") or tokens.take("**"):
            tokens.count()
            return Apply("**", (base, self.power(tokens)))
        return base

    def factor(self, tokens: _Tokens) -> Expression:
        tokens.count()
        if tokens.take("("):
            inside = self.nested(tokens)
            tokens.need(")")
            return inside
        if tokens.take("["):
            items: list[Expression] = []
            while not tokens.take("]"):
                if items:
                    tokens.need(",")
                items.append(self.nested(tokens))
            return Apply("list", tuple(items))
        if tokens.take("{"):
            return self.power_set(tokens)
        number = tokens.number()
        if number is not None:
            return Constant(number)
        return self.named(tokens)

    def power_set(self, tokens: _Tokens) -> Expression:
        """{0,1}n or {0,1}^n: all lists of n bits."""
        for symbol in ("0", ",", "1", "}"):
            tokens.need(symbol)
        tokens.take("^")
        return Apply("function", (Constant("bits"), self.factor(tokens)))

    def named(self, tokens: _Tokens) -> Expression:
        if tokens.take("size"):
            return Apply("length", (self.factor(tokens),))
        for word, truth in (("true", True), ("false", False)):
            if tokens.take(word):
                return Constant(truth)
        name = tokens.own_name()
        value: Expression = Variable(name)
        if tokens.look() == "(" and name in _SAMPLERS:
            raise refusal(tokens.line, f"{name} stands alone on the right of :=.", f"Write z := $ {name}(...) first.")
        if tokens.look() == "(":
            arguments = self.arguments(tokens)
            if name == _MEMORY and name not in self.inputs and len(arguments) == 1:
                return Apply("item", (value, arguments[0]))
            return Apply("function", (Constant(name), *arguments))
        while tokens.take("["):
            value = Apply("item", (value, self.nested(tokens)))
            tokens.need("]")
        return value


def _uniform(arguments: list[Expression], line: _Line) -> tuple[str, list[Expression]]:
    match arguments:
        case [Apply("function", (Constant("bits"), length))]:
            return "uniform_bits", [length]
        case [single]:
            return "uniform", [single]
        case _:
            raise refusal(line, "Uniform takes one argument: a number, or {0,1}n.")


class _Tokens:
    """The words of one line, from left to right."""

    def __init__(self, line: _Line) -> None:
        self.line = line
        self.words: list[str] = []
        self.place = 0
        self.factors = 0
        at = 0
        while at < len(line.text):
            match = _TOKEN.match(line.text, at)
            if match is None:
                raise refusal(line, f"cannot read {line.text[at : at + 20].strip()!r}.")
            self.words.append(match[0].strip())
            at = match.end()

    def look(self) -> str:
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self, word: str) -> bool:
        taken = self.look() == word
        self.place += taken
        return taken

    def need(self, word: str) -> None:
        if not self.take(word):
            raise refusal(
                self.line, f"{word!r} should stand before {self.look()!r}." if self.look() else f"{word!r} is missing."
            )

    def name(self) -> str:
        word = self.look()
        if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9']*", word):
            raise refusal(self.line, f"a name should stand where {word!r} is." if word else "a name is missing.")
        self.place += 1
        return word

    def own_name(self) -> str:
        """A name that the program itself gives."""
        if self.look() in _WORDS:
            raise refusal(self.line, f"{self.look()!r} is a word of the language, not a name.")
        return self.name()

    def number(self) -> int | Fraction | None:
        word = self.look()
        if not word[:1].isdigit():
            return None
        self.place += 1
        if len(word) > 1000:
            raise refusal(self.line, "a number is too long.")
        value = Fraction(word)
        return value.numerator if value.denominator == 1 else value

    def count(self) -> None:
        self.factors += 1
        if self.factors > 100 or len(self.line.text) > 5000:
            raise refusal(self.line, "this line is too long.")

    def end(self) -> None:
        if self.look():
            raise refusal(self.line, f"{self.look()!r} was not expected.")
