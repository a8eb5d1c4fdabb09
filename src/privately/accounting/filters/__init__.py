"""Budgets for questions that are chosen in the light of earlier answers.

A Filter has a cap, fixed beforehand, and refuses what would not fit; an Odometer only counts. What their numbers mean,
and what they do not, is proved in docs/theory/accounting/filters.md.
"""

from privately.accounting.filters.batches import Batch, use_evaluators
from privately.accounting.filters.currencies import Currency
from privately.accounting.filters.filter import Filter
from privately.accounting.filters.odometer import Odometer

__all__ = ["Batch", "Currency", "Filter", "Odometer", "use_evaluators"]
