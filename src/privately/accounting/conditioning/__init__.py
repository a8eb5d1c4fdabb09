"""Few losses beside others: the profile is the mean, over the few, of the profile of the others.

`outcomes` lists what one step of a law can show, `tables` all sums of such losses, and `road` asks the other roads for
the profile of what is left.
"""

from privately.accounting.conditioning.road import METHOD, Conditioned, Inner

__all__ = ["METHOD", "Conditioned", "Inner"]
