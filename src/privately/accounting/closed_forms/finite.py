"""All sums of finitely many losses, where these are not too many: randomized responses, pure guarantees.

A table lists the values that a sum of losses can take, with their masses. These come from products of ratios of
neighbouring terms, in floats, so that each is off by at most a known number of roundings, and add up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.closed_forms import long_runs
from privately.accounting.closed_forms.largest_sum import of_largest_sum
from privately.accounting.compositions import Composition
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1
from privately.accounting.losses import FiniteLoss, Weight
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

MOST = 1 << 20
"""More values than this are refused."""

_LEAST = 1e-280
_CRUMB = 1e-300
_SMALLEST = 1e-290
_MARGIN, _VAGUE = Fraction(1, 10**13), Decimal("1e-7")
_ZERO = Fraction(0)
_FAR = 600.0
_NEAR = 100.0
_MOST_PATHS = 4096
_DEVIATIONS = 40.0
_FEWEST = 2000

_DIGITS = 34
_LESS = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
_MORE = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)

Pair = tuple[Enclosure, Enclosure]


@dataclass(frozen=True)
class Table:
    """Values, largest first, with their masses; every number below is a bound.

    Each value is off by at most `slack` and each mass by a part `error` of it; `outside` is the probability of all that
    is not listed.
    """

    values: Floats
    masses: Floats
    slack: float
    error: float
    outside: float


def profile(composition: Composition, epsilon: Fraction) -> Enclosure:
    """delta at epsilon."""
    found = _by_sums(composition, epsilon)
    if found.upper - found.lower <= _VAGUE * found.upper:
        return found
    return of_largest_sum(composition, epsilon) or found


def _by_sums(composition: Composition, epsilon: Fraction) -> Enclosure:
    try:
        table = _table(composition)
    except NotApplicable:
        return long_runs.profile(composition, epsilon)
    low, high = (Fraction(delta_of(table, epsilon, sign=sign)) for sign in (-1, 1))
    return Enclosure(Enclosure.of(low).lower, Enclosure.of(high).upper).clip(0, 1)


def delta_of(table: Table, epsilon: Fraction, *, sign: int) -> float:
    """From below or from above: with all values moved by the slack, down or up."""
    near = float(epsilon)
    away = table.values + (sign * (table.slack + UNIT * abs(near)) - near)
    over = away > 0
    parts = table.masses[over] * -expm1(-np.minimum(away[over], _FAR))
    off = table.error + 4 * ERROR + 2 * (parts.size + 16) * UNIT
    crumbs = (table.values.size + 1) * _CRUMB  # floats below the normal ones are not exact
    total = float(parts.sum())
    if sign > 0:
        return (total + crumbs) * (1 + off) + table.outside * (1 + 4 * UNIT)
    return max(total - crumbs, 0.0) * max(1 - off, 0.0)


def inverse(composition: Composition, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at 0 < delta < 1."""
    try:
        return inverse_of(_table(composition), delta)
    except NotApplicable:
        return long_runs.inverse(composition, delta)


