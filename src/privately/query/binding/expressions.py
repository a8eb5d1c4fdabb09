"""Expressions of SQL as calls of the listed functions. Each kind of node has one entry in a table; there is no other.

Where SQL engines differ, this holds: a / b is a real number and NULL if b is 0; CAST is TRY_CAST; GREATEST and LEAST
are NULL if an operand is; LIKE takes \\ as its escape; LEAST(GREATEST(x, 0), 100) bounds x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from privately.errors import NotSupported, Refused, UnknownBounds
from privately.plans import Call, Constant, Expression, Known, Type, call, constant
from privately.plans.columns import LONGEST_TEXT
from privately.plans.meaning import evaluate
from privately.query.binding.constants import read_instant, read_number, read_text
from privately.query.binding.names import Binding, Names
from privately.query.grammar import named, refused
from privately.query.spans import Source

Aggregates = Callable[[exp.Expr], Expression | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where an expression stands: the names there, and what aggregates become, if there may be any."""

    binding: Binding
    names: Names
    aggregates: Aggregates | None = None

    @property
    def source(self) -> Source:
        return self.binding.source


def bind_expression(node: exp.Expr, scope: Scope) -> Expression:
    """The expression of a plan that a node stands for; `Refused` with the place in the text, if it stands for none."""
    found = _bind(node, scope)
    if found is None:
        hint = "Write CAST(NULL AS INTEGER), or another type."
        raise NotSupported("a NULL whose type nothing says.", hint=hint, span=scope.source.span(node))
    return found


def _bind(node: exp.Expr, scope: Scope) -> Expression | None:
    """As above; None for a NULL whose type its neighbours must tell."""
    if scope.aggregates is not None:
        aggregate = scope.aggregates(node)
        if aggregate is not None:
            return aggregate
    binder = BINDERS.get(type(node))
    if binder is None:
        if isinstance(node, (exp.AggFunc, exp.Filter, exp.WithinGroup)):
            hint = "Aggregates stand in SELECT, HAVING and ORDER BY of the outer SELECT, not in WHERE or one another."
            raise NotSupported(
                f"{named(node, scope.source)} has no place here.", hint=hint, span=scope.source.span(node)
            )
        raise refused(node, scope.source)
    try:
        return binder(node, scope)
    except Refused as error:
        raise scope.source.refuse(error, node) from None


def apply(function: str, *arguments: Expression, scope: Scope) -> Expression:
    """A call, or its value if it is one of constants. Of answers, more is computed: as real numbers if need be."""
    try:
        found = call(function, *arguments)
    except UnknownBounds:
        if scope.aggregates is None:
            raise
        found = call(function, *(_loosened(function, argument) for argument in arguments))
    if all(isinstance(argument, Constant) for argument in arguments):
        value = evaluate(found, {})
        return found if value is None else constant(value)
    return found


def _loosened(function: str, argument: Expression) -> Expression:
    """What is private already needs no bounds: arithmetic is that of real numbers, rounding ends at 2^60."""
    if function in {"floor", "ceiling", "round"}:
        return call("clamp", argument, constant(-(2.0**60)), constant(2.0**60))
    return argument if argument.known.type is Type.REAL else call("to_real", argument)


def together(nodes: Sequence[exp.Expr | None], scope: Scope) -> list[Expression]:
    """Expressions that must be of one type: each tells the NULLs, and dates tell the texts, what they are."""
    found = [None if node is None else _bind(node, scope) for node in nodes]
    typed = next((one for one in found if one is not None), None)
    if typed is None:
        raise NotSupported("a NULL whose type nothing says.", hint="Write CAST(NULL AS INTEGER), or another type.")
    instants = [one for one in found if one is not None and one.known.type in (Type.DATE, Type.TIMESTAMP)]
    if instants:
        found = [_instant(one) for one in found]
        typed = instants[0]
    return [null_like(typed.known) if one is None else one for one in found]


def null_like(known: Known) -> Constant:
    """A NULL of a type. It is no number, so it lies in any range, and takes away no bounds of others."""
    return Constant(None, Known(type=known.type, nullable=True, range=known.range, length=known.length))


def _instant(one: Expression | None) -> Expression | None:
    if isinstance(one, Constant) and isinstance(one.value, str):
        return read_instant(one.value, None)
    return one


# --- by kind of node ------------------------------------------------------------------------------------------------


def _column(node: exp.Expr, scope: Scope) -> Expression:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise refused(node, scope.source)
    return scope.names.resolve(node, scope.source)


def _literal(node: exp.Expr, _: Scope) -> Expression:
    return read_text(node.this) if node.is_string else read_number(node.this)


