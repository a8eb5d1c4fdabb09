"""Reading and writing small files so that nothing is lost and nothing surprises."""

from __future__ import annotations

import os
import tempfile
from os import PathLike
from pathlib import Path

from privately.errors import CertificateInvalid, InvalidParameter

MAX_BYTES = 16 * 2**20


def write_whole(path: str | PathLike[str], content: bytes) -> None:
    """Replaces the file by `content`, or leaves it as it was."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as fault:
        raise InvalidParameter("path", f"cannot write {target}: {fault.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except OSError as fault:
        Path(temporary).unlink(missing_ok=True)
        raise InvalidParameter("path", f"cannot write {target}: {fault.strerror}.") from None


def read_limited(path: str | PathLike[str]) -> bytes:
    """The content of a file of at most MAX_BYTES."""
    if not isinstance(path, (str, PathLike)):
        raise InvalidParameter("path", f"{type(path).__name__} is neither a path nor a Certificate.")
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise CertificateInvalid("file", f"cannot read {path}: {reason}.") from None
    if len(content) > MAX_BYTES:
        raise CertificateInvalid("file", f"{path} is larger than {MAX_BYTES // 2**20} MiB.")
    return content
