"""What can be written: every node of the tables in `privately.query`, with the kinds of operands that it takes.

Nothing is listed here by hand but a few odd shapes. A node is tried with operands of every kind, and what the binder
takes is what is drawn; so a node or function that is supported from now on is drawn from now on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from sqlglot import Dialect, exp

from privately.errors import Refused
from privately.plans import Column, Expression, Known, Scan, Table, Type, Unit
from privately.query.binding.aggregates import AGGREGATES, Aggregates
from privately.query.binding.expressions import BINDERS, DATE_PARTS, NAMED, TYPES, Scope, bind_expression
from privately.query.binding.names import Binding, Name, Names
from privately.query.grammar import UNDERSTOOD
from privately.query.parsing import parse
from privately.query.spans import Source

Sort: TypeAlias = tuple[Type, bool]
"""A type, and of numbers whether they are known to be small."""

Operand: TypeAlias = Sort | str
"""A sort, or the name of a kind of constant."""

Build: TypeAlias = Callable[[Sequence[exp.Expr]], exp.Expr]
Shape: TypeAlias = tuple[str, int, Build]
"""A form of a node, how many operands it takes, and how it is made of them."""

SMALL = 2**40
SORTS: tuple[Sort, ...] = (
    *((Type.INTEGER, True), (Type.INTEGER, False), (Type.REAL, True), (Type.REAL, False)),
    *((kind, True) for kind in (Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP)),
)
CONSTANTS: dict[str, Sequence[str]] = {
    "whole": ("1", "0", "2", "3", "7"),
    "share": ("0.5", "0.1", "0.999", "1.0"),
    "text": ("'a%'", "'_'", "''", "'it''s'", "'2024-02-29'", "'a\\%'", "'A'", "'é'", "'12'"),
    "null": ("NULL",),
    "truth": ("TRUE", "FALSE"),
}
LEAVES = (exp.Column, exp.Literal, exp.Boolean, exp.Null)
_COLUMNS = {
    (Type.INTEGER, True): Column(name="small", type="integer", bounds=(-5, 120)),
    (Type.INTEGER, False): Column(name="whole", type="integer"),
    (Type.REAL, True): Column(name="cost", type="real", bounds=(0, 100)),
    (Type.REAL, False): Column(name="free", type="real"),
    (Type.TEXT, True): Column(name="word", type="text", length=4),
    (Type.BOOLEAN, True): Column(name="truth", type="boolean"),
    (Type.DATE, True): Column(name="day", type="date"),
    (Type.TIMESTAMP, True): Column(name="moment", type="timestamp"),
}


@dataclass(frozen=True)
class Signature:
    """A node, the form of it (which type is cast to, which part of a date), its operands, and what comes of it."""

    kind: type[exp.Expr]
    form: str
    operands: tuple[Operand, ...]
    build: Build
    result: Sort


def sort_of(known: Known) -> Sort:
    if not known.type.is_number:
        return known.type, True
    return known.type, known.range is not None and known.range.magnitude < SMALL


def sample_scope() -> tuple[Scope, Scan]:
    """A table with one column of every sort."""
    table = Table(name="t", columns=tuple(_COLUMNS.values()), unit=Unit(column="whole", rows=2))
    binding = Binding(source=Source(text=""))
    scan = Scan(table=table, identities=tuple(binding.identity(column.name) for column in table.columns))
    binding.columns.update(zip(scan.identities, table.columns, strict=True))
    listed = [Name(table="t", name=one.identity.name, value=one) for one in scan.fields]
    return Scope(binding=binding, names=Names(listed=tuple(listed))), scan


def _sample(operand: Operand) -> exp.Expr:
    if isinstance(operand, str):
        return constant_node(CONSTANTS[operand][0])
    return exp.column(_COLUMNS[operand].name)


def constant_node(text: str) -> exp.Expr:
    """A constant as the parser would make it."""
    if text in ("TRUE", "FALSE"):
        return exp.Boolean(this=text == "TRUE")
    if text == "NULL":
        return exp.Null()
    return exp.Literal.string(text[1:-1].replace("''", "'")) if text.startswith("'") else exp.Literal.number(text)


# --- shapes: how operands become a node -----------------------------------------------------------------------------


def _shapes(kind: type[exp.Expr]) -> Iterator[Shape]:
    """The ways in which a node of this kind can be made of so many operands."""
    if kind in _ODD:
        yield from _ODD[kind]()
        return
    needed = [part for part, must in kind.arg_types.items() if must and part in UNDERSTOOD[kind]]
    rest = [part for part in kind.arg_types if part in UNDERSTOOD[kind] - {*needed} and part not in FLAGS]
    for more in [[], *([one] for one in rest), *([rest] if len(rest) > 1 else [])]:
        parts = [part for part in kind.arg_types if part in {*needed, *more}]
        if parts:
            yield str(more), len(parts), _with_parts(kind, parts, 1)
            if "expressions" in parts:
                yield str(more), len(parts) + 1, _with_parts(kind, parts, 2)


FLAGS = {"typed", "safe", "negate", "ignore_nulls", "coalesce", "date_part_boundary", "big_int", "nested"}
"""Parts that the parser sets itself."""


def _with_parts(kind: type[exp.Expr], parts: Sequence[str], listed: int) -> Build:
    def build(nodes: Sequence[exp.Expr]) -> exp.Expr:
        waiting, given = list(nodes), dict[str, Any]()
        for part in parts:
            count = listed if part == "expressions" else 1
            taken, waiting = waiting[:count], waiting[count:]
            given[part] = taken if part == "expressions" else taken[0]
        return kind(**given)

    return build


def _cases() -> Iterator[Shape]:
    def searched(nodes: Sequence[exp.Expr]) -> exp.Expr:
        return exp.Case(ifs=[exp.If(this=nodes[0], true=nodes[1])], default=nodes[2] if len(nodes) > 2 else None)

    def simple(nodes: Sequence[exp.Expr]) -> exp.Expr:
        return exp.Case(this=nodes[0], ifs=[exp.If(this=nodes[1], true=nodes[2])], default=constant_node("NULL"))

    yield from (("searched", 2, searched), ("searched", 3, searched), ("simple", 3, simple))


def _casts(kind: type[exp.Expr]) -> Callable[[], Iterator[Shape]]:
    def shapes() -> Iterator[Shape]:
        for target in TYPES:
            yield str(target), 1, lambda nodes, to=target: kind(this=nodes[0], to=exp.DataType(this=to))  # type: ignore[misc]

    return shapes


def _extracts() -> Iterator[Shape]:
    for part in DATE_PARTS:
        yield part, 1, lambda nodes, part=part: exp.Extract(this=exp.var(part), expression=nodes[0])  # type: ignore[misc]


def _named() -> Iterator[Shape]:
    for name, (count, _) in NAMED.items():
        yield name, count, lambda nodes, name=name: exp.Anonymous(this=name, expressions=list(nodes))  # type: ignore[misc]
        for part in DATE_PARTS if count == 2 else ():
            yield (
                name,
                1,
                lambda nodes, name=name, part=part: exp.Anonymous(  # type: ignore[misc]
                    this=name, expressions=[exp.Literal.string(part), nodes[0]]
                ),
            )


def _day_differences() -> Iterator[Shape]:
    yield "", 2, lambda nodes: exp.DateDiff(this=nodes[0], expression=nodes[1], unit=exp.Literal.string("day"))


def _counts() -> Iterator[Shape]:
    yield "rows", 0, lambda _: exp.Count(this=exp.Star())
    yield "values", 1, lambda nodes: exp.Count(this=nodes[0])


def _within() -> Iterator[Shape]:
    for desc in (False, True):

        def build(nodes: Sequence[exp.Expr], desc: bool = desc) -> exp.Expr:
            ordered = exp.Order(expressions=[exp.Ordered(this=nodes[1], desc=desc, nulls_first=False)])
            return exp.WithinGroup(this=exp.PercentileCont(this=nodes[0]), expression=ordered)

        yield str(desc), 2, build


_ODD: dict[type[exp.Expr], Callable[[], Iterator[Shape]]] = {
    exp.Case: _cases,
    exp.Cast: _casts(exp.Cast),
    exp.TryCast: _casts(exp.TryCast),
    exp.Extract: _extracts,
    exp.Anonymous: _named,
    exp.DateDiff: _day_differences,
    exp.Count: _counts,
    exp.WithinGroup: _within,
}


# --- discovery ------------------------------------------------------------------------------------------------------


def _operands(count: int) -> Iterator[tuple[Operand, ...]]:
    """Sorts and constants for so many places; from the third on, like one of the first two, or a constant."""
    menu: list[Operand] = [*SORTS, *CONSTANTS]
    first: list[Sequence[Operand]] = [menu if count < 3 else SORTS, menu]
    for begun in product(*first[:count]):
        rest = [tuple(dict.fromkeys([*begun, "whole", "null"]))] * (count - len(begun))
        yield from ((*begun, *more) for more in product(*rest))


def _found(kinds: Sequence[type[exp.Expr]], bind: Callable[[exp.Expr], Expression | None]) -> list[Signature]:
    found = []
    for kind in kinds:
        for form, count, build in _shapes(kind):
            taken = list(_taken(kind, form, count, build, bind))
            if taken and _is_read_back(taken[0]):
                found += taken
    return found


def _taken(
    kind: type[exp.Expr], form: str, count: int, build: Build, bind: Callable[[exp.Expr], Expression | None]
) -> Iterator[Signature]:
    for operands in _operands(count):
        if count and all(isinstance(one, str) for one in operands):
            continue
        try:
            bound = bind(build([_sample(one) for one in operands]))
        except Refused:
            continue
        if bound is not None:
            yield Signature(kind, form, operands, build, sort_of(bound.known))


def _is_read_back(signature: Signature) -> bool:
    """Whether the text of the node is read as such a node again; functions are written as calls, if that helps."""
    node = signature.build([_sample(one) for one in signature.operands])
    if issubclass(signature.kind, exp.Func) and signature.kind not in _ODD and signature.kind not in _CALLED:
        _CALLED[signature.kind] = signature.kind.sql_name()
        if _reads_as(signature.kind, written(node)):
            return True
        del _CALLED[signature.kind]
    return _reads_as(signature.kind, written(node))


def _reads_as(kind: type[exp.Expr], text: str) -> bool:
    try:
        tree, _ = parse(f"SELECT {text} FROM t")
    except Refused:
        return False
    return type(tree.expressions[0]) is kind


_CALLED: dict[type[exp.Expr], str] = {}
"""Functions that are written as calls, with their names; DuckDB's own writer would use other words for some of them."""


