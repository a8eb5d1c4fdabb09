"""All sums of finitely many losses, where these are not too many: randomized responses, pure guarantees.

A table lists the values that a sum of losses can take, with their masses in units of one of them. Masses come from
products of ratios of neighbouring terms, in floats, so that each is off by at most a known number of roundings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.closed_forms import long_runs
from privately.accounting.closed_forms.factorials import log_binomial
from privately.accounting.compositions import Composition
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

MOST = 1 << 20
"""More values than this are refused."""

_LEAST = 1e-280
_CRUMB = Fraction(1, 10**300)
_FAR = 600.0
_MOST_PATHS = 4096
_DEVIATIONS = 40.0
_FEWEST = 2000

Pair = tuple[Enclosure, Enclosure]


@dataclass(frozen=True)
class Table:
    """Values, largest first; masses in units of `unit`; every number below is a bound.

    Each value is off by at most `slack` and each mass by a part `error` of it; `outside` is the probability of all that
    is not listed.
    """

    values: Floats
    masses: Floats
    unit: Enclosure
    slack: float
    error: float
    outside: float


def profile(composition: Composition, epsilon: Fraction) -> Enclosure:
    """delta at epsilon."""
    try:
        table = _table(composition)
    except NotApplicable:
        return long_runs.profile(composition, epsilon)
    return Enclosure(_delta(table, epsilon, sign=-1).lower, _delta(table, epsilon, sign=1).upper).clip(0, 1)


def _delta(table: Table, epsilon: Fraction, *, sign: int) -> Enclosure:
    """With all values moved by the slack, down or up."""
    away = table.values + (sign * (table.slack + UNIT * float(abs(epsilon))) - float(epsilon))
    over = away > 0
    parts = table.masses[over] * -expm1(-np.minimum(away[over], _FAR))
    off = table.error + 4 * ERROR + 2 * (parts.size + 8) * UNIT
    crumbs = (table.values.size + 1) * _CRUMB  # floats below the normal ones are not exact
    total = table.unit * Enclosure.of(max(Fraction(float(parts.sum())) + sign * crumbs, Fraction(0)))
    return total * (1 + sign * Fraction(off)) + (Fraction(table.outside) if sign > 0 else 0)


def inverse(composition: Composition, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1."""
    try:
        return _by_table(_table(composition), delta)
    except NotApplicable:
        return long_runs.inverse(composition, delta)


