"""Tallies as DuckDB text: the whole number that a row adds, within its bounds.

Real numbers are multiplied by the double nearest to 1/step and rounded, halves to even; or, for bins, the lower end is
taken off, they are multiplied by the double nearest to 1/width, and rounded down. Whole numbers are counted exactly:
floor(x / step + 1/2), floor((x - lower) / width).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privately.engines.duckdb.functions import once
from privately.engines.duckdb.literals import literal, whole
from privately.engines.duckdb.scanning import inward
from privately.errors import InvalidParameter
from privately.plans import BinCounts, Known, Range, StepSum, Type
from privately.plans.types import LARGEST_INTEGER

_SAFE = 2.0**62
_MOST_SUMMED = 2**50
_FARTHEST_STEP = 2**900


def step_text(tally: StepSum, value: str) -> str:
    """How many steps a value adds; NULL if it is NULL.

    Theorem: the number lies between the tally's bounds, or is NULL, whatever the value.
    Reference: elementary
    Proof: docs/theory/engines.md#steps-and-bins
    Checked-by: tests/engines/duckdb/test_tallies.py::test_steps
    """
    known = tally.argument.known
    if known.type is Type.REAL:
        number = _real_steps(tally, value)
    elif tally.step == 1:
        number = value
    else:
        number = _floor(value, 1 / tally.step, Fraction(1, 2), known.range)
    return number if _within(tally, known) else clamped_steps(tally, number)


def clamped_steps(tally: StepSum, number: str) -> str:
    """A whole number brought between the bounds of a tally."""
    low, high = literal(tally.low, Type.INTEGER), literal(tally.high, Type.INTEGER)
    return once(
        number,
        lambda v: f"CASE WHEN {v} < {low} THEN {low} WHEN {v} > {high} THEN {high} ELSE CAST({v} AS BIGINT) END",
    )


def summed_steps(tally: StepSum, bounds: Range, cell: str, kind: Literal["BIGINT", "INTEGER"] = "BIGINT") -> str | None:
    """How many steps a double adds that is not yet brought within the bounds of its column, by sums and sizes alone.

    There is nothing to compare and no branch, which makes it quick. None if steps are no power of two, or too many. The
    bounds of the tally must be of the `kind`, or what is beyond it is NULL.

    Theorem: it is what `step_text` gives for the value that the column declares; NULL where the cell is NULL, NaN or
        infinite.
    Reference: elementary
    Proof: docs/theory/engines.md#steps-by-sums
    Checked-by: tests/engines/duckdb/test_tallies.py::test_steps_by_sums
    """
    sums = sums_of(tally, bounds)
    if sums is None:
        return None
    number = f"{sums.doubles(sums.above(sums.left(cell)))} * {_exactly(sums.factor)}"
    return f"TRY_CAST({number} AS {kind})" if not sums.low else f"TRY_CAST({number} + {_exactly(sums.low)} AS {kind})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What `summed_steps` does, one by one; a multiple of the steps above `low`, in their size, is what they count.

    Of a value its `part` is taken: half of any double can be doubled, and so can what becomes of it; of the largest
    ones that are negative, all of it becomes NaN.
    """

    step: Fraction
    low: Fraction
    high: Fraction
    part: Fraction = Fraction(1, 2)

    @property
    def factor(self) -> Fraction:
        """How many steps one is, of the numbers that `doubles` gives."""
        return 1 / (4 * self.part * self.step)

    def left(self, cell: str) -> str:
        """A part of how far a value is below the upper end, rounded to steps."""
        aside = 3 * 2**51 * self.step * self.part
        taken = cell if self.part == 1 else f"{cell} * {_exactly(self.part)}"
        return f"({_exactly(aside + self.high * self.step * self.part)} - ({taken} + {_exactly(aside)}))"

    def above(self, left: str) -> str:
        """Twice that part of how far a value that is not above the upper end is above the lower."""
        return f"({_exactly(2 * self.part * (self.high - self.low) * self.step)} - ({left} + abs({left})))"

    @staticmethod
    def doubles(above: str) -> str:
        """Twice that, and not less than 0."""
        return f"({above} + abs({above}))"


def sums_of(tally: StepSum, bounds: Range) -> Sums | None:
    """None if steps are no power of two, or too many."""
    low, high = (min(max(steps(tally, end), tally.low), tally.high) for end in inward(bounds))
    if not _is_power_of_two(tally.step) or max(abs(low), abs(high)) > _MOST_SUMMED:
        return None
    return Sums(step=tally.step, low=Fraction(low), high=Fraction(high))


def _is_power_of_two(step: Fraction) -> bool:
    """Whether it is one, of a usual size."""
    longer, shorter = max(step.numerator, step.denominator), min(step.numerator, step.denominator)
    return shorter == 1 and longer <= _FARTHEST_STEP and longer & (longer - 1) == 0


def _exactly(value: Fraction) -> str:
    """A double that is exactly this number."""
    found = float(value)
    assert Fraction(found) == value  # noqa: S101 - powers of two times less than 2^53
    return literal(found, Type.REAL)


def factor(step: Fraction) -> float:
    """The double nearest to 1/step, which must not be 0 or infinite."""
    try:
        found = float(1 / step)
    except OverflowError:
        found = 0.0
    if not found > 0:
        raise InvalidParameter("step", "is too small or too large for doubles.")
    return found


