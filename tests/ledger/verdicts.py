"""What verification says of a file, in its ways to go about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.ledger import Ledger


def told(path: Path) -> str:
    """What verification says of a file."""
    try:
        with Ledger.inspect(path) as ledger:
            return str(ledger.verify())
    except (LedgerCorrupt, LedgerUnavailable, InvalidParameter) as fault:
        return str(fault)


def with_care(patch: pytest.MonkeyPatch) -> None:
    """Nothing is recognised at a glance, nothing is added up without reading it."""
    patch.setattr("privately.ledger.verifying.usual_charge", lambda _: None)
    patch.setattr("privately.ledger.verifying.release_text", lambda *_: b"")
    patch.setattr("privately.ledger.settling._MOST_TERMS", 10**9)
