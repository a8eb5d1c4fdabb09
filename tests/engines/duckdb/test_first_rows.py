"""The first rows of every unit: in words of 32 bits, of 64, and in pairs, however often these have to be changed."""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from privately.engines.duckdb import first_rows
from privately.engines.duckdb.first_rows import Rows, word_of, words_for

NEAR, FAR, FARTHEST = (3, 4, 7), (-5, 2**40, 7), (-(2**63), 2**63 - 1, 0)
Row = tuple[int, int]


def rows_of(units: Sequence[int], bits: int, generator: random.Random, count: int = 37) -> list[Row]:
    few = [0, 2**bits - 1, *(generator.randrange(2**bits) for _ in range(4))]
    return [(generator.choice(units), generator.choice(few)) for _ in range(count)]


def chosen(parts: Sequence[Sequence[Row]], bits: int, most: int, memory: int = 64) -> dict[int, list[int]]:
    rows = Rows(bits, np.full(memory, 2**64 - 1, dtype=np.uint64))
    for part in parts:
        units, places = ([row[at] for row in part] for at in (0, 1))
        rows.add(np.array(units, dtype=np.int64), np.array(places, dtype=word_of(bits)))
    found: dict[int, list[int]] = {}
    for owners, places_of in rows.first(most):
        for unit, place in zip(owners.tolist(), places_of.tolist(), strict=True):
            found.setdefault(unit, []).append(place)
    return {unit: sorted(places) for unit, places in found.items()}


def wanted(parts: Sequence[Sequence[Row]], bits: int, most: int) -> dict[int, list[int]]:
    """Each unit by itself, with as many rows as it may have, of those that it has."""
    rows = [row for part in parts for row in part]
    found: dict[int, list[int]] = {}
    for unit in {unit for unit, _ in rows}:
        places = sorted(place for u, place in rows if u == unit)
        if len(places) <= most:
            found[unit] = places
        else:
            (found[unit],) = chosen([[(unit, place) for place in places]], bits, most).values()
        assert len(found[unit]) == min(most, len(places))
        assert not Counter(found[unit]) - Counter(places)
    return found


@pytest.mark.parametrize("units", [NEAR, FAR, FARTHEST, (-1, 0, 1), (2**63 - 1, 2**63 - 2), (-(2**63), 1 - 2**63)])
@pytest.mark.parametrize("bits", [6, 8, 31, 32, 40, 63])
@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_the_first_rows_of_every_unit(
    most: int, bits: int, units: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_rows, "_ROWS_IN_CACHE", 5)
    rows = rows_of(units, bits, random.Random(most * bits))
    parts: list[list[Row]] = [rows[:10], [], rows[10:11], rows[11:]]
    assert chosen(parts, bits, most) == wanted(parts, bits, most)


@pytest.mark.parametrize("later", [FAR, FARTHEST, (2**26 - 1 + 3, 3), (2**26 + 3, 3), (-(2**58) + 7, 3)])
@pytest.mark.parametrize("memory", [1, 64])
def test_units_that_turn_out_to_be_far_apart(
    later: Sequence[int], memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are widened in the same memory, whatever is in it already."""
    monkeypatch.setattr(first_rows, "_ROWS_IN_CACHE", 5)
    generator = random.Random(5)
    parts = [rows_of(units, 6, generator, 23) for units in (NEAR, later, FARTHEST)]
    for end in range(1, 4):
        assert chosen(parts[:end], 6, 2, memory) == wanted(parts[:end], 6, 2)


def test_units_whose_last_bits_are_alike_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: without wider words, two people become one, and this notices."""
    parts = [[(3, 1), (3 + 2**26, 1), (3, 2), (3 + 2**26, 2)]]
    assert chosen(parts, 6, 2) == wanted(parts, 6, 2)
    monkeypatch.setattr(Rows, "_tells_apart", lambda *_: True)
    assert chosen(parts, 6, 2) != wanted(parts, 6, 2)


@pytest.mark.parametrize("units", [range(4_000), range(0, 4_000 * 2**45, 2**45), (*range(4_000), *FARTHEST)])
def test_rows_that_are_alike_count_as_often_as_others(units: Sequence[int]) -> None:
    """Of 99 alike and another one two count: the other one of a unit with probability 2/100."""
    found = chosen([[(unit, place) for unit in units for place in (*[7] * 99, 8 + unit % 50)]], 6, 2, 2**19)
    rare = sum(place != 7 for places in found.values() for place in places)
    assert all(len(places) == 2 for places in found.values())
    assert 40 < rare < 125, "80 are expected, with a deviation of 9"


def test_the_choice_does_not_depend_on_the_units_of_others() -> None:
    """Which make words longer, or pairs of them."""
    rows = [(unit, place % 5) for unit in range(50) for place in range(unit % 9)]
    alone = chosen([rows], 6, 2, 2**10)
    for others in ([(2**30, 1)], [(2**62, 1)], [(-(2**63), 1), (2**63 - 1, 1)]):
        beside = chosen([rows, others], 6, 2, 2**10)
        assert {unit: beside[unit] for unit in alone} == alone


def test_no_rows() -> None:
    assert chosen([], 6, 2) == chosen([[]], 40, 2) == {}


def test_more_rows_than_can_be_counted_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_rows, "MOST_ROWS", 10)
    assert chosen([[(1, 1)] * 10], 6, 20) == {1: [1] * 10}
    with pytest.raises(MemoryError):
        chosen([[(1, 1)] * 10, [(1, 1)]], 6, 20)


def test_memory_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_rows, "_kept", [])
    with words_for(2**17) as words:
        words[:] = 7
    with words_for(5) as again:
        assert again is words
    with words_for(2**18) as longer:
        assert len(longer) == 2**18
    with words_for(0) as again:
        assert again is longer
    with pytest.raises(ValueError, match="fault"), words_for(0):
        raise ValueError("fault")
    assert first_rows._kept == []
    monkeypatch.setattr(first_rows, "_MOST_KEPT", 2**16)
    with words_for(0):
        pass
    assert first_rows._kept == []
