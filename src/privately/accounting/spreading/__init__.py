"""Losses in cells: a list of losses that costs at least as much as a law, and one that costs at most as much.

`steps` lists one step, `lists` adds lists up, and `road` asks both. Cells follow the law, however small its losses are,
so rarely sampled steps are no harder than others; for more than two steps the lists are coarse. `on_lattice` adds up
fine ones, where there is little noise.
"""

from privately.accounting.spreading.on_lattice import LITTLE, SOME, VERY_LITTLE
from privately.accounting.spreading.road import LEFT_OUT, METHOD, delta, epsilon

__all__ = ["LEFT_OUT", "LITTLE", "METHOD", "SOME", "VERY_LITTLE", "delta", "epsilon"]
