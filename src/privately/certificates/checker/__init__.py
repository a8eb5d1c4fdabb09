"""An independent checker of privacy certificates.

It shares no code with the library that makes them: it imports nothing but the Python standard library, and works on
Python's integers alone. Copied elsewhere, it still works. docs/theory/certificates.md says what it accepts.
"""

from .canonical import canonical_bytes, content_hash
from .report import Report
from .schema import Invalid
from .statements import Neighbors, Statement
from .verify import check, check_file, read_certificate, read_file

__all__ = [
    "Invalid",
    "Neighbors",
    "Report",
    "Statement",
    "canonical_bytes",
    "check",
    "check_file",
    "content_hash",
    "read_certificate",
    "read_file",
]
