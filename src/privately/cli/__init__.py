"""The command line: `privately demo | check | account | budget`."""

from privately.cli.app import app, main

__all__ = ["app", "main"]
