"""The library proves its own mechanisms with finite laws, on the specimens' neighbours, and refutes careless ones."""

from fractions import Fraction
from typing import Any

import pytest

from privately.guarantees import PureDP
from privately.mechanisms import Mechanism
from privately.proving import Verdict, each, prove
from privately.proving.exact.claims import read_claim
from privately.proving.exact.curves import curve_of
from privately.proving.exact.places import Exponential
from privately.proving.exact.ratios import Ratio, ratios, within
from privately.proving.exact.states import output_law
from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import Value
from tests.mechanisms.specimens import SPECIMENS, Specimen

EXACT_LAWS = {"flip", "flip_exp", "uniform", "discrete_laplace", "discrete_exponential", "geometric"}
TIED = {"NoisyMaxWithGap", "SparseVectorWithGap"}
"""Their outputs are differences of noises, whose laws are not followed exactly; they are searched below."""


def exact(value: Any) -> Value:
    if isinstance(value, (list, tuple)):
        return tuple(exact(one) for one in value)
    return value if isinstance(value, (int, Fraction)) else Fraction(value)


def is_finite(specimen: Specimen) -> bool:
    program = read_python(specimen.mechanism.program.source)
    return {one.law for one in program.samples} <= EXACT_LAWS and bool(program.samples)


PURE = [
    name
    for name, specimen in SPECIMENS.items()
    if is_finite(specimen)
    and name not in TIED
    and isinstance(specimen.mechanism.guarantee(specimen.sensitivity), PureDP)
]


def losses(mechanism: Mechanism, specimen: Specimen) -> tuple[list[Ratio], Exponential]:
    program = read_python(mechanism.program.source)
    found: list[Ratio] = []
    unit = 60  # divides every exponent of the specimens
    for pair in specimen.neighbors:
        laws = []
        for one in pair:
            inputs = {name: exact(value) for name, value in mechanism.program_inputs(one).items()}
            law, used = output_law(program, inputs, least_unit=unit)
            assert used == unit
            laws.append(law)
        for left, right in (laws, laws[::-1]):
            found += ratios(((0,), (1,)), left, right)
    return found, Exponential(unit)


def test_some_are_finite() -> None:
    assert len(PURE) >= 20
    assert {"Laplace", "NoisyMax", "SparseVector", "Histogram", "RandomizedResponse", "BinaryTree"} <= set(PURE)


@pytest.mark.parametrize("name", PURE)
def test_every_finite_text_keeps_its_claim(name: str) -> None:
    specimen = SPECIMENS[name]
    promised = specimen.mechanism.guarantee(specimen.sensitivity)
    claim = read_claim(str(promised.parameters["epsilon"]), {})
    found, place = losses(specimen.mechanism, specimen)
    assert all(within(one, claim, place) for one in found)


TOO_LONG = {"AdaptiveSparseVector"}
"""Whose careless text needs values so far out in a tail that their probabilities are too long to be written."""


@pytest.mark.parametrize("name", [name for name in PURE if name not in TOO_LONG])
def test_every_careless_text_breaks_it(name: str) -> None:
    specimen = SPECIMENS[name]
    promised = specimen.mechanism.guarantee(specimen.sensitivity)
    claim = read_claim(str(promised.parameters["epsilon"]), {})
    found, place = losses(specimen.careless, specimen)
    assert not all(within(one, claim, place) for one in found)


@pytest.mark.parametrize("name", sorted(TIED | TOO_LONG))
def test_careless_texts_that_cannot_be_followed_are_refuted_by_searching(name: str) -> None:
    specimen = SPECIMENS[name]
    epsilon = str(specimen.mechanism.guarantee(specimen.sensitivity).parameters["epsilon"])
    assert _searched(specimen.careless, specimen, epsilon).word == "refuted"
    if name != "NoisyMaxWithGap":  # whose right text is searched for seconds
        assert _searched(specimen.mechanism, specimen, epsilon).word == "unknown"


def _searched(mechanism: Mechanism, specimen: Specimen, epsilon: str) -> Verdict:
    given = {name: exact(value) for name, value in mechanism.program_inputs(specimen.neighbors[0][0]).items()}
    (private,) = read_python(mechanism.program.source).private
    size = len(given.pop(private.name))
    source = mechanism.program.source
    return prove(source, epsilon, neighbors={private.name: each(1)}, public=given, sizes=[size])


@pytest.mark.parametrize("careless", [False, True])
def test_thresholds_keep_epsilon_and_delta(*, careless: bool) -> None:
    specimen = SPECIMENS["ThresholdedHistogram"]
    promised = specimen.mechanism.guarantee(specimen.sensitivity).parameters
    mechanism = specimen.careless if careless else specimen.mechanism
    program = read_python(mechanism.program.source)
    laws = []
    for pair in specimen.neighbors:
        keys = sorted(set(pair[0]) | set(pair[1]))  # whoever is not there counts as 0, and is not shown either
        for one in (pair, pair[::-1]):
            counts = [{**mechanism.program_inputs(side), "counts": [side.get(key, 0) for key in keys]} for side in one]
            first, second = ({name: exact(value) for name, value in side.items()} for side in counts)
            laws.append((output_law(program, first)[0], output_law(program, second)[0]))
    needed = curve_of(laws, Exponential(1)).delta(promised["epsilon"])
    assert (needed.upper <= promised["delta"]) != careless
    assert (needed.lower > promised["delta"]) == careless


@pytest.mark.parametrize("name", SPECIMENS)
def test_every_text_is_read(name: str) -> None:
    assert read_python(SPECIMENS[name].mechanism.program.source).private
