"""All small tables of one column, and which of them are neighbours."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import mpmath

import privately
from privately.guarantees import Derivation, Guarantee
from tests.mechanisms.enumeration import Distribution

Table = tuple[int, ...]


def tables(values: Sequence[int], rows: int) -> list[Table]:
    """Of at most so many rows; their order does not matter."""
    return [table for size in range(rows + 1) for table in combinations_with_replacement(values, size)]


def one_row_more(every: Sequence[Table]) -> Iterator[tuple[Table, Table]]:
    """Neighbours under ADD_REMOVE."""
    known = set(every)
    for table in every:
        for smaller in {table[:i] + table[i + 1 :] for i in range(len(table))} & known:
            yield smaller, table


def one_row_replaced(every: Sequence[Table]) -> Iterator[tuple[Table, Table]]:
    """Neighbours under REPLACE."""
    for one, other in combinations(every, 2):
        shared = set(_without_one(one)) & set(_without_one(other))
        if len(one) == len(other) and shared:
            yield one, other


def _without_one(table: Table) -> list[Table]:
    return [table[:i] + table[i + 1 :] for i in range(len(table))]


def miss(probability: Fraction, values: Sequence[int], x: int) -> int:
    """By the definition: how far a n is from what lies between b #{v < x} and b #{v <= x}."""
    top, bottom = probability.numerator, probability.denominator
    below, upto = sum(v < x for v in values), sum(v <= x for v in values)
    return max(bottom * below - top * len(values), top * len(values) - bottom * upto, 0)


def worst_loss(law: Callable[[Table], Distribution], pairs: Iterator[tuple[Table, Table]], above: float = 0.0) -> Any:
    """The largest privacy loss of all pairs, both ways; over answers with a probability above `above`."""
    kept: dict[Table, Distribution] = {}

    def found(table: Table) -> Distribution:
        if table not in kept:
            kept[table] = law(table)
        return kept[table]

    return max(
        max(found(one).loss(found(other), above=above), found(other).loss(found(one), above=above))
        for one, other in pairs
    )


def certified(derivation: Derivation) -> Guarantee:
    """What the certificate of a derivation claims, once other code has checked it."""
    certificate = privately.certify(derivation)
    assert privately.check(certificate).assumptions == ()
    return certificate.guarantee


def real(number: Fraction) -> Any:
    """With 50 digits."""
    return mpmath.mpf(number.numerator) / number.denominator
