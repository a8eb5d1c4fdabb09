"""Proofs of finite programs as certificates: the program itself, which the checker follows for all neighbours."""

from __future__ import annotations

from fractions import Fraction

from privately.certificates import Certificate, certify
from privately.errors import CertificateInvalid, InvalidParameter, NotSupported
from privately.guarantees import Derivation, Neighbors, PureDP, rules
from privately.proving.analysis import Analysis, Question
from privately.proving.exact.claims import Claim
from privately.proving.exact.encoding import Encoder
from privately.proving.exact.folding import folded
from privately.proving.exact.inputs import neighbouring_pairs
from privately.proving.exact.places import Between
from privately.proving.exact.weights import ONE, Quotient
from privately.proving.language.program import Parameter
from privately.rounding import round_up


def certificate_of(found: Analysis, claim: Claim) -> Certificate:
    """A certificate of the tight epsilon, rounded up but not above the claim; NotSupported says why there is none."""
    try:
        return certify(derivation_of(found, claim))
    except (CertificateInvalid, InvalidParameter) as reason:
        raise NotSupported(f"the checker does not take it ({reason.message})") from None


def derivation_of(found: Analysis, claim: Claim) -> Derivation:
    """The same as a derivation, which nobody has checked yet."""
    asked = found.asked
    if asked.program.model != "exact":
        raise NotSupported("continuous noise exists on paper only, and a certificate is about what runs.")
    if isinstance(found.place, Between):
        raise NotSupported(f"a certificate states one epsilon, and {asked.open_parameter!r} has no one value.")
    if asked.chosen:
        raise NotSupported("two inputs are not all neighbours.")
    encoder = Encoder(folded(asked.program))
    private = [encoder.private(one, asked.sizes) for one in asked.program.private]
    return rules.finite_program(
        PureDP(epsilon=_epsilon(found, claim), neighbors=neighbors_of(found)),
        program=encoder.data(),
        private=private,
        public=encoder.public(asked.public),
        unit=found.unit,
    )


def _epsilon(found: Analysis, claim: Claim) -> Fraction:
    """Exact where the worst ratio is 1 or a power of e; else rounded up, but never above a claim that is a number."""
    ratio = found.largest.value
    if ratio is None:
        raise NotSupported("the loss has no bound.")
    if not isinstance(ratio, Quotient) and ratio <= ONE:
        return Fraction(0)
    if isinstance(ratio, Quotient):
        power = ratio.denominator.degree()
        if ratio == Quotient.power(-power):
            return Fraction(power, found.unit)
    rounded = round_up(Fraction(found.epsilon.upper))
    exact = not isinstance(claim.factor, Quotient) and claim.factor == ONE
    return min(rounded, claim.exponent) if exact else rounded


def neighbors_of(found: Analysis) -> Neighbors:
    """Rows of a data set where that is what neighbours are; otherwise the whole input, as it is declared."""
    asked = found.asked
    private = asked.program.private
    everything = len(found.pairs) == sum(1 for _ in neighbouring_pairs(private, asked.sizes))
    if everything and len(private) == 1:
        rows = _rows(private[0], asked)
        if rows is not None:
            return rows
    said = [_said(one) for one in private] + ([] if everything else ["as assumed"])
    return Neighbors.REPLACE.of_unit(f"private input ({'; '.join(said)})")


def _rows(parameter: Parameter, asked: Question) -> Neighbors | None:
    neighborhood = parameter.neighborhood
    change = None if neighborhood is None else neighborhood.change
    fixed = neighborhood is not None and neighborhood.domain is not None and neighborhood.domain.length is not None
    sizes = sorted(set(asked.sizes)) if parameter.is_list and not fixed else [1]
    if change == "replaced" or (change == "anything" and len(sizes) == 1):
        return Neighbors.REPLACE
    if change == "added" and sizes == list(range(sizes[0], sizes[0] + len(sizes))):
        return Neighbors.ADD_REMOVE
    return None


def _said(parameter: Parameter) -> str:
    neighborhood = parameter.neighborhood
    if neighborhood is None:
        return parameter.name
    distance = "" if neighborhood.distance is None else f" {neighborhood.distance}"
    return f"{parameter.name}: {neighborhood.change}{distance}"