def written(node: exp.Expr) -> str:
    """A node as text."""
    text: str = _Writer(dialect="duckdb").generate(node)
    return text


class _Writer(Dialect.get_or_raise("duckdb").generator_class):  # type: ignore[misc]  # made at run time
    def sql(self, expression: Any, key: str | None = None, comment: bool = True) -> str:
        inner: Any = expression.args.get(key) if key and isinstance(expression, exp.Expr) else expression
        if isinstance(inner, exp.WithinGroup):
            return f"{self.sql(inner.this)} WITHIN GROUP ({self.sql(inner.expression).strip()})"
        if type(inner) is exp.PercentileCont and inner.expression is None:
            return f"PERCENTILE_CONT({self.sql(inner.this)})"
        name = _CALLED.get(type(inner))
        if name is None:
            found: str = super().sql(expression, key, comment)
            return found
        parts = [one for part in inner.arg_types if part not in FLAGS for one in _listed(inner.args.get(part))]
        return f"{name}({', '.join(self.sql(one) for one in parts)})"


def _listed(part: Any) -> list[exp.Expr]:
    return part if isinstance(part, list) else [] if part is None else [part]


Listed: TypeAlias = dict[type[exp.Expr], dict[str, list[Signature]]]
"""Signatures by their node and its form, each of which is to be drawn as often as any other."""


@cache
def functions() -> dict[Sort, Listed]:
    """All that can be made of values of a row, by what comes of it."""
    scope, _ = sample_scope()
    kinds = [kind for kind in BINDERS if kind not in LEAVES]
    result: dict[Sort, Listed] = {sort: {} for sort in SORTS}
    for one in _found(kinds, lambda node: bind_expression(node, scope)):
        result[one.result].setdefault(one.kind, {}).setdefault(one.form, []).append(one)
    return result


@cache
def aggregates() -> Listed:
    """All aggregates."""
    scope, scan = sample_scope()

    def bind(node: exp.Expr) -> Expression | None:
        fresh = replace(scope, binding=Binding(source=Source(text=""), columns=scope.binding.columns))
        return Aggregates(rows=fresh, scan=scan).bind(node)

    result: Listed = {}
    for one in _found(list(AGGREGATES), bind):
        result.setdefault(one.kind, {}).setdefault(one.form, []).append(one)
    return result
