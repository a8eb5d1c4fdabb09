"""Runs a text with Python itself, for every way its draws can fall; numbers stay exact.

Python divides whole numbers in floats, so dividends and bases of powers become exact numbers first, and decimals are
what is written. Nothing else of the text is changed, but for a limit to its rounds.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from types import CodeType
from typing import Any

from tests.proving.differential.choices import CUT, Excluded, Law, Ways


class Exact(Fraction):
    """A fraction whose sums, products and so on are of its kind, and that counts places of lists where it is whole."""

    def __index__(self) -> int:
        if self.denominator != 1:
            raise TypeError
        return self.numerator

    def __xor__(self, other: Any) -> int:
        return operator.index(self) ^ operator.index(other)

    __rxor__ = __xor__


def _kept(name: str) -> Callable[..., Any]:
    method = getattr(Fraction, name)

    def changed(*operands: Any) -> Any:
        value = method(*operands)
        return Exact(value) if isinstance(value, Fraction) else value

    return changed


for _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
    setattr(Exact, f"__{_name}__", _kept(f"__{_name}__"))
    setattr(Exact, f"__r{_name}__", _kept(f"__r{_name}__"))
for _name in ("neg", "pos", "abs"):
    setattr(Exact, f"__{_name}__", _kept(f"__{_name}__"))


class _Exactly(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _call("exact", ast.Constant(repr(node.value))) if isinstance(node.value, float) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div | ast.Pow):
            node.left = _call("exact", node.left)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            node.value = _call("exact", node.value)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("tick")))
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.iter = _call("counted", node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _call("counted", node.iter)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"_{name}_", ast.Load()), list(arguments), [])


@cache
def compiled(text: str) -> CodeType:
    """The text with exact numbers."""
    tree = _Exactly().visit(ast.parse(text))
    return compile(ast.fix_missing_locations(tree), "<drawn program>", "exec")


def function_of(text: str, words: Mapping[str, Any], tick: Callable[[], None]) -> Callable[..., Any]:
    """The function that the text defines, whose draws are these."""

    def counted(entries: Iterable[Any]) -> Iterator[Any]:
        for one in entries:
            tick()
            yield one

    names: dict[str, Any] = {**words, "Fraction": Exact, "assume": _assume, "invariant": _said, "align": _said}
    names |= {"_exact_": _exact, "_tick_": tick, "_counted_": counted}
    exec(compiled(text), names)
    function: Callable[..., Any] = names["f"]
    return function


def given(value: Any) -> Any:
    """An input as a program gets it: lists of its own."""
    if isinstance(value, tuple):
        return [given(one) for one in value]
    return Exact(value) if value.denominator != 1 else int(value)


def law_of_python(text: str, inputs: Mapping[str, Any], cut: Fraction = CUT) -> Law:
    """The law of what Python returns."""
    ways = Ways(cut)
    function = function_of(text, ways.samplers(), ways.tick)
    return ways.all(lambda: function(**{name: given(value) for name, value in inputs.items()}))


def _exact(value: Any) -> Any:
    if isinstance(value, float) or not isinstance(value, int | Fraction | str):
        raise TypeError
    return Exact(value)


def _assume(condition: Any) -> None:
    if not condition:
        raise Excluded


def _said(*_: Any) -> None:
    return None
