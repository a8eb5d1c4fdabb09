"""The proof of what an answer costs, made of the plan and of the mechanisms that were chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from privately import mechanisms as m
from privately.guarantees import ZCDP, ApproxZCDP, Derivation, Neighbors, PureDP, rules
from privately.plans import Aggregation
from privately.query.allocation import Drawn, Mechanism
from privately.query.uses import Use


def derivation(drawn: Sequence[Drawn], aggregation: Aggregation) -> Derivation:
    """All uses together."""
    return together([derivation_of(one, aggregation) for one in drawn])


def together(derived: Sequence[Derivation]) -> Derivation:
    """One after the other; where some are in terms of rho, all are."""
    if len(derived) == 1:
        return derived[0]
    if {type(one.conclusion) for one in derived} & {ZCDP, ApproxZCDP}:
        kept = (ZCDP, ApproxZCDP)
        derived = [one if isinstance(one.conclusion, kept) else rules.convert(one, ZCDP) for one in derived]
    return rules.sequential(*derived)


def derivation_of(drawn: Drawn, aggregation: Aggregation) -> Derivation:
    """One use, in all groups of the aggregation."""
    del aggregation
    kind: type[PureDP | ZCDP] = PureDP if drawn.currency == "epsilon" else ZCDP
    derived = [_derived(each, drawn.use, kind) for each in drawn.mechanisms]
    return derived[0] if len(derived) == 1 else rules.sequential(*derived)


def _derived(mechanism: Mechanism, use: Use, kind: type[PureDP | ZCDP]) -> Derivation:
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
        return choice.derive_from_spread(spread_of_a_row * one.value, one.neighbors, kind)
    if isinstance(mechanism, m.ThresholdedHistogram):
        return _thresholded(mechanism, one.neighbors)
    return mechanism.derive(two if isinstance(mechanism, m.Gaussian) else one)


def _thresholded(mechanism: m.ThresholdedHistogram, neighbors: Neighbors) -> Derivation:
    """Which groups are shown. Where every row is a unit of its own, it has one group.

    Theorem: the numbers of units that the first pass counts move by 1 in at most g groups when a unit comes or goes;
        what is asked afterwards of the groups that were shown composes with it, whichever they are.
    Reference: Korolova-Kenthapadi-Mishra-Ntoulas 2009; Wilson-et-al 2020
    Proof: docs/theory/stability.md#unknown-groups
    Checked-by: tests/query/test_listing.py::test_what_is_shown_of_all_small_tables,
        tests/query/test_listing.py::test_false_listings_are_refuted
    """
    proof = rules.thresholded_histogram(
        noise=mechanism.noise,
        scale=mechanism.scale,
        threshold=mechanism.threshold,
        keys=mechanism.keys,
        neighbors=replace(neighbors, change="add_remove"),
    )
    return proof if neighbors.change == "add_remove" else rules.add_remove_to_replace(proof)


__all__ = ["derivation", "derivation_of", "together"]
