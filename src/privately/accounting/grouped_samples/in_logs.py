"""One step on a sample as a group sees it, where there is so little noise that ratios of densities leave the floats."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, exp, expm1, log
from privately.accounting.grouped_samples.log_pieces import Ends, Pieces, cut_in_logs
from privately.accounting.grouped_samples.mixtures import Numbers, Split, Step, is_in_range, listed
from privately.accounting.grouped_samples.noises import Base
from privately.accounting.losses import Loss
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples.lists import listed_as_usual
from privately.accounting.spreading import Losses, Side

_FAINT, _CELLS = 1e-300, 1 << 14


def listed_either_way(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
    """By ratios of densities where these are floats, and by their logarithms elsewhere."""
    if not is_in_range(step, split, rare):
        with suppress(NotApplicable):
            return listed_in_logs(step, split, side, count, rare)
    return listed(step, split, side, count, rare)


def listed_in_logs(step: Step, split: Split, side: Side, count: int, rare: float) -> Losses:
    """As so many removed and so many added rows see it, cut into about so many pieces; about `rare` is left out."""
    removed, added = (Numbers.of(rows, step.rate, side, rare / 2) for rows in split)
    pieces = cut_in_logs(step.base, range(removed.most + 1), -added.most, count, rare)
    outside = float(removed.missing) * (1 + 4 * UNIT) + pieces.outside
    return _listed(Mixture.of(removed, 1), Mixture.of(added, -1), pieces, outside, side)


def law_either_way(law: Loss, side: Side, rare: float) -> Losses:
    """A law without a sample: noise by logarithms, all else as usual."""
    return law_in_logs(law, side, _CELLS, rare) if isinstance(law, Base) else listed_as_usual(law, side, rare)


def law_in_logs(base: Base, side: Side, count: int, rare: float) -> Losses:
    """The same without a sample: one row is seen."""
    pieces = cut_in_logs(base, [1], 0, count, rare)
    return _listed(Mixture((1,), (1.0,)), Mixture((0,), (1.0,)), pieces, pieces.outside, side)


@dataclass(frozen=True)
class Mixture:
    """Noise around these numbers of rows, with these shares, each off by a unit of rounding."""

    rows: Sequence[int]
    shares: Sequence[float]

    @classmethod
    def of(cls, numbers: Numbers, sign: int) -> Mixture:
        return cls([sign * i for i in range(numbers.most + 1)], numbers.shares)

    def log_of(self, logs: Callable[[int], Ends]) -> Ends:
        """ln of the sum over all rows of their shares times what these are the logarithms of."""
        weights = log(np.array(self.shares)).tolist()
        slack = 16 * (len(weights) + 4) * UNIT + (16 + 2 * max(map(abs, weights))) * ERROR
        low, high = (self._log_sum(logs, weights, end) for end in (0, 1))
        return low - slack - 16 * UNIT * np.abs(low), high + slack + 16 * UNIT * np.abs(high)

    def _log_sum(self, logs: Callable[[int], Ends], weights: Sequence[float], end: int) -> Floats:
        """Of one end; everything is asked for twice, so that nothing is kept."""
        pairs = list(zip(self.rows, weights, strict=True))
        top = functools.reduce(np.maximum, (logs(rows)[end] + weight for rows, weight in pairs))
        total = np.zeros(top.size)
        for rows, weight in pairs:
            total += exp(logs(rows)[end] + weight - top)
        return top + log(total)


def _listed(p: Mixture, q: Mixture, pieces: Pieces, outside: float, side: Side) -> Losses:
    """Every cell as its two ends, or as one outcome.

    Theorem: a cell may be taken for its two ends, with masses under P of a + b = n and b = (n - m r)/(1 - r/R), r < R
        the ratios of P and Q there, m and n their masses: that costs at least as much, and so does more of n, and more
        of it at the upper end. Taken for one outcome, it costs at most as much.
    Reference: the cell is the image of the two under a map that forgets which; data processing
    Proof: docs/theory/accounting/group_samples.md#in-logarithms
    Checked-by: tests/accounting/grouped_samples/test_in_logs.py::test_lists_are_on_their_sides
    """
    n, m = p.log_of(pieces.masses), q.log_of(pieces.masses)
    if side == "lower":
        return _kept(n[0] - m[1], exp(n[0]) * (1 - 2 * ERROR), 0.0, side)
    whole = exp(n[1]) * (1 + 2 * ERROR)
    low, high = _losses(p, q, pieces.at_lower_ends), _losses(p, q, pieces.at_upper_ends)
    rounded = 8 * UNIT * (np.abs(m[0]) + np.abs(low[0]) + np.abs(n[1]))
    above = 1 - exp(np.minimum(m[0] + low[0] - n[1] - rounded, 0.0)) * (1 - 4 * ERROR)
    apart = -expm1(-np.maximum(high[0] - low[1], 0.0))
    upper = whole * np.minimum(above * (1 + 4 * ERROR) / np.maximum(apart, _FAINT), 1.0)
    masses = np.concatenate([whole - upper, upper]) * (1 + 4 * UNIT)
    return _kept(np.concatenate([low[1], high[1]]), masses, outside, side)


def _losses(p: Mixture, q: Mixture, logs: Callable[[int], Ends]) -> Ends:
    """ln(P/Q)."""
    first, second = p.log_of(logs), q.log_of(logs)
    return first[0] - second[1], first[1] - second[0]


def _kept(losses: Floats, masses: Floats, outside: float, side: Side) -> Losses:
    """Without masses that are next to nothing, and with the losses rounded to their side."""
    has_mass = masses > _FAINT
    losses, masses = losses[has_mass], masses[has_mass]
    sign = 4 * UNIT if side == "upper" else -4 * UNIT
    return Losses.of(losses + sign * np.abs(losses), masses, outside + 2 * has_mass.size * _FAINT)
