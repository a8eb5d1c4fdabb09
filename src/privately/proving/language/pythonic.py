"""Restricted Python functions, read into statements. What is not understood is refused, with its line.

Noise inside an expression becomes a `Sample` before the statement it stands in; `for` becomes `while`; `break` and
`continue` become conditions. Lists have values, not identities, so whatever would tell the difference is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from privately.errors import NotSupported
from privately.proving.language import declarations
from privately.proving.language.aliases import changed_in_place, forbid_aliases
from privately.proving.language.annotations import declared
from privately.proving.language.program import Parameter, Program
from privately.proving.language.python_expressions import ExpressionReader
from privately.proving.language.python_names import (
    BINARY,
    STATEMENTS,
    check_name,
    copied,
    is_method,
    is_stored,
    names_in,
    word,
)
from privately.proving.language.refusals import check_length, refusal
from privately.proving.language.syntax import (
    FALSE,
    TRUE,
    Apply,
    Assign,
    Assume,
    Block,
    Constant,
    Expression,
    Hint,
    If,
    Return,
    Statement,
    Variable,
    While,
    free_variables,
)

_SOURCES = {"__future__": None, "fractions": {"Fraction"}, "privately.proving": None}
"""Where words come from, and which ones; None: all that are there."""


def read_python(source: str) -> Program:
    """The program that a text with one function is.

    >>> read_python('''
    ... def count(total: each(1), epsilon):
    ...     return total + discrete_laplace(1 / epsilon)
    ... ''').samples[0].law
    'discrete_laplace'
    """
    check_length(source)
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        where = "" if error.lineno is None else f"line {error.lineno}: "
        raise NotSupported(f"{where}{error.msg}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise NotSupported("Python cannot read this text.") from None
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    for node in module.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _check_import(node)
    others = [node for node in module.body if not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
    loose = [node for node in others if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if len(functions) != 1 or loose:
        raise refusal(next(iter(loose or functions[1:]), None), "a program is one function, and nothing beside it.")
    return _Reader(functions[0], source).program()


def _check_import(node: ast.Import | ast.ImportFrom) -> None:
    """Refuses what would make a word mean something else where the text is run as it stands."""
    if isinstance(node, ast.Import) or node.level or node.module not in _SOURCES:
        raise refusal(node, "words of the language come from privately.proving alone.")
    known = _SOURCES[node.module]
    for one in node.names:
        if one.asname not in {None, one.name}:
            raise refusal(node, f"{one.name!r} is imported under another name.")
        if known is not None and one.name not in known:
            raise refusal(node, f"{one.name!r} of {node.module} is no word of the language.")


class _Reader(ExpressionReader):
    """Reads one function."""

    def __init__(self, function: ast.FunctionDef, source: str) -> None:
        super().__init__(function, source)
        self.loops: list[_Loop] = []

    def program(self) -> Program:
        """The whole of it."""
        if self.function.name in names_in(self.function):  # inside, it would be the function itself
            check_name(self.function, self.function.name)
        parameters = tuple(self.parameter(one) for one in self.arguments())
        forbid_aliases(self.function, self.lists)
        body = self.block(self.function.body)
        return Program(self.function.name, parameters, body, self.source)

    # The signature

    def arguments(self) -> list[ast.arg]:
        taken = self.function.args
        if taken.posonlyargs or taken.kwonlyargs or taken.vararg or taken.kwarg or taken.defaults:
            raise refusal(self.function, "parameters are plain names without defaults.")
        if self.function.decorator_list:
            raise refusal(self.function.decorator_list[0], "a decorator could make it another function.")
        return taken.args

    def parameter(self, argument: ast.arg) -> Parameter:
        check_name(argument, argument.arg)
        said = None if argument.annotation is None else declared(argument.annotation, self.source)
        is_list = argument.arg in self.lists
        match said:
            case declarations.Neighborhood():
                return Parameter(argument.arg, neighborhood=said, is_list=is_list, private=True)
            case "private":
                return Parameter(argument.arg, is_list=is_list, private=True)
            case _:
                return Parameter(argument.arg, domain=said, is_list=is_list)

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> Block:
        """A list of statements; what follows one that may leave the loop happens only if it did not."""
        found: list[Statement] = []
        for place, node in enumerate(body):
            found += self.nested(node, self.statement)
            if self.loops and _may_leave(node):
                rest = self.later(node, body[place + 1 :])
                if rest:
                    found.append(If(self.loops[-1].staying(), rest, (), node.lineno))
                break
        return tuple(found)

    def later(self, node: ast.stmt, rest: Sequence[ast.stmt]) -> Block:
        """What follows comes to stand inside a condition."""
        found: Block = self.nested(node, lambda _: self.block(rest))
        return found

    def statement(self, node: ast.stmt) -> list[Statement]:
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise refusal(node, f"{word(node)} is not part of the language.")
        result: list[Statement] = reader(node)
        return result

    def _pass(self, node: ast.Pass) -> list[Statement]:
        del node
        return []

    def _return(self, node: ast.Return) -> list[Statement]:
        if node.value is None:
            raise refusal(node, "say what is returned.")
        if isinstance(node.value, ast.Tuple):
            before, value = self.applied("list", node.value.elts)
        else:
            before, value = self.expression(node.value)
        return [*before, Return(value, node.lineno)]

    def _assign(self, node: ast.Assign) -> list[Statement]:
        if len(node.targets) != 1:
            raise refusal(node, "assign to one name at a time.")
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            return self.together(target, node.value)
        if is_method(node.value):
            before, taken = self.method(node.value)
            if taken is None:
                raise refusal(node, "this gives no value.")
            return [*before, *self.store(target, taken)]
        before, value = self.expression(node.value)
        return [*before, *self.store(target, value)]

    def together(self, target: ast.Tuple, values: ast.Tuple) -> list[Statement]:
        if len(target.elts) != len(values.elts):
            raise refusal(target, "as many names as values, please.")
        found: list[Statement] = []
        held: list[str] = []
        for one in values.elts:
            before, value = self.expression(one)
            held.append(self.name())
            found += [*before, Assign(held[-1], value, target.lineno)]
        for place, name in zip(target.elts, held, strict=True):
            found += self.store(place, Variable(name))
        return found

    def store(self, target: ast.expr, value: Expression) -> list[Statement]:
        if isinstance(target, ast.Name):
            check_name(target, target.id)
            self.names.add(target.id)
            return [Assign(target.id, value, target.lineno)]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            name = target.value.id
            before, place = self.expression(target.slice)
            changed = Apply("replaced", (self.variable(target.value), place, value))
            return [*before, Assign(name, changed, target.lineno)]
        raise refusal(target, "assign to a name, or to an entry of a named list.")

    def _augassign(self, node: ast.AugAssign) -> list[Statement]:
        if type(node.op) not in BINARY:
            raise refusal(node, f"{word(node.op)} is not part of the language.")
        operator = BINARY[type(node.op)]
        if isinstance(node.target, ast.Name):
            before, right = self.expression(node.value)
            value = self.combined(operator, self.variable(node.target), right)
            return [*before, *self.store(node.target, value)]
        if not isinstance(node.target, ast.Subscript) or not isinstance(node.target.value, ast.Name):
            raise refusal(node, "assign to a name, or to an entry of a named list.")
        name = self.variable(node.target.value)
        before, place = self.expression(node.target.slice)
        held = Variable(self.name())
        more, right = self.expression(node.value)
        value = Apply(operator, (Apply("item", (name, held)), right))  # numbers alone: a list would change in place
        changed = Assign(name.name, Apply("replaced", (name, held, value)), node.lineno)
        return [*before, Assign(held.name, place, node.lineno), *more, changed]

    def _annassign(self, node: ast.AnnAssign) -> list[Statement]:
        if node.value is None:
            return []
        before, value = self.expression(node.value)
        return [*before, *self.store(node.target, value)]

    def _expr(self, node: ast.Expr) -> list[Statement]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []
        call = node.value
        if not isinstance(call, ast.Call):
            raise refusal(node, "a value that nobody uses.")
        if is_method(call):
            return self.method(call)[0]
        if isinstance(call.func, ast.Name) and call.func.id in STATEMENTS:
            return self.said(call, call.func.id)
        raise refusal(node, "a value that nobody uses.")

    def said(self, call: ast.Call, word: str) -> list[Statement]:
        parts = [self.expression(argument) for argument in call.args]
        if call.keywords or not parts or any(before for before, _ in parts):
            raise refusal(call, f"{word} takes plain expressions, without noise in them.")
        values = tuple(value for _, value in parts)
        if word == "assume":
            return [Assume(value, call.lineno) for value in values]
        return [Hint(word, values, call.lineno)]

    def _if(self, node: ast.If) -> list[Statement]:
        before, condition = self.expression(node.test)
        return [*before, If(condition, self.block(node.body), self.block(node.orelse), node.lineno)]

    def _while(self, node: ast.While) -> list[Statement]:
        if node.orelse:
            raise refusal(node, "a loop has no else here.")
        test, body = _left_first(node)
        before, condition = self.expression(test)
        return self.loop(node, before, condition, body, after=[])

    def _for(self, node: ast.For) -> list[Statement]:
        if node.orelse:
            raise refusal(node, "a loop has no else here.")
        before, counter, end, inside = self.counting(node)
        step = Assign(counter, Apply("+", (Variable(counter), Constant(1))), node.lineno)
        condition = Apply("<", (Variable(counter), end))
        return [*before, *self.loop(node, [], condition, node.body, first=inside, after=[step])]

    def counting(self, node: ast.For) -> tuple[list[Statement], str, Expression, list[Statement]]:
        """What happens before, the hidden counter, its end, and what each round begins with."""
        counter, line, source = self.name(), node.lineno, node.iter
        first: Expression = Constant(0)
        before: list[Statement] = []
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
            values = [self.expression(argument) for argument in source.args]
            if source.keywords or len(values) not in {1, 2} or not isinstance(node.target, ast.Name):
                raise refusal(node, "write for name in range(end) or range(first, end).")
            before = [statement for one, _ in values for statement in one]
            if len(values) == 2:
                first = values[0][1]
            before += [self.checked(value, line) for _, value in values if not self.is_whole(value)]
            end = self.kept(values[-1][1], before, node)
            inside = self.store(node.target, Variable(counter))
            return [*before, Assign(counter, first, line)], counter, end, inside
        sources, numbered = self.sources(source)
        kept: list[Expression] = []
        for one in sources:
            more, value = self.listed(copied(one))  # its length is asked for below
            before += more
            kept.append(self.kept(value, before, node))
        lengths = tuple(Apply("length", (one,)) for one in kept)
        end = lengths[0] if len(lengths) == 1 else Apply("least", lengths)
        items: list[Expression] = [Apply("item", (one, Variable(counter))) for one in kept]
        targets = self.targets(node, len(items), numbered=numbered)
        inside = [
            one
            for target, value in zip(targets, [Variable(counter), *items] if numbered else items, strict=True)
            for one in self.store(target, value)
        ]
        return [*before, Assign(counter, first, line)], counter, end, inside

    def checked(self, value: Expression, line: int) -> Statement:
        """As in Python, a run stops here if the value is not whole."""
        return Assign(self.name(), Apply("numbers", (value, value)), line)

    def sources(self, source: ast.expr) -> tuple[list[ast.expr], bool]:
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and not source.keywords:
            if source.func.id == "zip" and len(source.args) == 1:
                raise refusal(source, "zip of one list gives lists of one entry.", "Run over the list itself.")
            if source.func.id == "zip" and source.args:
                return source.args, False
            if source.func.id == "enumerate" and len(source.args) == 1:
                return source.args, True
        return [source], False

    def targets(self, node: ast.For, items: int, *, numbered: bool) -> list[ast.expr]:
        wanted = items + numbered
        if wanted == 1:
            return [node.target]
        if not isinstance(node.target, ast.Tuple) or len(node.target.elts) != wanted:
            raise refusal(node, f"write {wanted} names before `in`.")
        return node.target.elts

    def kept(self, value: Expression, before: list[Statement], node: ast.For) -> Expression:
        """Python looks at what a loop runs over once; what the loop changes must be held."""
        nodes: list[Any] = [one for part in (node.target, *node.body) for one in ast.walk(part)]
        stored = {one.id for one in nodes if isinstance(one, ast.Name) and is_stored(one)}
        stored |= {one.func.value.id for one in nodes if is_method(one)}
        changed = changed_in_place([node.target, *node.body], self.lists)
        stored |= changed
        sources, _ = self.sources(node.iter)
        if any(isinstance(one, ast.Name) and one.id in changed for one in sources):
            raise refusal(node, "a list is changed while a loop runs over it.", "Run over a copy: list(...).")
        if not free_variables(value) & stored:
            return value
        held = self.name()
        before.append(Assign(held, value, node.lineno))
        return Variable(held)

    def loop(
        self,
        node: ast.While | ast.For,
        before: list[Statement],
        condition: Expression,
        body: Sequence[ast.stmt],
        *,
        after: list[Statement],
        first: Sequence[Statement] = (),
    ) -> list[Statement]:
        """One loop. Noise in its condition is drawn again at the end of each round."""
        loop = _Loop(self.name(), self.name())
        self.loops.append(loop)
        inside = [*first, *self.block(body)]
        self.loops.pop()
        start: list[Statement] = []
        if loop.skips:
            inside.insert(0, Assign(loop.skip, FALSE, node.lineno))
        again = [*after, *before]
        if before:
            held = self.name()
            start = [*before, Assign(held, condition, node.lineno)]
            again.append(Assign(held, condition, node.lineno))
            condition = Variable(held)
        if loop.leaves:
            start.insert(0, Assign(loop.leave, FALSE, node.lineno))
            going = Apply("not", (Variable(loop.leave),))
            again = [If(going, tuple(again), (), node.lineno)] if again else []
            condition = going if condition == TRUE else Apply("and", (going, condition))
        return [*start, While(condition, (*inside, *again), node.lineno)]

    def _break(self, node: ast.Break) -> list[Statement]:
        if not self.loops:
            raise refusal(node, "there is no loop to leave.")
        self.loops[-1].leaves = True
        return [Assign(self.loops[-1].leave, TRUE, node.lineno)]

    def _continue(self, node: ast.Continue) -> list[Statement]:
        if not self.loops:
            raise refusal(node, "there is no loop to go on with.")
        self.loops[-1].skips = True
        return [Assign(self.loops[-1].skip, TRUE, node.lineno)]


class _Loop:
    """The two flags of a loop: that it is to be left, that the rest of a round is to be skipped."""

    def __init__(self, leave: str, skip: str) -> None:
        self.leave, self.skip = leave, skip
        self.leaves = self.skips = False

    def staying(self) -> Expression:
        """Neither flag is up."""
        up = [Variable(flag) for flag, used in ((self.leave, self.leaves), (self.skip, self.skips)) if used]
        whole: Expression = up[0]
        for one in up[1:]:
            whole = Apply("or", (whole, one))
        return Apply("not", (whole,))


def _left_first(node: ast.While) -> tuple[ast.expr, list[ast.stmt]]:
    """The test of a loop and its body; where the body begins with leaving an endless loop, that is the test."""
    match node:
        case ast.While(test=ast.Constant(value=True), body=[ast.If(test=test, body=[ast.Break()], orelse=[]), *rest]):
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                return test.operand, rest
            return ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=test), test), rest
    return node.test, node.body


def _may_leave(node: ast.AST) -> bool:
    """Whether a statement holds a break or continue of the loop that it stands in."""
    if isinstance(node, (ast.Break, ast.Continue)):
        return True
    return isinstance(node, ast.If) and any(_may_leave(one) for one in (*node.body, *node.orelse))
