"""What all sparse vectors share: sessions, lists of answers, and the worst case."""

from typing import Any

import pytest

from privately.errors import BudgetExhausted
from privately.guarantees import Sensitivity
from privately.mechanisms import AdaptiveSparseVector, NumericSparseVector, SparseVector, SparseVectorWithGap
from privately.mechanisms.threshold_sessions import read_stream
from privately.mechanisms.threshold_settings import change_in_steps

ONE = Sensitivity(value=1, norm="Linf")
KINDS: list[Any] = [SparseVector, SparseVectorWithGap, NumericSparseVector, AdaptiveSparseVector]
every = pytest.mark.parametrize("kind", KINDS)


@every
def test_a_session_answers_as_a_list_does_and_stops_as_early(kind: Any) -> None:
    """Far from the threshold the noise decides nothing."""
    mechanism = kind.for_epsilon(4, ONE, count=2, threshold=10)
    queries = [10**6, -(10**6)] * 10
    listed = mechanism.release(queries)
    session, asked = mechanism.start(), []
    for query in queries:
        if session.stopped:
            break
        asked.append(session.ask(query))
    assert [bool(answer) for answer in listed] == [bool(answer) for answer in asked]
    assert sum(map(bool, listed)) == mechanism.most_answers
    with pytest.raises(BudgetExhausted):
        session.ask(0)


@every
def test_errors_grow_with_the_number_of_queries(kind: Any) -> None:
    mechanism = kind.for_epsilon(1, ONE, count=2, threshold=10)
    few, many = (mechanism.accuracy(confidence="0.9", queries=queries).error for queries in (1, 1000))
    assert 0 < few < many


@every
@pytest.mark.parametrize("monotone", [False, True])
def test_the_worst_case_has_the_last_yes_answers_far_below(kind: Any, monotone: bool) -> None:
    mechanism = kind.for_epsilon(1, ONE, count=3, threshold=10, monotone=monotone)
    before, after = mechanism.worst_case(ONE)
    assert (before, after) == mechanism.worst_steps(ONE)
    assert max(before[-3:]) < 10 < min(before[:-3])
    assert {b - a for a, b in zip(before[:-3], after[:-3], strict=True)} == {1}
    stay_or_fall = {b - a for a, b in zip(before[-3:], after[-3:], strict=True)}
    if monotone:
        assert stay_or_fall <= {0, 1}
    else:
        assert stay_or_fall == {-1}


@every
@pytest.mark.parametrize("monotone", [False, True])
def test_on_a_grid_the_worst_case_is_as_far_apart_as_the_sensitivity_allows(kind: Any, monotone: bool) -> None:
    """As `run` reads it: in steps no query changes by more, and some by all of it; its loss is at most the claim."""
    mechanism = kind.for_epsilon(8, ONE, threshold=1, monotone=monotone, grid="1/4")
    change = int(change_in_steps(ONE, mechanism.grid, monotone=monotone).value)
    before, after = mechanism.worst_case(ONE)
    one, other = (read_stream(stream, mechanism.grid) for stream in (before, after))
    assert max(abs(b - a) for a, b in zip(one, other, strict=True)) == change == 5
    assert mechanism.worst_steps(ONE) == (one, other)
    assert min(b - a for a, b in zip(one, other, strict=True)) >= (0 if monotone else -change)
    assert mechanism.program_inputs(before)["queries"] == one
