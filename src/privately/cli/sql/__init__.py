"""`privately sql`, `privately explain`, `privately prepare`: private SQL from a shell."""

from privately.cli.sql.commands import prepare, sql
from privately.cli.sql.explaining import explain

__all__ = ["explain", "prepare", "sql"]