def _real_steps(tally: StepSum, value: str) -> str:
    product = f"({value} * {literal(factor(tally.step), Type.REAL)})"
    if _is_short(tally):
        return f"TRY_CAST({product} AS BIGINT)"
    low, high = literal(tally.low, Type.INTEGER), literal(tally.high, Type.INTEGER)
    edge = literal(_SAFE, Type.REAL)
    return once(
        product,
        lambda v: (
            f"CASE WHEN {v} <= -{edge} THEN {low} WHEN {v} >= {edge} THEN {high} ELSE TRY_CAST({v} AS BIGINT) END"
        ),
    )


def _is_short(tally: StepSum) -> bool:
    """Whether no number of steps comes near the end of 64 bits."""
    known = tally.argument.known.range
    return known is not None and known.magnitude * Fraction(factor(tally.step)) < LARGEST_INTEGER // 2


def skips_nan(tally: StepSum | BinCounts) -> bool:
    """Whether the text makes NULL of NaN, as it does of NULL."""
    if tally.argument.known.type is not Type.REAL:
        return False
    return _is_short(tally) if isinstance(tally, StepSum) else _fits_bins(tally)


def _within(tally: StepSum, known: Known) -> bool:
    """Whether the range of the argument keeps the steps within the bounds: all that is done to it is monotone."""
    if known.range is None or known.range.magnitude >= 2**1000:
        return False
    ends = (known.range.lower, known.range.upper)
    low, high = (steps(tally, float(end) if known.type is Type.REAL else int(end)) for end in ends)
    return tally.low <= low and high <= tally.high


def steps(tally: StepSum, value: float) -> int:
    """What `step_text` means, before the bounds, for a value that is not too far out."""
    if isinstance(value, float):
        product = value * factor(tally.step)
        return round(product) if abs(product) < _SAFE else (1 if product > 0 else -1) * LARGEST_INTEGER * 2
    return (Fraction(value) / tally.step + Fraction(1, 2)).__floor__() if tally.step != 1 else value


def bin_text(tally: BinCounts, value: str) -> str:
    """The number of the bin that a value is in, from 0 on; NULL if it is NULL.

    Theorem: it is one of the tally's bins, or one more, which counts as the last, or NULL, whatever the value.
    Reference: elementary
    Proof: docs/theory/engines.md#steps-and-bins
    Checked-by: tests/engines/duckdb/test_tallies.py::test_bins
    """
    last, known = tally.bins - 1, tally.argument.known
    if known.type is Type.REAL:
        lower, scale = literal(_double(tally.lower), Type.REAL), literal(factor(tally.width), Type.REAL)
        above = value if tally.lower == 0 else f"({value} - {lower})"
        place, inside = f"({above} * {scale})", "TRY_CAST(floor({v}) AS INTEGER)"
    else:
        place = _floor(value, 1 / tally.width, -tally.lower / tally.width, known.range)
        inside = "TRY_CAST({v} AS INTEGER)"
    if _fits_bins(tally):
        return inside.format(v=place)
    first, end = (literal(edge, known.type) for edge in (1, last))
    return once(
        place,
        lambda v: f"CASE WHEN {v} < {first} THEN 0 WHEN {v} >= {end} THEN {last} ELSE {inside.format(v=v)} END",
    )


def _fits_bins(tally: BinCounts) -> bool:
    """Whether the range of the argument leaves nothing outside the bins, but perhaps in one more: it is monotone."""
    known = tally.argument.known
    if known.range is None or known.range.magnitude >= 2**62:
        return False
    ends = (known.range.lower, known.range.upper)
    if known.type is Type.REAL:
        low, high = ((float(end) - _double(tally.lower)) * factor(tally.width) for end in ends)
        return low >= 0 and high < tally.bins + 1
    return all(0 <= (end - tally.lower) / tally.width < tally.bins for end in ends)


def _double(value: Fraction) -> float:
    if abs(value) >= 2**1000:
        raise InvalidParameter("lower", "is too large for doubles.")
    return float(value)


def _floor(value: str, times: Fraction, plus: Fraction, known: Range | None) -> str:
    """floor(times x + plus) of a whole number x, exactly, with 128 bits, or with 64 if what is known of x allows it."""
    bottom = math.lcm(times.denominator, plus.denominator)
    slope, offset = int(times * bottom), int(plus * bottom)
    if max(bottom, slope) >= 2**60 or abs(offset) >= 2**120:
        raise InvalidParameter("step", "is no simple enough fraction for whole numbers.")
    if known is not None and known.magnitude * slope + abs(offset) + 2 * bottom < LARGEST_INTEGER:
        top = f"(CAST({value} AS BIGINT) * {slope}::BIGINT + ({offset})::BIGINT)"
        below, positive = f"{bottom}::BIGINT", known.lower * slope + offset >= 0
    else:
        top = f"(CAST({value} AS HUGEINT) * {whole(slope)} + {whole(offset)})"
        below, positive = whole(bottom), False
    if bottom == 1:
        return top
    if positive:
        return f"({top} // {below})"
    return once(top, lambda v: f"(({v} - (({v} % {below}) + {below}) % {below}) // {below})")
