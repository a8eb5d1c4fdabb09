"""Where derivations begin: a mechanism given in full as a table, or an assumption that stays visible."""

from __future__ import annotations

from fractions import Fraction

from privately.errors import InvalidParameter, NotPrivate
from privately.guarantees.derivations import Derivation
from privately.guarantees.distances import privacy_curve_of
from privately.guarantees.finite import MAX_COMPARISONS, FiniteMechanism
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ApproxDP, PureDP
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.limits import moderate
from privately.guarantees.rules.sealing import conclude
from privately.rounding import Enclosure, Number, rational


def finite_table(
    mechanism: FiniteMechanism, *, neighbors: Neighbors = Neighbors.ADD_REMOVE, delta: Number = 0
) -> Derivation:
    """The tight guarantee of a finite mechanism, by comparing all neighbours: PureDP, or ApproxDP at a delta > 0.

    Theorem: (epsilon, delta) holds on a finite domain exactly when, for all neighbours in both directions, the sum over
        outcomes of max(0, P - e^epsilon Q) is at most delta.
    Reference: Dwork-Roth 2014, Definition 2.4; seed 000, epsilon-distance
    Proof: docs/theory/structure.md#finite-tables
    Checked-by: tests/guarantees/rules/test_leaves.py::test_finite_table_is_tight
    """
    if not isinstance(mechanism, FiniteMechanism):
        raise InvalidParameter("mechanism", f"{mechanism!r} is not a FiniteMechanism.")
    allowed = rational(delta, "delta", minimum=0, maximum=1)
    pairs = list(mechanism.pairs(neighbors))
    if not pairs:
        raise InvalidParameter("neighbors", f"no two data sets of the table are neighbours by {neighbors}.")
    if sum(max(len(one), len(other)) for one, other in pairs) > MAX_COMPARISONS:
        raise InvalidParameter("mechanism", f"needs over {MAX_COMPARISONS} comparisons; use fewer rows or outcomes.")
    curve = privacy_curve_of(pairs)
    ratio = curve.ratio(allowed)
    epsilon = Fraction(0) if ratio <= 1 else _log_up(ratio, mechanism)
    found = (
        ApproxDP(epsilon=epsilon, delta=allowed, neighbors=neighbors)
        if allowed
        else PureDP(epsilon=epsilon, neighbors=neighbors)
    )
    return conclude("finite_table", [], found, parameters=mechanism.as_data())


def assumption(conclusion: Guarantee, *, statement: str, reference: str = "") -> Derivation:
    """Takes a guarantee for granted. Whatever rests on it is conditional, and its certificate says so.

    Theorem: what follows from an assumption holds wherever the assumption does.
    Reference: none; this is how a third party's claim enters, in the open
    Proof: docs/theory/structure.md#assumptions
    Checked-by: tests/guarantees/rules/test_leaves.py::test_an_assumption_stays_visible
    """
    if not isinstance(conclusion, Guarantee):
        raise InvalidParameter("conclusion", f"{conclusion!r} is not a Guarantee.")
    for name, text in (("statement", statement), ("reference", reference)):
        if not isinstance(text, str) or len(text) > 20_000:
            raise InvalidParameter(name, "must be a text of at most 20,000 characters.")
    if not statement.strip():
        raise InvalidParameter("statement", "say in words what is taken for granted.")
    return conclude("assumption", [], conclusion, parameters={"statement": statement, "reference": reference})


def suppose(conclusion: Guarantee) -> Derivation:
    """An assumption in its own words: for asking what *would* follow from a statement."""
    return assumption(conclusion, statement=f"a mechanism satisfies {conclusion}")


def _log_up(ratio: Fraction | float, mechanism: FiniteMechanism) -> Fraction:
    if isinstance(ratio, float):
        raise NotPrivate(
            "some outcome has probability 0 for one data set and not for a neighbour.",
            witness=mechanism,
            hint="Allow a delta, or add noise that reaches every outcome.",
        )
    return moderate(Enclosure.of(ratio).log().claim())
