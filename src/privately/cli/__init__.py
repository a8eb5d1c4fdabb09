"""The command line: `privately demo | check`."""

from privately.cli.app import app, main

__all__ = ["app", "main"]
