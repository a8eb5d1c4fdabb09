"""Proofs of finite programs as certificates: the program itself, which the checker follows for all neighbours."""

from __future__ import annotations

from fractions import Fraction

from privately.certificates import Certificate, certify
from privately.errors import CertificateInvalid, InvalidParameter, NotSupported
from privately.guarantees import ApproxDP, Derivation, Neighbors, PureDP, rules
from privately.proving.analysis import Analysis, Question
from privately.proving.exact.claims import Claim
from privately.proving.exact.encoding import Encoder
from privately.proving.exact.folding import folded
from privately.proving.exact.inputs import neighbouring_pairs
from privately.proving.exact.places import Between
from privately.proving.exact.weights import ONE, Quotient
from privately.proving.language.program import Parameter
from privately.rounding import Number, rational, round_up


class Contradicted(NotSupported):
    """The checker found that what was proved does not hold."""


def certificate_of(found: Analysis, claim: Claim) -> Certificate:
    """A certificate of the tight epsilon, rounded up but not above the claim; NotSupported says why there is none."""
    return _certified(derivation_of(found, claim))


def certificate_at(found: Analysis, *, delta: Number) -> Certificate:
    """A certificate of the tight epsilon for a delta, rounded up."""
    allowed = rational(delta, "delta", minimum=0, maximum=1)
    _check(found)
    enough = found.epsilon_at(allowed).upper
    if isinstance(enough, float):
        raise NotSupported("the loss has no bound for this delta.", hint="Give a larger delta.")
    return _certified(_derived(found, ApproxDP(epsilon=round_up(enough), delta=allowed, neighbors=neighbors_of(found))))


def derivation_of(found: Analysis, claim: Claim) -> Derivation:
    """What `certificate_of` certifies, as a derivation that nobody has checked yet."""
    _check(found)
    return _derived(found, PureDP(epsilon=_epsilon(found, claim), neighbors=neighbors_of(found)))


def _check(found: Analysis) -> None:
    asked = found.asked
    if asked.program.model != "exact":
        raise NotSupported("continuous noise exists on paper only, and a certificate is about what runs.")
    if isinstance(found.place, Between):
        name = asked.open_parameter
        raise NotSupported(f"a certificate states one epsilon, and {name!r} has no one value; with one, there is one.")
    if asked.chosen:
        raise NotSupported("two inputs are not all neighbours.")


def _derived(found: Analysis, conclusion: PureDP | ApproxDP) -> Derivation:
    encoder = Encoder(folded(found.asked.program))
    return rules.finite_program(
        conclusion,
        program=encoder.data(),
        private=[encoder.private(one, found.asked.sizes) for one in found.asked.program.private],
        public=encoder.public(found.asked.public),
        unit=found.unit,
    )


def _certified(proof: Derivation) -> Certificate:
    try:
        return certify(proof)
    except (CertificateInvalid, InvalidParameter) as reason:
        if isinstance(reason, CertificateInvalid) and ".conclusion." in reason.field:
            raise Contradicted(f"the checker contradicts the analysis ({reason.message})") from None
        raise NotSupported(f"the checker does not take it ({reason.message})") from None


def _epsilon(found: Analysis, claim: Claim) -> Fraction:
    """Exact where the worst ratio is 1 or a power of e; else rounded up, but never above a claim that is a number."""
    ratio = found.largest.value
    if ratio is None:
        raise NotSupported("the loss has no bound.")
    if not isinstance(ratio, Quotient) and ratio <= ONE:
        return Fraction(0)
    if found.epsilon.lower == found.epsilon.upper:
        return Fraction(found.epsilon.upper)
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
