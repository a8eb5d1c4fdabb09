"""FROM, WHERE, WITH and inner SELECTs: which rows count, and what is known of each. Every step works row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from privately.errors import NotSupported
from privately.plans import Expression, Field, Filter, Identity, Project, Relation, Scan, Table, Type
from privately.query.binding.expressions import Scope, bind_expression
from privately.query.binding.names import Binding, Name, Names, unknown

_ROWS_ONLY = (
    "An inner SELECT may compute and filter: SELECT ward, cost * 2 AS cost FROM visits WHERE cost > 0. "
    "Put aggregates, GROUP BY, HAVING, ORDER BY and LIMIT into the outer one."
)

MOST_HANDED_ON = 10_000
"""Columns of inner SELECTs: each * hands on all, so that a short text can make a very large plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows, and the names of what is in them."""

    relation: Relation
    names: Names


def bind_rows(select: exp.Select, tables: Mapping[str, Table | Rows], binding: Binding) -> Rows:
    """The rows that FROM and WHERE of a SELECT speak of; `tables` are those that can be named here."""
    tables = _with(select, tables, binding)
    source = select.args.get("from_")
    if source is None:
        hint = "Name the table: FROM visits."
        raise NotSupported("a question about no table.", hint=hint, span=binding.source.span(select))
    rows = _source(source.this, tables, binding)
    where = select.args.get("where")
    if where is None:
        return rows
    condition = bind_condition(where.this, Scope(binding=binding, names=rows.names))
    return Rows(relation=Filter(source=rows.relation, condition=condition), names=rows.names)


def bind_condition(node: exp.Expr, scope: Scope) -> Expression:
    """An expression that is true, false or unknown."""
    condition = bind_expression(node, scope)
    if condition.known.type is not Type.BOOLEAN:
        hint = "Compare it with something: x > 0."
        raise NotSupported("this is neither true nor false.", hint=hint, span=scope.source.span(node))
    return condition


def _with(select: exp.Select, tables: Mapping[str, Table | Rows], binding: Binding) -> Mapping[str, Table | Rows]:
    """The tables that WITH adds; each sees those before it, and none sees itself."""
    clause = select.args.get("with_")
    found, new = dict(tables), set[str]()
    for cte in clause.expressions if clause is not None else []:
        name = cte.alias
        if name.casefold() in new:
            hint = "Give one of them another name."
            raise NotSupported(f"there are two WITH {name}.", hint=hint, span=binding.source.span(cte.args["alias"]))
        rows = _inner(cte.this, found, binding)
        new.add(name.casefold())
        for hidden in [one for one in found if one.casefold() == name.casefold()]:
            del found[hidden]
        found[name] = _renamed(rows, cte, name, binding)
    return found


def _source(node: exp.Expr, tables: Mapping[str, Table | Rows], binding: Binding) -> Rows:
    if isinstance(node, exp.Subquery):
        return _renamed(_inner(node.this, tables, binding), node, node.alias, binding)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        hint = "Name one of the opened tables: FROM visits."
        raise NotSupported("this is no table.", hint=hint, span=binding.source.span(node))
    matches = [name for name in tables if name.casefold() == node.name.casefold()]
    exact = [name for name in matches if name == node.name] or matches
    if len(exact) > 1:
        hint = "Write it exactly as it was opened."
        raise NotSupported(f"{node.name} may be several tables.", hint=hint, span=binding.source.span(node))
    if not exact:
        raise unknown("table", node.name, tables, node, binding.source)
    found = tables[exact[0]]
    rows = _scan(found, binding) if isinstance(found, Table) else found
    return _renamed(rows, node, node.alias or node.name, binding)


def _scan(table: Table, binding: Binding) -> Rows:
    identities = tuple(binding.identity(column.name) for column in table.columns)
    scan = Scan(table=table, identities=identities)
    binding.columns.update(zip(identities, table.columns, strict=True))
    listed = [Name(table="", name=one.identity.name, value=one) for one in scan.fields]
    names = [column.name for column in table.columns]
    return Rows(relation=scan, names=Names(listed=tuple(listed)).under(table.name, names))


def _renamed(rows: Rows, node: exp.Expr, table: str, binding: Binding) -> Rows:
    alias = node.args.get("alias")
    columns = [one.name for one in alias.args.get("columns") or []] if isinstance(alias, exp.TableAlias) else []
    if alias is None or not columns:
        return Rows(relation=rows.relation, names=rows.names.under(table))
    if len(columns) != len(rows.names.listed):
        hint = f"Give {len(rows.names.listed)} names."
        raise NotSupported("as many names as columns are needed.", hint=hint, span=binding.source.span(alias))
    _check_distinct([(name, alias) for name in columns], binding)
    return Rows(relation=rows.relation, names=rows.names.under(table, columns))


def _inner(select: exp.Expr, tables: Mapping[str, Table | Rows], binding: Binding) -> Rows:
    """The rows of an inner SELECT, with its columns computed."""
    while isinstance(select, exp.Subquery) and not select.args.get("alias"):
        select = select.this
    if not isinstance(select, exp.Select):
        raise NotSupported("this is no SELECT.", hint=_ROWS_ONLY, span=binding.source.span(select))
    for part in ("group", "having", "order", "limit"):
        if select.args.get(part):
            span = binding.source.span(select.args[part])
            raise NotSupported(f"{part.upper()} in an inner SELECT is not supported.", hint=_ROWS_ONLY, span=span)
    rows = bind_rows(select, tables, binding)
    scope = Scope(binding=binding, names=rows.names)
    columns = [one for item in select.expressions for one in _columns(item, rows.names, scope)]
    binding.handed_on += len(columns)
    if binding.handed_on > MOST_HANDED_ON:
        hint = "Name the columns that are needed instead of *."
        raise NotSupported(f"more than {MOST_HANDED_ON:,} columns of inner SELECTs.", hint=hint)
    _check_distinct([(name, item) for name, _, item in columns], binding)
    return _projected(rows, [(name, expression) for name, expression, _ in columns], binding)


def _columns(item: exp.Expr, names: Names, scope: Scope) -> list[tuple[str, Expression, exp.Expr]]:
    """The columns that one item of a SELECT list makes: a star makes many."""
    if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
        table = item.table if isinstance(item, exp.Column) else ""
        found = [one for one in names.listed if not table or one.table.casefold() == table.casefold()]
        if not found:
            raise unknown("table", table, [one.table for one in names.listed], item, scope.source)
        return [(one.name, one.value, item) for one in found]
    return [(output_name(item, scope), bind_expression(item.unalias(), scope), item)]


def output_name(item: exp.Expr, scope: Scope) -> str:
    """The name after AS, or of the column, or else the text of the expression."""
    name = item.alias if isinstance(item, exp.Alias) else item.name if isinstance(item, exp.Column) else ""
    name = name or item.unalias().sql(dialect="duckdb", comments=False)[:60]
    if len(name) > 200 or not name.isprintable():
        hint = "Give it a short one that can be printed: AS n."
        raise NotSupported("this is no name.", hint=hint, span=scope.source.span(item))
    return name


def _check_distinct(named: list[tuple[str, exp.Expr]], binding: Binding) -> None:
    seen = set[str]()
    for name, node in named:
        if name.casefold() in seen:
            hint = f"Names are told apart without regard to case; write AS with another one than {name}."
            raise NotSupported(f"there are two columns {name}.", hint=hint, span=binding.source.span(node))
        seen.add(name.casefold())


def _projected(rows: Rows, columns: list[tuple[str, Expression]], binding: Binding) -> Rows:
    """New values get new identities; what is handed on as it is keeps its own, whatever its name."""
    outputs: dict[Identity, Expression] = {}
    listed = []
    for name, expression in columns:
        identity = expression.identity if isinstance(expression, Field) else binding.identity(name)
        outputs[identity] = expression
        listed.append(Name(table="", name=name, value=Field(identity, expression.known)))
    relation = rows.relation
    if not all(isinstance(expression, Field) for _, expression in columns):
        relation = Project(source=relation, outputs=tuple(outputs.items()))
    return Rows(relation=relation, names=Names(listed=tuple(listed)))