def _by_table(table: Table, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Guessed with floats, then checked on either side."""
    if _delta(table, Fraction(0), sign=1).upper <= delta:
        return Fraction(0), Fraction(0)
    if table.outside == math.inf:
        raise NotApplicable("too many sums of losses")
    guess = Fraction(_guess(table, float((Enclosure.of(delta) / table.unit).lower)))
    margin = Fraction(1, 10**13) * max(guess, Fraction(1)) + 2 * Fraction(table.slack)
    lower: Fraction | None = None
    upper: Fraction | None = None
    for _ in range(40):
        if upper is None and _delta(table, guess + margin, sign=1).upper <= delta:
            upper = guess + margin
        if lower is None and (guess <= margin or _delta(table, guess - margin, sign=-1).lower >= delta):
            lower = max(guess - margin, Fraction(0))
        if lower is not None and upper is not None:
            return lower, upper
        margin *= 8
    raise NotApplicable("no epsilon could be checked")


def _guess(table: Table, wanted: float) -> float:
    """Between two neighbouring values the profile is A - e^epsilon B: epsilon is ln((A - delta)/B) there, roughly."""
    values, masses = table.values, table.masses

    def above(k: int) -> tuple[float, float]:
        kept = masses[: k + 1]
        return float(kept.sum()), float((kept * np.exp(np.maximum(values[k] - values[: k + 1], -_FAR))).sum())

    low, high = 0, values.size - 1
    while low < high:
        middle = (low + high + 1) // 2
        mass, discounted = above(middle)
        low, high = (middle, high) if mass - discounted <= wanted else (low, middle - 1)
    mass, discounted = above(low)
    inside = (mass - wanted) / discounted
    found = float(values[low]) + (math.log(inside) if inside > 0 else 0.0)
    return max(min(found, float(values[low])), 0.0)


@lru_cache(maxsize=16)
def _table(composition: Composition) -> Table:
    tables = [_repeated(law, times) for law, times in composition.parts if isinstance(law, FiniteLoss)]
    found, *others = sorted(tables, key=lambda table: table.values.size)
    for other in others:
        found = _combined(found, other)
    order = np.argsort(-found.values)
    return Table(found.values[order], found.masses[order], found.unit, found.slack, found.error, found.outside)


def _combined(first: Table, second: Table) -> Table:
    if first.values.size * second.values.size > MOST:
        raise NotApplicable("too many sums of losses")
    values = np.add.outer(first.values, second.values).ravel()
    slack = first.slack + second.slack + 2 * UNIT * float(np.abs(values).max())
    error = (first.error + second.error) * (1 + 1e-9) + 2 * UNIT
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    # What is too small to be multiplied is next to nothing.
    lost = 1e-290 * values.size
    return Table(values, masses, first.unit * second.unit, slack, error, first.outside + second.outside + lost)


def _repeated(law: FiniteLoss, times: int) -> Table:
    atoms = law.atoms()
    if len(atoms) == 2:
        return _two_point(atoms[0], atoms[1], times)
    if len(atoms) == 1:
        (_, loss) = atoms[0]
        value = times * float(loss.lower)
        return Table(np.array([value]), np.ones(1), Enclosure.of(1), _slack(atoms, times), 0.0, 0.0)
    if times * math.log(len(atoms)) > math.log(_MOST_PATHS):
        raise NotApplicable("too many sums of losses")
    values, masses = (np.array([float(pair[i].lower) for pair in atoms]) for i in (1, 0))
    one = Table(values, masses, Enclosure.of(1), _slack(atoms, 1), 4 * UNIT + _doubt(atoms), 0.0)
    found = one
    for _ in range(times - 1):
        found = _combined(found, one)
    return found


def _two_point(first: Pair, second: Pair, times: int) -> Table:
    """k times the larger loss and T - k times the other one, in units of the most likely case.

    Theorem: b(k+1)/b(k) = (T-k)/(k+1) p/(1-p) falls with k; so what follows after a term is at most that term times
        r/(1 - r), r the ratio to the next.
    Reference: comparison with the geometric series
    Proof: docs/theory/accounting/closed_forms.md#finitely-many-losses
    Checked-by: tests/accounting/closed_forms/test_finite.py::test_binomial_tables_contain_the_truth
    """
    (p, large), (q, small) = first, second
    odds = float((p / q).lower)
    if not 1e-200 < odds < 1e200:
        raise NotApplicable("one of two outcomes is next to impossible")
    mode = min(max(math.floor((times + 1) * odds / (1 + odds)), 0), times)
    reach = math.floor(_DEVIATIONS * math.sqrt(times * odds) / (1 + odds)) + _FEWEST
    up, down = min(times - mode, reach), min(mode, reach)
    if up + down >= MOST:
        raise NotApplicable("too many sums of losses")
    k = np.arange(float(mode), mode + up)
    above: Floats = np.concatenate([[1.0], np.cumprod((times - k) / (k + 1) * odds)])
    k = np.arange(float(mode), mode - down, -1.0)
    below: Floats = np.cumprod(k / (times - k + 1) / odds).astype(np.float64)
    outside = _rest(above, (times - mode - up) / (mode + up + 1) * odds)
    outside += _rest(below, (mode - down) / (times - mode + down + 1) / odds)
    above, below = above[above > _LEAST], below[below > _LEAST]
    counts = np.concatenate([np.arange(mode + above.size - 1.0, mode - 1.0, -1), mode - 1.0 - np.arange(below.size)])
    masses = np.concatenate([above[::-1], below])
    values = counts * float(large.lower) + (times - counts) * float(small.lower)
    unit = (log_binomial(times, mode) + mode * p.log() + (times - mode) * q.log()).exp()
    error = 8 * (max(up, down) + 2) * (UNIT + _doubt((first, second)))
    slack = _slack((first, second), times)
    return Table(values, masses, unit, slack, error, outside * float(unit.upper) * (1 + 1e-9))


def _slack(atoms: Sequence[Pair], times: int) -> float:
    """How far sums of so many losses may be off, as floats."""
    most = max(abs(float(loss.lower)) for _, loss in atoms)
    return times * (8 * UNIT * most + 2 * max(float(loss.upper - loss.lower) for _, loss in atoms))


def _doubt(atoms: Sequence[Pair]) -> float:
    """How wide the enclosures of the probabilities are, relative to them: nothing to speak of, but for tiny ones."""
    return 2 * max(float((p.upper - p.lower) / p.lower) if p.lower > 0 else math.inf for p, _ in atoms)


def _rest(terms: Floats, ratio: float) -> float:
    """At most how much is left out of a series from the most likely case outward; `ratio` is that of the next term."""
    dropped = float(terms[terms <= _LEAST].sum())
    ratio *= 1 + 1e-9
    if ratio >= 1:
        return math.inf
    last = float(terms[-1]) if terms.size else 1.0
    return (dropped + last * ratio / (1 - ratio)) * (1 + 1e-9) + 1e-290
