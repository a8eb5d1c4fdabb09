"""The last steps of a long run, each chosen in the light of all before it: lower values."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from privately.accounting.roads import NotApplicable
from privately.accounting.sampled_games.before_normal import worst
from privately.accounting.sampled_games.kinds import Kind
from privately.accounting.sampled_games.long_runs import square
from privately.accounting.sampled_games.pairs import allowed, merged
from privately.accounting.sampled_games.profiles import Lattice, OneWay
from privately.accounting.sampled_games.trials import Pair, moves, play, start

MOST, MOST_IN_ALL = 1000, 50_000
"""So many last steps; of more in all they do not count."""
_SHARE = 4
"""Of all steps one in so many at most."""
_AFTER, _Z, _COLUMNS = (3, 12, 50, 200, 800), (-3.0, -2.0, -1.0, -0.3, 0.3, 1.0, 1.7, 2.5, 3.5), 300
_FINE, _WIDE, _MORE, _MOST_MORE, _BELOW = 12, 6.0, 0.2, 2000, 1.0


def tried(kind: Kind, times: int) -> tuple[OneWay, int]:
    """Tests of some last steps, where the row is removed, and of how many.

    Theorem: a choice that is allowed, followed by any test after either outcome, is a test.
    Reference: none; by what a composition is
    Proof: docs/theory/accounting/sampled_games.md#from-below
    Checked-by: tests/accounting/sampled_games/test_last_steps.py::test_last_steps_are_between
    """
    last = min(MOST, times // _SHARE)
    step = math.sqrt(square(kind)) / _FINE
    half = math.ceil((_WIDE * math.sqrt(last) * step * _FINE + min(_MORE, _MOST_MORE * step)) / step)
    return play(start(Lattice(step, -half, half)), moves(pairs(kind), kind.rate, step), last), last


@lru_cache(maxsize=8)
def pairs(kind: Kind) -> tuple[Pair, ...]:
    """Those that gain most before as much normal noise as some steps have, and are allowed."""
    if kind.stated is not kind.base:
        raise NotApplicable("only divergences")
    laws = [law for k in _AFTER for law in worst(kind, k * square(kind), np.array(_Z), _COLUMNS)]
    found = tuple(allowed(kind.stated, (merged(law, _BELOW) for law in laws)))
    if not found:
        raise NotApplicable("no pair is known to be allowed")
    return found
