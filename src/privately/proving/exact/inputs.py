"""All inputs of a program and all its neighbours, where they can be listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.proving.exact.sampling import NotFinite
from privately.proving.language.declarations import Neighborhood
from privately.proving.language.meaning import simple
from privately.proving.language.program import Parameter
from privately.proving.language.syntax import Value

Inputs: TypeAlias = tuple[Value, ...]
"""The values of the private parameters, in their order."""

MOST_PAIRS = 100_000


def neighbouring_pairs(parameters: Sequence[Parameter], sizes: Sequence[int]) -> Iterator[tuple[Inputs, Inputs]]:
    """Every ordered pair of neighbours; lists have one of these sizes. NotFinite if they have no end."""
    choices = [list(islice(_pairs(parameter, sizes), MOST_PAIRS + 1)) for parameter in parameters]
    if prod(map(len, choices)) > MOST_PAIRS:
        raise NotFinite(f"more than {MOST_PAIRS} pairs of neighbours.")
    seen: set[tuple[Inputs, Inputs]] = set()
    for chosen in product(*choices):
        pair = tuple(one for one, _ in chosen), tuple(other for _, other in chosen)
        if pair[0] != pair[1] and pair not in seen:
            seen.add(pair)
            yield pair


def _pairs(parameter: Parameter, sizes: Sequence[int]) -> Iterator[tuple[Value, Value]]:
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
    values = tuple(simple(one) for one in domain.members())
    if domain.length is not None:
        yield from _any_two(list(product(values, repeat=_few(domain.length, len(values)))))
    elif not parameter.is_list:
        yield from _scalars(neighborhood, values)
    else:
        for size in sizes:
            yield from _lists(neighborhood, values, size)


def _few(size: int, values: int) -> int:
    if values**size > MOST_PAIRS:
        raise NotFinite(f"lists of {size} entries are too many to list.")
    return size


def _any_two(inputs: list[Value]) -> Iterator[tuple[Value, Value]]:
    if len(inputs) ** 2 > MOST_PAIRS:
        raise NotFinite(f"more than {MOST_PAIRS} pairs of neighbours.")
    return product(inputs, repeat=2)


def _scalars(neighborhood: Neighborhood, values: tuple[Value, ...]) -> Iterator[tuple[Value, Value]]:
    """One number is a list of one entry."""
    for one, other in product(values, repeat=2):
        if neighborhood.distance is None or abs(one - other) <= neighborhood.distance:
            yield one, other


def _lists(neighborhood: Neighborhood, values: tuple[Value, ...], size: int) -> Iterator[tuple[Value, Value]]:
    everything = list(product(values, repeat=_few(size, len(values))))
    if neighborhood.change == "anything":
        yield from _any_two(everything)
        return
    for one in everything:
        if neighborhood.change == "added":
            for place in range(size + 1):
                for value in values:
                    longer = (*one[:place], value, *one[place:])
                    yield one, longer
                    yield longer, one
        elif neighborhood.change in {"one", "replaced"}:
            for place, value in product(range(size), values):
                if neighborhood.distance is None or abs(value - one[place]) <= neighborhood.distance:
                    yield one, (*one[:place], value, *one[place + 1 :])
        else:
            yield from ((one, other) for other in _near(neighborhood, one, values))


def _near(neighborhood: Neighborhood, one: Sequence[Value], values: tuple[Value, ...]) -> Iterator[Inputs]:
    distance = neighborhood.distance
    if distance is None:
        return
    for other in product(*([value for value in values if abs(value - entry) <= distance] for entry in one)):
        moves = [b - a for a, b in zip(one, other, strict=True)]
        if neighborhood.change == "each" or all(move >= 0 for move in moves) or all(move <= 0 for move in moves):
            yield other


def named(parameters: Sequence[Parameter], inputs: Inputs) -> Mapping[str, Value]:
    """The private inputs by name."""
    return {parameter.name: value for parameter, value in zip(parameters, inputs, strict=True)}
