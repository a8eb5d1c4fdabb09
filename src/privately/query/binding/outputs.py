"""SELECT list, GROUP BY, HAVING, ORDER BY and LIMIT of the outer SELECT: groups, aggregates and what is shown of them.

An expression of the answer may speak of keys and aggregates alone. A key is found again by what it is, not by how it is
called: after GROUP BY lower(ward), lower(ward) is a key and ward is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from privately.errors import InvalidParameter, NotSupported, Refused
from privately.plans import (
    Aggregation,
    Call,
    Constant,
    Estimate,
    Expression,
    Field,
    Key,
    Order,
    Output,
    Question,
    Table,
    Type,
    Value,
    call,
    scan_of,
)
from privately.plans.expressions import fields_of
from privately.query.binding.aggregates import Aggregates
from privately.query.binding.expressions import Scope, bind_expression
from privately.query.binding.keys import check_groups, given_values, possible, unknown_values
from privately.query.binding.names import Binding, Name, Names
from privately.query.binding.relations import Rows, bind_condition, bind_rows, output_name
from privately.query.public_tables import Keys, PublicTable
from privately.query.spans import Source

MOST_KEYS = 20
_AGGREGATE = "Ask for aggregates, such as SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward."


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item of the SELECT list: its name, and its value in terms of rows and aggregates."""

    name: str
    node: exp.Expr
    value: Expression


def bind_select(
    select: exp.Select,
    tables: Mapping[str, Table],
    keys: Keys,
    source: Source,
    *,
    unknown: bool = True,
) -> Question:
    """The question that an outer SELECT asks; if keys may be `unknown`, their values need not be public."""
    binding = Binding(source=source)
    rows = bind_rows(select, tables, binding)
    inner = Scope(binding=binding, names=rows.names)
    groups = _groups(select, inner)
    aggregates = Aggregates(rows=inner, scan=scan_of(rows.relation))
    outer = Scope(binding=binding, names=rows.names, aggregates=aggregates.bind)
    items = _items(select, outer)
    having, order = _having(select, items, outer), _order(select, items, outer)
    named, combinations = _named_keys(groups, items, rows, keys, binding, unknown=unknown)
    if not aggregates.tallies:
        raise NotSupported("this asks for rows, not for aggregates.", hint=_AGGREGATE, span=source.span(select))
    fields = {key.expression: Field(key.identity, replace(key.expression.known, cost=1)) for key in named}
    estimates = tuple(aggregates.estimates.values())
    answer = _Answer(keys=fields, estimates=estimates, source=source)
    tallies = tuple((identity, tally) for tally, identity in aggregates.tallies.items())
    return Question(
        aggregation=Aggregation(source=rows.relation, keys=named, tallies=tallies, combinations=combinations),
        estimates=estimates,
        outputs=tuple(Output(name=item.name, expression=answer.of(item.value, item.node)) for item in items),
        having=None if having is None else answer.of(having, select.args["having"]),
        order=tuple(_direction(answer.of(value, node), node) for value, node in order),
        limit=_limit(select, source),
    )


# --- GROUP BY -------------------------------------------------------------------------------------------------------


def _groups(select: exp.Select, scope: Scope) -> list[tuple[Expression, exp.Expr]]:
    """What rows are grouped by: columns, expressions, names and places of the SELECT list."""
    clause = select.args.get("group")
    if clause is not None and not clause.expressions:
        hint = "Name what to group by: GROUP BY ward."
        raise NotSupported("GROUP BY of nothing.", hint=hint, span=scope.source.span(select))
    found: dict[Expression, exp.Expr] = {}
    for node in clause.expressions if clause is not None else []:
        written = _meant(node, select, scope)
        expression = bind_expression(written, scope)
        if isinstance(expression, Constant):
            hint = "Group by a column or an expression: GROUP BY ward."
            raise NotSupported("a constant makes no groups.", hint=hint, span=scope.source.span(node))
        if expression.known.type is Type.REAL:
            hint = "Round it: GROUP BY FLOOR(x / 10)."
            if isinstance(expression, Field):
                hint += " A column of whole numbers must be declared to be one: type integer."
            raise NotSupported("real numbers make no groups.", hint=hint, span=scope.source.span(node))
        found.setdefault(expression, written)
    if len(found) > MOST_KEYS:
        hint = f"Group by at most {MOST_KEYS}."
        raise NotSupported("too many keys.", hint=hint, span=scope.source.span(clause))
    return list(found.items())


def _meant(node: exp.Expr, select: exp.Select, scope: Scope) -> exp.Expr:
    """The expression that GROUP BY 1 or GROUP BY name means; a name that may be two things is refused."""
    inner = node.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return _at(inner, [item.unalias() for item in select.expressions], scope.source)
    if not isinstance(inner, exp.Column) or inner.table:
        return inner
    aliased: list[exp.Expr] = [
        one.this for one in select.expressions if isinstance(one, exp.Alias) and _same(one.alias, inner.name)
    ]
    if not aliased:
        return inner
    columns = scope.names.find(inner.name)
    if columns and not (isinstance(aliased[0], exp.Column) and scope.names.find(aliased[0].name) == columns):
        hint = "Give the expression another name, or group by its place: GROUP BY 1."
        message = f"{inner.name} is a column and the name of an expression."
        raise NotSupported(message, hint=hint, span=scope.source.span(node))
    return aliased[0]


