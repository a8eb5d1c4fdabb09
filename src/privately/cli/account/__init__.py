"""`privately account`: what a described use of mechanisms costs."""

from privately.cli.account.commands import app

__all__ = ["app"]