def _simple(function: str, *parts: str) -> Callable[[exp.Expr, Scope], Expression]:
    """A node whose parts are the arguments of one function."""

    def bind(node: exp.Expr, scope: Scope) -> Expression:
        return apply(function, *(bind_expression(node.args[part], scope) for part in parts or ("this",)), scope=scope)

    return bind


def _binary(function: str) -> Callable[[exp.Expr, Scope], Expression]:
    def bind(node: exp.Expr, scope: Scope) -> Expression:
        return apply(function, *together([node.this, node.expression], scope), scope=scope)

    return bind


def _subtract(node: exp.Expr, scope: Scope) -> Expression:
    one, other = together([node.this, node.expression], scope)
    if one.known.type is other.known.type is Type.DATE:
        return apply("days_between", other, one, scope=scope)
    return apply("subtract", one, other, scope=scope)


def _to_whole(function: str) -> Callable[[exp.Expr, Scope], Expression]:
    """FLOOR, CEIL; of a whole number, that number."""

    def bind(node: exp.Expr, scope: Scope) -> Expression:
        one = bind_expression(node.this, scope)
        return one if one.known.type is Type.INTEGER else apply(function, one, scope=scope)

    return bind


def _round(node: exp.Expr, scope: Scope) -> Expression:
    places = node.args.get("decimals")
    if places is None:
        return _to_whole("round")(node, scope)
    digits = bind_expression(places, scope)
    if not isinstance(digits, Constant) or not isinstance(digits.value, int) or not 0 <= digits.value <= 9:
        raise NotSupported("ROUND takes 0 to 9 places behind the point.", hint="Write ROUND(x, 2).")
    one, power = bind_expression(node.this, scope), constant(10**digits.value)
    if one.known.type is Type.INTEGER:
        return one
    scaled = apply("multiply", one, power, scope=scope)
    return apply("divide", apply("round", scaled, scope=scope), power, scope=scope)


def _extreme(function: str) -> Callable[[exp.Expr, Scope], Expression]:
    def bind(node: exp.Expr, scope: Scope) -> Expression:
        arguments = together([node.this, *node.expressions], scope)
        return _clamped(function, arguments, scope) or apply(function, *arguments, scope=scope)

    return bind


def _clamped(function: str, arguments: list[Expression], scope: Scope) -> Expression | None:
    """LEAST(GREATEST(x, low), high) with constant bounds, in any order, as one bounded value."""
    outer, inner = _bound_of(arguments), None
    if outer is not None and isinstance(outer[0], Call) and outer[0].function in {"greatest", "least"} - {function}:
        inner = _bound_of(outer[0].arguments)
    if outer is None or inner is None:
        return None
    low, high = (inner[1], outer[1]) if function == "least" else (outer[1], inner[1])
    if evaluate(call("less_or_equal", low, high), {}) is not True:
        return None
    return apply("clamp", inner[0], low, high, scope=scope)


def _bound_of(arguments: Sequence[Expression]) -> tuple[Expression, Constant] | None:
    """A value and the one constant number beside it."""
    bounds = [one for one in arguments if isinstance(one, Constant) and isinstance(one.value, (int, float))]
    values = [one for one in arguments if not isinstance(one, Constant)]
    return (values[0], bounds[0]) if len(arguments) == 2 and len(bounds) == len(values) == 1 else None


def _chain(function: str) -> Callable[[exp.Expr, Scope], Expression]:
    """a AND b AND c as one call."""

    def bind(node: exp.Expr, scope: Scope) -> Expression:
        return apply(function, *together(_links(node), scope), scope=scope)

    return bind


def _links(node: exp.Expr) -> list[exp.Expr]:
    kind, waiting, found = type(node), [node], []
    while waiting:
        one = waiting.pop()
        if type(one) is kind:
            waiting += [one.expression, one.this]
        else:
            found.append(one)
    return found


def _is(node: exp.Expr, scope: Scope) -> Expression:
    one = bind_expression(node.this, scope)
    if isinstance(node.expression, exp.Null):
        found = apply("is_null", one, scope=scope)
    elif isinstance(node.expression, exp.Boolean):
        wanted = one if node.expression.this else apply("not", one, scope=scope)
        found = apply("coalesce", wanted, constant(value=False), scope=scope)
    else:
        raise NotSupported("IS takes NULL, TRUE or FALSE.", hint="Write x = y.")
    return _negated(found, node, scope)


def _negated(found: Expression, node: exp.Expr, scope: Scope) -> Expression:
    return apply("not", found, scope=scope) if node.args.get("negate") else found


def _in(node: exp.Expr, scope: Scope) -> Expression:
    one, *others = together([node.this, *node.expressions], scope)
    if not others:
        raise NotSupported("IN takes a list.", hint="Write x IN ('a', 'b').")
    if all(isinstance(other, Constant) for other in others):
        return apply("in", one, *others, scope=scope)
    return apply("or", *(apply("equal", one, other, scope=scope) for other in others), scope=scope)


