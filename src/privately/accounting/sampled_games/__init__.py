"""Samples of statements, or of mechanisms of bounded range, each step chosen in the light of all before it.

It is a game as in `adaptive` and `two_outcomes`, one for each direction. `profiles` keeps upper values on a lattice,
`ways` tells what a sample makes of a pair's ratios, `rules` and `ranges` bound what the best allowed pair gains,
`steps` plays one step and `jumps` many at once; `pairs` are allowed, and `trials` tests what they reveal. `games` puts
all steps of a kind together, and `road` different ones and whatever is beside them.
"""

from privately.accounting.sampled_games.road import chosen, composed

__all__ = ["chosen", "composed"]
