"""Each test forks as if no other had opened a ledger before."""

from weakref import WeakSet

import pytest

from privately.ledger.stores import forks


@pytest.fixture(autouse=True)
def _no_ledger_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "_open", WeakSet())
