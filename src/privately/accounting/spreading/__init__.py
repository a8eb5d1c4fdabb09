"""Losses in cells: a list of losses that costs at least as much as a law, and one that costs at most as much.

`steps` lists one step, `lists` adds lists up, and `road` asks both. Cells follow the law, however small its losses are,
so rarely sampled steps are no harder than others; for more than two steps the lists are coarse. `on_lattice` adds up
fine ones, where there is little noise, and `far_losses` those of which e to their power is no float.
"""

from privately.accounting.spreading.far_losses import NO_LOSS, far_two_of, is_far
from privately.accounting.spreading.lists import Losses, Side
from privately.accounting.spreading.on_lattice import LITTLE, SOME, VERY_LITTLE, Listed
from privately.accounting.spreading.road import LEFT_OUT, METHOD, Curve, all_of, delta, epsilon, two_of
from privately.accounting.spreading.steps import listed

__all__ = [
    "LEFT_OUT",
    "LITTLE",
    "METHOD",
    "NO_LOSS",
    "SOME",
    "VERY_LITTLE",
    "Curve",
    "Listed",
    "Losses",
    "Side",
    "all_of",
    "delta",
    "epsilon",
    "far_two_of",
    "is_far",
    "listed",
    "two_of",
]
