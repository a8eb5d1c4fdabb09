"""All inputs of a program and all its neighbours, where they can be listed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.proving.exact.budgets import spend
from privately.proving.exact.sampling import NotFinite
from privately.proving.language.declarations import Neighborhood
from privately.proving.language.meaning import simple
from privately.proving.language.program import Parameter
from privately.proving.language.syntax import Value

Inputs: TypeAlias = tuple[Value, ...]
"""The values of the private parameters, in their order."""

MOST_PAIRS = 100_000
COPIED = 32
"""Entries of a list that are copied in a step of work."""


class TooManyPairs(NotFinite):
    """Neighbours are never left out: all are listed, or none."""

    def __init__(self) -> None:
        super().__init__(f"more than {MOST_PAIRS} pairs of neighbours.")


def neighbouring_pairs(parameters: Sequence[Parameter], sizes: Sequence[int]) -> Iterator[tuple[Inputs, Inputs]]:
    """Every ordered pair of neighbours; lists have one of these sizes. NotFinite if they have no end."""
    choices = [_different(_pairs(one, sizes)) for one in parameters]
    if prod(map(len, choices)) > MOST_PAIRS:
        raise TooManyPairs
    seen: set[tuple[Inputs, Inputs]] = set()
    for chosen in product(*choices):
        pair = tuple(one for one, _ in chosen), tuple(other for _, other in chosen)
        if pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            yield pair


def _different(pairs: Iterable[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
    """Each pair once."""
    found: dict[tuple[Value, Value], None] = {}
    for pair in pairs:
        spend(1 + (len(pair[0]) // COPIED if isinstance(pair[0], tuple) else 0))
        found[pair] = None
        if len(found) > MOST_PAIRS:
            raise TooManyPairs
    return list(found)


def _pairs(parameter: Parameter, sizes: Sequence[int]) -> Iterator[tuple[Value, Value]]:
    """All that can stand in one parameter of two neighbours; it may stay the same, as another one may change."""
    neighborhood = parameter.neighborhood
    if neighborhood is None:
        raise InvalidParameter(
            "neighbors",
            f"nothing says how neighbours differ in {parameter.name!r}.",
            hint=f"Give neighbors={{{parameter.name!r}: replaced(0, 1)}} or another of docs/proving.md.",
        )
    domain = neighborhood.domain
    if domain is None or not domain.finite:
        raise NotFinite(f"the values of {parameter.name!r} have no end.")
    if domain.count > MOST_PAIRS:
        raise NotFinite(f"the values of {parameter.name!r} are too many to list.")
    values = tuple(sorted(simple(one) for one in domain.members()))
    if domain.length is not None and neighborhood.change == "added":
        raise InvalidParameter("neighbors", "lists of one length cannot lose an entry.", hint="Give added(0, 1).")
    if domain.length is None and not parameter.is_list:
        yield from _scalars(neighborhood, values)
        return
    for size in sizes if domain.length is None else (domain.length,):
        yield from _lists(neighborhood, values, size)


def _few(size: int, values: int) -> int:
    if values**size > MOST_PAIRS:
        raise NotFinite(f"lists of {size} entries are too many to list.")
    return size


def _scalars(neighborhood: Neighborhood, values: tuple[Value, ...]) -> Iterator[tuple[Value, Value]]:
    """One number is a list of one entry."""
    for one in values:
        yield from ((one, other) for other in _near(neighborhood, values, one))


def _near(neighborhood: Neighborhood, values: tuple[Value, ...], entry: Value) -> Sequence[Value]:
    """The values that an entry may move to; they are in order."""
    if neighborhood.distance is None:
        return values
    low, high = entry - neighborhood.distance, entry + neighborhood.distance
    return values[bisect_left(values, low) : bisect_right(values, high)]


def _lists(neighborhood: Neighborhood, values: tuple[Value, ...], size: int) -> Iterator[tuple[Value, Value]]:
    everything = product(values, repeat=_few(size, len(values)))
    if neighborhood.change == "anything":
        yield from product(everything, repeat=2)
        return
    for one in everything:
        yield one, one
        if neighborhood.change == "added":
            for place in range(size + 1):
                for value in values:
                    if place < size and one[place] == value:
                        continue  # behind that entry it makes the same list
                    longer = (*one[:place], value, *one[place:])
                    yield one, longer
                    yield longer, one
                    yield longer, longer
        elif neighborhood.change in {"one", "replaced"}:
            for place in range(size):
                for value in _near(neighborhood, values, one[place]):
                    yield one, (*one[:place], value, *one[place + 1 :])
        else:
            yield from ((one, other) for other in _moved(neighborhood, one, values))


def _moved(
    neighborhood: Neighborhood, one: tuple[Value, ...], values: tuple[Value, ...]
) -> Iterator[tuple[Value, ...]]:
    """All lists whose entries are near; all up or all down if that is asked for."""
    near = [_near(neighborhood, values, entry) for entry in one]
    if neighborhood.change == "each":
        yield from product(*near)
        return
    yield from product(*([value for value in some if value >= entry] for some, entry in zip(near, one, strict=True)))
    yield from product(*([value for value in some if value <= entry] for some, entry in zip(near, one, strict=True)))


def named(parameters: Sequence[Parameter], inputs: Inputs) -> Mapping[str, Value]:
    """The private inputs by name."""
    return {parameter.name: value for parameter, value in zip(parameters, inputs, strict=True)}
