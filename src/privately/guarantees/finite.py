"""Mechanisms small enough to write down in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any, NoReturn

from privately.errors import InvalidParameter
from privately.guarantees.distances import distribution
from privately.guarantees.neighbors import Neighbors
from privately.rounding import Number, rational, whole

Input = tuple[str, ...]
MAX_INPUTS = 4096
MAX_TEXT = 20_000
MAX_COMPARISONS = 10**6
MAX_COMMON_BITS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class FiniteMechanism:
    """For every tuple of `records` of each of the `sizes`, the exact distribution of the outcome.

    >>> def answer(data):  # randomized response: the truth three times in four
    ...     return {data[0]: "3/4", "no" if data[0] == "yes" else "yes": "1/4"}
    >>> mechanism = FiniteMechanism.tabulate(answer, records=["yes", "no"], sizes=[1])
    >>> mechanism.table["yes",]["no"]
    Fraction(1, 4)
    """

    records: tuple[str, ...]
    sizes: tuple[int, ...]
    table: Mapping[Input, Mapping[str, Fraction]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", _texts(self.records, "records"))
        object.__setattr__(self, "sizes", _lengths(self.sizes))
        inputs = _inputs(self.records, self.sizes)
        if not isinstance(self.table, Mapping) or set(self.table) != set(inputs):
            raise InvalidParameter("table", "must have exactly one law for every tuple of records of the given sizes.")
        exact = {data: MappingProxyType(_law(self.table[data], data)) for data in inputs}
        if (
            math.lcm(*(mass.denominator for law in exact.values() for mass in law.values())).bit_length()
            > MAX_COMMON_BITS
        ):
            raise InvalidParameter("table", "the probabilities have too long a common denominator.")
        object.__setattr__(self, "table", MappingProxyType(exact))

    @classmethod
    def tabulate(
        cls, law: Callable[[Input], Mapping[str, Number]], *, records: Sequence[str], sizes: Sequence[int]
    ) -> FiniteMechanism:
        """Calls `law` on every data set; it returns the probability of each outcome."""
        if not callable(law):
            raise InvalidParameter("law", "give a function from a data set to the probabilities of its outcomes.")
        checked = _texts(records, "records")
        lengths = _lengths(sizes)
        table = {data: _law(law(data), data) for data in _inputs(checked, lengths)}
        return cls(records=checked, sizes=lengths, table=table)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("FiniteMechanism cannot be subclassed")

    def pairs(self, neighbors: Neighbors) -> Iterator[tuple[Mapping[str, Fraction], Mapping[str, Fraction]]]:
        """The laws of every pair of neighbours, each pair once."""
        if not isinstance(neighbors, Neighbors) or neighbors.size != 1 or neighbors.unit is not None:
            raise InvalidParameter("neighbors", "a table speaks of single rows; use group() or bounded_unit() on it.")
        if neighbors.change == "replace":
            for data in self.table:
                for place, record in _later_replacements(data, self.records):
                    yield self.table[data], self.table[(*data[:place], record, *data[place + 1 :])]
        else:
            if self.sizes != tuple(range(len(self.sizes))):
                raise InvalidParameter("sizes", "under ADD_REMOVE must be 0, 1, ..., N, so that rows can be removed.")
            for data in self.table:
                for place in range(len(data)):
                    if place == 0 or data[place] != data[place - 1]:  # deleting either twin gives the same
                        yield self.table[data], self.table[data[:place] + data[place + 1 :]]

    def as_data(self) -> dict[str, Any]:
        """As it stands in a certificate."""
        table = [
            {"input": list(data), "law": [[outcome, str(mass)] for outcome, mass in sorted(law.items())]}
            for data, law in self.table.items()
        ]
        return {"records": list(self.records), "sizes": list(self.sizes), "table": table}

    def __hash__(self) -> int:
        return hash((self.records, self.sizes))

    def __reduce__(self) -> tuple[Any, ...]:
        table = {data: dict(law) for data, law in self.table.items()}
        return _rebuild, (self.records, self.sizes, table)


def _rebuild(
    records: tuple[str, ...], sizes: tuple[int, ...], table: dict[Input, dict[str, Fraction]]
) -> FiniteMechanism:
    return FiniteMechanism(records=records, sizes=sizes, table=table)


def _later_replacements(data: Input, records: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Every place with each later record that can stand there: each unordered pair of data sets comes up once."""
    for place, current in enumerate(data):
        for later in records[records.index(current) + 1 :]:
            yield place, later


def _texts(values: object, name: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidParameter(name, "give a list of texts.")
    if not values or not all(isinstance(value, str) for value in values) or len(set(values)) < len(values):
        raise InvalidParameter(name, "must be distinct texts, at least one.")
    if max(map(len, values)) > MAX_TEXT:
        raise InvalidParameter(name, f"must have at most {MAX_TEXT} characters each.")
    return tuple(values)


def _lengths(sizes: object) -> tuple[int, ...]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InvalidParameter("sizes", "give a list of the numbers of rows, such as [0, 1, 2].")
    return tuple(sorted({whole(size, "sizes", minimum=0) for size in sizes}))


def _inputs(records: tuple[str, ...], sizes: tuple[int, ...]) -> list[Input]:
    if not sizes or max(sizes) > MAX_INPUTS or sum(len(records) ** size for size in sizes) > MAX_INPUTS:
        raise InvalidParameter("sizes", f"between 1 and {MAX_INPUTS} data sets in all.")
    return [data for size in sizes for data in product(records, repeat=size)]


def _law(law: Mapping[str, Number], data: Input) -> dict[str, Fraction]:
    exact = distribution(law, name=f"table[{','.join(data)}]")
    if not all(isinstance(outcome, str) and len(outcome) <= MAX_TEXT for outcome in exact):
        raise InvalidParameter("table", f"outcomes must be texts of at most {MAX_TEXT} characters.")
    for mass in exact.values():
        rational(mass, "table")
    return exact
