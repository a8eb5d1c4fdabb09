"""All inputs of a program, and which of them are neighbours."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..schema import Invalid
from ..work import Work
from .exact import Number, less, minus, negative, sign
from .reading import Private

MOST = 100_000
COPIED = 16
"""Entries of a list that are copied in a step of work."""

Entries = tuple[Any, ...]
Inputs = tuple[Any, ...]


def neighbouring(private: list[Private], work: Work) -> list[tuple[Inputs, Inputs]]:
    """Every pair of neighbours, in both orders; an input may stay the same where another one changes."""
    choices: list[list[tuple[Any, Any]]] = []
    for i, one in enumerate(private):
        found: dict[tuple[Any, Any], None] = {}
        for pair in _pairs(one, work):
            work.spend(10 + (len(pair[1]) // COPIED if isinstance(pair[1], tuple) else 0))
            found[pair] = found[pair[1], pair[0]] = None
            if len(found) > MOST:
                raise Invalid(f"parameters.private[{i}]", f"has more than {MOST} pairs of neighbours")
        choices.append(list(found))
    together: dict[tuple[Inputs, Inputs], None] = {}
    for chosen in product(*choices):
        work.spend(10 + 2 * len(chosen))
        pair = tuple(one for one, _ in chosen), tuple(other for _, other in chosen)
        if pair[0] != pair[1]:
            together[pair] = None
        if len(together) > MOST:
            raise Invalid("parameters.private", f"has more than {MOST} pairs of neighbours")
    return list(together)


def _pairs(private: Private, work: Work) -> Iterator[tuple[Any, Any]]:
    """All pairs of values that one input can have in two neighbours."""
    if private.lengths is None:
        work.spend(2 * len(private.values) ** 2)
        for value, moved in product(private.values, private.values):
            if private.distance is None or _near(value, moved, private.distance):
                yield value, moved
        return
    for length in private.lengths:
        if len(private.values) ** min(length, 64) > MOST or length > MOST:
            raise Invalid("parameters.private", "has too many lists")
        for entries in product(private.values, repeat=length):
            work.spend(2 * len(private.values) * (length + 1))
            yield entries, entries
            for other in _others(private, entries, work):
                yield entries, other
                yield other, other


def _others(private: Private, entries: Entries, work: Work) -> Iterator[Entries]:
    """The neighbours of one list; for those that come and go, the longer ones."""
    values, distance = private.values, private.distance
    if private.change == "anything":
        yield from product(values, repeat=len(entries))
    elif private.change == "added":
        yield from _longer(values, entries)
    elif private.change in {"one", "replaced"}:
        for place, value in product(range(len(entries)), values):
            if distance is None or _near(entries[place], value, distance):
                yield (*entries[:place], value, *entries[place + 1 :])
    else:
        near = [[value for value in values if _near(entry, value, distance or 0)] for entry in entries]
        for other in product(*near):
            work.spend(2 + 2 * len(other))
            signs = {sign(minus(b, a)) for a, b in zip(entries, other, strict=True)}
            if private.change == "each" or not {1, -1} <= signs:
                yield other


def _longer(values: list[Number], entries: Entries) -> Iterator[Entries]:
    """The lists with one entry more, each once: in front of an equal entry it makes the same list as behind it."""
    for place in range(len(entries) + 1):
        for value in values:
            if entries[place : place + 1] != (value,):
                yield (*entries[:place], value, *entries[place:])


def _near(one: Number, other: Number, distance: Number) -> bool:
    gap = minus(one, other)
    return not less(distance, gap) and not less(distance, negative(gap))
