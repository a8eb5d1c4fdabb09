"""Samples of statements, or of mechanisms of bounded range, each step chosen in the light of all before it.

It is a game as in `adaptive` and `two_outcomes`, in which a row is removed; with both laws exchanged it is added.
`kinds` lays out the lattice, `profiles` keeps upper values there, `ways` tells what a sample makes of a pair's ratios,
`rules` and `ranges` bound what the best allowed pair gains, `steps` plays one step and `jumps` stand for many; `pairs`
are allowed, and `trials` tests what they reveal. Very many steps are `long_runs`: `bends` and `before_normal` tell what
one gains before normal noise, and `standing` which pair stands for it. Of low orders `rare_losses` are enough. `games`
puts all steps of a kind together, and `road` different ones and whatever is beside them, on finer lattices until the
answer is narrow.
"""

from privately.accounting.sampled_games.road import chosen, composed

__all__ = ["chosen", "composed"]
