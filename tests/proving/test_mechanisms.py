"""The library proves its own mechanisms with finite laws, on the specimens' neighbours, and refutes careless ones."""

from fractions import Fraction
from typing import Any

import pytest

from privately.guarantees import PureDP
from privately.mechanisms import Mechanism
from privately.proving.exact.claims import read_claim
from privately.proving.exact.places import Exponential
from privately.proving.exact.ratios import Ratio, ratios, within
from privately.proving.exact.states import output_law
from privately.proving.language.pythonic import read_python
from privately.proving.language.syntax import Value
from tests.mechanisms.specimens import SPECIMENS, Specimen

FINITE_LAWS = {"flip", "flip_exp", "uniform"}


def exact(value: Any) -> Value:
    if isinstance(value, (list, tuple)):
        return tuple(exact(one) for one in value)
    return value if isinstance(value, (int, Fraction)) else Fraction(value)


def is_finite(specimen: Specimen) -> bool:
    program = read_python(specimen.mechanism.program.source)
    return {one.law for one in program.samples} <= FINITE_LAWS and bool(program.samples)


PURE = [
    name
    for name, specimen in SPECIMENS.items()
    if is_finite(specimen) and isinstance(specimen.mechanism.guarantee(specimen.sensitivity), PureDP)
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
    assert len(PURE) >= 6


@pytest.mark.parametrize("name", PURE)
def test_every_finite_text_keeps_its_claim(name: str) -> None:
    specimen = SPECIMENS[name]
    promised = specimen.mechanism.guarantee(specimen.sensitivity)
    claim = read_claim(str(promised.parameters["epsilon"]), {})
    found, place = losses(specimen.mechanism, specimen)
    assert all(within(one, claim, place) for one in found)


@pytest.mark.parametrize("name", [name for name in PURE if SPECIMENS[name].tight])
def test_every_careless_text_breaks_it(name: str) -> None:
    specimen = SPECIMENS[name]
    promised = specimen.mechanism.guarantee(specimen.sensitivity)
    claim = read_claim(str(promised.parameters["epsilon"]), {})
    found, place = losses(specimen.careless, specimen)
    assert not all(within(one, claim, place) for one in found)


@pytest.mark.parametrize("name", SPECIMENS)
def test_every_text_is_read(name: str) -> None:
    assert read_python(SPECIMENS[name].mechanism.program.source).private
