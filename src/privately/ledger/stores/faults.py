"""What a failing database means, in our words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from privately.errors import LedgerCorrupt, LedgerUnavailable

_CORRUPT = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.FormatError,
    apsw.ConstraintError,
    apsw.MismatchError,
    UnicodeDecodeError,
)
_REASONS: dict[type[apsw.Error], tuple[str, str]] = {
    apsw.ReadOnlyError: (
        "it may only be read",
        "Whoever runs this needs the right to write the file and its directory.",
    ),
    apsw.FullError: ("the disk is full", "Make room and ask again."),
    apsw.BusyError: ("something else is writing to it", "Close the other program; only privately may write ledgers."),
    apsw.LockedError: ("something else is writing to it", "Close the other program."),
    apsw.CantOpenError: ("it cannot be opened", "Look at the path and its permissions."),
    apsw.PermissionsError: ("it may not be opened", "Look at the permissions of the file."),
    apsw.IOError: ("the disk failed", "Look at the disk, then open the ledger again."),
    apsw.NoMemError: ("there is not enough memory", "Ask again later."),
    apsw.TooBigError: ("the record is too large", "Store less with it."),
}


def real(path: str | Path) -> Path:
    """The path without links, which cannot be found where the directory one is in was removed."""
    with explained(Path(path)):
        return Path(os.path.realpath(path))


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns errors of the database and of the file system into LedgerUnavailable or LedgerCorrupt."""
    try:
        yield
    except _CORRUPT as fault:
        raise LedgerCorrupt(f"{path} is damaged or no ledger ({fault}).") from None
    except apsw.Error as fault:
        for kind, (reason, hint) in _REASONS.items():
            if isinstance(fault, kind):
                raise LedgerUnavailable(f"{path}: {reason}.", hint=hint) from None
        raise LedgerUnavailable(f"{path}: the database failed ({fault}).") from None
    except OSError as fault:
        raise LedgerUnavailable(f"{path}: {fault.strerror}.") from None
