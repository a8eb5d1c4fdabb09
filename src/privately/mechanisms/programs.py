"""Mechanisms as texts: restricted Python functions that a prover can read and that run as they stand.

A program is one function. Parameters annotated `private` differ between neighbours; all others are public. Noise comes
from the primitives below and from nowhere else; values are integers, fractions, booleans and lists of them. No name of
a function can be given another meaning, so a text does what it says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from types import CodeType
from typing import Any, NoReturn

from privately.errors import InvalidParameter
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, RoundedNormal
from privately.mechanisms.randomness import Randomness, flip_exp

PRIMITIVES = (
    "discrete_laplace",
    "discrete_exponential",
    "rounded_gaussian",
    "discrete_gaussian",
    "flip",
    "flip_exp",
    "uniform",
)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "len": len,
    "max": max,
    "min": min,
    "range": range,
    "sum": sum,
    "Fraction": Fraction,
}
METHODS = ("append", "pop")
RESERVED = {*PRIMITIVES, *FUNCTIONS, "private"}
_WORDS = """
Return Assign AugAssign Expr For While If Break Continue Pass Load Store
Compare BoolOp BinOp UnaryOp IfExp Call Subscript Slice List Tuple ListComp comprehension Name Constant Attribute
Add Sub Mult Div FloorDiv Mod Pow USub UAdd Not And Or Eq NotEq Lt LtE Gt GtE In NotIn
"""
_GRAMMAR = frozenset(_WORDS.split())


@dataclass(frozen=True)
class Program:
    """One restricted function.

    >>> program = Program('''
    ... def count(total: private, scale):
    ...     return total + discrete_laplace(scale)
    ... ''')
    >>> program.name, program.private
    ('count', ('total',))
    """

    source: str

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise InvalidParameter("source", "must be a text.")
        object.__setattr__(self, "source", self.source.strip() + "\n")
        _check(self.tree)
        _ = self.code

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """Its one function, parsed."""
        module = _understood(lambda: ast.parse(self.source))
        if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef):
            raise InvalidParameter("source", "must be one function.")
        return module.body[0]

    @cached_property
    def code(self) -> CodeType:
        """What Python makes of it."""
        code: CodeType = _understood(lambda: compile(self.source, f"<program {self.name}>", "exec", dont_inherit=True))
        return code

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.tree.name

    @property
    def private(self) -> tuple[str, ...]:
        """The parameters that differ between neighbours."""
        return tuple(parameter.arg for parameter in self.tree.args.args if parameter.annotation is not None)

    def run(self, inputs: Mapping[str, Any], randomness: Randomness) -> Any:
        """Call it, with noise from there. The inputs stay as they are."""
        names: dict[str, Any] = {**FUNCTIONS, **primitives(randomness), "private": None, "__builtins__": {}}
        exec(self.code, names)  # noqa: S102  (checked above: no way out)
        return names[self.name](**deepcopy(dict(inputs)))


def primitives(randomness: Randomness) -> dict[str, Callable[..., Any]]:
    """The sources of noise, one draw at a time."""
    return {
        "discrete_laplace": lambda scale: int(randomness.draw(DiscreteLaplace(scale=_exact(scale)), size=1)[0]),
        "discrete_exponential": lambda scale: int(randomness.draw(DiscreteExponential(scale=_exact(scale)), size=1)[0]),
        "rounded_gaussian": lambda deviation: int(
            randomness.draw(RoundedNormal(standard_deviation=_exact(deviation)), size=1)[0]
        ),
        "discrete_gaussian": lambda variance: int(
            randomness.draw(DiscreteGaussian(variance=_exact(variance)), size=1)[0]
        ),
        "flip": lambda probability: bool(randomness.bernoulli(probability=_exact(probability), size=1)[0]),
        "flip_exp": lambda exponent: flip_exp(_exact(exponent), randomness),
        "uniform": lambda upper: int(randomness.uniform(upper=upper, size=1)[0]),
    }


def _exact(value: Any) -> Fraction:
    """No float gets into noise: dividing two integers makes one, where `Fraction(a) / b` was meant."""
    if not isinstance(value, Rational):
        raise InvalidParameter("source", f"{value!r} is not exact; write Fraction(a) / b for a quotient.")
    return Fraction(value)


def _understood(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except SyntaxError as error:
        raise InvalidParameter("source", f"line {error.lineno}: {error.msg}.") from None
    except (ValueError, RecursionError, MemoryError):
        raise InvalidParameter("source", "cannot be read by Python.") from None


def _check(function: ast.FunctionDef) -> None:
    """Refuse, with the line, whatever a program may not hold."""
    _check_signature(function)
    body = function.body[1:] if ast.get_docstring(function) else function.body
    nodes = [node for statement in body for node in ast.walk(statement)]
    _check_words(function, body)
    for node in nodes:
        _check_words(node, ast.iter_child_nodes(node))
    known = set(_bound(function, nodes))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Call):
            _check_call(node)
        elif id(node) in called:
            continue
        elif isinstance(node, ast.Attribute):
            _refuse(node, f"{node.attr!r} may only be called.")
        elif isinstance(node, ast.Name) and node.id not in known:
            _refuse(node, f"{node.id!r} is no variable.")


def _check_words(node: ast.AST, parts: Iterable[ast.AST]) -> None:
    """Operators do not know their line, but what they are a part of does."""
    for part in parts:
        if type(part).__name__ not in _GRAMMAR:
            _refuse(part if hasattr(part, "lineno") else node, f"{type(part).__name__} is not part of the language.")
    if isinstance(node, ast.Constant) and type(node.value) not in {int, bool}:
        _refuse(node, f"the constant {node.value!r} is neither whole nor true or false.")
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        _refuse(node, "a loop has no else here.")


def _check_signature(function: ast.FunctionDef) -> None:
    taken = function.args
    if taken.posonlyargs or taken.kwonlyargs or taken.vararg or taken.kwarg or taken.defaults or function.returns:
        _refuse(function, "parameters are plain names, without defaults, and at most marked private.")
    if function.decorator_list or getattr(function, "type_params", []):
        _refuse(function, "decorators and type parameters are not part of the language.")
    for parameter in taken.args:
        mark = parameter.annotation
        if mark is not None and not (isinstance(mark, ast.Name) and mark.id == "private"):
            _refuse(parameter, "the only mark of a parameter is private.")


def _bound(function: ast.FunctionDef, nodes: list[ast.AST]) -> Iterator[str]:
    """All names that get a value; none of them may be one that has a meaning already."""
    named: list[tuple[ast.AST, str]] = [(function, function.name)]
    named += [(parameter, parameter.arg) for parameter in function.args.args]
    named += [(node, node.id) for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for place, (node, name) in enumerate(named):
        if name.startswith("_"):
            _refuse(node, f"the name {name!r} begins with an underscore.")
        if name in RESERVED or (place and name == function.name):
            _refuse(node, f"{name!r} has a meaning already.")
        if place:
            yield name


def _check_call(call: ast.Call) -> None:
    function = call.func
    if isinstance(function, ast.Attribute):
        if function.attr not in METHODS or not isinstance(function.value, ast.Name):
            _refuse(call, f"only lists with a name have methods, and no {function.attr!r} is among them.")
    elif not isinstance(function, ast.Name):
        _refuse(call, "only named functions may be called.")
    elif function.id not in RESERVED - {"private"}:
        _refuse(call, f"the function {function.id!r} is unknown.")
    elif function.id in PRIMITIVES and len(call.args) != 1:
        _refuse(call, f"{function.id} takes one argument.")


def _refuse(node: Any, message: str) -> NoReturn:
    raise InvalidParameter("source", f"line {node.lineno}: {message}")
