"""`privately budget`: what a ledger has left."""

from privately.cli.budget.commands import budget

__all__ = ["budget"]
