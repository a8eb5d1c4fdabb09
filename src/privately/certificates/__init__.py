"""Derivations as data (`certify`), and the independent checker of such data (`check`).

The checker in `certificates/checker` imports nothing of ours; the format is described in docs/theory/certificates.md.
Checking loads none of the code that derives: that is loaded when a certificate is made.
"""

from privately.certificates.checker import Report
from privately.certificates.checking import check
from privately.on_demand import on_demand

__all__ = ["Certificate", "Report", "certify", "check", "decode", "encode"]

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.certificates.certificate import Certificate, certify
    from privately.certificates.encoding import decode, encode
else:
    __getattr__ = on_demand(__name__, certificate="Certificate certify", encoding="decode encode")
