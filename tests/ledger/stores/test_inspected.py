"""A ledger is looked at or written in one process, not both: said at once and plainly."""

from pathlib import Path

import pytest

from privately.errors import LedgerUnavailable
from privately.ledger import Ledger
from tests.ledger.examples import charge, used


def test_opening_what_is_inspected(tmp_path: Path) -> None:
    path = tmp_path / "l"
    used(path)
    with Ledger.inspect(path) as first, Ledger.inspect(path):
        with pytest.raises(LedgerUnavailable, match="is being inspected"):
            Ledger.open(path)
        first.close()
        with pytest.raises(LedgerUnavailable, match="is being inspected"):
            Ledger.open(path)
    with Ledger.open(path) as ledger:
        ledger.charge(charge("more"))
        with Ledger.inspect(path) as other:
            assert other.budget("visits").entries == 4
        ledger.charge(charge("still more"))
        assert ledger.verify().charges == 5
