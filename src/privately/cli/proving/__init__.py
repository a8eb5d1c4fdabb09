"""`privately prove` and `privately analyze`: programs from a shell."""

from privately.cli.proving.commands import analyze, prove

__all__ = ["analyze", "prove"]
