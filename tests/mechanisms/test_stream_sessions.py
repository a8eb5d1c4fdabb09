"""Sessions over a stream: one answer for each item, no more items than promised, no copies."""

import copy
import pickle
from threading import Thread
from typing import Any

import pytest

from privately.errors import BudgetExhausted, InvalidParameter
from privately.mechanisms.binary_tree import BinaryTree
from privately.mechanisms.refined_tree import RefinedTree
from privately.mechanisms.stream_sessions import StreamSession, over_blocks, over_refined_blocks
from tests.mechanisms.stream_checks import Scripted

TREE = BinaryTree(scale=1, length=3)


def silent(tree: BinaryTree | RefinedTree, draws: int = 100) -> StreamSession[Any]:
    return tree.session(Scripted([0] * draws))  # type: ignore[arg-type]  # nothing else is drawn


def test_sums_so_far() -> None:
    session = silent(TREE)
    assert [session.add(item) for item in (5, -2, 4)] == [5, 3, 7]


def test_items_may_be_chosen_in_the_light_of_answers() -> None:
    session = silent(TREE)
    assert session.add(session.add(session.add(1))) == 4


def test_after_the_last_item_it_is_over() -> None:
    session = silent(TREE)
    for left in (2, 1, 0):
        session.add(1)
        assert session.left == left
    with pytest.raises(BudgetExhausted, match="greater length"):
        session.add(1)


@pytest.mark.parametrize("bad", [0.5, float("nan"), "1", None, [1, 2], [], True])
def test_bad_items_are_refused_and_cost_nothing(bad: Any) -> None:
    session = silent(TREE, draws=0)
    with pytest.raises(InvalidParameter):
        session.add(bad)
    assert session.left == 3


def test_far_items_are_moved_near_enough_to_be_added() -> None:
    session = silent(TREE)
    assert [session.add(2**63 - 1) for _ in range(3)] == [i * (2**62 // 3) for i in (1, 2, 3)]


def test_answers_stay_within_64_bits() -> None:
    advance = over_blocks(2, lambda total: total + 2**62)
    assert [advance(t, 0) for t in (1, 2, 3, 4)] == [2**62, 2**62, 2**63 - 1, 2**63 - 1]


def test_refined_answers_use_the_blocks_inside() -> None:
    """Noise of 3 on every block: of the first two items the estimate errs by (2 * 3 + (3 + 3))/3."""
    advance = over_refined_blocks(2, lambda total: total + 3)
    assert [advance(t, 0) for t in (1, 2)] == [3, 4]


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_there_are_no_copies(way: Any) -> None:
    for tree in (TREE, RefinedTree(scale=1, length=3)):
        with pytest.raises(TypeError, match="neither copied nor saved"):
            way(silent(tree))


def test_threads_take_turns() -> None:
    session = silent(BinaryTree(scale=1, length=400), draws=400)
    answers: list[int] = []
    threads = [Thread(target=lambda: answers.extend(session.add(1) for _ in range(100))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(1, 401))
