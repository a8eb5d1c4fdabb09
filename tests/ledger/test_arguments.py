"""What is given to a ledger is refused before anything is done, or is what was meant."""

from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from privately.ledger.arguments import account_name, check_charge, checked_reason, filter_for
from tests.ledger.examples import charge

PROMISE = ApproxDP(epsilon=1, delta="1e-6")


def test_names_of_accounts() -> None:
    assert account_name("visits", None, None) == "visits"
    assert account_name("visits", "ann", None) == "visits/ann"
    assert account_name("visits", "ann", "laptop") == "visits/ann/laptop"
    with pytest.raises(InvalidParameter, match="belongs to an analyst"):
        account_name("visits", None, "laptop")
    for wrong in ("", "a/b", " a", "a\n"):
        with pytest.raises(InvalidParameter):
            account_name(wrong, None, None)


def test_filters() -> None:
    assert filter_for(PureDP(epsilon=1), None).cap == PureDP(epsilon=1)
    assert type(filter_for(PROMISE, None).cap) is ApproxZCDP
    assert type(filter_for(PROMISE, GaussianDP).cap) is GaussianDP
    assert filter_for(PROMISE, GaussianDP).promise == PROMISE
    cases: list[tuple[Any, Any]] = [(1, None), (PROMISE, RenyiDP), (PureDP(epsilon=1), GaussianDP)]
    for cap, by in cases:
        with pytest.raises(InvalidParameter):
            filter_for(cap, by)


def test_reasons() -> None:
    assert checked_reason("the study goes on") == "the study goes on"
    wrong: list[Any] = ["", "  ", None, 7]
    for reason in wrong:
        with pytest.raises(InvalidParameter):
            checked_reason(reason)


def test_charges() -> None:
    check_charge(charge())
    for wrong in (None, "count", {"query": "count"}):
        with pytest.raises(InvalidParameter, match="give a Charge"):
            check_charge(wrong)
