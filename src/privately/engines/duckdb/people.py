"""To whom a row belongs. Two cells that differ are never one person: either could change which rows of the other count.

Values may be rounded, cut and clamped; people may not. What cannot be read in exactly one way is nobody's row, and a
column of which even that cannot be said is refused.

In which type a file or a frame keeps a number may depend on a single row (one large number makes unsigned ones of all
whole numbers). So a person has the type that is declared, and is the same in all that are taken.
"""

from __future__ import annotations

from privately.engines.duckdb.functions import DATE, once
from privately.engines.duckdb.literals import text
from privately.engines.duckdb.scanning import NOTHING, WORDS, base_of, converted, is_whole
from privately.plans import Type

_SPELT_ONCE = "^(?:0|-?[1-9][0-9]{0,18})$"
"""Whole numbers of at most 19 digits, of which 64 bits hold all but the longest, without a plus or leading zeros."""


def keeps_apart(kind: Type, found: str) -> bool:
    """Whether people can be named by a column of this declared type and this DuckDB type.

    Readers cut nanoseconds without a word, so instants name nobody; nor do floating numbers, which round large whole
    ones, fractions, or two values for all people.
    """
    if found == NOTHING:
        return kind in (Type.INTEGER, Type.TEXT, Type.DATE)
    base = base_of(found)
    is_text = base in WORDS
    match kind:
        case Type.INTEGER:
            return is_text or is_whole(found)
        case Type.TEXT:
            return is_text or is_whole(found)
        case Type.DATE:
            return is_text or base == "DATE"
    return False


def person(kind: Type, found: str, value: str) -> str:
    """To whom a row belongs, by the cell that names people; NULL if to nobody.

    Theorem: for a column that `keeps_apart`, it is never an error, cells that differ as values of their DuckDB type
        give different people, or NULL, and a number gives the same person whichever type holds it, or NULL.
    Reference: elementary
    Proof: docs/theory/engines.md#who-a-row-belongs-to
    Checked-by: tests/engines/duckdb/test_people.py::test_cells_that_differ_are_never_one_person
    """
    if found == NOTHING:
        return converted(kind, found, value)
    base = base_of(found)
    if base in WORDS and base != "VARCHAR":
        value, base = f"CAST({value} AS VARCHAR)", "VARCHAR"
    if kind is Type.TEXT:
        return value if base == "VARCHAR" else f"CAST({value} AS VARCHAR)"
    if kind is Type.DATE:
        return f"TRY_CAST(regexp_extract({value}, {text(DATE)}) AS DATE)" if base == "VARCHAR" else value
    if base == "VARCHAR":
        return f"TRY_CAST(regexp_extract({value}, {text(_SPELT_ONCE)}) AS BIGINT)"
    if base == "UBIGINT":  # all of them have a place: the upper half are the negative ones, which it has not
        return once(value, lambda v: f"CAST({v}::HUGEINT - ({v} >> 63)::HUGEINT * {2**64}::HUGEINT AS BIGINT)")
    return f"TRY_CAST({value} AS BIGINT)"
