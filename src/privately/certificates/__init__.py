"""Derivations as data (`certify`), and the independent checker of such data (`check`).

The checker in `certificates/checker` imports nothing of ours; the format is described in docs/theory/certificates.md.
Checking loads none of the code that derives: that is loaded when a certificate is made.
"""

from privately.certificates.checker import Report
from privately.certificates.checking import check

__all__ = ["Certificate", "Report", "certify", "check", "decode", "encode"]

# Type checkers know this name; importing it from `typing` is not needed for it.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately.certificates.certificate import Certificate, certify
    from privately.certificates.encoding import decode, encode
else:
    _HOME_OF = {"Certificate": "certificate", "certify": "certificate", "decode": "encoding", "encode": "encoding"}

    def __getattr__(name: str) -> object:
        """Load what needs the deriver when it is first asked for."""
        from importlib import import_module

        if name not in _HOME_OF:
            raise AttributeError(f"module 'privately.certificates' has no attribute {name!r}")
        return getattr(import_module(f"privately.certificates.{_HOME_OF[name]}"), name)
