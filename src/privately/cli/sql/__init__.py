"""`privately sql`, `privately explain`, `privately prepare`: private SQL from a shell."""

from privately.cli.sql.commands import explain, prepare, sql

__all__ = ["explain", "prepare", "sql"]
