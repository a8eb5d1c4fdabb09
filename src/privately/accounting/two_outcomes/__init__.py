"""Statements about Renyi divergences, zCDP or some orders: the worst pair that one of them allows has two outcomes.

`search` finds it in floats; `pairs` measures two outcomes at every order, `allowed` shows that a statement allows them,
which is the lower end; `supports` proves that no pair which is allowed reveals more, which is the upper one. `road`
joins them, and `alone` tells which events are one statement.

Of several the steps may be chosen adaptively. From below `choices` lists allowed pairs, `steps` plays one step on a
lattice, `mixtures` one of more outcomes, `runs` several by one choice, `games` all of them. From above `waves` plays a
step of zCDP at all places at once, `ranged` one of bounded range, `wave_games` some steps of few kinds, and
`normal_games`, `sorted_games` and `mixed_games` bound many by normal noise; `ranged_games` has both ends of zCDP with
bounded ranges. For listed orders `majorants` plays a step, by the functions that `families`
and `corners` find above a profile that `sketches` keeps, `listed_games` all of them, and `long_games` puts even pairs
before the last ones; `several_games` plays few steps of several kinds, with orders for zCDP that `searched` finds, and
`bends` compares functions between places. `composed` puts statements beside each other and beside whatever has a pair.
"""

from privately.accounting.two_outcomes.alone import alone
from privately.accounting.two_outcomes.composed import composed
from privately.accounting.two_outcomes.road import METHOD

__all__ = ["METHOD", "alone", "composed"]
