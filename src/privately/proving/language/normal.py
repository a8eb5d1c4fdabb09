"""One form for programs that do the same: names, temporaries, the kind of loop and the sense of a guard do not matter.

Between two branches or loops only three things count: which draws are made, which variables hold what afterwards, and
what is returned. So straight-line code is carried out on expressions: temporaries vanish, and every variable that still
matters gets its value once, at the end of the stretch. Sums of numbers are sorted, comparisons point one way, and names
are given again in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from privately.errors import NotSupported
from privately.proving.language.liveness import needed, needed_by_loop
from privately.proving.language.program import Program
from privately.proving.language.rendering import rendered, rendered_block
from privately.proving.language.substituting import substituted
from privately.proving.language.syntax import (
    Apply,
    Assign,
    Assume,
    Block,
    Constant,
    Each,
    Expression,
    Hint,
    If,
    Return,
    Sample,
    Statement,
    Variable,
    While,
    free_variables,
    subexpressions,
)

LONGEST = 2000
_TURNED = {">": "<", ">=": "<="}
_DENIED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def normal_form(program: Program) -> Block:
    """The statements of a program in their one form; parameters are named after their places.

    Theorem: the normal form has the same law of outputs for every input.
    Reference: none; every step replaces an expression by an equal one, or moves an assignment past code that neither
        reads nor writes what it writes
    Proof: docs/theory/programs.md#normal-form
    Checked-by: tests/proving/language/test_normal.py::test_the_normal_form_has_the_same_law
    """
    block, _ = _Stretch().of(program.body, frozenset())
    names = {one.name: f"input{place}" for place, one in enumerate(program.parameters, start=1)}
    namer = _Namer(names)
    namer.foresee(block)
    return namer.block(block)


def normal_text(program: Program) -> str:
    """The normal form as text: equal for programs that differ in what does not matter."""
    return rendered_block(normal_form(program))


@dataclass
class _Stretch:
    """Straight-line code: what every variable holds, in terms of what they held at the start."""

    draws: int = 0
    values: dict[str, Expression] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def of(self, block: Block, after: frozenset[str]) -> tuple[Block, int]:
        """The block in normal form, and how many draws have been named."""
        found: list[Statement] = []
        for place, statement in enumerate(block):
            rest = needed(block[place + 1 :], after)
            match statement:
                case Assign(name, value):
                    read = self.read(value)
                    self.sizes[name] = self.size(value)
                    self.values[name] = read
                case Sample(name, _, arguments):
                    self.draws += 1
                    found.append(replace(statement, name=f"draw {self.draws}", arguments=self.all(arguments)))
                    self.values[name] = Variable(f"draw {self.draws}")
                case Return(value):
                    found.append(replace(statement, value=self.read(value)))
                    return tuple(found), self.draws
                case Assume(condition):
                    found.append(replace(statement, condition=self.read(condition)))
                case Hint():
                    pass
                case If():
                    found += self.branch(statement, rest)
                case While(condition, body):
                    head = needed_by_loop(free_variables(condition), body, rest)
                    found += self.stored(head)
                    inner, self.draws = _Stretch(self.draws).of(body, head)
                    found.append(replace(statement, condition=simplified(condition), body=inner))
        return (*found, *self.stored(after)), self.draws

    def branch(self, statement: If, rest: frozenset[str]) -> list[Statement]:
        """Values are stored before a branch; its condition is read before them if that makes no difference."""
        wanted = needed(statement.then, rest) | needed(statement.otherwise, rest)
        condition = self.read(statement.condition)
        if free_variables(condition) & self.changed(wanted):
            condition = simplified(statement.condition)
            wanted |= free_variables(condition)
        before = self.stored(wanted)
        then, self.draws = _Stretch(self.draws).of(statement.then, rest)
        otherwise, self.draws = _Stretch(self.draws).of(statement.otherwise, rest)
        match condition:
            case Apply("not", (inner,)):
                condition, then, otherwise = inner, otherwise, then
            case Apply("!=", operands):
                condition, then, otherwise = Apply("==", operands), otherwise, then
            case Apply("<=", (left, right)):
                condition, then, otherwise = Apply("<", (right, left)), otherwise, then
        return [*before, If(condition, then, otherwise, statement.line)]

    def changed(self, wanted: frozenset[str]) -> frozenset[str]:
        return frozenset(name for name, value in self.values.items() if name in wanted and value != Variable(name))

    def size(self, value: Expression) -> int:
        """How long it would be with everything put in, without putting it in."""
        parts = list(subexpressions(value))
        held = (
            self.sizes.get(one.name, 1) - 1 for one in parts if isinstance(one, Variable) and one.name in self.values
        )
        return len(parts) + sum(held)

    def read(self, value: Expression) -> Expression:
        if self.size(value) > LONGEST:
            raise NotSupported(f"expressions of more than {LONGEST} parts have no normal form.")
        return simplified(substituted(value, self.values))

    def all(self, values: Iterable[Expression]) -> tuple[Expression, ...]:
        return tuple(self.read(one) for one in values)

    def stored(self, wanted: frozenset[str]) -> list[Statement]:
        """Assignments of all values that matter, in an order in which none reads what another has already changed."""
        changed = {name: self.values[name] for name in self.values if name in self.changed(wanted)}
        self.values = {}
        held: list[Statement] = []
        while changed and not _in_order(changed):  # they read one another in a circle: one is held
            name = next(one for one in changed if _is_read(one, changed))
            held.append(Assign(f"held {name}", Variable(name)))
            changed = {
                other: value if other == name else substituted(value, {name: Variable(f"held {name}")})
                for other, value in changed.items()
            }
            changed[name] = changed.pop(name)
        return [*held, *(Assign(name, changed[name]) for name in _in_order(changed))]


def _is_read(name: str, changed: Mapping[str, Expression]) -> bool:
    """Whether another of these values reads the name, so that it has a value."""
    return any(name in free_variables(value) for other, value in changed.items() if other != name)


def _in_order(changed: Mapping[str, Expression], key: Callable[[str], Any] = str) -> list[str]:
    """The names in the least order in which each comes after all that read it; none if there is no such order."""
    left = dict(changed)
    found: list[str] = []
    while left:
        free = [
            name
            for name in left
            if not any(name in free_variables(value) for other, value in left.items() if other != name)
        ]
        if not free:
            return []
        found.append(min(free, key=key))
        del left[found[-1]]
    return found


def simplified(value: Expression) -> Expression:
    """An equal expression in its usual form: sums sorted, comparisons from small to large, no double denials."""
    match value:
        case Apply("not", (operand,)):
            return _denied(simplified(operand))
        case Apply(("+" | "-" | "negative" | "*") as operator, operands):
            return _sum(Apply(operator, tuple(map(simplified, operands))))
        case Apply("/", (left, right)):
            return _divided(simplified(left), simplified(right))
        case Apply(operator, (left, right)) if operator in _TURNED:
            return Apply(_TURNED[operator], (simplified(right), simplified(left)))
        case Apply(("==" | "!=") as operator, operands):
            ordered = sorted(map(simplified, operands), key=rendered)
            return Apply(operator, tuple(ordered))
        case Apply(operator, operands):
            return Apply(operator, tuple(map(simplified, operands)))
        case Each(element, variable, source, condition):
            return Each(simplified(element), variable, simplified(source), simplified(condition))
        case _:
            return value


def _denied(value: Expression) -> Expression:
    match value:
        case Apply("not", (inner,)):
            return inner
        case Constant(bool() as truth):
            return Constant(not truth)
        case Apply(operator, operands) if operator in _DENIED:
            return simplified(Apply(_DENIED[operator], operands))
        case _:
            return Apply("not", (value,))


def _divided(left: Expression, right: Expression) -> Expression:
    if isinstance(left, Constant) and isinstance(right, Constant) and right.value:
        return Constant(_plain(Fraction(left.value) / Fraction(right.value)))
    if isinstance(right, Constant) and right.value and not isinstance(right.value, str):
        return _sum(Apply("*", (Constant(_plain(1 / Fraction(right.value))), left)))
    return Apply("/", (left, right))


def _sum(value: Expression) -> Expression:
    """Sums with rational coefficients, collected by what they multiply."""
    terms: dict[Expression, Fraction] = {}
    constant = _collect(value, Fraction(1), terms)
    parts = sorted(((one, factor) for one, factor in terms.items() if factor), key=lambda part: rendered(part[0]))
    whole: Expression | None = None
    for one, factor in parts:
        term = one if factor == 1 else Apply("*", (Constant(_plain(factor)), one))
        whole = term if whole is None else Apply("+", (whole, term))
    if whole is None:
        return Constant(_plain(constant))
    return Apply("+", (whole, Constant(_plain(constant)))) if constant else whole


def _collect(value: Expression, factor: Fraction, terms: dict[Expression, Fraction]) -> Fraction:
    match value:
        case Constant(int() | Fraction() as number):
            return factor * number
        case Apply("+", (left, right)):
            return _collect(left, factor, terms) + _collect(right, factor, terms)
        case Apply("-", (left, right)):
            return _collect(left, factor, terms) + _collect(right, -factor, terms)
        case Apply("negative", (operand,)):
            return _collect(operand, -factor, terms)
        case Apply("*", (Constant(int() | Fraction() as number), other)):
            return _collect(other, factor * number, terms)
        case Apply("*", (other, Constant(int() | Fraction() as number))):
            return _collect(other, factor * number, terms)
        case Apply("*", operands):
            value = Apply("*", tuple(sorted(operands, key=rendered)))
    terms[value] = terms.get(value, Fraction(0)) + factor
    return Fraction(0)


def _plain(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


@dataclass
class _Namer:
    """Names in the order in which the text brings them up."""

    names: dict[str, str]
    count: int = 0

    def foresee(self, block: Block) -> None:
        """First the names that conditions, draws and outputs read: these decide, assignments only follow."""
        for statement in block:
            match statement:
                case If(condition, then, otherwise):
                    self.expression(condition)
                    self.foresee(then)
                    self.foresee(otherwise)
                case While(condition, body):
                    self.expression(condition)
                    self.foresee(body)
                case Sample(_, _, arguments):
                    for one in arguments:
                        self.expression(one)
                case Return(value):
                    self.expression(value)

    def block(self, block: Block) -> Block:
        """Assignments that stand together are sorted by their new names."""
        found: list[Statement] = []
        run: dict[str, Expression] = {}
        for statement in (*block, None):
            if isinstance(statement, Assign) and statement.name not in run:
                run[statement.name] = statement.value
                continue
            found += self.sorted(run)
            run = {statement.name: statement.value} if isinstance(statement, Assign) else {}
            if statement is not None and not isinstance(statement, Assign):
                found.append(self.statement(statement))
        return tuple(found)

    def sorted(self, run: dict[str, Expression]) -> list[Statement]:
        if any(name.startswith("held ") for name in run):
            return [self.statement(Assign(name, value)) for name, value in run.items()]
        order = _in_order(run, key=lambda name: (self.rank(name), self.look(run[name])))
        return [self.statement(Assign(name, run[name])) for name in order]

    def rank(self, name: str) -> int:
        """Names that are known come first, in their order."""
        known = self.names.get(name, "")
        return int(known[1:]) if known.startswith("v") else 10**9

    def look(self, value: Expression) -> str:
        """An expression as far as its names are known."""
        known = {name: Variable(self.names.get(name, "?")) for name in free_variables(value)}
        return rendered(substituted(value, known))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Assign(name, value):
                new = self.expression(value)
                return Assign(self.name(name), new)
            case Sample(name, law, arguments):
                new_arguments = tuple(self.expression(one) for one in arguments)
                return Sample(self.name(name), law, new_arguments)
            case If(condition, then, otherwise):
                return If(self.expression(condition), self.block(then), self.block(otherwise))
            case While(condition, body):
                return While(self.expression(condition), self.block(body))
            case Return(value):
                return Return(self.expression(value))
            case Assume(condition):
                return Assume(self.expression(condition))
            case Hint():
                return statement

    def expression(self, value: Expression) -> Expression:
        match value:
            case Variable(name):
                return Variable(self.name(name))
            case Apply(operator, operands):
                return Apply(operator, tuple(self.expression(one) for one in operands))
            case Each(element, variable, source, condition):
                new = self.expression(source)
                inner = self.name(variable)
                return Each(self.expression(element), inner, new, self.expression(condition))
            case _:
                return value

    def name(self, name: str) -> str:
        if name not in self.names:
            self.count += 1
            self.names[name] = f"v{self.count}"
        return self.names[name]
