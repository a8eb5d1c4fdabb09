"""Lists that are changed in place must have one name: Python would tell two names for one list apart, we do not."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from privately.proving.language.python_names import is_method
from privately.proving.language.refusals import refusal

_LOOKS = {"len", "sum", "min", "max", "list", "abs", "enumerate", "zip", "range"}
_COPY = "Copy it: list(...)."


def forbid_aliases(function: ast.FunctionDef, lists: frozenset[str]) -> None:
    """A list that is changed in place is made afresh, is no input, and is put nowhere else while it can change."""
    changed = changed_in_place(function.body, lists)
    for parameter in function.args.args:
        if parameter.arg in changed:
            raise refusal(parameter, f"{parameter.arg!r} is an input and stays as it is.", _COPY)
    returned = {id(one) for node in ast.walk(function) if isinstance(node, ast.Return) for one in ast.walk(node)}
    for parent in ast.walk(function):
        _check_stores(parent, changed)
        if id(parent) in returned:  # nothing changes any more
            continue
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.Name) and child.id in changed and isinstance(child.ctx, ast.Load):
                _check_load(parent, child)


def changed_in_place(body: Iterable[ast.AST], lists: frozenset[str]) -> set[str]:
    """Names of lists that some statement changes without making a new one."""
    found: set[str] = set()
    nodes: list[Any] = [node for statement in body for node in ast.walk(statement)]
    for node in nodes:
        if is_method(node):
            found.add(node.func.value.id)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif (
            isinstance(node, ast.AugAssign)
            and isinstance(node.target, ast.Name)
            and (node.target.id in lists or _is_list(node.value, lists))
        ):
            found.add(node.target.id)
    return found


def _check_stores(node: ast.AST, changed: set[str]) -> None:
    """Only fresh lists get a name that is changed in place."""
    if isinstance(node, (ast.For, ast.comprehension)):
        targets, value = [node.target], None
    elif isinstance(node, ast.Assign):
        targets, value = list(node.targets), node.value
    elif isinstance(node, ast.AnnAssign):
        targets, value = [node.target], node.value
    else:
        return
    for target in targets:
        for place, name in enumerate(target.elts if isinstance(target, ast.Tuple) else [target]):
            if not isinstance(name, ast.Name) or name.id not in changed:
                continue
            given = value.elts[place] if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else value
            if not _is_fresh(given):
                raise refusal(name, f"{name.id!r} would be another name for a list that is changed later.", _COPY)


def _is_fresh(value: ast.AST | None) -> bool:
    match value:
        case ast.List() | ast.ListComp() | ast.BinOp():
            return True
        case ast.Call(func=ast.Name(id="list")):
            return True
        case ast.Subscript(slice=ast.Slice()):
            return True
        case _:
            return False


def _check_load(parent: ast.AST, name: ast.Name) -> None:
    """A list that is changed in place may be looked at, combined into a new one, or returned."""
    match parent:
        case ast.Subscript(value=value) if value is name:
            return
        case ast.Attribute() | ast.Compare() | ast.BinOp() | ast.For() | ast.comprehension():
            return
        case ast.Call(func=ast.Name(id=word)) if word in _LOOKS:
            return
        case ast.AugAssign():
            return
        case _:
            raise refusal(name, f"{name.id!r} would be one list in two places, and it is changed.", _COPY)


def _is_list(value: ast.AST, lists: frozenset[str]) -> bool:
    match value:
        case ast.List() | ast.ListComp() | ast.Subscript(slice=ast.Slice()):
            return True
        case ast.Name(id=name):
            return name in lists
        case ast.BinOp(left=left, right=right):
            return _is_list(left, lists) or _is_list(right, lists)
        case ast.Call(func=ast.Name(id="list")):
            return True
        case _:
            return False
