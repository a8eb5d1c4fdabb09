"""Other spellings of a program, each with the same meaning."""

import ast
from collections.abc import Callable
from itertools import combinations

Rewrite = Callable[[ast.FunctionDef], None]


def rewritten(text: str, rewrite: Rewrite) -> str:
    """The text with its function rewritten."""
    module = ast.parse(text)
    function = next(node for node in module.body if isinstance(node, ast.FunctionDef))
    rewrite(function)
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


def _locals(function: ast.FunctionDef) -> set[str]:
    inputs = {one.arg for one in function.args.args}
    return {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - inputs


def rename(function: ast.FunctionDef) -> None:
    """Every variable gets another name."""
    names = {name: f"w{place}_{name[::-1]}" for place, name in enumerate(sorted(_locals(function)))}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


class _Negate(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        denied = ast.UnaryOp(ast.Not(), node.test)
        return ast.If(denied, node.orelse or [ast.Pass()], node.body)


_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


class _Turn(ast.NodeTransformer):
    """Comparisons without noise on both sides, the other way round."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in _TURNED:
            return node
        return ast.Compare(node.comparators[0], [_TURNED[type(node.ops[0])]()], [node.left])


class _Append(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
            name = call.func.value
            assert isinstance(name, ast.Name)
            longer = ast.BinOp(ast.Name(name.id, ast.Load()), ast.Add(), ast.List(call.args, ast.Load()))
            return ast.Assign([ast.Name(name.id, ast.Store())], longer)
        return node


class _Augmented(ast.NodeTransformer):
    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        whole = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.Assign([node.target], whole)


class _Indices(ast.NodeTransformer):
    """`for v in x` as `for i in range(len(x))`."""

    def __init__(self) -> None:
        self.count = 0

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.iter, ast.Name):
            return node
        self.count += 1
        place = f"place{self.count}"
        entry = ast.Subscript(ast.Name(node.iter.id, ast.Load()), ast.Name(place, ast.Load()), ast.Load())
        length = ast.Call(ast.Name("len", ast.Load()), [node.iter], [])
        bounds = ast.Call(ast.Name("range", ast.Load()), [length], [])
        return ast.For(ast.Name(place, ast.Store()), bounds, [ast.Assign([node.target], entry), *node.body], [])


class _Whiles(ast.NodeTransformer):
    """`for i in range(n)` as a `while` whose counter begins at 1 or, unshifted, at 0."""

    def __init__(self, shift: int) -> None:
        self.count, self.shift = 0, shift

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        source = node.iter
        leaves = any(isinstance(one, ast.Continue) for one in ast.walk(node))
        is_range = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
        if leaves or not is_range or len(source.args) != 1:  # type: ignore[attr-defined]  # a call
            return node
        self.count += 1
        name = f"counter{self.count}"
        counter = ast.Name(name, ast.Load())
        end = ast.BinOp(source.args[0], ast.Add(), ast.Constant(self.shift))  # type: ignore[attr-defined]  # a call
        value = ast.BinOp(counter, ast.Sub(), ast.Constant(self.shift))
        step = ast.Assign([ast.Name(name, ast.Store())], ast.BinOp(counter, ast.Add(), ast.Constant(1)))
        body = [ast.Assign([node.target], value), *node.body, step]
        loop = ast.While(ast.Compare(counter, [ast.Lt()], [end]), body, [])
        return [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(self.shift)), loop]


class _Breaks(ast.NodeTransformer):
    """`while c` as `while True` with a way out."""

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node
        out = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
        return ast.While(ast.Constant(value=True), [out, *node.body], [])


class _Temporaries(ast.NodeTransformer):
    """The condition of every `if` is held in a variable first."""

    def __init__(self) -> None:
        self.count = 0

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        self.generic_visit(node)
        self.count += 1
        held = f"held{self.count}"
        return [
            ast.Assign([ast.Name(held, ast.Store())], node.test),
            ast.If(ast.Name(held, ast.Load()), node.body, node.orelse),
        ]


class _Sums(ast.NodeTransformer):
    """a - b as -b + a, where no draw changes its place."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        plain = not any(isinstance(one, ast.Call) for one in ast.walk(node))
        if isinstance(node.op, ast.Sub) and plain:
            return ast.BinOp(ast.UnaryOp(ast.USub(), node.right), ast.Add(), node.left)
        return node


def by(transformer: Callable[[], ast.NodeTransformer]) -> Rewrite:
    """A rewrite from a transformer."""

    def rewrite(function: ast.FunctionDef) -> None:
        function.body = [
            one
            for statement in function.body
            for result in [transformer_of.visit(statement)]
            for one in (result if isinstance(result, list) else [result])
        ]

    transformer_of = transformer()
    return rewrite


def useless(function: ast.FunctionDef) -> None:
    """A variable that nobody reads."""
    function.body.insert(0, ast.parse("useless = 3 + 4").body[0])


def certain(function: ast.FunctionDef) -> None:
    """Everything inside a condition that holds."""
    function.body = [ast.If(ast.parse("1 < 2", mode="eval").body, function.body, function.body)]


def reorder(function: ast.FunctionDef) -> None:
    """Constants that are assigned one after another, the other way round."""
    run = 0
    while run < len(function.body) and _is_constant(function.body[run]):
        run += 1
    function.body[:run] = reversed(function.body[:run])


class _Returns(ast.NodeTransformer):
    """What is returned is held in a variable first, unless it is or holds one: a list has one name only."""

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        if node.value is None or isinstance(node.value, (ast.Name, ast.List)):
            return node
        answer = ast.Assign([ast.Name("answer", ast.Store())], node.value)
        return [answer, ast.Return(ast.Name("answer", ast.Load()))]


def idle(function: ast.FunctionDef) -> None:
    """A loop that never goes round."""
    _behind_assumptions(function, "for nobody in range(0):\n    idle = nobody")


def unread(function: ast.FunctionDef) -> None:
    """A draw that nobody reads."""
    _behind_assumptions(function, "unread = flip(1/3)")


def _behind_assumptions(function: ast.FunctionDef, text: str) -> None:
    place = 0
    while place < len(function.body) and "assume(" in ast.unparse(function.body[place]):
        place += 1
    function.body[place:place] = ast.parse(text).body


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and (
        isinstance(node.value, ast.Constant) or (isinstance(node.value, ast.List) and not node.value.elts)
    )


REWRITES: dict[str, Callable[[], Rewrite]] = {
    "names": lambda: rename,
    "denied guards": lambda: by(_Negate),
    "turned comparisons": lambda: by(_Turn),
    "concatenation": lambda: by(_Append),
    "plain assignments": lambda: by(_Augmented),
    "indices": lambda: by(_Indices),
    "while for for": lambda: by(lambda: _Whiles(0)),
    "shifted counters": lambda: by(lambda: _Whiles(1)),
    "ways out": lambda: by(_Breaks),
    "temporaries": lambda: by(_Temporaries),
    "turned sums": lambda: by(_Sums),
    "a useless variable": lambda: useless,
    "a certain condition": lambda: certain,
    "another order": lambda: reorder,
    "returns by a name": lambda: by(_Returns),
    "an idle loop": lambda: idle,
    "an unread draw": lambda: unread,
}


def variants(text: str, least: int = 10) -> dict[str, str]:
    """Other texts of a program, all different: each rewrite that changes it, then two or three at once until there are
    so many."""
    plain = rewritten(text, lambda _: None)
    found: dict[str, str] = {}
    for count in (1, 2, 3):
        for names in combinations(REWRITES, count):
            if count > 1 and len(found) >= least:
                return found
            changed = plain
            for name in names:
                changed = rewritten(changed, REWRITES[name]())
            if changed != plain and changed not in found.values():
                found[", ".join(names)] = changed
    return found
