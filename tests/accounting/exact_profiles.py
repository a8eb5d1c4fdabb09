"""Profiles in exact rational numbers: e^epsilon is replaced by a rational ratio, in the pairs as in the mechanisms.

Finite pairs are formal in t = e^epsilon, so what holds for them at rational t is what their algebra says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product

from privately.accounting.compositions import Composition
from privately.accounting.losses import DiscreteLaplaceLoss, FiniteLoss, Weight
from privately.rounding import Enclosure
from tests.guarantees.enumeration import Data, Law, Table

Pair = tuple[Law, Law]


def hockey_stick(p: Law, q: Law, alpha: Fraction) -> Fraction:
    """The sum of max(0, p - alpha q)."""
    return sum((max(mass - alpha * q.get(o, Fraction(0)), Fraction(0)) for o, mass in p.items()), Fraction(0))


def profile(composition: Composition, alpha: Fraction, ratio: Fraction | int) -> Fraction:
    """infinite + (1 - infinite) E[(1 - alpha e^-L)+], with all e^epsilon taken as `ratio`."""
    laws = [_atoms(law, Fraction(ratio)) for law, times in composition.parts for _ in range(times)]
    total = Fraction(0)
    for atoms in product(*laws):
        mass, shrink = Fraction(1), Fraction(1)
        for probability, falls in atoms:
            mass, shrink = mass * probability, shrink * falls
        total += mass * max(1 - alpha * shrink, Fraction(0))
    return composition.infinite + (1 - composition.infinite) * total


def enclosed_profile(composition: Composition, alpha: Fraction) -> Enclosure:
    """The same with the true e^epsilon, for finite laws."""
    sums = [(Enclosure.of(1), Enclosure.of(0))]
    for law, times in composition.parts:
        assert isinstance(law, FiniteLoss)
        for _ in range(times):
            sums = [(mass * p, total + loss) for mass, total in sums for p, loss in law.atoms()]
    rest = sum(((mass * (1 - alpha * (-loss).exp()).nonnegative()) for mass, loss in sums), Enclosure.of(0))
    return composition.infinite + (1 - composition.infinite) * rest


def _atoms(law: object, ratio: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Each outcome's probability and e^-loss."""
    match law:
        case FiniteLoss(outcomes=outcomes):
            weights = [(_value(p, ratio), _value(q, ratio)) for p, q in outcomes]
            total = sum((p for p, _ in weights), Fraction(0))
            return [(p / total, q / p) for p, q in weights]
        case DiscreteLaplaceLoss(sensitivity=sensitivity):  # e^(1/scale) is the ratio
            return _discrete_laplace(ratio, sensitivity)
    raise AssertionError(f"no exact atoms of {law}")


def _value(weight: Weight, ratio: Fraction) -> Fraction:
    return weight[0] + weight[1] * ratio


def _discrete_laplace(ratio: Fraction, sensitivity: int) -> list[tuple[Fraction, Fraction]]:
    shrink = 1 / ratio
    top = (1 - shrink) / (1 + shrink)
    found = [(1 / (1 + shrink), shrink**sensitivity)]
    found += [(top * shrink**k, shrink ** (sensitivity - 2 * k)) for k in range(1, sensitivity)]
    return [*found, (shrink**sensitivity / (1 + shrink), shrink**-sensitivity)]


def probes(pairs: Iterable[Pair], ratio: Fraction | int) -> list[Fraction]:
    """Ratios at which profiles bend, and some between and beyond."""
    found = {Fraction(1), Fraction(ratio), 1 / Fraction(ratio), Fraction(1, 100), Fraction(100)}
    for p, q in pairs:
        found |= {p[o] / q[o] for o in p if o in q and p[o] and q[o]}
    ordered = sorted(found)
    return [Fraction(0), *ordered, *((a + b) / 2 for a, b in pairwise(ordered))]


def excess(
    pairs: Sequence[Pair], compositions: Sequence[Composition], ratio: Fraction | int
) -> tuple[Fraction, Fraction] | None:
    """An alpha, and by how much the worst pair is above the largest of the compositions there; None if nowhere."""
    for alpha in probes(pairs, ratio):
        bound = max(profile(one, alpha, ratio) for one in compositions)
        worst = max((hockey_stick(p, q, alpha) for p, q in pairs), default=Fraction(0))
        if worst > bound:
            return alpha, worst - bound
    return None


def gap(pair: Pair, composition: Composition, ratio: Fraction | int) -> Fraction:
    """The largest difference of the two profiles; 0 when the pair reaches the composition."""
    return max(abs(hockey_stick(*pair, alpha) - profile(composition, alpha, ratio)) for alpha in probes([pair], ratio))


def removals(table: Table) -> list[Pair]:
    """The laws with and without a row, in this order."""
    return [(law, table[shorter]) for data, law in table.items() for shorter in _shorter(data) if shorter in table]


def additions(table: Table) -> list[Pair]:
    return [(q, p) for p, q in removals(table)]


def replacements(table: Table) -> list[Pair]:
    """The laws of data sets that differ in one place, both ways round."""
    return [
        (law, table[other])
        for data, law in table.items()
        for other in table
        if len(data) == len(other) and sum(a != b for a, b in zip(data, other, strict=True)) == 1
    ]


def _shorter(data: Data) -> set[Data]:
    return {data[:place] + data[place + 1 :] for place in range(len(data))}


def strongest(pairs: Sequence[Pair], delta: Fraction) -> Fraction:
    """The least ratio (a rational e^epsilon, at least 1) with which all pairs, both ways, are within delta."""
    both = [*pairs, *((q, p) for p, q in pairs)]
    bends = sorted({Fraction(1)} | {p[o] / q[o] for p, q in both for o in p if q.get(o) and p[o] > q[o]})
    for ratio in bends:  # between bends the largest is not linear, so the next bend is taken
        if all(hockey_stick(p, q, ratio) <= delta for p, q in both):
            return ratio
    raise AssertionError("more than delta is revealed")


def least_delta(pairs: Sequence[Pair]) -> Fraction:
    """What no ratio can avoid: mass where the other law has none."""
    both = [*pairs, *((q, p) for p, q in pairs)]
    return max((sum((m for o, m in p.items() if not q.get(o)), Fraction(0)) for p, q in both), default=Fraction(0))
