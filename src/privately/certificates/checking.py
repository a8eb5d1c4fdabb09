"""Running the independent checker, with its refusals as our errors."""

from __future__ import annotations

from os import PathLike
from typing import Protocol

from privately.certificates import checker
from privately.certificates.checker import Report
from privately.certificates.files import read_limited
from privately.errors import CertificateInvalid


class Document(Protocol):
    """A Certificate, as far as checking needs it."""

    @property
    def document(self) -> bytes:
        """Its bytes."""


def check(certificate: str | PathLike[str] | Document, *, allow_assumptions: bool = False) -> Report:
    """Derives every conclusion again, with other code than made it; CertificateInvalid when one does not follow.

    A certificate that rests on assumptions is refused unless they are allowed; the report then lists them.
    """
    document = getattr(certificate, "document", None)
    if not isinstance(document, bytes):
        document = read_limited(certificate)  # type: ignore[arg-type]  # a Certificate has a document
    return check_bytes(document, allow_assumptions=allow_assumptions)


def check_bytes(document: bytes, *, allow_assumptions: bool) -> Report:
    """The same for a document in memory."""
    try:
        return checker.check(document, allow_assumptions=allow_assumptions)
    except checker.Invalid as fault:
        raise CertificateInvalid(fault.field, fault.reason) from None
