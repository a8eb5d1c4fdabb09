"""Where records are kept. SQLite now; any database that can append rows in turns will do."""

from privately.ledger.stores.protocol import EMPTY, Checking, Head, Page, Row, Session, Store, Whole
from privately.ledger.stores.readers import SQLiteReader
from privately.ledger.stores.sqlite import SQLiteStore

__all__ = ["Checking", "EMPTY", "Head", "Page", "Row", "SQLiteReader", "SQLiteStore", "Session", "Store", "Whole"]
