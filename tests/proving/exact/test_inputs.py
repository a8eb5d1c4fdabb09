"""All neighbours."""

from collections.abc import Callable
from itertools import product

import pytest

from privately.errors import InvalidParameter
from privately.proving.exact.inputs import neighbouring_pairs
from privately.proving.exact.sampling import NotFinite
from privately.proving.language.declarations import (
    Neighborhood,
    added,
    anything,
    between,
    bits,
    each,
    monotone,
    one,
    replaced,
    whole,
)
from privately.proving.language.program import Parameter


def pairs(neighborhood: Neighborhood | None, *sizes: int, is_list: bool = True) -> set[tuple[object, object]]:
    parameter = Parameter("x", neighborhood=neighborhood, is_list=is_list, private=True)
    return {(a[0], b[0]) for a, b in neighbouring_pairs([parameter], sizes)}


def test_scalars() -> None:
    assert pairs(replaced(0, 1), 1, is_list=False) == {(0, 1), (1, 0)}
    assert pairs(each(1, whole(0, 2)), 1, is_list=False) == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_one_entry_is_replaced() -> None:
    found = pairs(replaced(0, 1), 2)
    assert ((0, 0), (0, 1)) in found
    assert ((0, 0), (1, 1)) not in found
    assert len(found) == 8


def test_one_entry_comes_or_goes() -> None:
    assert pairs(added(0), 1) == {((0,), (0, 0)), ((0, 0), (0,))}
    assert (((1, 0)), (1, 1, 0)) in pairs(added(0, 1), 2)


def test_no_length_is_left_out_because_shorter_ones_are_many() -> None:
    found = pairs(added(1), *range(640))
    assert len(found) == 2 * 640
    assert ((1,) * 639, (1,) * 640) in found
    for size in (2, 3):
        everything = set(product((0, 1, 2), repeat=size + 1))
        shorter = {(long[:gone] + long[gone + 1 :], long) for long in everything for gone in range(size + 1)}
        assert pairs(added(0, 1, 2), size) == shorter | {(long, short) for short, long in shorter}


def test_distances() -> None:
    far = ((0, 0), (1, 1))
    assert far in pairs(each(1, whole(0, 1)), 2)
    assert far not in pairs(one(1, whole(0, 1)), 2)
    opposite = ((0, 1), (1, 0))
    assert opposite in pairs(each(1, whole(0, 1)), 2)
    assert opposite not in pairs(monotone(1, whole(0, 1)), 2)


def test_any_two() -> None:
    assert len(pairs(anything(bits(2)), 1)) == 12
    assert len(pairs(anything(0, 1), 2)) == 12


def test_neighbours_without_end() -> None:
    for endless in (each(1), replaced(between(0, 1)), replaced(whole(0))):
        with pytest.raises(NotFinite):
            pairs(endless, 1)
    with pytest.raises(NotFinite, match=r"too many|more than"):
        pairs(anything(bits(16)), 1)
    with pytest.raises(InvalidParameter, match="how neighbours differ"):
        pairs(None, 1)


@pytest.mark.parametrize("kind", [each, one, monotone])
@pytest.mark.parametrize("is_list", [True, False])
def test_large_domains_take_no_longer_than_their_pairs(kind: Callable[..., Neighborhood], *, is_list: bool) -> None:
    found = pairs(kind(1, whole(0, 9_999)), 1, is_list=is_list)
    assert len(found) == 2 * 9_999


def test_two_private_inputs_change_together() -> None:
    both = [Parameter(name, neighborhood=replaced(0, 1), private=True) for name in "xy"]
    assert ((0, 0), (1, 1)) in set(neighbouring_pairs(both, [1]))


@pytest.mark.parametrize("kind", [each, monotone])
def test_near_lists_are_those_found_among_all(kind: Callable[..., Neighborhood]) -> None:
    everything = list(product(range(3), repeat=3))
    moves = {(a, b): [y - x for x, y in zip(a, b, strict=True)] for a in everything for b in everything if a != b}
    wanted = {
        pair
        for pair, steps in moves.items()
        if max(map(abs, steps)) <= 1 and (kind is each or min(steps) >= 0 or max(steps) <= 0)
    }
    assert pairs(kind(1, whole(0, 2)), 3) == wanted