def inverse_of(table: Table, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Guessed with floats, then checked on either side."""
    near = float(delta)
    if near < _SMALLEST or table.outside == math.inf:
        raise NotApplicable("too many sums of losses, or too small a delta")
    below, above = math.nextafter(near, 0.0), math.nextafter(near, 1.0)
    guess = Fraction(_guess(table, near))
    margin = _MARGIN * max(guess, Fraction(1)) + 2 * Fraction(table.slack)
    lower: Fraction | None = None
    upper: Fraction | None = None
    for _ in range(40):
        if guess <= margin and delta_of(table, _ZERO, sign=1) <= below:
            return _ZERO, _ZERO
        if upper is None and delta_of(table, guess + margin, sign=1) <= below:
            upper = guess + margin
        if lower is None and (guess <= margin or delta_of(table, guess - margin, sign=-1) >= above):
            lower = max(guess - margin, _ZERO)
        if lower is not None and upper is not None:
            return lower, upper
        margin *= 8
    raise NotApplicable("no epsilon could be checked")


def _guess(table: Table, wanted: float) -> float:
    """Between two neighbouring values the profile is A - e^epsilon B: epsilon is ln((A - delta)/B) there, roughly."""
    values, masses = table.values, table.masses
    mass = np.cumsum(masses)
    start = min(int(np.searchsorted(mass, wanted)), values.size - 1)  # epsilon is below this one, and not far
    behind = values[start] - values
    first, last = np.searchsorted(behind, (-_NEAR, _FAR)).tolist()  # those before count in full
    values, mass = values[first:last], mass[first:last]
    grown = np.exp(behind[first:last])
    discounted = np.cumsum(masses[first:last] * grown) / grown
    place = max(int(np.searchsorted(mass - discounted, wanted)) - 1, 0)
    inside = float((mass[place] - wanted) / discounted[place])
    found = float(values[place]) + (math.log(inside) if inside > 0 else 0.0)
    return max(min(found, float(values[place])), 0.0)


def _table(composition: Composition) -> Table:
    """Long ones are kept for the next question."""
    short = sum(times for _, times in composition.parts) <= _FEWEST
    return _made(composition) if short else _kept(composition)


@lru_cache(maxsize=16)
def _kept(composition: Composition) -> Table:
    return _made(composition)


def _made(composition: Composition) -> Table:
    tables = [_repeated(law, times) for law, times in composition.parts if isinstance(law, FiniteLoss)]
    found, *others = sorted(tables, key=lambda table: table.values.size)
    for other in others:
        found = _combined(found, other)
    if not others and (found.values[1:] <= found.values[:-1]).all():
        return found
    order = np.argsort(-found.values)
    return Table(found.values[order], found.masses[order], found.slack, found.error, found.outside)


def _combined(first: Table, second: Table) -> Table:
    if first.values.size * second.values.size > MOST:
        raise NotApplicable("too many sums of losses")
    values = np.add.outer(first.values, second.values).ravel()
    slack = first.slack + second.slack + 2 * UNIT * float(np.abs(values).max())
    error = (first.error + second.error + first.error * second.error) * (1 + 1e-9) + 2 * UNIT
    masses = np.multiply.outer(first.masses, second.masses).ravel()
    # What is too small to be multiplied is next to nothing.
    lost = 1e-290 * values.size
    return Table(values, masses, slack, error, first.outside + second.outside + lost)


def _repeated(law: FiniteLoss, times: int) -> Table:
    atoms = atoms_of(law)
    if len(atoms) == 2:
        return _two_point(atoms[0], atoms[1], times)
    if len(atoms) == 1:
        (_, loss) = atoms[0]
        value = times * float(loss.lower)
        return Table(np.array([value]), np.ones(1), _slack(atoms, times), 0.0, 0.0)
    if times * math.log(len(atoms)) > math.log(_MOST_PATHS):
        raise NotApplicable("too many sums of losses")
    values, masses = (np.array([float(pair[i].lower) for pair in atoms]) for i in (1, 0))
    one = Table(values, masses, _slack(atoms, 1), 4 * UNIT + _doubt(atoms), 0.0)
    found = one
    for _ in range(times - 1):
        found = _combined(found, one)
    return found


def _two_point(first: Pair, second: Pair, times: int) -> Table:
    """k times the larger loss and T - k times the other one: in units of the most likely case, then of their sum.

    Theorem: b(k+1)/b(k) = (T-k)/(k+1) p/(1-p) falls with k; so what follows after a term is at most that term times
        r/(1 - r), r the ratio to the next. All terms add up to 1.
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
    total = float(masses.sum())
    error = 16 * (max(up, down) + 4) * (UNIT + _doubt((first, second))) + 2 * masses.size * UNIT + 2 * outside / total
    slack = _slack((first, second), times)
    return Table(values, masses / total, slack, error, outside / total * (1 + 1e-8))


def atoms_of(law: FiniteLoss) -> tuple[Pair, ...]:
    """The probability and the loss of each outcome, as `FiniteLoss.atoms`: but losses of 0 and of +-epsilon are exact,
    and e^epsilon has as many digits as a table needs.
    """
    if law.epsilon > _FAR:
        return law.atoms()
    epsilon = Enclosure.of(law.epsilon)
    grown = Enclosure(_LESS.next_minus(_LESS.exp(epsilon.lower)), _MORE.next_plus(_MORE.exp(epsilon.upper)))
    weights = [(_value(first, grown), _value(second, grown)) for first, second in law.outcomes]
    total = sum((first for first, _ in weights), Enclosure.of(0))
    losses = [_loss(*each, epsilon) for each in law.outcomes]
    return tuple(
        (first / total, (first / second).log() if loss is None else loss)
        for (first, second), loss in zip(weights, losses, strict=True)
    )


def _value(weight: Weight, grown: Enclosure) -> Enclosure:
    apart, together = weight
    if not together:
        return Enclosure.of(apart)
    return together * grown if not apart else apart + together * grown


def _loss(first: Weight, second: Weight, epsilon: Enclosure) -> Enclosure | None:
    """The loss, where it is 0 or plus or minus epsilon."""
    if first == second:
        return Enclosure.of(0)
    if not first[0] and not second[1] and first[1] == second[0]:
        return epsilon
    if not first[1] and not second[0] and first[0] == second[1]:
        return -epsilon
    return None


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
