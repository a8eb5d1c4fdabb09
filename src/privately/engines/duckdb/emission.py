"""Plans as DuckDB text, from the plan alone: nothing that was typed by anybody is in it but as a literal.

Names in the text: `c7` the value with the number 7, `r7` the same as found, `s7` the same in steps, `x7` the same with
NaN for what is no number, `y7` the same not yet within its bounds, `u` the unit, `g0` what the first key is grouped by,
`k0` the key itself, `a0` what the first tally adds, `t0` the tally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privately.engines.duckdb.expressions import column_of, expression_text
from privately.engines.duckdb.literals import literal
from privately.engines.duckdb.programs import BinsText, Code, Program
from privately.engines.duckdb.ranking import first_groups, first_rows
from privately.engines.duckdb.stored import Stored
from privately.engines.duckdb.tallies import bin_text, clamped_steps, skips_nan, step_text, summed_steps
from privately.plans import (
    Aggregation,
    BinCounts,
    Expression,
    Field,
    Filter,
    Identity,
    Key,
    Project,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Tally,
    Type,
    UnitCount,
    scan_of,
)
from privately.plans.expressions import fields_of

_FEW = 2**16


@dataclass(frozen=True, slots=True)
class Reading:
    """A stored table as a question reads it.

    With `marks` all rows of it stay: a filter says in a column `f0`, `f1`, ... whether a row would have. Of the columns
    only those are read that are `needed`, if these are given.
    """

    stored: Stored
    key: bytes
    identities: tuple[Identity, ...]
    used: frozenset[Identity]
    bare: frozenset[Identity] = frozenset()
    marks: bool = False
    needed: frozenset[str] | None = None

    def place(self, identity: Identity) -> int | None:
        return self.identities.index(identity) if identity in self.identities else None

    def extras(self, identity: Identity) -> list[str]:
        """The other forms of a value that are handed on beside it."""
        place = self.place(identity)
        if place is None or identity not in self.used:
            return []
        return [f"{form}{identity.number}" for form, text in self.forms(place).items() if text is not None]

    def forms(self, place: int) -> dict[str, str | None]:
        """The value as found, in steps, with NaN for what is no number, and beyond its bounds, where there is such."""
        stored = self.stored
        return {
            "r": stored.raw(place),
            "s": stored.step(place),
            "x": stored.unbranched(place),
            "y": stored.double(place),
        }


def program(aggregation: Aggregation, stored: Stored, key: bytes) -> Program:
    """The text of an aggregation over a stored table; `key` decides which rows of a unit count."""
    scan = scan_of(aggregation.source)
    limited = _needs_limits(aggregation, stored)
    people = stored.unit is not None and any(isinstance(tally, UnitCount) for _, tally in aggregation.tallies)
    raw = not limited and not people
    ranked = stored.unit is not None and not stored.bounded
    bare = only_grouped(aggregation, stored) if raw and not ranked else frozenset()
    table = Reading(stored, key, scan.identities, used_in(aggregation), bare)
    keys = [key_texts(one, f"g{place}", table, raw=raw) for place, one in enumerate(aggregation.keys)]
    tallies = [tally for _, tally in aggregation.tallies]
    shared = {} if limited else shared_counts(tallies)
    added = [None if place in shared else added_text(one, table, kept=not limited) for place, one in enumerate(tallies)]
    rows = _rows(aggregation, table, keys, added, limited=limited)
    words = [words_of(one, table) if raw else None for one in aggregation.keys]
    names = [f"g{place}" for place in range(len(keys))]
    scalars = [place for place, tally in enumerate(tallies) if not isinstance(tally, BinCounts)]
    # In a copy neighbours are of one group, and DuckDB adds up whole runs of them: quicker, but not for averages.
    both = {} if stored.as_declared else shared
    states = frozenset(both.values())
    whole = {place: total_text(tallies[place], shared.get(place, place), stored) for place in scalars}
    counted = [
        f"{state_text(place) if place in states else whole[place]} AS t{place}"
        for place in scalars
        if place not in both
    ]
    by = f"GROUP BY {', '.join(str(place + 1) for place in range(len(names)))}" if names else "HAVING count(*) > 0"
    # Words are grouped as texts: DuckDB looks at each word of a block once, but at each number in every row.
    shown = [f"CAST({one} AS VARCHAR) AS {one}" if word else one for one, word in zip(names, words, strict=True)]
    inner = f"SELECT {', '.join([*shown, *counted]) or '1 AS one'} FROM ({rows}) {by}"
    values = [f"{value} AS k{place}" for place, (_, value) in enumerate(keys)]
    totals = [
        _of_state(place, both.get(place, place)) if place in {*both, *states} else f"t{place}" for place in scalars
    ]
    outer = ", ".join([*names, *values, *totals]) or "1 AS one"
    wanted = [_public(one, f"k{place}", table) for place, one in enumerate(aggregation.keys)]
    condition = " AND ".join(one for one in wanted if one) or "true"
    return Program(
        groups=f"SELECT * FROM (SELECT {outer} FROM grouped) WHERE {condition}",
        first=inner,
        types=tuple(one.expression.known.type for one in aggregation.keys),
        tallies=len(tallies),
        bins=tuple(
            _bins(place, tally, rows, list(zip(aggregation.keys, words, strict=True)))
            for place, tally in enumerate(tallies)
            if isinstance(tally, BinCounts)
        ),
    )


def used_in(aggregation: Aggregation) -> frozenset[Identity]:
    """The values that a question looks at, anywhere."""
    found: set[Identity] = set()
    relation: Relation = aggregation.source
    while not isinstance(relation, Scan):
        if isinstance(relation, Filter):
            found |= fields_of(relation.condition)
        else:
            for _, expression in relation.outputs:
                found |= fields_of(expression)
        relation = relation.source
    for key in aggregation.keys:
        found |= fields_of(key.expression)
    for _, tally in aggregation.tallies:
        if not isinstance(tally, UnitCount) and tally.argument is not None:
            found |= fields_of(tally.argument)
    return frozenset(found)


def only_grouped(aggregation: Aggregation, stored: Stored) -> frozenset[Identity]:
    """Texts that are grouped by as they are found and looked at nowhere else: their values need not be worked out.

    DuckDB would do it for every row, since it makes a join of a long list of categories and never drops it again.
    """
    seen: set[Identity] = set()
    relation: Relation = aggregation.source
    while not isinstance(relation, Scan):
        if isinstance(relation, Filter):
            seen |= fields_of(relation.condition)
        else:
            for identity, expression in relation.outputs:
                seen |= fields_of(expression) - {identity}
        relation = relation.source
    for key in aggregation.keys:
        seen |= set() if isinstance(key.expression, Field) else fields_of(key.expression)
    for _, tally in aggregation.tallies:
        if not isinstance(tally, UnitCount) and tally.argument is not None:
            seen |= fields_of(tally.argument)
    texts = (one for place, one in enumerate(relation.identities) if stored.raw(place) is not None)
    return frozenset(texts) - seen


# --- relations ------------------------------------------------------------------------------------------------------


def relation_text(relation: Relation, table: Reading) -> str:
    """The rows of a relation, with the unit of each."""
    match relation:
        case Scan():
            return _scan(relation, table)
        case Filter() if table.marks:
            mark = f"coalesce({expression_text(relation.condition)}, false) AS f{len(marks_of(relation.source))}"
            return f"SELECT *, {mark} FROM ({relation_text(relation.source, table)})"
        case Filter():
            return (
                f"SELECT * FROM ({relation_text(relation.source, table)}) WHERE {expression_text(relation.condition)}"
            )
        case Project():
            return _project(relation, table)


def marks_of(relation: Relation) -> list[str]:
    """The columns in which filters say what they keep."""
    if isinstance(relation, Scan):
        return []
    found = marks_of(relation.source)
    return [*found, f"f{len(found)}"] if isinstance(relation, Filter) else found


def _scan(scan: Scan, table: Reading) -> str:
    stored, unit = table.stored, table.stored.table.unit
    outputs, values = [], []
    for place, identity in enumerate(scan.identities):
        if identity not in table.used:
            continue
        values.append(column_of(identity))
        if identity not in table.bare:
            outputs.append(f"{stored.value(place)} AS {column_of(identity)}")
        forms = table.forms(place)
        outputs += [f"{forms[extra[0]]} AS {extra}" for extra in table.extras(identity)]
    if table.needed is not None:
        outputs = [one for one in outputs if one.rpartition(" ")[2] in table.needed]
    if unit.column is None:
        return f"SELECT {', '.join(outputs) or '1 AS one'} FROM {stored.relation}"
    rows = f"SELECT {', '.join([f'{stored.unit} AS u', *outputs])} FROM {stored.relation}"
    if stored.bounded:
        return rows
    rows = f"SELECT * FROM ({rows}) WHERE u IS NOT NULL"
    if table.marks:
        return rows
    return first_rows(rows, table.key, ["u"], values, unit.rows)


def _project(project: Project, table: Reading) -> str:
    outputs = ["u"] if table.stored.table.unit.column is not None else []
    outputs += marks_of(project.source) if table.marks else []
    for identity, expression in project.outputs:
        if identity not in table.bare:
            outputs.append(f"{expression_text(expression)} AS {column_of(identity)}")
        if isinstance(expression, Field) and expression.identity == identity:
            outputs += table.extras(identity)
    return f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({relation_text(project.source, table)})"


# --- groups ---------------------------------------------------------------------------------------------------------


def _needs_limits(aggregation: Aggregation, stored: Stored) -> bool:
    unit = stored.table.unit
    fewer_groups = bool(aggregation.keys) and unit.groups < unit.rows
    return unit.column is not None and (fewer_groups or unit.rows_per_group < unit.rows)


def key_texts(key: Key, name: str, table: Reading, *, raw: bool) -> tuple[str, str]:
    """What rows are grouped by first, and the key as a text over that name."""
    expression = key.expression
    if raw and isinstance(expression, Field):
        place = table.place(expression.identity)
        if place is not None and table.stored.raw(place) is not None:
            return f"r{expression.identity.number}", table.stored.value(place, name)
    return expression_text(expression), name


def words_of(key: Key, table: Reading) -> Code | None:
    """The number of a key that a prepared copy keeps as a word of a list."""
    place = table.place(key.expression.identity) if isinstance(key.expression, Field) else None
    word = None if place is None else table.stored.word(place)
    if place is None or word is None:
        return None
    size = len(table.stored.table.columns[place].categories or ())
    return Code(text=f"coalesce(CAST(enum_code(CAST({{}} AS {word})) AS INTEGER) + 1, 0)", size=size + 1)


def _rows(
    aggregation: Aggregation, table: Reading, keys: list[tuple[str, str]], added: list[str | None], *, limited: bool
) -> str:
    """Rows with what they are grouped by and what they add, no more of each unit than it may have."""
    unit = table.stored.table.unit
    names = [f"g{place}" for place in range(len(keys))]
    outputs = [f"{text} AS {one}" for (text, _), one in zip(keys, names, strict=True)]
    values = [f"a{place}" for place, text in enumerate(added) if text is not None]
    outputs += [f"{text} AS a{place}" for place, text in enumerate(added) if text is not None]
    if unit.column is not None:
        outputs.append("u")
    rows = f"SELECT {', '.join(outputs) or '1 AS one'} FROM ({relation_text(aggregation.source, table)})"
    if not limited:
        return rows
    wanted = [_public(one, name, table) for one, name in zip(aggregation.keys, names, strict=True)]
    condition = " AND ".join(one for one in wanted if one)
    if condition:
        rows = f"SELECT * FROM ({rows}) WHERE {condition}"
    if unit.groups < unit.rows:
        rows = first_groups(rows, table.key, "u", names, unit.groups)
    if unit.rows_per_group < unit.rows:
        rows = first_rows(rows, table.key, ["u", *names], values, unit.rows_per_group)
    return rows


def _public(key: Key, text: str, table: Reading) -> str:
    """The condition that a key is one of the groups that are known beforehand; '' if it always is."""
    if key.values is None:
        return ""
    listed = [value for value in key.values if value is not None]
    place = table.place(key.expression.identity) if isinstance(key.expression, Field) else None
    categories = None if place is None else table.stored.table.columns[place].categories
    if categories is not None and set(categories) <= set(listed):
        return "" if None in key.values else f"{text} IS NOT NULL"
    tests = [f"{text} IN ({', '.join(literal(v, key.expression.known.type) for v in listed)})"] if listed else []
    tests += [f"{text} IS NULL"] if None in key.values else []
    return f"({' OR '.join(tests) or 'false'})"


# --- tallies --------------------------------------------------------------------------------------------------------


def added_text(tally: Tally, table: Reading, *, kept: bool) -> str | None:
    """What a row adds: a number, or for a count anything that is not NULL; as it is kept, if it may be."""
    match tally:
        case UnitCount():
            return None
        case RowCount(argument=argument):
            return None if argument is None else (kept and _kept(argument, table)) or expression_text(argument)
        case BinCounts():
            return bin_text(tally, number_text(tally, table))
        case StepSum():
            return (kept and _kept_steps(tally, table)) or steps_of(tally, table)


def steps_of(tally: StepSum, table: Reading, kind: Literal["BIGINT", "INTEGER"] = "BIGINT") -> str:
    """The steps that a row adds; by sums alone, if that can be done, and then of this type."""
    place = table.place(tally.argument.identity) if isinstance(tally.argument, Field) else None
    if place is not None and table.forms(place)["y"] is not None:
        bounds = table.stored.table.columns[place].bounds
        summed = bounds and summed_steps(tally, bounds, f"y{table.identities[place].number}", kind)
        if summed:
            return summed
    return step_text(tally, number_text(tally, table))


def number_text(tally: StepSum | BinCounts, table: Reading) -> str:
    """The argument of a tally; in its quicker form if the tally does without NULL."""
    argument = tally.argument
    place = table.place(argument.identity) if isinstance(argument, Field) else None
    if place is not None and table.forms(place)["x"] is not None and skips_nan(tally):
        return f"x{table.identities[place].number}"
    return expression_text(argument)


def shared_counts(tallies: Sequence[Tally]) -> dict[int, int]:
    """Counts of values that another tally adds up: where these are NULL, what it adds is, and nowhere else."""
    adding = {one.argument: place for place, one in enumerate(tallies) if isinstance(one, StepSum)}
    counts = [(place, one.argument) for place, one in enumerate(tallies) if isinstance(one, RowCount)]
    return {place: adding[argument] for place, argument in counts if argument is not None and argument in adding}


def _kept(argument: Expression, table: Reading) -> str | None:
    """The name of a value's steps in a prepared copy, if they are kept; NULL exactly where the value is."""
    place = table.place(argument.identity) if isinstance(argument, Field) else None
    if place is None or table.stored.step(place) is None:
        return None
    return f"s{table.identities[place].number}"


