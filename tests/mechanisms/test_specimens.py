"""What holds for every mechanism: registering one runs all of this."""

import inspect
import traceback
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import mpmath
import numpy as np
import pytest

import privately
from privately import accounting
from privately import mechanisms as m
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP, Sensitivity
from privately.mechanisms.randomness import SYSTEM, Randomness
from privately.mechanisms.threshold_answers import ThresholdAnswers
from tests.mechanisms.enumeration import Distribution, outcomes
from tests.mechanisms.specimens import EXAMPLES_WITHOUT_PRIVACY, SPECIMENS, Specimen

MARGIN = mpmath.mpf(10) ** -9
ORDERS = (mpmath.mpf("1.1"), mpmath.mpf(2), mpmath.mpf(8))
EPSILONS = (0, mpmath.mpf("0.1"), mpmath.mpf("0.5"), 1, 2)

LONG = ("NoisyMaxWithGap",)
every = pytest.mark.parametrize(
    "specimen",
    [
        pytest.param(specimen, id=name, marks=[pytest.mark.slow] if name in LONG else [])
        for name, specimen in SPECIMENS.items()
    ],
)


class Untouched:
    """Randomness that nobody may draw from."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was drawn from")


_known: dict[tuple[int, m.Mechanism, str], Distribution] = {}


def answers(specimen: Specimen, mechanism: m.Mechanism, value: Any) -> Distribution:
    """Enumerated once, as most of the tests ask for it."""
    known = (id(specimen), mechanism, str(value))
    if known not in _known:
        _known[known] = outcomes(
            lambda draws: specimen.plain(mechanism.run(value, draws)), window=specimen.window, again=specimen.again[0]
        )
    return _known[known]


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
def test_the_event_costs_no_less_than_the_mechanism(specimen: Specimen) -> None:
    event = specimen.mechanism.event(specimen.sensitivity)
    claim = specimen.mechanism.guarantee(specimen.sensitivity)
    assert event.neighbors == claim.neighbors
    for epsilon in ("0.1", "0.5"):
        allowed = accounting.delta(event, epsilon)
        promised = claim.delta(epsilon=epsilon)
        assert allowed.lower <= promised.upper
        for one, other in specimen.neighbors:
            first, second = (answers(specimen, specimen.mechanism, value) for value in (one, other))
            found = max(first.excess(second, mpmath.mpf(epsilon)), second.excess(first, mpmath.mpf(epsilon)))
            assert found <= real(Fraction(allowed.upper)) + MARGIN + first.missing + second.missing


EXACT_EVENTS = {
    "Laplace": accounting.DiscreteLaplace(scale=2),
    "Gaussian": accounting.Gaussian(noise_multiplier=2),
    "DiscreteGaussian": accounting.DiscreteGaussian(variance=4),
}


@pytest.mark.parametrize("name", EXACT_EVENTS)
def test_events_of_noise_are_exact(name: str) -> None:
    specimen = SPECIMENS[name]
    assert specimen.mechanism.event(specimen.sensitivity) == EXACT_EVENTS[name]


def test_events_on_fine_grids() -> None:
    """Of 2^40 steps and the one by which both ends may be rounded apart."""
    event = m.Laplace(scale=10, grid=Fraction(1, 2**40)).event(Sensitivity(value=1))
    assert event == accounting.DiscreteLaplace(scale=10 * 2**40, sensitivity=2**40 + 1)
    like = accounting.epsilon(accounting.Laplace(scale=10), "1e-6")
    assert like.upper <= accounting.epsilon(event, "1e-6").upper <= like.upper * Fraction("1.0001")


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
    """Read by `run` they are neighbours: their exact loss is at most the claim."""
    mechanism, sensitivity = specimen.mechanism, specimen.sensitivity
    one, other = mechanism.worst_case(sensitivity)
    assert one != other
    mechanism.release(one)
    mechanism.release(other)
    if isinstance(mechanism, (ThresholdAnswers, m.ThresholdedHistogram)):
        return  # too many draws; their own tests follow the streams, and the counts of one unit
    claim = mechanism.guarantee(sensitivity)
    before, after = (answers(specimen, mechanism, value) for value in (one, other))
    assert excess(before, after, claim, specimen.rarest) <= MARGIN
    assert excess(after, before, claim, specimen.rarest) <= MARGIN


QUARTERS: list[m.Mechanism] = [
    m.Laplace(scale=2, dimension=2, grid="1/4"),
    m.Gaussian(standard_deviation=2, dimension=2, grid="1/4"),
    m.DiscreteGaussian(variance=2, grid="1/4"),
    *(
        kind(scale=2, candidates=3, monotone=monotone, grid="1/4")
        for kind in (m.Exponential, m.PermuteAndFlip, m.NoisyMax, m.NoisyMaxWithGap)
        for monotone in (False, True)
    ),
    *(
        kind.for_epsilon(1, Sensitivity(value=1, norm="Linf"), count=2, threshold=3, monotone=monotone, grid="1/4")
        for kind in (m.SparseVector, m.SparseVectorWithGap, m.NumericSparseVector, m.AdaptiveSparseVector)
        for monotone in (False, True)
    ),
]


@pytest.mark.parametrize("mechanism", QUARTERS, ids=lambda one: f"{type(one).__name__}-{getattr(one, 'monotone', '')}")
def test_the_worst_case_on_a_grid_is_as_far_apart_as_is_allowed_in_steps(mechanism: Any) -> None:
    """As `run` reads it: a sensitivity of 1 is four steps, and one more by rounding (two entries: in L1, one each)."""
    assert {"grid"} <= vars(mechanism).keys()
    norm: Any = getattr(mechanism, "norm", "Linf")
    sensitivity, dimension = Sensitivity(value=1, norm=norm), getattr(mechanism, "dimension", 1)
    allowed = mechanism.grid.steps(sensitivity, dimension).value
    (name,) = mechanism.program.private
    one, other = (mechanism.program_inputs(value)[name] for value in mechanism.worst_case(sensitivity))
    changes = [abs(b - a) for a, b in zip(one, other, strict=True)]
    norms = {"L1": sum(changes), "L2": max(changes), "Linf": max(changes)}
    assert norms[norm] == floor(allowed)
    if getattr(mechanism, "monotone", False):
        assert all(b >= a for a, b in zip(one, other, strict=True))


def test_every_kind_with_a_grid_is_among_them() -> None:
    gridded = {name for name, one in SPECIMENS.items() if hasattr(one.mechanism, "grid")}
    assert {type(SPECIMENS[name].mechanism) for name in gridded} == {type(one) for one in QUARTERS}


@every
def test_an_interval_comes_before_any_data(specimen: Specimen) -> None:
    """But for the average, whose docstring says why."""
    mechanism: Any = specimen.mechanism
    if type(mechanism) is m.Average:
        with pytest.raises(TypeError, match="answer"):
            mechanism.interval("0.9")  # type: ignore[call-arg]
        assert "there is no interval before a release" in " ".join(str(m.Average.interval.__doc__).split())
        return
    low, high = mechanism.interval("0.6"), mechanism.interval("0.99")
    assert isinstance(low, Fraction)
    assert 0 <= low <= high
    with pytest.raises(privately.InvalidParameter):
        mechanism.interval(1)


SECRET = "86753"  # no line of the library holds it
PRIVATE: list[Any] = [
    np.float64(f"{SECRET}.5"),
    float(f"{SECRET}.5"),
    float(SECRET) * 1e300,
    int(SECRET) * 10**40,
    -int(SECRET),
    Fraction(int(SECRET), 2),
    Decimal(SECRET),
    complex(SECRET),
    SECRET,
    SECRET.encode(),
    np.str_(SECRET),
]


def inputs_with(secret: Any) -> list[Any]:
    """Everywhere an input may hold it, in containers that are read in other ways."""
    listed = [
        secret, [secret], [secret, secret], (0, secret), [[secret]], {"a": secret}, {secret: 1}, [(secret, secret)],
        [(1, secret), (secret,)], {"a": secret, "b": 1},
    ]  # fmt: skip
    return [*listed, np.array(secret), np.array([secret]), np.array([secret, secret])]


def refusal(specimen: Specimen, value: Any) -> privately.PrivatelyError | None:
    """Why it is refused, which is always one of our errors, or None."""
    try:
        specimen.mechanism.run(value, SYSTEM)
    except privately.PrivatelyError as error:
        return error
    return None


@every
def test_no_error_shows_a_private_value(specimen: Specimen) -> None:
    """Neither in its own words nor in those of an error behind it."""
    refused = 0
    for value in (value for secret in PRIVATE for value in inputs_with(secret)):
        error = refusal(specimen, value)
        assert SECRET not in "".join(traceback.format_exception(error))
        refused += error is not None
    assert refused


@every
def test_no_error_tells_how_many_rows_there_are(specimen: Specimen) -> None:
    for value in ([0.5] * int(SECRET), np.zeros((int(SECRET), 2)), np.full(int(SECRET), "x")):
        assert SECRET not in str(refusal(specimen, value))


@every
def test_a_calibration_begins_with_a_sensitivity(specimen: Specimen) -> None:
    kind: Any = type(specimen.mechanism)
    makers = [
        made
        for name in ("for_epsilon", "for_mu", "for_rho")
        if (made := getattr(kind, name, None)) and "sensitivity" in inspect.signature(made).parameters
    ]
    for bad in (1, None, "1", object, [specimen.sensitivity]):
        with pytest.raises(privately.InvalidParameter, match="sensitivity"):
            specimen.mechanism.worst_case(bad)  # type: ignore[arg-type]
        for made in makers:
            with pytest.raises(privately.InvalidParameter, match="sensitivity"):
                made(1, bad)
            with pytest.raises(privately.InvalidParameter, match="sensitivity"):
                made(1, sensitivity=bad)


@every
def test_a_proof_begins_with_a_sensitivity(specimen: Specimen) -> None:
    for bad in (1, None, "1", Fraction(1), object):
        with pytest.raises(privately.InvalidParameter, match="sensitivity"):
            specimen.mechanism.derive(bad)  # type: ignore[arg-type]
