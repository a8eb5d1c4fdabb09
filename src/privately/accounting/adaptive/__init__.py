"""Mechanisms of bounded range whose every step is chosen in the light of all before it.

No pair of laws is the worst of one step, but of a whole composition one is: its profile is the value of a game, which
is played backwards on a lattice of losses. `curves` keeps a profile from both sides, `steps` plays one step by the best
chords, which `raising` finds, `games` plays them in every order, `budgets` plays very many ranges by a clock, `pairs`
makes two laws of finitely many losses of the result, `runs` plays thousands of steps of one range in blocks, `noise`
bounds as many of small ranges by normal noise, `thin_noise` by responses and noise, and `road` composes these with
whatever is beside.
"""

from privately.accounting.adaptive.games import Ranges
from privately.accounting.adaptive.noise import as_noise
from privately.accounting.adaptive.road import METHOD, Asked, Beside, enclosed, in_order, near, with_law
from privately.accounting.adaptive.thin_noise import SMALLEST, as_thin_noise

__all__ = [
    "METHOD",
    "SMALLEST",
    "Asked",
    "Beside",
    "Ranges",
    "as_noise",
    "as_thin_noise",
    "enclosed",
    "in_order",
    "near",
    "with_law",
]
