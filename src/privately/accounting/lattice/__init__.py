"""The second road: loss distributions on a lattice, evaluated for one epsilon by a sum over one period."""

from privately.accounting.lattice.road import Plain, delta, epsilon

__all__ = ["Plain", "delta", "epsilon"]
