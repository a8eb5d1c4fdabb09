"""The first road: answers in closed form, and exact sums over finitely many losses."""

from privately.accounting.closed_forms.road import delta, epsilon, noises

__all__ = ["delta", "epsilon", "noises"]
