"""Reading and writing small files so that nothing is lost and nothing surprises."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from privately.certificates.checker import Invalid, read_file
from privately.errors import CertificateInvalid, InvalidParameter


def write_whole(path: str | PathLike[str], content: bytes) -> None:
    """Replaces the file by `content`, or leaves it as it was. A link stays a link."""
    target = Path(os.path.realpath(_path(path)))
    temporary = target.with_name(f".{target.name[:50]}.{os.urandom(8).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except (OSError, ValueError) as fault:
        temporary.unlink(missing_ok=True)
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise InvalidParameter("path", f"cannot write {path}: {reason}.") from None


def read_limited(path: str | PathLike[str]) -> bytes:
    """The content of a regular file that is not too large to be a certificate."""
    try:
        return read_file(_path(path))
    except Invalid as fault:
        raise CertificateInvalid("file", f"{path}: {fault.reason}.") from None


def _path(path: object) -> str:
    if isinstance(path, (str, PathLike)) and isinstance(name := os.fspath(path), str):
        return name
    raise InvalidParameter("path", f"{type(path).__name__} is neither a path nor a Certificate.")
