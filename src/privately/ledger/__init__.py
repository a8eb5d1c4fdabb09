"""The ledger: a budget that survives crashes, races, retries, restored backups and colluding analysts.

`entries` are what is recorded, `state` what they amount to, `book` one turn of writing, `acts` what can be done in it,
`writer` who does it, `stores` where it is kept; `ledger` is the door, `asynchronous` that for event loops.
"""

from privately.ledger.acts import Receipt
from privately.ledger.budgets import Budget, in_words
from privately.ledger.charges import Charge
from privately.ledger.ledger import Answer, Ledger, Record
from privately.ledger.pins import Pin
from privately.ledger.sketches import OwnerKey
from privately.ledger.tables import Registration
from privately.ledger.verifying import Verification

__all__ = [
    "Answer",
    "Budget",
    "Charge",
    "Ledger",
    "OwnerKey",
    "Pin",
    "Receipt",
    "Record",
    "Registration",
    "Verification",
    "in_words",
]
