"""Proofs of finite programs as certificates: the whole table of laws, which the checker compares again."""

from __future__ import annotations

from fractions import Fraction

from privately.certificates import Certificate, certify
from privately.errors import InvalidParameter, NotPrivate
from privately.guarantees import FiniteMechanism, Neighbors, rules
from privately.proving.analysis import Analysis
from privately.proving.exact.claims import Claim
from privately.proving.exact.inputs import Inputs
from privately.proving.exact.sets import has_tails
from privately.proving.exact.weights import Quotient, fraction
from privately.proving.verdicts import shown

SLACK = Fraction(1, 10**12)
"""Certificates round up to few digits."""


def certificate_of(found: Analysis, claim: Claim) -> Certificate | None:
    """A certificate of the tight epsilon: for programs of one private input whose laws are rational; else None."""
    private = found.asked.program.private
    if len(private) != 1 or private[0].neighborhood is None or found.place is not None:
        return None
    if private[0].neighborhood.change not in {"replaced", "anything"} or found.asked.program.model != "exact":
        return None
    inputs = sorted({one for pair in found.pairs for one in pair}, key=repr)
    whole = private[0].neighborhood.change == "anything" or not private[0].is_list
    if whole and len({len(value) for (value,) in inputs if isinstance(value, tuple)}) > 1:
        return None  # only lists of one length are neighbours
    laws = {_place(one, whole=whole): found.law_of(one) for one in inputs}
    if any(isinstance(mass, Quotient) for law in laws.values() for mass in law.values()):
        return None
    if any(map(has_tails, laws.values())):
        return None
    table = {place: {shown(output): fraction(mass) for output, mass in law.items()} for place, law in laws.items()}
    try:
        mechanism = FiniteMechanism(
            records=tuple(dict.fromkeys(record for place in table for record in place)),
            sizes=tuple({len(place) for place in table}),
            table=table,
        )
        proof = rules.finite_table(mechanism, neighbors=Neighbors.REPLACE)
    except (InvalidParameter, NotPrivate):
        return None
    proved = Fraction(proof.conclusion.parameters["epsilon"])
    return certify(proof) if proved <= claim.epsilon.upper + SLACK else None


def _place(inputs: Inputs, *, whole: bool) -> tuple[str, ...]:
    """An input as a row of the table; where neighbours are any two inputs, the input as a whole is one record."""
    (value,) = inputs
    return (shown(value),) if whole else tuple(shown(one) for one in value)
