"""Random questions about small tables of hostile values: no neighbours are further apart than is claimed.

For all neighbours of a table the engine's exact whole numbers move by no more than their sensitivities, nothing ever
fails, and the numbers are those that the plan means.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.query.generated.cases import drawn, wrong

CHANCES = st.randoms(use_true_random=False)
COMMON = settings(deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)


def check(random: Random) -> None:
    case = drawn(random)
    often = len(case.statement.text) % 10
    found = wrong(case, by_engine=often == 0, by_meaning=often % 2 == 0, by_copy=often == 1)
    assert not found, f"{found}\n{case}"


@settings(COMMON, max_examples=250)
@given(CHANCES)
def test_no_neighbours_are_further_apart_than_claimed(random: Random) -> None:
    check(random)


@pytest.mark.slow
@settings(COMMON, max_examples=10_000)
@given(CHANCES)
def test_no_neighbours_are_further_apart_than_claimed_in_many_cases(random: Random) -> None:
    case = drawn(random)
    often = len(case.statement.text) % 12
    found = wrong(case, by_engine=often % 4 == 0, by_copy=often % 3 == 0)
    assert not found, f"{found}\n{case}"
