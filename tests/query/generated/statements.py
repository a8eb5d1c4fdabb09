"""Random statements about a declared table, made of all that is supported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from sqlglot import exp

from privately.errors import Refused
from privately.plans import Expression, Field, Identity, Scan, Table, Type, Value
from privately.plans.expressions import fields_of
from privately.plans.meaning import evaluate
from privately.plans.types import LARGEST_INTEGER
from privately.query.binding.aggregates import Aggregates
from privately.query.binding.expressions import Scope, bind_expression
from privately.query.binding.names import Binding, Name, Names
from privately.query.public_tables import Keys, PublicTable
from privately.query.spans import Source
from tests.engines.reference import scanned
from tests.query.generated import signatures
from tests.query.generated.signatures import CONSTANTS, Signature, Sort, constant_node, written
from tests.query.generated.tables import CELLS, Declared, plain_cells, some

_LEAVES: dict[Type, Sequence[str]] = {
    Type.INTEGER: ("0", "1", "2", "7", "-3", "4611686018427387903"),
    Type.REAL: ("0.5", "-0.0", "2.5", "1e300", "99.99"),
    Type.TEXT: ("'a'", "''", "'ab'", "'12'", "'é'"),
    Type.BOOLEAN: ("TRUE", "FALSE"),
    Type.DATE: ("DATE '2024-02-29'", "DATE '0001-01-01'"),
    Type.TIMESTAMP: ("TIMESTAMP '2024-02-29 12:30:00'",),
}
_CLAMPS = (("0", "1"), ("-3", "7"), ("-0.5", "2.5"), ("1000", "1001"))
_CLOSED = (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Boolean, exp.Null, exp.Star, exp.Distinct)
_SORTED = [(Type.INTEGER, True), (Type.REAL, True)]


@dataclass(frozen=True)
class Statement:
    """A text, and the values of keys that are given with it."""

    text: str
    keys: Keys


@dataclass(frozen=True)
class _Writing:
    """What a statement is made of: a source of chances, and the names that can be written."""

    random: Random
    scope: Scope

    # --- expressions ------------------------------------------------------------------------------------------------

    def expression(self, sort: Sort, depth: int) -> exp.Expr:
        """An expression of a sort, if the binder takes it; else something simple of the type."""
        if depth == 0 or self.random.random() < 0.25:
            return self.leaf(sort)
        node = self.made(self.signature(signatures.functions()[sort]), depth)
        return self.leaf(sort) if self.bound(node) is None else node

    def signature(self, kinds: signatures.Listed) -> Signature:
        """One of them, rather one that takes what there are columns of."""
        forms = kinds[some(self.random, [*kinds])]
        listed = forms[some(self.random, [*forms])]
        here = {signatures.sort_of(one.value.known) for one in self.scope.names.listed}
        tried = [some(self.random, listed) for _ in range(3)]
        return max(tried, key=lambda one: sum((operand in here) - (operand == "null") for operand in one.operands))

    def made(self, signature: Signature, depth: int) -> exp.Expr:
        nodes = [
            constant_node(some(self.random, CONSTANTS[one]))
            if isinstance(one, str)
            else self.expression(one, depth - 1)
            for one in signature.operands
        ]
        return signature.build([_closed(node) for node in nodes])

    def bound(self, node: exp.Expr) -> Expression | None:
        try:
            return bind_expression(node, self.scope)
        except Refused:
            return None

    def leaf(self, sort: Sort) -> exp.Expr:
        """A column, or a constant; unbounded numbers are brought between bounds if need be."""
        kind, small = sort
        here = [one for one in self.scope.names.listed if one.value.known.type is kind]
        good = [one for one in here if not small or signatures.sort_of(one.value.known)[1]]
        if good and self.random.random() < 0.93:
            return self.column(some(self.random, good))
        if here and kind.is_number and self.random.random() < 0.8:
            low, high = (number(one) for one in some(self.random, _CLAMPS))
            inner = exp.Greatest(this=self.column(some(self.random, here)), expressions=[low])
            return exp.Least(this=inner, expressions=[high])
        return number(some(self.random, _LEAVES[kind]))

    def column(self, name: Name) -> exp.Expr:
        quoted = not name.name.isidentifier() or not name.name.isascii() or name.name == "select"
        table = name.table if self.random.random() < 0.3 and name.table else None
        return exp.column(exp.to_identifier(name.name, quoted=quoted or self.random.random() < 0.3), table=table)

    def condition(self) -> str:
        """Something that is true of a row, or at least not false of it: else most tables would be empty."""
        found = written(self.expression((Type.BOOLEAN, True), some(self.random, [1, 2, 2, 3])))
        return some(
            self.random, [found, f"({found}) IS NOT FALSE", f"({found}) IS NOT FALSE", f"({found}) IS NOT TRUE"]
        )

    # --- aggregates -------------------------------------------------------------------------------------------------

    def aggregate(self, scan: Scan) -> exp.Expr:
        """An aggregate that the binder takes."""
        units = [one for one in self.scope.names.listed if _is_unit(one, scan)]
        if units and self.random.random() < 0.15:
            return exp.Count(this=exp.Distinct(expressions=[self.column(units[0])]))
        for _ in range(5):
            node = self.made(self.signature(signatures.aggregates()), some(self.random, [1, 1, 2, 3]))
            if self.random.random() < 0.2:
                node = exp.Filter(this=node, expression=exp.Where(this=self.expression((Type.BOOLEAN, True), 1)))
            elif type(node) is exp.Avg and self.random.random() < 0.3:
                node = exp.Anonymous(this="mean", expressions=[node.this])
            if self.aggregated(node, scan):
                return node
        return exp.Count(this=exp.Star())

    def aggregated(self, node: exp.Expr, scan: Scan) -> bool:
        binding = Binding(source=Source(text=""), columns=self.scope.binding.columns)
        try:
            return Aggregates(rows=replace(self.scope, binding=binding), scan=scan).bind(node) is not None
        except Refused:
            return False


def number(text: str) -> exp.Expr:
    """A constant, as it is written; those of dates and times with their type."""
    kind, _, rest = text.partition(" ")
    if kind in ("DATE", "TIMESTAMP"):
        return exp.Cast(this=constant_node(rest), to=exp.DataType(this=exp.DType[kind]))
    return exp.Neg(this=constant_node(text[1:])) if text.startswith("-") else constant_node(text)


def _closed(node: exp.Expr) -> exp.Expr:
    """In brackets, unless nothing can be read otherwise."""
    open_ = not isinstance(node, _CLOSED) or isinstance(node, (exp.Binary, exp.Unary, exp.Predicate, exp.Case))
    return exp.Paren(this=node) if open_ and not isinstance(node, exp.Paren) else node


def _is_unit(name: Name, scan: Scan) -> bool:
    pairs = zip(scan.identities, scan.table.columns, strict=True)
    units = {identity for identity, column in pairs if column.name == scan.table.unit.column}
    return isinstance(name.value, Field) and name.value.identity in units


# --- whole statements -----------------------------------------------------------------------------------------------


def statement(random: Random, declared: Declared) -> Statement:
    """A question about a table. Nearly all are taken by the binder; but not all have public groups."""
    table = declared.table
    binding = Binding(source=Source(text=""))
    scan = Scan(table=table, identities=tuple(binding.identity(column.name) for column in table.columns))
    binding.columns.update(zip(scan.identities, table.columns, strict=True))
    listed = tuple(Name(table=table.name, name=one.identity.name, value=one) for one in scan.fields)
    writing = _Writing(random, Scope(binding=binding, names=Names(listed=listed)))
    before, source, writing = _source(writing, table)
    where = f" WHERE {writing.condition()}" if random.random() < 0.5 else ""
    keys = [_key(writing) for _ in range(some(random, [0, 1, 1, 1, 2]))]
    written_keys = list(map(written, keys))
    outputs = [f"{key} AS k{at}" for at, key in enumerate(written_keys)]
    shown = [written(writing.aggregate(scan)) for _ in range(some(random, [1, 1, 2, 3]))]
    outputs += [f"{_worked(random, one, shown)} AS m{at}" for at, one in enumerate(shown)]
    groups = [some(random, [f"k{at}", str(at + 1), key]) for at, key in enumerate(written_keys)]
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    text = f"{before}SELECT {', '.join(outputs)} FROM {source}{where}{by}{_ending(random, shown[0])}"
    return Statement(text, _given(writing, keys, _values_of(declared, scan)))


def _source(writing: _Writing, table: Table) -> tuple[str, str, _Writing]:
    """What stands before SELECT, what stands after FROM, and the names from there on."""
    random, name = writing.random, table.name
    way = some(random, ["plain", "plain", "alias", "inner", "inner", "with"])
    if way == "plain":
        return "", name, writing
    if way == "alias":
        return "", f"{name} AS v", _named(writing, "v", [one.name for one in writing.scope.names.listed])
    where = f" WHERE {writing.condition()}" if random.random() < 0.5 else ""
    if random.random() < 0.4:
        listed, columns, inside = ["*"], [*writing.scope.names.listed], writing
    else:
        kept = writing.scope.names.listed
        chosen = [(one.name, writing.column(one)) for one in kept if random.random() < 0.8]
        new = [
            (f"p{at}", writing.expression(some(random, signatures.SORTS), 2))
            for at in range(some(random, [0, 1, 1, 2]))
        ]
        items = [*chosen, *new] or [("p9", constant_node("1"))]
        listed = [f"{written(node)} AS {_identifier(called)}" for called, node in items]
        columns = [Name(table="", name=called, value=_value(writing, called, node)) for called, node in items]
        inside = writing
    body = f"SELECT {', '.join(listed)} FROM {name}{where}"
    after = _Writing(random, replace(inside.scope, names=Names(listed=tuple(columns))))
    if way == "with":
        word = some(random, ["", "MATERIALIZED "])
        return f"WITH v AS {word}({body}) ", "v", _named(after, "v", [one.name for one in columns])
    if random.random() < 0.3:
        renamed = [f"z{at}" for at in range(len(columns))]
        return "", f"({body}) AS v({', '.join(renamed)})", _named(after, "v", renamed)
    return "", f"({body}) AS v", _named(after, "v", [one.name for one in columns])


def _value(writing: _Writing, name: str, node: exp.Expr) -> Expression:
    """A value that is handed on is the same one; every other is new."""
    bound = bind_expression(node, writing.scope)
    return bound if isinstance(bound, Field) else Field(writing.scope.binding.identity(name), bound.known)


def _named(writing: _Writing, table: str, names: Sequence[str]) -> _Writing:
    return _Writing(writing.random, replace(writing.scope, names=writing.scope.names.under(table, names)))


def _identifier(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def _key(writing: _Writing) -> exp.Expr:
    """Something to group by, which is no constant and no real number."""
    sorts = [sort for sort in signatures.SORTS if sort[0] is not Type.REAL]
    for _ in range(5):
        node = writing.expression(some(writing.random, sorts), some(writing.random, [0, 0, 0, 1, 2]))
        bound = writing.bound(node)
        if bound is not None and fields_of(bound) and bound.known.type is not Type.REAL:
            return node
    return exp.Is(this=writing.column(writing.scope.names.listed[0]), expression=exp.Null())


def _worked(random: Random, one: str, shown: Sequence[str]) -> str:
    """The aggregate, or something made of it."""
    other = some(random, shown)
    ways = [one] * 6 + [f"{one} + {other}", f"ROUND({one} / 2, 1)", f"COALESCE({one}, 0)", f"- {one} * 0.5"]
    return some(random, ways)


def _ending(random: Random, one: str) -> str:
    having = some(random, ["", "", "", f" HAVING {one} > 2", " HAVING m0 IS NOT NULL"])
    order = some(random, ["", "", " ORDER BY m0 DESC", " ORDER BY 1 ASC NULLS LAST", f" ORDER BY {one}"])
    return having + order + some(random, ["", "", " LIMIT 2"])


def _values_of(declared: Declared, scan: Scan) -> list[dict[Identity, Value]]:
    """The rows as they are declared."""
    rows = plain_cells(declared, declared.rows)
    pairs = list(zip(scan.identities, scan.table.columns, strict=True))
    return [{one: scanned(column, row[at]) for at, (one, column) in enumerate(pairs)} for row in rows]


def _given(writing: _Writing, keys: Sequence[exp.Expr], rows: Sequence[Mapping[Identity, Value]]) -> Keys:
    """Lists of groups for some keys, whether they need one or not: values that they have, and others.

    Or a public table of groups, in which some may be twice.
    """
    random, bound = writing.random, [writing.bound(key) for key in keys]
    here = [_found(one, rows) for one in bound]
    if keys and None not in here and len(set(bound)) == len(bound) and random.random() < 0.25:
        places = [random.randrange(len(rows)) for _ in range(4)]
        table = [[_value_of(random, *one, place) for one in here if one is not None] for place in places]
        return PublicTable(columns=tuple(f"k{at}" for at in range(len(keys))), rows=tuple(map(tuple, table)))
    given, often = dict[str, Sequence[Value]](), some(random, [0.8, 0.6, 0.2])
    for at, one in enumerate(here):
        if one is not None and bound[at] not in bound[:at] and random.random() < often:
            given[f"k{at}"] = tuple(dict.fromkeys(_value_of(random, *one, place) for place in _places(random, one)))
    return given


def _found(bound: Expression | None, rows: Sequence[Mapping[Identity, Value]]) -> tuple[Type, list[Value]] | None:
    """The type of a key and its values in the rows, if they are known; None if it is no key."""
    if bound is None:
        return None
    known = all(one in rows[0] for one in fields_of(bound))
    return bound.known.type, [evaluate(bound, row) for row in rows] if known else []


def _places(random: Random, found: tuple[Type, list[Value]]) -> list[int]:
    return [random.randrange(max(len(found[1]), 1)) for _ in range(4)]


def _value_of(random: Random, kind: Type, here: Sequence[Value], place: int) -> Value:
    """The value of a key in a row, or another one."""
    natural = {Type.INTEGER: "BIGINT", Type.TEXT: "VARCHAR"}.get(kind, kind.name)
    pool: list[Value] = [None, *(one for one in CELLS[kind, natural] if _is_constant(one, kind))]
    return here[place] if here and random.random() < 0.7 else some(random, pool)


def _is_constant(value: Value, kind: Type) -> bool:
    """Whether a cell can be written as a constant of the type."""
    if isinstance(value, int) and not isinstance(value, bool):
        return kind is Type.INTEGER and abs(value) < LARGEST_INTEGER
    return kind is not Type.INTEGER
