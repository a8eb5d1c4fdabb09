"""Engines: where data sits. They take a plan and give back whole numbers."""

from privately.engines.protocol import Bins, ColumnReport, Counts, Engine, Group, Limits, TableReport

__all__ = ["Bins", "ColumnReport", "Counts", "Engine", "Group", "Limits", "TableReport"]
