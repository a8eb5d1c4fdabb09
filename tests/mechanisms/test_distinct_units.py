"""Counting different units: whom the choice of keys may depend on, and whom not."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.mechanisms.distinct_units import (
    count_units,
    draw_secret,
    original,
    read_count,
    read_counts,
    read_pairs,
    token,
)
from privately.mechanisms.randomness import SYSTEM

Pairs = list[tuple[Any, Any]]
Count = Callable[[Pairs, int, bytes], dict[Any, int]]
SECRET = b"for tests"
TABLES = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcdef")), max_size=25)


def counted(pairs: Pairs, keys: int, secret: bytes = SECRET) -> dict[Any, int]:
    return {original(key): count for key, count in count_units(read_pairs(pairs), keys=keys, secret=secret).items()}


def moved(one: dict[Any, int], other: dict[Any, int]) -> list[int]:
    return [one.get(key, 0) - other.get(key, 0) for key in one.keys() | other.keys() if one.get(key) != other.get(key)]


@given(TABLES, st.integers(1, 3), st.binary(min_size=1, max_size=40))
def test_a_unit_changes_few_counts_by_one_and_no_others(pairs: Pairs, keys: int, secret: bytes) -> None:
    everybody = counted(pairs, keys, secret)
    for unit in {unit for unit, _ in pairs}:
        others = counted([pair for pair in pairs if pair[0] != unit], keys, secret)
        own = {key for one, key in pairs if one == unit}
        changes = moved(everybody, others)
        assert changes == [1] * min(len(own), keys)


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_nor_their_repetition(pairs: Pairs, random: Any) -> None:
    shuffled = [*pairs, *pairs]
    random.shuffle(shuffled)
    assert counted(shuffled, 2) == counted(pairs, 2)


def by_position(pairs: Pairs, keys: int, secret: bytes) -> dict[Any, int]:
    """The first keys of each unit, in an order that the size of the table decides, as that of an engine might."""
    turned = pairs[len(pairs) // 2 :] + pairs[: len(pairs) // 2]
    kept: dict[Any, list[Any]] = {}
    for unit, key in turned:
        own = kept.setdefault(unit, [])
        if key not in own and len(own) < keys:
            own.append(key)
    return _count(kept)


def by_popularity(pairs: Pairs, keys: int, secret: bytes) -> dict[Any, int]:
    """The keys that most rows have."""
    rows = [key for _, key in pairs]
    kept = {
        unit: sorted({key for one, key in pairs if one == unit}, key=lambda key: (-rows.count(key), key))[:keys]
        for unit, _ in pairs
    }
    return _count(kept)


def rows_for_units(pairs: Pairs, keys: int, secret: bytes) -> dict[Any, int]:
    """A row more is a unit more."""
    return _count(dict(enumerate([[key] for _, key in pairs])))


def without_a_bound(pairs: Pairs, keys: int, secret: bytes) -> dict[Any, int]:
    return counted(pairs, 100, secret)


def _count(kept: dict[Any, list[Any]]) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for own in kept.values():
        for key in own:
            counts[key] = counts.get(key, 0) + 1
    return counts


SMALL = [(unit, key) for unit, key in product("uvw", "ab")]


def largest_change(count: Count) -> int:
    """By one unit, with one key for each, over tables of three units with rows in some order."""
    worst = 0
    for pairs in [*permutations(SMALL, 4), *[(pair, pair, *SMALL[:2]) for pair in SMALL]]:
        table = list(pairs)
        for unit in {unit for unit, _ in table}:
            others = count([pair for pair in table if pair[0] != unit], 1, SECRET)
            worst = max(worst, sum(map(abs, moved(count(table, 1, SECRET), others))))
    return worst


def test_the_right_choice_changes_one_count_by_one() -> None:
    assert largest_change(counted) == 1


@pytest.mark.parametrize("mutant", [by_position, by_popularity, rows_for_units, without_a_bound])
def test_other_choices_are_refuted(mutant: Count) -> None:
    assert largest_change(mutant) > 1


def test_the_secret_decides_and_every_key_has_its_turn() -> None:
    pairs = [("u", key) for key in "abc"]
    chosen = [counted(pairs, 1, bytes([byte])) for byte in range(60)]
    assert {key for counts in chosen for key in counts} == set("abc")
    assert counted(pairs, 3) == {"a": 1, "b": 1, "c": 1}


def test_units_choose_independently() -> None:
    pairs = [(unit, key) for unit in range(60) for key in "ab"]
    counts = counted(pairs, 1)
    assert sum(counts.values()) == 60
    assert min(counts.get(key, 0) for key in "ab") >= 10


def test_secrets_are_drawn() -> None:
    secrets = {draw_secret(SYSTEM) for _ in range(3)}
    assert len(secrets) == 3
    assert {len(secret) for secret in secrets} == {32}


def test_values_of_different_types_are_sorted_and_come_back() -> None:
    values: list[Any] = [(), ("a", (1, None)), b"a", "b", "a", 10, -1, None, ("a",)]
    ordered = [original(one) for one in sorted(token(value, "value") for value in values)]
    assert ordered == [None, -1, 10, "a", "b", b"a", (), ("a",), ("a", (1, None))]
    assert token(np.int64(5), "value") == token(5, "value")
    assert token(np.str_("x"), "value") == token("x", "value")


@pytest.mark.parametrize("value", [True, 1.0, float("nan"), [1], {1}, object(), (1, [2]), 1 << 5000, Fraction(1)])
def test_values_that_equal_others_or_nothing_are_refused(value: Any) -> None:
    for pairs in ([("u", value)], [(value, "a")]):
        with pytest.raises(InvalidParameter, match="value"):
            count_units(read_pairs(pairs), keys=1, secret=SECRET)


@pytest.mark.parametrize("pairs", [["ab"], [("u",)], [("u", "a", 1)], [None], 5, "ab", [(None, "a")]])
def test_what_is_no_pair_is_refused(pairs: Any) -> None:
    with pytest.raises(InvalidParameter, match="value"):
        count_units(read_pairs(pairs), keys=1, secret=SECRET)


def test_counts_may_come_from_elsewhere() -> None:
    assert read_counts({"a": 3, "b": 0, 7: 1}) == {token("a", ""): 3, token(7, ""): 1}
    bad: list[Any] = [-1, 1.5, None, "1", 2**63, True]
    for count in bad:
        with pytest.raises(InvalidParameter, match="value"):
            read_counts({"a": count})


@pytest.mark.parametrize("count", [np.float64(17), 0.5, "17", 2**63, -17, True, None])
def test_counts_are_refused_without_being_shown(count: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        read_count(count, minimum=0)
    assert caught.value.field == "value"
    assert not any(digits in str(caught.value) for digits in ("17", "922337", "0.5"))
    assert read_count(np.int64(17), minimum=0) == 17
