"""Derivations as data (`certify`), and the independent checker of such data (`check`).

The checker in `certificates/checker` imports nothing of ours; the format is described in docs/theory/certificates.md.
"""

from privately.certificates.certificate import Certificate, certify
from privately.certificates.checker import Report
from privately.certificates.checking import check
from privately.certificates.encoding import decode, encode

__all__ = ["Certificate", "Report", "certify", "check", "decode", "encode"]