def _between(node: exp.Expr, scope: Scope) -> Expression:
    one, low, high = together([node.this, node.args["low"], node.args["high"]], scope)
    above, below = apply("greater_or_equal", one, low, scope=scope), apply("less_or_equal", one, high, scope=scope)
    return apply("and", above, below, scope=scope)


def _like(node: exp.Expr, scope: Scope) -> Expression:
    text, pattern = together([node.this, node.expression], scope)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        raise NotSupported("LIKE takes a constant pattern.", hint="Write x LIKE 'a%', or CONTAINS(x, y).")
    if (len(pattern.value) - len(pattern.value.rstrip("\\"))) % 2:
        raise NotSupported("a pattern that ends in \\.", hint="Write \\\\ for the character itself.")
    if isinstance(node, exp.ILike):
        text, pattern = (apply("lower", one, scope=scope) for one in (text, pattern))
    return _negated(apply("like", text, pattern, scope=scope), node, scope)


def _case(node: exp.Expr, scope: Scope) -> Expression:
    ifs, subject = node.args["ifs"], node.args.get("this")
    if subject is None:
        conditions = [bind_expression(one.this, scope) for one in ifs]
    else:
        one, *others = together([subject, *(one.this for one in ifs)], scope)
        conditions = [apply("equal", one, other, scope=scope) for other in others]
    return _chosen(conditions, [*(one.args["true"] for one in ifs), node.args.get("default")], scope)


def _if(node: exp.Expr, scope: Scope) -> Expression:
    return _chosen([bind_expression(node.this, scope)], [node.args["true"], node.args.get("false")], scope)


def _chosen(conditions: list[Expression], nodes: list[exp.Expr | None], scope: Scope) -> Expression:
    *results, otherwise = together(nodes, scope)
    pairs = [one for pair in zip(conditions, results, strict=True) for one in pair]
    return apply("case", *pairs, otherwise, scope=scope)


def _cast(node: exp.Expr, scope: Scope) -> Expression:
    target = TYPES.get(node.args["to"].this)
    if target is None:
        hint = "There are INTEGER, DOUBLE, VARCHAR, BOOLEAN, DATE and TIMESTAMP."
        raise NotSupported(f"the type {node.args['to'].sql('duckdb')} is not supported.", hint=hint)
    one = _bind(node.this, scope)
    return constant(None, target) if one is None else converted(one, target, scope)


def converted(one: Expression, target: Type, scope: Scope) -> Expression:
    """The value as one of another type; NULL if it is none."""
    if one.known.type is target:
        return one
    if isinstance(one, Constant) and isinstance(one.value, str) and target in (Type.DATE, Type.TIMESTAMP):
        return read_instant(one.value, target)
    if target is Type.BOOLEAN:
        return apply("not_equal", one, constant(0), scope=scope)
    return apply(f"to_{target.value}", one, scope=scope)


def _extract(node: exp.Expr, scope: Scope) -> Expression:
    return _date_part(node.this.name, bind_expression(node.expression, scope), scope)


def _date_part(part: str, day: Expression, scope: Scope) -> Expression:
    function = DATE_PARTS.get(part.casefold())
    if function is None:
        hint = f"There are {', '.join(sorted(DATE_PARTS))}."
        raise NotSupported(f"the part {part[:60]} of a date is not supported.", hint=hint)
    return apply(function, day, scope=scope)


def _date_diff(node: exp.Expr, scope: Scope) -> Expression:
    unit = node.args.get("unit")
    if unit is None or unit.name.casefold() != "day":
        raise NotSupported("only days between dates can be counted.", hint="Write DATE_DIFF('day', a, b).")
    later, earlier = (converted(one, Type.DATE, scope) for one in together([node.this, node.expression], scope))
    return apply("days_between", earlier, later, scope=scope)


def _substring(node: exp.Expr, scope: Scope) -> Expression:
    start, count = node.args.get("start"), node.args.get("length")
    first = constant(1) if start is None else bind_expression(start, scope)
    most = constant(10 * LONGEST_TEXT) if count is None else bind_expression(count, scope)
    return _part(bind_expression(node.this, scope), first, most, scope)


def _left(node: exp.Expr, scope: Scope) -> Expression:
    return _part(bind_expression(node.this, scope), constant(1), bind_expression(node.expression, scope), scope)


def _part(text: Expression, first: Expression, most: Expression, scope: Scope) -> Expression:
    if not (isinstance(first, Constant) and isinstance(most, Constant)):
        raise NotSupported("the place and the length of a part must be constants.", hint="Write SUBSTRING(x, 1, 3).")
    return apply("substring", text, first, most, scope=scope)


