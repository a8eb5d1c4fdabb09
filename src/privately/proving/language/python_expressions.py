"""Expressions of restricted Python: what must happen before (draws, mostly), and the value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from privately.proving.language.laws import LAWS
from privately.proving.language.python_names import (
    BINARY,
    COMPARISONS,
    FUNCTIONS,
    INSTEAD,
    LIST_OPERATORS,
    RESERVED,
    WHOLE_LAWS,
    check_name,
    drawn_names,
    is_method,
    levels_of,
    list_names,
    word,
)
from privately.proving.language.python_numbers import checked_length, decimal_in
from privately.proving.language.refusals import refusal
from privately.proving.language.substituting import substituted, with_reads
from privately.proving.language.syntax import (
    TRUE,
    Apply,
    Assign,
    Constant,
    Each,
    Expression,
    If,
    Sample,
    Statement,
    Variable,
    While,
)

DEEPEST = 100
"""Expressions and blocks inside one another."""


class ExpressionReader:
    """Reads the expressions of one function."""

    def __init__(self, function: ast.FunctionDef, source: str) -> None:
        self.function = function
        self.source = source
        self.fresh = 0
        self.depth = 0
        self.names = {parameter.arg for parameter in function.args.args}
        self.lists = list_names(function)
        self.whole_draws = set(drawn_names(function))

    def nested(self, node: Any, read: Callable[[Any], Any]) -> Any:
        levels = levels_of(node)
        self.depth += levels
        try:
            if self.depth > DEEPEST:
                raise refusal(node, f"more than {DEEPEST} levels inside one another.")
            return read(node)
        finally:
            self.depth -= levels

    def expression(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        result: tuple[list[Statement], Expression] = self.nested(node, self.plain)
        return result

    def plain(self, node: ast.expr) -> tuple[list[Statement], Expression]:  # noqa: C901, PLR0912 - a case a form
        match node:
            case ast.Constant(value=bool() | int() as value):
                return [], Constant(checked_length(node, value))
            case ast.Constant(value=float()):
                return [], Constant(_whole_if_so(decimal_in(self.source, node)))
            case ast.Name():
                return [], self.variable(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.applied("negative", [operand])
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.same_number(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.applied("not", [operand])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in BINARY:
                return self.binary(BINARY[type(operator)], left, right)
            case ast.BoolOp():
                return self.logic(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choice(node, test, body, orelse)
            case ast.List(elts=items):
                return self.applied("list", items)
            case ast.Subscript(value=value, slice=ast.Slice() as cut):
                return self.cut(value, cut)
            case ast.Subscript(value=value, slice=place):
                return self.applied("item", [value, place])
            case ast.ListComp():
                return self.comprehension(node)
            case ast.Call():
                return self.call(node)
            case _:
                raise refusal(node, f"{word(node)} is not part of the language.")

    def variable(self, node: ast.Name) -> Variable:
        if node.id not in self.names:
            if node.id in RESERVED:
                raise refusal(node, f"{node.id!r} may only be called.")
            raise refusal(node, f"{node.id!r} has no value here.")
        return Variable(node.id)

    def listed(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        """A list of which only the entries matter: here a range is one."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[end], keywords=[]):
                return self.applied("numbers", [ast.copy_location(ast.Constant(0), node), end])
            case ast.Call(func=ast.Name(id="range"), args=[first, end], keywords=[]):
                return self.applied("numbers", [first, end])
            case _:
                return self.expression(node)

    def applied(self, operator: str, nodes: Sequence[ast.expr]) -> tuple[list[Statement], Expression]:
        parts = [self.expression(one) for one in nodes]
        return [statement for before, _ in parts for statement in before], Apply(
            operator, tuple(value for _, value in parts)
        )

    def binary(self, operator: str, left: ast.expr, right: ast.expr) -> tuple[list[Statement], Expression]:
        (before, first), (more, second) = self.expression(left), self.expression(right)
        return [*before, *more], self.combined(operator, first, second)

    def combined(self, operator: str, left: Expression, right: Expression) -> Expression:
        if operator == "+" and (self.holds_list(left) or self.holds_list(right)):
            return Apply("joined", (left, right))
        if operator == "*" and self.holds_list(left):
            return Apply("repeated", (left, right))
        return Apply(operator, (left, right))

    def holds_list(self, value: Expression) -> bool:
        match value:
            case Apply(operator):
                return operator in LIST_OPERATORS
            case Each():
                return True
            case Variable(name):
                return name in self.lists
            case _:
                return False

    def same_number(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        """The value as it is; a run stops here if it is no number."""
        before, value = self.expression(node)
        return before, value if isinstance(value, Constant) else Apply("+", (value, Constant(0)))

    def same_list(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        """The value as it is; a run stops here if it is no list."""
        before, value = self.listed(node)
        made = not isinstance(value, Variable) and self.holds_list(value)
        return before, value if made else Apply("joined", (value, Apply("list", ())))

    def is_whole(self, value: Expression) -> bool:
        """Whether the text alone shows that it is a whole number, as draws of some laws are."""
        match value:
            case Constant(number):
                return isinstance(number, int)
            case Variable(name):
                return name in self.whole_draws
            case Apply("length" | "//"):
                return True
            case Apply("+" | "-" | "*" | "negative" | "absolute", operands):
                return all(map(self.is_whole, operands))
            case _:
                return False

    def logic(self, node: ast.BoolOp) -> tuple[list[Statement], Expression]:
        operator = "and" if isinstance(node.op, ast.And) else "or"
        before, value = self.expression(node.values[0])
        for one in node.values[1:]:
            more, right = self.expression(one)
            if not more:
                value = Apply(operator, (value, right))
                continue
            held = self.name()
            later = (*more, Assign(held, right, node.lineno))
            then, otherwise = (later, ()) if operator == "and" else ((), later)
            before += [Assign(held, value, node.lineno), If(Variable(held), then, otherwise, node.lineno)]
            value = Variable(held)
        return before, value

    def comparison(self, node: ast.Compare) -> tuple[list[Statement], Expression]:
        match node:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[within]):
                parts = [self.expression(node.left), self.listed(within)]
            case _:
                parts = [self.expression(one) for one in (node.left, *node.comparators)]
        before = [statement for one, _ in parts for statement in one]
        values = [value for _, value in parts]
        found: list[Expression] = []
        for place, operator in enumerate(node.ops):
            pair = (values[place], values[place + 1])
            if isinstance(operator, ast.NotIn):
                found.append(Apply("not", (Apply("in", pair),)))
            elif type(operator) in COMPARISONS:
                found.append(Apply(COMPARISONS[type(operator)], pair))
            else:
                raise refusal(node, f"{word(operator)} is not part of the language.")
        whole = found[0]
        for one in found[1:]:
            whole = Apply("and", (whole, one))
        return before, whole

    def choice(
        self, node: ast.IfExp, test: ast.expr, body: ast.expr, orelse: ast.expr
    ) -> tuple[list[Statement], Expression]:
        before, condition = self.expression(test)
        (then_before, then), (else_before, otherwise) = self.expression(body), self.expression(orelse)
        if not then_before and not else_before:
            return before, Apply("if", (condition, then, otherwise))
        held = self.name()
        chosen = If(
            condition,
            (*then_before, Assign(held, then, node.lineno)),
            (*else_before, Assign(held, otherwise, node.lineno)),
            node.lineno,
        )
        return [*before, chosen], Variable(held)

    def cut(self, value: ast.expr, cut: ast.Slice) -> tuple[list[Statement], Expression]:
        if cut.step is not None:
            raise refusal(value, "a part of a list has no step here.")
        before, whole = self.expression(value)
        more, first = self.expression(cut.lower) if cut.lower else ([], Constant(0))
        most, end = self.expression(cut.upper) if cut.upper else ([], Apply("length", (whole,)))
        return [*before, *more, *most], Apply("part", (whole, first, end))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[list[Statement], Expression]:
        generator = node.generators[0]
        if len(node.generators) != 1 or generator.is_async or not isinstance(generator.target, ast.Name):
            raise refusal(node, "a list is made over one name.")
        name = generator.target.id
        check_name(generator.target, name)
        before, source = self.listed(generator.iter)
        outside = set(self.names)
        self.names.add(name)
        conditions = [self.expression(one) for one in generator.ifs]
        inside, element = self.expression(node.elt)
        self.names = outside
        if any(more for more, _ in conditions):
            raise refusal(node, "no noise in the condition of a list.")
        condition: Expression = TRUE
        for _, one in conditions:
            condition = one if condition == TRUE else Apply("and", (condition, one))
        if not inside:
            own = f"{self.name()}{name}"  # as in Python, a name of its own
            new: dict[str, Expression] = {name: Variable(own)}
            return before, Each(substituted(element, new), own, source, substituted(condition, new))
        return self.drawn_list(node, name, [*before], source, condition, inside, element)

    def drawn_list(  # noqa: PLR0917 - the parts of a comprehension
        self,
        node: ast.expr,
        name: str,
        before: list[Statement],
        source: Expression,
        condition: Expression,
        inside: list[Statement],
        element: Expression,
    ) -> tuple[list[Statement], Expression]:
        """A list whose entries have noise in them is made in a loop."""
        made, counter, entry = self.name(), self.name(), f"{self.name()}{name}"
        line = node.lineno
        entries: dict[str, Expression] = {name: Variable(entry)}
        inside = [with_reads(one, entries) for one in inside]
        element, condition = substituted(element, entries), substituted(condition, entries)
        add = (*inside, Assign(made, Apply("joined", (Variable(made), Apply("list", (element,)))), line))
        body: tuple[Statement, ...] = (
            Assign(entry, Apply("item", (source, Variable(counter))), line),
            *(add if condition == TRUE else (If(condition, add, (), line),)),
            Assign(counter, Apply("+", (Variable(counter), Constant(1))), line),
        )
        loop = While(Apply("<", (Variable(counter), Apply("length", (source,)))), body, line)
        start: list[Statement] = [Assign(made, Apply("list", ()), line), Assign(counter, Constant(0), line)]
        return [*before, *start, loop], Variable(made)

    # Calls

    def call(self, node: ast.Call) -> tuple[list[Statement], Expression]:  # noqa: C901, PLR0912 - a case a function
        if is_method(node):
            raise refusal(
                node, "a list is changed inside an expression.", "Write name = values.pop() on a line of its own."
            )
        if not isinstance(node.func, ast.Name):
            raise refusal(node, "only named functions may be called.")
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise refusal(node, "arguments are given by position.")
        name = node.func.id
        if name in LAWS:
            return self.drawn(node, name)
        if name in FUNCTIONS:
            if not node.args:
                raise refusal(node, f"{name} of nothing.")
            if name in {"abs", "len", "sum"} and len(node.args) != 1:
                raise refusal(node, f"{name} takes one argument.")
            match node.args:
                case [ast.GeneratorExp() as only] if name in {"sum", "min", "max"}:
                    before, value = self.comprehension(only)
                    return before, Apply(FUNCTIONS[name], (value,))
                case [only]:
                    before, value = self.listed(only)
                    return before, Apply(FUNCTIONS[name], (value,))
            return self.applied(FUNCTIONS[name], node.args)
        if name == "Fraction" and any(
            isinstance(one, ast.Constant) and isinstance(one.value, float) for one in node.args
        ):
            raise refusal(node, "Fraction of a decimal is not what is written.", "Write Fraction(1, 10).")
        if name == "Fraction" and len(node.args) in {1, 2}:
            return self.applied("/", node.args) if len(node.args) == 2 else self.same_number(node.args[0])
        if name == "list" and len(node.args) <= 1:
            return self.same_list(node.args[0]) if node.args else ([], Apply("list", ()))
        if name == "range":
            raise refusal(node, "a range is no list, and has no step here.", "Write list(range(first, end)).")
        if name == self.function.name:
            raise refusal(node, "a program does not call itself.", "Write a loop.")
        if name in self.names:
            return self.unknown(node, name)
        raise refusal(node, f"the function {name!r} is unknown.", INSTEAD.get(name, ""))

    def unknown(self, node: ast.Call, name: str) -> tuple[list[Statement], Expression]:
        """A public parameter that is called is a function of which nothing is known."""
        parts = [self.expression(one) for one in node.args]
        before = [statement for one, _ in parts for statement in one]
        return before, Apply("function", (Constant(name), *(value for _, value in parts)))

    def drawn(self, node: ast.Call, law: str) -> tuple[list[Statement], Expression]:
        wanted = len(LAWS[law].parameters)
        arguments = list(node.args)
        centre = None
        if law in {"laplace", "gaussian"} and len(arguments) == 2:
            centre = arguments.pop()
        if law == "flip" and not arguments:
            half = Apply("/", (Constant(1), Constant(2)))
            name = self.name()
            return [Sample(name, law, (half,), node.lineno)], Variable(name)
        if len(arguments) != wanted:
            raise refusal(node, f"{law} takes {wanted} argument{'s' * (wanted != 1)}.")
        parts = [self.expression(one) for one in arguments]
        before = [statement for one, _ in parts for statement in one]
        name = self.name()
        found = [*before, Sample(name, law, tuple(value for _, value in parts), node.lineno)]
        if law in WHOLE_LAWS:
            self.whole_draws.add(name)
        if centre is None:
            return found, Variable(name)
        more, place = self.expression(centre)
        return [*more, *found], Apply("+", (place, Variable(name)))

    def method(self, node: Any) -> tuple[list[Statement], Expression | None]:
        """`append` and `pop` of a named list; each makes another list of that name."""
        name, word = self.variable(node.func.value), node.func.attr
        if node.keywords or (word == "append" and len(node.args) != 1) or len(node.args) > 1:
            raise refusal(node, f"{word} with other arguments is not part of the language.")
        if word == "append":
            before, value = self.expression(node.args[0])
            longer = Apply("joined", (name, Apply("list", (value,))))
            return [*before, Assign(name.name, longer, node.lineno)], None
        if word == "pop":
            last = Apply("-", (Apply("length", (name,)), Constant(1)))
            before, place = self.expression(node.args[0]) if node.args else ([], last)
            held, taken = self.name(), self.name()
            shorter = Assign(name.name, Apply("without", (name, Variable(held))), node.lineno)
            item = Assign(taken, Apply("item", (name, Variable(held))), node.lineno)
            return [*before, Assign(held, place, node.lineno), item, shorter], Variable(taken)
        raise refusal(node, f"lists have no {word!r} here.", "There are append and pop.")

    def name(self) -> str:
        """A name that no text can hold."""
        self.fresh += 1
        return f"#{self.fresh}"


def _whole_if_so(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
