"""The proof of what an answer costs, made of the plan and of the mechanisms that were chosen for it."""

from __future__ import annotations

from collections.abc import Sequence

from privately import mechanisms as m
from privately.guarantees import Derivation, rules
from privately.plans import Aggregation
from privately.query.allocation import Drawn, Mechanism
from privately.query.uses import Use


def derivation(drawn: Sequence[Drawn], aggregation: Aggregation) -> Derivation:
    """All uses together."""
    derived = [derivation_of(one, aggregation) for one in drawn]
    return derived[0] if len(derived) == 1 else rules.sequential(*derived)


def derivation_of(drawn: Drawn, aggregation: Aggregation) -> Derivation:
    """One use, in all groups of the aggregation."""
    del aggregation
    derived = [_derived(each, drawn.use) for each in drawn.mechanisms]
    return derived[0] if len(derived) == 1 else rules.sequential(*derived)


def _derived(mechanism: Mechanism, use: Use) -> Derivation:
    """The proof for all groups together.

    Theorem: exponential mechanisms that choose in each group apart are one on the product of the candidates with the
        sum of the scores, whose spread is that of one row times the rows that come or go in all groups.
    Reference: McSherry and Talwar 2007; elementary
    Proof: docs/theory/stability.md#choices-in-groups
    Checked-by: tests/query/test_proving.py::test_choices_in_groups_cost_what_all_small_tables_say,
        tests/query/test_proving.py::test_a_replaced_row_may_move_to_another_group
    """
    one, two = use.moves
    if isinstance(mechanism, m.Quantile):
        choice = mechanism.choice(mechanism.points.steps + 1)
        spread_of_a_row = choice.scale * mechanism.epsilon
        return choice.derive_from_spread(spread_of_a_row * one.value, one.neighbors)
    return mechanism.derive(two if isinstance(mechanism, m.Gaussian) else one)


__all__ = ["derivation", "derivation_of"]