def _concat(node: exp.Expr, scope: Scope) -> Expression:
    """CONCAT passes over NULLs, other than ||."""
    found = [
        one if not one.known.nullable else apply("coalesce", one, constant(""), scope=scope)
        for one in together(node.expressions, scope)
    ]
    return found[0] if len(found) == 1 else apply("concatenate", *found, scope=scope)


def _named(node: exp.Expr, scope: Scope) -> Expression:
    """The few functions that the parser knows by nothing but their names."""
    listed = NAMED.get(node.name.casefold())
    if listed is None or len(node.expressions) != listed[0]:
        raise refused(node, scope.source)
    return listed[1](node, scope)


def _named_as(function: str) -> Callable[[exp.Expr, Scope], Expression]:
    def bind(node: exp.Expr, scope: Scope) -> Expression:
        return apply(function, *together(node.expressions, scope), scope=scope)

    return bind


def _named_part(node: exp.Expr, scope: Scope) -> Expression:
    part, day = node.expressions
    if not part.is_string:
        raise NotSupported("the part of a date must be a constant.", hint="Write DATE_PART('year', day).")
    return _date_part(part.name, bind_expression(day, scope), scope)


NAMED: Mapping[str, tuple[int, Callable[[exp.Expr, Scope], Expression]]] = {
    "prefix": (2, _named_as("starts_with")),
    "suffix": (2, _named_as("ends_with")),
    "weekday": (1, _named_as("weekday")),
    "date_part": (2, _named_part),
    "datepart": (2, _named_part),
}
"""Functions that the parser knows by nothing but their names, with the number of their arguments."""

TYPES: Mapping[object, Type] = {
    **dict.fromkeys((exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT), Type.INTEGER),
    **dict.fromkeys((exp.DType.DOUBLE, exp.DType.FLOAT), Type.REAL),
    **dict.fromkeys((exp.DType.TEXT, exp.DType.VARCHAR), Type.TEXT),
    **dict.fromkeys((exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ), Type.TIMESTAMP),
    exp.DType.BOOLEAN: Type.BOOLEAN,
    exp.DType.DATE: Type.DATE,
}

DATE_PARTS: Mapping[str, str] = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "day": "day",
    "dow": "weekday",
    "dayofweek": "weekday",
    "weekday": "weekday",
    "doy": "day_of_year",
    "dayofyear": "day_of_year",
    "hour": "hour",
    "minute": "minute",
}

BINDERS: Mapping[type[exp.Expr], Callable[[exp.Expr, Scope], Expression | None]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node, _: constant(bool(node.this)),
    exp.Null: lambda _, __: None,
    exp.Paren: lambda node, scope: _bind(node.this, scope),
    exp.Add: _binary("add"),
    exp.Sub: _subtract,
    exp.Mul: _binary("multiply"),
    exp.Div: _binary("divide"),
    exp.Mod: _binary("modulo"),
    exp.Neg: _simple("negate"),
    exp.Abs: _simple("absolute"),
    exp.Floor: _to_whole("floor"),
    exp.Ceil: _to_whole("ceiling"),
    exp.Round: _round,
    exp.Sqrt: _simple("square_root"),
    exp.Ln: _simple("logarithm"),
    exp.Exp: _simple("exponential"),
    exp.Greatest: _extreme("greatest"),
    exp.Least: _extreme("least"),
    exp.EQ: _binary("equal"),
    exp.NEQ: _binary("not_equal"),
    exp.LT: _binary("less"),
    exp.LTE: _binary("less_or_equal"),
    exp.GT: _binary("greater"),
    exp.GTE: _binary("greater_or_equal"),
    exp.And: _chain("and"),
    exp.Or: _chain("or"),
    exp.Not: _simple("not"),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: lambda node, scope: apply("coalesce", *together([node.this, *node.expressions], scope), scope=scope),
    exp.Nullif: _binary("null_if"),
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Extract: _extract,
    exp.Year: _simple("year"),
    exp.Quarter: _simple("quarter"),
    exp.Month: _simple("month"),
    exp.Day: _simple("day"),
    exp.DayOfMonth: _simple("day"),
    exp.DayOfWeek: _simple("weekday"),
    exp.DayOfYear: _simple("day_of_year"),
    exp.Hour: _simple("hour"),
    exp.Minute: _simple("minute"),
    exp.Date: lambda node, scope: converted(bind_expression(node.this, scope), Type.DATE, scope),
    exp.DateDiff: _date_diff,
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Trim: _simple("trim"),
    exp.Length: _simple("length"),
    exp.Lower: _simple("lower"),
    exp.Upper: _simple("upper"),
    exp.StartsWith: _simple("starts_with", "this", "expression"),
    exp.EndsWith: _simple("ends_with", "this", "expression"),
    exp.Contains: _simple("contains", "this", "expression"),
    exp.Concat: _concat,
    exp.DPipe: _chain("concatenate"),
    exp.Anonymous: _named,
}
