"""Rules that hold for every kind of guarantee: post-processing, weakening, sequential composition."""

from __future__ import annotations

from collections.abc import Sequence

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees.costs import (
    add_up,
    common_kind,
    common_neighbors,
    costs,
    from_costs,
    implies,
    shared_coordinates,
)
from privately.guarantees.derivations import Derivation
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.rules.sealing import conclude, conclusions
from privately.rounding import whole


def postprocessing(premise: Derivation, *, description: str) -> Derivation:
    """Whatever is computed from the output alone, at random or not, reveals no more.

    Theorem: if M satisfies a guarantee, so does f(M) for every randomized f that sees only M's output.
    Reference: Dwork-Roth 2014, Proposition 2.1; Bun-Steinke 2016, Lemma 1.8; Dong-Roth-Su 2022
    Proof: docs/theory/structure.md#post-processing
    Checked-by: tests/guarantees/rules/test_structure.py::test_postprocessing_dominates_enumeration
    """
    (statement,) = conclusions([premise])
    return conclude("postprocessing", [premise], statement, parameters={"description": _text(description)})


def weaken(premise: Derivation, *, to: Guarantee) -> Derivation:
    """The same truth, stated with less.

    Theorem: a guarantee implies every guarantee with larger numbers, fewer orders or fewer neighbours; PureDP is
        ApproxDP with delta 0 and ZCDP is ApproxZCDP with delta 0.
    Reference: Dwork-Roth 2014, Definition 2.4; Bun-Steinke 2016, Definition 8.1
    Proof: docs/theory/structure.md#weakening
    Checked-by: tests/guarantees/rules/test_structure.py::test_weaken_only_downwards
    """
    (statement,) = conclusions([premise])
    if not implies(statement, to):
        raise NoSuchRule(premise=statement, wanted=to, hint="Weakening can only enlarge the numbers.")
    return conclude("weaken", [premise], to)


def sequential(*premises: Derivation, counts: Sequence[int] | None = None) -> Derivation:
    """All the answers together; each mechanism may depend on the answers before it. `counts` repeats premises.

    Theorem: run one after another, adaptively, guarantees of one kind add: epsilon and delta, rho and delta, the Renyi
        bound at each order, and mu squared.
    Reference: Dwork-Roth 2014, Theorem 3.16 and B.1; Mironov 2017, Proposition 1; Bun-Steinke 2016, Lemma 1.7 and
        section 8; Dong-Roth-Su 2022
    Proof: docs/theory/composition.md#sequential-composition
    Checked-by: tests/guarantees/rules/test_structure.py::test_sequential_dominates_enumeration
    """
    statements = conclusions(premises)
    repeats = repetitions(counts, len(premises))
    neighbors, kind = common_neighbors(statements), common_kind(statements)
    listed = [costs(statement, kind) for statement in statements]
    total = {
        name: add_up(count * one[name] for count, one in zip(repeats, listed, strict=True))
        for name in shared_coordinates(listed)
    }
    return conclude("sequential", premises, from_costs(kind, total, neighbors), parameters={"counts": repeats})


def repetitions(counts: Sequence[int] | None, length: int) -> list[int]:
    """How often each premise is used: once each, unless told."""
    if counts is None:
        return [1] * length
    if not isinstance(counts, (list, tuple)) or len(counts) != length:
        raise InvalidParameter("counts", f"give one whole number for each of the {length} premises.")
    return [whole(count, "counts") for count in counts]


def _text(description: str) -> str:
    if not isinstance(description, str) or len(description) > 20_000:
        raise InvalidParameter("description", "must be a text of at most 20,000 characters.")
    return description
