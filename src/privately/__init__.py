"""Answers questions about people's data without giving any of them away, and shows the proof.

Names are loaded when first used, so that `import privately` costs next to nothing.
"""

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
    "MixedNeighbors",
    "Neighbors",
    "NoSuchRule",
    "PrivatelyError",
    "PureDP",
    "Refused",
    "Release",
    "RenyiDP",
    "ZCDP",
    "analyze",
    "certify",
    "check",
    "open",
    "prove",
]

_HOMES = {
    "accounting": (),
    "certificates": ("certify", "check"),
    "engines": (),
    "errors": (
        "BudgetExhausted",
        "CertificateInvalid",
        "InvalidParameter",
        "MixedNeighbors",
        "NoSuchRule",
        "PrivatelyError",
        "Refused",
    ),
    "guarantees": (
        "ApproxDP",
        "ApproxZCDP",
        "GaussianDP",
        "Guarantee",
        "Neighbors",
        "PureDP",
        "RenyiDP",
        "ZCDP",
    ),
    "laws": (),
    "ledger": (),
    "mechanisms": (),
    "noise": (),
    "plans": (),
    "proving": ("analyze", "prove"),
    "query": ("open",),
    "releases": ("Release",),
    "rounding": ("Interval",),
    "views": (),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


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
        MixedNeighbors,
        NoSuchRule,
        PrivatelyError,
        Refused,
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

    def __getattr__(name: str) -> object:
        """Load a public name, or a package of ours, when it is first asked for."""
        import gc
        from importlib import import_module

        if name in _HOMES:
            return import_module(f"privately.{name}")
        if name not in _HOME_OF:
            raise AttributeError(f"module 'privately' has no attribute {name!r}")
        # Modules and classes are no garbage; looking for some among them takes a seventh of the time to load them.
        is_collecting = gc.isenabled()
        gc.disable()
        try:
            value: object = getattr(import_module(f"privately.{_HOME_OF[name]}"), name)
        finally:
            if is_collecting:
                gc.enable()
        globals()[name] = value
        return value
