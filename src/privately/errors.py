"""Every error the package raises, in one tree.

PrivatelyError
├── Refused                     the question cannot be answered privately as asked
│   ├── NotSupported            outside what we can analyse
│   ├── UnboundedContribution   nothing limits how much one unit adds
│   ├── UnknownBounds           a sum or average without value bounds
│   └── DataDependentKeys       group keys would reveal who is in the data
├── BudgetExhausted             the charge does not fit in what is left
├── Unanswered                  it was charged before, and no answer was stored
├── InvalidParameter            a value out of its range (also a ValueError)
├── NoSuchRule                  no theorem leads from these premises to that conclusion
├── MixedNeighbors              statements about different neighbours cannot be combined
├── NotPrivate                  a program was refuted; carries the witness
├── Unproved                    no proof was found; says nothing about privacy
├── LedgerCorrupt               the record of what was spent does not verify
├── LedgerUnavailable           the ledger cannot be read or written now
├── CertificateInvalid          a certificate that does not check
├── Contradiction               two proofs of ours disagree: a fault of this package
└── EngineFailed                the engine failed; the message holds no data

Every error says what to change. `hint` repeats that part alone, for programs that show it apart.
"""

from __future__ import annotations

from typing import Any


class PrivatelyError(Exception):
    """Base of all errors of this package."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[PrivatelyError], texts: tuple[str, ...], fields: dict[str, Any]) -> PrivatelyError:
    """The same error in another process; its own constructor takes other arguments than its text."""
    error = kind.__new__(kind)
    error.args = texts
    error.__dict__.update(fields)
    return error


class Refused(PrivatelyError):
    """The question cannot be answered privately as asked. `span` is the place in the SQL text, if any."""

    def __init__(self, message: str, *, hint: str = "", span: tuple[int, int] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.span = span


class NotSupported(Refused):
    """Outside what can be analysed: unknown means refused."""


class UnboundedContribution(Refused):
    """Nothing limits how many rows one unit contributes."""


class UnknownBounds(Refused):
    """A sum or average needs bounds on its values."""


class DataDependentKeys(Refused):
    """The list of groups itself would reveal who is in the data."""


class BudgetExhausted(PrivatelyError):
    """The charge does not fit in what is left."""

    def __init__(self, *, asked: object, left: object, hint: str = "") -> None:
        super().__init__(f"asked {asked}, but only {left} is left.", hint=hint)
        self.asked = asked
        self.left = left


class Unanswered(PrivatelyError):
    """This question was charged before, and no answer was stored; `charge` is the number of that record."""

    def __init__(self, message: str, *, charge: int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.charge = charge


class InvalidParameter(PrivatelyError, ValueError):
    """A value is out of its range; `field` names it."""

    def __init__(self, field: str, message: str, *, hint: str = "") -> None:
        super().__init__(f"{field}: {message}", hint=hint)
        self.field = field


class NoSuchRule(PrivatelyError):
    """No theorem leads from `premise` to `wanted`."""

    def __init__(self, *, premise: object, wanted: object, hint: str = "") -> None:
        super().__init__(f"there is no rule from {premise} to {wanted}.", hint=hint)
        self.premise = premise
        self.wanted = wanted


class MixedNeighbors(PrivatelyError):
    """Statements about different neighbours cannot be combined."""

    def __init__(self, *found: object, hint: str = "") -> None:
        listed = " and ".join(dict.fromkeys(str(one) for one in found))
        super().__init__(f"these statements protect different neighbours: {listed}.", hint=hint)
        self.found = found


class NotPrivate(PrivatelyError):
    """A program is not private as claimed; `witness` shows it."""

    def __init__(self, message: str, *, witness: object, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.witness = witness


class Unproved(PrivatelyError):
    """No proof was found, which says nothing about privacy."""


class LedgerCorrupt(PrivatelyError):
    """The record of what was spent does not verify."""


class LedgerUnavailable(PrivatelyError):
    """The ledger cannot be read or written now; nothing was released."""


class CertificateInvalid(PrivatelyError):
    """A certificate that does not check; `field` is the place in it, such as `nodes[3].conclusion.epsilon`."""

    def __init__(self, field: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{field}: {reason}" if field else reason, hint=hint)
        self.field = field
        self.reason = reason


class Contradiction(PrivatelyError):
    """What was proved to be at least `lower` was proved to be at most `upper`, which is less; so one proof is wrong."""

    def __init__(self, *, lower: object, upper: object) -> None:
        hint = "This is a fault of privately; please report what you asked, and trust neither number."
        super().__init__(f"a lower end {lower} is above an upper end {upper}.", hint=hint)
        self.lower = lower
        self.upper = upper


class EngineFailed(PrivatelyError):
    """The engine failed; the message holds no data."""
