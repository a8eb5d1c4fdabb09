"""Questions about people, for the quick way: one number per row that holds all that counts, and no order by DuckDB.

Numbers must not depend on any other row: a group is numbered by its place in a list that was given beforehand, a value
by its distance from a bound that follows from the declaration. Where that cannot be done, DuckDB orders the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privately.engines.duckdb.emission import (
    Reading,
    marks_of,
    number_text,
    only_grouped,
    relation_text,
    steps_of,
    used_in,
)
from privately.engines.duckdb.expressions import expression_text
from privately.engines.duckdb.literals import literal, text
from privately.engines.duckdb.programs import Choice, Part
from privately.engines.duckdb.ranking import KEY_BYTES
from privately.engines.duckdb.scanning import may_be_cut
from privately.engines.duckdb.stored import Stored
from privately.engines.duckdb.tallies import bin_text
from privately.engines.protocol import MOST_SLOTS
from privately.plans import (
    Aggregation,
    BinCounts,
    Expression,
    Field,
    Identity,
    Key,
    RowCount,
    StepSum,
    Table,
    Tally,
    Type,
    UnitCount,
    scan_of,
)
from privately.plans.units import Unit

_LARGEST_NUMBER = 2**62
_LARGEST_DIGIT = 2**32
_LARGEST_SHORT = 2**31 - 1
_MOST_GROUPS = 2**16
_SHORT_LIST = 64


def choice_of(aggregation: Aggregation, stored: Stored, key: bytes) -> Choice | None:
    """The quick way to choose rows, for a table that is not prepared; None if there is none."""
    if not _may_choose(aggregation, stored):
        return None
    scan = scan_of(aggregation.source)
    bare = bare_keys(aggregation, stored)
    reading = Reading(stored, key, scan.identities, used_in(aggregation), bare, marks=True)
    codes = [listed_code(one, place, reading) for place, one in enumerate(aggregation.keys)]
    known = [one for one in codes if one is not None]
    digits = _Digits(reading)
    parts = tuple(digits.part(tally) for _, tally in aggregation.tallies)
    groups = math.prod(len(one.values) for one in known)
    sizes = rounded_sizes((groups + 1, *digits.sizes))
    if len(known) < len(codes) or groups > _MOST_GROUPS or max(sizes) > _LARGEST_DIGIT:
        return None
    slots = sizes[0] * sum(part.bins + 2 for part in parts if part.kind == "bins")
    if math.prod(sizes) > _LARGEST_NUMBER or slots > MOST_SLOTS:
        return None
    marks = " AND ".join(marks_of(aggregation.source))
    alone = len(known) == 1 and not marks
    code = known[0].text if alone else "0::BIGINT"
    for one in () if alone else known:
        code = f"({code} * {len(one.values)}::BIGINT + {one.whole_text})"
    outputs = ["u", f"CASE WHEN {marks} THEN {code} END" if marks else code, *digits.texts]
    named = [f"{one} AS d{place}" for place, one in enumerate(outputs)]
    return Choice(
        before=tuple(one.made for one in known if one.made),
        rows=f"SELECT {', '.join(named)} FROM ({relation_text(aggregation.source, reading)})",
        key=tuple(int.from_bytes(key[at : at + 8], "big") for at in range(0, KEY_BYTES, 8)),
        most=stored.table.unit.rows,
        sizes=sizes,
        lows=(-1, *digits.lows),
        groups=combinations([one.values for one in known]),
        parts=parts,
        rest=groups if alone and known[0].rest else 0,
        expected=stored.most_rows or 0,
    )


def rounded_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """All but the first rounded up to powers of two, by which it is quick to divide, if numbers get no longer by it."""
    rounded = (sizes[0], *(1 << (size - 1).bit_length() for size in sizes[1:]))
    longest, length = ((math.prod(one) - 1).bit_length() for one in (rounded, sizes))
    return rounded if longest == length else sizes


def _may_choose(aggregation: Aggregation, stored: Stored) -> bool:
    """By what is declared and asked alone: the two ways choose different rows, so no row may decide which it is."""
    if stored.bounded or not has_whole_units(stored.table) or is_limited(aggregation, stored.table.unit):
        return False
    return not any(isinstance(tally, UnitCount) for _, tally in aggregation.tallies)


def has_whole_units(table: Table) -> bool:
    """Whether people are named by whole numbers."""
    return any(one.name == table.unit.column and one.type is Type.INTEGER for one in table.columns)


def is_limited(aggregation: Aggregation, unit: Unit) -> bool:
    """Whether a unit may have fewer groups than rows, or fewer rows in a group."""
    return (bool(aggregation.keys) and unit.groups < unit.rows) or unit.rows_per_group < unit.rows


Listed = Sequence[str | int | bool | None]


def combinations(lists: Sequence[Listed]) -> tuple[tuple[str | int | bool | None, ...], ...]:
    """All groups, in the order of their numbers."""
    groups: list[tuple[str | int | bool | None, ...]] = [()]
    for values in lists:
        groups = [(*group, value) for group in groups for value in values]
    return tuple(groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """What makes the type of a key's groups, the groups in turn, and the place of a row's group among them.

    NULL is the place of whatever is in no listed group; or, if there is a `rest`, in the last of them.
    """

    made: str
    values: Listed
    text: str
    rest: bool = False

    @property
    def whole_text(self) -> str:
        """The same with the place of the rest."""
        return f"coalesce({self.text}, {len(self.values) - 1})" if self.rest else self.text


def listed_code(key: Key, place: int, reading: Reading) -> Coded | None:
    """How the groups of a key are numbered; None if they are not listed."""
    kind = key.expression.known.type
    if key.values is None or kind not in (Type.TEXT, Type.INTEGER, Type.BOOLEAN):
        return None
    words = _possible(key, reading.identities, reading.stored)
    found = _as_found(key, reading.identities, reading.stored) if kind is Type.TEXT else None
    value = found or expression_text(key.expression)
    if kind is Type.TEXT:
        if not words:
            return None
        listed = ", ".join(text(str(one)) for one in words)
        made = f"CREATE OR REPLACE TEMP TYPE w{place} AS ENUM (SELECT unnest([{listed}]))"
        code = f"enum_code(TRY_CAST({value} AS w{place}))"
    elif 0 < len(words) <= _SHORT_LIST:
        made = ""
        code = f"CAST(list_position([{', '.join(literal(one, kind) for one in words)}], {value}) - 1 AS BIGINT)"
    else:
        return None
    if None not in key.values:
        return Coded(made=made, values=words, text=code)
    if found is not None:
        return Coded(made=made, values=[*words, None], text=code, rest=True)
    code = f"CASE WHEN {value} IS NULL THEN {len(words)}::BIGINT ELSE {code} END"
    return Coded(made=made, values=[*words, None], text=code)


def bare_keys(aggregation: Aggregation, stored: Stored) -> frozenset[Identity]:
    """Texts that are grouped by as they are found, and looked at nowhere else."""
    return frozenset(one for one in only_grouped(aggregation, stored) if _is_key(one, aggregation, stored))


def _is_key(identity: Identity, aggregation: Aggregation, stored: Stored) -> bool:
    """Whether a text is grouped by, and only as it is found."""
    keys = [key for key in aggregation.keys if key.expression == Field(identity, key.expression.known)]
    identities = scan_of(aggregation.source).identities
    return bool(keys) and all(_as_found(key, identities, stored) is not None for key in keys)


def _column(key: Key, identities: Sequence[Identity]) -> int | None:
    """The place of the column that a key is, if it is one as it is declared."""
    expression = key.expression
    return (
        identities.index(expression.identity)
        if isinstance(expression, Field) and expression.identity in identities
        else None
    )


def _possible(key: Key, identities: Sequence[Identity], stored: Stored) -> list[str | int]:
    """The listed values but for NULL and for what is none of the categories, however the column is found."""
    place = _column(key, identities)
    categories = None if place is None else stored.table.columns[place].categories
    listed = [one for one in key.values or () if isinstance(one, (str, int))]
    return listed if categories is None else [one for one in listed if one in categories]


def _as_found(key: Key, identities: Sequence[Identity], stored: Stored) -> str | None:
    """A text as it is found, where no other text becomes one of the categories.

    If NULL is listed, all categories must be: then NULL is whatever is none of them.
    """
    place = _column(key, identities)
    if place is None or key.values is None or stored.raw(place) is None:
        return None
    column = stored.table.columns[place]
    if column.categories is None or may_be_cut(column):
        return None
    if None in key.values and len(_possible(key, identities, stored)) < len(column.categories):
        return None
    return f"r{identities[place].number}"


class _Digits:
    """The digits of a row's number, but for the group's: 0 for NULL."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._places: dict[Expression, int] = {}
        self.sizes: list[int] = []
        self.lows: list[int] = []
        self.texts: list[str] = []

    def part(self, tally: Tally) -> Part:
        match tally:
            case StepSum():
                short = tally.low >= -_LARGEST_SHORT and tally.high <= _LARGEST_SHORT
                value = steps_of(tally, self._reading, "INTEGER" if short else "BIGINT")
                size = tally.high - tally.low + 2
                return Part(kind="sum", digit=self._add(tally.argument, value, tally.low, size), low=tally.low)
            case BinCounts():
                value = bin_text(tally, number_text(tally, self._reading))
                return Part(kind="bins", digit=self._add(tally.argument, value, 0, tally.bins + 2), bins=tally.bins)
            case RowCount(argument=argument) if argument is not None:
                return Part(kind="count", digit=self._flag(argument))
            case _:
                return Part(kind="count")

    def _add(self, argument: Expression, value: str, low: int, size: int) -> int:
        self.sizes.append(size)
        self.lows.append(low - 1)
        self.texts.append(value)
        self._places.setdefault(argument, len(self.sizes))
        return len(self.sizes)

    def _flag(self, argument: Expression) -> int:
        """Whether a value is NULL shows in the digit that another tally has made of it, if that came first."""
        if argument not in self._places:
            self.sizes.append(2)
            self.lows.append(0)
            self.texts.append(f"CASE WHEN {expression_text(argument)} IS NOT NULL THEN 1 END")
            self._places[argument] = len(self.sizes)
        return self._places[argument]
