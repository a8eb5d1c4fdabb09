"""Bounds on privacy profiles by an integral along a line of the complex plane, whose cost does not grow with the number
of steps.

A law of the privacy loss (`sampled_gaussian`, `sampled_laplace`, `finite`) becomes weighted `points`, tilted to a place
on the real line, a `view`; `bundles` does that for many laws at once. `saddle` chooses that place, `laying` how far to
go from it, `integral` adds up, and `road` refines.
"""

from privately.accounting.contour.road import METHOD, delta, epsilon, is_at_most

__all__ = ["METHOD", "delta", "epsilon", "is_at_most"]
