"""Tighter composition of (epsilon, delta): optimal, and advanced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import responses
from privately.guarantees.costs import common_kind, common_neighbors, costs
from privately.guarantees.derivations import Derivation
from privately.guarantees.kinds import ApproxDP, PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.conversions import half_tanh
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude, conclusions
from privately.guarantees.rules.structure import repetitions
from privately.rounding import Enclosure, Number, rational, tidy

_EXACT_BITS = 4000


def optimal_composition(*premises: Derivation, counts: Sequence[int] | None = None, delta: Number) -> Derivation:
    """The least epsilon at `delta` that holds for all (epsilon_i, delta_i) mechanisms together.

    Exact when the epsilons are multiples of a common unit that is not too fine; otherwise each is rounded up to a
    lattice, which for thousands of unrelated epsilons is coarse: then see whether advanced_composition gives less.

    Theorem: every (epsilon_i, delta_i)-DP mechanism is a post-processing of randomized response with loss epsilon_i
        that reveals all with probability delta_i; so the composition has delta = 1 - (1 - D) prod (1 - delta_i) with
        D = E[(1 - e^(epsilon - S))_+], S the sum of the losses; and D only grows when an epsilon_i is rounded up.
    Reference: Kairouz-Oh-Viswanath 2015; Murtagh-Vadhan 2016
    Proof: docs/theory/composition.md#optimal-composition
    Checked-by: tests/guarantees/rules/test_composition.py::test_optimal_composition_equals_enumeration
    """
    losses, deltas, repeats, neighbors = _inputs(premises, counts)
    target = rational(delta, "delta", minimum=0, maximum=1)
    unit, multiples = responses.lattice(losses, repeats)
    moderate(sum((count * multiple * unit for count, multiple in zip(repeats, multiples, strict=True)), Fraction(0)))
    kept = _all_kept(deltas, repeats)
    epsilon = Fraction(0)
    if target < 1:
        inner = 1 - (1 - target) / kept if kept > 0 else Fraction(-1)
        if inner < 0:
            floor = float(1 - kept)
            raise InvalidParameter("delta", f"{float(target):g} is below {floor:g}, to which the deltas alone add up.")
        epsilon = responses.solve(unit, multiples, repeats, inner).claim()
    found = ApproxDP(epsilon=epsilon, delta=target, neighbors=neighbors)
    witness = {"unit": str(unit), "multiples": multiples}
    return conclude("optimal_composition", premises, found, parameters={"counts": repeats}, witness=witness)


def advanced_composition(*premises: Derivation, counts: Sequence[int] | None = None, slack: Number) -> Derivation:
    """A closed form that grows like the square root of the number of mechanisms; `slack` is the delta it adds.

    Theorem: together, (epsilon_i, delta_i)-DP mechanisms are (epsilon, 1 - (1 - s) prod (1 - delta_i))-DP with
        epsilon = sum epsilon_i tanh(epsilon_i/2) + sqrt(2 ln(1/s) sum epsilon_i^2).
    Reference: Dwork-Rothblum-Vadhan 2010; Kairouz-Oh-Viswanath 2015
    Proof: docs/theory/composition.md#advanced-composition
    Checked-by: tests/guarantees/rules/test_composition.py::test_advanced_composition_dominates_optimal
    """
    losses, deltas, repeats, neighbors = _inputs(premises, counts)
    added = rational(slack, "slack", above=0, maximum=1)
    if added == 1:
        raise InvalidParameter("slack", "must be below 1.")
    pairs = list(zip(losses, repeats, strict=True))
    mean = sum((count * moderate(loss) * half_tanh(loss) for loss, count in pairs), Enclosure.of(0))
    squares = sum((count * loss**2 for loss, count in pairs), Fraction(0))
    spread = (-2 * Enclosure.of(added).log() * squares).sqrt()
    delta = tidy(1 - (1 - added) * _all_kept(deltas, repeats))
    found = ApproxDP(epsilon=(mean + spread).claim(), delta=delta, neighbors=neighbors)
    parameters = {"counts": repeats, "slack": str(added)}
    return conclude("advanced_composition", premises, found, parameters=parameters)


def _inputs(
    premises: Sequence[Derivation], counts: Sequence[int] | None
) -> tuple[list[Fraction], list[Fraction], list[int], Neighbors]:
    statements = conclusions(premises)
    repeats = repetitions(counts, len(premises))
    neighbors = common_neighbors(statements)
    if common_kind(statements) not in (PureDP, ApproxDP):
        raise NoSuchRule(premise=statements[0], wanted="optimal or advanced composition", hint="Use sequential().")
    listed = [costs(statement, ApproxDP) for statement in statements]
    return [one["epsilon"] for one in listed], [one["delta"] for one in listed], repeats, neighbors


def _all_kept(deltas: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    """The probability that no mechanism reveals all, the product of (1 - delta_i): exact while short, else below it,
    with the margin of a claim."""
    pairs = [(1 - one, count) for one, count in zip(deltas, counts, strict=True) if one]
    if sum(count * (one.denominator.bit_length() + 1) for one, count in pairs) <= _EXACT_BITS:
        return math.prod((one**count for one, count in pairs), start=Fraction(1))
    product = Enclosure.of(1)
    for one, count in pairs:
        product = product * Enclosure.of(one) ** count
    return 1 - min((1 - product).claim(), Fraction(1))
