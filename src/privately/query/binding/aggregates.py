"""Aggregates of SQL as estimates, made of tallies of whole numbers. Equal tallies are asked for once.

VARIANCE, VAR_POP, STDDEV and STDDEV_POP are all of the values themselves (a division by n): the sample versions differ
by a factor of n / (n - 1), far less than the noise, and those that name it (VAR_SAMP, STDDEV_SAMP) are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from privately.errors import InvalidParameter, NotSupported, Refused, UnknownBounds
from privately.mechanisms.ranked_points import LARGEST_DENOMINATOR
from privately.plans import (
    BinCounts,
    Call,
    Column,
    Constant,
    Estimate,
    Expression,
    Field,
    Identity,
    Known,
    Mean,
    Number,
    Quantile,
    Range,
    RowCount,
    Scan,
    Spread,
    StepSum,
    Tally,
    Type,
    UnitCount,
    constant,
)
from privately.plans.columns import MOST_BINS
from privately.plans.types import LARGEST_INTEGER
from privately.query.binding.expressions import Scope, apply, bind_expression, null_like
from privately.query.binding.relations import bind_condition
from privately.query.grammar import named
from privately.query.spans import Source
from privately.rounding import decimal_text

MOST_TALLIES = 100
_BINS = 2**16
_FINEST = 2**24
_FINEST_SQUARES = 2**28
COARSEST = 2**800
"""Of such steps 2^62 for each of 2^63 rows, divided by a 2^62nd of a row, are still a number that a double holds."""
_BOUNDS = (
    "Declare bounds of the column, such as bounds=(0, 100), or write them into the question: "
    "SUM(LEAST(GREATEST(x, 0), 100))."
)


@dataclass(slots=True, kw_only=True)
class Aggregates:
    """The tallies and estimates that a question needs, as they are found in it."""

    rows: Scope
    scan: Scan
    tallies: dict[Tally, Identity] = field(default_factory=dict)
    estimates: dict[tuple[object, ...], Estimate] = field(default_factory=dict)

    def bind(self, node: exp.Expr) -> Expression | None:
        """What an aggregate is worth in the answer; None if the node is no aggregate."""
        condition, inner = None, node
        if isinstance(node, exp.Filter):
            condition, inner = node.expression, node.this
        kind = type(inner)
        if isinstance(inner, exp.Anonymous) and inner.name.casefold() == "mean" and len(inner.expressions) == 1:
            kind, inner = exp.Avg, exp.Avg(this=inner.expressions[0])
        binder = AGGREGATES.get(kind)
        if binder is None:
            return None
        try:
            found = binder(self, inner, None if condition is None else condition.this)
        except Refused as error:
            raise self.source.refuse(error, node) from None
        except InvalidParameter as error:  # no tally can be made of numbers that are so large, or so small
            message = error.message.removeprefix(f"{error.field}: ")
            raise UnknownBounds(message, hint=error.hint or _BOUNDS, span=self.source.span(node)) from None
        if len(self.tallies) > MOST_TALLIES:
            hint = f"A question may need {MOST_TALLIES}; ask several."
            raise NotSupported("too many aggregates.", hint=hint, span=self.source.span(node))
        return found

    @property
    def source(self) -> Source:
        return self.rows.source

    def argument(self, node: exp.Expr, condition: exp.Expr | None) -> Expression:
        """What is aggregated; with FILTER (WHERE ...) it is NULL in all other rows."""
        return self._where(bind_expression(node, self.rows), condition)

    def number(self, node: exp.Expr, condition: exp.Expr | None) -> Expression:
        """A number to be aggregated; true counts as 1."""
        found = bind_expression(node, self.rows)
        if found.known.type is Type.BOOLEAN:
            found = apply("to_integer", found, scope=self.rows)
        if not found.known.type.is_number:
            raise _no_number(found, self.source.span(node))
        if found.known.range is None:
            raise UnknownBounds("nothing bounds this number.", hint=_BOUNDS, span=self.source.span(node))
        if found.known.loose:
            raise _loose(found.known.range, node.sql(dialect="duckdb", comments=False), self.source.span(node))
        return self._where(found, condition)

    def _where(self, found: Expression, condition: exp.Expr | None) -> Expression:
        if condition is None:
            return found
        return apply("case", bind_condition(condition, self.rows), found, null_like(found.known), scope=self.rows)

    def tally(self, tally: Tally, name: str) -> Identity:
        """The identity of a tally, the same for the same one."""
        if tally not in self.tallies:
            self.tallies[tally] = self.rows.binding.identity(name)
        return self.tallies[tally]

    def count(self, argument: Expression | None) -> Identity:
        """The count of rows in which the argument is not NULL.

        Where a column is declared to be never NULL, it is the count of all rows, which an average then shares with
        COUNT(*). Data may break that promise, and such a row counts as a 0 in an average; so only if a 0 is within the
        bounds anyway.
        """
        return self.tally(RowCount(argument=None if argument is None or _always(argument) else argument), "count")

    def estimate(self, known: Known, *parts: object, make: Callable[[Identity], Estimate]) -> Field:
        """The value of an estimate in the answer, the same for the same one."""
        if parts not in self.estimates:
            self.estimates[parts] = make(self.rows.binding.identity(str(parts[0])))
        return Field(self.estimates[parts].identity, known)

    # --- by kind of aggregate -----------------------------------------------------------------------------------------

    def number_of(self, name: str, tally: Identity, step: Fraction = Fraction(1), *, whole: bool = True) -> Field:
        known = Known(type=Type.INTEGER if whole else Type.REAL, nullable=False)
        return self.estimate(
            known, name, tally, make=lambda identity: Number(identity=identity, tally=tally, step=step)
        )

    def bind_count(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        counted = node.this
        if isinstance(counted, exp.Distinct):
            return self._count_units(counted, condition)
        if counted is None:
            raise NotSupported("COUNT of nothing.", hint="Write COUNT(*).")
        if isinstance(counted, exp.Star):
            argument = None if condition is None else self._where(constant(value=True), condition)
            return self.number_of("count", self.count(argument))
        return self.number_of("count", self.count(self.argument(counted, condition)))

    def _count_units(self, counted: exp.Distinct, condition: exp.Expr | None) -> Field:
        """Units are counted if what is counted is the very value that names them, whatever it is called by now."""
        unit = self.scan.table.unit.column
        hint = "" if unit is None else f"COUNT(DISTINCT {unit}) can be asked for."
        if condition is not None:
            raise NotSupported("COUNT(DISTINCT ...) takes no FILTER.", hint="Put the condition into WHERE.")
        if not counted.expressions:
            raise NotSupported("COUNT of nothing.", hint=hint or "Write COUNT(*).")
        (first, *more) = [bind_expression(one, self.rows) for one in counted.expressions]
        pairs = zip(self.scan.identities, self.scan.table.columns, strict=True)
        units = {identity for identity, column in pairs if column.name == unit}
        if more or not isinstance(first, Field) or first.identity not in units:
            hint = hint or "Use GROUP BY to count the rows of each value."
            message = "only people can be counted apart, by the column that names them."
            raise NotSupported(message, hint=hint, span=self.source.span(counted))
        return self.number_of("units", self.tally(UnitCount(), "units"))

    def bind_count_if(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        chosen = self._where(constant(value=True), node.this)
        chosen = self._where(chosen, condition)
        return self.number_of("count", self.count(chosen))

    def bind_sum(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        argument = self.number(node.this, condition)
        total = self.step_sum(argument, wide=False)
        whole = argument.known.type is Type.INTEGER
        return self.number_of("sum", self.tally(total, "sum"), total.step, whole=whole)

    def bind_average(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        argument = self.number(node.this, condition)
        total, count = self.tally(self.step_sum(argument, wide=True), "sum"), self.count(argument)
        return self.estimate(
            _REAL, "mean", total, count, make=lambda identity: Mean(identity=identity, total=total, count=count)
        )

    def bind_spread(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        name = self.source.words(node).casefold()
        if name.startswith(("var_samp", "variance_samp", "stddev_samp")):
            raise NotSupported("the sample version is not supported.", hint="Write VAR_POP(x) or STDDEV_POP(x).")
        argument = self.number(node.this, condition)
        sums = self.step_sum(argument, wide=True)
        total, count = self.tally(sums, "sum"), self.count(argument)
        centre = _centre(argument)
        squares = self.tally(self.square_sum(argument, sums.step, centre), "squares")
        root = isinstance(node, (exp.Stddev, exp.StddevPop))
        return self.estimate(
            _REAL,
            "deviation" if root else "variance",
            total,
            squares,
            make=lambda identity: Spread(
                identity=identity, total=total, squares=squares, count=count, root=root, centre=Fraction(centre)
            ),
        )

    def bind_median(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        return self._quantile(node.this, Fraction(1, 2), condition)

    def bind_quantile(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        share = node.args.get("quantile") or node.args.get("expression")
        if share is None:
            hint = "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), or QUANTILE_CONT(x, 0.5)."
            raise NotSupported("a quantile of nothing.", hint=hint)
        return self._quantile(node.this, self._share(share), condition)

    def bind_within(self, node: exp.Expr, condition: exp.Expr | None) -> Field:
        ordered = node.expression.expressions if isinstance(node.expression, exp.Order) else []
        if not isinstance(node.this, exp.PercentileCont) or node.this.expression is not None or len(ordered) != 1:
            hint = "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."
            raise NotSupported(f"{named(node.this, self.source)} WITHIN GROUP is not supported.", hint=hint)
        share = self._share(node.this.this)
        return self._quantile(ordered[0].this, 1 - share if ordered[0].args.get("desc") else share, condition)

    def _share(self, node: exp.Expr) -> Fraction:
        """A probability, exactly as it is written."""
        found = bind_expression(node, self.rows)
        value = found.value if isinstance(found, Constant) else None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
            hint = "Write one such as 0.5; for several, write several quantiles."
            raise NotSupported("a quantile needs a constant between 0 and 1.", hint=hint, span=self.source.span(node))
        share = Fraction(node.name) if isinstance(node, exp.Literal) else Fraction(value)
        if share.denominator > LARGEST_DENOMINATOR:
            hint = "Write one with up to six digits, such as 0.999."
            raise NotSupported("a quantile that is too fine.", hint=hint, span=self.source.span(node))
        return share

    def _quantile(self, node: exp.Expr, share: Fraction, condition: exp.Expr | None) -> Field:
        bins = self.tally(self.bin_counts(self.number(node, condition)), "bins")
        return self.estimate(
            _REAL,
            "quantile",
            bins,
            share,
            make=lambda identity: Quantile(identity=identity, bins=bins, probability=share),
        )

    # --- tallies ------------------------------------------------------------------------------------------------------

    def step_sum(self, argument: Expression, *, wide: bool) -> StepSum:
        """The sum in steps: 1 for whole numbers, that of the column, or else a 2^24th of the range.

        Rounding to steps keeps the order, so the rounded ends of the range bound the rounded values. An average needs
        bounds that differ (`wide`).
        """
        range_ = _range(argument)
        step = self._step(argument, range_)
        low, high = (_nearest(end / step) for end in (range_.lower, range_.upper))
        return _sum(argument, step, low, high + (wide and low == high))

    def _column(self, argument: Expression) -> Column | None:
        """The column that an argument is, or is where a condition holds (FILTER), and NULL elsewhere."""
        if isinstance(argument, Call) and argument.function == "case" and len(argument.arguments) == 3:
            _, chosen, other = argument.arguments
            argument = chosen if isinstance(other, Constant) and other.value is None else argument
        return self.rows.binding.columns.get(argument.identity) if isinstance(argument, Field) else None

    def _step(self, argument: Expression, range_: Range) -> Fraction:
        column = self._column(argument)
        if argument.known.type is Type.INTEGER:
            return Fraction(1)
        if column is not None and column.step is not None:
            return column.step
        return power_of_two_below((range_.upper - range_.lower or range_.magnitude or Fraction(1)) / _FINEST)

    def square_sum(self, argument: Expression, step: Fraction, centre: float) -> StepSum:
        """The sum of the squares of x - centre, in squared steps, made coarser until 2^28 of them are enough.

        Finer ones would be lost in the noise, and noise that spans too many steps cannot be drawn.

        The nearer the centre is to the middle of the bounds, the smaller are the squares, and the noise on them.
        """
        if centre:
            argument = apply("subtract", argument, constant(centre), scope=self.rows)
        range_ = _range(argument)
        if argument.known.type is Type.INTEGER and range_.magnitude**2 >= LARGEST_INTEGER:
            argument = apply("to_real", argument, scope=self.rows)
        most = range_.magnitude**2
        square = step**2
        while most / square > _FINEST_SQUARES:
            square *= 4
        squared = apply("multiply", argument, argument, scope=self.rows)
        return _sum(squared, square, 0, max(_nearest(most / square), 1))

    def bin_counts(self, argument: Expression) -> BinCounts:
        """Bins of the resolution of the column, or a 2^16th of the range; a whole number is in the middle of its bin.

        They are of one width, which is made smaller, for whole numbers down to a whole one, so that they fit.
        """
        range_, column = _range(argument), self._column(argument)
        width, wanted = range_.upper - range_.lower, None if column is None else column.resolution
        if argument.known.type is Type.INTEGER:
            wanted = width / _BINS if wanted is None else wanted
            size = Fraction(max(math.ceil((width + 1) / MOST_BINS), math.floor(wanted), 1))
            lower, bins = range_.lower - Fraction(1, 2), math.ceil((width + 1) / size)
            return BinCounts(argument=argument, lower=lower, width=size, bins=bins)
        bins = 1 if not width else _BINS if wanted is None else math.ceil(width / wanted)
        return BinCounts(argument=argument, lower=range_.lower, width=width / bins or Fraction(1), bins=bins)


_REAL = Known(type=Type.REAL, nullable=True)

AGGREGATES: Mapping[type[exp.Expr], Callable[[Aggregates, exp.Expr, exp.Expr | None], Field]] = {
    exp.Count: Aggregates.bind_count,
    exp.CountIf: Aggregates.bind_count_if,
    exp.Sum: Aggregates.bind_sum,
    exp.Avg: Aggregates.bind_average,
    exp.Median: Aggregates.bind_median,
    exp.Quantile: Aggregates.bind_quantile,
    exp.PercentileCont: Aggregates.bind_quantile,
    exp.WithinGroup: Aggregates.bind_within,
    exp.Variance: Aggregates.bind_spread,
    exp.VariancePop: Aggregates.bind_spread,
    exp.Stddev: Aggregates.bind_spread,
    exp.StddevPop: Aggregates.bind_spread,
}


def _always(argument: Expression) -> bool:
    """Whether the count of an argument may be that of all rows."""
    known = argument.known
    if isinstance(argument, Constant):
        return argument.value is not None
    return not known.nullable and known.range is not None and 0 in known.range


def _no_number(found: Expression, span: tuple[int, int] | None) -> NotSupported:
    """Of a column that nobody declared it is not the question that has to change."""
    if isinstance(found, Field) and found.known.type is Type.TEXT:
        name = found.identity.name
        numbers = '{type = "real", bounds = [0, 100]}'
        hint = f"Declare it as a number, {name} = {numbers} (columns of CSV files are texts until then), or count it."
        return NotSupported(f"{name} is a text, as far as it is declared.", hint=hint, span=span)
    hint = "Count it, COUNT(x), or convert it: TRY_CAST(x AS DOUBLE)."
    return NotSupported("this is no number.", hint=hint, span=span)


def _loose(range_: Range, words: str, span: tuple[int, int]) -> UnknownBounds:
    """Noise for all that such a number could be would drown what it is."""
    low, high = (decimal_text(end, 3, "ROUND_HALF_EVEN") for end in (range_.lower, range_.upper))
    shown = words if len(words) <= 60 else "x"
    hint = f"Write bounds that make sense into the question: LEAST(GREATEST({shown}, 0), 100)."
    message = f"nothing that was declared bounds this number: it could be anything from {low} to {high}."
    return UnknownBounds(message, hint=hint, span=span)


def _range(argument: Expression) -> Range:
    found = argument.known.range
    if found is None:
        raise UnknownBounds("nothing bounds this number.", hint=_BOUNDS)
    return found


def _centre(argument: Expression) -> float:
    """About the middle of the range, whole for whole numbers; 0 where that is little worse, or numbers are huge."""
    range_ = _range(argument)
    middle = (range_.lower + range_.upper) / 2
    if abs(middle) * 4 <= range_.upper - range_.lower or abs(middle) >= LARGEST_INTEGER:
        return 0
    return math.floor(middle) if argument.known.type is Type.INTEGER else float(middle)


def _sum(argument: Expression, step: Fraction, low: int, high: int) -> StepSum:
    if max(abs(low), abs(high)) >= LARGEST_INTEGER or step > COARSEST:
        raise UnknownBounds("the bounds of this number are too far apart to sum it exactly.", hint=_BOUNDS)
    return StepSum(argument=argument, step=step, low=low, high=high)


def _nearest(value: Fraction) -> int:
    """Halves away from 0, as everywhere in a plan."""
    below = math.floor(abs(value) + Fraction(1, 2))
    return -below if value < 0 else below


def power_of_two_below(value: Fraction) -> Fraction:
    """The largest power of two that is not above it."""
    power = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())
    return power if power <= value else power / 2
