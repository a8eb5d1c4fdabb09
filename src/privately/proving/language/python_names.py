"""The words of Python that the language knows, and small questions about a syntax tree."""

from __future__ import annotations

import ast
from typing import Any

from privately.proving.language.laws import LAWS
from privately.proving.language.refusals import refusal

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitXor: "xor",
}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in"}
FUNCTIONS = {"abs": "absolute", "len": "length", "sum": "total", "min": "least", "max": "largest"}
STATEMENTS = {"assume", "invariant", "align"}
WHOLE_LAWS = {name for name, law in LAWS.items() if law.support in {"integers", "naturals"}}
RESERVED = {*LAWS, *FUNCTIONS, *STATEMENTS, "range", "list", "Fraction", "enumerate", "zip"}
INSTEAD = {
    "int": "Write x // 1, which rounds down.",
    "round": "Write (x + 1/2) // 1, which rounds halves up.",
    "float": "Numbers are exact as they are.",
    "bool": "Compare: x != 0.",
    "any": "Write a loop.",
    "all": "Write a loop.",
    "sorted": "Write a loop.",
}
"""What to write for functions of Python that the language does not have."""
LIST_OPERATORS = {"list", "joined", "replaced", "without", "repeated", "numbers", "part"}


def check_name(node: ast.AST, name: str) -> None:
    """Refuses a name that would hide a word of the language."""
    if name in RESERVED or name == "private":
        raise refusal(node, f"{name!r} has a meaning already.")
    if name.startswith("__"):
        raise refusal(node, f"the name {name!r} begins with two underscores.")


def word(node: ast.AST) -> str:
    """What Python calls a piece of syntax; of an operation its operator, of a constant what it is."""
    match node:
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator):
            return type(operator).__name__
        case ast.Constant(value=value):
            return f"the constant {ascii(value)[:20]}"
        case _:
            return type(node).__name__


def levels_of(node: ast.AST) -> int:
    """How deep its own parts will stand: the operands of a chain come to stand inside one another."""
    match node:
        case ast.BoolOp(values=operands) | ast.Compare(comparators=operands):
            return len(operands)
        case ast.ListComp(generators=[over, *_]) | ast.GeneratorExp(generators=[over, *_]):
            return 1 + len(over.ifs)
        case _:
            return 1


def is_method(node: Any) -> bool:
    """Whether a method of a named list is called."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)


def names_in(node: ast.AST) -> set[str]:
    """All names that the text uses."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def is_stored(node: ast.Name) -> bool:
    """Whether the name gets a value here."""
    return isinstance(node.ctx, ast.Store)


def copied(node: ast.expr) -> ast.expr:
    """What list(...) is a copy of, or the expression itself."""
    match node:
        case ast.Call(func=ast.Name(id="list"), args=[inside], keywords=[]):
            return inside
        case _:
            return node


def drawn_names(function: ast.FunctionDef) -> frozenset[str]:
    """Names that are nothing but draws of whole numbers."""
    stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and is_stored(node)]
    drawn = [name for node in ast.walk(function) for name in _drawn(node)]
    given = {one.arg for one in function.args.args}
    return frozenset(name for name in drawn if drawn.count(name) == stored.count(name)) - given


def _drawn(node: ast.AST) -> list[str]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=law))) if law in WHOLE_LAWS:
            return [name]
        case _:
            return []


def list_names(function: ast.FunctionDef) -> frozenset[str]:
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
    return _with_what_is_made_of_them(function, found)


def _with_what_is_made_of_them(function: ast.FunctionDef, found: set[str]) -> frozenset[str]:
    """Names that get the value of a name that is a list are lists too."""
    assigned = [
        (node.targets[0].id, node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    while True:
        more = {
            name
            for name, value in assigned
            for part in ([value.body, value.orelse] if isinstance(value, ast.IfExp) else [value])
            if isinstance(part, ast.Name) and part.id in found
        }
        if more <= found:
            return frozenset(found)
        found |= more
