"""The proof of what an answer costs, made of the plan and of the mechanisms that were chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from privately import mechanisms as m
from privately.errors import NotSupported
from privately.guarantees import ZCDP, ApproxZCDP, Derivation, PureDP, Stability, rules
from privately.guarantees.sensitivity import Norm
from privately.plans import Aggregation, RowCount, Steps, StepSum, scan_of
from privately.query.allocation import Drawn
from privately.query.uses import Chosen, Listed, Noisy, TwoSided, Use

if TYPE_CHECKING:
    from privately.query.allocation import Mechanism


def derivation(drawn: Sequence[Drawn], aggregation: Aggregation) -> Derivation:
    """All uses together. Steps of the plan that they share are proved once."""
    steps = Steps(aggregation)
    return together([_derivation(one, aggregation, steps) for one in drawn])


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
    return _derivation(drawn, aggregation, Steps(aggregation))


def _derivation(drawn: Drawn, aggregation: Aggregation, steps: Steps) -> Derivation:
    kind: type[PureDP | ZCDP] = PureDP if drawn.currency == "epsilon" else ZCDP
    derived = [_derived(each, drawn.use, kind, aggregation, steps) for each in drawn.mechanisms]
    return derived[0] if len(derived) == 1 else rules.sequential(*derived)


def _derived(
    mechanism: Mechanism, use: Use, kind: type[PureDP | ZCDP], aggregation: Aggregation, steps: Steps
) -> Derivation:
    """What the mechanism costs, from what the steps of the plan say of how far one unit moves its numbers."""
    match mechanism:
        case m.Laplace():
            return rules.discrete_laplace(
                scale=mechanism.law.scale, sensitivity=_sensitivity(use, "L1", aggregation, steps)
            )
        case m.Gaussian():
            return rules.rounded_gaussian(
                standard_deviation=mechanism.law.standard_deviation,
                sensitivity=_sensitivity(use, "L2", aggregation, steps),
            )
        case m.Quantile() | m.PermutedQuantile():
            assert isinstance(use, Chosen)  # noqa: S101 - nothing else is chosen
            spread = steps.quantile(use.tally, mechanism.probability)
            if isinstance(mechanism, m.PermutedQuantile):  # of which rho is no less than its epsilon implies
                return rules.permute_and_flip(scale=mechanism.scale, spread=spread)
            return rules.exponential_mechanism(scale=mechanism.scale, spread=spread, kind=kind)
        case m.ThresholdedHistogram():
            return _thresholded(mechanism, aggregation, steps)


def _sensitivity(use: Use, norm: Norm, aggregation: Aggregation, steps: Steps) -> Stability:
    """How far one unit moves the numbers that get noise."""
    tallies = dict(aggregation.tallies)
    match use:
        case TwoSided():
            total, count = tallies[use.total], tallies[use.count]
            assert isinstance(total, StepSum)  # noqa: S101 - a question has no other
            assert isinstance(count, RowCount)  # noqa: S101 - a question has no other
            return steps.pair(total, count, low=use.low, high=use.high, norm=norm)
        case Chosen():
            return steps.tally(use.tally, norm)
        case Noisy() | Listed():
            return steps.tally(tallies[use.tally], norm)


def _thresholded(mechanism: m.ThresholdedHistogram, aggregation: Aggregation, steps: Steps) -> Derivation:
    """Which groups are shown: a proof about the first pass, in which the keys are those that nobody listed.

    Theorem: the numbers of units that the first pass counts move by 1 in at most g groups when a unit comes or goes;
        what is asked afterwards of the groups that were shown composes with it, whichever they are.
    Reference: Korolova-Kenthapadi-Mishra-Ntoulas 2009; Wilson-et-al 2020
    Proof: docs/theory/stability.md#unknown-groups
    Checked-by: tests/query/test_listing.py::test_what_is_shown_of_all_small_tables,
        tests/query/test_listing.py::test_false_listings_are_refuted
    """
    unknown = tuple(key for key in aggregation.keys if key.values is None)
    if not unknown:
        raise NotSupported("groups that are shown where all were listed.")
    replaced = scan_of(aggregation.source).table.unit.change == "replace"
    if replaced or unknown != aggregation.keys:
        steps = Steps(replace(aggregation, keys=unknown), change="add_remove")
    proof = rules.thresholded_histogram(
        noise=mechanism.noise, scale=mechanism.scale, threshold=mechanism.threshold, keys=steps.unit_keys()
    )
    return rules.add_remove_to_replace(proof) if replaced else proof


__all__ = ["derivation", "derivation_of", "together"]
