"""The list of what is understood: node by node, and of each node part by part. All else is refused.

A part that is not on the list is refused even where it would change nothing: what we do not read, we do not answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from privately.errors import NotSupported
from privately.query.spans import Source, place_of

MOST_NODES = 30_000
DEEPEST = 120

_ONE = frozenset({"this"})
_TWO = frozenset({"this", "expression"})
_MANY = frozenset({"this", "expressions"})

UNDERSTOOD: Mapping[type[exp.Expr], frozenset[str]] = {
    # rows and groups
    exp.Select: frozenset({"with_", "expressions", "from_", "where", "group", "having", "order", "limit"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias", "materialized"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.From: _ONE,
    exp.Table: frozenset({"this", "alias"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Where: _ONE,
    exp.Group: frozenset({"expressions"}),
    exp.Having: _ONE,
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc"}),
    exp.Limit: frozenset({"expression"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Star: frozenset(),
    # values
    exp.Column: frozenset({"this", "table"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: _ONE,
    exp.Null: frozenset(),
    exp.Paren: _ONE,
    exp.Var: _ONE,
    exp.DataType: frozenset({"this", "nested"}),
    # numbers
    exp.Add: _TWO,
    exp.Sub: _TWO,
    exp.Mul: _TWO,
    exp.Div: _TWO | {"typed", "safe"},
    exp.Mod: _TWO,
    exp.Neg: _ONE,
    exp.Abs: _ONE,
    exp.Floor: _ONE,
    exp.Ceil: _ONE,
    exp.Round: frozenset({"this", "decimals"}),
    exp.Sqrt: _ONE,
    exp.Ln: _ONE,
    exp.Exp: _ONE,
    exp.Greatest: _MANY | {"ignore_nulls"},
    exp.Least: _MANY | {"ignore_nulls"},
    # comparisons and logic
    exp.EQ: _TWO,
    exp.NEQ: _TWO,
    exp.LT: _TWO,
    exp.LTE: _TWO,
    exp.GT: _TWO,
    exp.GTE: _TWO,
    exp.And: _TWO,
    exp.Or: _TWO,
    exp.Not: _ONE,
    exp.Is: _TWO | {"negate"},
    exp.In: _MANY,
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Like: _TWO | {"negate"},
    exp.ILike: _TWO | {"negate"},
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true", "false"}),
    exp.Coalesce: _MANY,
    exp.Nullif: _TWO,
    # conversions
    exp.Cast: frozenset({"this", "to", "safe"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    # dates
    exp.Extract: _TWO,
    exp.Year: _ONE,
    exp.Quarter: _ONE,
    exp.Month: _ONE,
    exp.Day: _ONE,
    exp.DayOfMonth: _ONE,
    exp.DayOfWeek: _ONE,
    exp.DayOfYear: _ONE,
    exp.Hour: _ONE,
    exp.Minute: _ONE,
    exp.Date: _ONE,
    exp.DateDiff: _TWO | {"unit", "date_part_boundary"},
    # texts
    exp.Substring: frozenset({"this", "start", "length"}),
    exp.Left: _TWO,
    exp.Trim: _ONE,
    exp.Length: _ONE,
    exp.Lower: _ONE,
    exp.Upper: _ONE,
    exp.StartsWith: _TWO,
    exp.EndsWith: _TWO,
    exp.Contains: _TWO,
    exp.Concat: frozenset({"expressions", "safe", "coalesce"}),
    exp.DPipe: _TWO | {"safe"},
    # functions by name, of which expressions.py lists the few that there are
    exp.Anonymous: _MANY,
    # aggregates
    exp.Count: frozenset({"this", "big_int"}),
    exp.CountIf: _ONE,
    exp.Distinct: frozenset({"expressions"}),
    exp.Sum: _ONE,
    exp.Avg: _ONE,
    exp.Median: _ONE,
    exp.Quantile: frozenset({"this", "quantile"}),
    exp.PercentileCont: _TWO,
    exp.WithinGroup: _TWO,
    exp.Filter: _TWO,
    exp.Variance: _ONE,
    exp.VariancePop: _ONE,
    exp.Stddev: _ONE,
    exp.StddevPop: _ONE,
}

_WINDOWS = "Ask for one number per group: SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward."
_JOINS = "Ask about one table: SELECT ... FROM visits WHERE ...; join tables before they are opened."
_FILTERS = "Put the condition into WHERE, or use x IN ('a', 'b') with a list of constants."
_EXTREMES = "One person decides it; ask for PERCENTILE_CONT({}) WITHIN GROUP (ORDER BY x) instead."
_ONE_TABLE = "Name one of the opened tables: FROM visits."
_CLOCK = "Write the day as a constant: DATE '2026-01-31'."

HINTS: Mapping[type[exp.Expr], str] = {
    exp.Window: _WINDOWS,
    exp.Qualify: _WINDOWS,
    exp.Join: _JOINS,
    exp.Lateral: _JOINS,
    exp.Unnest: _JOINS,
    exp.Union: "Use one SELECT, and OR or IN in its WHERE.",
    exp.Intersect: "Use one SELECT, and AND in its WHERE.",
    exp.Except: "Use one SELECT, and NOT in its WHERE.",
    exp.Subquery: _FILTERS,
    exp.Select: _FILTERS,
    exp.Exists: _FILTERS,
    exp.Any: _FILTERS,
    exp.All: _FILTERS,
    exp.Min: _EXTREMES.format("0.05"),
    exp.Max: _EXTREMES.format("0.95"),
    exp.ApproxDistinct: "People can be counted: COUNT(DISTINCT patient), by the column that names them.",
    exp.TableSample: "Leave it out; a sample makes no answer more private here.",
    exp.Pivot: "Use one aggregate for each: COUNT(*) FILTER (WHERE ward = 'a') AS a.",
    exp.StddevSamp: "Write STDDEV_POP(x); it differs by a factor of n / (n - 1) under the root.",
    exp.PercentileDisc: "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).",
    exp.IntDiv: "Write FLOOR(a / b).",
    exp.Pow: "Write x * x.",
    exp.Log: "Write LN(x), the natural logarithm; LN(x) / LN(10) is the decimal one.",
    exp.Interval: "Compare with a constant, DATE '2026-01-31', or count days: DATE_DIFF('day', a, b) > 30.",
    exp.TimestampTrunc: "Group by parts: GROUP BY EXTRACT(YEAR FROM d), EXTRACT(MONTH FROM d).",
    exp.RegexpLike: "Use LIKE 'a%', STARTS_WITH, ENDS_WITH or CONTAINS.",
    exp.SimilarTo: "Use LIKE 'a%', STARTS_WITH, ENDS_WITH or CONTAINS.",
    exp.Glob: "Use LIKE 'a%', STARTS_WITH, ENDS_WITH or CONTAINS.",
    exp.Escape: "In a pattern, \\% and \\_ are the characters themselves.",
    exp.NullSafeEQ: "Write a = b OR (a IS NULL AND b IS NULL).",
    exp.NullSafeNEQ: "Write a <> b, and IS NULL for what is missing.",
    exp.CurrentDate: _CLOCK,
    exp.CurrentTimestamp: _CLOCK,
    exp.Rand: "Nothing random is part of a question; the noise is added to the answer.",
    exp.Array: "Write one value at a time: MEDIAN(x), QUANTILE_CONT(x, 0.9).",
    exp.Tuple: "Write the values one by one, separated by commas.",
    exp.Placeholder: "Write the value itself.",
    exp.Parameter: "Write the value itself.",
    exp.Fetch: "Write LIMIT 10.",
    exp.DataTypeParam: "Write the type alone: DOUBLE, VARCHAR.",
    exp.Rollup: "Ask for each grouping in a question of its own.",
    exp.Cube: "Ask for each grouping in a question of its own.",
    exp.GroupingSets: "Ask for each grouping in a question of its own.",
    exp.ByteString: "Write a plain text: 'abc'.",
    exp.RawString: "Write a plain text: 'abc'.",
    exp.Values: _ONE_TABLE,
    exp.ReadCSV: _ONE_TABLE,
    exp.ReadParquet: _ONE_TABLE,
}

PARTS: Mapping[tuple[type[exp.Expr], str], str] = {
    (exp.Select, "distinct"): "Use GROUP BY, with a COUNT(*) beside the groups.",
    (exp.Select, "joins"): _JOINS,
    (exp.Select, "laterals"): _JOINS,
    (exp.Select, "qualify"): _WINDOWS,
    (exp.Select, "windows"): _WINDOWS,
    (exp.Select, "offset"): "Leave OFFSET out; the answer can be cut afterwards.",
    (exp.Select, "sample"): HINTS[exp.TableSample],
    (exp.Table, "sample"): HINTS[exp.TableSample],
    (exp.Table, "db"): "Name the table alone: FROM visits.",
    (exp.Table, "joins"): _JOINS,
    (exp.Column, "db"): "Write the column alone, or table.column.",
    (exp.With, "recursive"): "Leave RECURSIVE out; a WITH here only names projections and filters.",
    (exp.In, "query"): _FILTERS,
    (exp.In, "field"): _FILTERS,
    (exp.Order, "this"): "Leave the ORDER BY out of the aggregate.",
    (exp.Ordered, "nulls_first"): "NULL comes last here: write NULLS LAST, or nothing.",
    (exp.Group, "all"): "Name the columns to group by: GROUP BY ward.",
    (exp.Group, "rollup"): HINTS[exp.Rollup],
    (exp.Group, "cube"): HINTS[exp.Cube],
    (exp.Group, "grouping_sets"): HINTS[exp.GroupingSets],
    (exp.Distinct, "on"): "Use GROUP BY, with a COUNT(*) beside the groups.",
    (exp.Trim, "position"): "TRIM(x) takes spaces from both ends.",
    (exp.Trim, "expression"): "TRIM(x) takes spaces from both ends.",
    (exp.Limit, "limit_options"): "Write LIMIT 10.",
    (exp.Star, "except_"): "List the columns.",
    (exp.Star, "replace"): "List the columns.",
}

GENERAL = (
    "There are COUNT, SUM, AVG, MEDIAN, QUANTILE_CONT, VARIANCE and STDDEV, arithmetic, comparisons, CASE, IN, LIKE, "
    "COALESCE, TRY_CAST, EXTRACT, and functions of one row such as ABS, ROUND, LOWER and SUBSTRING."
)


def check(tree: exp.Expr, source: Source) -> None:
    """Passes if every node is understood, and every part of it; and if there are not too many, one in the other."""
    for count, (node, depth) in enumerate(_nodes(tree)):
        if count >= MOST_NODES or depth > DEEPEST:
            raise NotSupported("this is too large a question.", hint="Ask for less.", span=(0, len(source.text)))
        parts = UNDERSTOOD.get(type(node))
        if parts is None:
            raise refused(node, source)
        for name, value in node.args.items():
            if value and name not in parts:
                raise _refused_part(node, name, source)


def _nodes(tree: exp.Expr) -> Iterator[tuple[exp.Expr, int]]:
    """Every node and how deep it is, from the top; a AND b AND c is no deeper than a AND b."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        for inner in reversed(list(node.iter_expressions())):
            chained = type(inner) is type(node) and isinstance(node, (exp.And, exp.Or))
            waiting.append((inner, depth if chained else depth + 1))


def refused(node: exp.Expr, source: Source) -> NotSupported:
    """That this kind of node is none that is understood."""
    hint = next((HINTS[kind] for kind in type(node).__mro__ if kind in HINTS), GENERAL)
    name = "a SELECT in an expression" if isinstance(node, (exp.Subquery, exp.Select)) else named(node, source)
    return NotSupported(f"{name} is not supported.", hint=hint, span=source.span(node))


def _refused_part(node: exp.Expr, name: str, source: Source) -> NotSupported:
    value = node.args[name]
    first = value[0] if isinstance(value, list) and value else value
    inner = first if isinstance(first, exp.Expr) else node
    hint = PARTS.get((type(node), name)) or HINTS.get(type(inner), GENERAL)
    word = name.strip("_").removesuffix("s").replace("_", " ").upper()
    return NotSupported(f"{word} in {named(node, source)} is not supported.", hint=hint, span=source.span(inner))


def named(node: exp.Expr, source: Source) -> str:
    """What a node is called in SQL: a function by the word that was written, if its place is known."""
    if isinstance(node, exp.Func):
        place = place_of(node)
        return source.text[slice(*place)] if place else node.sql_name()
    return type(node).__name__.upper()
