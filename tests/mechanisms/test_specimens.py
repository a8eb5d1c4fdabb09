"""What holds for every mechanism: registering one runs all of this."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest

import privately
from privately import mechanisms as m
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.mechanisms.randomness import Randomness
from tests.mechanisms.enumeration import Distribution, outcomes
from tests.mechanisms.specimens import EXAMPLES_WITHOUT_PRIVACY, SPECIMENS, Specimen

MARGIN = mpmath.mpf(10) ** -9
ORDERS = (mpmath.mpf("1.1"), mpmath.mpf(2), mpmath.mpf(8))
EPSILONS = (0, mpmath.mpf("0.1"), mpmath.mpf("0.5"), 1, 2)

every = pytest.mark.parametrize("specimen", SPECIMENS.values(), ids=SPECIMENS)


class Untouched:
    """Randomness that nobody may draw from."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was drawn from")


def answers(specimen: Specimen, mechanism: m.Mechanism, value: Any) -> Distribution:
    return outcomes(
        lambda draws: specimen.plain(mechanism.run(value, draws)), window=specimen.window, again=specimen.again[0]
    )


def texts(specimen: Specimen, mechanism: m.Mechanism, value: Any) -> Distribution:
    inputs = mechanism.program_inputs(value)
    return outcomes(
        lambda draws: specimen.read(mechanism.program.run(inputs, draws)),
        window=specimen.window,
        again=specimen.again[1],
    )


def real(number: Fraction) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator


def excess(one: Distribution, other: Distribution, claim: Guarantee, rarest: float) -> Any:
    """By how much the claim is exceeded, in its own terms; what the window misses is counted in favour of the claim."""
    numbers = {name: real(value) for name, value in claim.parameters.items() if isinstance(value, Fraction)}
    if isinstance(claim, PureDP):
        return one.loss(other, above=max(10 * (one.missing + other.missing), rarest)) - numbers["epsilon"]
    if isinstance(claim, ApproxDP):
        return one.excess(other, numbers["epsilon"]) - numbers["delta"]
    if isinstance(claim, (ZCDP, ApproxZCDP)):
        return max(_renyi(one, other, order) / order for order in ORDERS) - numbers["rho"]
    assert isinstance(claim, GaussianDP)
    return max(
        one.excess(other, epsilon) - real(Fraction(claim.delta(epsilon=Fraction(str(epsilon))).upper))
        for epsilon in EPSILONS
    )


def _renyi(one: Distribution, other: Distribution, order: Any) -> Any:
    total = sum(
        p**order * other.chances[answer] ** (1 - order) for answer, p in one.chances.items() if answer in other.chances
    )
    return mpmath.log(total) / (order - 1)


def worst(specimen: Specimen, mechanism: m.Mechanism, claim: Guarantee) -> Any:
    pairs = [pair for one, other in specimen.neighbors for pair in ((one, other), (other, one))]
    found = {str(value): answers(specimen, mechanism, value) for pair in specimen.neighbors for value in pair}
    return max(excess(found[str(one)], found[str(other)], claim, specimen.rarest) for one, other in pairs)


def test_every_mechanism_has_a_specimen() -> None:
    named = {
        name for name in m.__all__ if isinstance(getattr(m, name), type) and issubclass(getattr(m, name), m.Mechanism)
    }
    shown = {type(specimen.mechanism).__name__ for specimen in SPECIMENS.values()}
    assert named - {"Mechanism"} - EXAMPLES_WITHOUT_PRIVACY == shown


@every
def test_the_claim_holds_exactly_for_the_hardest_neighbours(specimen: Specimen) -> None:
    claim = specimen.mechanism.guarantee(specimen.sensitivity)
    found = worst(specimen, specimen.mechanism, claim)
    assert found <= MARGIN
    if specimen.tight:
        assert found >= -MARGIN


@every
def test_too_little_noise_breaks_the_claim(specimen: Specimen) -> None:
    claim = specimen.mechanism.guarantee(specimen.sensitivity)
    assert worst(specimen, specimen.careless, claim) > MARGIN


@every
def test_the_text_does_what_the_mechanism_does(specimen: Specimen) -> None:
    for value, _ in specimen.neighbors[:2]:
        ran, read = (way(specimen, specimen.mechanism, value) for way in (answers, texts))
        assert ran.farthest(read) < MARGIN


@every
def test_the_proof_is_checked_by_other_code(specimen: Specimen) -> None:
    derivation = specimen.mechanism.derive(specimen.sensitivity)
    report = privately.check(privately.certify(derivation))
    assert not report.assumptions
    assert derivation.conclusion == specimen.mechanism.guarantee(specimen.sensitivity)


@every
def test_a_release_needs_nothing_but_the_value(specimen: Specimen) -> None:
    specimen.mechanism.release(specimen.neighbors[0][0])


@every
def test_bad_input_is_refused_before_anything_is_drawn(specimen: Specimen) -> None:
    untouched: Randomness = Untouched()
    for bad in specimen.bad:
        with pytest.raises(privately.InvalidParameter):
            specimen.mechanism.run(bad, untouched)


@every
def test_accuracy_and_justification_are_stated(specimen: Specimen) -> None:
    assert str(specimen.mechanism.accuracy(confidence="0.95")).startswith("With probability at least 95 %")
    assert isinstance(specimen.mechanism.justification, (m.Alignment, m.FiniteExact, m.Theorem))


@every
def test_the_worst_case_is_a_pair_of_inputs(specimen: Specimen) -> None:
    one, other = specimen.mechanism.worst_case(specimen.sensitivity)
    assert one != other
    specimen.mechanism.release(one)
    specimen.mechanism.release(other)


@every
def test_a_proof_begins_with_a_sensitivity(specimen: Specimen) -> None:
    for bad in (1, None, "1", Fraction(1), object):
        with pytest.raises(privately.InvalidParameter, match="sensitivity"):
            specimen.mechanism.derive(bad)  # type: ignore[arg-type]
