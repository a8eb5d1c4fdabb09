"""Bounds on privacy profiles by an integral along a line of the complex plane, whose cost does not grow with the number
of steps.

A law of the privacy loss (`sampled_gaussian`, `sampled_laplace`, `finite`) becomes weighted `points`, tilted to a place
on the real line, a `view`; `bundles` does that for many laws at once. `saddle` chooses that place, `laying` how far to
go from it, `integral` adds up, and `road` refines. `softened` is for losses that do not fall along the line, `cutting`
and `jumps` (with `split`, `rare`) for those that are swamped by rare large ones. `swift` takes many steps of one
sampled Gaussian in fewer operations.
"""

from privately.accounting.contour.cutting import Cutting
from privately.accounting.contour.jumps import FEW_JUMPS, JUMPS, MORE_JUMPS
from privately.accounting.contour.listing import amount
from privately.accounting.contour.rare import RareJumps
from privately.accounting.contour.road import METHOD, FewSteps, delta, epsilon, is_at_most
from privately.accounting.contour.softened import BRIEF, THOROUGH
from privately.accounting.contour.swift import alike

__all__ = [
    "BRIEF",
    "FEW_JUMPS",
    "JUMPS",
    "METHOD",
    "MORE_JUMPS",
    "THOROUGH",
    "Cutting",
    "FewSteps",
    "RareJumps",
    "alike",
    "amount",
    "delta",
    "epsilon",
    "is_at_most",
]
