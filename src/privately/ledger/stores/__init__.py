"""Where records are kept. SQLite now; any database that can append rows in turns will do."""

from privately.ledger.stores.protocol import EMPTY, Checking, Head, NotNow, Page, Row, Session, Store, Whole
from privately.ledger.stores.readers import SQLiteReader
from privately.ledger.stores.sqlite import SQLiteStore

__all__ = [
    "EMPTY",
    "Checking",
    "Head",
    "NotNow",
    "Page",
    "Row",
    "SQLiteReader",
    "SQLiteStore",
    "Session",
    "Store",
    "Whole",
]
