"""Restricted Python functions, read into statements. What is not understood is refused, with its line.

Noise inside an expression becomes a `Sample` before the statement it stands in; `for` becomes `while`; `break` and
`continue` become conditions. Lists have values, not identities, so whatever would tell the difference is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language import declarations
from privately.proving.language.laws import LAWS
from privately.proving.language.program import Parameter, Program
from privately.proving.language.syntax import (
    FALSE,
    TRUE,
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
)

MOST_CHARACTERS = 100_000
DEEPEST = 60
"""Expressions and blocks inside one another."""

_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitXor: "xor",
}
_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in"}
_FUNCTIONS = {"abs": "absolute", "len": "length", "sum": "total", "min": "least", "max": "largest"}
_STATEMENTS = {"assume", "invariant", "align"}
_RESERVED = {*LAWS, *_FUNCTIONS, *_STATEMENTS, *declarations.WORDS, "range", "list", "Fraction", "enumerate", "zip"}
_LISTS = {"list", "joined", "replaced", "without", "repeated", "numbers", "part"}


def read_python(source: str) -> Program:
    """The program that a text with one function is.

    >>> read_python('''
    ... def count(total: each(1), epsilon):
    ...     return total + discrete_laplace(1 / epsilon)
    ... ''').samples[0].law
    'discrete_laplace'
    """
    if len(source) > MOST_CHARACTERS:
        raise NotSupported(f"the text has more than {MOST_CHARACTERS} characters.")
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise NotSupported(f"line {error.lineno}: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise NotSupported("Python cannot read this text.") from None
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    others = [node for node in module.body if not isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom))]
    loose = [node for node in others if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    if len(functions) != 1 or loose:
        _refuse(loose[0] if loose else None, "a program is one function, and nothing beside it.")
    return _Reader(functions[0], source).program()


class _Reader:
    """Reads one function."""

    def __init__(self, function: ast.FunctionDef, source: str) -> None:
        self.function = function
        self.source = source
        self.fresh = 0
        self.depth = 0
        self.names = {parameter.arg for parameter in function.args.args}
        self.loops: list[_Loop] = []
        self.lists = _list_names(function)
        self.inputs = frozenset(self.names)

    def program(self) -> Program:
        """The whole of it."""
        parameters = tuple(self.parameter(one) for one in self.arguments())
        self.forbid_aliases()
        body = self.block(self.function.body)
        return Program(self.function.name, parameters, body, self.source)

    # The signature

    def arguments(self) -> list[ast.arg]:
        taken = self.function.args
        if taken.posonlyargs or taken.kwonlyargs or taken.vararg or taken.kwarg or taken.defaults:
            _refuse(self.function, "parameters are plain names without defaults.")
        for decorator in self.function.decorator_list:
            if not (isinstance(decorator, ast.Name) and decorator.id == "program"):
                _refuse(decorator, "the only decorator is @program.")
        return taken.args

    def parameter(self, argument: ast.arg) -> Parameter:
        _check_name(argument, argument.arg)
        declared = None if argument.annotation is None else _declared(argument.annotation)
        is_list = argument.arg in self.lists
        match declared:
            case declarations.Neighborhood():
                return Parameter(argument.arg, neighborhood=declared, is_list=is_list, private=True)
            case "private":
                return Parameter(argument.arg, is_list=is_list, private=True)
            case _:
                return Parameter(argument.arg, domain=declared, is_list=is_list)

    def forbid_aliases(self) -> None:
        """Two names for one list would tell apart what we do not: refused where either is changed later."""
        nodes = list(ast.walk(self.function))
        changed = {node.func.value.id for node in nodes if _is_method(node)} | {
            node.value.id
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in self.lists:
                changed.add(node.target.id)
        for node in nodes:
            if _is_method(node) and node.func.value.id in self.inputs:
                _refuse(node, f"{node.func.value.id!r} is an input and stays as it is.", "Copy it: list(...).")
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in self.lists:
                target = node.targets[0]
                if isinstance(target, ast.Name) and {target.id, node.value.id} & changed:
                    _refuse(node, f"{target.id!r} and {node.value.id!r} would be one list.", "Copy it: list(...).")
        if changed & self.inputs:
            _refuse(self.function, f"the input {min(changed & self.inputs)!r} is changed.", "Copy it: list(...).")

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> Block:
        """A list of statements; what follows one that may leave the loop happens only if it did not."""
        found: list[Statement] = []
        for place, node in enumerate(body):
            found += self.nested(node, self.statement)
            if self.loops and _may_leave(node):
                rest = self.block(body[place + 1 :])
                if rest:
                    found.append(If(self.loops[-1].staying(), rest, (), node.lineno))
                break
        return tuple(found)

    def nested(self, node: Any, read: Callable[[Any], Any]) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            _refuse(node, f"more than {DEEPEST} levels inside one another.")
        try:
            return read(node)
        finally:
            self.depth -= 1

    def statement(self, node: ast.stmt) -> list[Statement]:
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            _refuse(node, f"{_word(node)} is not part of the language.")
        result: list[Statement] = reader(node)
        return result

    def _pass(self, node: ast.Pass) -> list[Statement]:
        del node
        return []

    def _return(self, node: ast.Return) -> list[Statement]:
        if node.value is None:
            _refuse(node, "say what is returned.")
        before, value = self.expression(node.value)
        return [*before, Return(value, node.lineno)]

    def _assign(self, node: ast.Assign) -> list[Statement]:
        if len(node.targets) != 1:
            _refuse(node, "assign to one name at a time.")
        target = node.targets[0]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            return self.together(target, node.value)
        if _is_method(node.value):
            before, taken = self.method(node.value)
            if taken is None:
                _refuse(node, "this gives no value.")
            return [*before, *self.store(target, taken)]
        before, value = self.expression(node.value)
        return [*before, *self.store(target, value)]

    def together(self, target: ast.Tuple, values: ast.Tuple) -> list[Statement]:
        if len(target.elts) != len(values.elts):
            _refuse(target, "as many names as values, please.")
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
            _check_name(target, target.id)
            self.names.add(target.id)
            return [Assign(target.id, value, target.lineno)]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            name = target.value.id
            before, place = self.expression(target.slice)
            changed = Apply("replaced", (self.variable(target.value), place, value))
            return [*before, Assign(name, changed, target.lineno)]
        _refuse(target, "assign to a name, or to an entry of a named list.")

    def _augassign(self, node: ast.AugAssign) -> list[Statement]:
        if type(node.op) not in _BINARY:
            _refuse(node, f"{_word(node.op)} is not part of the language.")
        operator = _BINARY[type(node.op)]
        if isinstance(node.target, ast.Name):
            before, right = self.expression(node.value)
            value = self.combined(operator, self.variable(node.target), right)
            return [*before, *self.store(node.target, value)]
        if not isinstance(node.target, ast.Subscript) or not isinstance(node.target.value, ast.Name):
            _refuse(node, "assign to a name, or to an entry of a named list.")
        name = self.variable(node.target.value)
        before, place = self.expression(node.target.slice)
        held = Variable(self.name())
        more, right = self.expression(node.value)
        value = self.combined(operator, Apply("item", (name, held)), right)
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
            _refuse(node, "a value that nobody uses.")
        if _is_method(call):
            return self.method(call)[0]
        if isinstance(call.func, ast.Name) and call.func.id in _STATEMENTS:
            return self.said(call, call.func.id)
        _refuse(node, "a value that nobody uses.")

    def said(self, call: ast.Call, word: str) -> list[Statement]:
        parts = [self.expression(argument) for argument in call.args]
        if call.keywords or not parts or any(before for before, _ in parts):
            _refuse(call, f"{word} takes plain expressions, without noise in them.")
        values = tuple(value for _, value in parts)
        if word == "assume":
            return [Assume(value, call.lineno) for value in values]
        return [Hint(word, values, call.lineno)]

    def _if(self, node: ast.If) -> list[Statement]:
        before, condition = self.expression(node.test)
        return [*before, If(condition, self.block(node.body), self.block(node.orelse), node.lineno)]

    def _while(self, node: ast.While) -> list[Statement]:
        if node.orelse:
            _refuse(node, "a loop has no else here.")
        before, condition = self.expression(node.test)
        return self.loop(node, before, condition, node.body, after=[])

    def _for(self, node: ast.For) -> list[Statement]:
        if node.orelse:
            _refuse(node, "a loop has no else here.")
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
                _refuse(node, "write for name in range(end) or range(first, end).")
            before = [statement for one, _ in values for statement in one]
            if len(values) == 2:
                first = values[0][1]
            end = self.kept(values[-1][1], before, node)
            inside = self.store(node.target, Variable(counter))
            return [*before, Assign(counter, first, line)], counter, end, inside
        sources, numbered = self.sources(source)
        kept: list[Expression] = []
        for one in sources:
            more, value = self.expression(one)
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

    def sources(self, source: ast.expr) -> tuple[list[ast.expr], bool]:
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and not source.keywords:
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
            _refuse(node, f"write {wanted} names before `in`.")
        return node.target.elts

    def kept(self, value: Expression, before: list[Statement], node: ast.For) -> Expression:
        """Python looks at what a loop runs over once; what the loop changes must be held."""
        from privately.proving.language.syntax import free_variables

        stored = {
            one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name) and _is_stored(one)
        } | {one.func.value.id for part in node.body for one in ast.walk(part) if _is_method(one)}
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
            _refuse(node, "there is no loop to leave.")
        self.loops[-1].leaves = True
        return [Assign(self.loops[-1].leave, TRUE, node.lineno)]

    def _continue(self, node: ast.Continue) -> list[Statement]:
        if not self.loops:
            _refuse(node, "there is no loop to go on with.")
        self.loops[-1].skips = True
        return [Assign(self.loops[-1].skip, TRUE, node.lineno)]

    # Expressions: what must happen before, and the value

    def expression(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        result: tuple[list[Statement], Expression] = self.nested(node, self.plain)
        return result

    def plain(self, node: ast.expr) -> tuple[list[Statement], Expression]:
        match node:
            case ast.Constant(value=bool() | int() as value):
                return [], Constant(value)
            case ast.Constant(value=float() as value):
                text = (ast.get_source_segment(self.source, node) or repr(value)).replace("_", "")
                return [], Constant(_whole_if_so(_fraction(node, text)))
            case ast.Name():
                return [], self.variable(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.applied("negative", [operand])
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.expression(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.applied("not", [operand])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
                return self.binary(_BINARY[type(operator)], left, right)
            case ast.BoolOp():
                return self.logic(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choice(node, test, body, orelse)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self.applied("list", items)
            case ast.Subscript(value=value, slice=ast.Slice() as cut):
                return self.cut(value, cut)
            case ast.Subscript(value=value, slice=place):
                return self.applied("item", [value, place])
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case ast.Call():
                return self.call(node)
            case _:
                _refuse(node, f"{_word(node)} is not part of the language.")

    def variable(self, node: ast.Name) -> Variable:
        if node.id not in self.names:
            if node.id in _RESERVED:
                _refuse(node, f"{node.id!r} may only be called.")
            _refuse(node, f"{node.id!r} has no value here.")
        return Variable(node.id)

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
                return operator in _LISTS
            case Each():
                return True
            case Variable(name):
                return name in self.lists
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
            both = (later, ()) if operator == "and" else ((), later)
            before += [Assign(held, value, node.lineno), If(Variable(held), *both, node.lineno)]
            value = Variable(held)
        return before, value

    def comparison(self, node: ast.Compare) -> tuple[list[Statement], Expression]:
        parts = [self.expression(one) for one in (node.left, *node.comparators)]
        before = [statement for one, _ in parts for statement in one]
        values = [value for _, value in parts]
        found: list[Expression] = []
        for place, operator in enumerate(node.ops):
            pair = (values[place], values[place + 1])
            if isinstance(operator, ast.NotIn):
                found.append(Apply("not", (Apply("in", pair),)))
            elif type(operator) in _COMPARISONS:
                found.append(Apply(_COMPARISONS[type(operator)], pair))
            else:
                _refuse(node, f"{_word(operator)} is not part of the language.")
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
            _refuse(value, "a part of a list has no step here.")
        before, whole = self.expression(value)
        more, first = self.expression(cut.lower) if cut.lower else ([], Constant(0))
        most, end = self.expression(cut.upper) if cut.upper else ([], Apply("length", (whole,)))
        return [*before, *more, *most], Apply("part", (whole, first, end))

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[list[Statement], Expression]:
        generator = node.generators[0]
        if len(node.generators) != 1 or generator.is_async or not isinstance(generator.target, ast.Name):
            _refuse(node, "a list is made over one name.")
        name = generator.target.id
        _check_name(generator.target, name)
        if name in self.names:
            _refuse(node, f"{name!r} has a value already; take another name inside the brackets.")
        before, source = self.expression(generator.iter)
        self.names.add(name)
        conditions = [self.expression(one) for one in generator.ifs]
        inside, element = self.expression(node.elt)
        self.names.discard(name)
        if any(more for more, _ in conditions):
            _refuse(node, "no noise in the condition of a list.")
        condition: Expression = TRUE
        for _, one in conditions:
            condition = one if condition == TRUE else Apply("and", (condition, one))
        if not inside:
            return before, Each(element, name, source, condition)
        return self.drawn_list(node, name, [*before], source, condition, inside, element)

    def drawn_list(
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
        inside = [_renamed(one, name, entry) for one in inside]
        element, condition = _renamed_in(element, name, entry), _renamed_in(condition, name, entry)
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

    def call(self, node: ast.Call) -> tuple[list[Statement], Expression]:
        if _is_method(node):
            _refuse(node, "a list is changed inside an expression.", "Write name = values.pop() on a line of its own.")
        if not isinstance(node.func, ast.Name):
            _refuse(node, "only named functions may be called.")
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            _refuse(node, "arguments are given by position.")
        name = node.func.id
        if name in LAWS:
            return self.drawn(node, name)
        if name in _FUNCTIONS:
            if not node.args:
                _refuse(node, f"{name} of nothing.")
            if name in {"abs", "len", "sum"} and len(node.args) != 1:
                _refuse(node, f"{name} takes one argument.")
            return self.applied(_FUNCTIONS[name], node.args)
        if name == "Fraction" and len(node.args) in {1, 2}:
            return self.applied("/", node.args) if len(node.args) == 2 else self.expression(node.args[0])
        if name == "list" and len(node.args) <= 1:
            return self.expression(node.args[0]) if node.args else ([], Apply("list", ()))
        if name == "range" and len(node.args) in {1, 2}:
            zero = ast.copy_location(ast.Constant(0), node)
            return self.applied("numbers", node.args if len(node.args) == 2 else [zero, *node.args])
        if name == self.function.name:
            _refuse(node, "a program does not call itself.", "Write a loop.")
        if name in self.names:
            return self.unknown(node, name)
        _refuse(node, f"the function {name!r} is unknown.")

    def unknown(self, node: ast.Call, name: str) -> tuple[list[Statement], Expression]:
        """A public parameter that is called is a function of which nothing is known."""
        before, value = self.applied("function", node.args)
        assert isinstance(value, Apply)
        return before, Apply("function", (Constant(name), *value.operands))

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
            _refuse(node, f"{law} takes {wanted} argument{'s' * (wanted != 1)}.")
        before, value = self.applied("list", arguments)
        assert isinstance(value, Apply)
        name = self.name()
        found = [*before, Sample(name, law, value.operands, node.lineno)]
        if centre is None:
            return found, Variable(name)
        more, place = self.expression(centre)
        return [*more, *found], Apply("+", (place, Variable(name)))

    def method(self, node: Any) -> tuple[list[Statement], Expression | None]:
        """`append` and `pop` of a named list; each makes another list of that name."""
        name, word = self.variable(node.func.value), node.func.attr
        if node.keywords or (word == "append" and len(node.args) != 1) or len(node.args) > 1:
            _refuse(node, f"{word} with other arguments is not part of the language.")
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
        _refuse(node, f"lists have no {word!r} here.", "There are append and pop.")

    def name(self) -> str:
        """A name that no text can hold."""
        self.fresh += 1
        return f"#{self.fresh}"


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


def _may_leave(node: ast.AST) -> bool:
    """Whether a statement holds a break or continue of the loop that it stands in."""
    if isinstance(node, (ast.Break, ast.Continue)):
        return True
    return isinstance(node, ast.If) and any(_may_leave(one) for one in (*node.body, *node.orelse))


def _is_method(node: Any) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    )


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _list_names(function: ast.FunctionDef) -> frozenset[str]:
    """Names that the text treats as lists: measured, indexed, run over, appended to, or made from lists."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name)) | ast.For(iter=ast.Name(id=name)):
                found.add(name)
            case ast.comprehension(iter=ast.Name(id=name)):
                found.add(name)
            case ast.Call(func=ast.Name(id="len" | "sum" | "enumerate" | "zip" | "list")):
                found |= {one.id for one in node.args if isinstance(one, ast.Name)}
            case ast.Call(func=ast.Name(id="max" | "min"), args=[ast.Name(id=name)]):
                found.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.ListComp() | ast.Tuple()):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def _declared(annotation: ast.expr) -> Any:
    """The meaning of an annotation: a neighbourhood, a domain, the word private, or nothing."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    match annotation:
        case ast.Name(id="private"):
            return "private"
        case ast.Name(id="positive"):
            return declarations.POSITIVE
        case ast.Name(id="int" | "float" | "Fraction" | "bool" | "public"):
            return None
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]) if word in declarations.WORDS:
            values = [_declared(one) if isinstance(one, ast.Call) else _literal(one) for one in arguments]
            try:
                return declarations.WORDS[word](*values)
            except (TypeError, InvalidParameter) as error:
                _refuse(annotation, f"{word}: {error}")
    _refuse(annotation, "this annotation is unknown.", f"Use {', '.join(declarations.WORDS)}.")


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_literal(operand)
        case ast.BinOp(left=left, op=ast.Div(), right=right) if _literal(right):
            return Fraction(_literal(left)) / Fraction(_literal(right))
    _refuse(node, "give a number.")


def _renamed(statement: Statement, old: str, new: str) -> Statement:
    match statement:
        case Assign(name, value):
            return replace(statement, name=name, value=_renamed_in(value, old, new))
        case Sample(_, _, arguments):
            return replace(statement, arguments=tuple(_renamed_in(one, old, new) for one in arguments))
        case If(condition, then, otherwise):
            return replace(
                statement,
                condition=_renamed_in(condition, old, new),
                then=tuple(_renamed(one, old, new) for one in then),
                otherwise=tuple(_renamed(one, old, new) for one in otherwise),
            )
        case While(condition, body):
            return replace(
                statement,
                condition=_renamed_in(condition, old, new),
                body=tuple(_renamed(one, old, new) for one in body),
            )
        case _:
            return statement


def _renamed_in(value: Expression, old: str, new: str) -> Expression:
    match value:
        case Variable(name) if name == old:
            return Variable(new)
        case Apply(operator, operands):
            return Apply(operator, tuple(_renamed_in(one, old, new) for one in operands))
        case Each(element, variable, source, condition):
            shadowed = variable == old
            return Each(
                element if shadowed else _renamed_in(element, old, new),
                variable,
                _renamed_in(source, old, new),
                condition if shadowed else _renamed_in(condition, old, new),
            )
        case _:
            return value


def _fraction(node: ast.expr, text: str) -> Fraction:
    try:
        return Fraction(text)
    except ValueError:
        _refuse(node, f"the number {text} is not finite.")


def _whole_if_so(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def _check_name(node: ast.AST, name: str) -> None:
    if name in _RESERVED or name == "private":
        _refuse(node, f"{name!r} has a meaning already.")
    if name.startswith("__"):
        _refuse(node, f"the name {name!r} begins with two underscores.")


def _word(node: ast.AST) -> str:
    return type(node).__name__


def _refuse(node: Any, message: str, hint: str = "") -> NoReturn:
    where = f"line {node.lineno}: " if node is not None and hasattr(node, "lineno") else ""
    raise NotSupported(f"{where}{message}", hint=hint)
