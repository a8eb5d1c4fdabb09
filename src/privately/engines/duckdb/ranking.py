"""Which rows of a unit count, if it has more than it may: the first ones in an order that a secret key shuffles.

The order within a unit is that of a keyed hash of the values, and then of the values themselves; rows that are alike in
all that a question looks at are interchangeable. Those that count follow one another in it, as in a circle, from a
place on that a keyed hash of the unit tells: each row is as likely to count as any other, also where others are alike
and so stand together. Position in the file never enters, and neither does any other unit's row.

Privacy does not rest on the hash: whatever it is, at most so many rows of a unit count, and which ones depends on that
unit's rows alone. With a poor hash, answers would only lean towards some rows; so DuckDB's own, which is fast, is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from privately.errors import InvalidParameter

KEY_BYTES = 32


def keyed(key: bytes, values: Sequence[str]) -> str:
    """A hash of values that depends on a secret key, before and after them."""
    if len(key) != KEY_BYTES:
        raise InvalidParameter("key", f"must be {KEY_BYTES} random bytes.")
    words = [f"{int.from_bytes(key[at : at + 8], 'big')}::UBIGINT" for at in range(0, KEY_BYTES, 8)]
    return f"hash({', '.join([*words[:2], *values, *words[2:]])})"


def first_rows(relation: str, key: bytes, owners: Sequence[str], values: Sequence[str], most: int) -> str:
    """So many rows of each owner (a unit, or a unit in a group).

    Theorem: of every owner at most `most` rows remain; which ones is a function of the multiset of that owner's rows,
        up to rows that are alike in all `values`.
    Reference: elementary
    Proof: docs/theory/engines.md#which-rows-count
    Checked-by: tests/engines/duckdb/test_ranking.py::test_choice_depends_on_the_unit_alone
    """
    order = ", ".join([keyed(key, [*owners, *values]), *values])
    place = f"row_number() OVER (PARTITION BY {', '.join(owners)} ORDER BY {order})"
    number = f"count(*) OVER (PARTITION BY {', '.join(owners)})"
    first = f"CAST({keyed(key, owners)} % {number} AS BIGINT)"
    return f"SELECT * FROM ({relation}) QUALIFY ({place} - 1 + {first}) % {number} < {most}"


def first_groups(relation: str, key: bytes, unit: str, groups: Sequence[str], most: int) -> str:
    """The rows of so many groups of each unit.

    Theorem: of every unit the rows of at most `most` groups remain, all rows of each; which groups is a function of the
        set of groups that the unit is in.
    Reference: elementary
    Proof: docs/theory/engines.md#which-rows-count
    Checked-by: tests/engines/duckdb/test_ranking.py::test_choice_of_groups_depends_on_the_unit_alone
    """
    if not groups:
        return relation
    order = ", ".join([keyed(key, [unit, *groups]), *groups])
    return f"SELECT * FROM ({relation}) QUALIFY dense_rank() OVER (PARTITION BY {unit} ORDER BY {order}) <= {most}"
