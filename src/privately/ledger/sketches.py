"""Sketches of who is in a table, under the owner's key: known copies are recognised, and nothing else can be read.

A sketch has 256 places. A unit's keyed hash says which place it competes for, and the least one leaves 16 other bits of
its hash there. Two tables agree in about that share of places which their common units are of all their units. The
bits left are as good as random to anybody without the key, however many units there are; places that nobody competed
for are filled with bits that depend on the whole table, so that two tables do not agree there. Whoever sees two
sketches sees about which share their tables have in common, and nothing about who.
"""

from __future__ import annotations

import hmac
import math
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path

from privately.errors import InvalidParameter, LedgerUnavailable
from privately.ledger.names import checked_path

PLACES = 256
KEY_BYTES = 32
ENOUGH = 3
"""So many equal places are no accident: by chance, two tables have three in common once in 10^8 pairs."""


@dataclass(frozen=True, slots=True)
class OwnerKey:
    """A secret of the owner's, kept in a file of its own. It is never written into a ledger, and never shown."""

    secret: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != KEY_BYTES:
            raise InvalidParameter("secret", f"is not {KEY_BYTES} bytes.")

    def __repr__(self) -> str:
        return "OwnerKey(...)"

    def __reduce__(self) -> str:
        raise InvalidParameter("secret", "an owner's key is not to be copied; load its file instead.")

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> OwnerKey:
        """The key in this file, which only its owner may read; a new one if there is none."""
        file = Path(checked_path(path))
        try:
            if not file.exists():
                _make_key(file)
            if file.stat().st_mode & 0o077:
                raise InvalidParameter("path", f"others may read {file}.", hint=f"Run chmod 600 {file}.")
            return cls(file.read_bytes())
        except OSError as fault:
            raise LedgerUnavailable(f"cannot keep a key in {file}: {fault.strerror}.") from None

    def digest(self, message: bytes) -> bytes:
        return hmac.digest(self.secret, message, "sha256")

    @property
    def mark(self) -> str:
        """Tells this key from others, and says nothing about it."""
        return self.digest(b"privately: which key is this?")[:8].hex()


def _make_key(file: Path) -> None:
    """A key that appears whole or not at all; of several who make one at once the first is kept."""
    new = file.with_name(f".{file.name[:50]}.{os.urandom(8).hex()}")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(os.urandom(KEY_BYTES))
            opened.flush()
            os.fsync(opened.fileno())
        with suppress(FileExistsError):
            os.link(new, file)
    finally:
        new.unlink(missing_ok=True)


def sketch(units: Iterable[object], key: OwnerKey) -> str:
    """The sketch of a table with these units (their ids, or whole rows), as hexadecimal text."""
    if isinstance(units, (str, bytes)) or not isinstance(units, Iterable):
        raise InvalidParameter("units", "give all ids of the units, such as a column.")
    least: dict[int, tuple[bytes, bytes]] = {}
    for unit in units:
        hashed = key.digest(_written(unit))
        place, rank, left = hashed[0], hashed[1:16], hashed[16:18]
        if place not in least or (rank, left) < least[place]:
            least[place] = (rank, left)
    whole = key.digest(b"table" + b"".join(rank for _, (rank, _) in sorted(least.items())))
    return b"".join(
        least[place][1] if place in least else hmac.digest(whole, bytes([place]), "sha256")[:2]
        for place in range(PLACES)
    ).hex()


def is_sketch(text: str) -> bool:
    """Whether a text is as `sketch` writes it."""
    return re.fullmatch(f"[0-9a-f]{{{4 * PLACES}}}", text) is not None


def common(one: str, other: str) -> int:
    """In how many places two sketches agree."""
    return sum(one[at : at + 4] == other[at : at + 4] for at in range(0, 4 * PLACES, 4))


def overlap(one: str, other: str) -> bool:
    """Whether two tables certainly have units in common. False does not say that they have none."""
    return common(one, other) >= ENOUGH


def _written(unit: object) -> bytes:
    """Ids that are equal as texts are equal, whether a file holds them as numbers or as texts."""
    if isinstance(unit, bytes):
        return unit
    if isinstance(unit, (float, Decimal, Real)):
        with suppress(ArithmeticError, ValueError):  # not a number, or no end to it
            unit = whole if (whole := math.floor(unit)) == unit else unit
    return str(unit).encode("utf-8", "surrogatepass")
