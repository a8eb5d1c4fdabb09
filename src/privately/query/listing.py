"""Groups that nobody listed: the values of a key become public where enough units have them.

Two passes over the data. The first counts the units of every value of the unknown keys, and a thresholded histogram
shows some of these values; from then on they are public, and the second pass asks for them as if somebody had listed
them. Keys that are public anyway take no part in the first pass: each value that is shown makes a group with each of
theirs, whether anybody is in it or not.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from privately import mechanisms as m
from privately.engines.protocol import Bins, Counts, Group
from privately.errors import InvalidParameter, NotSupported
from privately.mechanisms.randomness import Randomness
from privately.noise import add
from privately.plans import Aggregation, Identity, Number, Question, RowCount, Tally, UnitCount, scan_of
from privately.plans.types import Type, Value, type_of

MOST_GROUPS = 100_000
MOST_CELLS = 1_000_000
"""Numbers in an answer: what is computed of each takes time in the process of whoever asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The first pass: `aggregation` has the unknown keys alone and one tally, of units.

    `places` says which keys of the question these are. One unit is in at most `most` of the groups that they make.
    `counted` is that tally if the question asks for it too, so that it need not be drawn again; None if not.
    """

    aggregation: Aggregation
    tally: Identity
    places: tuple[int, ...]
    most: int
    counted: bool


def listing_of(question: Question) -> Listing | None:
    """How the groups become public; None if they are."""
    asked = question.aggregation
    places = tuple(at for at, key in enumerate(asked.keys) if key.values is None)
    if not places:
        return None
    unit = scan_of(asked.source).table.unit
    tally: Tally = RowCount() if unit.column is None else UnitCount()
    wanted = {one.tally for one in question.estimates if isinstance(one, Number)}
    same = [name for name, other in asked.tallies if name in wanted and _counts_units(other, question)]
    alone = len(places) == len(asked.keys) and bool(same)
    name = same[0] if alone else _new(question)
    keys = tuple(asked.keys[at] for at in places)
    return Listing(
        aggregation=Aggregation(source=asked.source, keys=keys, tallies=((name, tally),)),
        tally=name,
        places=places,
        most=unit.most_groups,
        counted=alone,
    )


def _counts_units(tally: Tally, question: Question) -> bool:
    """Whether it counts every unit in a group once: units, or rows if none has two in a group."""
    unit = scan_of(question.aggregation.source).table.unit
    return isinstance(tally, UnitCount) or (tally == RowCount() and unit.most_in_a_group == 1)


def _new(question: Question) -> Identity:
    asked = question.aggregation
    taken = [name.number for name, _ in asked.tallies] + [key.identity.number for key in asked.keys]
    return Identity(number=1 + max(taken + [one.identity.number for one in question.estimates]), name="units")


# --- groups ---------------------------------------------------------------------------------------------------------


def public_groups(question: Question) -> int:
    """How many groups the keys make whose values are public; no more than can be answered."""
    asked = question.aggregation
    size = prod(len(key.values) for key in asked.keys if key.values is not None)
    if asked.combinations is not None:
        size = len(asked.combinations)
    if size > MOST_GROUPS:
        raise InvalidParameter("keys", f"these would be {size:,} groups; {MOST_GROUPS:,} is the most.")
    if size > most_groups(question):
        told = f"{size:,} groups of {_columns(question):,} columns would be more than {MOST_CELLS:,} numbers."
        raise InvalidParameter("keys", told, hint="Ask for fewer columns, or for fewer groups.")
    return size


def most_groups(question: Question) -> int:
    """How many groups can be answered, with as many columns as are asked for; at least one."""
    return min(MOST_GROUPS, max(MOST_CELLS // _columns(question), 1))


def _columns(question: Question) -> int:
    """How many numbers are computed for each group: those that are shown, and those that it is ordered by."""
    return len(question.outputs) + len(question.order)


def groups_of(question: Question, shown: Sequence[Group] = ()) -> tuple[Group, ...]:
    """All groups in the order of their keys: those of the public values, with each that was shown of the others.

    Values that were shown come in their own order, NULL last, which tells nothing of the data beyond themselves.
    """
    keys = question.aggregation.keys
    if question.aggregation.combinations is not None:
        return question.aggregation.combinations
    unknown = [at for at, key in enumerate(keys) if key.values is None]
    if not unknown:
        return tuple(product(*(key.values or () for key in keys)))
    places = [at for at in range(len(keys)) if at not in unknown]
    ranks = {at: {value: rank for rank, value in enumerate(keys[at].values or ())} for at in places}
    found = []
    for one, other in product(shown, product(*(keys[at].values or () for at in places))):
        values = dict(zip(unknown, one, strict=True)) | dict(zip(places, other, strict=True))
        found.append(tuple(values[at] for at in range(len(keys))))

    def rank(group: Group) -> tuple[Any, ...]:
        return tuple(ranks[at][value] if at in ranks else ordered(value) for at, value in enumerate(group))

    return tuple(sorted(found, key=rank))


def ordered(value: Value) -> tuple[bool, Any]:
    """By which values of one type are sorted: NULL last."""
    return value is None, value


def in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Sorted by the first key, then by the second, and so on."""
    return tuple(sorted(groups, key=lambda group: tuple(map(ordered, group))))


