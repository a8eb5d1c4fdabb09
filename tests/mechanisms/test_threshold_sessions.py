"""Sessions answer no more than was paid for, and keep their threshold to themselves."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest

from privately.errors import BudgetExhausted, InvalidParameter
from privately.mechanisms.grids import Grid
from privately.mechanisms.sparse_vector import SparseVector
from privately.mechanisms.threshold_sessions import Session, answer_all, begin, read_stream
from tests.mechanisms.streams import Script, Untouched

SURE = SparseVector(threshold_scale="1/1000", query_scale="1/1000", count=2, threshold=10)


def test_a_session_stops_after_its_yes_answers() -> None:
    session = SURE.start()
    assert [session.ask(value) for value in (0, 20, 5, 30)] == [False, True, False, True]
    assert session.stopped
    for value in (0, 100):
        with pytest.raises(BudgetExhausted, match="0 of 2 yes answers"):
            session.ask(value)


def test_no_answers_are_free() -> None:
    session = SURE.start()
    assert not any(session.ask(0) for _ in range(100))
    assert not session.stopped


def test_streams_end_with_the_last_yes() -> None:
    assert SURE.release([0, 20, 30, 40, 0]) == [False, True, True]
    assert SURE.release([0, 20]) == [False, True]


def test_every_session_has_noise_of_its_own() -> None:
    wide = SparseVector(threshold_scale=10**6, query_scale="1/1000")
    assert len({wide.start()._threshold for _ in range(5)}) == 5


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_sessions_cannot_be_copied(duplicate: Any) -> None:
    with pytest.raises(TypeError, match="neither copied nor saved"):
        duplicate(SURE.start())


def test_sessions_do_not_show_their_threshold() -> None:
    session = begin(
        compare=SURE.compare,
        grid=Grid(None),
        threshold=Fraction(123456),
        scale=Fraction(1),
        count=1,
        source=Script((789,)),  # type: ignore[arg-type]  # draws are all that is needed
    )
    assert session._threshold == 123456 + 789
    assert "124245" not in repr(session) + str(session)


def test_a_refused_query_costs_nothing_and_draws_nothing() -> None:
    session = SURE.start()
    session._source = Untouched()
    for value in (float("nan"), 1.5, "1", None, [1, 2]):
        with pytest.raises(InvalidParameter):
            session.ask(value)
    assert session._left == 2


def test_two_threads_do_not_share_the_last_yes() -> None:
    """With the lock away, some of these runs give more answers than were paid for."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            session = SURE.start()
            with ThreadPoolExecutor(8) as pool:
                assert sum(pool.map(lambda _, session=session: _yes(session), range(40))) == 2
    finally:
        sys.setswitchinterval(before)


def _yes(session: Session[bool]) -> bool:
    try:
        return session.ask(10**6)
    except BudgetExhausted:
        return False


def test_streams_are_read_as_a_whole() -> None:
    assert read_stream([1, -2], Grid(None)) == [1, -2]
    assert read_stream(7, Grid(None)) == [7]
    assert read_stream([0.3], Grid("1/4")) == [1]
    with pytest.raises(InvalidParameter, match="is empty"):
        read_stream([], Grid(None))


def test_nothing_is_asked_of_a_session_that_has_stopped() -> None:
    def stopped(randomness: Any) -> Session[bool]:
        return Session(compare=SURE.compare, grid=Grid(None), threshold=0, count=0, source=randomness)

    assert answer_all(stopped, [1, 2, 3], Untouched()) == []
