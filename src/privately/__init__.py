"""Answers questions about people's data without giving any of them away, and shows the proof.

Names are loaded when first used, so that `import privately` costs next to nothing.
"""

from privately.on_demand import on_demand

__version__ = "0.1.0"

__all__ = [
    "ApproxDP",
    "ApproxZCDP",
    "BudgetExhausted",
    "CertificateInvalid",
    "GaussianDP",
    "Guarantee",
    "Interval",
    "InvalidParameter",
    "LedgerCorrupt",
    "LedgerUnavailable",
    "MixedNeighbors",
    "Neighbors",
    "NoSuchRule",
    "PrivatelyError",
    "PureDP",
    "Refused",
    "Release",
    "RenyiDP",
    "Unanswered",
    "ZCDP",
    "analyze",
    "certify",
    "check",
    "open",
    "prove",
]

_HOMES = {
    "accounting": "",
    "certificates": "certify check",
    "engines": "",
    "errors": "BudgetExhausted CertificateInvalid InvalidParameter LedgerCorrupt LedgerUnavailable MixedNeighbors "
    "NoSuchRule PrivatelyError Refused Unanswered",
    "guarantees": "ApproxDP ApproxZCDP GaussianDP Guarantee Neighbors PureDP RenyiDP ZCDP",
    "laws": "",
    "ledger": "",
    "mechanisms": "",
    "noise": "",
    "plans": "",
    "proving": "analyze prove",
    "query": "open",
    "releases": "Release",
    "rounding": "Interval",
    "views": "",
}


def __dir__() -> list[str]:
    """List what can be asked for, loaded or not."""
    return sorted({*globals(), *__all__, *_HOMES})


# Type checkers know this name; importing it from `typing` would cost more than all the rest.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from privately import accounting as accounting
    from privately import certificates as certificates
    from privately import engines as engines
    from privately import errors as errors
    from privately import guarantees as guarantees
    from privately import laws as laws
    from privately import ledger as ledger
    from privately import mechanisms as mechanisms
    from privately import noise as noise
    from privately import plans as plans
    from privately import proving as proving
    from privately import query as query
    from privately import releases as releases
    from privately import rounding as rounding
    from privately import views as views
    from privately.certificates import certify, check
    from privately.errors import (
        BudgetExhausted,
        CertificateInvalid,
        InvalidParameter,
        LedgerCorrupt,
        LedgerUnavailable,
        MixedNeighbors,
        NoSuchRule,
        PrivatelyError,
        Refused,
        Unanswered,
    )
    from privately.guarantees import (
        ZCDP,
        ApproxDP,
        ApproxZCDP,
        GaussianDP,
        Guarantee,
        Neighbors,
        PureDP,
        RenyiDP,
    )
    from privately.proving import analyze, prove
    from privately.query import open  # noqa: A004 - pv.open is its name
    from privately.releases import Release
    from privately.rounding import Interval
else:
    __getattr__ = on_demand(__name__, **_HOMES)