def _kept_steps(tally: StepSum, table: Reading) -> str | None:
    """The steps that a prepared copy keeps, if they are the tally's."""
    kept = _kept(tally.argument, table)
    if kept is None or _own_step(tally.argument, table) != tally.step:
        return None
    return kept if step_text(tally, "x") == step_text_inside(tally) else clamped_steps(tally, kept)


def _own_step(argument: Expression, table: Reading) -> Fraction | None:
    place = table.place(argument.identity) if isinstance(argument, Field) else None
    return None if place is None else table.stored.table.columns[place].step


def step_text_inside(tally: StepSum) -> str:
    """The text of steps when no bounds are needed."""
    wide = StepSum(argument=tally.argument, step=tally.step, low=1 - 2**62, high=2**62 - 1)
    return step_text(wide, "x")


def state_text(place: int) -> str:
    """How many numbers there are, and their sum in 128 bits, gathered at once: what DuckDB makes an average of."""
    return f"CAST(avg(CAST(a{place} AS BIGINT)) EXPORT_STATE AS STRUCT(count UBIGINT, value HUGEINT))"


def _of_state(place: int, source: int) -> str:
    """One of both."""
    return f"t{source}.{'value' if place == source else 'count'} AS t{place}"


def total_text(tally: Tally, place: int, stored: Stored) -> str:
    match tally:
        case RowCount(argument=None):
            return "count(*)"
        case UnitCount():
            return "count(*)" if stored.table.unit.column is None else "count(DISTINCT u)"
        case RowCount():
            return f"count(a{place})"
        case _:
            return f"coalesce(sum(a{place}), 0)"