def _at(place: exp.Literal, listed: list[exp.Expr], source: Source) -> exp.Expr:
    if not place.this.isdecimal() or len(place.this) > 6 or not 1 <= int(place.this) <= len(listed):
        hint = f"Write a number from 1 to {len(listed)}, or a name."
        raise NotSupported("there is no such column in the SELECT list.", hint=hint, span=source.span(place))
    return listed[int(place.this) - 1]


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _named_keys(
    groups: list[tuple[Expression, exp.Expr]],
    items: list[Item],
    rows: Rows,
    given: Keys,
    binding: Binding,
    *,
    unknown: bool,
) -> tuple[tuple[Key, ...], tuple[tuple[Value, ...], ...] | None]:
    """The keys, with their values where these are public. Given ones go by the name of an output or column.

    And the groups, if a public table lists them; otherwise they are all combinations of the values.
    """
    lists = given.values if isinstance(given, PublicTable) else given
    left = {name.casefold(): (name, values) for name, values in lists.items()}
    found, given_names = [], list[str | None]()
    for expression, node in groups:
        names = [item.name for item in items if item.value == expression]
        names += [node.name] if isinstance(node, exp.Column) else []
        listed = [left.pop(name.casefold()) for name in names if name.casefold() in left]
        given_names.append(listed[0][0] if listed else None)
        values = possible(expression, rows.relation, binding.columns)
        if listed:
            values = given_values(*listed[0], expression.known.type)
        elif values == ():
            hint = "Look at the conditions in WHERE and at the declared categories."
            raise NotSupported("no row can be in any group.", hint=hint, span=binding.source.span(node))
        name = (names or [node.sql(dialect="duckdb", comments=False)])[0]
        if values is None and not unknown:
            raise unknown_values(name[:60], binding.source.span(node))
        found.append(Key(identity=binding.identity(name), expression=expression, values=values))
    if left:
        hint = "Name columns of GROUP BY."
        raise InvalidParameter("keys", f"nothing is grouped by {next(iter(left.values()))[0]}.", hint=hint)
    if isinstance(given, PublicTable):
        return tuple(found), given.groups(given_names)
    try:
        check_groups(key.values for key in found)
    except Refused as error:
        raise binding.source.refuse(error, groups[0][1]) from None
    return tuple(found), None


# --- SELECT list, HAVING, ORDER BY, LIMIT ---------------------------------------------------------------------------


def _items(select: exp.Select, scope: Scope) -> list[Item]:
    found: list[Item] = []
    for node in select.expressions:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            raise NotSupported("this asks for rows.", hint=_AGGREGATE, span=scope.source.span(node))
        name = output_name(node, scope)
        if any(_same(name, item.name) for item in found):
            hint = "Name them: COUNT(*) AS visits. Names are told apart without regard to case."
            raise NotSupported(f"two columns of the answer are named {name}.", hint=hint, span=scope.source.span(node))
        found.append(Item(name=name, node=node, value=bind_expression(node.unalias(), scope)))
    if not found:
        raise NotSupported("nothing is asked for.", hint=_AGGREGATE, span=scope.source.span(select))
    return found


def _having(select: exp.Select, items: list[Item], scope: Scope) -> Expression | None:
    """HAVING may use names of the SELECT list; one that is a column too is refused unless both are the same."""
    clause = select.args.get("having")
    if clause is None:
        return None
    columns = scope.names
    new = [Name(table="", name=item.name, value=item.value) for item in items]
    added = [one for one in new if one.value not in columns.find(one.name)]
    names = Names(listed=(*columns.listed, *added))
    return bind_condition(clause.this, replace(scope, names=names))


def _order(select: exp.Select, items: list[Item], scope: Scope) -> list[tuple[Expression, exp.Expr]]:
    """ORDER BY takes a name to be one of the SELECT list, if there is one."""
    clause = select.args.get("order")
    taken = {item.name.casefold() for item in items}
    columns = [replace(one, hidden=one.name.casefold() in taken) for one in scope.names.listed]
    shown = [Name(table="", name=item.name, value=item.value) for item in items]
    named = replace(scope, names=Names(listed=(*columns, *shown)))
    found = []
    for node in clause.expressions if clause is not None else []:
        inner = node.this.unnest()
        if isinstance(inner, exp.Literal) and not inner.is_string:
            place = _at(inner, [item.node for item in items], scope.source)
            found.append((next(item.value for item in items if item.node is place), node))
        else:
            found.append((bind_expression(inner, named), node))
    return found


def _direction(expression: Expression, node: exp.Expr) -> Order:
    return Order(expression=expression, direction="descending" if node.args.get("desc") else "ascending")


def _limit(select: exp.Select, source: Source) -> int | None:
    clause = select.args.get("limit")
    if clause is None:
        return None
    most = clause.expression.unnest()
    if not isinstance(most, exp.Literal) or most.is_string or not most.this.isdecimal() or len(most.this) > 9:
        hint = "Write LIMIT 10."
        raise NotSupported("LIMIT takes a whole number.", hint=hint, span=source.span(clause))
    return int(most.this)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Expressions of rows as expressions of the answer, where only keys and aggregates are left."""

    keys: Mapping[Expression, Field]
    estimates: Sequence[Estimate]
    source: Source

    def of(self, expression: Expression, node: exp.Expr) -> Expression:
        found = self._replaced(expression)
        known = {one.identity for one in (*self.keys.values(), *self.estimates)}
        rows = [one.name for one in fields_of(found) if one not in known]
        if rows:
            hint = f"Aggregate it, such as COUNT({min(rows)}), or add GROUP BY {min(rows)}."
            message = f"{min(rows)} is neither grouped nor aggregated."
            raise NotSupported(message, hint=hint, span=self.source.span(node))
        return found

    def _replaced(self, expression: Expression) -> Expression:
        key = self.keys.get(expression)
        if key is not None:
            return key
        if isinstance(expression, Call):
            return call(expression.function, *map(self._replaced, expression.arguments))
        return expression
