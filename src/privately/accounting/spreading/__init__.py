"""Losses in cells: a list of losses that costs at least as much as a law, and one that costs at most as much.

`steps` lists one step, `lists` adds lists up, and `road` asks both. Cells follow the law, however small its losses are,
so rarely sampled steps are no harder than others; for more than two steps the lists are coarse.
"""

from privately.accounting.spreading.road import METHOD, delta, epsilon

__all__ = ["METHOD", "delta", "epsilon"]