def restricted(question: Question, shown: Sequence[Group], tallies: Container[Identity]) -> Aggregation:
    """The second pass: what is asked, as far as it must still be counted, of values that were shown."""
    asked, keys = question.aggregation, list(question.aggregation.keys)
    for place, at in enumerate([at for at, key in enumerate(keys) if key.values is None]):
        keys[at] = replace(keys[at], values=tuple(dict.fromkeys(group[place] for group in shown)))
    return replace(asked, keys=tuple(keys), tallies=tuple(one for one in asked.tallies if one[0] in tallies))


# --- drawing --------------------------------------------------------------------------------------------------------


def shown_keys(
    mechanism: m.ThresholdedHistogram, counts: Counts, types: Sequence[Type], most: int, randomness: Randomness
) -> dict[Group, int]:
    """The groups of the first pass that are shown, in order, with their noisy numbers of units.

    If more than `most` are, those with the largest noisy numbers: a choice among what is public by then. However many
    there are in the data, none is refused and none is treated unlike the others. What no value of a plan can be, no
    engine should find; if one does, it is as if nobody had it.
    """
    if not counts:
        return {}
    listed, numbers = list(counts), np.array([_number(one) for one in counts.values()], np.int64)
    noisy = add(numbers, randomness.draw(mechanism.law, size=len(numbers))).tolist()  # as the mechanism does it
    found = {group: number for group, number in zip(listed, noisy, strict=True) if number >= mechanism.threshold}
    found = {group: found[group] for group in in_order(group for group in found if fits(group, types))}
    best = sorted(found, key=found.__getitem__, reverse=True)[:most]
    return {group: found[group] for group in in_order(best)}


def _number(tallies: tuple[int | Bins, ...]) -> int:
    (found,) = tallies
    return found if isinstance(found, int) else 0


def not_for_replacement() -> NotSupported:
    """Of replaced units nothing is proved for Gaussian noise."""
    hint = "Ask with epsilon=, list the groups with keys=, or declare change='add_remove'."
    return NotSupported("unknown groups with Gaussian noise, where a unit is replaced.", hint=hint)


def fits(group: object, types: Sequence[Type]) -> bool:
    """Whether it is a group of keys of these types."""
    if not isinstance(group, tuple) or len(group) != len(types):
        return False
    return all(value is None or _is_of(value, kind) for value, kind in zip(group, types, strict=True))


def _is_of(value: Any, kind: Type) -> bool:
    try:
        return type_of(value) is kind
    except ValueError:
        return False