def _bins(place: int, tally: BinCounts, rows: str, keys: Sequence[tuple[Key, Code | None]]) -> BinsText:
    value = f"a{place}"
    by = ", ".join([*(f"g{number}" for number in range(len(keys))), value])
    codes = [_code(number, key, word) for number, (key, word) in enumerate(keys)]
    return BinsText(
        place=place,
        bins=tally.bins,
        value=value,
        rows=rows,
        grouped=f"SELECT {by}, count(*) AS n FROM ({rows}) WHERE {value} IS NOT NULL GROUP BY {by}",
        codes=None if None in codes else tuple(code for code in codes if code is not None),
    )


def _code(number: int, key: Key, word: Code | None) -> Code | None:
    """Groups of a key as numbers, 0 for NULL; what is no group that was found may be NULL."""
    name = f"g{number}"
    known = key.expression.known
    if word is not None:
        return Code(text=word.text.format(name), size=word.size)
    if known.type is Type.TEXT:
        found = f"CAST(enum_code(TRY_CAST({name} AS d{number})) AS INTEGER) + 1"
        return Code(text=f"coalesce({found}, CASE WHEN {name} IS NULL THEN 0 END)", size=None)
    if known.type is Type.BOOLEAN:
        return Code(text=f"coalesce(CAST({name} AS INTEGER) + 1, 0)", size=3)
    if known.type is Type.INTEGER and known.range is not None and known.range.upper - known.range.lower < _FEW:
        low, high = (literal(int(end), Type.INTEGER) for end in (known.range.lower, known.range.upper))
        within = f"CASE WHEN {name} BETWEEN {low} AND {high} THEN CAST({name} - {low} + 1 AS INTEGER) END"
        size = int(known.range.upper - known.range.lower) + 2
        return Code(text=f"coalesce({within}, CASE WHEN {name} IS NULL THEN 0 END)", size=size)
    return None
