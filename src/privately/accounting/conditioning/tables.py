"""All sums of few losses, with those that are nearly equal counted as one and those that hardly ever occur left out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from privately.accounting.closed_forms.finite import Table
from privately.accounting.conditioning.outcomes import outcomes
from privately.accounting.elementary import UNIT, Floats
from privately.accounting.losses import Loss
from privately.accounting.roads import NotApplicable

MOST_PAIRS = 1 << 20
"""Tables of so many values together are not multiplied out."""

_NEAR = 2.0**-46
_LEAST = 1e-250
_MOST_TIMES = 1 << 24


def repeated(law: Loss, times: int, rare: float) -> Table:
    """One law so many times, by squaring."""
    if times > _MOST_TIMES:
        raise NotApplicable("too many steps")
    each = max(rare / (2 * times * (times.bit_length() + 1)), _LEAST)
    square, result, runs = one(law, each), None, 1
    while True:
        if times & 1:
            result = square if result is None else combined(result, square, each * runs)
        times >>= 1
        if not times:
            return result if result is not None else square
        runs *= 2
        square = combined(square, square, each * runs)


def one(law: Loss, rare: float) -> Table:
    """A single step."""
    listed, missing = outcomes(law, Fraction(rare))
    losses = np.array([float(loss.lower) for _, loss in listed])
    masses = np.array([float(mass.lower) for mass, _ in listed])
    kept = masses > _LEAST
    slack = max(float(loss.upper - loss.lower) for _, loss in listed) + 4 * UNIT * float(np.abs(losses).max())
    doubt = max(
        float((mass.upper - mass.lower) / mass.lower) for (mass, _), here in zip(listed, kept, strict=True) if here
    )
    outside = float(missing.upper) * (1 + 4 * UNIT) + 2 * float(masses[~kept].sum()) + losses.size * _LEAST
    return tidied(Table(losses[kept], masses[kept], 2 * slack, 8 * UNIT + 2 * doubt, outside), rare)


def combined(first: Table, second: Table, rare: float) -> Table:
    """Of two independent sums."""
    if first.values.size * second.values.size > MOST_PAIRS:
        raise NotApplicable("too many sums of losses")
    values = np.add.outer(first.values, second.values).ravel()
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    slack = (first.slack + second.slack) * (1 + 4 * UNIT) + 2 * UNIT * float(np.abs(values).max())
    error = (first.error + second.error + first.error * second.error) * (1 + 4 * UNIT) + 2 * UNIT
    outside = (first.outside + second.outside) * (1 + 4 * UNIT) + _LEAST * values.size
    return tidied(Table(values, masses, slack, error, outside), rare)


def tidied(found: Table, rare: float) -> Table:
    """Largest first, without the least likely values, up to `rare` in all, and with neighbours counted as one.

    Theorem: values that move by at most h move the profile at epsilon between those at epsilon - h and epsilon + h;
        values left out add at most their probability to it.
    Reference: the definition of the profile, which falls and is at most 1
    Proof: docs/theory/accounting/conditioning.md#sums-of-few-losses
    Checked-by: tests/accounting/conditioning/test_tables.py::test_tables_hold_all_sums
    """
    values, masses, outside = _likely(found, rare)
    order = np.argsort(-values)
    values, masses = values[order], masses[order]
    gap = _NEAR * float(np.abs(values).max())
    starts = _starts(values, gap)
    joined: Floats = np.add.reduceat(masses, starts)
    longest = int(np.diff(starts, append=values.size).max())
    return Table(values[starts], joined, found.slack + gap * (1 + 2.0**-5), found.error + 2 * longest * UNIT, outside)


def _likely(found: Table, rare: float) -> tuple[Floats, Floats, float]:
    order = np.argsort(found.masses)
    gone = np.cumsum(found.masses[order]) <= rare
    dropped = float(found.masses[order][gone].sum())
    kept = np.sort(order[~gone])
    if not kept.size:
        raise NotApplicable("everything is rare")
    outside = found.outside + dropped * (1 + found.error + 4 * order.size * UNIT)
    return found.values[kept], found.masses[kept], outside * (1 + 4 * UNIT)


def _starts(values: Floats, gap: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where a new group begins: no two values of a group are further than `gap` apart, but for rounding."""
    if not gap:
        return np.zeros(1, dtype=np.int64)
    cells = np.floor(values / gap + 0.5)  # the largest value is in the middle of a cell
    return np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
