"""Renyi divergences of every event at real orders, and the bounds on epsilon and delta that follow.

A loss law (`closed_forms`, `sampled`, `sums`, `fixed_size`) or a statement (`moments`) bounds logarithmic `moments`;
`amplification` and `grouping` make those of samples and of groups; `curves` puts an event together, `orders` chooses
an order, `road` converts. `concentrated` has the rho of zCDP.
"""

from privately.accounting.renyi.concentrated import rho
from privately.accounting.renyi.road import (
    METHOD,
    Answer,
    delta,
    delta_at,
    delta_with_order,
    epsilon,
    epsilon_at,
    epsilon_with_order,
    renyi_bounds,
)

__all__ = [
    "METHOD",
    "Answer",
    "delta",
    "delta_at",
    "delta_with_order",
    "epsilon",
    "epsilon_at",
    "epsilon_with_order",
    "renyi_bounds",
    "rho",
]
